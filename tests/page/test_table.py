"""Tables are escaped, and numbers sort by value."""

from __future__ import annotations

from heterophily.page.table import TableCell, number, table


def test_numbers_carry_the_value_they_are_sorted_by() -> None:
    html = table(["model", "accuracy"], [["gcn", number(0.5, "50.0 ± 2.0")]], is_sorted=True)
    assert "<td class='number' data-order='0.5'>50.0 ± 2.0</td>" in html
    assert "<th scope='col' class='number'><button type='button'>accuracy</button></th>" in html


def test_a_missing_number_sorts_below_every_other() -> None:
    assert "data-order='-inf'" in str(number(None, "–"))


def test_plain_strings_are_escaped_and_cells_are_html() -> None:
    html = table(["<h>"], [["<b>"], [TableCell("<em>x</em>")]])
    assert "<h>" not in html
    assert "<b>" not in html
    assert "<em>x</em>" in html
    assert "<button" not in html
