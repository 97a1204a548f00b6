"""Options that several commands share, written once and received as one value."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from heterophily.cli import panels
from heterophily.cli.batches import memory_of_command
from heterophily.cli.sources import graph_source
from heterophily.data.source import GraphSource

if TYPE_CHECKING:
    from heterophily.runs.executors.base import Executor


def _more(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panels.MORE_RUNS, **settings)


Engine = Annotated[
    str, _more(help="native (C++, faster), torch, or auto: native if it covers the model.")
]
Workers = Annotated[
    int | None,
    _more(
        min=1,
        help="Trainings at the same time, one thread each; one of a large graph takes all threads.",
        show_default="one per core",
    ),
]
StoreOption = Annotated[
    str | None,
    _more(
        "--store",
        metavar="FILE|URL",
        help="File or URL where finished trainings are kept.",
        show_default="HETEROPHILY_STORE, else heterophily-runs.sqlite",
    ),
]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How and where trainings run."""

    seed: Annotated[int, _more(min=0, help="Seed of splits, weights and dropout.")] = 0
    workers: Workers = None
    executor: Annotated[
        str,
        _more(
            "--executor",
            metavar="local|ray|ray://HOST:PORT",
            help="Where to train: on this machine (local), on a Ray cluster started here (ray), "
            "or on one that is running (ray://HOST:PORT).",
        ),
    ] = "local"
    engine: Engine = "auto"

    def executor_here(self, *, is_short: bool = False) -> Executor:
        """Return who trains: the executor that was named, with so many workers."""
        from heterophily.runs.executors.choose import executor_of

        return executor_of(self.executor, self.workers, is_short=is_short)


MAKERS: dict[type, Callable[..., Any]] = {GraphSource: graph_source}
"""What makes a value of the options of a command line, where the class itself does not."""


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its parameters that are values of several options.

    Such a parameter is annotated with a dataclass, like ``graph: GraphSource`` or ``runs:
    RunOptions``. Its options stand in its place. Options of the panel "More: data" come
    after those that most users need, and those of the other panels "More: ..." after them.
    """
    own = _parameters(command)
    makers = {
        parameter.name: MAKERS.get(parameter.annotation, parameter.annotation)
        for parameter in own
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)
    }
    options = {name: _parameters(maker) for name, maker in makers.items()}

    @functools.wraps(command)
    def run(**values: Any) -> None:
        made = {
            name: maker(**{option.name: values.pop(option.name) for option in options[name]})
            for name, maker in makers.items()
        }
        with contextlib.ExitStack() as stack:
            for value in made.values():
                if isinstance(value, GraphSource):
                    stack.enter_context(memory_of_command(value))
            command(**made, **values)

    every = [option for parameter in own for option in options.get(parameter.name, [parameter])]
    both = sorted(every, key=_place)
    run.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in both}
    return run


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function or class as keywords, their types resolved."""
    types = get_type_hints(function, include_extras=True)
    return [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=types[parameter.name])
        for parameter in inspect.signature(function).parameters.values()
    ]


def _place(option: inspect.Parameter) -> int:
    """Return 0 for what most users need, 1 for more about data, 2 for the other panels of more."""
    (settings,) = getattr(option.annotation, "__metadata__", (None,))
    panel = getattr(settings, "rich_help_panel", None) or ""
    return 1 if panel == panels.MORE_DATA else 2 * panel.startswith("More")
