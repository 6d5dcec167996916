"""What Python carries out of the command line: some verbs, and requests that need an algorithm which is a Python class.

The program `perhop` reads the command line. It needs no Python for most verbs; for the rest it becomes
`perhop-python`, which is `of_program` here. `python -m perhop` is the same command line, carried out in a process of
Python.

Decision: docs/decisions/077-lost-output-is-an-error.md
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from perhop import _core
from perhop.progress import told
from perhop.show import as_error
from perhop.signals import code, heard

PYTHON_VERBS = {
    "compare": "perhop.compare",
    "lab": "perhop_lab.verb",
    "map": "perhop_studies.map",
    "plot": "perhop.plot",
    "report": "perhop.report",
    "reproduce": "perhop_studies.reproduce",
    "studies": "perhop_studies.reproduce",
    "sweep": "perhop.cluster.runs",
    "tune": "perhop.plots.stability",
}
"""The module of each verb; its function `VERB(arguments)` returns the exit code."""

ERROR, CLOSED = 2, 141


def main(argv: list[str] | None = None) -> int:
    """Carries out a command line in this process and returns its exit code; `argv[0]` is the program's name."""
    words = sys.argv[1:] if argv is None else argv[1:]
    done = subprocess.run([program(), "--print-request", *words], stdout=subprocess.PIPE, check=False)
    if done.returncode or not done.stdout.startswith(b'{"arguments"'):
        sys.stdout.write(done.stdout.decode())
        return done.returncode
    request = json.loads(done.stdout)
    for name, value in request["environment"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return carry_out(request["verb"], json.dumps(request["arguments"]))


def program() -> Path:
    """The program `perhop`, which is installed with this package.

    Raises:
        FileNotFoundError: it is not there.
    """
    places = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    for place in places:
        if (place / "perhop").exists():
            return place / "perhop"
    raise FileNotFoundError(f"the program perhop is not in {places[0]}: install perhop again")


def of_program() -> int:
    """Carries out what the program `perhop` hands over: a verb, and its arguments as JSON, in pieces."""
    _, *request = sys.argv
    if not request:
        print("error: perhop-python is for the program perhop: use that, or python -m perhop", file=sys.stderr)
        return ERROR
    return carry_out(request[0], "".join(request[1:]))


def carry_out(verb: str, arguments: str) -> int:
    """Carries out a verb with its arguments as JSON and returns the exit code."""
    if verb == "carry_out":
        ended, request = _core.carry_out(arguments)
        return ended if request is None else carry_out(*request)
    try:
        with heard(), redirect_stdout(Output(sys.stdout)), told(f"perhop {verb}"):
            exit_code: int = getattr(_module(verb), verb)(json.loads(arguments))
            sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        print(str(interrupt) or "interrupted", file=sys.stderr)
        return code()
    except OutputError as error:
        return error.end()
    except (OSError, ValueError, _core.RunError) as error:
        print(as_error(error), file=sys.stderr)
        return ERROR
    return exit_code


def _module(verb: str) -> ModuleType:
    try:
        return import_module(PYTHON_VERBS[verb])
    except ModuleNotFoundError as error:
        if error.name != "perhop_lab":
            raise
        raise ValueError("`perhop lab` needs a checkout of perhop: no wheel has the kernel lab") from None


class OutputError(Exception):
    """Standard output takes no more."""

    def end(self) -> int:
        """The exit code: a reader that has gone needs no message. What is left is not written when Python ends."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(self.__cause__, BrokenPipeError):
            return CLOSED
        print(f"error: cannot write to standard output: {self}", file=sys.stderr)
        return ERROR


class Output:
    """Standard output, whose errors differ from those of other files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes."""
        written: int = self._tried(lambda: self._stream.write(text))
        return written

    def flush(self) -> None:
        """Flushes."""
        self._tried(self._stream.flush)

    def _tried(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except OSError as error:
            raise OutputError(error.strerror) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


if __name__ == "__main__":
    sys.exit(main())
