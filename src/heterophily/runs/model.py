"""Which model a run trains: a name of the table or a spec of your own, and what its key says."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.models.spec import ModelSpec
from heterophily.runs.run import digest

UNKNOWN_SOURCE = "unknown"
"""Stands for the source of a model that has no file: such runs are for this process alone."""


def check_model(model: object) -> None:
    """Refuse what is neither the name of a model nor a spec."""
    if not isinstance(model, str | ModelSpec):
        raise InputError(f"{type(model).__name__} is not a model; pass a name or a ModelSpec")


def spec_with(model: str | ModelSpec, options: Mapping[str, Any]) -> ModelSpec:
    """Return a model of the table, or one's own, with changed options.

    A value of the wrong kind is one sentence.
    """
    check_model(model)
    try:
        spec = MODELS[model] if isinstance(model, str) else model
        return spec.with_options(**options)
    except TypeError as error:  # a value of the wrong kind, compared with a number
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise InputError(f"{model}: an option has the wrong kind of value ({shown})") from error


def name_of(model: str | ModelSpec) -> str:
    """Return the name of a model for people: that of the table, or of the class."""
    check_model(model)
    if isinstance(model, str):
        return model
    made_by = next(_own_parts(model), model.network)
    return str(getattr(made_by, "__name__", type(made_by).__name__))


def option_values(spec: ModelSpec) -> dict[str, Any]:
    """Return every option of the model and its inputs as plain data.

    Edges as they are given, edges without types and features that are counts are not named: keys
    of stored runs are made of this, and stay those of the time before these options.
    """
    parts = (spec.options, spec.inputs)
    found = {f.name: _plain(getattr(part, f.name)) for part in parts for f in fields(part)}
    if spec.inputs.edge_direction == "given":
        del found["edge_direction"]
    if spec.inputs.features == "counts":
        del found["features"]
    if not spec.inputs.edge_types:
        del found["edge_types"]
    return found


def resolved(model: str | ModelSpec, spec: ModelSpec) -> dict[str, Any]:
    """Return the network and all its options: what the key of a run says of its model.

    For a model that is not of the table, a hash of the source of its module is part of it.
    """
    found = {
        "network": spec.network.__name__,
        "options": type(spec.options).__name__,
        **option_values(spec),
    }
    if not isinstance(model, str):
        found["source"] = source_of(spec)
    return found


def source_of(spec: ModelSpec) -> str:
    """Return a hash of the modules that define a model of your own.

    ``UNKNOWN_SOURCE`` when a part has no source file, or an option cannot be told from another.
    """
    texts = []
    try:
        for part in _own_parts(spec):
            module = inspect.getmodule(part)
            assert module is not None
            texts.append(f"{part.__qualname__} {_version(module.__name__)}")
            try:
                texts.append(inspect.getsource(module))
            except (OSError, TypeError):  # typed in at a prompt
                texts.append(inspect.getsource(part))
    except (OSError, TypeError, AttributeError, AssertionError):
        return UNKNOWN_SOURCE
    if any(" at 0x" in str(value) for value in option_values(spec).values()):
        return UNKNOWN_SOURCE  # an object without a text of its own
    return digest("\n".join(texts))[:32]


def _own_parts(spec: ModelSpec) -> Iterator[Any]:
    """Yield what of a spec is not ours: functions and classes among its options, its network."""
    own = type(spec).__module__.partition(".")[0]
    values = [getattr(spec.options, field.name) for field in fields(spec.options)]
    for value in (*values, spec.network):
        part = value.func if isinstance(value, functools.partial) else value
        if callable(part) and not str(getattr(part, "__module__", "")).startswith(f"{own}."):
            yield part


def _version(module: str) -> str:
    try:
        return version(module.partition(".")[0])
    except PackageNotFoundError:  # of the user's own file
        return ""


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, functools.partial):
        return [_plain(value.func), _plain(value.args), _plain(sorted(value.keywords.items()))]
    if inspect.isroutine(value):
        return f"{value.__module__}.{value.__qualname__}"
    return value if value is None or isinstance(value, (str, int, float)) else str(value)
