"""Write constraints that pin every dependency to the oldest version that pyproject.toml allows."""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BESIDE = {"click==8.2.0"}  # newest click warns about what the oldest typer imports from it
EXTRAS = (
    "data",
    "pyg",
    "scale",
    "tune",
    "web",
)  # what users install; tools of the developers are left alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--torch", help="this version instead (old ones bring gigabytes of CUDA)")
    given = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(name for part in EXTRAS for name in extras[part])]
    lines = set(BESIDE)
    for requirement in wanted:
        plain, _, marker = requirement.partition(";")
        found = re.fullmatch(r"\s*([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\w.]+)\s*", plain)
        if found and found[1] == "torch" and given.torch:
            lines.add(f"torch=={given.torch}")
        elif found:
            lines.add(f"{found[1]}=={found[2]}" + (f" ;{marker}" if marker else ""))
    given.out.write_text("\n".join(sorted(lines)) + "\n", "utf-8")
    print(given.out)


if __name__ == "__main__":
    main()
