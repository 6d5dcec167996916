"""Tables as data frames, with a swept key's values as numbers beside their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from types import MappingProxyType
from typing import Any

import numpy as np

from perhop import _core, in_force, printed, show
from perhop.arguments import checked
from perhop.columns import Column, Group, Point, short
from perhop.stats import Interval
from perhop.unknown import UnknownKeyError

ENGINES = ("pandas", "polars")


class Frame(dict[str, Column]):
    """A table: NumPy columns by name, all of one length."""

    def __init__(
        self, columns: Mapping[str, Column] = MappingProxyType({}), units: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(columns)
        self.units = dict(units or {})
        """Of columns whose names do not end with their unit."""
        self._spare: list[str] = []
        """Columns that say in numbers what those before them say in words."""

    def __missing__(self, name: str) -> Column:
        """A swept key by its last part, as it may be printed.

        Raises:
            KeyError: when no column is called so; the message names those there are.
        """
        ends = [key for key in self if "." in key and short(key) == name]
        if len(ends) == 1:
            return self[ends[0]]
        near = show.near(str(name), [*self, *map(short, self)])
        raise UnknownKeyError(f"no column `{name}`: there are {', '.join(self)}{near}")

    @property
    def rows(self) -> int:
        """How many."""
        return len(next(iter(self.values()), ()))

    @checked
    def df(self, engine: str | None = None) -> Any:
        """As a data frame of pandas or polars; by default of the first of them that is installed.

        Raises:
            ValueError: for another engine.
            ModuleNotFoundError: when it is not installed.
        """
        chosen = _engine(engine)
        library = import_module(chosen)
        if chosen == "pandas":
            return library.DataFrame(dict(self))
        plain = {name: column.tolist() if column.dtype == object else column for name, column in self.items()}
        return library.DataFrame(plain, nan_to_null=True)

    def __repr__(self) -> str:
        """As a table."""
        return printed.table(self, self._headings, self._spare) if self else "Frame without columns"

    @property
    def _headings(self) -> dict[str, str]:
        return {name: " ".join(filter(None, (name, self.units.get(name)))) for name in self}

    def _repr_html_(self) -> str:
        kept = [[column[i] for column in self.values()] for i in range(min(self.rows, show.ROWS))]
        return show.table(list(self._headings.values()), kept) + (
            show.note(f"{show.ROWS} of {self.rows} rows") if self.rows > show.ROWS else ""
        )


@dataclass(frozen=True)
class Numbers:
    """A swept key whose values are all quantities of one kind."""

    key: str
    ending: str
    """Of a column's name: the unit, `bit_s`, or nothing."""
    values: dict[str, float]
    """By label."""

    def column(self, taken: Iterable[str]) -> str:
        """`cir_bit_s`, from the last part of the key; from all of it if that is taken."""
        last, whole = ("_".join(filter(None, (_plain(key), self.ending))) for key in (short(self.key), self.key))
        return whole if last in taken else last


def _engine(wanted: str | None) -> str:
    if wanted is not None and wanted not in ENGINES:
        raise ValueError(f"no engine `{wanted}`: there are {', '.join(ENGINES)}")
    chosen = next((name for name in ENGINES if wanted in (None, name) and util.find_spec(name)), None)
    if chosen is None:
        missing = f"{wanted} is not installed" if wanted else "neither pandas nor polars is installed"
        raise ModuleNotFoundError(f"{missing}: pip install {wanted or 'pandas'}")
    return chosen


def numeric(points: Sequence[Point]) -> list[Numbers]:
    """The swept keys that are numbers, by their labels or else by what is in force at each point."""
    keys = list(points[0].labels) if points else []
    return [found for key in keys if (found := _numbers(points, key))]


def _numbers(points: Sequence[Point], key: str) -> Numbers | None:
    labels = [point.labels[key] for point in points]
    read = _quantities(labels) or _quantities(in_force.settings(p.effective).get(key, "") for p in points)
    return Numbers(key, read[0], dict(zip(labels, read[1], strict=True))) if read else None


def _quantities(texts: Iterable[str]) -> tuple[str, list[float]] | None:
    """The ending that all have, and their values in base units; nothing after the first that is not a quantity."""
    values, endings = list[float](), set[str]()
    for text in texts:
        read = _core.quantity(text)
        if read is None or len(endings | {read[1]}) > 1:
            return None
        values.append(read[0])
        endings.add(read[1])
    return (endings.pop(), values) if endings else None


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name).strip("_")


def with_numbers(table: Frame, points: Sequence[Point]) -> Frame:
    """A table with the numbers of its swept keys beside their labels."""
    axes = {axis.key: axis for axis in numeric(points)}
    ends = [axis.column(()) for axis in axes.values()]
    taken = {*table, *(name for name in ends if ends.count(name) > 1)}
    out = Frame(units=table.units)
    for name, column in table.items():
        out[name] = column
        if axis := axes.get(name):
            out._spare.append(axis.column(taken))
            out[axis.column(taken)] = np.array([axis.values[label] for label in column], dtype=np.float64)
    return out


def of_intervals(by: Sequence[str], found: Mapping[Group, Interval], unit: str) -> Frame:
    """Groups and their means, half the width and the ends of the 95 % interval, and how many replications it is of."""
    texts = {name: np.array([group[i] for group in found], dtype=object) for i, name in enumerate(by)}
    each = found.values()
    parts = {"mean": [x.mean for x in each], "half_width": [x.half for x in each]}
    parts |= {"low": [x.low for x in each], "high": [x.high for x in each]}
    numbers = {name: np.array(values, dtype=np.float64) for name, values in parts.items()}
    return Frame(texts | numbers | {"n": np.array([x.n for x in each], dtype=np.int64)}, dict.fromkeys(numbers, unit))
