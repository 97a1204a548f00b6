"""The page in a real browser, as a person uses it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from web.conftest import Live, free_port, running, use_obedient_workers, wait_for

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from heterophily.web.settings import WebSettings

SECONDS = 120
HOSTILE = "<img src=x onerror=window.hacked=1>"
NODES = "id,label,x,y\n" + "".join(
    f"{i},{('calm', HOSTILE)[i % 2]},{i % 2 + (i % 7) / 9},{(i * 5) % 11}\n" for i in range(40)
)
EDGES = "source,target\n" + "".join(f"{i},{(i * 3 + 1) % 40}\n" for i in range(40))
DROP = """
const transfer = new DataTransfer();
for (const [name, text] of Object.entries(arguments[0])) transfer.items.add(new File([text], name));
document.querySelector(".drop").dispatchEvent(
  new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    binary, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium with chromedriver on this machine (Debian: chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # chromium refuses its sandbox to root
    opened = webdriver.Chrome(options=options, service=Service(driver))
    opened.set_page_load_timeout(SECONDS)
    opened.set_script_timeout(SECONDS)
    yield opened
    opened.quit()


@pytest.fixture
def page(browser: Any, live: Live) -> Iterator[Page]:
    browser.get_log("browser")
    shown = Page(browser, live)
    yield shown
    for handle in browser.window_handles[1:]:
        browser.switch_to.window(handle)
        browser.close()
    browser.switch_to.window(browser.window_handles[0])
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]
    assert complaints == []


class Page:
    """Short words for what a person does."""

    def __init__(self, browser: Any, live: Live) -> None:
        self.browser, self.live = browser, live

    def open(self, view: str) -> None:
        self.browser.get("about:blank")
        self.browser.get(f"{self.live.url}/#{view}")

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements(By.CSS_SELECTOR, selector))

    def one(self, selector: str) -> Any:
        return self.wait(lambda: self.all(selector))[0]

    def text(self, selector: str) -> str:
        """Wait for an element with a text; return that."""
        found = self.wait(lambda: next((e.text for e in self.all(selector) if e.text), None))
        return str(found)

    def button(self, text: str) -> Any:
        return self.wait(
            lambda: next((b for b in self.all("button") if b.text.startswith(text)), None)
        )

    def wait(self, condition: Callable[[], Any]) -> Any:
        waiting = WebDriverWait(
            self.browser,
            SECONDS,
            poll_frequency=0.1,
            ignored_exceptions=(StaleElementReferenceException,),
        )
        try:
            return waiting.until(lambda _: condition())
        except TimeoutException:
            shown = self.script("return location.href + document.body.innerText")
            raise AssertionError(f"waited {SECONDS} s in vain; the page shows: {shown}") from None

    def script(self, code: str, *arguments: Any) -> Any:
        return self.browser.execute_script(code, *arguments)


def test_moving_a_slider_changes_the_metrics_and_the_accuracies(page: Page) -> None:
    page.open("playground")
    value = '[data-metric="edge_homophily"] b'
    assert page.text(value) == "0.200"
    slider = page.one("#slider-homophily")
    for _ in range(14):
        slider.send_keys(Keys.ARROW_RIGHT)
    page.wait(lambda: page.text(value) == "0.900")
    accuracy = '[data-model="acm-gcn"] .value'
    page.wait(lambda: "%" in page.text(accuracy))
    assert float(page.text(accuracy).split()[0]) > 80  # alike neighbours make it easy
    page.wait(lambda: len(page.all(".series.gcn circle")) >= 1)
    assert "points" in page.text(".insight") or "no difference" in page.text(".insight")
    drawn = page.script(
        "const c = document.querySelector('canvas');"
        "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)"
    )
    assert drawn


def test_a_setting_that_is_impossible_is_said_in_place(page: Page) -> None:
    page.open("playground")
    page.one("#slider-nodes").send_keys(Keys.HOME)
    page.one("#slider-classes").send_keys(Keys.END)
    page.one("#slider-degree").send_keys(Keys.END)
    page.one("#slider-homophily").send_keys(Keys.END)
    assert "there is room for" in page.text(".error")
    page.browser.get_log("browser")  # the browser notes every refused request


