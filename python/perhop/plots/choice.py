"""`plot --y TABLE.COLUMN --x KEY --by KEYS`: any column of a table, along any key, a line for each value of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perhop import measured, show, units
from perhop.columns import Group, Values, short
from perhop.plots import grid, style
from perhop.plots.axis import Axis, named, numeric_axis, x_axis
from perhop.plots.grid import Quantity, Rows
from perhop.plots.style import Figure
from perhop.results import Results
from perhop.units import Column


@dataclass(frozen=True)
class Choice:
    """What to draw: names as the user gave them."""

    y: str
    x: str | None = None
    by: Sequence[str] = ()

    @property
    def title(self) -> str:
        """Of the picture."""
        along = f" along {self.x}" if self.x else ""
        return f"{self.y}{along}{' by ' if self.by else ''}{', '.join(self.by)}: mean and 95 % interval"


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


def chosen(runs: Results, choice: Choice) -> Figure:
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
    figure = grid.draw(axis, [quantity], [_chart(axis, roles, quantity)])
    style.legend(figure, ", ".join(short(key) for key in roles.lines))
    return figure


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
    for group, values in quantity.values.items():
        panel = ", ".join(f"{short(key)} {name}" for key, name in zip(roles.panels, group[first:], strict=True))
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
