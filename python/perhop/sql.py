"""DuckDB over tables in memory, and over packets at ports, `events.parquet`, which may be larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perhop import _core
from perhop.arguments import shown
from perhop.columns import Column, Columns, Point, Replication
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


def traced(replications: Sequence[Replication]) -> list[Replication]:
    """Those that have packets at ports."""
    return [r for r in replications if r.directory is not None and (r.directory / f"{EVENTS}.parquet").is_file()]


def register(
    connection: duckdb.DuckDBPyConnection, points: Sequence[Point], replications: Sequence[Replication]
) -> None:
    """A view `events` of all rows: the swept keys, `point` and `replication` first.

    Raises:
        ValueError: when a file is damaged.
    """
    import duckdb

    selects = [_select(points[r.point], r) for r in replications]
    try:
        connection.execute(f"create view {EVENTS} as {' union all '.join(selects)}")
    except duckdb.Error as error:
        broken = next((r for r in replications if not _readable(connection, r)), None)
        if broken is None:
            raise
        raise ValueError(_core.damaged(str(broken.directory), f"{EVENTS}.parquet cannot be read")) from error


def events(
    points: Sequence[Point], replications: Sequence[Replication], where: str | None, columns: Sequence[str] | None
) -> Columns:
    """Packets at ports as columns.

    Raises:
        ValueError: when there are none, or a file is damaged.
    """
    kept = traced(replications)
    if not kept:
        raise ValueError(
            "these runs have no events: run with `--trace events`, or `run(out=DIRECTORY, events=True)`, "
            "which writes them to events.parquet"
        )
    if columns is not None and not len(columns):
        raise ValueError("columns = []: name at least one, or leave it out for all")
    chosen = "*" if columns is None else ", ".join(_name(column) for column in columns)
    with connect() as connection:
        register(connection, points, kept)
        condition = f" where {where}" if where else ""
        return asked(connection, f"select {chosen} from {EVENTS}{condition}")


def _select(point: Point, replication: Replication) -> str:
    labels = [f"{text(value)} as {_name(key)}" for key, value in point.labels.items()]
    numbers = [f"{replication.point}::bigint as point", f"{replication.replication}::bigint as replication"]
    own = [_name(column) for table, column in COLUMNS if table == EVENTS]
    return f"select {', '.join(labels + numbers + own)} from {_file(replication)}"


def _file(replication: Replication) -> str:
    path = Path(replication.directory or "") / f"{EVENTS}.parquet"
    return f"read_parquet({text(str(path))}, hive_partitioning = false)"


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
