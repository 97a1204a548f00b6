"""Write what is installed as a CycloneDX bill of materials: names, versions, licences.

Beside each package stands the sha256 of its RECORD, the list of its installed files and their
hashes, as a property: it tells two installations apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from importlib.metadata import Distribution, distributions
from pathlib import Path


def component(package: Distribution) -> dict[str, object]:
    facts = package.metadata
    told = [line for line in facts.get_all("Classifier", []) if line.startswith("License ::")]
    named = told[0].rpartition(":: ")[2] if told else "unknown"
    licence = facts.get("License-Expression") or facts.get("License") or named
    record = package.read_text("RECORD") or ""
    name, version = facts["Name"], package.version
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
        "licenses": [{"license": {"name": licence.splitlines()[0][:100]}}],
        "properties": [
            {"name": "record-sha256", "value": hashlib.sha256(record.encode()).hexdigest()}
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("sbom.json"))
    given = parser.parse_args()
    found = {package.metadata["Name"].lower(): component(package) for package in distributions()}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [found[name] for name in sorted(found)],
    }
    given.out.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print(f"wrote {len(found)} packages to {given.out}")


if __name__ == "__main__":
    main()
