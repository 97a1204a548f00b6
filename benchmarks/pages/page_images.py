"""Take the pictures of the docs that show pages: the web page, two diagnoses, a report.

    python benchmarks/pages/page_images.py              # all of them, some minutes
    python benchmarks/pages/page_images.py columns      # one of them
    python benchmarks/pages/page_images.py diagnosis rare-classes  # of chameleon and of tolokers
    python benchmarks/pages/page_images.py report       # of chameleon with three models: three parts

Needs chromium with chromedriver, and the extras [web] and [dev].
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

sys.path.insert(0, str(shared.SCIENCE))
from fraud_export import make_export

PORT, WIDTH, SECONDS = 8791, 1200, 240
ADDRESS = f"http://127.0.0.1:{PORT}"


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """Start the page with an empty store; end it afterwards."""
    command = [sys.executable, "-m", "heterophily.cli.app", "serve", "--no-open"]
    places = [
        "--port",
        str(PORT),
        "--work-folder",
        str(folder),
        "--store",
        str(folder / "r.sqlite"),
    ]
    server = subprocess.Popen([*command, *places], stdout=subprocess.DEVNULL)
    try:
        for _ in range(SECONDS):
            try:
                urllib.request.urlopen(ADDRESS)
                break
            except OSError:
                time.sleep(0.5)
        yield
    finally:
        server.terminate()
        server.wait()


@contextmanager
def browsing() -> Iterator[Any]:
    """Open a headless browser."""
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--window-size={WIDTH},1000",
    ):
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # chromium refuses its sandbox to root
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    browser.set_script_timeout(SECONDS)
    try:
        yield browser
    finally:
        browser.quit()


def until(browser: Any, condition: Callable[[], Any]) -> Any:
    """Wait until something is there, and return it."""
    return WebDriverWait(browser, SECONDS, poll_frequency=0.2).until(lambda _: condition())


def one(browser: Any, selector: str, text: str = "") -> Any:
    """Wait for an element whose text begins so."""
    return until(
        browser,
        lambda: next(
            (
                e
                for e in browser.find_elements(By.CSS_SELECTOR, selector)
                if e.text.startswith(text)
            ),
            None,
        ),
    )


def drop(browser: Any, tables: Path) -> None:
    """Choose the two tables of a made export."""
    browser.get(f"{ADDRESS}/#graph")
    one(browser, ".drop")
    names = "\n".join(str(tables / name) for name in ("transfers.csv", "accounts.csv"))
    browser.find_element(By.ID, "files").send_keys(names)
    Select(one(browser, "select[name=label]")).select_by_visible_text("fraud")


def shoot(browser: Any, file: Path) -> None:
    """Take the whole page."""
    height = browser.execute_script("return document.documentElement.scrollHeight")
    browser.set_window_size(WIDTH, min(int(height) + 140, 4000))
    time.sleep(1)  # transitions of the style
    keep(browser, file)


def keep(browser: Any, file: Path) -> None:
    """Write what the window shows."""
    browser.save_screenshot(str(file))
    with Image.open(file) as picture:  # 256 colours are enough, and a third of the bytes
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    browser.set_window_size(WIDTH, 1000)
    print(f"wrote {file.name}")


def columns(browser: Any, tables: Path, file: Path) -> None:
    """Show the lists that appear before a pair of tables is read."""
    drop(browser, tables)
    shoot(browser, file)


def graph(browser: Any, tables: Path, file: Path) -> None:
    """Show a verdict and a finished comparison of an example."""
    browser.get(f"{ADDRESS}/#graph")
    one(browser, "button", "digits").click()
    one(browser, "#verdict")
    until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".chip input"))
    for box in browser.find_elements(By.CSS_SELECTOR, ".chip input"):
        if box.is_selected() != (box.get_attribute("value") in ("mlp-2", "gcn", "acm-gcn")):
            box.click()
    repeats = one(browser, "input[type=number]")
    repeats.clear()
    repeats.send_keys("3")
    one(browser, "button", "Compare").click()
    until(browser, lambda: "Finished" in one(browser, "#comparison-state").text)
    shoot(browser, file)


def playground(browser: Any, tables: Path, file: Path) -> None:
    """Show the sliders and a sweep along homophily."""
    browser.get(f"{ADDRESS}/#playground")
    done = "Mean ± standard deviation"
    one(browser, "p[role=status]", done)
    one(browser, "button", "Sweep").click()
    until(browser, lambda: not one(browser, "p[role=status]").text.startswith(done))
    one(browser, "p[role=status]", done)
    shoot(browser, file)


def diagnosed(dataset: str) -> Callable[[Any, Path, Path], None]:
    """Return what shows the head of a diagnosis."""

    def picture(browser: Any, folder: Path, file: Path) -> None:
        page = folder / "diagnosis.html"
        shared.heterophily("diagnose", dataset, "--report", page)
        browser.set_window_size(940, 1480)
        browser.get(page.as_uri())
        keep(browser, file)

    return picture


def report(browser: Any, folder: Path, file: Path) -> None:
    """Show the top of a report, the scores of its models, and, dark, what is inside them."""
    page = folder / "report.html"
    models = ("--models", "mlp-2,gcn,acm-gcn", "--repeats", "5")
    shared.heterophily(
        "report", "chameleon", *models, "--store", folder / "r.sqlite", "--out", page
    )
    for part, heading, height in (
        ("light", "", 1400),
        ("models", "Models", 900),
        ("dark", "Accuracy by local homophily", 1745),
    ):
        browser.set_window_size(1000, height)
        browser.get(page.as_uri())
        if part == "dark":
            one(browser, "[data-switch=theme]").click()
        if heading:
            browser.execute_script("arguments[0].scrollIntoView()", one(browser, "h2", heading))
        time.sleep(1)
        keep(browser, file.with_name(f"report-{part}.png"))


PICTURES = {  # name on the command line -> file, and what takes it
    "columns": ("page-columns", columns),
    "graph": ("page-graph", graph),
    "playground": ("page-playground", playground),
    "diagnosis": ("diagnosis", diagnosed("chameleon")),
    "rare-classes": ("rare-classes", diagnosed("tolokers")),
    "report": ("report", report),
}


def main() -> None:
    parser = shared.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    given = parser.parse_args()
    if given.quick:  # a small diagnosis, without the server, not kept
        with tempfile.TemporaryDirectory() as folder, browsing() as browser:
            diagnosed("davis")(browser, Path(folder), Path(folder) / "davis.png")
        return
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)), browsing() as browser:
        make_export(1500, 6000, seed=0).write(Path(folder))
        for name in given.names or PICTURES:  # an unknown one is a KeyError
            file, take = PICTURES[name]
            take(browser, Path(folder), shared.DOCS / "images" / f"{file}.png")


if __name__ == "__main__":
    main()
