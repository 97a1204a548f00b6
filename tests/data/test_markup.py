"""GraphML and GEXF files, ours and those of others, whole and broken."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.graph import Graph
from heterophily.data.markup import read_markup, write_markup
from heterophily.errors import InputError

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="k" for="node" attr.name="kind" attr.type="string"/>
  <key id="a" for="node" attr.name="age" attr.type="int"/>
  <graph edgedefault="directed">
    <node id="n0"><data key="k">cat</data><data key="a">3</data></node>
    <node id="n1"><data key="k">dog</data><data key="a">5</data></node>
    <node id="n2"><data key="a">7</data></node>
    <edge source="n0" target="n1"/><edge source="n1" target="n2"/>
  </graph>
</graphml>
"""
GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
  <graph defaultedgetype="undirected">
    <attributes class="node"><attribute id="0" title="class" type="string"/></attributes>
    <nodes>
      <node id="7" label="Seven"><attvalues><attvalue for="0" value="x"/></attvalues></node>
      <node id="8" label="Eight"><attvalues><attvalue for="0" value="y"/></attvalues></node>
    </nodes>
    <edges><edge id="0" source="7" target="8" weight="2.5"/></edges>
  </graph>
</gexf>
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_graphml_of_another_program(tmp_path: Path) -> None:
    path = write(tmp_path / "pets.graphml", GRAPHML)
    graph = read_markup(path, label="kind", features=["age"])
    assert graph.name == "pets"
    assert graph.node_ids.tolist() == ["n0", "n1", "n2"]
    assert graph.class_names == ("cat", "dog")
    assert graph.labels.tolist() == [0, 1, -1]
    assert np.asarray(graph.features).ravel().tolist() == [3, 5, 7]
    assert graph.report.one_way_edges == 2
    assert read_markup(path).remarks == ("node attributes ignored: age, kind",)


def test_gexf_captions_are_not_labels_and_whole_ids_are_integers(tmp_path: Path) -> None:
    graph = read_markup(write(tmp_path / "g.gexf", GEXF))
    assert graph.class_names == ("x", "y")
    assert graph.node_ids.dtype.kind == "i"
    assert graph.adjacency[0, 1] == 2.5
    assert read_markup(tmp_path / "g.gexf", label="label").class_names == ("Eight", "Seven")


def test_zero_features_take_no_room_after_the_first_node(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], features=sp.csr_array(np.eye(3, 50)))
    write_markup(graph, tmp_path / "g.graphml")
    assert (tmp_path / "g.graphml").read_text().count("<data") == 50 + 2 + 1  # and the name


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("g.graphml", GRAPHML[:300], r"g\.graphml, line \d+, column \d+: broken XML"),
        ("g.gexf", GEXF[:-30], r"g\.gexf, line \d+, column \d+: broken XML"),
        ("g.graphml", GEXF, r"g\.graphml is not a GraphML file that can be read"),
        ("g.gexf", GRAPHML, r"g\.gexf is not a GEXF file that can be read"),
        ("g.graphml", "", r"g\.graphml is empty"),
        ("g.graphml", GRAPHML.replace(">3<", ">three<"), r"is not a GraphML file that can be read"),
        ("g.txt", GRAPHML, r"g\.txt: the name must end in \.graphml or \.gexf"),
        ("g.gexf", GEXF.replace('"y"', '"x"'), "all labels are 'x'; at least two classes"),
        (
            "g.gexf",
            GEXF.replace('"y"', '"-1"'),
            r"g\.gexf: node '8', attribute 'class': label '-1'",
        ),
        ("g.gexf", GEXF.replace('target="8"', 'target="7"'), "no edge is left"),
        ("g.gexf", GEXF.replace('weight="2.5"', 'weight="-2"'), r"edge \('7', '8'\): weight"),
    ],
)
def test_broken_files_end_in_one_sentence(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read_markup(write(tmp_path / name, text))
    assert "\n" not in str(caught.value)


def test_missing_file_folder_and_bytes_that_are_not_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.gexf: no such file"):
        read_markup(tmp_path / "none.gexf")
    (tmp_path / "folder.gexf").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read_markup(tmp_path / "folder.gexf")
    (tmp_path / "latin.gexf").write_bytes(GEXF.replace("Seven", "Sépt").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.gexf, line 6.*broken XML"):
        read_markup(tmp_path / "latin.gexf")


def test_names_that_xml_cannot_hold_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    for parts in (
        {"node_ids": ["a\x01", "b"]},
        {"node_ids": ["", "b"]},
        {"labels": [0, 1], "class_names": ("x\n", "y")},
    ):
        with pytest.raises(InputError, match="is empty or has characters that XML cannot hold"):
            write_markup(Graph.from_edges([0], [1], **parts), tmp_path / "g.gexf")
    assert list(tmp_path.iterdir()) == []


GRAPHML_HEAD = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="c" for="node" '
    'attr.name="class" attr.type="string"/><graph edgedefault="undirected">\n'
)
GEXF_HEAD = '<gexf xmlns="http://gexf.net/1.2draft" version="1.2"><graph>\n'


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "a.graphml",
            GRAPHML_HEAD + '<node id="a"><data key="c">x</data></node>\n<node id="b"/>\n'
            '<node id="a"><data key="c">y</data></node>\n<edge source="a" target="b"/>\n'
            "</graph></graphml>",
            "line 4: node id 'a' was already on line 2",
        ),
        (
            "a.graphml",
            GRAPHML_HEAD + '<node id="a"/><node id="b"/>\n<edge source="a" target="c"/>\n'
            "</graph></graphml>",
            "line 3: an edge names node 'c', which is not declared",
        ),
        (
            "a.gexf",
            GEXF_HEAD + '<nodes><node id="1"/>\n<node id="1"/></nodes>\n'
            '<edges><edge id="0" source="1" target="1"/></edges></graph></gexf>',
            "line 3: node id '1' was already on line 2",
        ),
        (
            "a.gexf",
            GEXF_HEAD + '<nodes><node id="1"/></nodes>\n'
            '<edges><edge id="0" source="2" target="1"/></edges></graph></gexf>',
            "line 3: an edge names node '2'",
        ),
        (
            "a.graphml",
            '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n' + GRAPHML_HEAD
            + '<node id="&b;"/></graph></graphml>',
            "it declares the entity 'a'",
        ),
    ],
)  # fmt: skip
def test_repeated_nodes_unknown_ends_and_entities_are_refused(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        read_markup(write(tmp_path / name, text))


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ('<node id="a"><graph><node id="b"/></graph></node>', "a graph is inside node"),
        ('<node id="a"><data key="c">x<node id="b"/></data></node>', "a node is inside data"),
        ('<node id="a"/></graph><graph><node id="b"/>', "declares 2 nodes, but 1 can be read"),
        ('<node id="a"/><edge source="a"/>', "an edge has no target"),
        ("<node/>", "a node has no id"),
    ],
)
def test_what_would_be_passed_over_is_refused(tmp_path: Path, inner: str, words: str) -> None:
    text = GRAPHML_HEAD + inner + "</graph></graphml>"
    with pytest.raises(InputError, match=words):
        read_markup(write(tmp_path / "a.graphml", text))


def test_attributes_of_many_digits_are_no_features(tmp_path: Path) -> None:
    text = (
        GRAPHML_HEAD.replace('attr.name="class"', f'attr.name="feature_{"9" * 5000}"')
        + '<node id="a"><data key="c">1</data></node><node id="b"/><edge source="a" target="b"/>'
        "</graph></graphml>"
    )
    assert read_markup(write(tmp_path / "a.graphml", text)).num_features == 0
