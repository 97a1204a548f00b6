"""One document: no network, one script, both themes."""

from __future__ import annotations

import base64
import hashlib
import re

from heterophily.page.document import DARK, LIGHT, document, fragment, policy, style


def test_only_the_script_of_the_page_may_run() -> None:
    html = document("title", "<p>x</p>", is_interactive=True)
    found = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(found) == 1
    digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html


def test_a_still_document_has_no_script_and_allows_none() -> None:
    html = document("title", "<p>x</p>")
    assert "<script" not in html
    assert "script-src" not in policy()


def test_title_is_escaped() -> None:
    assert "<title>&lt;/title&gt;&lt;script&gt;" in document("</title><script>", "")


def test_both_themes_define_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()
    used = set(re.findall(r"var\(--([a-z0-9]+)\)", style()))
    assert used <= LIGHT.keys()


def test_nothing_is_fetched_by_style_or_markup() -> None:
    html = document("title", "", is_interactive=True)
    assert not re.search(r"url\(|@import|https?:|src=|href=|fetch\(|XMLHttp", html)


def test_rules_touch_nothing_outside_the_fragment() -> None:
    """A notebook shows the fragment among other output: every rule names our class."""
    css = re.sub(r"/\*.*?\*/", "", style())
    css = re.sub(r"@media[^{]*\{", "", css)
    for selectors in re.findall(r"([^{}]+)\{", css):
        for selector in re.split(r",(?![^(]*\))", selectors):
            assert ".hd" in selector, selector
    assert fragment("<p>x</p>").count("<style>") == 1


def test_text_has_enough_contrast_in_both_themes() -> None:
    """WCAG: 4.5 for text."""
    for theme in (LIGHT, DARK):
        for ink in ("ink", "dim", "good", "bad", "so", "mark"):
            assert contrast(theme[ink], theme["paper"]) >= 4.5, ink
            assert contrast(theme["dim"], theme["card"]) >= 4.5


def contrast(first: str, second: str) -> float:
    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
