"""Look up known vulnerabilities of what is installed; say how much could be looked up.

    make audit

pip-audit passes over packages that the index does not know (builds with a local version, an offline
mirror) and still ends well. Here an audit that looked up nothing fails, and what was passed over is
counted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys


def main() -> int:
    """Print vulnerabilities and a summary; return 1 if there is one, or nothing was looked up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="site-packages of the environment to look at")
    folder = parser.parse_args().folder
    command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--format", "json"]
    done = subprocess.run([*command, "--path", folder], stdout=subprocess.PIPE, text=True)
    if not done.stdout.strip():
        print("pip-audit gave no answer", file=sys.stderr)
        return done.returncode or 1
    packages = json.loads(done.stdout)["dependencies"]
    passed_over = [each["name"] for each in packages if "skip_reason" in each]
    weak = [each for each in packages if each.get("vulns")]
    for each in weak:
        for fault in each["vulns"]:
            mended = ", ".join(fault["fix_versions"]) or "no version yet"
            print(f"{each['name']} {each['version']}: {fault['id']}, mended in {mended}")
    known = len(packages) - len(passed_over)
    print(
        f"{known} packages looked up, {len(weak)} with known vulnerabilities; "
        f"{len(passed_over)} not known to the index"
        + (f": {', '.join(passed_over[:8])}" if passed_over else "")
    )
    if not known:
        print("nothing was audited: is the package index reachable?", file=sys.stderr)
    return int(bool(weak) or not known)


if __name__ == "__main__":
    sys.exit(main())
