"""Generated graphs with types of edges."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.synthetic.relations import relations_graph
from heterophily.errors import InputError
from heterophily.metrics.edge_homophily import edge_homophily

LABELS = np.repeat([0, 1, 2], 40)


def test_every_type_has_its_own_homophily_and_number_of_edges() -> None:
    graph = relations_graph(
        homophily={"friend": 0.9, "rival": 0.1},
        edges={"friend": 200, "rival": 150},
        features=None,
        labels=LABELS,
        rng=np.random.default_rng(0),
    )
    for kind, share, count in (("friend", 0.9, 200), ("rival", 0.1, 150)):
        part = graph.of_type(kind)
        assert part.num_edges == count
        assert edge_homophily(part) == pytest.approx(share)
    assert graph.num_edges <= 350


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"homophily": {}}, "names no type"),
        ({"edges": {"rival": 3}}, "name the same types"),
        ({"homophily": {"friend": 1.5}}, "homophily of friend=1.5"),
        ({"edges": 0}, "at least 1"),
    ],
)
def test_numbers_that_make_no_graph_are_refused(changes: dict[str, object], said: str) -> None:
    given = {"homophily": {"friend": 0.5}, "edges": 20, **changes}
    with pytest.raises(InputError, match=said):
        relations_graph(features=None, labels=LABELS, rng=np.random.default_rng(0), **given)  # type: ignore[arg-type]
