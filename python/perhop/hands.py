"""Who runs replications: the engine's own threads here, or the workers of a cluster (`perhop.cluster`).

A shard is a choice of points, for either of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from perhop.shapes import ReplicationDict

if TYPE_CHECKING:
    from perhop import _core

Take = Callable[[ReplicationDict], Any]
Report = Callable[[int, int, int], object]
"""Called with the number of a work, its replications done, and those that were to be done."""


def whole(replication: ReplicationDict) -> ReplicationDict:
    """All of it, its tables included."""
    return replication


@dataclass(frozen=True)
class Work:
    """Replications to run, all of one scenario."""

    scenario: _core.Scenario
    replications: range
    points: Sequence[int] | None = None
    """Numbers of the points; all without."""
    out: str | None = None
    """Where results are written: a directory, or an address as `s3://bucket/runs`."""
    resume: bool = False
    """Take what is there already."""
    events: bool = False
    ef: Sequence[str] = field(default_factory=list)
    take: Take = whole
    """What is kept of each replication; a cluster's workers send no more."""


class Hands(Protocol):
    """Runs replications."""

    def run(self, works: Sequence[Work], report: Report) -> list[list[Any]]:
        """What is kept of the replications of each work, by point and number.

        Raises:
            RunError: a replication failed.
        """


@dataclass(frozen=True)
class Threads:
    """The engine's own threads: one work after another."""

    jobs: int = 0
    """0 is one for each core."""

    def run(self, works: Sequence[Work], report: Report) -> list[list[Any]]:
        """As `Hands.run`."""
        return [self.run_one(work, partial(report, number)) for number, work in enumerate(works)]

    def run_one(self, work: Work, report: Callable[[int, int], object] | None) -> list[Any]:
        """One work; `report` is called with the replications done and all of them."""
        span, points = (work.replications.start, work.replications.stop), work.points
        done = work.scenario.run(
            span,
            self.jobs,
            work.out,
            work.resume,
            report,
            work.events,
            list(work.ef),
            None if points is None else list(points),
        )
        return [work.take(replication) for replication in done]
