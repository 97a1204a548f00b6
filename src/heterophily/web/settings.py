"""What a server is told once: where it listens, where it writes, and its limits."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from heterophily.errors import InputError

LOOPBACK = "127.0.0.1"
PORT = 8765
LONGEST = 1_000_000.0  # seconds or minutes that a timer can wait


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The settings of one server.

    Parameters
    ----------
    work_folder
        Uploads, jobs and their files; made when it does not exist. One server at a time.
    store
        File or URL of finished runs, shared with the command line.
    host, port
        Where the server listens; only requests that name this place are answered.
    max_upload_mb, max_rows
        Limits of one upload: its bytes, and the lines of each of its tables. What is packed may
        unpack to ten times the bytes.
    max_jobs, max_waiting
        How many jobs run side by side, and how many may wait.
    keep_days, keep_mb
        Graphs that were not touched for so long are removed; beyond so much the oldest go first.
    data_folder
        Folder of datasets, for the results.
    import_seconds, import_mb
        Reading an upload is ended after so long, or when it takes so much memory.
    job_minutes, job_mb
        Any other job is ended after so long, or when it takes so much memory.
    token
        What a browser must know to be let in; None on this machine alone.

    Examples
    --------
    >>> WebSettings(Path("work"), Path("runs.sqlite"), max_upload_mb=2).max_upload_bytes
    2097152
    """

    work_folder: Path
    store: str | Path
    host: str = LOOPBACK
    port: int = PORT
    max_upload_mb: int = 100
    max_rows: int = 5_000_000
    max_jobs: int = 2
    max_waiting: int = 8
    keep_days: float = 14.0
    keep_mb: int = 2000
    data_folder: Path | None = None
    import_seconds: float = 120.0
    import_mb: int = 4096
    job_minutes: float = 60.0
    job_mb: int = 8192
    token: str | None = None

    def __post_init__(self) -> None:
        """Check every number once."""
        whole = ("max_upload_mb", "max_rows", "max_jobs", "max_waiting", "keep_mb", "import_mb")
        for name in (*whole, "job_mb"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                raise InputError(f"--{option} {getattr(self, name)}: use at least 1")
        for name in ("import_seconds", "job_minutes"):
            if not 0 < getattr(self, name) <= LONGEST:
                option = name.replace("_", "-")
                raise InputError(f"--{option} {getattr(self, name)}: use a number above 0")

    @property
    def max_upload_bytes(self) -> int:
        """Most bytes of one upload."""
        return self.max_upload_mb * 2**20

    @property
    def max_unpacked_bytes(self) -> int:
        """Most bytes that an upload may unpack to."""
        return 10 * self.max_upload_bytes

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost")
    (True, True, True)
    >>> is_loopback("0.0.0.0"), is_loopback("example.org")
    (False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
