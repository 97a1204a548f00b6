import os
import select
import signal
import threading

import pytest

from heterophily.training.interrupts import interrupt_bell, interrupt_held

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="POSIX signals")


@pytest.fixture(autouse=True)
def ctrl_c_raises():
    """Tests that a shell started in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press(times=1):
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)


def is_blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ctrl_c_is_raised_at_the_end_of_the_block():
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupt_held():  # noqa: PT012
        press(times=2)
        reached.append(is_blocked())
    assert reached == [True]
    assert not is_blocked()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_another_thread_receives_is_held_back_too():
    ready, end = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: (ready.set(), end.wait()))
    other.start()
    ready.wait()
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupt_held():  # noqa: PT012
        signal.pthread_kill(other.ident, signal.SIGINT)
        select.select([], [], [], 0.05)
        reached.append(True)
    end.set()
    other.join()
    assert reached


def test_a_handler_of_the_program_is_called_once():
    called = []
    signal.signal(signal.SIGINT, lambda number, frame: called.append(number))
    with interrupt_held():
        press(times=2)
        assert not called
    assert called == [signal.SIGINT]


def test_ctrl_c_works_again_after_an_error_in_the_block():
    with pytest.raises(OSError, match="full"), interrupt_held():
        raise OSError("full")
    assert not is_blocked()
    with pytest.raises(KeyboardInterrupt):
        press()


def test_a_signal_that_came_before_the_wait_rings_the_bell():
    with interrupt_bell() as bell:
        assert bell is not None
        with pytest.raises(KeyboardInterrupt):
            press()
        assert select.select([bell], [], [], 0)[0] == [bell]
    assert signal.set_wakeup_fd(-1) == -1


def test_a_thread_has_no_bell_and_can_hold_ctrl_c_back():
    found = []

    def work():
        with interrupt_bell() as bell, interrupt_held():
            found.append((bell, is_blocked()))
        found.append(is_blocked())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(None, True), False]
