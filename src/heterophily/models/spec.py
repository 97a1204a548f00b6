"""A model as a value: a network class, its options, and how the graph is prepared for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from torch import nn

from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs, GraphTraits, InputOptions
from heterophily.learning.seeding import TORCH_DRAWS

ALIASES = {"layers": "depth", "lambda": "lambda_"}
"""Other names of options: the paper's "# layers", and a word that Python reserves."""


@dataclass(frozen=True)
class ModelSpec:
    """What builds a model.

    >>> from heterophily.models.catalog import MODELS
    >>> spec = MODELS["acm-gcn"].with_options(hidden=8, normalization="symmetric")
    >>> spec.options.hidden, spec.inputs.normalization
    (8, 'symmetric')
    """

    network: type[nn.Module]
    options: Any  # a frozen dataclass that ``network`` understands
    inputs: InputOptions = field(default_factory=InputOptions)

    @property
    def option_names(self) -> tuple[str, ...]:
        """Names that :meth:`with_options` accepts, without aliases."""
        names = [field.name for field in (*fields(self.options), *fields(self.inputs))]
        return tuple(dict.fromkeys(names))

    def accepts(self, name: str) -> bool:
        """Whether an option of this name, or its alias, exists."""
        return ALIASES.get(name, name) in self.option_names

    def with_options(self, **changes: Any) -> ModelSpec:
        """Return the model with some options changed, of the network or of its inputs.

        ``with_structure`` sets both: the structure channel, and A among the inputs.
        """
        renamed = {ALIASES.get(name, name): value for name, value in changes.items()}
        parts = {}
        for part in ("options", "inputs"):
            known = {field.name for field in fields(getattr(self, part))}
            parts[part] = {name: renamed[name] for name in renamed if name in known}
        for name in changes:
            if not self.accepts(name):
                raise InputError(
                    f"unknown option {name!r} of this model; "
                    f"its options are {', '.join(self.option_names)}"
                )
        return replace(
            self,
            options=replace(self.options, **parts["options"]),
            inputs=replace(self.inputs, **parts["inputs"]),
        )

    def on(self, graph: Any) -> ModelSpec:
        """Return the model with what it leaves to the graph."""
        return self.given(GraphTraits.of(graph)) if self.inputs.open_names else self

    def given(self, traits: GraphTraits) -> ModelSpec:
        """Return the model with what it leaves to a graph of these traits."""
        return self.with_options(**{name: getattr(traits, name) for name in self.inputs.open_names})

    def build(self, *, num_nodes: int, num_features: int, num_classes: int) -> nn.Module:
        """Build the network; its weights are drawn from PyTorch's global generator.

        Other threads that draw from it, to build or to train, are waited for.
        """
        sizes = {"num_nodes": num_nodes, "num_features": num_features, "num_classes": num_classes}
        with TORCH_DRAWS:
            return self.network(self.options, **sizes)

    def builder(self, inputs: GraphInputs, *, num_classes: int) -> Callable[[], nn.Module]:
        """Return what builds the network for a prepared graph; it travels to worker processes."""
        return partial(
            self.build,
            num_nodes=inputs.num_nodes,
            num_features=inputs.num_features,
            num_classes=num_classes,
        )
