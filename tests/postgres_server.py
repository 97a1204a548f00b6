"""A PostgreSQL server of the tests' own, from the distribution's binaries, on a free port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

USERS = ("postgres", "nobody")  # initdb refuses to run as root


def binaries() -> Path | None:
    """Return the folder of initdb and pg_ctl, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian
    found += [Path(path).resolve().parent for path in [shutil.which("initdb")] if path]
    return next((folder for folder in found if (folder / "pg_ctl").exists()), None)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass(eq=False)
class Server:
    """A running server; :meth:`database` makes an empty database and returns its URL."""

    programs: Path
    folder: Path
    host: str
    port: int
    within: Sequence[str] = ()
    names: Iterator[int] = field(default_factory=count)

    def database(self) -> str:
        name = f"runs{next(self.names)}"
        self.do(f"CREATE DATABASE {name}")
        return f"postgresql://postgres@{self.host}:{self.port}/{name}"

    def do(self, statement: str) -> None:
        import psycopg

        where = f"host={self.folder} port={self.port} user=postgres"
        with psycopg.connect(where, autocommit=True) as base:
            base.execute(statement)  # type: ignore[arg-type]

    def control(self, *words: str) -> None:
        options = f"-c listen_addresses={self.host} -c port={self.port} -k {self.folder}"
        command = [str(self.programs / "pg_ctl"), "-D", str(self.folder / "data"), "-w", "-s"]
        log = [] if "stop" in words else ["-l", str(self.folder / "log"), "-o", options]
        _run([*command, *log, *words], self.within)


@contextmanager
def postgres_server(host: str = "127.0.0.1", within: Sequence[str] = ()) -> Iterator[Server]:
    """Run a server for the block; it listens on this address and a socket of its folder.

    ``within`` are the words before its commands (``ip netns exec NAME``).
    """
    programs = binaries()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
    if os.geteuid() == 0:
        shutil.chown(folder, _user())
    server = Server(programs, folder, host, free_port(), within)
    how = ["-A", "trust", "-N", "-U", "postgres", "--locale=C", "-E", "UTF8"]
    try:
        _run([str(programs / "initdb"), "-D", str(folder / "data"), *how])
        with (folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet trust\n")
        server.control("start")
        try:
            yield server
        finally:
            server.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str:
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in USERS if name in known)


def _run(command: Sequence[str], within: Sequence[str] = ()) -> None:
    if os.geteuid() == 0:
        command = ["runuser", "-u", _user(), "--", *command]
    done = subprocess.run(
        [*within, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
