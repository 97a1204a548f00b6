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
    "mlp": Card(
        does="A plain network on a node's own features (a perceptron); it never sees the graph.",
        paper="—",
        cost="O(nnz(X) H)",
        acm="identity channel",
    ),
    "sgc": Card(
        does="Averages over one or two steps of neighbours, then one linear map.",
        paper="Wu et al. 2019, Simplifying GCNs, softmax(S^K X Θ)",
        cost="O(nnz(X) C + E C)",
        acm="`acm-sgc-1`, `acm-sgc-2`",
        departs="Â is a random walk by default, as in the ACM paper",
    ),
    "gcn": Card(
        does="Averages over neighbours in every layer. The standard graph network.",
        paper="Kipf and Welling 2017, Semi-Supervised Classification with GCNs, Eq. 9",
        cost="O(nnz(X) H + E H)",
        acm="`acm-gcn` and its variants",
        departs="Â is a random walk by default, no bias, as in the ACM paper",
    ),
    "gcnii": Card(
        does="A deep GCN; each layer also adds a part of the first layer.",
        paper="Chen et al. 2020, Simple and Deep GCNs, Eq. 5 (GCNII*: its variant)",
        cost="O(nnz(X) H + L (E H + N H²))",
        acm="`acm-gcnii`, `acm-gcnii*`",
    ),
    "snowball": Card(
        does="A GCN in which each layer sees the outputs of all layers before it.",
        paper="Luan et al. 2019, Break the Ceiling, section 4",
        cost="O(L nnz(X) H + L² N H² + L E H)",
        acm="`acm-snowball-2`, `acm-snowball-3`",
        departs="ReLU in place of tanh, as in the ACM paper",
    ),
    "acm": Card(
        does=(
            "The network in its name with three channels: average over neighbours (low), "
            "difference to it (high), the node itself (identity). The mix is learned for each node."
        ),
        paper=_MIXED,
        cost="three times its backbone",
        acm="is one",
        departs="see [options](layers.md#where-the-paper-and-the-released-code-differ)",
    ),
}

HEADER = """# Models

Which models are there, what does each do, and what does it cost? If you do not want to choose,
use `heterophily train auto GRAPH`; if you do, [Which model?](guides/which-model.md) says which
family suits which data.

Every name below works in `heterophily train NAME GRAPH`, in `heterophily.train(NAME, graph)` and
as `MODELS[NAME]`. All models read sparse features as they are, and none builds an N x N matrix. A
name in brackets is an ablation: `acm-gcn[low,high]` has only these channels, `acm-gcn[sum]` adds
them without learned weights. To train a module of your own beside these models, see [My own PyG
model](guides/own-pyg-model.md).

## What each model does

*Perceptron* is a plain network that sees one node at a time. *Steps* are edges: two steps reach
the neighbours of the neighbours. The column "with ACM" says how to get adaptive channel mixing
(ACM) for a model; `acm(layer)` is [a wrapper for any
layer](layers.md#three-channels-around-any-layer).

"""
COSTS = """
An equation is named by its number only where we are sure of it. Elsewhere the docstring of the
model writes out the formula that the code follows. Accuracy on the ten fixed splits, ours beside
the paper's: [results/zoo-fixed-splits](../results/zoo-fixed-splits/README.md).

## What each model costs

N nodes, E edges, nnz(X) nonzero features, H hidden columns, C classes, L layers, K powers.
Parameters are counted for the sizes of texas (183 nodes, 1,703 features, 5 classes) with the
default options. `heterophily models --cost GRAPH` counts parameters and the operations of one
pass on any graph; for GCN and ACM-GCN they are those of the paper's complexity section.

"""
FOOTER = """
This page is generated: `python -m heterophily.models.table > docs/models.md`, then
`python benchmarks/speed/baselines.py --show` for the last section.

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
    cards = {name: card_of(name) for name in MODELS if "[" not in name}
    described = {
        card: [f"`{name}`" for name in cards if cards[name] == card] for card in cards.values()
    }
    return (
        HEADER
        + _table(
            ["models", "what they do", "paper", "with ACM", "where we depart from the paper"],
            [
                [", ".join(names), card.does, card.paper, card.acm, card.departs]
                for card, names in described.items()
            ],
        )
        + COSTS
        + _table(
            ["model", "parameters", "cost of one pass"],
            [[f"`{name}`", *_cost_cells(name, card)] for name, card in cards.items()],
        )
        + FOOTER
    )


def _cost_cells(name: str, card: Card) -> list[str]:
    count = count_parameters(MODELS[name])
    return [f"{count:,}" if count else "—", card.cost]


def _table(header: list[str], rows: list[list[str]]) -> str:
    ruled = ["---:" if title == "parameters" else "---" for title in header]
    lines = [header, ruled, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    print(page(), end="")
