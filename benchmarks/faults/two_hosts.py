"""A cluster on one machine: network namespaces are hosts, with a Ray node of one core on each."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from postgres_server import free_port
from processes import children, is_alive

ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_worker_niceness": "0",  # Ray's default of 15 gives way to every other program
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}
"""For the nodes and for every command that joins them."""

ORPHAN_SECONDS = 10.0


def left_after(pids: list[int]) -> list[int]:
    deadline = time.monotonic() + ORPHAN_SECONDS
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [pid for pid in pids if is_alive(pid)]


class Hosts:
    """A network that nobody else sees: a server and two machines, each a network namespace."""

    server, head, second = "10.203.0.1", "10.203.0.2", "10.203.0.3"

    def __init__(self) -> None:
        self.names = [f"het{os.getpid()}{letter}" for letter in "sab"]

    def within(self, number: int) -> list[str]:
        """Return the words that run a command in a namespace: 0 the server, 1 and 2 the hosts."""
        return ["ip", "netns", "exec", self.names[number]]

    def make(self) -> None:
        server, *others = self.names
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", server, "link", "add", "bridge", "type", "bridge")
        for name, address in zip(others, (self.head, self.second), strict=True):
            there = f"v{name[-5:]}"
            ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", there, "netns", server)
            ip("-n", server, "link", "set", there, "master", "bridge", "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", server, "addr", "add", f"{self.server}/24", "dev", "bridge")
        ip("-n", server, "link", "set", "bridge", "up")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def two_hosts() -> Iterator[Hosts]:
    hosts = Hosts()
    try:
        hosts.make()
        yield hosts
    finally:
        for name in hosts.names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


class Nodes:
    """A raylet on each host, one core each; ``cores`` ties each of them to a core."""

    def __init__(self, hosts: Hosts, folder: str, cores: Sequence[int] = ()) -> None:
        self.hosts, self.folder, self.port, self.cores = hosts, folder, free_port(), cores
        self.orphans: list[int] = []
        self.started: list[subprocess.Popen[bytes]] = []

    def start_head(self) -> None:
        self.start(1, "--head", f"--port={self.port}", "--include-dashboard=false")

    def start_second(self) -> None:
        self.start(2, f"--address={self.hosts.head}:{self.port}")

    def within(self, number: int) -> list[str]:
        """Return the words that run a command on a host, on its core."""
        tied = ["taskset", "-c", str(self.cores[number - 1])] if self.cores else []
        return [*self.hosts.within(number), *tied]

    def start(self, number: int, *words: str) -> None:
        address = (self.hosts.head, self.hosts.second)[number - 1]
        program = [*self.within(number), str(Path(sys.executable).with_name("ray")), "start"]
        how = [f"--node-ip-address={address}", "--num-cpus=1", "--disable-usage-stats", "--block"]
        if number == 1:
            how += [f"--temp-dir={self.folder}"]
        log = Path(f"{self.folder}/node{number}.log")
        for _ in range(4):  # Ray gives up after 30 s, too early for a busy machine
            with log.open("wb") as stream:
                node = subprocess.Popen([*program, *words, *how], stdout=stream, stderr=stream)
            self.started.append(node)
            while node.poll() is None:
                if "Ray runtime started" in log.read_text():
                    return
                time.sleep(0.2)
            self.stop(self.started.pop())
        raise SystemExit(log.read_text())

    def kill_second(self) -> None:
        """Kill the raylet of the second host; another node takes its place."""
        second = self.started.pop()
        below = children(second.pid)
        raylet = next(pid for pid in below if name_of(pid) == "raylet")
        self.orphans += [pid for pid in below if pid != raylet]
        os.kill(raylet, signal.SIGKILL)
        left_after(self.orphans)
        self.stop(second)
        self.start_second()

    def stop(self, node: subprocess.Popen[bytes]) -> None:
        for pid in [*children(node.pid), node.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait()


def name_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


@contextmanager
def ray_nodes(hosts: Hosts, cores: Sequence[int] = (), *, second: bool = True) -> Iterator[Nodes]:
    """Run a node on the first host, and on the ``second`` too unless it is started later."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:
        nodes = Nodes(hosts, folder, cores)
        try:
            nodes.start_head()
            if second:
                nodes.start_second()
            yield nodes
        finally:
            for node in reversed(nodes.started):
                nodes.stop(node)
