from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from web.conftest import Live

from heterophily.cli.app import main
from heterophily.data.remedies import speaking
from heterophily.errors import InputError
from heterophily.web.refusal import RefusedError
from heterophily.web.settings import WebSettings
from heterophily.web.unpacked import check_unpacked
from heterophily.web.uploads import recognise, save
from heterophily.web.wording import PAGE_WORDS

NODES = b"id,label,x\n" + b"".join(
    b"%d,%s,%d\n" % (i, b"ab"[i % 2 :][:1], i % 5) for i in range(30)
)
EDGES = b"source,target\n" + b"".join(b"%d,%d\n" % (i, (i + 1) % 30) for i in range(30))


@pytest.fixture
def limits(tmp_path: Path) -> WebSettings:
    return WebSettings(tmp_path, tmp_path / "s", max_upload_mb=1, max_rows=1000)


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.csv",
        "..\\..\\evil.csv",
        "/etc/evil.csv",
        "C:\\evil.csv",
        "evil.csv",
        "<evil>.CSV",
    ],
)
def test_a_file_is_saved_under_our_name_whatever_the_client_calls_it(
    name: str, tmp_path: Path, limits: WebSettings
) -> None:
    saved = save("edges", name, io.BytesIO(EDGES), tmp_path, limits)
    assert saved.name == "edges.csv"
    assert saved.title == "evil"
    assert (tmp_path / "edges.csv").read_bytes() == EDGES
    assert [file.name for file in tmp_path.iterdir()] == ["edges.csv"]


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("edges", "e.npz"),
        ("graph", "g.csv"),
        ("graph", "g.npz.gz"),
        ("nodes", "n.exe"),
        ("nodes", ""),
        ("nodes", "csv"),
        ("edges", "e.parquet.gz"),
        ("graph", "a.pkl"),
    ],
)
def test_other_endings_are_refused_with_those_that_are_possible(role: str, name: str) -> None:
    with pytest.raises(InputError, match="its name ends in"):
        recognise(role, name)


def test_packed_text_is_unpacked_and_its_unpacked_size_is_limited(
    tmp_path: Path, limits: WebSettings
) -> None:
    save("edges", "e.csv.gz", io.BytesIO(gzip.compress(EDGES)), tmp_path, limits)
    assert (tmp_path / "edges.csv").read_bytes() == EDGES
    with tempfile.TemporaryFile() as spooled:  # as a large upload comes: opened for writing too
        spooled.write(gzip.compress(EDGES))
        spooled.seek(0)
        save("nodes", "n.tsv.gz", spooled, tmp_path, limits)
    assert (tmp_path / "nodes.tsv").read_bytes() == EDGES
    bomb = gzip.compress(b"0" * (11 * 2**20))
    with pytest.raises(RefusedError, match=r"nodes\.csv is too large") as refused:
        save("nodes", "n.csv.gz", io.BytesIO(bomb), tmp_path, limits)
    assert refused.value.status == 413


def test_a_damaged_packed_file_is_one_sentence(tmp_path: Path, limits: WebSettings) -> None:
    for content in (b"no gzip at all", gzip.compress(EDGES)[:40]):
        with pytest.raises(InputError, match=r"edges\.csv\.gz is damaged"):
            save("edges", "e.csv.gz", io.BytesIO(content), tmp_path, limits)
        (tmp_path / "edges.csv").unlink()


def test_too_many_lines_are_refused(tmp_path: Path, limits: WebSettings) -> None:
    with pytest.raises(RefusedError, match="more than 1,000 lines"):
        save("edges", "e.csv", io.BytesIO(b"1,2\n" * 1001), tmp_path, limits)


def test_archives_that_unpack_to_too_much_are_refused_before_they_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "graph.npz", edge_index=np.zeros((2, 10**6), np.int64))
    pq.write_table(pa.table({"a": np.arange(10**6)}), tmp_path / "edges.parquet")
    for name in ("graph.npz", "edges.parquet"):
        check_unpacked(tmp_path / name, 2**30)
        with pytest.raises(InputError, match=f"{name} unpacks to"):
            check_unpacked(tmp_path / name, 2**20)


BAD = {
    "a row with three cells": ({"edges": b"source,target\n0,1,2\n"}, {}),
    "an unknown node": ({"edges": b"source,target\n0,99\n", "nodes": NODES}, {}),
    "a feature that is a word": ({"edges": EDGES, "nodes": b"id,label,x\n0,a,red\n"}, {}),
    "a label column that is missing": ({"edges": EDGES, "nodes": NODES}, {"label": "kind"}),
    "an empty file": ({"edges": b"", "nodes": NODES}, {}),
    "not text": ({"edges": b"source,target\n\x81\x8d,1\n"}, {}),
    "not an archive": ({"graph": b"hello"}, {}),
    "a pickle inside": ({"graph": "pickle"}, {}),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gets_the_sentence_of_the_command_line_in_the_words_of_the_page(
    case: str,
    live: Live,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files, options = BAD[case]
    endings = {"edges": "edges.csv", "nodes": "nodes.csv", "graph": "graph.npz"}
    contents = {
        role: pickled() if content == "pickle" else bytes(content)  # type: ignore[arg-type]
        for role, content in files.items()
    }
    for role, content in contents.items():
        (tmp_path / endings[role]).write_bytes(content)
    answer = live.post(
        "/api/graphs",
        files={role: (endings[role], content) for role, content in contents.items()},
        data={"reading": json.dumps(options)},
    )
    monkeypatch.chdir(tmp_path)
    words = ["graph.npz"] if "graph" in files else []
    for role in ("edges", "nodes"):
        words += [f"--{role}", endings[role]] if role in files else []
    words += [word for name, value in options.items() for word in (f"--{name}", value)]
    with speaking(PAGE_WORDS):
        assert main(["diagnose", *words, "--no-report"]) == 2
    told = capsys.readouterr().err.removeprefix("error: ").strip()
    assert (answer.status_code, answer.json()) == (400, {"error": told})


def pickled() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        member = io.BytesIO()
        np.save(member, np.array([{}], object), allow_pickle=True)
        archive.writestr("edge_index.npy", member.getvalue())
    return content.getvalue()


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"nodes": ("n.csv", NODES)},
        {"edges": ("e.csv", EDGES), "graph": ("g.npz", b"")},
        {"graph": ("g.npz", b""), "nodes": ("n.csv", NODES)},
    ],
)
def test_an_upload_is_one_graph(files: dict[str, tuple[str, bytes]], live: Live) -> None:
    answer = live.post("/api/graphs", files=files or {"other": ("x.csv", b"")})
    assert answer.status_code == 400
    assert "send one graph" in answer.json()["error"]


def test_a_file_that_is_sent_twice_is_refused(live: Live) -> None:
    answer = live.post("/api/graphs", files=[("edges", ("e.csv", EDGES))] * 2)
    assert answer.status_code == 400
    assert answer.json() == {"error": "edges was sent twice; send each file once"}


def test_a_refused_upload_leaves_nothing_behind(live: Live) -> None:
    before = live.get("/api/graphs").json()
    live.post("/api/graphs", files={"graph": ("g.npz", b"hello")})
    assert live.get("/api/graphs").json() == before
    kept = {folder["id"] for folder in before}
    assert set(live.app.state.server.folder.ids("graphs")) == kept
