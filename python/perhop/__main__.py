"""The verbs of the command line that Python carries out. The core parses it and carries out the others.

The program `perhop` needs no Python for those; for the rest it becomes `perhop-python`, which is `of_program` here.
`python -m perhop` is the same command line.

Decision: docs/decisions/077-lost-output-is-an-error.md
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from types import ModuleType
from typing import Any, TextIO

from perhop import _core
from perhop.own import find
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
    """Carries out a command line and returns its exit code; `argv[0]` is the program's name."""
    ended, request = _core.main(["python -m perhop", *sys.argv[1:]] if argv is None else argv)
    return ended if request is None else carry_out(*request)


def of_program() -> int:
    """Carries out what the program `perhop` hands over: a verb, and its arguments as JSON, in pieces.

    Or a whole command (`--all`), which needs an algorithm that is a Python class; `--knows` asks whether there is one.
    """
    _, *request = sys.argv
    if not request:
        print("error: perhop-python is for the program perhop: use that, or python -m perhop", file=sys.stderr)
        return ERROR
    if request[0] == "--knows":
        return knows(request[1])
    if request[0] == "--all":
        return main(request[1:])
    return carry_out(request[0], "".join(request[1:]))


def knows(name: str) -> int:
    """Whether an installed package offers an algorithm of this name; if it cannot be had, says why."""
    try:
        return 0 if find(name) else 1
    except ImportError as error:
        print(error, file=sys.stderr)
        return ERROR


def carry_out(verb: str, arguments: str) -> int:
    """Carries out a verb with its arguments as JSON and returns the exit code."""
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
