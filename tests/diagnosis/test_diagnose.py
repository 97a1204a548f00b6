"""A diagnosis holds what was asked for, in every form, for every odd graph."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from heterophily.data.catalog import load
from heterophily.data.graph import Graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.data.wording import safe_name
from heterophily.diagnosis.diagnose import diagnose
from heterophily.errors import InputError
from heterophily.metrics.catalog import LINEAR, METRICS

KEYS = ["graph", "verdict", "metrics", "probe", "next"]


def blobs(homophily: float = 0.9, *, noise: float = 0.8, **fields) -> Graph:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    return edge_homophily_graph(
        homophily=homophily,
        edges=500,
        features=np.eye(2)[labels] + noise * rng.normal(size=(120, 2)),
        labels=labels,
        rng=rng,
    ).replace(**fields)


class Tags(HTMLParser):
    """Collect the tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "circle", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


def test_davis_is_heterophilic_but_harmless() -> None:
    found = diagnose(load("davis"))
    assert found.verdict.kind == "harmless"
    assert found.metrics["edge_homophily"] == 0.0
    assert found.metrics["modified_aggregation_homophily"] == 1.0


def test_karate_is_homophilic() -> None:
    assert diagnose(load("karate")).verdict.kind == "homophilic"


@pytest.mark.parametrize(
    ("homophily", "noise", "kind"),
    [(0.9, 0.8, "homophilic"), (0.02, 0.8, "harmless"), (0.5, 0.2, "little")],
)
def test_generated_graphs_get_the_verdict_they_were_made_for(homophily, noise, kind) -> None:
    assert diagnose(blobs(homophily, noise=noise)).verdict.kind == kind


def test_data_has_the_five_keys_and_all_metrics_in_order() -> None:
    data = json.loads(json.dumps(diagnose(blobs()).to_dict(), allow_nan=False))
    assert list(data) == KEYS
    assert list(data["metrics"]) == list(LINEAR)
    assert all(isinstance(value, float) for value in data["metrics"].values())
    assert list(data["probe"]["gains"]) == ["neighbours", "structure", "labels", "all"]
    assert list(data["probe"]["gain"]) == ["source", "difference", "interval", "p_value"]
    assert set(data["probe"]["scores"]) == {"largest class", "linear", "trees"}
    assert data["graph"]["nodes"] == 120
    assert data["verdict"]["helpful"]
    assert data["next"]["command"].startswith("heterophily.train('gcn', graph, ")


def test_metrics_are_those_of_the_table() -> None:
    graph = blobs()
    values = diagnose(graph, quick=True).metrics.values
    assert values == {name: METRICS[name](graph) for name in LINEAR}


def test_quick_asks_linear_classifiers_only_and_says_so() -> None:
    found = diagnose(blobs(), quick=True)
    assert found.verdict.kind == "homophilic"
    assert set(found.to_dict()["probe"]["scores"]) == {"largest class", "linear"}
    assert any(note.startswith("Quick: linear classifiers only") for note in found.notes)
    assert not any(note.startswith("Quick") for note in diagnose(blobs()).notes)


@pytest.mark.parametrize("quick", [False, True])
def test_the_page_tells_the_command_that_gives_it_again(quick: bool) -> None:
    html = diagnose(load("davis"), quick=quick, seed=3)._repr_html_()
    assert f"heterophily diagnose davis {'--quick ' * quick}--seed 3" in html


def test_the_same_seed_gives_the_same_diagnosis() -> None:
    first, second = (diagnose(blobs(), seed=5).to_dict() for _ in range(2))
    assert first == second


def test_partly_labelled_graph_says_so_and_gives_spreads() -> None:
    graph = blobs(0.95)
    found = diagnose(graph.replace(labels=np.where(np.arange(120) % 3, graph.labels, -1)))
    assert found.verdict.kind == "homophilic"
    assert any(note.startswith("80 of 120 nodes are labelled") for note in found.notes)
    assert found.spreads is not None
    assert set(found.spreads) == set(LINEAR)
    assert "±" in str(found).partition("edge homophily ")[2].splitlines()[0]


def test_a_large_graph_gets_no_spreads_and_its_note_promises_none(monkeypatch) -> None:
    """Ten draws of every metric took most of the time when a few labels were missing."""
    monkeypatch.setattr("heterophily.diagnosis.diagnose.SPREAD_ENTRIES", 1000)
    graph = blobs(0.95)
    found = diagnose(
        graph.replace(labels=np.where(np.arange(120) % 3, graph.labels, -1)), quick=True
    )
    assert found.spreads is None
    assert any(note.endswith("estimates from these labels.") for note in found.notes)
    assert "±" not in str(found)


def test_next_command_names_the_graph_as_the_shell_or_python_knows_it() -> None:
    assert " davis " in diagnose(load("davis"), quick=True).next.command
    impostor = blobs(name="davis")
    found = diagnose(impostor, quick=True)
    assert found.next.command.startswith("heterophily.train('gcn', graph, ")
    assert " --edges e.csv " in diagnose(impostor, quick=True, source="--edges e.csv").next.command


# --- odd graphs -------------------------------------------------------------------------------


def test_no_labels_and_one_class_are_refused_in_one_sentence() -> None:
    with pytest.raises(
        InputError, match=r"no labelled node.* \.disk .*convert the tables again with --label"
    ):
        diagnose(blobs(labels=None, class_names=None))
    with pytest.raises(InputError, match="of one class \\('0'\\)"):
        diagnose(blobs(labels=np.zeros(120, int), class_names=None))


