"""Work cut into tasks: as much in one as a chunk of time takes, by what the tasks before took."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import groupby

SMALLEST = 20
"""The parts of a chunk of which a task has at least one: what a task costs in addition stays small beside it."""

Piece = tuple[list[int], range]
"""Points of which the same replications are to be run."""


def pieces(lacking: Iterable[tuple[int, list[int]]]) -> list[Piece]:
    """Points with the same missing replications together, in the order of the first of them."""
    found: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for point, numbers in lacking:
        found.setdefault(tuple(_spans(numbers)), []).append(point)
    return [(points, range(*span)) for spans, points in found.items() for span in spans]


def _spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Successive numbers as `(first, last + 1)`."""
    runs = (list(run) for _, run in groupby(enumerate(numbers), lambda it: it[1] - it[0]))
    return [(run[0][1], run[-1][1] + 1) for run in runs]


class Cut:
    """What is left of a work, and what a replication of it costs."""

    def __init__(self, wanted: Iterable[Piece]) -> None:
        self._left = deque(wanted)
        self.left = sum(len(points) * len(numbers) for points, numbers in self._left)
        """Replications that are in no task yet."""
        self._seconds, self._done = 0.0, 0

    def learn(self, seconds: float, replications: int) -> None:
        """A task of so many took so long."""
        self._seconds += seconds
        self._done += replications

    def next(self, chunk_s: float, workers: int) -> Piece:
        """The next task: one replication while nothing is known, and at the end no more than a worker's share."""
        points, numbers = self._left.popleft()
        most = self._most(chunk_s, workers)
        if most < len(numbers):
            first, rest = points[:1], points[1:]
            back = [(first, numbers[most:]), (rest, numbers)]
            taken = (first, numbers[:most])
        else:
            several = most // len(numbers)
            taken, back = (points[:several], numbers), [(points[several:], numbers)]
        self._left.extendleft(piece for piece in reversed(back) if piece[0])
        self.left -= len(taken[0]) * len(taken[1])
        return taken

    def _most(self, chunk_s: float, workers: int) -> int:
        if not self._done:
            return 1
        whole = max(1, int(chunk_s * self._done / max(self._seconds, 1e-9)))
        share = -(-self.left // (2 * workers))
        return min(whole, max(share, whole // SMALLEST, 1))
