"""Which points of a sweep a picture shows where there are too many, and the words of that."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from perhop.plots.sheet import Left, Sheet
from perhop.results import Results

CHANGING = "those that change most along the sweep"
LARGEST = "those with the largest values"
EVENLY = "evenly spaced"


def thinned(runs: Results, keys: Sequence[str], room: int, sheet: Sheet) -> Results:
    """The runs at so few values of these swept keys that all have room; the first and the last are among them."""
    labels = {key: list(dict.fromkeys(point.labels[key] for point in runs.points)) for key in keys}
    if len({tuple(point.labels[key] for key in keys) for point in runs.points}) <= room:
        return runs
    counts = {key: len(values) for key, values in labels.items()}
    while prod(counts.values()) > room:
        counts[max(counts, key=lambda key: counts[key])] -= 1
    kept = {key: evenly(values, counts[key]) for key, values in labels.items() if counts[key] < len(values)}
    sheet.left += [Left(key, of, [v for v in labels[key] if v not in of], EVENLY) for key, of in kept.items()]
    return runs.where(kept)


def evenly(values: Sequence[str], count: int) -> list[str]:
    """So many of them, the first and the last among them."""
    step = (len(values) - 1) / max(count - 1, 1)
    return [values[round(i * step)] for i in range(count)]
