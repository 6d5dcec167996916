"""The command line: parsed and mostly carried out by the core, which hands some verbs back to Python."""

from __future__ import annotations

import json
import sys
from importlib import import_module

from perhop import _core

PYTHON_VERBS = {
    "compare": "perhop.compare",
    "plot": "perhop.plot",
    "report": "perhop.report",
    "reproduce": "perhop.reproduce",
    "studies": "perhop.reproduce",
    "tune": "perhop.plots.stability",
}
"""The module of each verb; its function `VERB(arguments)` returns the exit code."""

ERROR, INTERRUPTED = 2, 130


def main(argv: list[str] | None = None) -> int:
    """Carries out a command line and returns its exit code; `argv[0]` is the program's name."""
    code, request = _core.main(sys.argv if argv is None else argv)
    if request is None:
        return code
    verb, arguments = request
    try:
        exit_code: int = getattr(import_module(PYTHON_VERBS[verb]), verb)(json.loads(arguments))
    except KeyboardInterrupt as interrupt:
        print(interrupt or "interrupted", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ValueError, LookupError, _core.RunError) as error:
        print(f"error: {error.args[0] if isinstance(error, KeyError) else error}", file=sys.stderr)
        return ERROR
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
