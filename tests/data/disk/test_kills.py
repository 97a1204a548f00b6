"""kill -9 in the middle of a conversion and of channels: the next attempt ends with the same bits.

``benchmarks/faults/disk_kills.py`` does this at random moments, and to trainings.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, os, signal, sys
from pathlib import Path
from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.data.disk.convert.convert import Budget, convert_tables
from heterophily.data.disk.graph import DiskGraph

def in_child(work):
    number = os.fork()
    if number == 0:
        work()
        os._exit(0)
    return os.waitpid(number, 0)[1]

def dies_at(call):
    calls = [0]
    def tell(*facts):
        calls[0] += 1
        if calls[0] == call:
            os.kill(os.getpid(), signal.SIGKILL)
    return tell

def convert(name, tell=None):
    convert_tables("e.csv", "n.csv", name, budget=Budget(40, 16, 64), threads=2, tell=tell)

def channels(name, tell=None):
    graph = DiskGraph.open("whole.disk")
    compute_channels(graph, ChannelRecipe(hops=3), folder=name, progress=tell)

found = {}
for work, whole, cut, calls in (
    (convert, "whole.disk", "cut.disk", (2, 3)),
    (channels, "whole", "cut", (1, 1)),
):
    assert in_child(lambda: work(whole)) == 0
    ends = [in_child(lambda: work(cut, dies_at(call))) for call in calls]
    assert [os.WTERMSIG(end) for end in ends] == [signal.SIGKILL] * 2, ends
    assert in_child(lambda: work(cut)) == 0
    for name in (whole, cut):
        found[name] = {str(p.relative_to(name)): p.read_bytes().hex()
                       for p in Path(name).rglob("*") if p.is_file()}
print(json.dumps([found["whole.disk"] == found["cut.disk"], found["whole"] == found["cut"],
                  sorted(found["cut.disk"])]))
"""


def test_killed_work_goes_on_and_ends_with_the_same_files(tmp_path: Path) -> None:
    rows = [f"{node},{(7 * node + 3 * step) % 60}" for node in range(60) for step in range(4)]
    (tmp_path / "e.csv").write_text("\n".join(["source,target", *rows]))
    nodes = [f"{node},{'ab'[node % 2]},{node % 7}.5" for node in range(60)]
    (tmp_path / "n.csv").write_text("\n".join(["id,y,size", *nodes]))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    same_graph, same_channels, names = json.loads(done.stdout)
    assert same_graph
    assert same_channels
    assert "manifest.json" in names
    assert not [name for name in names if name.startswith(".")]
