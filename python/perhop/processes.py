"""Replications in processes of this machine, each with an interpreter: for algorithms that are Python classes.

One interpreter runs one hook at a time, so threads would wait for each other.

Decision: docs/decisions/122-one-variant-for-what-is-registered.md
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from perhop.cluster.errors import Failed, FailedError
from perhop.cluster.identity import identity
from perhop.cluster.task import Done, Task, perform
from perhop.hands import Report, Work
from perhop.own import used

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Processes:
    """Runs replications in processes that are forked from this one, as `perhop.hands.Hands`."""

    jobs: int = 0
    """0 is one for each core."""

    def run(self, works: Sequence[Work], report: Report) -> list[list[Any]]:
        """As `Hands.run`.

        Raises:
            FailedError: replications failed; all others are complete.
        """
        return [self.one(work, partial(report, number)) for number, work in enumerate(works)]

    def one(self, work: Work, report: Callable[[int, int], object] | None) -> list[Any]:
        """What is kept of the replications of one work, by point and number; what is on disk already is read."""
        out = work.asked["output"]["out"]
        tasks = list(_tasks(work, out))
        done: list[Done] = []
        with warnings.catch_warnings():
            # Other threads of this process, as those of NumPy, hold nothing that a child needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            pool = ProcessPoolExecutor(min(self.jobs or os.cpu_count() or 1, len(tasks) or 1), FORKED)
            try:
                waiting: set[Future[Done]] = {pool.submit(perform, task) for task in tasks}
                while waiting:
                    ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    done += [future.result() for future in ended]
                    if report:
                        report(len(done), len(tasks))
            finally:
                pool.shutdown(cancel_futures=True)
        failed: list[Failed] = [it for made in done for it in made.failed]
        if failed:
            raise FailedError(failed, "all others are complete")
        if out is not None:
            return work.asking(fresh=False).run(None)
        taken = sorted((it for made in done for it in made.taken), key=lambda it: it[:2])
        return [it for *_, it in taken]


FORKED = multiprocessing.get_context("fork")
"""A child of a fork has what was registered, wherever the class is written down."""


def _tasks(work: Work, out: str | None) -> Iterator[Task]:
    """One for each replication that is not there yet."""
    cut, request = work.scenario.cut(), work.scenario.request
    of = (out, work.take, identity(), used(request))
    while piece := cut.next(0.0, 1):
        points, numbers = piece
        yield Task(request, points, range(*numbers), *of)
