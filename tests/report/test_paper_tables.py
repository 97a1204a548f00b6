"""Tables of several protocols beside the paper's."""

from __future__ import annotations

from typing import Any

from heterophily.paper.published_tables import published_table
from heterophily.report.paper_tables import agreement

PAPER = published_table("filters")


def table(protocol: str, shifts: dict[tuple[str, str], float], numerics: str) -> dict[str, Any]:
    cells = []
    for (row, dataset), shift in shifts.items():
        printed = PAPER.cells[row, dataset]
        assert printed.std is not None
        cells.append(
            {
                "row": row,
                "dataset": dataset,
                "is_complete": True,
                "mean": printed.mean + shift * printed.std,
                "difference": shift * printed.std,
                "published": {"mean": printed.mean, "std": printed.std},
                "numerics": [numerics],
            }
        )
    return {"study": "filters", "protocol": protocol, "rows": list(PAPER.models), "cells": cells}


def test_a_later_table_fills_in_and_is_compared_where_both_have_a_cell() -> None:
    ours = table("published", {("acm-gcn", "texas"): 1.0, ("acmii-gcn", "texas"): -3.0}, "native 1")
    later = {("acm-gcn", "texas"): 0.0, ("acm-gcn", "cora"): 1.5}
    said = agreement([ours, table("validated", later, "native 4")])
    assert said.startswith(
        "3 of 36 printed cells, 2 with the paper's settings and 1 with settings chosen on "
        "validation data; within one 1, two 2 of 3;"
    )
    assert "2 cells of earlier numerics" in said
    assert "searched on their own too, 1 cells on texas: within one 1, two 1 of 1" in said


def test_of_two_later_tables_the_first_that_has_a_cell_counts() -> None:
    cell = ("acm-gcn", "cora")
    later = [table("validated", {cell: shift}, "native 4") for shift in (0.5, 3.0)]
    said = agreement([table("published", {("acm-gcn", "texas"): 0.0}, "native 4"), *later])
    assert "within one 2, two 2 of 2" in said
    assert "searched on their own" not in said


def test_what_choosing_by_test_would_give_is_said_beside() -> None:
    ours = table("published", {("acm-gcn", "texas"): 1.0}, "native 4")
    own = table("validated", {("acm-gcn", "texas"): 0.0}, "native 4")
    cell = own["cells"][0]
    cell["by_test"] = {"mean": cell["published"]["mean"] + 0.0123}
    assert "; chosen on the test nodes +1.23)" in agreement([ours, own])


def test_one_protocol_is_said_once() -> None:
    said = agreement([table("published", {("acm-gcn", "texas"): 0.5}, "native 4")])
    assert said.startswith("1 of 36 printed cells, with the paper's settings; within one 1")
    assert "earlier" not in said
