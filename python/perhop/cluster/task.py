"""A task: some points and replications of a scenario, and what a worker makes of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from perhop import _core, storage
from perhop.cluster.errors import ClusterError, Failed
from perhop.cluster.identity import Identity, identity, mixture
from perhop.hands import Take
from perhop.shapes import ReplicationDict

Recipe = tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...], str | None]


def recipe(scenario: _core.Scenario) -> Recipe:
    """What makes the same scenario on a worker."""
    text, file_name, overrides, vary, keys, name = scenario.recipe
    return (text, file_name, tuple(overrides), tuple(vary), tuple(map(tuple, keys)), name)


@lru_cache(4)
def made(it: Recipe) -> _core.Scenario:
    """The scenario; a worker reads it once for all its tasks."""
    text, file_name, overrides, vary, keys, name = it
    scenario = _core.Scenario(text, file_name, list(overrides), list(vary), [list(key) for key in keys])
    return scenario if name is None else scenario.named(name)


@dataclass(frozen=True)
class Task:
    """Some replications of some points."""

    recipe: Recipe
    points: tuple[int, ...]
    replications: range
    out: str | None
    resume: bool
    events: bool
    ef: tuple[str, ...]
    take: Take
    made_with: Identity

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


def perform(task: Task) -> Done:
    """Runs it; a replication that fails leaves the others as they are.

    Raises:
        ClusterError: this worker is of another version.
        OSError: results cannot be written.
    """
    if identity() != task.made_with:
        raise ClusterError(mixture(task.made_with, {"a worker that came later": str(identity())}))
    scenario = made(task.recipe)
    began = time.perf_counter()
    place = nullcontext() if task.out is None else storage.writing(task.out)
    with place as out:
        taken, failed = _ran(scenario, task, task.points, task.replications, out)
    return Done(taken, failed, time.perf_counter() - began)


def _ran(
    scenario: _core.Scenario, task: Task, points: Sequence[int], numbers: range, out: str | None
) -> tuple[list[Taken], list[Failed]]:
    span = (numbers.start, numbers.stop)
    try:
        done = scenario.run(span, 1, out, task.resume, None, task.events, list(task.ef), list(points))
    except _core.RunError as error:
        return _apart(scenario, task, points, numbers, out, error)
    return [(points[r["point"]], r["replication"], task.take(_placed(r, points))) for r in done], []


def _placed(replication: ReplicationDict, points: Sequence[int]) -> ReplicationDict:
    return {**replication, "point": points[replication["point"]]}


def _apart(  # noqa: PLR0913, PLR0917
    scenario: _core.Scenario, task: Task, points: Sequence[int], numbers: range, out: str | None, error: Exception
) -> tuple[list[Taken], list[Failed]]:
    """One of them failed: each alone."""
    if len(points) == len(numbers) == 1:
        at = scenario.points[points[0]]
        return [], [Failed(scenario.name, at["name"], numbers.start, at["settings"]["seed"], str(error))]
    each = [_ran(scenario, task, [point], range(n, n + 1), out) for point in points for n in numbers]
    return [it for taken, _ in each for it in taken], [it for _, failed in each for it in failed]