def test_from_dropped_files_to_a_verdict_a_comparison_and_its_report(page: Page) -> None:
    page.open("graph")
    page.one(".drop")
    page.script(DROP, {"my nodes.csv": NODES, "edges.csv": EDGES})
    page.button("Diagnose").click()
    assert page.text("#verdict").endswith(".")
    assert HOSTILE in page.script(
        "return [...document.querySelectorAll('svg title')].map((t) => t.textContent).join()"
    )
    for box in page.all(".chip input"):
        if box.is_selected() != (box.get_attribute("value") in ("mlp-2", "gcn")):
            box.click()
    repeats = page.one("input[type=number]")
    repeats.clear()
    repeats.send_keys("2")
    page.button("Compare").click()
    page.wait(
        lambda: page.one("#comparison-state").get_attribute("data-state") in ("done", "failed")
    )
    assert page.text("#comparison-state") == "Finished: 4 runs"
    assert "±" in page.text("#comparison-table")
    assert page.text(".insight").startswith("Best: ")
    files = [link.text for link in page.all("a.button[href*='/files/']")]
    assert files == ["Data", "Report", "Model", "Predictions"]
    next(link for link in page.all("a.button") if link.text == "Report").click()
    page.wait(lambda: len(page.browser.window_handles) == 2)
    page.browser.switch_to.window(page.browser.window_handles[1])
    page.wait(lambda: page.browser.title == "Report on edges")
    assert "Class compatibility" in page.text("body")
    assert page.script("return window.hacked") is None


def test_a_comparison_can_be_stopped_and_resumed(page: Page) -> None:
    page.open("graph")
    page.button("digits").click()
    page.text("#verdict")
    page.button("Compare").click()
    page.wait(lambda: "of 40 runs" in page.text("#comparison-state"))
    page.button("Stop").click()
    state = '#comparison-state[data-state="stopped"]'
    assert page.text(state).startswith("Stopped after")
    page.button("Resume").click()
    page.one('#comparison-state[data-state="running"]')
    page.button("Stop").click()
    page.one(state)


def test_a_bad_file_is_told_and_can_be_corrected(page: Page) -> None:
    page.open("graph")
    page.one(".drop")
    twice = NODES + NODES.splitlines()[1] + "\n"  # a node of one id too many
    page.script(DROP, {"edges.csv": EDGES, "nodes.csv": twice})
    page.button("Diagnose").click()
    assert "nodes.csv" in page.text(".error")
    page.browser.get_log("browser")  # the browser notes every refused request
    page.script(DROP, {"edges.csv": EDGES, "nodes.csv": NODES})
    page.wait(lambda: not page.all(".error") and page.all("select[name=label]"))
    page.button("Diagnose").click()
    assert page.text("#verdict").endswith(".")


def test_columns_are_shown_before_and_the_label_can_be_chosen_afterwards(page: Page) -> None:
    page.open("graph")
    page.one(".drop")
    page.script(DROP, {"edges.csv": EDGES, "nodes.csv": NODES.replace("label,x,y", "mood,x,z", 1)})
    assert Select(page.one("select[name=source]")).first_selected_option.text == "source"
    label = Select(page.one("select[name=label]"))
    assert [option.text for option in label.options] == ["choose a column", "id", "mood", "x", "z"]
    kinds = {
        row.get_attribute("data-column"): row.text.split("\n")[0] for row in page.all("tbody tr")
    }
    assert list(kinds) == ["id", "mood", "x", "z"]
    assert "id of the node" in kinds["id"]
    Select(page.one('select[aria-label="Kind of z"]')).select_by_visible_text("leave out")
    page.button("Diagnose").click()
    assert page.text("[aria-label=Columns] h2") == "Which column is the label?"
    left_out = Select(page.one('select[aria-label="Kind of z"]'))
    assert left_out.first_selected_option.text == "leave out"
    Select(page.one("select[name=label]")).select_by_visible_text("mood")
    page.button("Read again").click()
    assert page.text("#verdict").endswith(".")
    assert "1 feature, 2 classes" in page.text(".head p")


def test_a_cell_of_a_table_opens_and_closes_by_keyboard(page: Page) -> None:
    page.open("results")
    cell = page.one(".study .cell")
    cell.send_keys(Keys.ENTER)
    page.wait(lambda: "the paper" in page.text("dialog[open]"))
    page.one("dialog button").send_keys(Keys.ESCAPE)
    page.wait(lambda: not page.all("dialog[open]"))


