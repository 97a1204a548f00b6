"""Options that commands share stand where the command has their value, those of data later."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from heterophily.cli import panels
from heterophily.cli.spread import spread


@dataclass(frozen=True)
class Pair:
    first: Annotated[int, typer.Option(help="First.")] = 1
    second: Annotated[int, typer.Option(help="Second.", rich_help_panel=panels.MORE_DATA)] = 2


@spread
def command(*, word: Annotated[str, typer.Argument()], pair: Pair, last: bool = False) -> None:
    """Print what arrived."""
    print(word, pair, last)


def test_the_options_of_a_value_stand_in_its_place_and_those_of_data_later() -> None:
    assert list(inspect.signature(command).parameters) == ["word", "first", "last", "second"]


@pytest.mark.parametrize(
    ("given", "pair"),
    [([], Pair()), (["--second", "7"], Pair(1, 7)), (["--first", "5", "--last"], Pair(5, 2))],
)
def test_a_command_receives_the_value(given: list[str], pair: Pair) -> None:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, ["a", *given])
    assert result.output == f"a {pair} {'--last' in given}\n"
