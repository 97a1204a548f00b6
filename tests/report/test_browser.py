"""The report in a real browser: it sorts, switches, hovers, and no name runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.made import HOSTILE, portrait

from heterophily.comparison.compare_finished import compare_portraits
from heterophily.data.graph import Graph
from heterophily.diagnosis.diagnose import diagnose
from heterophily.report.write import write_report

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium or chromedriver is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1000,1200"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 5
    graph = Graph.from_edges(
        *rng.integers(0, 60, (2, 200)),
        labels=labels,
        class_names=HOSTILE,
        node_ids=np.array([f"{HOSTILE[k % 5]}{k}" for k in range(60)]),
        name=HOSTILE[0],
    )
    portraits = {
        name: [
            portrait(graph, model=name, split=k, predictions=(labels + (k < wrong)) % 5)
            for k in range(3)
        ]
        for name, wrong in (("gcn", 2), ("acm-gcn", 0), ("mlp-2", 1))
    }
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(
        diagnose(graph, quick=True),
        Path(path),
        graph=graph,
        comparison=compare_portraits(portraits),
        portraits=portraits,
    )
    browser.get(path.as_uri())
    return browser


def rows(page: Any) -> list[str]:
    body = "document.querySelector('table.sorts').tBodies[0]"
    return list(
        page.execute_script(f"return [...{body}.rows].map(row => row.cells[0].textContent)")
    )


def click(page: Any, column: int) -> None:
    page.execute_script(
        "document.querySelectorAll('table.sorts')[0].querySelectorAll('th button')"
        f"[{column}].click()"
    )


def test_no_name_became_a_script_or_an_element(page: Any) -> None:
    assert page.title == f"Report on {HOSTILE[0]}"
    assert page.execute_script("return document.images.length") == 0
    kinds = page.execute_script("return [...document.scripts].map(s => s.type)")
    assert kinds.count("") == 1
    assert page.get_log("browser") == []


def test_tables_sort_by_numbers_and_by_names(page: Any) -> None:
    assert rows(page) == ["acm-gcn", "mlp-2", "gcn"]
    click(page, 0)
    assert rows(page) == ["acm-gcn", "gcn", "mlp-2"]
    click(page, 1)
    assert rows(page) == ["acm-gcn", "mlp-2", "gcn"]
    click(page, 1)
    assert rows(page) == ["gcn", "mlp-2", "acm-gcn"]
    head = "return document.querySelectorAll('th[aria-sort]').length"
    assert page.execute_script(head) == 1


def test_the_switch_changes_the_theme(page: Any) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = page.execute_script(colour)
    page.execute_script("document.querySelector('[data-switch=theme]').click()")
    assert page.execute_script(colour) != before
    page.execute_script("document.querySelector('[data-switch=theme]').click()")
    assert page.execute_script(colour) == before


def test_hovering_a_map_names_the_nearest_node(page: Any) -> None:
    text = page.execute_script(
        """
        const picture = document.querySelectorAll("svg[data-points]")[1];
        picture.scrollIntoView();
        const points = JSON.parse(document.getElementById(picture.dataset.points).textContent);
        const box = picture.getBoundingClientRect();
        const scale = box.width / picture.viewBox.baseVal.width;
        picture.dispatchEvent(new PointerEvent("pointermove", {
          clientX: box.left + points.x[7] * scale, clientY: box.top + points.y[7] * scale,
        }));
        return picture.closest("figure").querySelector(".hover").textContent;
        """
    )
    assert text.startswith("node ")
    assert "predicted" in text


def test_the_page_fits_a_narrow_window(page: Any) -> None:
    page.set_window_size(500, 900)
    wide = page.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    page.set_window_size(1000, 1200)
    assert wide <= 0
