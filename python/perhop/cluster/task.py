"""A task: a request narrowed to some points and replications, and what a worker makes of it.

Decision: docs/decisions/094-tasks-of-a-chunk.md
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from perhop import _core, storage
from perhop.cluster.errors import ClusterError, Failed
from perhop.cluster.identity import Identity, identity, mixture
from perhop.hands import Take, Work, span
from perhop.own import in_instances


@lru_cache(4)
def made(request: str) -> _core.Scenario:
    """The scenario; a worker reads it once for all its tasks."""
    return _core.Scenario.of(request)


@dataclass(frozen=True)
class Task:
    """Some replications of some points."""

    request: str
    """As JSON; that of all points and replications."""
    points: Sequence[int]
    replications: range
    out: str | None
    take: Take
    made_with: Identity
    own: tuple[tuple[str, str], ...] = ()
    """Algorithms that are Python classes, with the hashes of their texts."""

    @property
    def total(self) -> int:
        """Replications of all points."""
        return len(self.points) * len(self.replications)


Taken = tuple[int, int, Any]
"""Point, replication, and what is kept of it."""


@dataclass(frozen=True)
class Done:
    """What a worker sends back."""

    taken: list[Taken]
    failed: list[Failed]
    seconds: float
    """Without reading the scenario, which is done once."""


Report = Callable[[int, int], object]


def perform(task: Task, report: Report | None = None) -> Done:
    """Runs it; a replication that fails leaves the others as they are. `report` hears of progress, and may end it.

    Raises:
        ClusterError: this worker is of another version.
        OSError: results cannot be written.
    """
    if identity() != task.made_with:
        raise ClusterError(mixture(task.made_with, {"a worker that came later": str(identity())}))
    work = Work(_read(task), task.take)
    began = time.perf_counter()
    place = nullcontext() if task.out is None else storage.writing(task.out)
    with place as out, in_instances(name for name, _ in task.own):
        asked = work.asking(output={"out": out, "jobs": 1})
        taken, failed = _ran(asked, task.points, task.replications, report)
    return Done(taken, failed, time.perf_counter() - began)


def _read(task: Task) -> _core.Scenario:
    """The scenario, with the same algorithms as where it comes from.

    Raises:
        ClusterError: this worker lacks one of them, or has another text of it.
    """
    try:
        scenario = made(task.request)
    except _core.ScenarioError as error:
        if task.own:
            missing = ", ".join(name for name, _ in task.own)
            help_ = "install the package that offers it (entry point perhop.algorithms) on every worker"
            raise ClusterError(f"a worker cannot run {missing}: {error}\n   help: {help_}") from error
        raise
    here = dict(_core.registered())
    for name, source in task.own:
        if here.get(name) != source:
            raise ClusterError(f"a worker has another text of `{name}`: {here.get(name)}, here it is {source}")
    return scenario


def _ran(work: Work, points: Sequence[int], numbers: range, report: Report | None) -> tuple[list[Taken], list[Failed]]:
    """Where one of them fails, each alone."""
    try:
        done = work.asking(points=points, replications=span(numbers)).scenario.run(report)
    except _core.RunError as error:
        if len(points) == len(numbers) == 1:
            at = work.scenario.points[points[0]]
            return [], [Failed(work.scenario.name, at["name"], numbers.start, at["settings"]["seed"], str(error))]
        each = [_ran(work, [point], range(n, n + 1), report) for point in points for n in numbers]
        return [it for taken, _ in each for it in taken], [it for _, failed in each for it in failed]
    return [(it["point"], it["replication"], work.take(it)) for it in done], []