def test_a_graph_without_edges_adds_little() -> None:
    graph = Graph.from_edges([], [], labels=[0, 1] * 20, features=np.eye(40))
    found = diagnose(graph)
    assert (found.verdict.kind, found.verdict.confidence) == ("little", "high")
    assert found.metrics["edge_homophily"] is None
    assert found.probe is None


def test_labels_on_isolated_nodes_only_are_judged_by_the_probe() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([0, 1] * 20 + [-1] * 10)
    features = np.column_stack([labels, rng.normal(size=50)]).astype(float)
    graph = Graph.from_edges(range(40, 49), range(41, 50), labels=labels, features=features)
    found = diagnose(graph)
    assert found.verdict.kind == "little"
    assert found.metrics["edge_homophily"] is None
    assert "undefined" in str(found)


def test_zero_features_are_told_and_treated_as_none() -> None:
    found = diagnose(load("davis").replace(features=np.zeros((32, 2))))
    assert found.verdict.kind == "harmless"
    assert any("All features are zero" in note for note in found.notes)


def test_four_labelled_nodes_are_too_few_and_the_answer_says_how_many_would_do() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1], features=np.eye(4))
    found = diagnose(graph)
    assert found.probe is None
    assert found.verdict.kind == "too-few"
    assert found.verdict.labels_needed == 100
    assert any("needs 15 labelled nodes" in note for note in found.notes)
    assert found.next.command == "heterophily.auto(graph)"
    assert "Too few labels to tell: with 4 labelled nodes" in str(found)


def test_few_labels_and_weak_features_are_too_few_to_tell() -> None:
    graph = blobs(0.5, noise=3.0)
    known = np.random.default_rng(0).permutation(120)[:20]
    labels = np.full(120, -1)
    labels[known] = graph.labels[known]
    found = diagnose(graph.replace(labels=labels))
    assert found.verdict.kind == "too-few"
    assert found.verdict.labels_needed > 100


def test_a_class_of_one_node_gives_a_diagnosis() -> None:
    graph = blobs()
    labels = graph.labels.copy()
    labels[0] = 2
    found = diagnose(graph.replace(labels=labels, class_names=("a", "b", "lonely")))
    assert found.verdict.kind == "homophilic"


# --- forms ------------------------------------------------------------------------------------


def test_text_has_its_parts_in_order_and_fits_a_hundred_columns() -> None:
    text = str(diagnose(blobs()))
    parts = [
        "synthetic: 120 nodes",
        "Homophilic:",
        "- best information from the graph",
        "- adjusted homophily",
        "What each source of information tells",
        " average with neighbours ",
        "Best without the graph",
        "edge homophily ",
        "Next: ",
        "heterophily.train(",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert max(map(len, text.splitlines())) <= 100


def test_the_next_command_is_one_line_however_long() -> None:
    source = "--edges " + "a" * 120 + ".csv --nodes b.csv"
    found = diagnose(load("davis"), quick=True, source=source)
    lines = [line.strip() for line in str(found).splitlines()]
    assert found.next.command in lines
    assert max(len(line) for line in lines if line != found.next.command) <= 100


def test_a_dashed_line_of_the_table_is_never_cut() -> None:
    """Names and intervals of every source fit beside each other."""
    text = str(diagnose(blobs(0.02)))
    for words in ("average with neighbours", "everything from the graph", "(95 % interval)"):
        assert words in text
    assert "…" not in text


HOSTILE = "<script>alert(1)</script>'\"&\x1b[31m[red]\u202e"


def test_page_is_whole_closed_and_without_script_or_network(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    diagnose(blobs()).write_html(path)
    text = path.read_text("utf-8")
    page = Tags(text)
    assert page.open == []
    assert not {"script", "img", "link", "iframe", "a"} & set(page.tags)
    assert not any(name in ("src", "href") or name.startswith("on") for name, _ in page.attributes)
    assert "http://" not in text
    assert "https://" not in text
    assert "prefers-color-scheme:dark" in text
    assert len(text) < 50_000


@pytest.mark.parametrize("quick", [False, True])
def test_hostile_names_stay_text_everywhere(quick: bool, tmp_path: Path) -> None:
    graph = blobs(name=HOSTILE, class_names=(HOSTILE, "b"), remarks=(HOSTILE,))
    found = diagnose(graph, quick=quick, source=HOSTILE)
    for html in (found._repr_html_(), _page(found, tmp_path)):
        assert "script" not in Tags(html).tags
        assert "<script" not in html
        assert "\x1b" not in html
        assert "\u202e" not in html
    assert "\x1b" not in str(found)
    assert "[red]" in str(found)


def _page(found, folder: Path) -> str:
    found.write_html(folder / "page.html")
    return (folder / "page.html").read_text("utf-8")


def test_file_names_are_made_safe() -> None:
    assert safe_name("../../etc/passwd") == "etc-passwd"
    assert safe_name("a b\x00c") == "a-b-c"
    assert safe_name("...") == "graph"
    assert len(safe_name("x" * 500)) == 80


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("texas", ("harmful", "too-few")), ("cora", ("homophilic",)), ("minesweeper", ("harmless",))],
)
def test_real_graphs_get_the_verdict_of_trained_models(name: str, kinds, data_folder) -> None:
    assert diagnose(load(name, data_folder=data_folder), quick=True).verdict.kind in kinds
