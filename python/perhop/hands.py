"""Who runs replications: the engine's own threads here, or the workers of a cluster (`perhop.cluster`).

Decision: docs/decisions/093-one-request.md
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from perhop import _core

Take = Callable[["_core.ReplicationDict"], Any]
Report = Callable[[int, int, int], object]
"""Called with the number of a work, its replications done, and those that were to be done."""


def whole(replication: _core.ReplicationDict) -> _core.ReplicationDict:
    """All of it, its tables included."""
    return replication


@dataclass(frozen=True)
class Work:
    """A scenario with what is asked of its runs: `Request` of `crates/app/src/request/run.rs` has every option."""

    scenario: _core.Scenario
    take: Take = whole
    """What is kept of each replication; a cluster's workers send no more."""

    @property
    def asked(self) -> dict[str, Any]:
        """What is asked, as `Terms` there."""
        asked: dict[str, Any] = json.loads(self.scenario.request)["asked"]
        return asked

    def asking(self, **changes: Any) -> Work:
        """The same with these changes to what is asked; those of a table in it leave its other keys."""
        return replace(self, scenario=self.scenario.asking(json.dumps(changes)))

    def run(self, report: Callable[[int, int], object] | None) -> list[Any]:
        """Runs it on this machine; `report` is called with the replications done and all of them."""
        return [self.take(replication) for replication in self.scenario.run(report)]


def noted(replication: _core.ReplicationDict) -> str | None:
    """What travels of a replication that is written elsewhere: the note on damage that was found and mended."""
    return replication["note"]


def answered(work: Work, made: Mapping[tuple[int, int], str | None]) -> list[_core.ReplicationDict]:
    """All replications of a work whose results are written; `made` are those that were not there before, with notes."""
    kept: list[_core.ReplicationDict] = work.asking(fresh=False).run(None)
    return [{**it, "reused": (at := (it["point"], it["replication"])) not in made, "note": made.get(at)} for it in kept]


def span(numbers: range) -> dict[str, int]:
    """Numbers of replications, as `Terms` has them."""
    return {"start": numbers.start, "end": numbers.stop}


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
        asked = [work.asking(output={"jobs": self.jobs}) for work in works]
        return [work.run(partial(report, number)) for number, work in enumerate(asked)]
