"""Signals that end a verb: Ctrl-C, and those by which a terminal or a system ends programs: KeyboardInterrupt."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Beside Ctrl-C, which Python itself hears."""
_last: int = signal.SIGINT


def code() -> int:
    """The exit code of work that a signal cut short: 128 and the number of the last one."""
    return 128 + _last


def raised(number: int, _frame: FrameType | None) -> None:
    """Raises for a signal."""
    global _last  # noqa: PLW0603
    _last = number
    raise KeyboardInterrupt


@contextmanager
def heard() -> Iterator[None]:
    """They end what runs meanwhile as Ctrl-C does. What `nohup` has the program ignore stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    free = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, raised)
    try:
        yield
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os._exit(code())


def _first(_signal: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


@contextmanager
def twice() -> Iterator[None]:
    """From the first Ctrl-C on, another one ends the program at once, whatever waits for the cluster."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _first)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _first:
            signal.signal(signal.SIGINT, before)
