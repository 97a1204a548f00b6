"""A short slice of ``make fuzz``: nothing fails, nothing is read wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured as on Linux")
def test_a_slice_of_all_kinds_of_input() -> None:
    script = Path(__file__).with_name("run.py")
    done = subprocess.run(
        [sys.executable, str(script), "--share", "0.004", "--seed", "99"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "failed" in done.stdout.splitlines()[0]
