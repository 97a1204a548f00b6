"""The page ``docs/models.md``: every model with its paper, cost and departures.

Print it with ``python -m heterophily.models.table``.
"""

from __future__ import annotations

from heterophily.models.baseline import Card
from heterophily.models.catalog import MODELS
from heterophily.models.spec import ModelSpec

SIZES = {"num_nodes": 183, "num_features": 1703, "num_classes": 5}  # texas

_MIXED = "Luan et al. 2022, Revisiting Heterophily for GNNs, section 5"
_FAMILY: dict[str, Card] = {
    "mlp": Card(paper="—", cost="O(nnz(X) H)", acm="identity channel"),
    "sgc": Card(
        paper="Wu et al. 2019, Simplifying GCNs, softmax(S^K X Θ)",
        cost="O(nnz(X) C + E C)",
        acm="`acm-sgc-1`, `acm-sgc-2`",
        departs="Â is a random walk by default, as in the ACM paper",
    ),
    "gcn": Card(
        paper="Kipf and Welling 2017, Semi-Supervised Classification with GCNs, Eq. 9",
        cost="O(nnz(X) H + E H)",
        acm="`acm-gcn` and its variants",
        departs="Â is a random walk by default, no bias, as in the ACM paper",
    ),
    "gcnii": Card(
        paper="Chen et al. 2020, Simple and Deep GCNs, Eq. 5 (GCNII*: its variant)",
        cost="O(nnz(X) H + L (E H + N H²))",
        acm="`acm-gcnii`, `acm-gcnii*`",
    ),
    "snowball": Card(
        paper="Luan et al. 2019, Break the Ceiling, section 4",
        cost="O(L nnz(X) H + L² N H² + L E H)",
        acm="`acm-snowball-2`, `acm-snowball-3`",
        departs="ReLU in place of tanh, as in the ACM paper",
    ),
    "acm": Card(
        paper=_MIXED,
        cost="three times its backbone",
        acm="is one",
        departs="see docs/layers.md",
    ),
}

HEADER = """# Models

Every name below works in `heterophily train NAME GRAPH`, in `heterophily.train(NAME, graph)` and as
`MODELS[NAME]`. All of them read sparse features as they are, and none builds an N x N matrix.

N nodes, E edges, nnz(X) nonzero features, H hidden columns, C classes, L layers, K powers.
Parameters are counted for the sizes of texas (183 nodes, 1,703 features, 5 classes) with the
default options. `heterophily models --cost GRAPH` counts parameters and the operations of one pass
on a graph; for GCN and ACM-GCN they are those of the paper's complexity section.
"ACM" says how a model gets adaptive channel mixing; `acm(layer)` is the wrapper of docs/layers.md.

This page is generated: `python -m heterophily.models.table > docs/models.md`, then
`python benchmarks/speed/baselines.py --show` for the last section.
"""
FOOTER = """
An equation is named by its number only where we are sure of it; elsewhere the docstring writes
out the formula that the code follows. Accuracy on the ten fixed splits, ours beside the paper's:
[results/zoo-fixed-splits](../results/zoo-fixed-splits/README.md).

Ablations are written in brackets: `acm-gcn[low,high]`, `acm-gcn[sum]`. Your own module that takes
`(x, edge_index)` trains beside these: see `examples/train_your_pyg_model.py`.

<!-- speed: python benchmarks/speed/baselines.py --show -->
<!-- end of speed -->
"""


def card_of(name: str) -> Card:
    """Return the card of a model.

    >>> card_of("acm-gcn++").acm
    'is one'
    """
    card = getattr(MODELS[name].network, "card", None)
    if isinstance(card, Card):
        return card
    family = name.removesuffix("*").rstrip("+").partition("-")[0]
    return _FAMILY["acm" if family.startswith("acm") else family]


def count_parameters(spec: ModelSpec) -> int:
    """Return the number of trainable numbers at the sizes of texas."""
    network = spec.build(**SIZES)
    return sum(parameter.numel() for parameter in network.parameters())


def page() -> str:
    """Return the whole page."""
    lines = [
        "| model | paper | cost of one pass | parameters | ACM | where we depart |",
        "|---|---|---|---:|---|---|",
    ]
    for name in MODELS:
        if "[" in name:
            continue
        card, count = card_of(name), count_parameters(MODELS[name])
        cost = card.cost
        if card.largest is not None:
            cost += f"; at most {card.largest:,} nodes"
        cells = [
            f"`{name}`",
            card.paper,
            cost,
            f"{count:,}" if count else "—",
            card.acm,
            card.departs,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return HEADER + "\n" + "\n".join(lines) + "\n" + FOOTER


if __name__ == "__main__":
    print(page(), end="")
