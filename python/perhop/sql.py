"""DuckDB over tables in memory, and over packets at ports, `events.parquet`, which may be larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perhop import _core
from perhop.arguments import shown
from perhop.columns import Column, Columns, Point, Replication
from perhop.filters import Selection
from perhop.units import COLUMNS

if TYPE_CHECKING:
    import duckdb

EVENTS = "events"


def connect() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, one thread: with two, a float sum depends on the order of arrival."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    return connection


def asked(connection: duckdb.DuckDBPyConnection, query: str) -> Columns:
    """A query's answer: integers stay integers without nulls; a missing number is NaN, a missing text None.

    Raises:
        ValueError: the query is not SQL of these tables.
    """
    import duckdb

    try:
        found: duckdb.DuckDBPyConnection | None = connection.execute(query)
    except duckdb.Error as error:
        raise ValueError(f"query {shown(query)}: {error}") from error
    if found is None:
        raise ValueError(f"query {shown(query)} asks for nothing")
    return {name: _plain(column) for name, column in found.fetchnumpy().items()}


def _plain(column: Any) -> Column:
    if not isinstance(column, np.ma.MaskedArray):
        return np.asarray(column)
    mask = np.ma.getmaskarray(column)
    if not mask.any():
        return np.asarray(column.data)
    if column.dtype.kind in "iufb":
        return np.where(mask, np.nan, column.data.astype(np.float64))
    plain = np.asarray(column.data).astype(object)
    plain[mask] = None
    return plain


@dataclass(frozen=True)
class Traced:
    """Packets at ports, of runs of which some rows are kept."""

    points: Sequence[Point]
    replications: Sequence[Replication]
    kept: Selection


def traced(points: Sequence[Point], replications: Sequence[Replication], kept: Selection) -> Traced:
    """Of the replications that have packets at ports."""
    having = [r for r in replications if r.directory is not None and (r.directory / f"{EVENTS}.parquet").is_file()]
    return Traced(points, having, kept)


def register(connection: duckdb.DuckDBPyConnection, of: Traced) -> None:
    """A view `events` of all rows: the swept keys, `point` and `replication` first.

    Raises:
        ValueError: when a file is damaged.
    """
    import duckdb

    selects = [_select(of, r) for r in of.replications]
    try:
        connection.execute(f"create view {EVENTS} as {' union all '.join(selects)}")
    except duckdb.Error as error:
        broken = next((r for r in of.replications if not _readable(connection, r)), None)
        if broken is None:
            raise
        raise ValueError(_core.damaged(str(broken.directory), f"{EVENTS}.parquet cannot be read")) from error


def events(of: Traced, where: str | None, columns: Sequence[str] | None) -> Columns:
    """Packets at ports as columns.

    Raises:
        ValueError: when there are none, or a file is damaged.
    """
    if not of.replications:
        raise ValueError(
            "these runs have no events: run with `--trace events`, or `run(out=DIRECTORY, events=True)`, "
            "which writes them to events.parquet"
        )
    if columns is not None and not len(columns):
        raise ValueError("columns = []: name at least one, or leave it out for all")
    chosen = "*" if columns is None else ", ".join(_name(column) for column in columns)
    with connect() as connection:
        register(connection, of)
        condition = f" where {where}" if where else ""
        return asked(connection, f"select {chosen} from {EVENTS}{condition}")


def _select(of: Traced, replication: Replication) -> str:
    labels = [f"{text(value)} as {_name(key)}" for key, value in of.points[replication.point].labels.items()]
    numbers = [f"{replication.point}::bigint as point", f"{replication.replication}::bigint as replication"]
    own = [column for table, column in COLUMNS if table == EVENTS]
    rows = " and ".join(_one_of(column, of.kept[column]) for column in own if column in of.kept)
    return (
        f"select {', '.join(labels + numbers + list(map(_name, own)))} from {_file(replication)} where {rows or 'true'}"
    )


def _one_of(column: str, values: Sequence[str]) -> str:
    return f"{_name(column)}::varchar in ({', '.join(map(text, values))})"


def _file(replication: Replication) -> str:
    path = Path(replication.directory or "") / f"{EVENTS}.parquet"
    return f"read_parquet({text(_core.utf8(path))}, hive_partitioning = false)"


def _readable(connection: duckdb.DuckDBPyConnection, replication: Replication) -> bool:
    import duckdb

    try:
        connection.execute(f"select 1 from {_file(replication)} limit 0")
    except duckdb.Error:
        return False
    return True


def text(value: str) -> str:
    """As SQL states it."""
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
