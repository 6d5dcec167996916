"""`plot --y TABLE.COLUMN --x KEY --by KEYS`: any column of a table, along any key, a line for each value of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from perhop import measured, show, units
from perhop.columns import Group, Values, short
from perhop.plots import grid, style
from perhop.plots.axis import Axis, named, numeric_axis, x_axis
from perhop.plots.grid import Quantity, Rows
from perhop.plots.points import LARGEST
from perhop.plots.sheet import Sheet, telling
from perhop.plots.style import Figure
from perhop.results import Results
from perhop.units import Column

MOST_NAMES = 80


@dataclass(frozen=True)
class Choice:
    """What to draw: names as the user gave them."""

    y: str
    x: str | None = None
    by: Sequence[str] = ()


@dataclass(frozen=True)
class Roles:
    """What each key is used for; keys that are in none of them are summed over."""

    x: str
    lines: list[str]
    panels: list[str]

    @property
    def keys(self) -> list[str]:
        """All of them."""
        return [self.x, *self.lines, *self.panels]


def titled(choice: Choice) -> str:
    """`delay p99 along cir, by class: ..`."""
    table, _, name = choice.y.partition(".")
    column = units.COLUMNS.get((table, name))
    along = f" along {short(choice.x)}" if choice.x else ""
    by = f", by {' and '.join(map(short, choice.by))}" if choice.by else ""
    return f"{column.words if column else choice.y}{along}{by}: mean and 95 % interval"


def chosen(runs: Results, choice: Choice, sheet: Sheet) -> Figure:
    """The plot of a choice.

    Raises:
        ValueError: for a table, a column or a key that this run does not have, or too many panels or lines.
    """
    column = _column(runs, choice.y)
    roles = _roles(runs, column, choice)
    cells = _cells(runs, column, roles.keys)
    means = (abs(found.mean) for values in cells.values() if (found := measured.known(column, values)))
    scale = column.scaled(max(means, default=0.0))
    quantity = Quantity(units.headed(runs.points, column, scale.unit), cells, column, scale.factor)
    names = [group[0] for group in cells]
    axis = numeric_axis(roles.x, names) or named(roles.x, names)
    chart = _chart(axis, roles, quantity)
    _refuse_unreadable(axis, roles, quantity, sheet)
    figure = grid.draw(axis, [quantity], [chart], sheet)
    style.legend(figure, ", ".join(short(key) for key in roles.lines), sheet)
    return figure


def _refuse_unreadable(axis: Axis, roles: Roles, quantity: Quantity, sheet: Sheet) -> None:
    """Raises an error for more lines, panels or names than can be told apart, with a command for the largest."""
    first = 1 + len(roles.lines)
    parts = [Part("lines", slice(1, first), roles.lines, grid.MOST_LINES)]
    parts += [Part("panels", slice(first, None), roles.panels, grid.MOST_PANELS)]
    parts += [] if axis.key else [Part("names along x", slice(0, 1), [roles.x], MOST_NAMES)]
    for part in parts:
        worth: dict[Group, float] = {}
        for group, values in quantity.values.items():
            if known := quantity.known(values):
                worth[group[part.at]] = max(worth.get(group[part.at], known.mean), known.mean)
        if len(worth) > part.most:
            _, left = telling(worth, part.keys, part.most, LARGEST)
            raise sheet.refuse(
                f"{len(worth)} {part.what} are too many to read: a picture has {part.most} at most", left
            )


class Part(NamedTuple):
    """Of the groups of a quantity: what one part of each is drawn as, and how many of those can be read."""

    what: str
    at: slice
    keys: Sequence[str]
    most: int


def listed(runs: Results) -> list[str]:
    """Every `TABLE.COLUMN` of a run."""
    return [f"{name}.{column}" for name in units.KEYS if name in runs.tables for column in _numbers(name)]


def _column(runs: Results, y: str) -> Column:
    table, _, column = y.partition(".")
    if table not in units.KEYS or table not in runs.tables:
        tables = ", ".join(name for name in units.KEYS if name in runs.tables)
        raise ValueError(f"{y}: write TABLE.COLUMN with TABLE one of {tables}")
    columns = _numbers(table)
    if column not in columns:
        raise ValueError(f"{y}: no such column{show.near(column, columns)}; `{table}` has {', '.join(columns)}")
    return units.COLUMNS[table, column]


def _numbers(table: str) -> list[str]:
    of_table = (column for column in units.COLUMNS.values() if column.table == table)
    return [column.name for column in of_table if column.role not in ("key", "label")]


def _roles(runs: Results, column: Column, choice: Choice) -> Roles:
    every = [*runs.keys, *units.KEYS[column.table]]
    lines = [_key(every, f"by {name}", name) for name in choice.by]
    x = _key(every, f"x {choice.x}", choice.x) if choice.x else _default(runs, every, lines)
    if x in lines:
        raise ValueError(f"by {short(x)}: `{short(x)}` already runs along x")
    rest = [key for key in every if key not in (x, *lines)]
    if not choice.by:
        return Roles(x, rest, [])
    summed = units.KEYS[column.table] if column.role == "count" else ()
    return Roles(x, lines, [key for key in rest if key not in summed])


def _key(every: Sequence[str], option: str, name: str) -> str:
    found = [key for key in every if name in (key, short(key))]
    if len(found) != 1:
        names = ", ".join(short(key) if not found else key for key in every)
        raise ValueError(f"{option}: {'several keys end so' if found else 'no such key'}; there are {names}")
    return found[0]


def _default(runs: Results, every: Sequence[str], lines: Sequence[str]) -> str:
    """The swept numbers, else the first key that is not drawn as lines."""
    numbers = x_axis(runs).key
    free = [key for key in every if key not in lines]
    if not free:
        raise ValueError(f"`by` names every key, and x needs one of them: {', '.join(map(short, every))}")
    return numbers if numbers in free else free[0]


def _cells(runs: Results, column: Column, keys: Sequence[str]) -> dict[Group, Values]:
    """Summed over what is not named, or the one row of a replication."""
    if column.role == "count":
        return runs.totals(column.table, column.name, by=keys)
    return runs.values(column.table, column.name, by=keys, missing=column.missing)


def _chart(axis: Axis, roles: Roles, quantity: Quantity) -> grid.Chart:
    first = 1 + len(roles.lines)
    found: Rows = {}
    several = len({group[first:] for group in quantity.values}) > 1
    for group, values in quantity.values.items():
        keys = zip(roles.panels, group[first:], strict=True)
        panel = ", ".join(f"{short(key)} {name}" for key, name in keys if several or key != "flow")
        line = found.setdefault((panel, ", ".join(group[1:first])), [])
        if (estimate := quantity.known(values)) is not None:
            line.append((axis.numbers[group[0]], estimate))
    chart: grid.Chart = {}
    for (panel, name), points in found.items():
        if points:
            chart.setdefault(panel, {})[name] = sorted(points, key=lambda point: point[0])
    if not chart:
        raise ValueError("nothing to show: this quantity is unknown in every row")
    return chart
