"""The class of each kind of column that becomes features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heterophily.data.encode.category_column import CategoryColumn
from heterophily.data.encode.date_column import DateColumn
from heterophily.data.encode.number_column import NumberColumn
from heterophily.data.encode.text_column import TextColumn

COLUMNS: Mapping[str, Any] = {
    "number": NumberColumn,
    "count": NumberColumn,
    "boolean": NumberColumn,
    "raw": NumberColumn,
    "category": CategoryColumn,
    "date": DateColumn,
    "text": TextColumn,
}
