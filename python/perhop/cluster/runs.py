"""`Scenario.run(client=...)`: a cluster runs what is missing; what it wrote is read here."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perhop import storage
from perhop.cluster.client import Cluster
from perhop.hands import Threads, Work
from perhop.progress import shown
from perhop.shapes import ReplicationDict

if TYPE_CHECKING:
    from distributed import Client


def run(client: Client, chunk_s: float, jobs: int, work: Work, progress: Any) -> list[ReplicationDict]:
    """All replications of the work, as the core gives them."""
    cluster = Cluster(client, chunk_s)
    if work.out is None:
        with shown(progress, work.scenario.name) as report:
            [found] = cluster.run([work], lambda _, *done: report(*done) if report else None)
        return found
    made = written(cluster, replace(work, out=storage.absolute(work.out)), progress)
    return read(work, made, jobs)


def written(cluster: Cluster, work: Work, progress: Any) -> set[tuple[int, int]]:
    """Has a cluster write what `work.out` lacks; the points and replications that it made."""
    with shown(progress, work.scenario.name) as report:
        [taken] = cluster.hand_out([replace(work, take=hashed)], lambda _, *done: report(*done) if report else None)
    for note in (note for *_, (_, note) in taken if note is not None):
        print(f"note: {note}", file=sys.stderr)
    return {(point, replication) for point, replication, _ in taken}


def hashed(replication: ReplicationDict) -> tuple[str, str | None]:
    """What travels of a replication that a worker wrote: hash and note."""
    return (replication["hash"], replication["note"])


def read(work: Work, made: set[tuple[int, int]], jobs: int) -> list[ReplicationDict]:
    """What is there now."""
    out = str(storage.here(work.out or "", work.scenario.name))
    found: list[ReplicationDict] = Threads(jobs).run_one(replace(work, out=out, resume=True), None)
    return [{**r, "reused": (r["point"], r["replication"]) not in made} for r in found]
