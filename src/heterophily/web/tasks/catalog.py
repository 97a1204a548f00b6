"""The table of tasks. Each is loaded when it is needed: reading a file needs no statistics."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from heterophily.web.worker import TaskFunction

TASKS = {
    "preview": "preview_tables",
    "import": "import_graph",
    "diagnosis": "diagnose_graph",
    "playground": "train_synthetic",
    "study": "show_study",
    "comparison": "compare_models",
}
"""Kinds of jobs, and the function that does one: in the module of its name in this folder."""


def task_of(kind: str) -> TaskFunction:
    """Return the function that does jobs of a kind."""
    name = TASKS[kind]
    found: TaskFunction = getattr(import_module(f"heterophily.web.tasks.{name}"), name)
    return found


def warm_up() -> Iterator[str]:
    """Load one task after the other, those that are waited for first; a job may come between."""
    import_module("heterophily.data.tables")
    for kind in TASKS:
        task_of(kind)
        yield kind
