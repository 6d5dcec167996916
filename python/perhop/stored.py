"""Run directories on disk: `<run>/<point>-<hash>/rep-003/{manifest.json, *.parquet}`, read through DuckDB."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from perhop.results import Columns, Point, Replication, Runs

MANIFEST = "manifest.json"


def connect() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, one thread: with two, a float sum depends on who comes first."""
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    return connection


def columns_of(relation: duckdb.DuckDBPyConnection) -> Columns:
    """A query's answer: integers stay integers without nulls; a missing number is NaN, a missing text None."""
    return {name: _plain(column) for name, column in relation.fetchnumpy().items()}


def _plain(column: Any) -> Any:
    if not isinstance(column, np.ma.MaskedArray):
        return column
    if not column.mask.any():
        return column.data
    if column.dtype.kind in "iufb":
        return column.astype(np.float64).filled(np.nan)
    plain = column.data.astype(object)
    plain[column.mask] = None
    return plain


def read(directory: Path) -> Runs:
    """All finished replications below a directory.

    Raises:
        FileNotFoundError: when there are none, or no such directory.
        ValueError: when they belong to different scenarios or seeds, or a file is damaged.
    """
    if not directory.is_dir():
        raise FileNotFoundError(f"{directory} is not a directory: name one that `perhop run` has written, runs/NAME")
    manifests = [json.loads(path.read_text()) | {"path": path.parent} for path in sorted(directory.rglob(MANIFEST))]
    if not manifests:
        raise FileNotFoundError(f"no finished replication below {directory}: `perhop run` writes runs/NAME")
    name, seed = _one(manifests, "scenario", directory), _one(manifests, "seed", directory)
    points = {m["point_hash"]: _point(m) for m in manifests}
    index = {key: i for i, key in enumerate(points)}
    with connect() as connection:
        replications = [
            Replication(index[m["point_hash"]], m["replication"], m["result_hash"], tables(connection, m["path"]))
            for m in manifests
        ]
    replications.sort(key=lambda r: (r.point, r.replication))
    return Runs(str(name), int(seed), list(points.values()), replications, directory)


def tables(connection: duckdb.DuckDBPyConnection, replication: Path) -> dict[str, Columns]:
    """All tables of one replication's directory."""
    found = {}
    for path in sorted(replication.glob("*.parquet")):
        try:
            found[path.stem] = columns_of(connection.execute("SELECT * FROM read_parquet(?)", [str(path)]))
        except duckdb.Error as error:
            raise ValueError(f"{path} cannot be read: {error}. Remove {replication} and run again") from error
    return found


def _point(manifest: dict[str, Any]) -> Point:
    return Point(dict(manifest["labels"]), manifest["point"], manifest["point_hash"], manifest.get("settings", {}))


def _one(manifests: list[dict[str, Any]], key: str, directory: Path) -> object:
    found = sorted({m[key] for m in manifests})
    if len(found) > 1:
        listed = ", ".join(str(value) for value in found)
        raise ValueError(f"{directory} holds runs of more than one {key} ({listed}): name one run's directory")
    return found[0]
