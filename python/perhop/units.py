"""Columns as people read them: the unit is the end of a column's name."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol


class Estimate(Protocol):
    """A mean and its interval; NaN if unknown."""

    @property
    def mean(self) -> float: ...  # noqa: D102
    @property
    def half(self) -> float: ...  # noqa: D102
    @property
    def low(self) -> float: ...  # noqa: D102
    @property
    def high(self) -> float: ...  # noqa: D102
    @property
    def cut(self) -> bool: ...  # noqa: D102


KEYS = {
    "traffic": ("traffic",),
    "arrivals": ("class", "colour"),
    "flows": ("traffic", "flow"),
    "summary": ("hop", "class", "colour"),
    "conditioners": ("hop", "conditioner", "colour_in", "colour_out"),
    "queues": ("hop", "queue"),
    "nodes": ("hop", "node"),
    "tallies": ("hop", "conditioner", "quantity"),
    "links": ("hop",),
    "ef": ("hop", "aggregate", "rate_bit_s"),
}
"""What identifies the rows of a table."""

_STEPS = {
    "_bit_s": (("bit/s", 1.0), ("kbit/s", 1e-3), ("Mbit/s", 1e-6), ("Gbit/s", 1e-9)),
    "_ms": (("us", 1e3), ("ms", 1.0), ("s", 1e-3)),
    "_bytes": (("B", 1.0), ("kB", 1e-3), ("MB", 1e-6), ("GB", 1e-9)),
    "_packets": (("packets", 1.0),),
}
"""The units of each ending of a column's name, in ascending order, with the factor to each."""

_USUAL = {"_bit_s": "Mbit/s", "_ms": "ms", "_bytes": "B", "_packets": "packets"}

ROUNDING = 1e-12
"""Relative spread of equal values that is due to arithmetic alone."""

DIGITS = 4
"""Digits of a mean that its interval does not limit."""


class Scale(NamedTuple):
    """A unit, and what values are multiplied by to be in it."""

    unit: str
    factor: float


def named(column: str) -> tuple[str, str, float]:
    """`goodput_bit_s` as `goodput`, `Mbit/s` and the factor to it."""
    ending = _ending(column)
    usual = Scale("", 1.0) if ending is None else next(Scale(*s) for s in _STEPS[ending] if s[0] == _USUAL[ending])
    return column.removesuffix(ending or "").replace("_", " "), *usual


def scaled(column: str, largest: float) -> Scale:
    """The unit in which the largest of a column's values has one to three digits before its point."""
    ending = _ending(column)
    if ending is None or not 0 < largest < math.inf:
        return Scale(*named(column)[1:])
    fitting = [Scale(*step) for step in _STEPS[ending] if largest * step[1] >= 1]
    return fitting[-1] if fitting else Scale(*_STEPS[ending][0])


def _ending(column: str) -> str | None:
    return next((ending for ending in _STEPS if column.endswith(ending)), None)


def counted(column: str) -> bool:
    """Whether no row means zero."""
    return column.endswith(("_packets", "_bytes")) or column in ("packets", "bytes")


SUMS = (
    *("throughput_bit_s", "goodput_bit_s", "value"),
    *("segments", "retransmitted_segments", "timeouts", "fast_retransmits", "window_cuts"),
    *("flows", "transfers_complete", "transfers_open", "sessions_complete", "sessions_open"),
)
"""Columns beside packets and bytes that can be summed over rows."""

APART = ("series", "flow_series", "transfers")
"""Tables whose rows are of different times."""


def summed(table: str, column: str) -> bool:
    """Whether the sum of a column over rows means anything: counts have one, and rates of one stretch of time."""
    return counted(column) if table in APART else counted(column) or column in SUMS


def text(value: float, decimals: int | None = None) -> str:
    """Four digits, or this many decimals; `-` for unknown values."""
    if math.isnan(value):
        return "-"
    if decimals is None and 0 < abs(value) < 1e-6:
        return f"{value:.2e}"
    return f"{value:.{places(value, DIGITS) if decimals is None else decimals}f}"


def estimate(value: Estimate | None, factor: float = 1.0, most: int = 99) -> str:
    """`3.50 ±0.11`: two digits of the interval decide, four of the mean are enough, and at `most` this many decimals.

    The mean alone if there is no interval, or none that is visible in these digits; `88 [0, 100]` if it is cut.
    """
    if value is None or math.isnan(value.mean):
        return "-"
    mean, half = value.mean * factor, value.half * factor
    if half < ROUNDING * abs(mean):
        half = 0.0
    if math.isnan(half) or half == 0:
        alone = text(mean, min(places(mean, DIGITS), most))
        return alone if math.isnan(half) else f"{alone} ±0"
    decimals = min(places(half, 2), places(mean, DIGITS) if abs(mean) > half else places(half, 2), most)
    if value.cut:
        low, high = (text(end * factor, decimals) for end in (value.low, value.high))
        return f"{text(mean, decimals)} [{low}, {high}]"
    shown = text(half, decimals)
    return f"{text(mean, decimals)} ±{shown}" if float(shown) else text(mean, decimals)


def places(value: float, digits: int) -> int:
    """Decimals that show this many digits of a value; none of zero."""
    return max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
