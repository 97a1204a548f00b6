from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from web.conftest import Live

import heterophily.web

STATIC = Path(heterophily.web.__file__).parent / "static"


def test_the_server_itself_never_loads_torch() -> None:
    code = "import sys, heterophily.web.app; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("path", sorted(STATIC.iterdir()), ids=lambda path: path.name)
def test_every_file_of_the_page_is_served_and_names_no_other_site(path: Path, live: Live) -> None:
    answer = live.get(f"/{path.name}")
    assert answer.content == path.read_bytes()
    addresses = answer.text.replace("http://www.w3.org/2000/svg", "")  # a name, never fetched
    assert "http:" not in addresses
    assert "https:" not in addresses
    assert "//" not in "".join(line for line in addresses.splitlines() if "src=" in line)


def test_the_first_address_is_the_page(live: Live) -> None:
    answer = live.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.content == (STATIC / "index.html").read_bytes()


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_pages_that_would_load_from_elsewhere_are_not_there(path: str, live: Live) -> None:
    assert live.get(path).status_code == 404
