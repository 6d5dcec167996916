"""Reading quantities off the tables of one replication: groups of rows, their sums and means.

    sums(tables["summary"], "dropped_packets", by=("hop", "colour"), where={"class": "web"})

gives the packets dropped by hop and colour. `by` names columns, or what to make of each one's values, as in
`{"hop": source, "colour": str}`: one name gives keys that are its values, else they are tuples.
`where` has for each column that matters a value, or a test of values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from perhop import stats

Columns = Mapping[str, Any]
Tables = Mapping[str, Columns]
By = str | tuple[str, ...] | Mapping[str, Callable[[Any], Hashable]]
Where = Mapping[str, Hashable | Callable[[Any], bool]]


def real(value: Any) -> float:
    """A cell of a table as a number; NaN if it is missing."""
    return float("nan") if value is None else float(value)


def groups(table: Columns, column: str, by: By = (), where: Where | None = None) -> dict[Any, list[float]]:
    """The column's values in each group that has a row, in the table's order."""
    rows: Iterable[int] = range(len(table[column]))
    for name, wanted in (where or {}).items():
        cells, test = _cells(table, name), _test(wanted)
        rows = [i for i in rows if test(cells[i])]
    values, keys = _cells(table, column), _keys(table, by)
    found: dict[Any, list[float]] = {}
    for i in rows:
        found.setdefault(keys(i), []).append(real(values[i]))
    return found


def _keys(table: Columns, by: By) -> Callable[[int], Any]:
    """From a row to its group."""
    if isinstance(by, str):
        return _cells(table, by).__getitem__
    if isinstance(by, Mapping):
        made = [(_cells(table, name), make) for name, make in by.items()]
        return lambda i: tuple(make(cells[i]) for cells, make in made)
    named = [_cells(table, name) for name in by]
    return lambda i: tuple(cells[i] for cells in named)


def sums(table: Columns, column: str, by: By = (), where: Where | None = None) -> defaultdict[Any, float]:
    """The column summed over each group; a group without a row has zero."""
    return defaultdict(float, {key: sum(values) for key, values in groups(table, column, by, where).items()})


def means(table: Columns, column: str, by: By = (), where: Where | None = None) -> dict[Any, float]:
    """The column's mean in each group that has a row."""
    return {key: stats.mean(values) for key, values in groups(table, column, by, where).items()}


def total(table: Columns, column: str, where: Where | None = None) -> float:
    """The column summed over all rows that count."""
    return sums(table, column, (), where)[()]


def each(table: Columns, columns: Mapping[str, str], by: str) -> dict[str, float]:
    """For a table with one row a name: `name.quantity` for each quantity and its column."""
    return {
        f"{name}.{quantity}": value
        for quantity, column in columns.items()
        for name, value in sums(table, column, by).items()
    }


def _test(wanted: Any) -> Callable[[Any], bool]:
    return wanted if callable(wanted) else lambda cell: bool(cell == wanted)


def _cells(table: Columns, name: str) -> list[Any]:
    column = table[name]
    return column.tolist() if hasattr(column, "tolist") else list(column)
