"""Ctrl-C: the first ends a run in words, the second ends the program."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from perhop.signals import code


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
