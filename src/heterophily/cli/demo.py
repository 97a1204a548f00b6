"""``heterophily demo``: the main job on embedded graphs, without a download."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from heterophily.cli.diagnose import wide_console

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.diagnosis.diagnose import Diagnosis

SHOWN = (
    (
        "davis",
        "Women and the events that they attended. Neighbours are never of the same class, and "
        "yet the graph helps: compare edge homophily (0) with aggregation homophily (1).",
    ),
    (
        "karate",
        "A club that split in two. Friends mostly chose the same side, so all homophily metrics "
        "are high.",
    ),
    (
        "digits",
        "Handwritten digits. 7 of 10 edges join different digits, so averaging over neighbours "
        "loses information that own features have.",
    ),
)
DIGITS_CLASSES, DIGITS_NODES, DIGITS_HOMOPHILY, DIGITS_DEGREE = 6, 170, 0.3, 10
DIGITS_COMMAND = (
    f"heterophily generate digits.npz --base digits --classes {DIGITS_CLASSES} "
    f"--nodes {DIGITS_NODES} --homophily {DIGITS_HOMOPHILY} --degree {DIGITS_DEGREE}"
)
"""What writes the same graph as a file."""


def demo() -> None:
    """Diagnose three embedded graphs: harmless, homophilic and harmful. No download."""
    from rich.text import Text

    from heterophily.data.catalog import load
    from heterophily.diagnosis.diagnose import diagnose

    console = wide_console()
    for name, hint in SHOWN:
        console.rule(name, align="left")
        console.print(Text(hint, style="italic"))
        console.print()
        found = (
            _with_file(diagnose(digits(), source="digits.npz"))
            if name == "digits"
            else diagnose(load(name))
        )
        console.print(found, crop=False)
        console.print()
    print("Your own graph: heterophily train auto --edges EDGES.csv --nodes NODES.csv --out model")
    print(
        "The main experiment of the paper, in small: heterophily paper figure synthetic-metrics "
        "--quick"
    )


def digits() -> Graph:
    """Return the third graph: images of digits, joined at random with a given homophily."""
    import numpy as np

    from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
    from heterophily.data.synthetic.features import open_base, with_classes

    features, labels = with_classes(open_base("digits"), DIGITS_CLASSES)
    return edge_homophily_graph(
        homophily=DIGITS_HOMOPHILY,
        edges=DIGITS_CLASSES * DIGITS_NODES * DIGITS_DEGREE // 2,
        features=features,
        labels=labels,
        nodes_per_class=[DIGITS_NODES] * DIGITS_CLASSES,
        rng=np.random.default_rng(0),
        name="digits",
    )


def _with_file(found: Diagnosis) -> Diagnosis:
    """Let the next command write the file of the graph before it reads it."""
    command = f"{DIGITS_COMMAND} && {found.next.command}"
    return replace(found, next=replace(found.next, command=command))
