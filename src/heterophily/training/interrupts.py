"""Ctrl-C and SIGTERM: while worker processes start, while answers are waited for, for a command."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Ending:
    """Which signal asked a command to end, if one did."""

    def __init__(self) -> None:
        self.signal: int | None = None

    @property
    def code(self) -> int:
        """Exit code of a command that a signal ended: 143 for SIGTERM, 130 for Ctrl-C."""
        return 128 + (self.signal or signal.SIGINT)


@contextmanager
def terminated_like_interrupted() -> Iterator[Ending]:
    """Let SIGTERM raise ``KeyboardInterrupt`` in the block, as Ctrl-C does; a second one kills.

    In another thread than the first, where no handler can be set, nothing changes.
    """
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = signal.getsignal(signal.SIGTERM)

    def end(number: int, _: object) -> None:
        ending.signal = number
        signal.signal(signal.SIGTERM, before)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        yield ending
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interrupt_held() -> Iterator[None]:
    """Hold Ctrl-C back; its handler runs at the end of the block, and usually raises.

    Processes that start inside inherit the blocked signal: Ctrl-C is for their parent. A blocked
    signal may still reach another thread of this process, and Python then runs its handler here,
    so the handler is replaced as well.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())  # asks: a call that blocks may raise
    pressed: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    is_ours = threading.current_thread() is threading.main_thread() and callable(handler)
    try:
        if is_ours:
            signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if is_ours:
            signal.signal(signal.SIGINT, handler)
    if pressed and callable(handler):
        handler(pressed[0], None)


@contextmanager
def interrupt_bell() -> Iterator[socket.socket | None]:
    """Give a socket that has something to read as soon as a signal arrived; None in a thread.

    A signal that comes between Python's last look at its flags and the system call that waits
    does not end the wait, and neither does one that the system hands to another thread. Who waits
    for this socket too misses neither.
    """
    if threading.current_thread() is not threading.main_thread():
        yield None
        return
    ours, bell = socket.socketpair()
    with ours, bell:
        ours.setblocking(False)
        bell.setblocking(False)
        before = signal.set_wakeup_fd(bell.fileno(), warn_on_full_buffer=False)
        try:
            yield ours
        finally:
            signal.set_wakeup_fd(before)
