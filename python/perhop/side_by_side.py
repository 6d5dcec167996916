"""Several runs as one, to stand side by side in a picture or a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from perhop.columns import Point, Replication
from perhop.results import Runs


def opened(directories: Sequence[str | Path]) -> Runs:
    """The runs of several directories as one, with `run` (the directory) as a swept key if there are several."""
    every = [Runs.open(directory) for directory in directories]
    return every[0] if len(every) == 1 else joined(dict(zip(map(str, directories), every, strict=True)))


def joined(every: Mapping[str, Runs]) -> Runs:
    """Several runs as one, with `run` as a swept key in addition to theirs.

    Raises:
        ValueError: when they sweep different keys.
    """
    keys = {name: runs.keys for name, runs in every.items()}
    if len({tuple(swept) for swept in keys.values()}) > 1:
        raise ValueError(f"these runs sweep different keys and cannot share one plot: {keys}")
    points: list[Point] = []
    replications: list[Replication] = []
    for name, runs in every.items():
        first = len(points)
        points += [Point({"run": name} | p.labels, p.name, p.hash, p.effective, p.origin) for p in runs.points]
        replications += [Replication(first + r.point, r.replication, r.hash, r.tables, r.reused) for r in runs]
    one = next(iter(every.values()))
    names = list(dict.fromkeys(runs.name for runs in every.values()))
    return Runs(
        " and ".join(names), one.seed, points, replications, one.settings, [n for r in every.values() for n in r.notes]
    )
