"""The exact output of a network on a graph beyond memory: rows in blocks, edges streamed.

A network in evaluation mode sees each node alone, but where it multiplies by Â. So it is run on
blocks of nodes up to its first product, and what it would multiply is put aside; the product is
streamed; then it is run up to its second product with the answer to the first, and so on.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.channels.operator import WIDEST, StreamedOperator, padded
from heterophily.errors import InputError
from heterophily.layers.channel_linear import Block
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.propagation import Propagation
from heterophily.models.networks import NodeClassifier

ROWS = 1 << 14
"""Nodes of one block."""


class StreamedNetwork:
    """Runs a network on all nodes of a graph that is not in memory.

    Parameters
    ----------
    operator
        Â, streamed.
    features
        Returns the features (n, F) of a slice of nodes.
    scratch
        Folder for what is put aside; nothing is left there, not even after a kill.
    threads
        Of the products.
    """

    def __init__(
        self,
        operator: StreamedOperator,
        features: Callable[[slice], Block],
        *,
        scratch: str | Path,
        threads: int | None = None,
    ) -> None:
        self.operator, self.features = operator, features
        self.scratch, self.threads = Path(scratch), threads
        self.num_nodes = operator.num_nodes

    @torch.no_grad()
    def run(self, model: nn.Module) -> Iterator[tuple[slice, Tensor, list[Tensor]]]:
        """Iterate over blocks: their rows, the logits (n, C) and the mixing weights (n, K)."""
        model.eval()
        answers: list[_Panels] = []
        try:
            while (asked := self._asked(model, answers)) is not None:
                answers.append(self._product(asked))
            for rows in self._slices():
                inputs = self._inputs(rows, answers)
                if isinstance(model, NodeClassifier):
                    logits, weights = model(inputs, return_weights=True)
                else:
                    logits, weights = model(inputs), ()
                yield rows, logits, list(weights)
        finally:
            for panels in answers:
                panels.close()

    def _slices(self) -> Iterator[slice]:
        for at in range(0, self.num_nodes, ROWS):
            yield slice(at, min(at + ROWS, self.num_nodes))

    def _inputs(self, rows: slice, answers: Sequence[_Panels]) -> GraphInputs:
        replay = _Replay([panels.read(rows) for panels in answers])
        features = self.features(rows)
        return GraphInputs(
            features=features,
            operator=cast(Propagation, replay),
            structure=None,
            num_nodes=features.shape[0],
            num_features=features.shape[1],
        )

    def _asked(self, model: nn.Module, answers: Sequence[_Panels]) -> _Panels | None:
        """Return what the network multiplies next, of all nodes; None when it needs no more."""
        asked: _Panels | None = None
        for rows in self._slices():
            inputs = self._inputs(rows, answers)
            try:
                model(inputs)
            except _AskedError as found:
                if asked is None:
                    asked = _Panels(self.scratch, self.num_nodes, int(found.signal.shape[1]))
                asked.write(rows, found.signal.float().numpy())
            else:
                return None
        return asked

    def _product(self, asked: _Panels) -> _Panels:
        found = _Panels(self.scratch, self.num_nodes, asked.width)
        try:
            for number, width in enumerate(asked.widths):
                panel = padded(self.num_nodes, width)
                for rows in self._slices():
                    panel[rows, :width] = asked.read_panel(number, rows)
                for first, block in self.operator.product(panel, width, threads=self.threads):
                    found.write_panel(number, slice(first, first + len(block)), block)
        finally:
            asked.close()
        return found


class _AskedError(Exception):
    """A product whose answer is not known yet; it carries what is multiplied."""

    def __init__(self, signal: Tensor) -> None:
        super().__init__("a product")
        self.signal = signal


class _Replay:
    """Stands for Â on a block of nodes: answers are read, the next question is raised."""

    def __init__(self, answers: list[NDArray[np.float32]]) -> None:
        self.answers = iter(answers)

    def __call__(self, signal: Tensor) -> Tensor:
        answer = next(self.answers, None)
        if answer is None:
            raise _AskedError(signal)
        return torch.from_numpy(answer).to(signal.dtype)

    def forward_all(self, signals: Sequence[Tensor]) -> Sequence[Tensor]:
        widths = [signal.shape[1] for signal in signals]
        return torch.split(self(torch.cat(list(signals), dim=1)), widths, dim=1)

    @property
    def matrix(self) -> Any:
        raise InputError(
            "this model reads single edges, which is possible only if the graph is in memory; "
            "choose a model that heterophily.batches.fits names"
        )


class _Panels:
    """A matrix (N, width) in panels of 16 columns, in a file that has no name."""

    def __init__(self, folder: Path, num_nodes: int, width: int) -> None:
        self.num_nodes, self.width = num_nodes, width
        self.widths = [min(WIDEST, width - at) for at in range(0, width, WIDEST)]
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"cannot write into {folder}: {error.strerror}") from error
        self._starts = np.cumsum([0, *(4 * num_nodes * each for each in self.widths)]).tolist()

    def write(self, rows: slice, values: NDArray[np.float32]) -> None:
        for number, at in enumerate(range(0, self.width, WIDEST)):
            self.write_panel(number, rows, values[:, at : at + WIDEST])

    def write_panel(self, number: int, rows: slice, values: NDArray[np.float32]) -> None:
        data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        place = self._starts[number] + 4 * rows.start * self.widths[number]
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(self._file.fileno(), data[done:], place + done)
        except OSError as error:
            raise InputError(
                f"the exact prediction could not write its temporary file: {error.strerror}; free "
                "some space and run the command again"
            ) from error

    def read_panel(self, number: int, rows: slice) -> NDArray[np.float32]:
        width = self.widths[number]
        found = np.empty((rows.stop - rows.start, width), np.float32)
        view, done = found.reshape(-1).view(np.uint8).data, 0
        place = self._starts[number] + 4 * rows.start * width
        while done < len(view):
            done += os.preadv(self._file.fileno(), [view[done:]], place + done)
        return found

    def read(self, rows: slice) -> NDArray[np.float32]:
        panels = [self.read_panel(number, rows) for number in range(len(self.widths))]
        return np.concatenate(panels, axis=1)

    def close(self) -> None:
        self._file.close()
