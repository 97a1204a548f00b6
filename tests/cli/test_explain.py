import json

import pytest
from cli.ring import call, write

from heterophily.errors import HeterophilyError


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    how = ["--label", "team", "--repeats", "1", "--max-epochs", "30", "--workers", "1"]
    call("train", "acm-gcn", *write(folder), *how, "--out", folder / "acm-gcn")
    return folder


def test_explain_tells_what_decided(place, tmp_path):
    tables = write(tmp_path)
    text = call("explain", place / "acm-gcn", "--node", "n3", *tables)
    assert text.startswith("Node n3 is predicted as")
    assert "its label is bees" in text
    assert "What decided: the" in text
    assert "Neighbours: 2. Known labels: ants (2)." in text
    assert "Local homophily: 0 % of its labelled neighbours are bees" in text
    data = json.loads(call("explain", place / "acm-gcn", "--node", "n3", *tables, "--json"))
    assert [share["name"] for share in data["channels"]] == ["low", "high", "identity"]


def test_explain_needs_a_node_of_the_graph(place, tmp_path):
    with pytest.raises(HeterophilyError, match="no node 'n99'; ids look like 'n0'"):
        call("explain", place / "acm-gcn", "--node", "n99", *write(tmp_path))
