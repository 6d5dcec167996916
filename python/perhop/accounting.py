"""Which bytes results count, `l1` for instance: named in headings wherever it is not IP packets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from perhop import in_force
from perhop.columns import Point
from perhop.units import Column

KEY = "scenario.accounting"
IP = "l3"


def unit(points: Sequence[Point]) -> str:
    """What all points count; nothing if it is IP packets, or if they differ, as along a sweep whose key says it."""
    stated = {_of(point.effective) for point in points if point.effective}
    return stated.pop() if len(stated) == 1 and stated != {IP} else ""


@cache
def _of(effective: str) -> str:
    return in_force.settings(effective).get(KEY, IP)


def named(points: Sequence[Point], label: str) -> str:
    """The heading of what is counted so: `delivered (l1)`."""
    counted = unit(points)
    return f"{label} ({counted})" if counted else label


def headed(points: Sequence[Point], column: Column, unit: str) -> str:
    """The heading of a column that is shown in a unit: `delivered (l1), Mbit/s`."""
    words = named(points, column.words) if column.accounted else column.words
    return f"{words}, {unit}" if unit and unit != column.words else words
