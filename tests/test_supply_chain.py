"""The lock file, the bill of materials and the oldest versions say what the project says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def name_of(text: str) -> str:
    return re.split(r"[=\[ ;]", text)[0].lower().replace("_", "-").replace(".", "-")


def run(script: str, out: Path) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / "tools" / script), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out.read_text("utf-8")


def test_the_lock_has_every_pinned_package_but_torch_at_its_version_with_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    blocks = re.split(r"(?m)^(?=[a-zA-Z0-9])", text)[1:]
    locked = {name_of(block): block for block in blocks}
    pinned = [
        line.strip()
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line and not line.startswith("#")
    ]
    missing = [
        line
        for line in pinned
        if name_of(line) not in locked
        or f"=={line.split('==')[1]} " not in locked[name_of(line)].splitlines()[0] + " "
    ]
    assert missing == [line for line in pinned if line.startswith("torch==")], "run make lock"
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_lock_names_no_host_and_no_build_of_torch() -> None:
    text = (ROOT / "requirements.lock").read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"(?m)^(torch==|nvidia-|cuda-|triton)", text)


def test_the_bill_of_materials_names_what_is_installed(tmp_path: Path) -> None:
    found = json.loads(run("sbom.py", tmp_path / "sbom.json"))
    names = {part["name"].lower() for part in found["components"]}
    assert {"numpy", "scipy", "torch", "scikit-learn"} <= names
    assert found["bomFormat"] == "CycloneDX"


def test_the_oldest_versions_are_the_lower_bounds(tmp_path: Path) -> None:
    lines = run("lowest.py", tmp_path / "lowest.txt").splitlines()
    bounds = (ROOT / "pyproject.toml").read_text("utf-8")
    assert len(lines) > 15
    for line in sorted({*lines} - {"click==8.2.0"}):  # of the time of the oldest typer
        assert line.partition(" ;")[0].replace("==", ">=") in bounds
