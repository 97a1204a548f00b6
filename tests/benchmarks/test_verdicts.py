"""The suite of graphs with a known truth: the rule, the oracles, the halves, a short run."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, norm, poisson

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks" / "science"
MODULES = ("generate", "oracle", "truth", "recipes", "records", "edges", "mixing", "columns")


@pytest.fixture(scope="module")
def suite() -> Iterator[SimpleNamespace]:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    parts = {name: importlib.import_module(f"verdict_suite.{name}") for name in MODULES}
    yield SimpleNamespace(**parts, verdicts=importlib.import_module("verdicts"))
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.split(".")[0].startswith("verdict")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("own", "low", "best", "homophily", "informativeness", "kinds"),
    [
        (0.70, 0.80, 0.85, 0.60, 0.30, ("homophilic",)),
        (0.99, 0.99, 0.99, 0.60, 0.30, ("homophilic",)),  # no gain, yet nothing is lost
        (0.70, 0.80, 0.85, -0.30, 0.30, ("harmless",)),
        (0.70, 0.60, 0.75, -0.30, 0.30, ("harmful",)),
        (0.70, 0.60, 0.75, 0.40, 0.30, ("harmful",)),  # averaging loses although alike
        (0.99, 0.60, 0.99, -0.30, 0.30, ("harmful",)),  # no gain, but classes avoid each other
        (0.70, 0.40, 0.70, 0.00, 0.00, ("little",)),
        (0.20, 0.25, 0.25, 0.00, 0.00, ("little",)),  # own features below chance count as chance
        (0.70, 0.40, 0.70, 0.00, 0.01, ("harmful", "little")),
        (0.70, 0.70, 0.71, 0.00, 0.00, ("harmless", "little")),
        (0.70, 0.69, 0.80, -0.30, 0.30, ("harmful", "harmless")),
        (0.70, 0.80, 0.85, 0.30, 0.30, ("harmless", "homophilic")),
    ],
)
def test_truth_follows_the_written_rule(
    suite: SimpleNamespace,
    own: float,
    low: float,
    best: float,
    homophily: float,
    informativeness: float,
    kinds: tuple[str, ...],
) -> None:
    scores = {"own": own, "low": low, "everything": best}
    numbers = suite.truth.Numbers("accuracy", 0.25, scores, homophily, informativeness)
    assert suite.truth.acceptable_kinds(numbers) == kinds


def test_bounds_belong_to_the_decided_side(suite: SimpleNamespace) -> None:
    scores = {"own": 0.5, "low": 0.495, "everything": 0.52}
    numbers = suite.truth.Numbers("accuracy", 0.25, scores, 0.27, 0.0)
    assert numbers.gain == pytest.approx(0.02)
    assert suite.truth.acceptable_kinds(numbers) == ("harmless",)


def test_oracle_of_a_symmetric_block_model_is_its_closed_form(suite: SimpleNamespace) -> None:
    own_share, degree, separation = 0.7, 5.0, 1.0
    recipe = suite.generate.Recipe(
        "test/symmetric", "", 4000, (1, 1),
        suite.edges.BlockEdges((suite.edges.Layer(suite.mixing.alike(2, own_share)),), degree),
        (suite.columns.Gaussian(separation, 1),),
    )  # fmt: skip
    numbers = suite.oracle.oracle(recipe, 0)
    counts = np.arange(40)
    majority = binom.sf(counts / 2, counts, own_share)  # more than half of d neighbours alike
    ties = np.where(counts % 2 == 0, binom.pmf(counts // 2, counts, own_share), 0.0)
    by_labels = float(poisson.pmf(counts, degree) @ (majority + ties / 2))
    assert numbers.scores["own"] == pytest.approx(norm.cdf(separation / np.sqrt(2)), abs=0.015)
    assert numbers.scores["neighbours_labels"] == pytest.approx(by_labels, abs=0.015)
    assert numbers.adjusted_homophily == pytest.approx(2 * own_share - 1)
    chances = np.array([own_share, 1 - own_share])
    entropy = -(chances * np.log2(chances)).sum()
    assert numbers.label_informativeness == pytest.approx(1 - entropy)


def test_edges_have_the_mixing_and_the_degree_of_the_recipe(suite: SimpleNamespace) -> None:
    recipe = suite.recipes.RECIPES["unequal-classes/never-alike"]
    sample = suite.generate.seeded_sample(recipe, 0)
    observed = suite.oracle.observed_joint([sample])
    assert np.abs(observed - suite.oracle.class_joint(recipe)).max() < 0.02
    assert sample.adjacency.nnz / recipe.nodes == pytest.approx(recipe.edges.degree, rel=0.03)


def test_useless_edges_add_nothing_to_the_exact_posterior(suite: SimpleNamespace) -> None:
    numbers = suite.oracle.oracle(suite.recipes.RECIPES["random-edges/four"], 0)
    assert numbers.gain == pytest.approx(0.0, abs=1e-9)


def test_halves_are_equal_stable_and_cover_the_same_phenomena(suite: SimpleNamespace) -> None:
    half = suite.recipes.HALF
    assert len(half) >= 60
    phenomena = [
        sorted(name.split("/")[0] for name in half if half[name] == which)
        for which in ("build", "measure")
    ]
    assert phenomena[0] == phenomena[1]
    assert half["dating/categories"] == "build"
    assert half["dating/age"] == "measure"
    assert {half[name] for name in suite.verdicts.QUICK_RECIPES} == {"build"}


def test_graphs_of_a_seed_are_always_the_same(suite: SimpleNamespace) -> None:
    recipe = suite.recipes.RECIPES["dating/categories"]
    first, again, other = (suite.generate.seeded_sample(recipe, s).graph() for s in (0, 0, 1))
    assert first.content_hash == again.content_hash != other.content_hash
    hidden = suite.generate.hide_labels(first, 0.05, recipe, 0)
    assert hidden.is_labelled.sum() == round(0.05 * recipe.nodes)


def test_a_cut_line_is_ignored_and_the_run_goes_on(suite: SimpleNamespace, tmp_path: Path) -> None:
    lines = suite.records.Lines(tmp_path / "lines.jsonl")
    record = {"recipe": "a", "fingerprint": "b", "seed": 0, "condition": "full"}
    lines.append(record)
    with lines.path.open("a") as file:
        file.write('{"recipe": "a", "finger')
    lines.append({**record, "seed": 1})
    assert [key[2] for key in lines.read()] == [0, 1]


def test_quick_run_writes_records_and_tables(
    suite: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--quick", "--conditions", "quick", "--out", str(tmp_path)]
    assert suite.verdicts.main(options) == 0
    records = [json.loads(line) for line in (tmp_path / "diagnoses.jsonl").read_text().splitlines()]
    assert len(records) == 2
    assert "## Truth and verdict" in capsys.readouterr().out
    assert suite.verdicts.main(options) == 0
    assert " of " not in capsys.readouterr().out.split("##")[0]  # nothing was run again


# --- what the documentation says --------------------------------------------------------------

ROWS = {
    "all labels": "full",
    "all labels, `--quick`": "quick",
    "20 % of the labels": "labels-20",
    "5 % of the labels": "labels-5",
}


def counted(suite: SimpleNamespace, condition: str) -> tuple[int, int, int]:
    """Return right, wrong and too few among the records of the measured half."""
    root = Path(__file__).parents[2] / "results" / "verdicts"
    truths = {
        (record["recipe"], record["seed"]): suite.truth.acceptable_kinds(
            suite.records.numbers_of(record)
        )
        for record in suite.records.Lines(root / "oracles.jsonl").read().values()
    }
    records = [
        record
        for record in suite.records.Lines(root / "after" / "diagnoses.jsonl").read().values()
        if record["condition"] == condition and suite.recipes.HALF[record["recipe"]] == "measure"
    ]
    few = [record for record in records if record["kind"] in ("too-few", "refused")]
    right = [r for r in records if r["kind"] in truths[r["recipe"], r["seed"]]]
    return len(right), len(records) - len(right) - len(few), len(few)


@pytest.mark.parametrize(("title", "condition"), ROWS.items())
def test_the_guide_has_the_numbers_of_the_records(
    suite: SimpleNamespace, title: str, condition: str
) -> None:
    right, wrong, few = counted(suite, condition)
    total = right + wrong + few
    row = f"| {title} | {total} | {right} ({100 * right / total:.0f} %) | {wrong} | {few} |"
    guide = Path(__file__).parents[2] / "docs" / "diagnosis.md"
    assert row in guide.read_text("utf-8")
