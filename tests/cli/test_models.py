"""``heterophily models``: every model is named once, with what it does."""

from __future__ import annotations

import json

import pytest

from heterophily.cli.app import main
from heterophily.models.catalog import MODELS
from heterophily.models.table import card_of

NAMES = [name for name in MODELS if "[" not in name]


def test_every_model_is_listed_once_above_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = " ".join(line for line in lines[:-2] if not line.startswith(" "))
    assert sorted(named.replace(",", "").split()) == sorted(NAMES)
    place = lines.index("gat")
    assert lines[place + 1].strip() == card_of("gat").does


def test_json_has_what_each_model_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json", "--models", "gat,acm-gcn[low]"]) == 0
    found = {entry["name"]: entry["does"] for entry in json.loads(capsys.readouterr().out)}
    assert found == {name: card_of(name.partition("[")[0]).does for name in ("gat", "acm-gcn[low]")}
