"""Numbers as people write them: 1,234.5 and 1.234,5 and 1 234, with a currency or percent sign.

Thousands and millions may be short: 12.5k, 3M. A minus may stand behind the number (SAP),
behind the currency, or be a pair of brackets (accounts).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.encode.cells import (
    FALSE,
    TRUE,
    Strange,
    as_numpy,
    is_number,
    is_text,
    is_time,
    plain,
    strange_cells,
    without_missing,
)

Decimal = Literal[".", ","]
DECIMALS: tuple[Decimal, ...] = (".", ",")
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|KRW|US\\$"
_UNITS = rf"^(?:{_CODES}|[\s$€£¥])+|(?:{_CODES}|[\s$€£¥%])+$"
_SHORT = r"^[+-]?\d+(\.\d+)?\s?[kKM]$"
_SHORT_COMMA = _SHORT.replace(r"\.", ",")
_EXPONENTS = ((r"\s?[kK]$", "e3"), (r"\s?M$", "e6"))
_ODD_SIGN = r"[(−]|-[\s$€£¥%]*$|^[+-][\s$€£¥]"
_SIGNS = (  # each spelling of a minus, as a minus in front
    ("−", "-"),
    (r"^([\s$€£¥]*)\(([^()]*)\)([\s$€£¥%]*)$", r"-\1\2\3"),
    (r"^([^-]*\d)\s*-([\s$€£¥%]*)$", r"-\1\2"),
    (r"^([+-])[\s$€£¥]+", r"\1"),
)
_GAP = r"[ \x{A0}\x{2009}\x{202F}'’_]"  # blanks of all kinds, apostrophes
_GAPS = rf"^[+-]?\d{{1,3}}({_GAP}\d{{3}})+([.,]\d*)?$"  # groups of three; a phone has others
_THOUSANDS = {
    ".": r"^([+-]?\d{1,3})((,\d{3})+)(\.\d*)?$",
    ",": r"^([+-]?\d{1,3})((\.\d{3})+)(,\d*)?$",
}


def numbers_of(column: Any, decimal: Decimal = ".") -> tuple[NDArray[np.float64], Strange]:
    """Return a column as float64, NaN where a cell is missing or no finite number.

    Text that is no number is told as strange. Booleans are 0 and 1, points in time are seconds.

    >>> column = pa.chunked_array([pa.array(["1,200.5", "$3", "n/a", "many", "25 %"])])
    >>> values, strange = numbers_of(column)
    >>> values.tolist(), strange.texts
    ([1200.5, 3.0, nan, nan, 25.0], ('many',))
    >>> numbers_of(pa.chunked_array([pa.array(["-$1,200.50", "(3.00)", "7.5-"])]))[0].tolist()
    [-1200.5, -3.0, -7.5]
    >>> numbers_of(pa.chunked_array([pa.array(["12.5k", "EUR 3", "7 USD"])]))[0].tolist()
    [12500.0, 3.0, 7.0]
    """
    column = plain(column)
    if is_number(column.type) or pa.types.is_null(column.type):
        return as_numpy(column), Strange()
    if pa.types.is_boolean(column.type):
        return as_numpy(column.cast(pa.int8())), Strange()
    if is_time(column.type):
        return as_numpy(column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())), Strange()
    if not is_text(column.type):
        column = column.cast(pa.string())
    given = without_missing(column)
    if decimal == ".":
        try:
            return as_numpy(given.cast(pa.float64())), Strange()
        except pa.ArrowInvalid:
            pass  # not all cells are plain numbers: the long way
    texts = _unified(given, decimal)
    return as_numpy(texts.cast(pa.float64())), strange_cells(given, texts)


def _unified(given: Any, decimal: Decimal) -> Any:
    """Return numbers as a computer writes them, null where a cell is none."""
    if pc.any(pc.match_substring_regex(given, _ODD_SIGN)).as_py():
        for pattern, with_minus in _SIGNS:
            given = pc.replace_substring_regex(given, pattern, with_minus)
    texts = pc.replace_substring_regex(given, _UNITS, "")
    is_short = pc.match_substring_regex(texts, _SHORT if decimal == "." else _SHORT_COMMA)
    if pc.any(is_short).as_py():
        for pattern, exponent in _EXPONENTS:
            long = pc.replace_substring_regex(texts, pattern, exponent)
            texts = pc.if_else(is_short, long, texts)
    has_gaps = pc.match_substring_regex(texts, _GAPS)
    if pc.any(has_gaps).as_py():
        texts = pc.if_else(has_gaps, pc.replace_substring_regex(texts, _GAP, ""), texts)
    has_thousands = pc.match_substring_regex(texts, _THOUSANDS[decimal])
    if pc.any(has_thousands).as_py():
        mark = "," if decimal == "." else "."
        texts = pc.if_else(has_thousands, pc.replace_substring(texts, mark, ""), texts)
    if decimal == ",":  # a point that is no thousands mark makes it no number
        texts = pc.if_else(pc.match_substring(texts, "."), "?", texts)
        texts = pc.replace_substring(texts, ",", ".")
    return pc.if_else(pc.match_substring_regex(texts, _NUMBER), texts, pa.scalar(None, pa.string()))


def decimal_of(column: Any) -> tuple[Decimal, float]:
    """Return the decimal mark under which most cells are numbers, and their share.

    Where both marks fit equally well (1,234 alone) it is the point.

    >>> decimal_of(pa.chunked_array([pa.array(["3,50", "1.200,00"])]))
    (',', 1.0)
    """
    given = without_missing(plain(column))
    filled = len(given) - given.null_count
    if not filled:
        return ".", 0.0
    shares: dict[Decimal, float] = {}
    for decimal in DECIMALS:
        texts = _unified(given, decimal)
        shares[decimal] = (len(texts) - texts.null_count) / filled
    best = max(DECIMALS, key=lambda mark: shares[mark])  # the first of equals: the point
    return best, shares[best]


def booleans_of(column: Any) -> tuple[NDArray[np.float64], Strange]:
    """Return truth values as 1 and 0, NaN where a cell is missing or neither.

    >>> booleans_of(pa.chunked_array([pa.array(["Yes", "no", ""])]))[0].tolist()
    [1.0, 0.0, nan]
    """
    column = plain(column)
    if not is_text(column.type):
        values, strange = numbers_of(column)
        if np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
            return values, strange
        column = column.cast(pa.string())
    given = without_missing(column)
    words = pc.utf8_lower(given)
    is_true = pc.is_in(words, value_set=pa.array([*TRUE, "1.0"]))
    known = pc.or_(is_true, pc.is_in(words, value_set=pa.array([*FALSE, "0.0"])))
    texts = pc.if_else(known, pc.if_else(is_true, "1", "0"), pa.scalar(None, pa.string()))
    return as_numpy(texts.cast(pa.float64())), strange_cells(given, texts)
