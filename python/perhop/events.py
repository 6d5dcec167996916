"""Packets at ports, `events.parquet`: read by DuckDB where they are asked for, since they may be larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perhop import _core
from perhop.columns import Columns, Point, Replication
from perhop.sql import asked, connect

if TYPE_CHECKING:
    import duckdb

NAME = "events"


def having(replications: Sequence[Replication]) -> list[Replication]:
    """Those that have them."""
    return [r for r in replications if r.directory is not None and (r.directory / f"{NAME}.parquet").is_file()]


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
        connection.execute(f"create view {NAME} as {' union all '.join(selects)}")
    except duckdb.Error as error:
        broken = next((r for r in replications if not _readable(connection, r)), None)
        if broken is None:
            raise
        raise ValueError(_core.damaged(str(_directory(broken)), f"{NAME}.parquet cannot be read")) from error


def read(
    points: Sequence[Point], replications: Sequence[Replication], where: str | None, columns: Sequence[str] | None
) -> Columns:
    """Rows as columns.

    Raises:
        ValueError: when there are none, or a file is damaged.
    """
    kept = having(replications)
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
        return asked(connection, f"select {chosen} from {NAME}{condition}")


def _select(point: Point, replication: Replication) -> str:
    labels = [f"{_text(value)} as {_name(key)}" for key, value in point.labels.items()]
    numbers = [f"{replication.point}::bigint as point", f"{replication.replication}::bigint as replication"]
    return f"select {', '.join(labels + numbers)}, * from {_file(replication)}"


def _file(replication: Replication) -> str:
    return f"read_parquet({_text(str(_directory(replication) / f'{NAME}.parquet'))}, hive_partitioning = false)"


def _directory(replication: Replication) -> Path:
    if replication.directory is None:
        raise ValueError("a run in memory has no events")
    return replication.directory


def _readable(connection: duckdb.DuckDBPyConnection, replication: Replication) -> bool:
    import duckdb

    try:
        connection.execute(f"select 1 from {_file(replication)} limit 0")
    except duckdb.Error:
        return False
    return True


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
