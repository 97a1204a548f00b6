"""``heterophily demo``: the main job on embedded graphs, without a download."""

from __future__ import annotations

from heterophily.cli.diagnose import wide_console

SHOWN = (
    (
        "davis",
        "Women and the events they went to: no two neighbours are alike, yet that is no harm. "
        "See edge homophily 0 beside aggregation homophily 1.",
    ),
    (
        "karate",
        "A club that split in two: friends ended on the same side. See all homophily metrics high.",
    ),
    (
        "digits",
        "Handwritten digits, 7 of 10 edges drawn between different digits. See averaging over "
        "neighbours lose what own features know.",
    ),
)
DIGITS_HOMOPHILY, DIGITS_NODES = 0.3, 1000


def demo() -> None:
    """Diagnose three embedded graphs: harmless, homophilic and harmful. No download."""
    import numpy as np
    from rich.text import Text

    from heterophily.data.catalog import load
    from heterophily.data.embedded import digits_features
    from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
    from heterophily.diagnosis.diagnose import diagnose

    console = wide_console()
    for name, hint in SHOWN:
        if name == "digits":
            features, labels = (part[:DIGITS_NODES] for part in digits_features())
            graph = edge_homophily_graph(
                homophily=DIGITS_HOMOPHILY,
                edges=5 * labels.size,
                features=features,
                labels=labels,
                rng=np.random.default_rng(0),
                name="digits",
            )
        else:
            graph = load(name)
        console.rule(name, align="left")
        console.print(Text(hint, style="italic"))
        console.print()
        console.print(diagnose(graph), crop=False)
        console.print()
    console.print("Your own graph: heterophily train auto --edges ... --nodes ... --out model")
    console.print("The argument of the paper: heterophily paper figure synthetic-metrics --quick")
