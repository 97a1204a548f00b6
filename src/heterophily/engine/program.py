"""A network as a list of steps: what each makes of the values of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof, c_double, c_int32
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from heterophily.engine.mixers import mixer_fields
from heterophily.engine.operators import OPERATORS
from heterophily.engine.parameters import FlatParameters, pointer
from heterophily.layers.feature_linear import FeatureLinear
from heterophily.native import structs


class ProgramBuilder:
    """Writes steps in the order in which torch would run them; a value is the number of its step.

    >>> layer = FeatureLinear(3, 2, bias=True)
    >>> builder = ProgramBuilder(FlatParameters(layer))
    >>> builder.activation("relu", builder.features(layer, rate=0.0))
    1
    """

    def __init__(self, parameters: FlatParameters) -> None:
        self.parameters = parameters
        self._steps: list[structs.StepStruct] = []
        self._keep: list[Any] = []
        self._sites = 0
        self._operators: dict[str, None] = {}

    @property
    def operators(self) -> tuple[str, ...]:
        """Keys of :data:`~heterophily.engine.operators.OPERATORS` that the steps need."""
        return tuple(self._operators)

    def program(self) -> tuple[structs.ProgramStruct, list[Any]]:
        """Return the struct, and the arrays that it points to."""
        array = (structs.StepStruct * len(self._steps))(*self._steps)
        struct = structs.ProgramStruct(
            steps=array, num_steps=len(array), num_parameters=self.parameters.size
        )
        return struct, [*self._keep, array]

    def width(self, value: int) -> int:
        """Return the number of columns of a value."""
        return int(self._steps[value].width)

    def features(self, linear: FeatureLinear, *, rate: float, with_bias: bool = True) -> int:
        """Return X W + b, with dropout of the entries of X."""
        width, bias = linear.weight.shape[1], linear.bias if with_bias else None
        site = self._site() if rate else 0
        return self._linear("features", (), width, linear.weight, bias, first=rate, site=site)

    def features_of_stack(self, weights: Tensor, *, rate: float) -> int:
        """Return [X W_1, .., X W_K] for a stack of weights (K, F, H), without a bias."""
        return self._stacked("features", (), weights, first=rate, site=self._site() if rate else 0)

    def structure(self, weight: Tensor) -> int:
        """Return A W_A."""
        return self._linear("structure", (), int(weight.shape[1]), weight, None)

    def linear(self, value: int, linear: FeatureLinear) -> int:
        """Return x W + b."""
        width = linear.weight.shape[1]
        return self._linear("linear", (value,), width, linear.weight, linear.bias)

    def panel(self, value: int, weights: Tensor, number: int) -> int:
        """Return x W_k for a stack of weights (K, in, out)."""
        _, rows, width = weights.shape
        start = self.parameters.place(weights) + number * rows * width
        return self._add("linear", (value,), width, weight=start)

    def linear_of_stack(self, value: int, weights: Tensor) -> int:
        """Return [x W_1, .., x W_K] for a stack of weights (K, in, out)."""
        return self._stacked("linear", (value,), weights)

    def propagate(
        self, value: int, identity: float = 0.0, aggregate: float = 1.0, operator: str = ""
    ) -> int:
        """Return ``identity * x + aggregate * Â x``, or with an operator of the table for Â."""
        number = 0
        if operator:
            self._operators[operator] = None
            number = 1 + list(OPERATORS).index(operator)
        how = {"first": identity, "second": aggregate, "number": number}
        return self._add("propagate", (value,), self.width(value), **how)

    def bias(self, value: int, bias: Tensor, start: int = 0) -> int:
        """Return x + b, with entries of b from ``start`` on."""
        place = self.parameters.place(bias) + start
        return self._add("bias", (value,), self.width(value), bias=place)

    def columns(self, value: int, first: int, count: int) -> int:
        """Return columns ``first .. first + count``: x itself if these are all."""
        if count == self.width(value):
            return value
        return self._add("columns", (value,), count, number=first)

    def unit(self, value: int) -> int:
        """Return rows divided by their length, as ``torch.nn.functional.normalize`` does."""
        return self._add("unit", (value,), self.width(value), first=1e-12)

    def solve(self, value: int, identity: float, gram: float) -> int:
        """Return [D K, H K] of x = [D, H] with K the inverse of ``identity * I + gram * HᵀH``."""
        width = self.width(value)
        return self._add("solve", (value,), width, first=identity, second=gram)

    def gate(self, value: int, before: int | None = None) -> int:
        """Return c, the running sums of softmax(x), or b + (1 - b) c with gates b of before."""
        inputs = (value,) if before is None else (value, before)
        return self._add("gate", inputs, self.width(value))

    def blend(self, gates: int, value: int, other: int) -> int:
        """Return k x + (1 - k) y; each gate is that of columns side by side."""
        width = self.width(value)
        number = width // self.width(gates)
        return self._add("blend", (gates, value, other), width, number=number)

    def combine(self, values: Sequence[int], coefficients: Tensor, **how: Any) -> int:
        """Return the sum of c_i x_i; ``how``: see :meth:`join`."""
        return self._weighed("combine", values, self.width(values[0]), coefficients, **how)

    def join(self, values: Sequence[int], coefficients: Tensor, **how: Any) -> int:
        """Return [c_1 x_1, c_2 x_2, ..], with c = table f(coefficients).

        ``form``: a key of :data:`~heterophily.native.structs.FORMS`, that is f, by default
        ``"plain"``; ``table``: a square matrix; ``has_own_rates``: whether they are trained with
        the learning rate and decay of the coefficients of a filter.
        """
        return self._weighed("join", values, sum(map(self.width, values)), coefficients, **how)

    def norm(self, value: int, norm: nn.LayerNorm) -> int:
        """Return the layer norm of x."""
        width = self.width(value)
        return self._linear("norm", (value,), width, norm.weight, norm.bias, first=norm.eps)

    def batch_norm(self, value: int, norm: nn.BatchNorm1d) -> int:
        """Return the batch norm of x, whose running statistics lie beside the parameters."""
        assert norm.momentum is not None
        return self._linear(
            "batch-norm",
            (value,),
            self.width(value),
            norm.weight,
            norm.bias,
            first=norm.eps,
            second=norm.momentum,
            running=self.parameters.place(norm.running_mean),
        )

    def activation(self, name: str, value: int) -> int:
        """Return ``"gelu"``, ``"relu"`` or ``"elu"`` of x."""
        return self._add(name, (value,), self.width(value))

    def dropout(self, value: int, rate: float) -> int:
        """Return x after dropout; x itself at rate 0, where torch draws no mask."""
        if rate == 0.0:
            return value
        return self._add("dropout", (value,), self.width(value), first=rate, site=self._site())

    def add(self, value: int, other: int, first: float = 1.0, second: float = 1.0) -> int:
        """Return ``first * x + second * y``."""
        width = self.width(value)
        return self._add("add", (value, other), width, first=first, second=second)

    def concat(self, values: Sequence[int]) -> int:
        """Return values side by side."""
        return self._add("concat", values, sum(map(self.width, values)))

    def maximum(self, values: Sequence[int]) -> int:
        """Return the largest of several values, entry by entry."""
        return self._add("maximum", values, self.width(values[0]))

    def mix(self, channels: Sequence[int], mixer: nn.Module) -> int:
        """Return ACM's mixture of channels."""
        width = self.width(channels[0])
        layer = structs.LayerStruct(
            width=width, num_channels=len(channels), **mixer_fields(mixer, self.parameters)
        )
        self._keep.append(layer)
        return self._add("mix", channels, width, mixer=pointer(layer))

    def scores(self, value: int, receiver: Tensor, sender: Tensor, *, heads: int) -> int:
        """Return the inner products of each head's columns with two vectors, K of each.

        The first K lie at the front, the others begin in the middle.
        """
        half = 1 << (heads - 1).bit_length()  # the engine pads them to a power of two
        return self._linear("scores", (value,), 2 * half, receiver, sender, heads=heads)

    def attention(
        self, value: int, scores: int, *, heads: int, rate: float, negative_slope: float
    ) -> int:
        """Return sums of x over neighbours, weighted by softmax(LeakyReLU(scores))."""
        return self._sum("attention", value, scores, rate=rate, second=negative_slope, heads=heads)

    def signed_sum(self, value: int, scores: int, *, rate: float) -> int:
        """Return sums of x over neighbours, weighted by tanh(scores) times Â."""
        return self._sum("signed-sum", value, scores, rate=rate, heads=1)

    def _sum(self, kind: str, value: int, scores: int, *, rate: float, **fields: Any) -> int:
        site = self._site() if rate else 0
        width = self.width(value)
        return self._add(kind, (value, scores), width, first=rate, site=site, **fields)

    def average(self, value: int, *, heads: int) -> int:
        """Return the mean of the heads of x."""
        return self._add("average", (value,), self.width(value) // heads, heads=heads)

    def _site(self) -> int:
        """Number the calls of dropout, as a forward pass of torch makes them."""
        self._sites += 1
        return self._sites - 1

    def _stacked(self, kind: str, inputs: Sequence[int], weights: Tensor, **fields: Any) -> int:
        count, _, width = weights.shape
        return self._linear(kind, inputs, count * width, weights, None, panels=count, **fields)

    def _weighed(
        self,
        kind: str,
        values: Sequence[int],
        width: int,
        coefficients: Tensor,
        *,
        form: str = "plain",
        table: NDArray[np.float64] | None = None,
        has_own_rates: bool = False,
    ) -> int:
        place = None
        if table is not None:
            array = (c_double * table.size)(*table.ravel().tolist())
            self._keep.append(array)
            place = addressof(array)
        return self._add(
            kind,
            values,
            width,
            weight=self.parameters.place(coefficients),
            form=structs.FORMS[form],
            table=place,
            has_own_rates=has_own_rates,
        )

    def _linear(
        self,
        kind: str,
        inputs: Sequence[int],
        width: int,
        weight: Tensor,
        bias: Tensor | None,
        **fields: Any,
    ) -> int:
        place = self.parameters.place
        return self._add(kind, inputs, width, weight=place(weight), bias=place(bias), **fields)

    def _add(self, kind: str, inputs: Sequence[int], width: int, **fields: Any) -> int:
        array = (c_int32 * len(inputs))(*inputs)
        self._keep.append(array)
        known = {"weight": -1, "bias": -1, "running": -1, **fields}
        self._steps.append(
            structs.StepStruct(
                kind=structs.STEPS[kind],
                width=width,
                num_inputs=len(inputs),
                inputs=array,
                **known,
            )
        )
        return len(self._steps) - 1
