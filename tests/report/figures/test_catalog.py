"""Every entry of the table can be drawn, and says what it draws."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from heterophily.report.figures.catalog import FIGURES
from heterophily.report.figures.request import Request

DRAWN = {name: figure for name, figure in FIGURES.items() if figure.module}


@pytest.mark.parametrize("name", DRAWN)
def test_each_figure_has_its_three_functions(name: str) -> None:
    module = import_module(f"heterophily.report.figures.{FIGURES[name].module}")
    for function in ("collect", "draw", "alternative"):
        assert callable(getattr(module, function))


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_what_it_draws_and_from_what(name: str) -> None:
    figure = FIGURES[name]
    assert figure.draws.endswith(".")
    assert figure.title
    assert figure.records
    assert set(figure.options) <= set(Request.__dataclass_fields__)
    assert len(figure.graphs) <= figure.most_graphs


def test_the_table_loads_without_numpy() -> None:
    code = (
        "import sys, heterophily.report.figures.catalog\n"
        "assert not {'numpy', 'matplotlib', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
