"""Queries: DuckDB over tables in memory and files on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from perhop.arguments import shown
from perhop.columns import Column, Columns

if TYPE_CHECKING:
    import duckdb


def connect() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, one thread: with two, a float sum depends on the order of arrival."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    return connection


def columns_of(relation: duckdb.DuckDBPyConnection) -> Columns:
    """A query's answer: integers stay integers without nulls; a missing number is NaN, a missing text None."""
    return {name: _plain(column) for name, column in relation.fetchnumpy().items()}


def asked(connection: duckdb.DuckDBPyConnection, query: str) -> Columns:
    """A query's answer as columns.

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
    return columns_of(found)


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
