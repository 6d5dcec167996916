"""Tests wait for events: a file, words, the end of a process. What does not come in many minutes does not come."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

WAIT_S = 600.0

#: Signals as a terminal leaves them. What starts the tests may ignore some, as `nohup` does, and children inherit that.
BY_A_TERMINAL = ("env", "--default-signal=HUP,INT,TERM")


@contextlib.contextmanager
def begun(
    command: Sequence[object],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    *,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """A process that gets signals. Nothing that it started is left, however the test ends."""
    name, value = "PERHOP_TEST", uuid.uuid4().hex
    words = [*BY_A_TERMINAL, *map(str, command)]
    environment = {**(os.environ if env is None else env), name: value}
    with subprocess.Popen(words, cwd=cwd, env=environment, stdout=stdout, stderr=stderr, text=True) as process:
        try:
            yield process
        finally:
            _end_all(f"{name}={value}".encode())


def _end_all(mark: bytes) -> None:
    """Kills the processes whose environment has it."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in file.read_bytes().split(b"\0"):
                os.kill(int(file.parent.name), signal.SIGKILL)


def until(true: Callable[[], object], what: str, process: subprocess.Popen[Any] | None = None) -> None:
    """Waits until it is; the process, if there is one, runs until then."""
    end = time.monotonic() + WAIT_S
    while not true():
        assert process is None or process.poll() is None, f"it ended before {what}: {process.communicate()}"
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)


def heard(pipe: int, words: str) -> str:
    """What a process writes, up to these words at least. The other end of a pipe or a terminal."""
    text = ""
    while words not in text:
        assert select.select([pipe], [], [], WAIT_S)[0], f"waited in vain for {words!r} behind {text!r}"
        piece = _read(pipe)
        assert piece, f"it ended without {words!r}: {text!r}"
        text += piece
    return text


def rest(pipe: int) -> str:
    """What it writes until it ends."""
    pieces: list[str] = []
    while not pieces or pieces[-1]:
        assert select.select([pipe], [], [], WAIT_S)[0], f"waited in vain for its end behind {''.join(pieces)!r}"
        pieces.append(_read(pipe))
    return "".join(pieces)


def _read(pipe: int) -> str:
    """A piece; nothing at the end, which at a terminal is an error."""
    try:
        return os.read(pipe, 4096).decode(errors="replace")
    except OSError:
        return ""
