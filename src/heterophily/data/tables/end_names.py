"""Which columns are called as the two ends of an edge: sender_key and receiver_key, PID1 and PID2.

Names decide only where the content leaves a choice.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

_WORD = re.compile(r"[A-Z]+(?![a-z])|[^\W\d_]+?(?=[A-Z])|[^\W\d_]+|\d+")
_ENDS = (
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("head", "tail"),
    ("start", "end"),
    ("sender", "receiver"),
    ("payer", "payee"),
    ("buyer", "seller"),
    ("caller", "callee"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("parent", "child"),
)
_ALONE = ("{}", "{}_id", "{}nodeid")  # as a whole name: source, source_id, FromNodeId
_WHOLE = (
    *((form.format(a), form.format(b)) for a, b in _ENDS for form in _ALONE),
    ("u", "v"),
    ("i", "j"),
    *((f"{name}1", f"{name}2") for name in ("node", "node_", "id", "id_")),
)
_WORDS = {
    *_ENDS,
    ("sender", "recipient"),
    ("customer", "merchant"),
    ("origin", "destination"),
    ("orig", "dest"),
    ("debtor", "creditor"),
    ("left", "right"),
    ("von", "nach"),
    ("von", "an"),
    ("von", "zu"),
    ("absender", "empfänger"),
    ("sender", "empfänger"),
    ("émetteur", "bénéficiaire"),
    ("expéditeur", "destinataire"),
}
_NUMBERED = {("1", "2"), ("0", "1"), ("a", "b"), ("i", "j"), ("u", "v"), ("x", "y")}
_MEASURES = {
    "amount", "balance", "betrag", "bytes", "class", "cost", "count", "currency", "date",
    "datum", "day", "duration", "fee", "hour", "label", "lat", "latitude", "length", "lng",
    "lon", "longitude", "montant", "month", "packets", "port", "position", "price", "qty",
    "quantity", "rank", "rate", "score", "share", "size", "step", "sum", "time", "timestamp",
    "total", "ts", "type", "value", "volume", "weight", "year",
}  # fmt: skip


def words_in(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a column name.

    >>> words_in("nameOrig"), words_in("PID1"), words_in("src_ip")
    (('name', 'orig'), ('pid', '1'), ('src', 'ip'))
    """
    return tuple(word.casefold() for word in _WORD.findall(name))


def is_measure(name: str) -> bool:
    """Whether a column is called as something that is measured or told of an edge.

    >>> is_measure("amount_eur"), is_measure("sender_key")
    (True, False)
    """
    return not _MEASURES.isdisjoint(words_in(name))


def plain_names(names: Sequence[str]) -> dict[str, str]:
    """Return the columns by their names without blanks and capitals; the first of equal ones.

    >>> plain_names(["Source ", "source", "W"])
    {'w': 'W', 'source': 'Source '}
    """
    return {name.strip().lower(): name for name in reversed(names)}


def paired(names: Sequence[str], *, by_number: bool = False) -> list[tuple[str, str]]:
    """Return the pairs of columns that are called as two ends, in the order of the columns.

    Their names are alike but for one word: source and target, or with ``by_number`` also 1 and 2.

    >>> paired(["amount", "sender_key", "receiver_key", "src_port", "dst_port"])
    [('sender_key', 'receiver_key')]
    """
    words = {name: words_in(name) for name in names if not is_measure(name)}
    known = _WORDS | _NUMBERED if by_number else _WORDS
    found = []
    for first, second in itertools.combinations(words, 2):
        if len(words[first]) != len(words[second]):
            continue
        pairs = zip(words[first], words[second], strict=True)
        differ = [pair for pair in pairs if pair[0] != pair[1]]
        if len(differ) == 1 and (differ[0] in known or differ[0][::-1] in known):
            found.append((first, second) if differ[0] in known else (second, first))
    return found


def known_ends(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns whose whole names are well-known, in any case: source and target.

    >>> known_ends(["src_port", "Source", "Target", "dst_port"])
    ('Source', 'Target')
    """
    plain = plain_names(names)
    found = ((plain.get(first), plain.get(second)) for first, second in _WHOLE)
    return next(((a, b) for a, b in found if a is not None and b is not None), None)


def ends_by_name(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns that are called as the two ends, where names leave no choice.

    >>> ends_by_name(["amount", "sender_key", "receiver_key"])
    ('sender_key', 'receiver_key')
    """
    pairs = paired(names)
    return known_ends(names) or (pairs[0] if len(pairs) == 1 else None)
