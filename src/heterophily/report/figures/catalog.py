"""The table of figures. Nothing heavy is imported before one of them is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

    from heterophily.report.figures.request import Request

NINE = (
    *("cornell", "wisconsin", "texas", "chameleon", "squirrel", "film"),
    *("cora", "citeseer", "pubmed"),
)
SIX = ("cornell", "wisconsin", "texas", "chameleon", "film", "squirrel")
TRAINED = ("graphs", "models", "repeats", "seed", "splits", "preset", "engine", "max_epochs")

FigureRecord = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure as a value: what it shows, and where its two functions are.

    Parameters
    ----------
    title
        A few words.
    draws
        One sentence: what is seen.
    records
        One sentence: what it is drawn from, and how that is made.
    place
        Where the paper has it; empty for figures beyond the paper.
    graphs, models, repeats
        What is drawn unless the request says otherwise.
    options
        Fields of the request that its records depend on.
    most_graphs
        How many graphs fit.
    module
        File beside this one with ``collect(request) -> data``, ``draw(data) -> figure`` and
        ``alternative(data) -> text``. Empty for the synthetic studies, which have a command of
        their own (``heterophily paper figure NAME``).
    variant
        Handed to the functions of a file that serves several figures.
    """

    title: str
    draws: str
    records: str
    place: str = ""
    graphs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    repeats: int = 1
    options: tuple[str, ...] = ("graphs",)
    most_graphs: int = 12
    module: str = ""
    variant: str = ""

    def collect(self, request: Request) -> FigureRecord:
        """Compute the data of the figure; trains what is missing."""
        return self._call("collect")(request)  # type: ignore[no-any-return]

    def draw(self, data: FigureRecord) -> Drawing:
        """Draw the data."""
        return self._call("draw")(data)  # type: ignore[no-any-return]

    def alternative(self, data: FigureRecord) -> str:
        """Say in words what the picture shows."""
        return self._call("alternative")(data)  # type: ignore[no-any-return]

    def _call(self, name: str) -> Callable[..., Any]:
        function = getattr(import_module(f"heterophily.report.figures.{self.module}"), name)
        if not self.variant:
            return function  # type: ignore[no-any-return]
        return lambda *arguments: function(*arguments, variant=self.variant)


_RUNS = "from models that are trained once and kept"

FIGURES: dict[str, Figure] = {
    "local-homophily": Figure(
        title="Local homophily",
        draws="How the share of same-class neighbours is distributed over the nodes.",
        records="from the graphs, without training",
        place="Figures 4 and 7",
        graphs=NINE,
        module="local_homophily",
    ),
    "alpha-hidden": Figure(
        title="Mixing weights of the hidden layer",
        draws="Distributions of the learned weights of the channels in the hidden layer.",
        records=_RUNS,
        place="Figure 8",
        graphs=NINE,
        models=("acm-gcn",),
        options=TRAINED,
        module="alpha",
        variant="hidden",
    ),
    "alpha-output": Figure(
        title="Mixing weights of the output layer",
        draws="Distributions of the learned weights of the channels in the output layer.",
        records=_RUNS,
        place="Figure 9",
        graphs=NINE,
        models=("acm-gcn",),
        options=TRAINED,
        module="alpha",
        variant="output",
    ),
    "t-sne": Figure(
        title="t-SNE",
        draws="Maps of input features, GCN output, ACM-GCN output and its channels; the weights.",
        records=_RUNS,
        place="Figure 5",
        graphs=("squirrel",),
        models=("gcn", "acm-gcn"),
        options=(*TRAINED, "nodes"),
        most_graphs=1,
        module="t_sne",
    ),
    "sota-bars": Figure(
        title="Comparison with the best other models",
        draws="Baselines, ACM and ACMII models with their spread, and the best other model.",
        records="from the published table; ours from result files or a store, where they exist",
        place="Figure 6",
        graphs=SIX,
        options=("graphs", "results", "store"),
        module="sota_bars",
    ),
    "ternary": Figure(
        title="Weights of each node",
        draws="Every node between low, high and identity, coloured by its local homophily.",
        records=_RUNS,
        graphs=("squirrel",),
        models=("acm-gcn",),
        options=(*TRAINED, "nodes"),
        most_graphs=3,
        module="ternary",
    ),
    "accuracy-by-homophily": Figure(
        title="Accuracy by local homophily",
        draws="Test accuracy of several models on nodes of low to high local homophily.",
        records=_RUNS,
        graphs=("wisconsin", "chameleon", "squirrel", "cora"),
        models=("mlp-2", "gcn", "acm-gcn"),
        repeats=5,
        options=TRAINED,
        most_graphs=9,
        module="accuracy_by_homophily",
    ),
    "compatibility": Figure(
        title="Class compatibility",
        draws="Which classes the neighbours of each class have.",
        records="from the graphs, without training",
        graphs=("texas", "chameleon", "squirrel", "cora"),
        most_graphs=9,
        module="compatibility",
    ),
    "training-curves": Figure(
        title="Training curves",
        draws="Loss and validation accuracy in each epoch; the reported epoch is marked.",
        records=_RUNS,
        graphs=("squirrel",),
        models=("gcn", "acm-gcn"),
        options=TRAINED,
        most_graphs=1,
        module="training_curves",
    ),
    "where-it-stands": Figure(
        title="Where a graph stands",
        draws="Edge homophily against modified aggregation homophily, beside ten known datasets.",
        records="from the graphs and the stored metrics of the paper's ten datasets",
        module="where_it_stands",
    ),
    "synthetic-metrics": Figure(
        title="Which metric orders the graphs",
        draws="Accuracy of SGC-1 and GCN on synthetic graphs against four homophily metrics.",
        records="from synthetic studies: one line of records per model and graph",
        place="Figure 2",
    ),
    "synthetic-models": Figure(
        title="Models on synthetic graphs",
        draws="Accuracy of MLP, SGC, GCN and ACM models against homophily.",
        records="from synthetic studies: one line of records per model and graph",
        place="Figures 10 and 11",
    ),
    "regular": Figure(
        title="Regular graphs",
        draws="Accuracy on regular graphs, and the curve of Proposition 1.",
        records="from synthetic studies: one line of records per model and graph",
        place="Figure 12",
    ),
    "toy": Figure(
        title="Toy examples",
        draws="Similarities after aggregation and diversification, as heat maps.",
        records="from three small graphs, without training",
        place="Figures 1, 3 and 13",
    ),
}
"""Name -> figure."""
