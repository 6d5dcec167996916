"""The kernel: built if there is none, booted, and never left behind.

Decision: docs/decisions/071-the-kernel-runs-in-virtual-time.md
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

LAB = Path(__file__).resolve().parents[2] / "lab"
#: Exit status of lab/build.sh where a kernel can neither be found nor built.
CANNOT = 3
#: The longest run of a kernel, in seconds of the host.
LONGEST = 3600


def build() -> None:
    """Builds the kernel if there is none, which takes minutes; progress goes to standard error.

    Raises:
        ValueError: it cannot be built.
    """
    with _started(LAB / "build.sh", stdout=subprocess.DEVNULL) as building:
        status = building.wait()
    if status:
        raise ValueError("nothing was run: there is no kernel" + ("" if status == CANNOT else ", its build failed"))


def run(folder: Path, cpu: int | None = None) -> None:
    """Runs the job in a folder, on that processor of the host or on one that the script chooses.

    Raises:
        ValueError: it ended early; with its last lines.
    """
    own = {} if cpu is None else {"env": {**os.environ, "CPU": str(cpu)}}
    with _started(LAB / "run", folder, LONGEST, stderr=subprocess.PIPE, text=True, **own) as kernel:
        _, errors = kernel.communicate()
    if kernel.returncode:
        raise ValueError(str(errors).strip())


@contextmanager
def _started(*words: object, **options: int | bool | dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A script that ends, with all that it started, where we do."""
    with subprocess.Popen([str(word) for word in words], **options) as started:  # type: ignore[call-overload]
        try:
            yield started
        except BaseException:
            started.terminate()
            raise


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP, unless they are ignored, end what is in progress in order, with 128 + number."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    taken = [it for it in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(it) is signal.SIG_DFL]
    for it in taken:
        signal.signal(it, end)
    try:
        yield
    finally:
        for it in taken:
            signal.signal(it, signal.SIG_DFL)
