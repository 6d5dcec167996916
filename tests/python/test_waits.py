"""What a test has started is gone when the test is, and takes signals wherever the tests run."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from waits import begun, heard, until

#: Starts a process in a new session, says its number, and stays.
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(1000)
"""

#: Says which of the three signals it takes as by default.
TAKES = """
import signal
print([signal.getsignal(it) in (signal.SIG_DFL, signal.default_int_handler) for it in (1, 2, 15)])
"""


def test_a_test_that_fails_leaves_nothing() -> None:
    started: list[int] = []

    def fails() -> None:
        with begun([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            started.extend([process.pid, int(heard(process.stdout.fileno(), "\n"))])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    for pid in started:
        until(partial(has_ended, pid), "its end")


def has_ended(pid: int) -> bool:
    """Whether no such process runs."""
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_signals_are_as_by_a_terminal() -> None:
    """Here the tests themselves ignore them."""
    ignoring = f"trap '' HUP INT TERM; exec {sys.executable} -c \"$1\""
    inner = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom waits import begun\n"
    inner += f"with begun([sys.executable, '-c', {TAKES!r}]) as process:\n    process.wait()\n"
    done = subprocess.run(["sh", "-c", ignoring, "sh", inner], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, True, True]\n", done.stderr
