"""`perhop sweep --cluster`: the replications run there, then the core prints the answer from what is written."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from perhop import _core, storage
from perhop.cluster.client import reached
from perhop.cluster.errors import FailedError
from perhop.cluster.runs import written
from perhop.hands import Work
from perhop.show import as_error

FAILED = 1


def sweep(arguments: Mapping[str, Any]) -> int:
    """The verb."""
    a, began = arguments, time.monotonic()
    core = _core.Scenario(a["text"], a["file"], a["overrides"], a["vary"])
    core = core if a["name"] is None else core.named(a["name"])
    out, numbers = storage.absolute(a["out"]), range(int(core.settings["replications"]))
    work = Work(core, numbers, a["points"], out, not a["fresh"], a["events"], a["ef"])
    try:
        with reached(a["cluster"]) as cluster:
            made = written(cluster, work, None) if cluster else set()
    except FailedError as error:
        print(as_error(error), file=sys.stderr)
        return FAILED
    sys.stdout.flush()
    place = str(storage.here(out, core.name))
    return _core.answer(a["line"], (a["text"], place, made, time.monotonic() - began))
