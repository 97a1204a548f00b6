from __future__ import annotations

from pathlib import Path

from heterophily.models.catalog import MODELS
from heterophily.models.table import card_of, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"


def test_the_page_in_the_repository_is_the_generated_one():
    assert PAGE.read_text("utf-8") == page(), (
        "run: python -m heterophily.models.table > docs/models.md"
    )


def test_every_model_has_a_row_with_a_cost():
    text = page()
    for name in MODELS:
        if "[" not in name:
            assert f"| `{name}` |" in text
            assert card_of(name).cost
