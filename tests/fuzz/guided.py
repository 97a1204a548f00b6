"""Fuzz the parsers with coverage as guide: ``python tests/fuzz/guided.py [--runs 2000]``.

Needs atheris (``pip install atheris``); without it a sentence is printed and nothing is done.
Each parser runs in a process of its own, with a fixed seed. It fails when anything else than one of
our errors is raised; the input that did it is kept and named.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

Parse = Callable[[bytes, Path], object]


def edge_table() -> tuple[Parse, bytes]:
    from heterophily import read_tables

    def parse(data: bytes, place: Path) -> object:
        (place / "e.csv").write_bytes(data)
        return read_tables(place / "e.csv", None)

    return parse, b"source,target,weight\na,b,1\nb,c,0.5\n"


def node_table() -> tuple[Parse, bytes]:
    from heterophily import read_tables

    def parse(data: bytes, place: Path) -> object:
        (place / "e.csv").write_bytes(b"source,target\na,b\nb,c\n")
        (place / "n.csv").write_bytes(data)
        return read_tables(place / "e.csv", place / "n.csv")

    return parse, b'id,label,x,day,kind\na,1,0.5,2020-01-01,"u, v"\nb,0,,2021-02-03,w\nc,1,2,,w\n'


def npz_member(member: str) -> tuple[Parse, bytes]:
    """Damage one array inside an archive whose checksums are right."""
    import numpy as np

    from heterophily.data.npz import read_npz

    arrays = {"edge_index": np.array([[0, 1], [1, 2]]), "y": np.array([0, 1, 1]), "x": np.eye(3)}
    packed = {}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        packed[name] = stream.getvalue()

    def parse(data: bytes, place: Path) -> object:
        with zipfile.ZipFile(place / "g.npz", "w") as archive:
            for name, content in packed.items():
                archive.writestr(f"{name}.npy", data if name == member else content)
        return read_npz(place / "g.npz")

    return parse, packed[member]


def npz_file() -> tuple[Parse, bytes]:
    from heterophily.data.npz import read_npz

    def parse(data: bytes, place: Path) -> object:
        (place / "g.npz").write_bytes(data)
        return read_npz(place / "g.npz")

    return parse, b"PK\x05\x06" + b"\0" * 18


def markup(suffix: str) -> tuple[Parse, bytes]:
    from fuzz.targets import some_graph

    from heterophily.data.markup import read_markup, write_markup

    start = Path(tempfile.mkdtemp()) / f"g{suffix}"
    write_markup(some_graph(), start)

    def parse(data: bytes, place: Path) -> object:
        (place / f"g{suffix}").write_bytes(data)
        return read_markup(place / f"g{suffix}")

    return parse, start.read_bytes()[:1500]


def toml(kind: str) -> tuple[Parse, bytes]:
    from fuzz.targets import TOML_TEXTS, toml_reader

    read = toml_reader(kind)

    def parse(data: bytes, place: Path) -> object:
        (place / "a.toml").write_bytes(data)
        return read(place / "a.toml")

    return parse, TOML_TEXTS[kind]


def model_card() -> tuple[Parse, bytes]:
    """Damage the card of a model folder as one who knows its checksum would."""
    import json

    from fuzz.targets import some_model

    from heterophily.prediction.folder import CARD, load_model
    from heterophily.runs.run import canonical, digest

    folder = some_model()
    card = folder / CARD

    def parse(data: bytes, place: Path) -> object:
        try:
            content = json.loads(data)
            content.pop("checksum", None)
            content["checksum"] = digest(canonical(content))
            data = json.dumps(content).encode()
        except (ValueError, TypeError, RecursionError, AttributeError):
            pass
        card.write_bytes(data)
        return load_model(folder)

    return parse, card.read_bytes()


def runs_json() -> tuple[Parse, bytes]:
    from fuzz.targets import exported

    from heterophily.runs.transfer import read_records

    def parse(data: bytes, place: Path) -> object:
        (place / "runs.json").write_bytes(data)
        return read_records(place / "runs.json")

    return parse, exported(".json").read_bytes()


PARSERS: dict[str, Callable[[], tuple[Parse, bytes]]] = {
    "edge table": edge_table,
    "node table": node_table,
    "npz file": npz_file,
    "npz edges": lambda: npz_member("edge_index"),
    "npz labels": lambda: npz_member("y"),
    "npz features": lambda: npz_member("x"),
    "graphml": lambda: markup(".graphml"),
    "gexf": lambda: markup(".gexf"),
    "study toml": lambda: toml("study"),
    "space toml": lambda: toml("space"),
    "settings toml": lambda: toml("settings"),
    "model card": model_card,
    "runs json": runs_json,
}


def fuzz(name: str, runs: int, seed: int, keep: Path) -> None:
    """Fuzz one parser in this process, which ends with it."""
    import atheris

    from heterophily.errors import HeterophilyError

    place = Path(tempfile.mkdtemp(prefix="guided-"))
    corpus = place / "corpus"
    corpus.mkdir()
    (place / "work").mkdir()
    with atheris.instrument_imports(include=["heterophily"]):
        parse, start = PARSERS[name]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(HeterophilyError):
                parse(start, place / "work")  # what the first reading imports is not timed
    (corpus / "start").write_bytes(start)

    def one(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(HeterophilyError):
                parse(data, place / "work")

    keep.mkdir(parents=True, exist_ok=True)
    prefix = f"-artifact_prefix={keep}/{name.replace(' ', '-')}-"
    options = [f"-runs={runs}", f"-seed={seed + 1}", "-max_len=4096", "-timeout=20", prefix]
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=3000", str(corpus)], one)
    atheris.Fuzz()


def main() -> int:
    """Print a line for each parser; return 1 when one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="inputs for each parser")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=PARSERS, help="one parser, in this process")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: no fuzzing guided by coverage (pip install atheris)")
        return 0
    if given.only:
        fuzz(given.only, given.runs, given.seed, given.keep.resolve())
    failed = 0
    print(
        f"{'guided by coverage':18}{'inputs':>10}{'coverage':>10}{'seconds':>10}  end", flush=True
    )
    for name in PARSERS:
        options: list[Any] = ["--only", name, "--runs", given.runs, "--seed", given.seed]
        done = subprocess.run(
            [sys.executable, __file__, *map(str, options), "--keep", str(given.keep)],
            capture_output=True,
            text=True,
            errors="replace",
        )
        last = [line.split() for line in done.stderr.splitlines() if " cov: " in line]
        coverage = last[-1][last[-1].index("cov:") + 1] if last else "?"
        took = [line.split()[-2] for line in done.stderr.splitlines() if line.startswith("Done ")]
        count = [line.split()[1] for line in done.stderr.splitlines() if line.startswith("Done ")]
        end = "no failure" if done.returncode == 0 else "FAILED"
        counted, seconds = (count or ["?"])[0], (took or ["?"])[0]
        print(f"{name:18}{counted:>10}{coverage:>10}{seconds:>10}  {end}", flush=True)
        if done.returncode:
            failed += 1
            print(done.stderr[-3000:], file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
