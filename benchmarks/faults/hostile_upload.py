"""Hostile uploads to the page, while another user sends small graphs: who waits for whom?

``python benchmarks/faults/hostile_upload.py [--rounds 5]`` starts ``heterophily serve`` on this machine
with small limits, sends hostile files without a pause, and measures how long a small graph takes
from the upload to its facts. It prints what became of each hostile file, the slowest small graph
and the largest memory of any process of the server; it fails when a small graph took five seconds,
when a hostile file was not ended, or when the server is gone. ``--quick`` sends one file and does not
look at the clock.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

READING_SECONDS, READING_MB = 15, 600
GOAL = 5.0

Answer = tuple[int, str]


def quoted() -> tuple[str, bytes]:
    """A quotation mark in the header that is never closed."""
    return "edges.csv", b'source,"target\n' + b"a,b\n" * 1_000_000


def equal_rows() -> tuple[str, bytes]:
    """A few megabytes of Parquet that say the same row four hundred million times."""
    sink = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(20_000_000, np.int8)), pa.array(["node"])
    )
    table = pa.table({"source": column, "target": column})
    with pq.ParquetWriter(sink, table.schema) as writer:
        for _ in range(20):
            writer.write_table(table)
    return "edges.parquet", sink.getvalue()


def packed() -> tuple[str, bytes]:
    """Four gigabytes of zeros, packed."""
    sink = io.BytesIO()
    with gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=6) as stream:
        stream.write(b"source,target\n")
        block = b"0" * 2**20
        for _ in range(1024):
            stream.write(block)
    return "edges.csv.gz", sink.getvalue()


def declared() -> tuple[str, bytes]:
    """A few hundred bytes that declare four hundred million nodes."""
    sink = io.BytesIO()
    np.savez_compressed(sink, edge_index=np.array([[0], [1]]), num_nodes=np.array(4 * 10**8))
    return "graph.npz", sink.getvalue()


def many_columns() -> tuple[str, bytes]:
    """Sixty thousand columns of text."""
    header = ",".join(f"c{number}" for number in range(60_000))
    row = ",".join(secrets.token_hex(3) for _ in range(60_000))
    rows = "".join(f"n{number},n{number + 1},{row}\n" for number in range(60))
    return "edges.csv", f"source,target,{header}\n{rows}".encode()


def long_ids() -> tuple[str, bytes]:
    """One id of a thousand characters among a million short ones."""
    rows = "".join(f"{number},{number + 1}\n" for number in range(1_000_000))
    return "edges.csv", f"source,target\n{'x' * 1000},1\n{rows}".encode()


HOSTILE: dict[str, Callable[[], tuple[str, bytes]]] = {
    "quote without end": quoted,
    "equal rows": equal_rows,
    "packed zeros": packed,
    "declared nodes": declared,
    "many columns": many_columns,
    "one long id": long_ids,
}


def small() -> tuple[str, bytes]:
    """A ring of a hundred nodes."""
    rows = "".join(f"{number},{(number + 1) % 100}\n" for number in range(100))
    return "ring.csv", f"source,target\n{rows}".encode()


def send(address: str, name: str, content: bytes) -> Answer:
    """Upload one file; return the status and what was answered."""
    role = "graph" if name.endswith(".npz") else "edges"
    mark = secrets.token_hex(12)
    head = f'Content-Disposition: form-data; name="{role}"; filename="{name}"'
    body = f"--{mark}\r\n{head}\r\n\r\n".encode() + content + f"\r\n--{mark}--\r\n".encode()
    request = urllib.request.Request(address + "api/graphs", body)
    request.add_header("Content-Type", f"multipart/form-data; boundary={mark}")
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, str(json.loads(error.read()).get("error", ""))


def memory_of_children(parent: int) -> int:
    """Return the largest resident set of a server's processes, in bytes."""
    largest = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent or int(entry.name) == parent:
                largest = max(largest, int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
        except OSError:
            continue
    return largest


def start(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a server on a free port of this machine; return it with its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = "import sys; from heterophily.cli.app import main; sys.exit(main())"
    options = [
        *("serve", "--no-open", "--port", port, "--work-folder", folder / "work"),
        *("--store", folder / "runs.sqlite", "--import-seconds", READING_SECONDS),
        *("--import-mb", READING_MB),
    ]
    server = subprocess.Popen([sys.executable, "-c", command, *map(str, options)])
    address = f"http://127.0.0.1:{port}/"
    for _ in range(600):
        try:
            urllib.request.urlopen(address + "api/known", timeout=5).close()
            return server, address
        except OSError:
            time.sleep(0.1)
    server.kill()
    raise SystemExit("the server did not start")


def main() -> int:
    """Run it and print a table; return 1 when a promise is broken."""
    parser = shared.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="small graphs beside each file")
    given = parser.parse_args()
    files = HOSTILE
    if given.quick:
        given.rounds, files = 0, {"declared nodes": declared}
    failed = False
    with tempfile.TemporaryDirectory() as place:
        server, address = start(Path(place))
        try:
            alone = _timed(address)
            print(f"a small graph, nobody else there: {alone:.2f} s")
            print(f"{'hostile upload':20}{'MB':>7}{'seconds':>9}{'small graph':>13}  answer")
            slowest, peak = 0.0, 0
            for kind, make in files.items():
                name, content = make()
                ended: list[Answer] = []
                begin = time.monotonic()
                enemy = threading.Thread(
                    target=lambda n=name, c=content, e=ended: e.append(send(address, n, c))
                )
                enemy.start()
                took = [alone]
                while len(took) <= given.rounds or (enemy.is_alive() and given.rounds):
                    took.append(_timed(address))
                    peak = max(peak, memory_of_children(server.pid))
                    time.sleep(0.2)
                enemy.join()
                seconds = time.monotonic() - begin
                status, told = ended[0]
                slowest = max(slowest, *took)
                failed |= status < 400 or server.poll() is not None
                told = told if status >= 400 else "accepted"
                size = f"{len(content) / 1e6:7.1f}"
                print(f"{kind:20}{size}{seconds:9.1f}{max(took):11.2f} s  {told[:110]}", flush=True)
            print(f"slowest small graph {slowest:.2f} s (goal {GOAL:.0f} s)")
            print(f"largest process of the server {peak / 2**20:,.0f} MB")
        finally:
            server.terminate()
            server.wait(20)
    return int(failed or (slowest >= GOAL and not given.quick))


def _timed(address: str) -> float:
    begin = time.monotonic()
    status, told = send(address, *small())
    if status != 201:
        raise SystemExit(f"the small graph was refused: {status} {told[:200]}")
    return time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main())
