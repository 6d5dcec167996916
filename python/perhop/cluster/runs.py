"""A cluster runs what is missing of a request: for `Scenario.run(client=...)`, and for `perhop sweep --cluster`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perhop import _core, storage
from perhop.cluster.client import Cluster, reached
from perhop.cluster.errors import FailedError
from perhop.hands import Work, answered, noted
from perhop.progress import shown
from perhop.show import as_error

if TYPE_CHECKING:
    from distributed import Client

FAILED = 1


def sweep(arguments: Mapping[str, Any]) -> int:
    """`perhop sweep --cluster`: the core prints the answer to the request from what is written."""
    request, began = json.dumps(arguments["request"]), time.monotonic()
    work = _absolute(Work(_core.Scenario.of(request)))
    try:
        with reached(arguments["cluster"]) as cluster:
            made = set(written(cluster, work, None)) if cluster else set()
    except FailedError as error:
        print(as_error(error), file=sys.stderr)
        return FAILED
    sys.stdout.flush()
    return _core.answer(request, _here(work), made, time.monotonic() - began)


def run(client: Client, chunk_s: float, work: Work, progress: Any) -> list[_core.ReplicationDict]:
    """All replications of the work, as the core gives them; what was written is read here."""
    cluster = Cluster(client, chunk_s)
    if work.asked["output"]["out"] is None:
        with shown(progress, work.scenario.name) as report:
            [found] = cluster.run([work], lambda _, *done: report(*done) if report else None)
        return found
    work = _absolute(work)
    made = written(cluster, work, progress)
    return answered(work.asking(output={"out": _here(work)}), made)


def written(cluster: Cluster, work: Work, progress: Any) -> dict[tuple[int, int], str | None]:
    """Has a cluster write what is lacking; the points and replications that it made, with notes, which are told."""
    with shown(progress, work.scenario.name) as report:
        [taken] = cluster.hand_out([Work(work.scenario, noted)], lambda _, *done: report(*done) if report else None)
    for note in (note for *_, note in taken if note is not None):
        print(f"note: {note}", file=sys.stderr)
    return {(point, replication): note for point, replication, note in taken}


def _absolute(work: Work) -> Work:
    """With a place that other processes can find."""
    return work.asking(output={"out": storage.absolute(work.asked["output"]["out"])})


def _here(work: Work) -> str:
    """Where this machine reads what was written."""
    return str(storage.here(work.asked["output"]["out"], work.scenario.name))
