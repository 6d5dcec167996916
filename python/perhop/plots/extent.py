"""The axis of a quantity: how far it reaches, and whether equal ratios are equal lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from perhop.plots.axis import LOGARITHMIC
from perhop.plots.sheet import Look
from perhop.plots.style import Axes, broken, from_zero
from perhop.stats import Interval
from perhop.units import Column

ROOM = 1.25
"""Beyond the values on a logarithmic axis, as a factor."""

BEYOND = 0.5
"""Beyond the means, in shares of their range with zero: as far as an axis follows their intervals."""

TIMES = ("ms", "s", "ns")


@dataclass(frozen=True)
class Extent:
    """The limits of the axis of a quantity; the same for all panels of that quantity, so that they can be compared."""

    low: float
    high: float
    logarithmic: bool = False

    def put(self, axes: Axes, side: Literal["x", "y"], label: str, inches: float) -> None:
        """Gives this extent and label to an axis of a panel, which is so long."""
        from matplotlib.ticker import LogLocator, NullLocator

        line = axes.xaxis if side == "x" else axes.yaxis
        if self.logarithmic:
            (axes.set_xscale if side == "x" else axes.set_yscale)("log")
            fine = self.high / self.low < 300
            line.set_major_locator(LogLocator(subs=(1, 2, 5) if fine else (1,)))
            line.set_minor_locator(NullLocator())
            line.set_major_formatter("{x:g}")
        (axes.set_xlim if side == "x" else axes.set_ylim)(self.low, self.high)
        label = broken(f"{label} (log scale)" if self.logarithmic else label, inches)
        (axes.set_xlabel if side == "x" else axes.set_ylabel)(label)


def of_means(column: Column, every: Mapping[str, Sequence[Interval]], look: Look) -> Extent:
    """Of means with intervals, by the names of their rows. Long intervals run out of the panel, whose means count."""
    means = {name: [y.mean for y in of] for name, of in every.items()}
    if wanted(column, means, look):
        return logarithmic([mean for of in means.values() for mean in of])
    found, every_mean = [y for of in every.values() for y in of], [mean for of in means.values() for mean in of]
    low, high = min(every_mean, default=0.0), max(every_mean, default=0.0)
    beyond = BEYOND * (max(high, 0.0) - min(low, 0.0))
    lows = [max(y.low, 0.0 if low >= 0 else low - beyond) for y in found]
    return Extent(*from_zero([*lows, low], [*(min(y.high, high + beyond) for y in found), high]))


def around(every: Sequence[Interval], *, log: bool) -> Extent:
    """Around means, without zero: of what is read as a position, not as a length."""
    means = [y.mean for y in every]
    if log:
        return logarithmic(means)
    room = 0.05 * (max(means) - min(means)) or 0.05 * abs(means[0]) or 1.0
    return Extent(min(means) - room, max(means) + room)


def logarithmic(values: Sequence[float]) -> Extent:
    """Around values that are all positive."""
    known = [value for value in values if np.isfinite(value)]
    return Extent(min(known) / ROOM, max(known) * ROOM, logarithmic=True)


def wanted(column: Column, values: Mapping[str, Sequence[float]], look: Look) -> bool:
    """Whether the axis is logarithmic: asked for, or of times of which the longest is many times the shortest.

    Raises:
        ValueError: when asked for, and a value is zero.
    """
    known = {name: [value for value in of if np.isfinite(value)] for name, of in values.items()}
    zero = next((name for name, of in known.items() if any(value <= 0 for value in of)), None)
    if look.log_y and zero is not None:
        whose = f" of {zero}" if zero else ""
        raise ValueError(
            f"log-y: {column.words}{whose} is 0 somewhere, and a logarithmic axis has no zero: leave out --log-y, or "
            "choose rows without zeros with --where"
        )
    every = [value for of in known.values() for value in of]
    spread = column.unit in TIMES and zero is None and bool(every) and max(every) / min(every) >= LOGARITHMIC
    return bool(every) and (look.log_y or spread)
