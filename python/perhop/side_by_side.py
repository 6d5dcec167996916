"""Several runs as one, to stand side by side in a picture or a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from perhop.columns import Point, Replication
from perhop.results import Results

R = TypeVar("R", bound=Results)


def opened(directories: Sequence[str | Path]) -> Results:
    """The runs of several directories as one, with `run` (the directory) as a swept key if there are several."""
    every = [Results.open(directory) for directory in directories]
    return every[0] if len(every) == 1 else joined(dict(zip(map(str, directories), every, strict=True)))


def joined(every: Mapping[str, R]) -> R:
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
        points += [replace(point, labels={"run": name} | point.labels) for point in runs.points]
        replications += [replace(r, point=first + r.point, directory=None) for r in runs]
    one, names = next(iter(every.values())), dict.fromkeys(runs.name for runs in every.values())
    name, notes = " and ".join(names), [note for runs in every.values() for note in runs.notes]
    return replace(one, name=name, points=points, replications=replications, notes=notes, _tables={}, _pools=False)
