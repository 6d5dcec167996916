"""Columns as people read them: the core says what each is and in which units it is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from perhop import _core, in_force
from perhop.columns import Point
from perhop.show import near
from perhop.unknown import UnknownKeyError


class Scale(NamedTuple):
    """A unit, and what values are multiplied by to be in it."""

    unit: str
    factor: float


@dataclass(frozen=True)
class Column:
    """A column of a table as it is declared."""

    table: str
    name: str
    key: int | None
    """Its place among those that identify the table's rows."""
    role: str
    words: str
    """What its quantity is called wherever it is printed."""
    unit: str
    steps: list[tuple[str, float]] = field(repr=False)
    """The units that it is shown in, in ascending order, with the factor to each."""
    usual: tuple[str, float]
    zero: bool
    """Whether no row means zero, not unknown."""
    accounted: bool
    """Whether it counts bytes as `accounting` says."""
    doc: str

    @property
    def summed(self) -> bool:
        """Whether the sum over rows means anything: counts have one, and rates of one stretch of time."""
        return self.role in ("count", "rate")

    @property
    def missing(self) -> float:
        """What a replication without a row has."""
        return 0.0 if self.zero else math.nan

    def scaled(self, largest: float) -> Scale:
        """The unit in which the largest of its values has one to three digits before its point."""
        if not 0 < largest < math.inf:
            return Scale(*self.usual)
        fitting = [Scale(*step) for step in self.steps if largest * step[1] >= 1]
        return fitting[-1] if fitting else Scale(*self.steps[0])


COLUMNS = {(found["table"], found["name"]): Column(**found) for found in _core.columns()}
"""Every column of results, by table and name."""

KEYS = {
    table: tuple(of.name for of in sorted(of_table, key=lambda of: of.key or 0))
    for table in dict.fromkeys(table for table, _ in COLUMNS)
    if (of_table := [of for of in COLUMNS.values() if of.table == table and of.key is not None])
}
"""What identifies the rows of a table; those of some have nothing that does."""

ACCOUNTING, IP = "scenario.accounting", "l3"

DELIVERED = COLUMNS["classes", "throughput_bit_s"]
LOST = COLUMNS["classes", "loss_percent"]
DELAY = COLUMNS["classes", "delay_p99_ms"]


def column(table: str, name: str) -> Column:
    """A column of results.

    Raises:
        KeyError: when there is no such column.
    """
    if (table, name) not in COLUMNS:
        names = [other for of, other in COLUMNS if of == table]
        raise UnknownKeyError(f"no column `{name}`: there are {', '.join(names)}{near(name, names)}")
    return COLUMNS[table, name]


def counted(points: Sequence[Point]) -> str:
    """Which bytes all points count, as `l1`; nothing if IP packets, or if they differ, as along a sweep of that key."""
    stated = {_accounting(point.effective) for point in points if point.effective}
    return stated.pop() if len(stated) == 1 and stated != {IP} else ""


@cache
def _accounting(effective: str) -> str:
    return in_force.settings(effective).get(ACCOUNTING, IP)


def named(points: Sequence[Point], label: str) -> str:
    """The heading of what is counted so: `delivered (l1)`."""
    stated = counted(points)
    return f"{label} ({stated})" if stated else label


def headed(points: Sequence[Point], column: Column, unit: str) -> str:
    """The heading of a column that is shown in a unit: `delivered (l1), Mbit/s`."""
    words = named(points, column.words) if column.accounted else column.words
    return f"{words}, {unit}" if unit and unit != column.words else words
