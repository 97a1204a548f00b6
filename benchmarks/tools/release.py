"""Build, check and tag a release: what docs/release.md asks for after the human part.

    make release                                    # the whole of it, with the tools it needs
    python benchmarks/tools/release.py --no-tag           # build and check only

Stops at the first thing that is not as it must be: uncommitted changes, a version that has a tag
or no entry in the changelog, a source distribution or wheel that twine refuses, an environment
without anything else in which the wheel does not install or the demo does not run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, cwd: Path = ROOT) -> str:
    """Run a command, show it, and end with its own words if it fails."""
    print("$", " ".join(Path(part).name if "/" in part else part for part in command), flush=True)
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: this command failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def problems(version: str, changelog: str, changes: str, tags: list[str]) -> list[str]:
    """Return what stands against a release, one sentence each.

    >>> problems("1.0.0", "## 1.0.0 (2030-01-01)", "", ["v0.9.0"])
    []
    >>> problems("1.0.0", "## Unreleased", "", ["v1.0.0"])  # doctest: +ELLIPSIS
    ['version 1.0.0 has a tag...', 'CHANGELOG.md has no heading "## 1.0.0 ..."...']
    """
    found = []
    if changes.strip():
        found.append("there are uncommitted changes; commit or remove them")
    if f"v{version}" in tags:
        found.append(f"version {version} has a tag already; raise it in pyproject.toml")
    if f"\n## {version} (" not in f"\n{changelog}":
        found.append(f'CHANGELOG.md has no heading "## {version} (DATE)"; write one')
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Build, check and tag a release.")
    parser.add_argument("--python", default=sys.executable, help="for the clean environment")
    parser.add_argument("--no-tag", action="store_true", help="build and check only")
    arguments = parser.parse_args()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    against = problems(
        version,
        (ROOT / "CHANGELOG.md").read_text("utf-8"),
        run("git", "status", "--porcelain"),
        run("git", "tag").split(),
    )
    if against and not arguments.no_tag:
        sys.exit("error: " + "\nerror: ".join(against))
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder)
        run(sys.executable, "-m", "build", "--outdir", str(built), str(ROOT))
        files = sorted(map(str, built.iterdir()))
        run(sys.executable, "-m", "twine", "check", "--strict", *files)
        clean = built / "clean"
        run(arguments.python, "-m", "venv", str(clean))
        wheel = next(file for file in files if file.endswith(".whl"))
        constraints = str(ROOT / "constraints.txt")
        pip = (str(clean / "bin" / "python"), "-m", "pip", "install", "--quiet")
        run(*pip, "-c", constraints, wheel)
        print(run(str(clean / "bin" / "heterophily"), "demo", cwd=built))
        for file in files:
            target = ROOT / "dist" / Path(file).name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(Path(file).read_bytes())
            print("built", target.relative_to(ROOT))
    if not arguments.no_tag:
        run("git", "tag", "-a", f"v{version}", "-m", f"Version {version}")
        print(f"tagged v{version}; publish with: git push --tags, twine upload dist/*")


if __name__ == "__main__":
    main()
