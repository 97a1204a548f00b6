"""Which columns hold ids of nodes, seen from the first rows of the edge table."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import EdgeColumns
from heterophily.data.tables.end_names import is_measure, paired, words_in
from heterophily.data.tables.table import Head, Table
from heterophily.data.wording import Doubt, listed, short
from heterophily.errors import InputError

FITS = 0.5
"""Columns that were chosen by name or place stay if this share of their values are node ids."""

HOLDS_IDS = 0.9
"""Share of the values of another column that must be node ids for it to be an end of edges."""

_MANY_ROWS = 20  # so many different numbers are no accident
_WHOLE = re.compile(r"(0|-?[1-9]\d{0,18})(\.0+)?")


def shares_of_ids(head: Head, ids: Any) -> dict[str, float]:
    """Return, for each column, the share of its different values that are ids of nodes."""
    values = {name: {text for text in cells if text} for name, cells in head.items()}
    every = set().union(*values.values()) if values else set()
    wanted: Any
    if ids.type == pa.int64():
        wanted = pa.array(
            [int(m[1]) for text in every if (m := _WHOLE.fullmatch(text))], pa.int64()
        )
    else:
        plain = {_plain(text) for text in every}
        whole = {f"{text}.0" for text in plain if _WHOLE.fullmatch(text)}
        wanted = pa.array(sorted(every | plain | whole), pa.string())
    there = ids.filter(pc.is_in(ids, value_set=wanted))
    known = {_plain(str(value)) for value in pc.unique(there).to_pylist()}
    return {
        name: sum(_plain(text) in known for text in found) / len(found) if found else 0.0
        for name, found in values.items()
    }


def _plain(text: str) -> str:
    """Return an id without blanks at its ends, and 7 for 7.0."""
    text = text.strip()
    found = _WHOLE.fullmatch(text)
    return found[1] if found else text


def has_two_ends(columns: EdgeColumns, shares: Mapping[str, float], *, are_given: bool) -> bool:
    """Whether two columns of the edge table hold ids: those that were asked for, or any."""
    if not shares:
        return True  # nothing to look at
    if are_given:
        return min(shares[columns.source], shares[columns.target]) >= FITS
    return sum(share >= FITS for share in shares.values()) >= 2


def choose_ends(
    table: Table,
    columns: EdgeColumns,
    head: Head,
    shares: Mapping[str, float],
    node_name: str,
    *,
    ids_are_numbers: bool,
    may_be_unknown: bool = False,
) -> EdgeColumns:
    """Keep the ends if their values are node ids, else take the two columns where they are.

    Numbers are ids by chance as well (an amount of 5, and a node 5): then the names of columns
    decide (sender_key and receiver_key), else their place, with a doubt. Where several choices are
    left, the sentence names them. With ``may_be_unknown`` one of the two columns that were chosen
    by name or place need not hold ids.
    """
    if not shares:
        return columns
    if may_be_unknown and max(shares[columns.source], shares[columns.target]) >= FITS:
        return columns
    chosen = (columns.source, columns.target)
    fits = all(shares[name] >= FITS for name in chosen)
    if fits and not columns.by_position:
        return columns
    taken = {columns.weight, columns.edge_type}
    good = [name for name in head if shares[name] >= HOLDS_IDS and name not in taken]
    others = [name for name in good if name not in chosen]
    if fits and not others:
        return columns
    if len(good) > 2 and len(pairs := paired(good, by_number=True)) == 1:
        good = list(pairs[0])
    for is_no_end in (is_measure, lambda name: numbers_rows(head[name])):
        without = [name for name in good if not is_no_end(name)]
        good = without if len(without) >= 2 else good
    if fits and ids_are_numbers and len(good) != 2:
        if not set(chosen) <= set(good):
            raise _ambiguous(table, good, node_name)
        if rest := [name for name in good if name not in chosen]:
            table.remarks.append(_doubt(table, chosen, rest, node_name))
        return columns
    if len(good) > 2:
        raise _ambiguous(table, good, node_name)
    fair = [name for name in head if shares[name] >= FITS and name not in taken]
    if columns.by_position and not fits and len(good) < 2 and len(fair) == 2:
        good = fair  # some ids are unknown: reading the rows names them
    no_other = all(shares[name] == 0 for name in head if name not in good)
    if columns.by_position and len(good) == 1 and no_other:
        raise InputError(
            f"{table.path.name}: only column {short(good[0])} holds ids of {node_name}; "
            f"{remedy('name-ends')}, and add the ids of both to {node_name}"
            f"{remedy('or-add-unknown')}; columns: {listed(table.columns)}"
        )
    if len(good) < 2 or tuple(good) == chosen:
        return columns
    why = f"they hold ids of {node_name}"
    if not columns.by_position:
        why += f", which {chosen[0]!r} and {chosen[1]!r} do not"
    return replace(columns, source=good[0], target=good[1], why=why)


def doubt_two_kinds(
    table: Table, columns: EdgeColumns, id_column: str, *, ids_are_numbers: bool
) -> None:
    """Doubt that user_id and movie_id number the same things, where the nodes are user_id."""
    own = [name for name in (columns.source, columns.target) if _same_name(name, id_column)]
    if not ids_are_numbers or len(own) != 1:
        return
    other = columns.target if own[0] == columns.source else columns.source
    first, second = words_in(own[0]), words_in(other)
    is_pair = bool(paired([own[0], other], by_number=True))
    if len(first) == len(second) == 2 and first[1] == second[1] and not is_pair:
        table.remarks.append(
            Doubt(
                f"{table.path.name}: numbers of {other!r} are taken for those of {own[0]!r}; if "
                "they number other things, write them differently in both tables, such as m7 for 7"
            )
        )


def _same_name(first: str, second: str) -> bool:
    return first.strip().casefold() == second.strip().casefold()


def _ambiguous(table: Table, names: Sequence[str], node_name: str) -> InputError:
    return InputError(
        f"{table.path.name}: columns {listed(list(names))} all hold ids of {node_name}; "
        f"{remedy('name-ends')}"
    )


def _doubt(table: Table, chosen: Sequence[str], rest: Sequence[str], node_name: str) -> Doubt:
    return Doubt(
        f"{table.path.name}: {listed([*chosen])} are taken for the ends because they stand first; "
        f"{listed([*rest])} {'holds' if len(rest) == 1 else 'hold'} ids of {node_name} too: "
        f"{remedy('name-ends')} if they are the ends"
    )


def numbers_rows(cells: Sequence[str | None]) -> bool:
    """Whether a column counts the rows, or gives each of many rows a number of its own."""
    is_own = len(cells) >= _MANY_ROWS and len({*cells}) == len(cells)
    return counts_rows(cells) or (is_own and all(_WHOLE.fullmatch(text or "") for text in cells))


def counts_rows(cells: Sequence[str | None]) -> bool:
    """Whether a column just numbers the rows."""
    found = [_WHOLE.fullmatch(text or "") for text in cells]
    numbers = [int(match[1]) for match in found if match]
    return len(numbers) == len(cells) > 2 and all(
        later - earlier == 1 for earlier, later in itertools.pairwise(numbers)
    )


def find_id_column(
    table: Table, columns: Sequence[str], head: Head, ends: EdgeColumns, *, are_given: bool
) -> str | None:
    """Return the one column whose values are all different and among which are the edges' ends.

    ``None`` when there is none; several are refused.
    """
    found = []
    for name in columns:
        try:
            cells = table.read(words=[name])[name]
        except InputError:
            continue  # dates, lists, ...
        if cells.null_count or len(pc.unique(cells)) < len(cells):
            continue
        shares = shares_of_ids(head, cells)
        if shares and has_two_ends(ends, shares, are_given=are_given):
            found.append(name)
    if len(found) > 1:
        raise InputError(
            f"{table.path.name}: columns {listed(found)} could all be the id of the nodes; "
            f"{remedy('name-id')}"
        )
    return found[0] if found else None
