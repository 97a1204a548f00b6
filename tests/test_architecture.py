"""Imports point one way: the table of the contributing guide, checked on every file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from syntax import FILES, SOURCE, nodes, syntax

LAYERS = (
    ("errors",),
    ("native",),
    ("data", "page", "statistics"),  # large tables are sorted by native code
    ("filters", "evaluation", "learning"),
    ("metrics", "layers", "channels"),
    ("diagnosis", "models", "training"),  # training receives a model and never names one
    ("engine", "paper", "batches"),
    ("runs",),
    ("search",),
    ("comparison", "studies"),
    ("report", "prediction"),
    ("web", "estimators"),
    ("cli",),
)
"""A room imports from rooms of the lines above it; rooms of one line do not know each other."""

LEVEL = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
WITHOUT_TORCH = ("data", "filters", "metrics", "page", "evaluation", "diagnosis", "report", "web")


def imported_modules(path: Path, *, at_top_only: bool = False) -> set[str]:
    names: set[str] = set()
    for node in syntax(path).body if at_top_only else nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_above_it(path: Path) -> None:
    room = path.relative_to(SOURCE).with_suffix("").parts[0]
    if room in ("__init__", "__main__"):
        return  # the package root names what is public; python -m begins there
    if room in WITHOUT_TORCH:  # exporting to PyG imports it inside the function
        assert not {"torch", "torch_geometric"} & imported_modules(path, at_top_only=True)
    for module in imported_modules(path):
        package, _, rest = module.partition(".")
        other = rest.partition(".")[0]
        if package == "heterophily" and other not in ("", room):
            assert LEVEL[other] < LEVEL[room], f"{room} must not import {module}"


def test_every_room_has_its_place() -> None:
    names = {p.name for p in SOURCE.iterdir() if p.name.isidentifier()} - {"__pycache__"}
    assert set(LEVEL) == names | {"errors"}


IS_TYPE_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")


def names_of(tree: ast.Module, place: str) -> Iterator[tuple[str, str]]:
    """Public classes and type aliases of a file, each with what it stands for.

    A class stands for itself. An alias stands for its expression, so ``Ints = NDArray[np.int64]``
    may be written in several files. Options of the command line (``Annotated``) are no types.
    """
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            name, meaning = node.name, f"class in {place}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, meaning = node.targets[0].id, ast.unparse(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            name, meaning = node.target.id, ast.unparse(node.value)
        else:
            continue
        if IS_TYPE_NAME.fullmatch(name) and not meaning.startswith("Annotated["):
            yield name, meaning


def doubles(files: Iterable[tuple[str, ast.Module]]) -> dict[str, set[str]]:
    """Return the names that stand for more than one thing, with what they stand for."""
    meanings: dict[str, set[str]] = {}
    for place, tree in files:
        for name, meaning in names_of(tree, place):
            meanings.setdefault(name, set()).add(meaning)
    return {name: found for name, found in meanings.items() if len(found) > 1}


def test_no_name_of_a_class_or_type_alias_stands_for_two_things() -> None:
    assert not doubles((str(path.relative_to(SOURCE)), syntax(path)) for path in FILES)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("class Cell: ...", "class Cell: ...", True),
        ("class Base: ...", "Base = tuple[int, int]", True),
        ("Base: TypeAlias = int", "Base = float", True),
        ("Base = int", "Base: TypeAlias = int", False),
        ("class _Own: ...", "_Own = int", False),
        ("SIZE = 1", "SIZE = 2", False),
        ("class Seed: ...", "Seed = Annotated[int, Option()]", False),
    ],
)
def test_a_name_with_two_meanings_is_seen(first: str, second: str, found: bool) -> None:
    assert bool(doubles([("a.py", ast.parse(first)), ("b.py", ast.parse(second))])) == found


TRAINS = {
    "heterophily": {"fit", "fit_replicas"},
    "heterophily.training.fit": {"fit"},
    "heterophily.training.replicas": {"fit_replicas"},
    "heterophily.training.mini_batch": {"fit_batches"},
    "heterophily.engine.run": {"run", "NativeEngine"},
}
"""What trains, by the module that it can be had from."""

BENCHMARKS = sorted((SOURCE.parents[1] / "benchmarks").rglob("*.py"))
TIME_THE_ENGINE = {"road", "native_epochs", "training"}
"""Benchmarks that compare the road with the engine itself; they keep no numbers of models."""


@pytest.mark.parametrize("path", [*FILES, *BENCHMARKS], ids=lambda path: path.stem)
def test_every_training_takes_the_one_road(path: Path) -> None:
    """Only the rooms of runs and of training call what trains; all others complete runs."""
    room = path.relative_to(SOURCE).parts[0] if path.is_relative_to(SOURCE) else "benchmarks"
    if room in ("runs", "training", "engine") or path.stem in TIME_THE_ENGINE:
        return
    taken = {
        (node.module, alias.name)
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module in TRAINS
        for alias in node.names
    }
    whole = {
        (node.value.id, node.attr)  # heterophily.fit(...)
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert not {name for module, name in taken if name in TRAINS[module]}, "complete runs instead"
    assert ("heterophily", "fit") not in whole, "complete runs instead"


FOR_TESTS = {"aggregation_similarity_flags", "same_content", "train_alone"}
"""What tests compare with, kept beside what it compares."""


def test_nothing_is_kept_that_only_tests_use() -> None:
    """A public name stands once more in the package, in the docs, or is registered where it is."""
    repository = SOURCE.parents[1]
    pages = [repository / "README.md", *repository.glob("docs/**/*.md")]
    scripts = [
        path
        for folder in ("benchmarks", "examples")
        for path in repository.glob(f"{folder}/**/*.py")
    ]
    texts = [path.read_text("utf-8") for path in (*FILES, *pages, *scripts)]
    uses = Counter(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))
    unused = {
        node.name
        for path in FILES
        for node in syntax(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not any(isinstance(d, ast.Call | ast.Attribute) for d in node.decorator_list)
        and uses[node.name] == 1
    }
    assert unused <= FOR_TESTS


OF_THE_PROCESS = ("fork_rng", "set_num_threads", "set_rng_state", "set_default_dtype")


def test_one_file_changes_what_torch_has_once_for_all_threads() -> None:
    """Elsewhere it would change under a training in another thread."""
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr in OF_THE_PROCESS
    }
    assert found == {"learning/seeding.py"}


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.splitlines())


def test_help_loads_neither_torch_nor_numpy() -> None:
    loaded = loaded_after(
        "import contextlib, io\n"
        "from heterophily.cli.app import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    assert main(['--help']) == 0"
    )
    assert "heterophily.cli.app" in loaded
    assert not loaded & {"torch", "numpy", "scipy", "pyarrow", "networkx", "sklearn"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_after("import heterophily")
    assert not loaded & {"torch", "numpy", "scipy"}


def test_metrics_load_the_native_library_without_torch() -> None:
    loaded = loaded_after("import heterophily.metrics.catalog")
    assert "heterophily.native.edges" in loaded
    assert "torch" not in loaded


def test_every_public_name_exists_and_is_declared_for_type_checkers() -> None:
    import heterophily

    for name in heterophily.__all__:
        assert getattr(heterophily, name) is not None
    tree = ast.parse((SOURCE / "__init__.pyi").read_text("utf-8"))
    declared = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heterophily.")
        for alias in node.names
    }
    assert declared == set(heterophily.__all__)


SPOKEN_ON_THE_PAGE = ("data/tables", "data/encode", "data/targets.py", "evaluation")


def sentences_of(path: Path) -> list[str]:
    """Return the texts of a file but for its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    quiet = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [node.value for node in texts if isinstance(node.value, str) and id(node) not in quiet]


def test_what_the_page_says_too_names_no_option_of_the_command_line() -> None:
    """There a remedy is a value (data/remedies.py); each surface has its words for it."""
    for path in FILES:
        if str(path.relative_to(SOURCE)).startswith(SPOKEN_ON_THE_PAGE):
            assert not [text for text in sentences_of(path) if re.search(r"(^|\W)--[a-z]", text)]
