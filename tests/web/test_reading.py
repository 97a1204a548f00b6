"""Columns before a graph is read, and reading its tables again otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from web.conftest import Live

EDGES = "payer,payee,amount\n" + "".join(f"n{i},n{(i * 7 + 1) % 60},{i}\n" for i in range(60))
NODES = "key,team,age,city\n" + "".join(
    f"n{i},{('red', 'blue')[i % 2]},{i * 5 % 17 + 0.5},{('Rome', 'Oslo', 'Bern')[i % 3]}\n"
    for i in range(60)
)


def send(live: Live, address: str, nodes: str = NODES, **reading: Any) -> Any:
    files = {"edges": ("transfers.csv", EDGES), "nodes": ("accounts.csv", nodes)}
    return live.post(address, files=files, data={"reading": json.dumps(reading)})


def test_a_preview_says_what_each_column_holds_and_keeps_nothing(live: Live) -> None:
    before = live.get("/api/graphs").json()
    answer = send(live, "/api/graphs/previews")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    nodes = found["tables"]["nodes"]
    assert nodes["rows"] == 60
    assert [(column["name"], column["kind"]) for column in nodes["columns"]] == [
        ("key", "id"),
        ("team", "category"),
        ("age", "number"),
        ("city", "category"),
    ]
    assert nodes["columns"][3]["examples"] == ["Rome", "Oslo", "Bern"]
    assert "category" in found["kinds"]
    assert "id" not in found["kinds"]  # no kind to ask for
    assert live.get("/api/graphs").json() == before


def test_a_table_without_names_is_previewed_by_numbers(live: Live) -> None:
    found = send(live, "/api/graphs/previews", has_header=False).json()
    names = [column["name"] for column in found["tables"]["nodes"]["columns"]]
    assert names == ["1", "2", "3", "4"]


def test_the_label_is_named_after_the_import(live: Live) -> None:
    uploaded = send(live, "/api/graphs", source="payer", target="payee").json()["graph"]
    address = f"/api/graphs/{uploaded['id']}"
    assert uploaded["report"]["classes"] == 0
    assert uploaded["reading"]["label"] is None
    columns = live.get(f"{address}/columns").json()
    assert [column["name"] for column in columns["tables"]["edges"]["columns"]] == [
        *("payer", "payee", "amount")
    ]
    asked = {"label": "team", "ignore": ["age"], "columns": {"city": "text"}}
    answer = live.post(f"{address}/reading", json=asked)
    assert answer.status_code == 200, answer.text
    again = answer.json()
    assert again["graph"]["id"] == uploaded["id"]
    assert again["graph"]["report"]["class_sizes"] == {"blue": 30, "red": 30}
    assert again["graph"]["reading"]["columns"] == {"city": "text"}
    live.done(again["job"]["id"])
    told = live.get(f"{address}/diagnosis").json()
    assert told["graph"]["classes"] == 2
    assert [job["kind"] for job in live.get(address).json()["jobs"]] == ["diagnosis"]


def test_a_reading_that_fails_leaves_the_graph_as_it_was(live: Live) -> None:
    uploaded = send(live, "/api/graphs", label="team").json()
    address = f"/api/graphs/{uploaded['graph']['id']}"
    live.done(uploaded["job"]["id"])
    answer = live.post(f"{address}/reading", json={"label": "mood"})
    assert answer.status_code == 400
    assert "no column 'mood' for the label" in answer.json()["error"]
    assert live.get(address).json()["reading"]["label"] == "team"
    assert live.get(f"{address}/diagnosis").status_code == 200


def test_only_tables_have_columns(live: Live) -> None:
    graph = live.post("/api/graphs/examples", json={"name": "karate"}).json()["graph"]
    assert graph["reading"] is None
    for answer in (
        live.get(f"/api/graphs/{graph['id']}/columns"),
        live.post(f"/api/graphs/{graph['id']}/reading", json={}),
    ):
        assert answer.status_code == 409
        assert "was not read from tables" in answer.json()["error"]


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ({"lable": "x"}, "lable: Extra inputs"),
        ({"label": 3}, "label: Input should be a valid string"),
        ({"columns": {"age": "colour"}}, "unknown kind 'colour'"),
        ({"source": "payer"}, "choose both ends of the edges"),
    ],
)
def test_a_wrong_reading_is_one_sentence_in_the_words_of_the_page(
    live: Live, reading: dict[str, Any], words: str
) -> None:
    answer = send(live, "/api/graphs", **reading)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


@pytest.mark.parametrize(
    "nodes",
    [
        "1,2,3\n4,5,6\n",
        NODES + "n0,red,1,Rome\n",
        NODES.replace("team", "age"),
        "source,target\na,b\n",
    ],
)
def test_no_error_speaks_of_options(live: Live, nodes: str) -> None:
    told = send(live, "/api/graphs", nodes).json()["error"]
    assert "--" not in told
    assert "=" not in told
