"""What is fuzzed: for each kind of input how it is damaged, read, and how a reading is judged.

``attempt`` reads damaged input. It returns "right" when the answer is that of the undamaged input
or of an independent reading of the damaged one, "wrong" when it is another, "accepted" when nothing
independent can judge it. It raises one of our errors to refuse.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import scipy.sparse as sp
from fuzz import disk, kept, mutate

from heterophily import Graph, read_tables, write_npz, write_tables
from heterophily.data.graph import same_content
from heterophily.data.markup import read_markup, write_markup
from heterophily.data.npz import read_npz

Random = np.random.Generator
Attempt = Callable[[Random, Path], str]
N = 24


def sparse_graph() -> Graph:
    """Return a small graph whose features are written by their nonzeros."""
    rng = np.random.default_rng(1)
    words = sp.random_array((30, 24), density=0.1, rng=rng, dtype=np.float32, format="csr")
    ends = rng.integers(0, 30, (2, 80))
    return Graph.from_edges(*ends, num_nodes=30, features=words, labels=np.arange(30) % 3)


def some_graph(**parts: Any) -> Graph:
    """Return a small graph with everything in it."""
    rng = np.random.default_rng(7)
    given = {
        "labels": np.arange(N) % 3,
        "class_names": ("ant", "bee", "cow"),
        "features": rng.normal(size=(N, 3)).round(3),
        "node_ids": np.array([f"n{k:02}" for k in range(N)]),
        "name": "some",
    } | parts
    return Graph.from_edges(*rng.integers(0, N, (2, 60)), **given)


def _judge(found: Graph, wanted: Graph) -> str:
    return "right" if same_content(found, wanted) else "wrong"


# --- graphs -----------------------------------------------------------------------------------


def _csv_edges(data: bytes, delimiter: str) -> set[frozenset[str]] | None:
    """Read edges with the csv module alone; None where it cannot tell."""
    try:
        text = data.decode("utf-8-sig")
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row
        ]
    except (UnicodeDecodeError, csv.Error):
        return None
    if (
        "#" in text
        or not rows
        or [cell.strip().lower() for cell in rows[0]] != ["source", "target"]
    ):
        return None
    return {frozenset(row) for row in rows[1:] if len(row) == 2 and row[0] != row[1]}


def tables(suffix: str, delimiter: str) -> Attempt:
    """Damage the edge table or the node table of a text format."""
    graph = some_graph()
    folder = Path(tempfile.mkdtemp())
    names = [f"e{suffix}", f"n{suffix}"]
    write_tables(graph, *(folder / name for name in names))
    whole = [(folder / name).read_bytes() for name in names]
    is_packed = suffix.endswith("gz")
    plain = [gzip.decompress(data) if is_packed else data for data in whole]

    def attempt(rng: Random, place: Path) -> str:
        number = int(rng.integers(0, 2))
        alone = number == 0 and bool(rng.integers(0, 2))
        pack = gzip.compress if is_packed else bytes
        inner = mutate.bytes_of(plain[number], rng)
        damaged = mutate.bytes_of(whole[number], rng) if rng.random() < 0.2 else pack(inner)
        for k, name in enumerate(names):
            (place / name).write_bytes(damaged if k == number else whole[k])
        found = read_tables(place / names[0], None if alone else place / names[1])
        edges = _csv_edges(inner, delimiter) if damaged == pack(inner) and number == 0 else None
        if edges is None:
            return "accepted"
        ids = found.node_ids.astype(str)
        coo = sp.coo_array(found.adjacency)
        pairs = {frozenset((ids[u], ids[v])) for u, v in zip(*coo.coords, strict=True)}
        if any("blanks around ids removed" in remark for remark in found.remarks):
            edges = {frozenset(end.strip() for end in pair) for pair in edges}
            edges = {pair for pair in edges if len(pair) == 2}
        return "right" if pairs == edges else "wrong"

    return attempt


def parquet() -> Attempt:
    """Damage a Parquet table of ours; what is accepted must be what was written."""
    graph = some_graph()
    folder = Path(tempfile.mkdtemp())
    names = ["e.parquet", "n.parquet"]
    write_tables(graph, *(folder / name for name in names))
    whole = [(folder / name).read_bytes() for name in names]
    wanted = read_tables(*(folder / name for name in names))

    def attempt(rng: Random, place: Path) -> str:
        number = int(rng.integers(0, 2))
        for k, name in enumerate(names):
            data = mutate.bytes_of(whole[k], rng) if k == number else whole[k]
            (place / name).write_bytes(data)
        return _judge(read_tables(*(place / name for name in names)), wanted)

    return attempt


def npz_bytes() -> Attempt:
    """Damage the bytes of an .npz; what is accepted must be what was written."""
    graph = some_graph()
    folder = Path(tempfile.mkdtemp())
    write_npz(graph, folder / "g.npz")
    whole = (folder / "g.npz").read_bytes()

    def attempt(rng: Random, place: Path) -> str:
        (place / "g.npz").write_bytes(mutate.bytes_of(whole, rng))
        found = read_npz(place / "g.npz")
        return _judge(found, graph)

    return attempt


def npz_arrays() -> Attempt:
    """Put odd arrays into an .npz; an accepted graph has the edges of its ``edge_index``."""
    graph = some_graph()
    folder = Path(tempfile.mkdtemp())
    write_npz(graph, folder / "g.npz")
    with np.load(folder / "g.npz") as content:
        whole = {name: content[name] for name in content.files}
    matrix = sp.csr_array(np.eye(N))
    parts = {"x_data": matrix.data, "x_indices": matrix.indices, "x_indptr": matrix.indptr}
    sparse = {k: v for k, v in whole.items() if k != "x"} | parts | {"x_shape": np.array([N, N])}
    extra = {"edge_weight": np.ones(whole["edge_index"].shape[1]), "unlabelled": np.array([1, 2])}

    def attempt(rng: Random, place: Path) -> str:
        arrays = dict(sparse if rng.random() < 0.3 else whole)
        arrays |= extra if rng.random() < 0.5 else {}
        for _ in range(int(rng.integers(1, 3))):
            name = sorted(arrays)[int(rng.integers(0, len(arrays)))]
            if rng.random() < 0.15:
                del arrays[name]
            else:
                arrays[name] = mutate.array_of(rng, arrays[name])
        np.savez_compressed(place / "g.npz", **arrays)
        found = read_npz(place / "g.npz")
        index = arrays["edge_index"].astype(np.int64)
        wanted = {(min(u, v), max(u, v)) for u, v in index.T.tolist() if u != v}
        if "edge_weight" in arrays:
            kept = arrays["edge_weight"].astype(float) != 0
            wanted = {(min(u, v), max(u, v)) for u, v in index.T[kept].tolist() if u != v}
        if found.is_directed:
            return "accepted"
        coo = sp.coo_array(found.adjacency)
        pairs = {(min(u, v), max(u, v)) for u, v in zip(*coo.coords, strict=True) if u != v}
        is_right = pairs == wanted and found.num_nodes < 10**7
        if "x" in arrays and found.features is not None:
            dense = found.features if not sp.issparse(found.features) else found.features.toarray()
            is_right &= bool(np.array_equal(dense, arrays["x"].astype(dense.dtype)))
        return "right" if is_right else "wrong"

    return attempt


def markup(suffix: str) -> Attempt:
    """Damage GraphML or GEXF; an accepted graph has the nodes and edges of the file."""
    graph = some_graph()
    folder = Path(tempfile.mkdtemp())
    write_markup(graph, folder / f"g{suffix}")
    whole = (folder / f"g{suffix}").read_bytes()

    def attempt(rng: Random, place: Path) -> str:
        path = place / f"g{suffix}"
        path.write_bytes(mutate.bytes_of(whole, rng))
        found = read_markup(path)
        root = ElementTree.parse(path).getroot()
        kinds = [(e.tag.rpartition("}")[2], e.attrib) for e in root.iter()]
        nodes = [attributes["id"] for kind, attributes in kinds if kind == "node"]
        ends = [(a["source"], a["target"]) for kind, a in kinds if kind == "edge"]
        ids = found.node_ids.astype(str)
        coo = sp.coo_array(found.adjacency)
        pairs = {frozenset((ids[u], ids[v])) for u, v in zip(*coo.coords, strict=True)}
        if len(set(nodes)) != len(nodes) or not {e for pair in ends for e in pair} <= set(nodes):
            return "wrong"
        is_right = sorted(nodes) == sorted(ids.tolist())
        wanted = {frozenset(pair) for pair in ends if pair[0] != pair[1]}
        return (
            "right" if is_right and pairs <= wanted else "wrong"
        )  # an edge of weight 0 is dropped

    return attempt


# --- models, stores, exports ------------------------------------------------------------------


def some_model(name: str = "acm-gcn") -> Path:
    """Train a model on the small graph for a moment and return its folder."""
    from heterophily.comparison.train import train
    from heterophily.prediction import build
    from heterophily.prediction.folder import save_model
    from heterophily.training.config import TrainConfig

    config = TrainConfig(max_epochs=3)
    report = train(name, some_graph(), repeats=2, config=config, workers=1)
    network = build.network_of(report, {}, config)
    made = build.model_of_report(report, network, build.calibrate_report(report), seed=0)
    return save_model(Path(tempfile.mkdtemp()) / "model", made)


def model_folder(name: str = "acm-gcn") -> Attempt:
    """Damage a model folder: bytes, or the card by one who knows its checksum."""
    from heterophily.prediction.folder import CARD, WEIGHTS, load_model
    from heterophily.prediction.predict import predict
    from heterophily.runs.run import canonical, digest

    graph, folder = some_graph(), some_model(name)
    wanted = predict(load_model(folder), graph).probabilities
    card = json.loads((folder / CARD).read_text())

    def attempt(rng: Random, place: Path) -> str:
        target = place / "model"
        shutil.copytree(folder, target)
        match int(rng.integers(0, 3)):
            case 0:
                path = target / (CARD if rng.random() < 0.5 else WEIGHTS)
                path.write_bytes(mutate.bytes_of(path.read_bytes(), rng))
            case 1:
                (target / CARD).write_bytes(mutate.json_of(mutate.data_of(card, rng)))
            case _:
                forged = mutate.data_of(card, rng)
                try:
                    forged.pop("checksum", None)
                    forged["checksum"] = digest(canonical(forged))
                except (ValueError, AttributeError, TypeError, IndexError):
                    pass
                (target / CARD).write_bytes(mutate.json_of(forged))
                model = load_model(target)
                predict(model, graph)
                return "accepted"
        found = predict(load_model(target), graph).probabilities
        return "right" if np.array_equal(found, wanted) else "wrong"

    return attempt


def _records() -> list[Any]:
    from runs.pretend import some_record

    return [some_record(number) for number in range(4)]


def store() -> Attempt:
    """Damage a store; what is accepted must be what was added."""
    from heterophily.runs.stores.url import open_store

    records = _records()
    path = Path(tempfile.mkdtemp()) / "runs.sqlite"
    with open_store(path) as made:
        made.add_all(records)
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    wanted = {record.key: record.answer for record in records}

    def attempt(rng: Random, place: Path) -> str:
        damaged = place / "runs.sqlite"
        damaged.write_bytes(mutate.bytes_of(whole, rng))
        is_read_only = bool(rng.integers(0, 2))
        with open_store(damaged, must_exist=True, is_read_only=is_read_only) as opened:
            found = {record.key: record.answer for record in opened.records()}
            len(opened)
            opened.find(records[0].key[:8])
            opened.finished(wanted)
        return "right" if found == wanted else "wrong"

    return attempt


def exported(suffix: str) -> Path:
    """Export a few records; return the file."""
    from heterophily.runs.transfer import export_records

    path = Path(tempfile.mkdtemp()) / f"runs{suffix}"
    export_records(_records(), path)
    return path


def export(suffix: str) -> Attempt:
    """Damage exported runs, bytes or data; what is accepted must be what was exported."""
    from heterophily.runs.stores.url import open_store
    from heterophily.runs.transfer import merge_records, read_records

    records, path = _records(), exported(suffix)
    whole = path.read_bytes()
    wanted = {record.key: (record.answer, record.run["model"]) for record in records}

    def attempt(rng: Random, place: Path) -> str:
        damaged = place / path.name
        if suffix == ".json" and rng.random() < 0.6:
            content = mutate.json_of(mutate.data_of(json.loads(whole), rng))
        else:
            content = mutate.bytes_of(whole, rng)
        damaged.write_bytes(content)
        found = read_records(damaged)
        with open_store("memory:") as target:
            merge_records(target, found, where=damaged)
        got = {record.key: (record.answer, record.run["model"]) for record in found}
        return "right" if got.items() <= wanted.items() else "wrong"  # a record may be cut out

    return attempt


TOML_TEXTS = {
    "study": b'title = "t"\nplace = "Table 1"\nrows = ["gcn", {name = "a", model = "acm-gcn", '
    b'options = {hidden = 8}}]\ndatasets = ["texas", "cora"]\nsplits = "random"\nfixed = '
    b'["cora"]\n',
    "space": b"lr = [0.01, 0.1]\ndropout = [0.0, 0.5]\nhidden = [8, 16]\n",
    "settings": b'model = "acm-gcn"\ngraph = "texas"\n\n[config]\nlr = 0.1\nmax_epochs = 50\n'
    b"\n[options]\nhidden = 8\ndropout = 0.5\n",
}


def toml_reader(kind: str) -> Callable[[Path], object]:
    """Return what reads a kind of TOML file."""
    from heterophily.search.settings import read_settings
    from heterophily.search.space import space_for
    from heterophily.studies.study import study

    readers: dict[str, Callable[[Path], object]] = {
        "study": lambda path: study(path).cells,
        "space": lambda path: list(space_for(path, "acm-gcn", "texas"))[:100],
        "settings": read_settings,
    }
    return readers[kind]


def toml(kind: str) -> Attempt:
    """Damage a study, a space or settings."""
    read = toml_reader(kind)
    with tempfile.TemporaryDirectory() as folder:  # what the first reading loads is not counted
        whole = Path(folder) / "a.toml"
        whole.write_bytes(TOML_TEXTS[kind])
        read(whole)

    def attempt(rng: Random, place: Path) -> str:
        path = place / "a.toml"
        path.write_bytes(mutate.bytes_of(TOML_TEXTS[kind], rng))
        read(path)
        return "accepted"

    return attempt


# --- the page ---------------------------------------------------------------------------------


def http() -> Attempt:
    """Send odd requests to every route; no answer may be a fault of the server."""
    from starlette.testclient import TestClient

    from heterophily.errors import InputError
    from heterophily.web.app import create_app
    from heterophily.web.jobs import Jobs
    from heterophily.web.routes import reading as reading_routes
    from heterophily.web.routes import results
    from heterophily.web.settings import WebSettings

    class Idle(Jobs):
        """Jobs that never start: the door and the routes are fuzzed, tasks are on their own."""

        def _dispatch(self) -> None: ...

        def warm_up(self) -> None: ...

    assert hasattr(reading_routes, "READING_SECONDS")
    reading_routes.READING_SECONDS = results.TABLE_SECONDS = 0.01
    folder = Path(tempfile.mkdtemp())
    settings = WebSettings(folder / "work", folder / "runs.sqlite", port=80, max_waiting=3)
    import heterophily.web.app as module

    module.Jobs = Idle  # type: ignore[misc]
    app = create_app(settings)
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
    sliders = {"nodes": 60, "classes": 3, "homophily": 0.3, "degree": 5, "seed": 0}
    bodies: dict[str, Any] = {
        "/api/playground/graph": sliders,
        "/api/playground/training": {"sliders": sliders, "homophilies": [0.1, 0.5]},
        "/api/graphs/examples": {"name": "karate"},
        "/api/graphs/0123456789abcdef/comparisons": {"models": ["gcn", "mlp-2"], "repeats": 2},
    }
    paths = [
        *("/", "/app.js", "/api/known", "/api/jobs", "/api/graphs", "/api/studies", "/api/runs"),
        *("/api/studies/ablation", "/api/jobs/0123456789abcdef", "/api/graphs/0123456789abcdef"),
        *("/api/jobs/0123456789abcdef/files/a", "/api/graphs/0123456789abcdef/report.html"),
        *("/api/jobs/0123456789abcdef/events", "/api/graphs/0123456789abcdef/diagnosis"),
        *("/api/runs?key=" + "0" * 64, "/api/studies/ablation?protocol=validated", *bodies),
    ]
    routes = app.openapi()["paths"]  # those that were added since, too
    paths += sorted({path.replace("{", "0").replace("}", "0") for path in routes} - set(paths))
    bodies["/api/graphs/0123456789abcdef/reading"] = {"label": "team", "columns": {"a": "number"}}
    paths.append("/api/graphs/0123456789abcdef/reading")

    def attempt(rng: Random, place: Path) -> str:
        odd = [t.decode("latin-1").replace("\r", "").replace("\n", "") for t in mutate.TOKENS]

        def word() -> str:
            found = odd[int(rng.integers(0, len(odd)))][:300]
            return "".join(c for c in found if " " <= c <= "~")

        path = paths[int(rng.integers(0, len(paths)))]
        headers = {"host": "127.0.0.1"}
        if rng.random() < 0.3:
            names = ("host", "origin", "content-type", "last-event-id", "cookie", "range", "accept")
            headers[names[int(rng.integers(0, len(names)))]] = word()
        if rng.random() < 0.3:
            at = int(rng.integers(1, len(path) + 1))
            path = path[:at] + word() + path[at:]
        method = ("GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS")[int(rng.integers(0, 6))]
        how: dict[str, Any] = {}
        known = bodies.get(path)
        if known is not None and rng.random() < 0.8:
            method = "POST"
            content = mutate.json_of(mutate.data_of(known, rng))
            how["content"] = mutate.bytes_of(content, rng) if rng.random() < 0.3 else content
            headers.setdefault("content-type", "application/json")
        elif path in ("/api/graphs", "/api/graphs/previews") and rng.random() < 0.8:
            method = "POST"
            how["files"] = {
                ("edges", "nodes", "graph", word() or "a")[int(rng.integers(0, 4))]: (
                    word() + ".csv",
                    mutate.bytes_of(b"source,target\na,b\n", rng),
                )
            }
            reading = {"label": word(), "ignore": [word()], "columns": {word(): word()}}
            how["data"] = {"reading": mutate.json_of(mutate.data_of(reading, rng))}
        answer = client.request(method, path, headers=headers, follow_redirects=False, **how)
        if answer.status_code >= 500 and answer.status_code != 503:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        if answer.status_code >= 400:
            raise InputError(str(answer.status_code))
        return "accepted"

    return attempt


def job_folder() -> Attempt:
    """Damage the folder of a job: the server starts, and nothing is deleted."""
    from heterophily.web.folder import WorkFolder
    from heterophily.web.jobs import Jobs
    from heterophily.web.schemas import JobView
    from heterophily.web.settings import WebSettings

    name = "0123456789abcdef"
    whole = {
        "id": name, "kind": "comparison", "request": {"models": ["gcn"]}, "graph": None,
        "state": "done", "error": None, "result": {"files": ["a.csv"]}, "created": 1.5,
    }  # fmt: skip
    events = b'["state", {"state": "running"}]\n["run", {"model": "gcn"}]\n'

    def attempt(rng: Random, place: Path) -> str:
        settings = WebSettings(place / "work", place / "runs.sqlite")
        folder = WorkFolder(settings.work_folder)
        job = folder.path / "jobs" / name
        job.mkdir()
        content = mutate.json_of(mutate.data_of(whole, rng))
        (job / "job.json").write_bytes(
            mutate.bytes_of(content, rng) if rng.random() < 0.5 else content
        )
        (job / "events.jsonl").write_bytes(mutate.bytes_of(events, rng))
        try:
            jobs = Jobs(settings, folder)
            for found in jobs.all():
                JobView.model_validate(found.to_dict())
            return "right" if job.is_dir() and (job / "job.json").exists() else "wrong"
        finally:
            folder.close()

    return attempt


def upstream() -> Attempt:
    """Damage pickles of Planetoid: they are read without running anything, or refused."""
    import pickle

    from heterophily.data.readers.safe_pickle import load

    values = [
        sp.csr_matrix(np.eye(4)),
        np.arange(12).reshape(3, 4),
        {0: [1, 2], 1: [0]},
    ]
    whole = [pickle.dumps(value, protocol=2) for value in values]

    def attempt(rng: Random, place: Path) -> str:
        path = place / "ind.a.x"
        path.write_bytes(mutate.bytes_of(whole[int(rng.integers(0, len(whole)))], rng))
        load(path)
        return "accepted"

    return attempt


def results_files() -> Attempt:
    """Damage what ``report --results`` reads."""
    from heterophily.report.results import read_results

    whole = {
        "graph": "some", "splits": "random", "best": "gcn", "rivals": [], "remarks": [],
        "tests": [], "models": [
            {"row": "gcn", "test": [0.5, 0.6], "validation": [0.5, 0.5], "mean": 0.55, "std": 0.05,
             "epochs": 20.0, "ms_per_epoch": 1.0}
        ],
    }  # fmt: skip

    def attempt(rng: Random, place: Path) -> str:
        path = place / "a.json"
        content = mutate.json_of(mutate.data_of(whole, rng))
        path.write_bytes(mutate.bytes_of(content, rng) if rng.random() < 0.3 else content)
        read_results([path], graph="some")
        return "accepted"

    return attempt


TARGETS: dict[str, tuple[Callable[[], Attempt], int]] = {
    "tables .csv": (lambda: tables(".csv", ","), 3000),
    "tables .tsv": (lambda: tables(".tsv", "\t"), 1000),
    "tables .csv.gz": (lambda: tables(".csv.gz", ","), 1000),
    "tables .parquet": (parquet, 2500),
    ".npz bytes": (npz_bytes, 2000),
    ".npz arrays": (npz_arrays, 2500),
    ".graphml": (lambda: markup(".graphml"), 1500),
    ".gexf": (lambda: markup(".gexf"), 1000),
    "upstream pickles": (upstream, 500),
    "model folder": (model_folder, 1500),
    "trees folder": (lambda: model_folder("trees-labels"), 700),
    "encoder": (kept.encoder, 1000),
    "artefacts": (kept.artefacts, 500),
    "recipe .toml": (kept.recipe, 700),
    "graph on disk": (lambda: disk.disk_graph(some_graph()), 1500),
    "sparse graph on disk": (lambda: disk.disk_graph(sparse_graph()), 1500),
    "channels on disk": (lambda: disk.channels(some_graph()), 500),
    "checkpoint": (disk.checkpoint, 500),
    "typed edges": (disk.typed_edges, 700),
    "JSON lines": (disk.json_lines, 700),
    "store": (store, 1000),
    "export .json": (lambda: export(".json"), 1500),
    "export .parquet": (lambda: export(".parquet"), 600),
    "report --results": (results_files, 500),
    "study .toml": (lambda: toml("study"), 700),
    "space .toml": (lambda: toml("space"), 700),
    "settings .toml": (lambda: toml("settings"), 500),
    "job folder": (job_folder, 1000),
    "HTTP": (http, 2000),
}
"""Kind of input -> what makes its attempt, and how many inputs a full run draws."""

assert zipfile  # loaded before memory is limited
