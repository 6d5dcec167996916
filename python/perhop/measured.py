"""Intervals of what a run measured: a column knows how finely its values are known and which bounds they have.

The half-width of a quantile has the width of its buckets in addition to Student's, and the interval of a share or an
index ends at its bounds, as the terminal shows them. The core says both, and why.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from perhop import _core, stats
from perhop.columns import Values
from perhop.stats import Interval
from perhop.units import Column


def interval(column: Column, values: Iterable[float]) -> Interval:
    """The mean of a column's values over replications, with its 95 % interval."""
    listed = [float(value) for value in values]
    found = stats.interval(listed)
    if found.n < 2:
        return found
    resolution, (least, most) = _core.known(column.table, column.name, listed)
    low, high = found.low - resolution, found.high + resolution
    return Interval(found.mean, max(low, least), min(high, most), found.n, cut=low < least or high > most)


def known(column: Column, values: Values) -> Interval | None:
    """The same over the replications that have the quantity; `None` if none has."""
    present = values[~np.isnan(values)]
    return interval(column, present) if len(present) else None


def difference(column: Column, a: Iterable[float], b: Iterable[float]) -> Interval:
    """The mean of `b - a`, pair by pair; either side may be above the exact values."""
    ours, theirs = [float(x) for x in a], [float(x) for x in b]
    found = stats.paired(ours, theirs)
    if found.n < 2:
        return found
    resolution = max(_core.known(column.table, column.name, side)[0] for side in (ours, theirs))
    return Interval(found.mean, found.low - resolution, found.high + resolution, found.n)
