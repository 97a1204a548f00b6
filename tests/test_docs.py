"""The documentation site builds strictly, and its pages load nothing from the network."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Tag -> the attribute by which it loads something."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="the site needs: pip install 'heterophily[docs]'")
    pytest.importorskip("mkdocstrings", reason="the site needs: pip install 'heterophily[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "true"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("tool", ["names", "outside"])
def test_examples_of_the_tools_that_build_the_site_are_true(tool: str) -> None:
    pytest.importorskip("mkdocs", reason="the site needs: pip install 'heterophily[docs]'")
    path = ROOT / "docs" / "reference" / f"{tool}.py"
    spec = importlib.util.spec_from_file_location(tool, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


class Loads(HTMLParser):
    """Collects the addresses that a page loads by itself; links to click on do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name == LOADS.get(tag)]


def test_pages_load_nothing_from_the_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text("utf-8"))
        assert loads.found
        assert not [address for address in loads.found if re.match(r"(https?:)?//", address)], page


def test_what_pages_load_is_part_of_the_site(site: Path) -> None:
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its addresses start at the root of a server
            continue
        loads = Loads()
        loads.feed(page.read_text("utf-8"))
        for address in loads.found:
            if address and not address.startswith("data:"):
                assert (page.parent / address.partition("?")[0]).is_file(), f"{page}: {address}"


def test_styles_load_nothing_from_the_network(site: Path) -> None:
    for style in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", style.read_text("utf-8"))


def test_formulas_and_links_of_docstrings_are_rendered(site: Path) -> None:
    pages = {page.name: page.read_text("utf-8") for page in (site / "reference").glob("*.html")}
    assert pages["metrics.html"].count('<math display="block">') > 5
    assert 'href="metrics.html#heterophily.class_homophily"' in "".join(pages.values())
    for name, page in pages.items():
        assert not re.search(r"\.\. \w+::|:(class|func|data|meth|mod|math):", page), name
        assert "<blockquote>" not in page, f"{name}: doctests are code, not quotations"
