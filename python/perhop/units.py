"""Columns as people read them: the unit is the end of a column's name."""

from __future__ import annotations

import math
from typing import Protocol


class Estimate(Protocol):
    """A mean and half the width of its interval; NaN if unknown."""

    @property
    def mean(self) -> float: ...  # noqa: D102
    @property
    def half(self) -> float: ...  # noqa: D102


KEYS = {
    "traffic": ("traffic",),
    "arrivals": ("class", "colour"),
    "flows": ("traffic", "flow"),
    "summary": ("hop", "class", "colour"),
    "conditioners": ("hop", "conditioner", "colour_in", "colour_out"),
    "queues": ("hop", "queue"),
    "tallies": ("hop", "conditioner", "quantity"),
    "links": ("hop",),
}
"""What identifies the rows of a table."""

_UNITS = (("_bit_s", "Mbit/s", 1e-6), ("_ms", "ms", 1.0), ("_bytes", "B", 1.0), ("_packets", "packets", 1.0))


ROUNDING = 1e-12
"""Relative spread of equal values that is due to arithmetic alone."""


def named(column: str) -> tuple[str, str, float]:
    """`goodput_bit_s` as `goodput`, `Mbit/s` and the factor to it."""
    for ending, unit, factor in _UNITS:
        if column.endswith(ending):
            return column.removesuffix(ending).replace("_", " "), unit, factor
    return column.replace("_", " "), "", 1.0


def counted(column: str) -> bool:
    """Whether no row means zero."""
    return column.endswith(("_packets", "_bytes")) or column in ("packets", "bytes")


def text(value: float, uncertainty: float = math.nan) -> str:
    """Four digits, or as many as an uncertainty's second; `-` for unknown values."""
    if math.isnan(value):
        return "-"
    size, digits = (abs(value), 3) if math.isnan(uncertainty) or uncertainty == 0 else (uncertainty, 1)
    if max(abs(value), size) >= 1e7 or 0 < size < 1e-4:
        return f"{value:.3e}"
    return f"{value:.{max(0, digits - math.floor(math.log10(size))) if size else 0}f}"


def estimate(value: Estimate | None, factor: float = 1.0) -> str:
    """`3.50 ±0.11`; the mean alone without an interval."""
    if value is None or math.isnan(value.mean):
        return "-"
    mean, half = value.mean * factor, value.half * factor
    if half < ROUNDING * abs(mean):
        half = 0.0
    return text(mean) if math.isnan(half) else f"{text(mean, half)} ±{text(half, half)}"
