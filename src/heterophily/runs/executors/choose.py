"""Executors by name: what ``--executor`` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heterophily.errors import lookup
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import local, this_machine


def _ray(address: str, workers: int | None) -> Executor:
    from heterophily.runs.executors.ray import RayCluster

    return RayCluster(address or None, workers)


EXECUTORS: Mapping[str, Callable[[str, int | None], Executor]] = {
    "local": lambda _, workers: local(workers),
    "ray": _ray,
}
"""By the word before ``://``; called with what follows it, and the number of workers."""


def executor_of(
    text: str = "local", workers: int | None = None, *, is_short: bool = False
) -> Executor:
    """Return the executor that a text names.

    ``is_short``: a command of a few trainings; on this machine it takes what starts fastest.

    ``local`` are worker processes on this machine, ``ray`` is a Ray cluster that starts and ends
    with the command, ``ray://HOST:PORT`` one that is there.

    >>> executor_of("local", workers=1)
    InProcess(threads=1)
    """
    name, _, address = text.partition("://")
    if name == "local" and is_short:
        return this_machine(workers)
    return lookup(EXECUTORS, "executor", name)(address, workers)
