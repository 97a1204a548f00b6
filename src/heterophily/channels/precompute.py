"""Compute channels: in memory, or into a folder, panel by panel, to be continued after a kill."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.channels.channels import Channels
from heterophily.channels.columns import FeaturePanels, FeatureScale, load_panel, scale_of
from heterophily.channels.operator import StreamedOperator, stride_of
from heterophily.channels.recipe import ChannelRecipe, low_name
from heterophily.channels.rows import AnyGraph, Orientation, degrees_of, parts_of, read_slice
from heterophily.channels.stored import joined, thinned
from heterophily.data.atomic import write_text
from heterophily.data.disk.files import mapped, write_blocks
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.manifest import FileEntry
from heterophily.data.disk.verify import finite, verify
from heterophily.data.memory import in_units, need
from heterophily.data.toml_file import read_text
from heterophily.errors import InputError
from heterophily.learning.progress import Progress

FORMAT, VERSION, MANIFEST = "heterophily-channels", 1, "channels.json"


def compute_channels(
    graph: AnyGraph,
    recipe: ChannelRecipe,
    *,
    folder: str | Path | None = None,
    columns: Mapping[str, list[float]] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Channels:
    """Compute the channels of a graph, or open those that are there already.

    Parameters
    ----------
    graph
        A graph in memory, whose channels stay in memory, or one on disk, whose channels become
        files. One panel of 16 columns is in memory at a time and the edges are streamed past it.
    recipe
        Powers, directions, normalisation and scaling.
    folder
        Where files go; by default ``channels`` inside the folder of the graph.
    columns
        Center and spread of the graph that a model was trained on, by default measured here.
    threads
        Cores to use, by default all; the numbers do not depend on it.
    progress
        Called with the files that are finished and their number.

    Examples
    --------
    >>> from heterophily import Graph
    >>> graph = Graph.from_edges([0], [1], features=[[1.0], [3.0]], labels=[0, 1])
    >>> channels = compute_channels(graph, ChannelRecipe(features="as-given"))
    >>> [block.tolist() for block in channels.rows(["own", "low-1", "high-1"], slice(0, 2))]
    [[[1.0], [3.0]], [[2.0], [2.0]], [[-1.0], [1.0]]]
    """
    panels = FeaturePanels(graph)
    if isinstance(graph, DiskGraph):
        place = Path(folder) if folder is not None else graph.folder / "channels"
        work = _OnDisk(graph, panels, recipe, place, columns, threads)
        return work.run(progress)
    scale = scale_of(panels, recipe.features, row_normalize=recipe.row_normalize)
    scale = scale.with_columns(columns)
    low: dict[str, list[Any]] = {}
    for number in range(len(panels)):
        for direction, powers in _directions(recipe):
            operator = _operator(graph, recipe, direction)
            panel = load_panel(panels, scale, number)
            for power in range(1, powers + 1):
                width = panels.width(number)
                found = np.empty((graph.num_nodes, width), np.float32)
                for first, rows in operator.product(panel, width, threads=threads):
                    found[first : first + len(rows)] = rows
                panel[:, :width] = found
                kept = found if panels.sparse is None else thinned(found)
                low.setdefault(low_name(power, direction), []).append(kept)
    degrees = degrees_of(parts_of(graph))
    stored = {name: joined(low.pop(name)) for name in list(low)}
    own = panels.stored(scale)
    return Channels(graph.num_nodes, panels.num_columns, own, stored, degrees, scale)


def _directions(recipe: ChannelRecipe) -> list[tuple[Orientation, int]]:
    every: list[tuple[Orientation, int]] = [
        ("forward", recipe.hops),
        ("reverse", recipe.reverse_hops),
    ]
    return [pair for pair in every if pair[1]]


def _operator(graph: AnyGraph, recipe: ChannelRecipe, direction: Orientation) -> StreamedOperator:
    return StreamedOperator.of(graph, direction, kind=recipe.kind, renormalize=recipe.renormalize)


def memory_of_panel(num_nodes: int, width: int) -> int:
    """Return the bytes that computing one panel takes, buffers included."""
    return num_nodes * stride_of(min(width, 16)) * 4 + 200 * 2**20


@dataclass(eq=False)
class _OnDisk:
    """The work on one folder of channels; a killed command leaves whole files and a manifest."""

    graph: DiskGraph
    panels: FeaturePanels
    recipe: ChannelRecipe
    place: Path
    columns: Mapping[str, list[float]] | None
    threads: int | None
    files: dict[str, str] = field(default_factory=dict)  # finished: name -> sha256

    def run(self, progress: Progress | None) -> Channels:
        wanted = [
            (number, direction, power)
            for number in range(len(self.panels))
            for direction, power in self.recipe.stored()
        ]
        scale = self._begun()
        if scale is not None and all(map(self._is_there, wanted)):
            return self._open(scale)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {self.folder}: {error.strerror}") from error
        with _alone(self.place):  # whoever waited here finds what the other command has made
            scale = self._begun()
            for rest in self.folder.glob(".*-*"):  # of a killed command
                rest.unlink(missing_ok=True)
            if scale is None:
                scale = self._measured()
            self._describe(scale)
            missing = [entry for entry in wanted if not self._is_there(entry)]
            self._check_room(missing)
            done = len(wanted) - len(missing)
            for number in sorted({entry[0] for entry in missing}):
                for direction, powers in _directions(self.recipe):
                    for finished in self._panel(scale, number, direction, powers):
                        done += finished
                        if progress is not None:
                            progress(done, len(wanted))
        return self._open(scale)

    def _begun(self) -> FeatureScale | None:
        """Choose the folder of the recipe; return the scale if a command began there before."""
        self.facts, self.folder, known = self._known(None)
        if self.columns is not None and not _has_columns(known, self.columns):
            self.facts, self.folder, known = self._known(_digest(self.columns))
        if known is None or known.get("facts") != self.facts:
            self.files = {}
            return None
        self.files = dict(known.get("files", {}))
        return _scale_from(known.get("scale"), self.folder, self.graph.num_nodes)

    def _measured(self) -> FeatureScale:
        """Measure the scale and write down the part of it that is large."""
        scale = scale_of(
            self.panels, self.recipe.features, row_normalize=self.recipe.row_normalize
        ).with_columns(self.columns)
        if scale.row_factor is not None:
            write_blocks(self.folder / "row-factor.f64", [scale.row_factor])
        return scale

    def _describe(self, scale: FeatureScale) -> None:
        """Keep what the manifest says of the scale."""
        rows = scale.row_factor
        self.scale_facts = {
            "columns": scale.columns,
            "rows": None if rows is None else "row-factor.f64",
            "rows_sha256": None if rows is None else hashlib.sha256(rows.tobytes()).hexdigest(),
        }

    def _known(self, columns_of: str | None) -> tuple[dict[str, Any], Path, dict[str, Any] | None]:
        """Return what identifies channels, their folder, and what its manifest says.

        A model that is applied to the graph it was trained on finds the channels of the training.
        """
        facts = {
            "format": FORMAT,
            "version": VERSION,
            "graph": self.graph.content_hash,
            "columns_of": columns_of,
            "recipe": {k: v for k, v in asdict(self.recipe).items() if not k.endswith("hops")},
        }
        folder = self.place / _digest(facts)[:16]
        return facts, folder, _read_json(folder / MANIFEST)

    def _name(self, entry: tuple[int, Orientation, int]) -> str:
        number, direction, power = entry
        return f"{low_name(power, direction)}-{number:03d}.f32"

    def _is_there(self, entry: tuple[int, Orientation, int]) -> bool:
        name = self._name(entry)
        size = self.graph.num_nodes * self.panels.width(entry[0]) * 4
        path = self.folder / name
        if name not in self.files or not path.is_file() or path.stat().st_size != size:
            return False
        try:
            verify(self.folder, FileEntry(name, self.files[name]), "<f4", finite("float32"))
        except InputError:  # damaged: it is computed again
            return False
        return True

    def _check_room(self, missing: list[tuple[int, Orientation, int]]) -> None:
        """Refuse before the work what the disk or the memory cannot hold."""
        size = sum(self.graph.num_nodes * self.panels.width(entry[0]) * 4 for entry in missing)
        free = shutil.disk_usage(self.folder).free
        if size > free:
            raise InputError(
                f"the channels of {self.graph.name} need {in_units(size)} on the disk of "
                f"{self.folder}, which has {in_units(free)} free; make room, or name another "
                "folder: HETEROPHILY_CHANNELS=FOLDER"
            )
        if missing:
            widest = max(self.panels.width(entry[0]) for entry in missing)
            need(
                memory_of_panel(self.graph.num_nodes, widest),
                f"one panel of the channels of {self.graph.name}",
            )

    def _panel(
        self, scale: FeatureScale, number: int, direction: Orientation, powers: int
    ) -> Iterator[int]:
        """Compute the powers of one panel that are missing; yield 1 for each."""
        entries = [(number, direction, power) for power in range(1, powers + 1)]
        is_there = [self._is_there(entry) for entry in entries]
        if all(is_there):
            return
        operator = _operator(self.graph, self.recipe, direction)
        panel = load_panel(self.panels, scale, number)
        width = self.panels.width(number)
        for place, entry in enumerate(entries):
            path = self.folder / self._name(entry)
            if not is_there[place]:
                blocks = (rows for _, rows in operator.product(panel, width, threads=self.threads))
                self.files[path.name] = write_blocks(path, blocks).sha256
                self._note()
                yield 1
            if not all(is_there[place + 1 :]):
                self._load(path, panel, width)

    def _load(self, path: Path, panel: NDArray[np.float32], width: int) -> None:
        """Read a finished power into the panel, for the next one."""
        stored = mapped(path, "<f4", (self.graph.num_nodes, width))
        step = 1 << 18
        for at in range(0, self.graph.num_nodes, step):
            end = min(at + step, self.graph.num_nodes)
            panel[at:end, :width] = read_slice(stored, at, end)

    def _note(self) -> None:
        """Write down which files are finished."""
        content: dict[str, Any] = {
            "facts": self.facts,
            "scale": self.scale_facts,
            "files": self.files,
        }
        content["sha256"] = _digest(content)
        write_text(self.folder / MANIFEST, json.dumps(content) + "\n")

    def _open(self, scale: FeatureScale) -> Channels:
        count = self.graph.num_nodes
        low: dict[str, list[NDArray[np.float32]]] = {}
        for direction, power in self.recipe.stored():
            low[low_name(power, direction)] = [
                mapped(
                    self.folder / self._name((number, direction, power)),
                    "<f4",
                    (count, self.panels.width(number)),
                )
                for number in range(len(self.panels))
            ]
        degrees = degrees_of(parts_of(self.graph))
        own = self.panels.stored(scale)
        return Channels(count, self.panels.num_columns, own, low, degrees, scale)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process writes into a folder, and keep others away."""
    try:
        import fcntl
    except ImportError:  # not POSIX
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _has_columns(known: dict[str, Any] | None, columns: Mapping[str, list[float]]) -> bool:
    """Whether channels were scaled by the same centers and spreads."""
    stored = (known or {}).get("scale")
    return isinstance(stored, dict) and stored.get("columns") == dict(columns)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.pop("sha256", None) != _digest(found):
        return None  # damaged: what it lists is computed again
    return found


def _scale_from(stored: Any, folder: Path, num_nodes: int) -> FeatureScale | None:
    """Return the scale of a manifest; None when it or its file is gone or damaged."""
    try:
        scale = FeatureScale().with_columns(stored["columns"])
        if stored["rows"] is None:
            return scale
        rows = np.fromfile(folder / "row-factor.f64", np.float64)
        is_same = hashlib.sha256(rows.tobytes()).hexdigest() == stored["rows_sha256"]
    except (OSError, InputError, LookupError, TypeError):
        return None
    if rows.size != num_nodes or not is_same:
        return None
    return FeatureScale(scale.center, scale.spread, rows)
