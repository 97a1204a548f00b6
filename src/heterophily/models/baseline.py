"""What the models of the zoo share: the common options, and the card of a model."""

from __future__ import annotations

from dataclasses import dataclass, fields

from heterophily.errors import InputError
from heterophily.layers.dropout import check_rate
from heterophily.models.options import check_count


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a user should know about a model; ``docs/models.md`` is made of these.

    Parameters
    ----------
    does
        What the model does, for a reader who does not know it.
    paper
        Authors, year, title and the equations that the code follows.
    cost
        Operations of one pass in nodes N, edges E, nonzeros of X, hidden width H, classes C.
    departs
        Where the code departs from the paper or its released program.
    acm
        How the model gets adaptive channel mixing, if it can.
    step
        What a training counts: epochs of gradient steps, ``"round"`` for rounds of trees, ``""``
        where nothing is repeated. Learning rate and weight decay belong to epochs alone.
    """

    does: str
    paper: str
    cost: str
    departs: str = "—"
    acm: str = "—"
    step: str = "epoch"


@dataclass(frozen=True, kw_only=True)
class BaselineOptions:
    """Options that every model of the zoo has.

    Parameters
    ----------
    hidden
        Columns H of the hidden layers.
    dropout
        Rate of the dropout before each layer.
    input_dropout
        Rate for the input features; by default ``dropout``.
    """

    hidden: int = 64
    dropout: float = 0.5
    input_dropout: float | None = None

    def __post_init__(self) -> None:
        """Check every value once."""
        check_count("hidden", self.hidden)
        check_rate(self.dropout)
        check_rate(self.input_rate, name="input_dropout")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "bool" and not isinstance(value, bool):
                raise InputError(f"{field.name}={value!r}; it must be True or False")

    @property
    def input_rate(self) -> float:
        """Rate of the dropout on the input features."""
        return self.dropout if self.input_dropout is None else self.input_dropout


def check_share(name: str, value: float) -> None:
    """Refuse anything but a number between 0 and 1."""
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}={value}; it is a share between 0 and 1")


def check_positive(name: str, value: float) -> None:
    """Refuse anything but a number above 0."""
    if not value > 0.0:
        raise InputError(f"{name}={value}; it must be above 0")
