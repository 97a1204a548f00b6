from __future__ import annotations

from pathlib import Path

import pytest

from heterophily.errors import InputError
from heterophily.web.settings import WebSettings


@pytest.mark.parametrize(
    "name", ["max_upload_mb", "max_rows", "max_jobs", "max_waiting", "keep_mb"]
)
def test_limits_below_one_are_refused_by_the_name_of_their_option(name: str) -> None:
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')} 0: use at least 1"):
        WebSettings(Path("w"), Path("s"), **{name: 0})


def test_only_loopback_addresses_keep_the_page_on_this_machine() -> None:
    for host, expected in {
        "127.0.0.9": True,
        "::1": True,
        "0.0.0.0": False,
        "10.0.0.1": False,
    }.items():
        assert WebSettings(Path("w"), Path("s"), host=host).is_loopback is expected
