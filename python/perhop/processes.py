"""Replications in processes of this machine, each with an interpreter: for algorithms that are Python classes.

One interpreter runs one hook at a time, so threads would wait for each other.

Decision: docs/decisions/122-one-variant-for-what-is-registered.md
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING

from perhop.cluster.errors import Failed, FailedError
from perhop.cluster.identity import identity
from perhop.cluster.task import Done, Taken, Task, perform
from perhop.hands import Work, answered, noted
from perhop.own import used

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perhop import _core

FORKED = multiprocessing.get_context("fork")
"""A child of a fork has what was registered, wherever the class is written down."""


def run(work: Work, jobs: int, report: Callable[[int, int], object] | None) -> list[_core.ReplicationDict]:
    """All replications of a work, those that are not on disk yet in so many forked processes; 0 is one for each core.

    Raises:
        FailedError: replications failed; all others are complete.
    """
    out = work.asked["output"]["out"]
    if out is None:
        return [it for *_, it in sorted(_made(work, jobs, report), key=lambda it: it[:2])]
    made = _made(Work(work.scenario, noted), jobs, report)
    return answered(work, {(point, replication): note for point, replication, note in made})


def _made(work: Work, jobs: int, report: Callable[[int, int], object] | None) -> list[Taken]:
    """What is kept of those that were made; progress counts those that were there before."""
    tasks = list(_tasks(work))
    asked = work.asked["replications"]
    total = len(work.scenario.points) * (asked["end"] - asked["start"])
    done: list[Done] = []
    with warnings.catch_warnings():
        # Other threads of this process, as those of NumPy, hold nothing that a child needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = ProcessPoolExecutor(min(jobs or os.cpu_count() or 1, len(tasks) or 1), FORKED)
        try:
            waiting: set[Future[Done]] = {pool.submit(perform, task) for task in tasks}
            while waiting:
                if report:
                    report(total - len(waiting), total)
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                done += [future.result() for future in ended]
        finally:
            pool.shutdown(cancel_futures=True)
    if report:
        report(total, total)
    failed: list[Failed] = [it for made in done for it in made.failed]
    if failed:
        raise FailedError(failed, "all others are complete")
    return [it for made in done for it in made.taken]


def _tasks(work: Work) -> Iterator[Task]:
    """One for each replication that is not there yet."""
    cut, request = work.scenario.cut(), work.scenario.request
    of = (work.asked["output"]["out"], work.take, identity(), used(request))
    while piece := cut.next(0.0, 1):
        points, numbers = piece
        yield Task(request, points, range(*numbers), *of)
