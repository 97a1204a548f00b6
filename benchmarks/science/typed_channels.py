"""Typed edges: one homophilic, one heterophilic and one random relation, with and without types.

    python benchmarks/science/typed_channels.py  # five graphs, about two minutes of one core
    python benchmarks/science/typed_channels.py --quick    # one graph, two epochs

Each graph has 1,000 nodes of five classes with weak features, and 2,000 edges of each relation:
"friend" (80 % within a class), "rival" (none within a class) and "noise" (a fifth within a class,
as chance has it). Each model is trained on three stratified 60/20/20 splits per graph with its
default options and the paper's training rule; ± is the standard deviation over all runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from heterophily.comparison.train import train
from heterophily.data.graph import Graph
from heterophily.data.synthetic.features import gaussian_base
from heterophily.data.synthetic.relations import relations_graph
from heterophily.training.config import TrainConfig

HOMOPHILY = {"friend": 0.8, "rival": 0.0, "noise": 0.2}
MODELS = ("mlp-2", "gcn", "acm-gcn", "typed-acm")


def made(seed: int) -> Graph:
    """Return graph number ``seed``."""
    rng = np.random.default_rng(seed)
    features, labels = gaussian_base([200] * 5, rng=rng, num_features=16, separation=1.0)
    return relations_graph(
        homophily=HOMOPHILY, edges=2000, features=features, labels=labels, rng=rng
    )


def main() -> None:
    """Train and print one line per model and set of edges."""
    is_quick = shared.parser(__doc__).parse_args().quick
    graphs = [made(seed) for seed in range(1 if is_quick else 5)]
    how = {"repeats": 1, "config": TrainConfig(max_epochs=2)} if is_quick else {"repeats": 3}
    rows = [("all edges", model, graphs) for model in MODELS]
    rows += [
        (f"{kind} alone", "acm-gcn", [graph.of_type(kind) for graph in graphs])
        for kind in HOMOPHILY
    ]
    for edges, model, used in rows:
        scores = np.concatenate(
            [train(model, graph, workers=1, **how).test_accuracy["values"] for graph in used]
        )
        print(f"{edges:14} {model:10} {100 * scores.mean():5.1f} ± {100 * scores.std(ddof=1):.1f}")


if __name__ == "__main__":
    main()
