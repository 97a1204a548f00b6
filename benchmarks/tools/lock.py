"""Write requirements.lock: every package with the sha256 of its files, for all systems.

torch and the libraries of its graphics cards are left out: which build of torch is the right one
(CPU, CUDA, ROCm) depends on the machine, and each build has other files. ``make setup-locked``
installs it apart, at the version of constraints.txt. Run by ``make lock``; needs uv.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APART = re.compile(r"(torch|triton|cuda-\w+|nvidia-\w+)\b(?!-geometric)")
HEAD = """\
# Written by `make lock` from pyproject.toml and constraints.txt; used by `make setup-locked`.
# torch and the libraries of its graphics cards are not in it: see docs/safety.md.
"""


def blocks(text: str) -> list[str]:
    """Return the text cut before each package."""
    return re.split(r"(?m)^(?=[a-zA-Z0-9])", text)[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "requirements.lock")
    given = parser.parse_args()
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--extra", "dev"]
    options = ["--constraint", "constraints.txt", "--generate-hashes", "--universal", "--quiet"]
    plain = ["--no-annotate", "--no-header", "--no-emit-index-url", "--python-version", "3.11.7"]
    done = subprocess.run(
        [*command, *options, *plain], cwd=ROOT, env=os.environ, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    kept = [block for block in blocks(done.stdout) if not APART.match(block)]
    given.out.write_text(HEAD + "".join(kept), "utf-8")
    print(f"wrote {len(kept)} packages to {given.out.name}")


if __name__ == "__main__":
    main()
