"""Fuzzed too: recipes, encoders, artefacts, and model folders of trees.

As in :mod:`fuzz.targets`, an attempt returns "right", "wrong" or "accepted", or raises one of our
errors.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from fuzz import mutate

from heterophily.data.encode.encoder import Encoder
from heterophily.data.source import GraphSource

Random = np.random.Generator
Attempt = Callable[[Random, Path], str]
RECIPE = (
    b'edges = "e.csv"\nnodes = "n.csv"\nlabel = "team"\nfeatures = ["age", "zip"]\n'
    b'direction = "keep"\nmemory = "1 GB"\nhas_header = true\n\n[columns]\n"zip" = "category"\n'
)
ROWS = 30


def recipe() -> Attempt:
    """Damage a recipe beside its two tables; a graph that is read has all nodes of the table."""

    def attempt(rng: Random, place: Path) -> str:
        ring = [f"n{k},n{(k + 1) % ROWS}" for k in range(ROWS)]
        rows = [f"n{k},{'xy'[k % 2]},{20 + k % 9},{k % 3}" for k in range(ROWS)]
        (place / "e.csv").write_text("\n".join(["source,target", *ring]) + "\n")
        (place / "n.csv").write_text("\n".join(["id,team,age,zip", *rows]) + "\n")
        path = place / "graph.toml"
        path.write_bytes(mutate.bytes_of(RECIPE, rng))
        graph = GraphSource(graph=str(path)).open()
        return "right" if graph.num_nodes == ROWS else "wrong"

    return attempt


def some_table() -> dict[str, Any]:
    """Return columns of every kind."""
    rng = np.random.default_rng(3)
    return {
        "age": pa.array([None, *rng.normal(40, 9, ROWS - 1).tolist()]),
        "zip": pa.array([f"z{k % 4}" for k in range(ROWS)]),
        "ok": pa.array([k % 3 == 0 for k in range(ROWS)]),
        "day": pa.array([f"2021-03-{k % 28 + 1:02}" for k in range(ROWS)]),
        "note": pa.array([f"word{k} and some more of {k * 7}" for k in range(ROWS)]),
    }


def encoder() -> Attempt:
    """Damage an encoder as plain data; one that is accepted gives finite, named features."""
    table = some_table()
    fitted, encoded = Encoder.fit(table)
    whole = fitted.to_dict()

    def attempt(rng: Random, place: Path) -> str:
        text = mutate.json_of(mutate.data_of(whole, rng))
        found = Encoder.from_dict(_loaded(text))
        features = found.transform(table).features
        found.drift(table)
        if found == fitted:
            same = abs(features - encoded.features).max() == 0  # type: ignore[operator, union-attr]
            return "right" if same else "wrong"
        width = 0 if features is None else features.shape[1]
        values = getattr(features, "data", features)
        is_finite = features is None or bool(np.isfinite(np.asarray(values)).all())
        return "accepted" if width == len(found.feature_names) and is_finite else "wrong"

    return attempt


def _loaded(text: bytes) -> Any:
    """Return what JSON says; a model folder refuses what is none before the encoder sees it."""
    from heterophily.errors import InputError

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("not JSON") from error


def artefacts() -> Attempt:
    """Damage the file that a training left; it is read as it was, or counts as not there."""
    from heterophily.runs.artefacts import ArtefactFiles

    rng = np.random.default_rng(5)
    kept = {"logits": {"logits": rng.normal(size=(6, 3)).astype(np.float32)}}
    key = "ab" * 32
    folder = Path(tempfile.mkdtemp())
    ArtefactFiles(folder).write(key, kept)
    (file,) = [path for path in folder.rglob("*") if path.is_file()]
    whole, name = file.read_bytes(), file.relative_to(folder)

    def attempt(rng: Random, place: Path) -> str:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(mutate.bytes_of(whole, rng))
        found = ArtefactFiles(place).read(key, ["logits"])
        if found is None:
            return "right"  # then the run is trained again
        same = np.array_equal(found["logits"]["logits"], kept["logits"]["logits"])
        return "right" if same else "wrong"

    return attempt
