"""Which metric tells best which model wins?

    python benchmarks/science/metric_ranking.py  # measure what is missing, then write the page
    python benchmarks/science/metric_ranking.py --show     # write the page from the records alone
    python benchmarks/science/metric_ranking.py --quick  # one generated graph, nothing is written

Two suites. Real graphs: ``results/real-gains`` has the trained scores of models with and without a
graph. Generated graphs: ``results/verdicts/oracles.jsonl`` has what the best possible rules reach
from each source of information in 104 kinds of graph (seed 0). Three questions, each a gain:

    graph      the best with the graph  -  the best without it
    averaging  gcn - mlp-2              (generated: the rule on averaged features - on own ones)
    beyond     the best with the graph  -  gcn  (generated: everything - the rule on averages)

For each metric and question: the Spearman correlation with the gain over the graphs, and the
chance that a graph with a gain of at least one point has a higher value than one without (the area
under the ROC curve; 50 % is chance, below it the metric points the other way). For the rank the
correlations of both suites are averaged, so that a metric that points one way on real graphs and
the other way on generated ones does not count, and the sizes of the three means are averaged.
Values of the metrics are kept in ``results/metric-ranking``; graphs on which a metric is undefined
are left out for that metric.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from real_gain.graphs import GRAPHS, open_real
from real_gains import FOLDER as GAINS
from real_gains import best, finished
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from verdict_suite.generate import seeded_sample
from verdict_suite.recipes import RECIPES

from heterophily.data.atomic import write_text
from heterophily.data.graph import Graph
from heterophily.errors import UndefinedError
from heterophily.metrics.catalog import METRICS, compute_metrics
from heterophily.metrics.classifier_based import CLASSIFIERS, classifier_metric

FOLDER = shared.RESULTS / "metric-ranking"
ORACLES = shared.RESULTS / "verdicts" / "oracles.jsonl"
DIAGNOSES = shared.RESULTS / "verdicts" / "real"
PAGE = shared.DOCS / "metric-ranking.md"
QUESTIONS = ("graph", "averaging", "beyond")
SUITES = ("real", "generated")
POINT = 0.01
LARGEST = 1_000_000  # edges; metrics that are not linear are not computed beyond
ROUNDS = 10  # of each classifier-based metric, seed 0
TITLES = {  # name of a ranked value -> how the page calls it
    **{name: f"{metric.title} ({metric.symbol})" for name, metric in METRICS.items()},
    **{f"{name}_difference": f"{name} classifier, ÂX - X" for name in CLASSIFIERS},
    **{f"{name}_certainty": f"{name} classifier, 1 - p-value" for name in CLASSIFIERS},
}
Values = dict[str, dict[str, float | None]]
Gains = dict[str, dict[str, float]]


# --- gains, from records ----------------------------------------------------------------------


def real_gains() -> Gains:
    """Return the trained gains of the real graphs that have a finished split."""
    found: Gains = {}
    for name in GRAPHS:
        path = GAINS / f"{name}.json"
        record = json.loads(path.read_text("utf-8")) if path.is_file() else None
        numbers = finished(record) if record else []
        if not record or not numbers:
            continue
        with_graph, without = (
            np.mean(best(record, numbers, uses_graph=u)[1]) for u in (True, False)
        )
        gcn, mlp = (best_named(record, numbers, model) for model in ("gcn", "mlp-2"))
        found[name] = {"graph": with_graph - without}
        if gcn is not None and mlp is not None:
            found[name] |= {"averaging": gcn - mlp, "beyond": with_graph - gcn}
    return {name: {key: float(v) for key, v in gains.items()} for name, gains in found.items()}


def best_named(record: Mapping[str, Any], numbers: list[str], model: str) -> float | None:
    """Return the test score of the variant of a model with the best validation score."""
    cells = [
        (np.mean([cell["runs"][n]["validation"] for n in numbers]),
         np.mean([cell["runs"][n]["test"] for n in numbers]))
        for name, cell in (*record["variants"].items(), *record["reused"].items())
        if name.split()[0] == model
        and all(cell["runs"].get(n, {}).get("validation") is not None for n in numbers)
    ]  # fmt: skip
    return float(max(cells)[1]) if cells else None


def generated_gains() -> Gains:
    """Return what the best rules gain on the generated graphs, seed 0."""
    found: Gains = {}
    for line in ORACLES.read_text("utf-8").splitlines():
        record = json.loads(line)
        recipe = RECIPES.get(record["recipe"])
        if record["seed"] != 0 or recipe is None or recipe.fingerprint != record["fingerprint"]:
            continue
        scores = record["scores"]
        gains = {"graph": scores["everything"] - scores["own"]}
        if "low" in scores:
            gains["averaging"] = scores["low"] - scores["own"]
            gains["beyond"] = scores["everything"] - scores["low"]
        found[record["recipe"]] = gains
    return found


# --- values of the metrics ----------------------------------------------------------------------


def measured(graph: Graph, lacking: Sequence[str]) -> dict[str, float | None]:
    """Return metrics of a graph, rounded; None where one is undefined or too costly."""
    is_large = graph.adjacency.nnz > LARGEST
    names = [
        name
        for name, metric in METRICS.items()
        if name in lacking and (metric.is_linear or not is_large)
    ]
    values = dict(compute_metrics(graph, names=names).values) if names else {}
    for name in CLASSIFIERS:
        if f"{name}_difference" in lacking or f"{name}_certainty" in lacking:
            values |= _classified(graph, name)
    return {name: _rounded(values.get(name)) for name in lacking}


def _classified(graph: Graph, name: str) -> dict[str, float | None]:
    try:
        found = classifier_metric(graph, name, rng=np.random.default_rng(0), repeats=ROUNDS)
    except UndefinedError:
        return {}
    return {f"{name}_difference": found.difference, f"{name}_certainty": 1.0 - found.p_value}


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 6)


def opened(suite: str, name: str) -> Graph:
    """Open a real graph, or draw a generated one."""
    return open_real(name) if suite == "real" else seeded_sample(RECIPES[name], 0).graph()


def measure(suite: str, names: Sequence[str]) -> None:
    """Measure the graphs, and the metrics, that the record lacks; saved after each graph."""
    known = values_of(suite)
    for name in names:
        lacking = [key for key in TITLES if key not in known.get(name, ())]
        if not lacking:
            continue
        found = known.get(name, {}) | measured(opened(suite, name), lacking)
        known[name] = {key: found[key] for key in TITLES}
        FOLDER.mkdir(parents=True, exist_ok=True)
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in known.items()]
        write_text(FOLDER / f"{suite}.json", "{\n" + ",\n".join(lines) + "\n}\n")
        print(f"{suite} {name}", flush=True)


def values_of(suite: str) -> Values:
    """Return the recorded values, graph by graph."""
    path = FOLDER / f"{suite}.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


# --- the ranking --------------------------------------------------------------------------------


def judged(
    values: Sequence[float | None], gains: Sequence[float | None]
) -> tuple[float, float, int] | None:
    """Return correlation, area under the curve and number of graphs of a metric and a question."""
    pairs = [(v, g) for v, g in zip(values, gains, strict=True) if v is not None and g is not None]
    if len(pairs) < 5:
        return None
    known, gained = np.array(pairs, np.float64).T
    wins = gained >= POINT
    if np.ptp(known) == 0 or wins.all() or not wins.any():
        return None
    return float(spearmanr(known, gained)[0]), float(roc_auc_score(wins, known)), len(pairs)


def ranking(values: Mapping[str, Values], gains: Mapping[str, Gains]) -> list[dict[str, Any]]:
    """Return the metrics, best first, with what they tell in each suite and question."""
    rows = []
    for name, title in TITLES.items():
        cells = {}
        for suite in SUITES:
            graphs = [graph for graph in gains[suite] if graph in values[suite]]
            column = [values[suite][graph].get(name) for graph in graphs]
            for question in QUESTIONS:
                wanted = [gains[suite][graph].get(question) for graph in graphs]
                cells[suite, question] = judged(column, wanted)
        both = [[cells[suite, question] for suite in SUITES] for question in QUESTIONS]
        known = [[cell[0] for cell in pair if cell is not None] for pair in both]
        sizes = [abs(np.mean(pair)) for pair in known if pair]
        if sizes:
            rows.append({"title": title, "cells": cells, "mean": float(np.mean(sizes))})
    return sorted(rows, key=lambda row: -row["mean"])


def page(values: Mapping[str, Values], gains: Mapping[str, Gains]) -> str:
    """Return the page as Markdown."""
    return "\n".join([*_head(values, gains), *_table(values, gains), *_foot(gains)]) + "\n"


def _head(values: Mapping[str, Values], gains: Mapping[str, Gains]) -> Iterator[str]:
    counts = {suite: len([g for g in gains[suite] if g in values[suite]]) for suite in SUITES}
    yield "# Which metric tells which model wins?"
    yield ""
    yield "This page is generated from records: `python benchmarks/science/metric_ranking.py --show` writes"
    yield "it again, and without `--show` it first measures what is missing."
    yield ""
    yield (
        f"Every metric of the package on {counts['real']} real graphs with trained models "
        f"(`results/real-gains`) and {counts['generated']} generated graphs whose best possible "
        "rules are known (`results/verdicts/oracles.jsonl`). Three questions:"
    )
    yield ""
    yield shared.head(["question", "real graphs", "generated graphs"])
    yield "| graph: does it help? | best model with it - best without | best rule with - without |"
    yield "| averaging: does it help? | gcn - mlp-2 | rule on averaged features - on own ones |"
    yield "| beyond: does more pay? | best model with the graph - gcn | best rule - averages |"
    yield ""
    yield (
        "A cell shows the Spearman correlation of the metric with the gain over the graphs and, in "
        "brackets, how often a graph with a gain of at least one point has a higher value than one "
        "without (50 is chance; far below 50, the metric points the other way). For the rank, "
        "the two correlations of a question are averaged (a metric that points one way on real "
        "graphs and the other way on generated ones gets little), then the sizes of these means."
    )
    yield ""


def _table(values: Mapping[str, Values], gains: Mapping[str, Gains]) -> Iterator[str]:
    titles = [f"{question}, {suite}" for suite in SUITES for question in QUESTIONS]
    yield "| rank | metric | size | " + " | ".join(titles) + " |"
    yield "|---:|---|---:|" + "---:|" * len(titles)
    for rank, row in enumerate(ranking(values, gains), start=1):
        cells = [
            "-" if cell is None else f"{cell[0]:+.2f} ({100 * cell[1]:.0f})"
            for cell in row["cells"].values()
        ]
        yield f"| {rank} | {row['title']} | {row['mean']:.2f} | " + " | ".join(cells) + " |"
    yield ""


def _foot(gains: Mapping[str, Gains]) -> Iterator[str]:
    wins = {
        suite: {q: [g[q] >= POINT for g in gains[suite].values() if q in g] for q in QUESTIONS}
        for suite in SUITES
    }
    told = "; ".join(
        f"{suite}: " + ", ".join(f"{q} {sum(w)} of {len(w)}" for q, w in by.items())
        for suite, by in wins.items()
    )
    yield f"Graphs with a gain of at least one point: {told}."
    yield ""
    yield "How to read it with care:"
    yield ""
    yield (
        f"- A classifier is trained {ROUNDS} times on at most 300 nodes of X and of ÂX and tested on "
        "at most 200 others (`classifier_metric`). The difference is that of its accuracies; the "
        "p-value, which the authors print, is nearly 0 or 1 on many graphs."
    )
    yield "- The real graphs are few, most were trained on one split, and several are relatives."
    yield "- Generated graphs hold every kind of heterophily; they are not typical of data."
    yield (
        "- A metric that sees labels alone cannot know how much own features tell, and the gain "
        "depends on it. The [diagnosis](diagnosis.md) trains small classifiers for that. The gain "
        f"that it expects has the Spearman correlation {diagnosed(gains['real']):+.2f} with the "
        "trained gain of a graph (`results/verdicts/real`)."
    )


def diagnosed(gains: Mapping[str, Mapping[str, float]]) -> float:
    """Return how the gain that the diagnosis expects and the trained one go together."""
    pairs = []
    for name, found in gains.items():
        path = DIAGNOSES / f"{name}.json"
        if path.is_file():
            expected = json.loads(path.read_text("utf-8"))["probe"]["gain"]["difference"]
            pairs.append((expected, found["graph"]))
    return float(spearmanr(*np.array(pairs).T)[0])


def main() -> None:
    """Measure, then write the page."""
    parser = shared.parser(__doc__)
    parser.add_argument("--show", action="store_true", help="measure nothing")
    options = parser.parse_args()
    gains = {"real": real_gains(), "generated": generated_gains()}
    if options.quick:
        name = next(iter(gains["generated"]))
        print(name, measured(opened("generated", name), list(TITLES)))
        print(page({suite: values_of(suite) for suite in SUITES}, gains)[:400])
        return
    if not options.show:
        for suite in reversed(SUITES):
            measure(suite, list(gains[suite]))
    write_text(PAGE, page({suite: values_of(suite) for suite in SUITES}, gains))
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
