"""The report: verdict first, everything escaped, no network, small."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from report.made import HOSTILE, portrait, ring

from heterophily.comparison.compare_finished import compare_portraits
from heterophily.data.graph import Graph
from heterophily.diagnosis.diagnose import Diagnosis, diagnose
from heterophily.errors import InputError
from heterophily.report.model_records import model_records
from heterophily.report.write import report_html, write_report

VOID = {"meta"}


class Page(HTMLParser):
    """Reads a page and checks that every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def hostile() -> tuple[Graph, Diagnosis]:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 5
    ids = np.array([f"{HOSTILE[k % 5]}{k}\u202e" for k in range(60)])
    graph = Graph.from_edges(
        *rng.integers(0, 60, (2, 150)),
        labels=labels,
        features=np.eye(5)[labels] + rng.normal(size=(60, 5)),
        class_names=HOSTILE,
        node_ids=ids,
        name="".join(HOSTILE) + "\x1b[31m",
    )
    return graph, diagnose(graph, source=HOSTILE[1])


@pytest.fixture(scope="module")
def html(hostile: tuple[Graph, Diagnosis]) -> str:
    graph, diagnosis = hostile
    portraits = {
        model: [portrait(graph, model=model, split=k) for k in range(3)]
        for model in ("acm-gcn", HOSTILE[0])
    }
    comparison = compare_portraits(portraits)
    records = model_records(portraits, graph)
    return report_html(
        diagnosis, graph=graph, comparison=comparison, records=records, command=HOSTILE[2]
    )


def test_hostile_names_are_text_and_nothing_else(html: str) -> None:
    page = Page(html)
    scripts = re.findall(r"<script([^>]*)>", html)
    assert [s for s in scripts if "application/json" not in s] == [""]
    assert not {"img", "iframe", "object", "link", "a", "form", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert any(HOSTILE[0] in text for text in page.texts)


def test_data_for_the_script_is_json_that_cannot_end_early(html: str) -> None:
    elements = re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', html)
    assert [name for name, _ in elements] == ["map-nodes", "map-0", "map-1", "map-2"]
    nodes = json.loads(elements[0][1])
    assert nodes["names"][:4] == [name[:60] for name in HOSTILE[:4]]
    assert len(nodes["ids"]) == 60
    assert len(json.loads(elements[2][1])["predicted"]) == 60


def test_verdict_comes_first_and_sections_follow_in_order(html: str) -> None:
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert titles == [
        "What each source of information tells", "Where your graph stands", "Metrics",
        "Local homophily", "Class compatibility", "Models", "Accuracy by local homophily",
        "Channel weights", "Maps of the nodes (t-SNE)", "Training", "How this was computed",
    ]  # fmt: skip
    assert html.index("class='verdict") < html.index("<h2>")
    assert "<details><summary>Formulas" in html


def test_every_picture_has_an_alternative_text(html: str) -> None:
    pictures = re.findall(r"<svg ([^>]*)>", html)
    assert len(pictures) > 10
    for attributes in pictures:
        assert "aria-hidden='true'" in attributes or re.search(r"aria-label='.+?'", attributes)


def test_report_without_models_has_no_model_sections(
    hostile: tuple[Graph, Diagnosis], tmp_path: Path
) -> None:
    graph, diagnosis = hostile
    write_report(diagnosis, tmp_path / "r.html", graph=graph)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<h2>Class compatibility</h2>" in text
    assert "<h2>Models</h2>" not in text
    write_report(diagnosis, tmp_path / "r.html")
    assert "<h2>Local homophily</h2>" not in (tmp_path / "r.html").read_text("utf-8")


def test_a_part_that_cannot_be_drawn_says_why() -> None:
    many = ring(93, labels=np.arange(93) % 31)
    html = report_html(diagnose(many, quick=True), graph=many)
    assert "Not drawn: ring has 31 classes; the heat map shows at most 30" in html


def test_the_graph_must_be_the_one_of_the_diagnosis() -> None:
    with pytest.raises(InputError, match="not the graph of this diagnosis"):
        report_html(diagnose(ring(), quick=True), graph=ring(44))
    with pytest.raises(InputError, match="pass graph="):
        write_report(diagnose(ring(), quick=True), "x.html", portraits={"m": [portrait(ring())]})


def test_five_thousand_nodes_of_four_maps_stay_below_two_megabytes(monkeypatch) -> None:
    """The worst case of what is drawn node by node: long ids, maps, triangles."""
    from heterophily.report import model_records as module

    count = 6000
    rng = np.random.default_rng(0)
    graph = ring(
        count, node_ids=np.array([f"{k}漢字漢字漢字漢字漢字漢字漢字" for k in range(count)])
    )
    monkeypatch.setattr(
        module, "embed", lambda rows, *, seed: rng.integers(0, 1001, (2, len(rows))).tolist()
    )
    portraits = {m: [portrait(graph, model=m)] for m in ("acm-gcn", "acmii-gcn", "acm-sgc-1")}
    records = model_records(portraits, graph, nodes=5000)
    html = report_html(
        diagnose(graph, quick=True),
        graph=graph,
        comparison=compare_portraits(portraits),
        records=records,
    )
    assert "A random sample of 5,000 of the 6,000 nodes." in html
    assert len(html.encode("utf-8")) < 2_000_000


def test_reports_from_plain_data_and_from_values_are_the_same() -> None:
    graph = ring()
    comparison = compare_portraits({"gcn": [portrait(graph, model="gcn", channels=())]})
    diagnosis = diagnose(graph, quick=True)
    data = json.loads(json.dumps(comparison.to_dict()))
    assert report_html(diagnosis, comparison=data) == report_html(diagnosis, comparison=comparison)


def test_models_without_weights_and_graphs_without_features_leave_their_parts_out() -> None:
    graph = ring(features=None)
    records = model_records({"gcn": [portrait(graph, model="gcn", channels=())]}, graph)
    assert records["weights"] == []
    assert list(records["maps"]["maps"]) == ["output of gcn, split 0"]
    html = report_html(diagnose(graph, quick=True), graph=graph, records=records)
    assert "Channel weights" not in html


def test_a_report_needs_neither_torch_nor_matplotlib() -> None:
    code = (
        "import sys\n"
        "from heterophily import diagnose, load\n"
        "from heterophily.report.write import report_html\n"
        "graph = load('karate')\n"
        "report_html(diagnose(graph, quick=True), graph=graph)\n"
        "assert not {'torch', 'matplotlib', 'sklearn.manifold'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_part_that_fails_costs_that_part_and_leaves_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> str:
        raise ZeroDivisionError("division by <zero>")

    graph = ring()
    portraits = {"acm-gcn": [portrait(graph, split=k) for k in range(2)]}
    monkeypatch.setattr("heterophily.report.model_records.curves", fail)
    monkeypatch.setattr("heterophily.report.write.results_part", fail)
    html = report_html(
        diagnose(graph, quick=True),
        graph=graph,
        comparison=compare_portraits(portraits),
        records=model_records(portraits, graph),
    )
    Page(html)
    why = "Not drawn: an internal error (ZeroDivisionError: division by &lt;zero&gt;)."
    assert html.count(why) == 2
    for title in ("Models", "Training", "Accuracy by local homophily", "Channel weights"):
        assert f"<h2>{title}</h2>" in html
