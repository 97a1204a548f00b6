from __future__ import annotations

import re
from pathlib import Path

import pytest

from heterophily.models.catalog import MODELS
from heterophily.models.field import FIELD
from heterophily.models.table import card_of, page
from heterophily.models.zoo import ZOO

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
MEASURED = re.compile(r"(<!-- speed: .*? -->\n).*(<!-- end of speed -->)", re.DOTALL)


def test_the_page_in_the_repository_is_the_generated_one_but_for_the_measured_times():
    shown = MEASURED.sub(r"\1\2", PAGE.read_text("utf-8"))
    assert shown == page(), "run: python -m heterophily.models.table > docs/models.md"


def test_every_model_has_a_row_with_a_cost():
    text = page()
    for name in MODELS:
        if "[" not in name:
            assert f"| `{name}` |" in text
            assert card_of(name).cost


@pytest.mark.parametrize("name", [*ZOO, *FIELD])
def test_the_card_names_authors_year_and_title(name):
    assert re.match(r"[^,]+ (et al\.|and \S+) 20\d\d, \S", card_of(name).paper)