NAMED = {
    "button",
    "slider",
    "checkbox",
    "combobox",
    "textbox",
    "spinbutton",
    "link",
    "img",
    "image",
}


@pytest.mark.parametrize("view", ["playground", "graph", "results"])
def test_everything_has_a_name_and_fits_into_400_pixels(view: str, page: Page) -> None:
    narrow = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    try:
        page.open(view)
        page.one(".card")
        root = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        wide, shown = page.script(root)
        assert 380 <= shown <= 400
        assert wide == shown
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    asked = [node for node in tree if node.get("role", {}).get("value") in NAMED]
    nameless = [n for n in asked if not n["ignored"] and not n.get("name", {}).get("value")]
    assert asked
    assert nameless == [], json.dumps(nameless)[:500]


PAIRS = [
    ("ink", "paper"),
    ("dim", "paper"),
    ("dim", "card"),
    ("accent", "card"),
    ("accent", "tint"),
]
PAIRS += [("on-accent", "accent"), ("bad", "card"), ("good", "card"), ("so", "card")]
PAIRS += [("mlp", "card"), ("gcn", "card"), ("acm", "card")]
CONTRAST = """
document.documentElement.dataset.theme = arguments[1];
const probe = document.body.appendChild(document.createElement("i"));
const shade = (name) => {
  probe.style.color = `var(--${name})`;
  const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3);
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = parts.map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const found = arguments[0].map(([one, other]) => {
  const [low, high] = [shade(one), shade(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
});
probe.remove();
return found;
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(theme: str, page: Page) -> None:
    page.open("graph")
    page.one(".card")
    ratios = page.script(CONTRAST, PAIRS, theme)
    poor = {pair: ratio for pair, ratio in zip(PAIRS, ratios, strict=True) if ratio < 4.5}
    assert poor == {}


def test_the_switch_changes_the_theme_and_is_remembered(page: Page) -> None:
    page.open("graph")
    theme = "return document.documentElement.dataset.theme"
    before = page.script(theme)
    page.one("#theme").click()
    assert page.script(theme) != before
    page.open("results")
    assert page.script(theme) != before
    page.script("localStorage.clear()")


@pytest.fixture
def slow(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A page whose workers take as long as they are told."""
    use_obedient_workers(monkeypatch)
    settings = WebSettings(tmp_path / "work", tmp_path / "runs.sqlite", port=free_port())
    with running(settings) as live:
        yield Page(browser, live)
        live.stop_all()


def test_an_upload_that_is_read_is_listed_and_can_be_cancelled(slow: Page) -> None:
    server = slow.live.app.state.server
    graph, _ = server.folder.make("graphs")
    job = server.jobs.submit(
        "import", {"steps": 600, "seconds": 0.1, "title": "endless"}, graph=graph
    )
    slow.open("graph")
    assert "Reading endless" in slow.text(f'#at-work [data-job="{job.id}"]')
    assert slow.one("#at-work button").get_attribute("aria-label") == "Cancel: Reading endless"
    slow.one("#at-work button").click()
    slow.wait(lambda: not slow.all("#at-work li"))
    assert wait_for(job, "stopped") == "stopped"


def test_with_a_token_the_address_lets_the_browser_in_and_without_it_nothing_is_shown(
    browser: Any, tmp_path: Path
) -> None:
    settings = WebSettings(
        tmp_path / "work", tmp_path / "runs.sqlite", port=free_port(), token="right-and-long"
    )
    with running(settings) as live:
        page = Page(browser, live)
        browser.get(live.url)
        assert "this page needs its token" in page.text("body")
        browser.get(f"{live.url}/?token=wrong")
        assert "this page needs its token" in page.text("body")
        browser.get(f"{live.url}/?token=right-and-long#graph")
        assert page.text(".drop h2") == "Drop your graph here"
        assert "token" not in browser.current_url
        assert page.script("return document.cookie") == ""  # scripts cannot read it
        page.button("karate").click()
        assert page.text("#verdict").endswith(".")
        browser.delete_all_cookies()
        browser.get("about:blank")
        browser.get(f"{live.url}/#graph")
        assert "this page needs its token" in page.text("body")
    browser.get_log("browser")  # the browser notes every refused request
