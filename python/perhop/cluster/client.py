"""A Dask cluster that runs replications: the client's side.

Decision: docs/decisions/092-dask-schedules-and-nothing-else.md
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from perhop import own
from perhop.cluster import identity, place
from perhop.cluster.errors import ClusterError, Failed, FailedError, listed, needed
from perhop.cluster.task import Done, Taken, Task, perform
from perhop.hands import Report, Work
from perhop.show import count
from perhop.signals import twice
from perhop.storage import here

if TYPE_CHECKING:
    from distributed import Client, Future

    from perhop import _core

ATTEMPTS = 4
"""Times that a task is submitted: once, and three times again."""
AHEAD = 2
"""Tasks for each thread of the cluster that are with it at a time, so that none waits for the client."""
FETCH_S = 30.0
FETCHING = 16
"""Answers fetched at a time: each takes a journey to its worker."""
LOOK_S = 2.0
"""Time between two looks at how many workers there are."""
CONNECT_S = 5.0
LOST = "the scheduler was lost"


@dataclass
class Flight:
    """A task that is with the cluster."""

    work: int
    task: Task
    attempt: int = 1
    why: str = ""
    """What became of the attempt before."""


@dataclass
class Cluster:
    """Runs replications on the workers of a Dask client, as `perhop.hands.Hands`."""

    client: Client
    chunk_s: float = 10.0
    """Work of one task."""
    patience_s: float = 60.0
    """How long a lost scheduler, or lost workers, may take to come back."""
    _checked: set[str] = field(default_factory=set)

    def run(self, works: Sequence[Work], report: Report) -> list[list[Any]]:
        """As `Hands.run`.

        Raises:
            ClusterError: workers of other versions, a place that they cannot write, or a cluster that is lost.
            FailedError: replications failed; all others are complete.
        """
        taken = self.hand_out(works, report)
        return [[it for *_, it in sorted(of, key=lambda it: it[:2])] for of in taken]

    def hand_out(self, works: Sequence[Work], report: Report) -> list[list[Taken]]:
        """As `run`, with the point and the number of each; of what is written, only what was not there before."""
        self._check(works)
        handing = Handing(self, works, report)
        handing.run()
        if handing.failed:
            raise FailedError(handing.failed, "all others are complete")
        return handing.taken

    @property
    def threads(self) -> int:
        """Threads of all workers; 0 while the scheduler cannot be reached."""
        if self.client.status != "running":
            return 0
        try:
            return sum(self.client.nthreads().values())
        except OSError:  # The client does not know yet that its scheduler is gone.
            return 0

    def _check(self, works: Sequence[Work]) -> None:
        self.wait("before anything was run")
        workers = ",".join(sorted(self.client.nthreads()))
        for out in {work.asked["output"]["out"] for work in works}:
            if (key := f"{workers} {out}") not in self._checked:
                identity.check(self.client)
                if out is not None:
                    place.check(self.client, out)
                self._checked.add(key)

    def wait(self, when: str) -> int:
        """Threads of all workers, as soon as there are any.

        Raises:
            ClusterError: there are none for too long.
        """
        until = time.monotonic() + self.patience_s
        while not (threads := self.threads):
            if time.monotonic() > until:
                lost = "no worker" if self.client.status == "running" else "no scheduler"
                raise ClusterError(f"the cluster has had {lost} for {self.patience_s:.0f} s, {when}")
            time.sleep(0.1)
        return threads


class Handing:
    """Works on their way through a cluster."""

    def __init__(self, cluster: Cluster, works: Sequence[Work], report: Report) -> None:
        self.cluster, self.works, self.report = cluster, works, report
        self.requests, self.identity = [work.scenario.request for work in works], identity.identity()
        self.outs = [work.asked["output"]["out"] for work in works]
        self.own = [own.used(request) for request in self.requests]
        self.cuts = [self._cut(work) for work in works]
        self.totals = [cut.left for cut in self.cuts]
        self.total = sum(self.totals)
        self.taken: list[list[Taken]] = [[] for _ in works]
        self.failed: list[Failed] = []
        self.given_up: list[Flight] = []
        self.flying: dict[Future, Flight] = {}
        self.fetching = ThreadPoolExecutor(FETCHING)
        self.landed: SimpleQueue[tuple[Future, Done | Exception]] = SimpleQueue()
        self.threads, self.looked, self.absent = cluster.threads, time.monotonic(), 0.0

    @staticmethod
    def _cut(work: Work) -> _core.Cut:
        asked = work.asked
        if (out := asked["output"]["out"]) is not None and not asked["fresh"]:
            work = work.asking(output={"out": str(here(out, work.scenario.name)), "jobs": 0})
        return work.scenario.cut()

    def run(self) -> None:
        """All of it.

        Raises:
            ClusterError: some of it could not be done.
            KeyboardInterrupt: saying what is there.
        """
        try:
            while self.flying or any(cut.left for cut in self.cuts):
                self._fill()
                self._take_one()
        except KeyboardInterrupt:
            self._cancel()
            raise KeyboardInterrupt(f"interrupted: {self._said()}") from None
        except ClusterError as error:
            self._cancel()
            raise ClusterError(f"{error}\n   {self._said()}") from error
        finally:
            self.fetching.shutdown(wait=False, cancel_futures=True)
        if self.given_up:
            raise ClusterError(self._missing())

    def _fill(self) -> None:
        workers = max(self.threads, 1)
        for number, cut in enumerate(self.cuts):
            while len(self.flying) < AHEAD * workers and (piece := cut.next(self.cluster.chunk_s, workers)):
                points, numbers = piece
                of = (self.outs[number], self.works[number].take, self.identity, self.own[number])
                self._submit(Flight(number, Task(self.requests[number], points, range(*numbers), *of)))

    def _submit(self, flight: Flight) -> None:
        future = self.cluster.client.submit(perform, flight.task, pure=False)
        self.flying[future] = flight
        future.add_done_callback(self._landing)

    def _landing(self, future: Future) -> None:
        # After the end none is fetched any more.
        with suppress(RuntimeError):
            self.fetching.submit(self._fetch, future)

    def _fetch(self, future: Future) -> None:
        self.landed.put((future, _ended(future)))

    def _take_one(self) -> None:
        """Waits for a task, and looks now and then whether there are workers."""
        if time.monotonic() - self.looked > LOOK_S:
            self._look()
        try:
            future, ended = self.landed.get(timeout=LOOK_S / 4)
        except Empty:
            return
        flight = self.flying.pop(future, None)
        if flight is not None:
            self._end(flight, ended)

    def _look(self) -> None:
        self.looked, before = time.monotonic(), self.threads
        self.threads = self.cluster.threads
        if self.threads:
            self.absent = 0.0
        elif before or not self.absent:
            self.absent = self.looked
        elif self.looked - self.absent > self.cluster.patience_s:
            self.cluster.wait(f"with {count(self.total - self.done, 'replication')} missing")

    def _end(self, flight: Flight, ended: Done | Exception) -> None:
        if isinstance(ended, ClusterError):
            raise ended
        if isinstance(ended, Done):
            self.taken[flight.work] += ended.taken
            self.failed += ended.failed
            self.cuts[flight.work].learn(ended.seconds, flight.task.total)
            self.report(flight.work, len(self.taken[flight.work]), self.totals[flight.work])
        elif flight.attempt < ATTEMPTS:
            self.threads = self.cluster.wait(f"after {ended}")
            self._submit(Flight(flight.work, flight.task, flight.attempt + 1, str(ended)))
        else:
            self.given_up.append(Flight(flight.work, flight.task, flight.attempt, str(ended)))

    @property
    def done(self) -> int:
        """Replications that are complete."""
        return sum(map(len, self.taken))

    def _cancel(self) -> None:
        if self.cluster.client.status == "running":
            self.cluster.client.cancel(list(self.flying))

    def _said(self) -> str:
        out = next((out for out in self.outs if out is not None), None)
        places = f" in {out}; the same command continues from there" if out else "; nothing of them is kept"
        return f"{self.done} of {count(self.total, 'replication')} complete{places}"

    def _missing(self) -> str:
        lines = []
        for flight in self.given_up:
            scenario, numbers = self.works[flight.work].scenario, flight.task.replications
            names = [scenario.points[point]["name"] for point in flight.task.points[:3]]
            more = f" and {len(flight.task.points) - 3} more points" if len(flight.task.points) > 3 else ""
            span = f"{numbers.start}" if len(numbers) == 1 else f"{numbers.start}-{numbers.stop - 1}"
            lines.append(f"{scenario.name} {', '.join(names)}{more}, replications {span}: {flight.why}")
        lost = count(sum(flight.task.total for flight in self.given_up), "replication")
        said = f"{lost} missing after {ATTEMPTS} attempts; {self._said()}"
        return "\n".join([said, *listed(lines, of=" tasks")])


def _ended(future: Future) -> Done | Exception:
    """What a task gave, or why it did not."""
    if future.status == "cancelled":
        return RuntimeError(LOST)
    try:
        done: Done = future.result(timeout=FETCH_S)
    except ClusterError as error:
        return error
    except Exception as error:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return done


@contextmanager
def reached(asked: Mapping[str, Any] | None) -> Iterator[Cluster | None]:
    """The cluster that `--cluster` names; None without.

    Raises:
        ClusterError: it cannot be reached.
    """
    if asked is None:
        yield None
        return
    distributed = needed("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    address = asked["address"]
    try:
        client = distributed.Client(address, timeout=CONNECT_S)
    except (OSError, ValueError, TypeError) as error:
        help_ = "`dask scheduler` prints its address when it starts, as in tcp://HOST:8786"
        raise ClusterError(f"no scheduler at {address}: {error}\n   help: {help_}") from error
    try:
        with twice():
            yield Cluster(client, asked["chunk_s"])
    finally:
        client.close(timeout=2)
