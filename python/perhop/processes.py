"""Replications in processes of this machine, each with an interpreter: for algorithms that are Python classes.

One interpreter runs one hook at a time, so threads would wait for each other.

A process ends when its pipe does, so none outlives the one that asked for it, whichever way that ends. Ctrl-C and its
kind are for that one alone.

Decision: docs/decisions/122-one-variant-for-what-is-registered.md
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, NamedTuple

from perhop import _core
from perhop.cluster.errors import Failed, FailedError
from perhop.cluster.identity import identity
from perhop.cluster.task import Done, Taken, Task, perform
from perhop.hands import Work, answered, noted
from perhop.own import used
from perhop.signals import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterator

FORKED = multiprocessing.get_context("fork")
"""A child of a fork has what was registered, wherever the class is written down."""

GRACE_S = 0.5
"""How long a process may take to end: a hook that waits outside of Python's own code hears nothing."""


def run(work: Work, jobs: int, report: Callable[[int, int], object] | None) -> list[_core.ReplicationDict]:
    """All replications of a work, those that are not on disk yet in so many forked processes; 0 is one for each core.

    Raises:
        FailedError: replications failed; all others are complete.
        KeyboardInterrupt: Ctrl-C; what is complete is on disk.
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
    crew = Crew(min(jobs or os.cpu_count() or 1, len(tasks)))
    try:
        for made in crew.perform(tasks):
            if report:
                report(total - len(tasks) + len(done), total)
            done += made
        crew.close()
    finally:
        crew.end()
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


class Member(NamedTuple):
    """A process, and the pipe to it."""

    process: BaseProcess
    pipe: Connection


class Crew:
    """Processes that perform tasks."""

    def __init__(self, processes: int) -> None:
        self._members: list[Member] = []
        with warnings.catch_warnings():
            # Other threads of this process, as those of NumPy, hold nothing that a child needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(processes):
                ours, theirs = FORKED.Pipe()
                others = [ours, *(member.pipe for member in self._members)]
                process = FORKED.Process(target=_serve, args=(theirs, others))
                process.start()
                theirs.close()
                self._members.append(Member(process, ours))

    def perform(self, tasks: list[Task]) -> Iterator[list[Done]]:
        """Gives what is ready, at first nothing, until all tasks are done.

        Raises:
            RunError: a process ended on its own.
            Exception: what performing a task raised.
        """
        left, busy = iter(tasks), dict[Connection, BaseProcess]()
        for process, pipe in self._members:
            pipe.send(next(left))
            busy[pipe] = process
        ready: list[Done] = []
        while busy:
            yield ready
            ready = []
            for pipe in [it for it in wait(list(busy)) if isinstance(it, Connection)]:
                ready.append(_received(pipe, busy[pipe]))
                if (task := next(left, None)) is None:
                    del busy[pipe]
                else:
                    pipe.send(task)
        yield ready

    def close(self) -> None:
        """No more tasks come."""
        for _, pipe in self._members:
            pipe.close()

    def end(self) -> None:
        """Ends all, at once those that do not end by themselves."""
        self.close()
        until = time.monotonic() + GRACE_S
        for process, _ in self._members:
            process.join(max(until - time.monotonic(), 0.0))
            process.kill()
            process.join()


def _received(pipe: Connection, process: BaseProcess) -> Done:
    try:
        made: Done | Exception = pipe.recv()
    except (EOFError, ConnectionResetError):
        process.join()
        raise _core.RunError(f"a process that ran replications has ended: exit code {process.exitcode}") from None
    if isinstance(made, Exception):
        raise made
    return made


def _serve(pipe: Connection, others: list[Connection]) -> None:
    """Performs tasks until the pipe ends."""
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)
    for other in others:
        other.close()

    def heard(_done: int, _total: int) -> None:
        if pipe.poll():  # no task comes before this one is done
            raise KeyboardInterrupt

    try:
        while True:
            task = pipe.recv()
            try:
                made: Done | Exception = perform(task, heard)
            except Exception as error:
                made = error
            pipe.send(made)
    except (EOFError, OSError, KeyboardInterrupt):
        return
