"""Run directories on disk, `<run>/<point>-<hash>/rep-003/{manifest.json, *.parquet}`, read through DuckDB."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from perhop import _core
from perhop.columns import Column, Columns, Point, Replication

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Stored:
    """One replication's directory."""

    path: Path
    manifest: dict[str, Any]
    written: float

    @property
    def labels(self) -> dict[str, str]:
        """Swept keys and their values."""
        return dict(self.manifest["point"])

    @property
    def batch(self) -> tuple[Any, ...]:
        """What all replications of one sweep share."""
        return (self.manifest["seed"], *self.labels)


@dataclass(frozen=True)
class Kept:
    """A directory's results for one scenario, ordered by point and replication."""

    name: str
    seed: int
    points: list[Point]
    replications: list[Replication]
    settings: dict[str, Any]
    """`[scenario]` with every effective value, times in seconds."""
    notes: list[str]
    """What was skipped."""


def connect() -> duckdb.DuckDBPyConnection:
    """An empty database in memory, one thread: with two, a float sum depends on the order of arrival."""
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    return connection


def columns_of(relation: duckdb.DuckDBPyConnection) -> Columns:
    """A query's answer: integers stay integers without nulls; a missing number is NaN, a missing text None."""
    return {name: _plain(column) for name, column in relation.fetchnumpy().items()}


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


def read(directory: Path) -> Kept:
    """The finished replications below a directory: the newest of several runs, as `notes` says.

    Raises:
        FileNotFoundError: when there are none, or no such directory.
        ValueError: when they belong to different scenarios, or a file is damaged.
    """
    every = found(directory)
    names = sorted({s.manifest["scenario"] for s in every})
    if len(names) > 1:
        raise ValueError(f"{directory} holds runs of several scenarios ({', '.join(names)}): name one of them")
    kept = newest(every)
    left_out = sorted({str(s.path.parent) for s in every} - {str(s.path.parent) for s in kept})
    notes = [f"{directory} holds several runs; the newest is taken, without {path}" for path in left_out]
    order = sorted({s.manifest["point_hash"]: s for s in kept}.values(), key=lambda s: _natural(s.labels.values()))
    points = [_point(s) for s in order]
    index = {point.hash: i for i, point in enumerate(points)}
    with connect() as connection:
        replications = [_replication(connection, s, index) for s in kept]
    replications.sort(key=lambda r: (r.point, r.replication))
    return Kept(names[0], kept[0].manifest["seed"], points, replications, settings(order[0]), notes)


def _point(stored: Stored) -> Point:
    manifest = stored.manifest
    return Point(stored.labels, stored.path.parent.name, manifest["point_hash"], manifest["effective"])


def found(directory: Path) -> list[Stored]:
    """All finished replications below a directory."""
    if not directory.is_dir():
        raise FileNotFoundError(f"{directory} is not a directory: name one that `perhop run` has written, runs/NAME")
    paths = [directory, *directory.rglob("rep-*")]
    stored = [_stored(p) for p in paths if re.fullmatch(r"rep-\d+", p.name) and (p / MANIFEST).is_file()]
    if not stored:
        raise FileNotFoundError(f"no finished replication below {directory}: `perhop run` writes runs/NAME")
    return stored


def _stored(path: Path) -> Stored:
    manifest = path / MANIFEST
    try:
        return Stored(path, json.loads(manifest.read_text(encoding="utf-8")), manifest.stat().st_mtime)
    except ValueError as error:
        raise ValueError(f"{manifest} cannot be read: {error}. Remove {path} and run again") from error


def newest(every: list[Stored]) -> list[Stored]:
    """Those of the newest seed and swept keys, with the newest version of each point."""
    last = max(every, key=lambda s: s.written)
    batch = [s for s in every if s.batch == last.batch]
    versions = {tuple(s.labels.items()): s for s in sorted(batch, key=lambda s: s.written)}
    hashes = {s.manifest["point_hash"] for s in versions.values()}
    return [s for s in batch if s.manifest["point_hash"] in hashes]


def settings(stored: Stored) -> dict[str, Any]:
    """`[scenario]` of the effective scenario in a manifest."""
    try:
        return _core.Scenario(stored.manifest["effective"], MANIFEST, [], []).settings
    except _core.ScenarioError as error:
        version = stored.manifest["perhop"]
        raise ValueError(
            f"{stored.path} was written by perhop {version}, this is {_core.__version__}:\n{error}"
        ) from error


def tables(connection: duckdb.DuckDBPyConnection, replication: Path) -> dict[str, Columns]:
    """All tables of one replication's directory."""
    read = {}
    for path in sorted(replication.glob("*.parquet")):
        try:
            read[path.stem] = columns_of(connection.execute("SELECT * FROM read_parquet(?)", [str(path)]))
        except duckdb.Error as error:
            raise ValueError(f"{path} cannot be read: {error}. Remove {replication} and run again") from error
    return read


def _replication(connection: duckdb.DuckDBPyConnection, stored: Stored, index: dict[str, int]) -> Replication:
    manifest = stored.manifest
    point, number = index[manifest["point_hash"]], manifest["replication"]
    return Replication(point, number, manifest["result_hash"], tables(connection, stored.path), reused=True)


def _natural(values: Iterable[str]) -> list[list[tuple[float, str]]]:
    """A sorting key by which 5 comes before 10."""
    parts = [re.split(r"(\d+(?:\.\d+)?)", value) for value in values]
    return [[(float(p), "") if p[:1].isdigit() else (-1.0, p) for p in split] for split in parts]
