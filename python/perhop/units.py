"""Columns as people read them: the unit is the end of a column's name."""

from __future__ import annotations

import math

from perhop.stats import Interval

KEYS = {
    "traffic": ("traffic",),
    "arrivals": ("class", "colour"),
    "flows": ("traffic", "flow"),
    "summary": ("hop", "class", "colour"),
    "conditioners": ("hop", "conditioner", "colour_in", "colour_out"),
    "links": ("hop",),
}
"""What tells the rows of a table apart."""

_UNITS = (("_bit_s", "Mbit/s", 1e-6), ("_ms", "ms", 1.0), ("_bytes", "B", 1.0), ("_packets", "packets", 1.0))


def named(column: str) -> tuple[str, str, float]:
    """`goodput_bit_s` as `goodput`, `Mbit/s` and the factor to it."""
    for ending, unit, factor in _UNITS:
        if column.endswith(ending):
            return column.removesuffix(ending).replace("_", " "), unit, factor
    return column.replace("_", " "), "", 1.0


def counted(column: str) -> bool:
    """Whether no row means zero."""
    return column.endswith(("_packets", "_bytes")) or column in ("packets", "bytes")


def text(value: float) -> str:
    """Four digits; `-` for what is not known."""
    if math.isnan(value):
        return "-"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{value:.{max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0}f}"
    return f"{value:.3e}"


def estimate(value: Interval | None, factor: float = 1.0) -> str:
    """`3.500 ±0.113`; the mean alone without an interval."""
    if value is None or math.isnan(value.mean):
        return "-"
    mean = text(value.mean * factor)
    return mean if math.isnan(value.half) else f"{mean} ±{text(value.half * factor)}"
