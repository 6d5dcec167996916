"""Results of runs as columns: every replication of every point, in memory or read from Parquet directories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from perhop import _core, filters, measured, sql, stats, units
from perhop.arguments import WORDS, checked
from perhop.columns import COLOURS, Column, Columns, Group, Point, Replication, Run, Values, point, replication, short
from perhop.filters import Conditions, Selection
from perhop.frames import Frame
from perhop.show import near
from perhop.storage import here
from perhop.units import COLUMNS
from perhop.unknown import UnknownKeyError

Fold = Callable[[Group, list[float]], float]
R = TypeVar("R", bound="Results")


@dataclass(frozen=True, repr=False)
class Results:
    """All replications of all points of one scenario, ordered by point and replication."""

    name: str
    seed: int
    points: list[Point]
    replications: list[Replication]
    settings: dict[str, Any] = field(default_factory=dict)
    """`[scenario]` with every effective value, times in seconds."""
    notes: list[str] = field(default_factory=list)
    """What a reader of these results should know: what was skipped in a directory that holds several runs."""
    _where: Selection = field(default_factory=dict, repr=False)
    """Of which rows these are; what is in the replications is always everything."""
    _tables: dict[str, Frame] = field(default_factory=dict, repr=False, compare=False)
    _named_values: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    """By column the values there are."""
    _pools: bool = field(default=False, repr=False, compare=False)
    _unread: str | None = field(default=None, repr=False, compare=False)
    """Why a point has no table `classes`: that is made of its scenario in force."""

    @classmethod
    @checked
    def open(cls, directory: str | os.PathLike[str]) -> Self:
        """Reads a run's directory: a scenario's, a point's or a replication's, or an address as `s3://bucket/runs/NAME`."""
        found = _core.opened(str(here(os.fspath(directory))))
        points, replications = map(point, found["points"]), map(replication, found["replications"])
        settings = found["settings"]
        return cls(
            settings["name"],
            settings["seed"],
            list(points),
            list(replications),
            settings,
            found["notes"],
            _unread=found["unread"],
        )

    @property
    def keys(self) -> list[str]:
        """The swept keys."""
        return list(self.points[0].labels) if self.points else []

    @property
    def tables(self) -> list[str]:
        """Names of the available tables."""
        return list(dict.fromkeys(name for r in self.replications for name in r.tables))

    @checked
    def table(self, name: str) -> Frame:
        """All rows of a table: the swept keys, `point` and `replication` first, then its own columns.

        Raises:
            KeyError: when there is no such table; the message names those there are.
        """
        if name not in self._tables:
            if name not in self.tables:
                if name == "classes" and self._unread is not None:
                    raise UnknownKeyError(f"no table `classes` here: {self._unread}")
                raise UnknownKeyError(
                    f"no table `{name}` here: there are {', '.join(self.tables)}{near(name, self.tables)}"
                )
            rows = self._joined(name)
            keep = filters.fitting(rows, self._where)
            self._tables[name] = Frame(rows if keep.all() else {of: column[keep] for of, column in rows.items()})
        return self._tables[name]

    def _joined(self, name: str) -> Columns:
        having = [r for r in self.replications if name in r.tables]
        rows = [len(next(iter(r.tables[name].values()), ())) for r in having]
        labels = [self.points[r.point].labels for r in having]
        out: Columns = {key: np.repeat(np.array([at[key] for at in labels], dtype=object), rows) for key in self.keys}
        out["point"] = np.repeat(np.array([r.point for r in having], dtype=np.int64), rows)
        out["replication"] = np.repeat(np.array([r.replication for r in having], dtype=np.int64), rows)
        for column in having[0].tables[name]:
            out[column] = np.concatenate([r.tables[name][column] for r in having])
        return out

    @checked
    def values(
        self,
        table: str,
        column: str,
        where: Conditions | None = None,
        by: str | Sequence[str] = (),
        missing: float | None = None,
    ) -> dict[Group, Values]:
        """For each group of `by`, in order of appearance, the column's value in each replication.

        `by` and `where` name columns or swept keys (their last part will do); a group's key is a tuple of texts.
        `where` takes what the method `where` takes, of columns those of this table.
        `missing` is the value for a replication that has no row of the group.

        Raises:
            ValueError: when a group has several rows in a replication, or none and `missing` is not given; when it has
                several points, unless these runs are `pooled`; when nothing is called as `where` says.
        """
        return self._folded(self._cells(table, column, where, by), _one(f"{table}.{column}", missing))

    @checked
    def totals(
        self, table: str, column: str, where: Conditions | None = None, by: str | Sequence[str] = ()
    ) -> dict[Group, Values]:
        """As `values`, summed over the rows of a group; a replication without a row counts as zero.

        Raises:
            ValueError: also for a column whose sum means nothing: a quantile, a mean, a share.
        """
        cells = self._cells(table, column, where, by)
        if not units.column(table, column).summed:
            raise ValueError(
                f"{table}.{column} cannot be summed over rows: counts and rates can; "
                "narrow it to one row with where= or by= and use values() or means()"
            )
        return self._folded(cells, lambda _group, rows: stats.total(rows))

    @checked
    def means(
        self, table: str, column: str, where: Conditions | None = None, by: str | Sequence[str] = ()
    ) -> dict[Group, stats.Interval]:
        """As `values`, with the mean and 95 % interval over the replications of each group.

        The interval of a quantile is at least as wide as its buckets, that of a share or an index ends at its bounds.
        """
        found = self.values(table, column, where, by)
        of = units.column(table, column)
        return {group: measured.interval(of, values) for group, values in found.items()}

    def pooled(self) -> Self:
        """The same, for `values`, `means` and `totals` over all points of a sweep that `by` does not tell apart."""
        return replace(self, _pools=True)

    def _refuse_pooled(self, cells: Mapping[Group, Mapping[Run, list[float]]]) -> None:
        """Raises an error if a group has several points of the sweep and was not asked to."""
        several = next((group for group, runs in cells.items() if len({run.point for run in runs}) > 1), None)
        if several is None or self._pools:
            return
        points = {run.point for run in cells[several]}
        differing = [key for key in self.keys if len({self.points[i].labels[key] for i in points}) > 1]
        names = ", ".join(map(short, differing)) or "point"
        where = f" for {', '.join(several)}" if several else ""
        raise ValueError(
            f"{len(points)} points of the sweep would be pooled{where}: "
            f"name {names} in by=, or one value in where=; pooled() pools them on purpose"
        )

    def _cells(
        self, table: str, column: str, where: Conditions | None, by: str | Sequence[str]
    ) -> dict[Group, dict[Run, list[float]]]:
        """For each group the values of each replication's rows."""
        columns = self.table(table)
        groups = [_texts(columns[self._key(columns, name)]) for name in ([by] if isinstance(by, str) else by)]
        measure = columns[self._key(columns, column)]
        cells: dict[Group, dict[Run, list[float]]] = {}
        kept = self._named(where, [table]) if where else {}
        for i in np.flatnonzero(filters.fitting(columns, kept)):
            run = Run(int(columns["point"][i]), int(columns["replication"][i]))
            group = tuple(texts[i] for texts in groups)
            cells.setdefault(group, {}).setdefault(run, []).append(float(measure[i]))
        return cells

    def _folded(self, cells: Mapping[Group, dict[Run, list[float]]], fold: Fold) -> dict[Group, Values]:
        """The rows of each replication of a group's points as one value."""
        self._refuse_pooled(cells)
        out = {}
        for group, runs in cells.items():
            points = {run.point for run in runs}
            order = [r.run for r in self.replications if r.point in points]
            out[group] = np.array([fold(group, runs.get(run, [])) for run in order], dtype=np.float64)
        return out

    def _named(self, conditions: Conditions, tables: Sequence[str]) -> Selection:
        """The keys in full with the values that are meant; a column is one of these tables'."""
        texts, swept = filters.texts(conditions), {key: self._labels(key) for key in self.keys}
        any_value = dict.fromkeys(column for name in tables for column in _naming(name))
        columns = [key for key in _core.where(texts, swept, any_value) if key in any_value]
        return _core.where(texts, swept, any_value | {column: self._values_of(column) for column in columns})

    def _labels(self, key: str) -> list[str]:
        return list(dict.fromkeys(point.labels[key] for point in self.points))

    def _values_of(self, column: str) -> list[str]:
        """All in any table, for a class may have no row in one of them; and every colour, for none may have one."""
        if column not in self._named_values:
            having = (self.table(name) for name in self.tables if column in _naming(name))
            found = chain(*(filters.named(table[column]) for table in having), COLOURS if column == "colour" else ())
            self._named_values[column] = list(dict.fromkeys(found))
        return self._named_values[column]

    def _key(self, columns: Columns, name: str) -> str:
        """A column's name, or the one swept key that ends with it."""
        if name in columns:
            return name
        ends = [key for key in self.keys if short(key) == name]
        if len(ends) == 1:
            return ends[0]
        raise UnknownKeyError(f"no column `{name}`: there are {', '.join(columns)}{near(name, columns)}")

    @checked
    def where(self, conditions: Conditions = (), /, **keys: object) -> Self:
        """The rows with these values: of swept keys (the last part of a key is enough) and of columns that name rows.

        `{"class": ["voice", "data"], "cir": "5Mbit/s"}`, keywords (`class_` is `class`), or texts as `--where`
        takes them. Points with other labels are left out; a table that has no such column stays whole.

        Raises:
            ValueError: for a key or a value that there is not, and when nothing is left.
        """
        texts = filters.texts(conditions) + filters.texts({key.removesuffix("_"): of for key, of in keys.items()})
        kept = filters.both(self._where, self._named(texts, self.tables))
        fits = [i for i, p in enumerate(self.points) if all(p.labels[k] in kept.get(k, p.labels[k]) for k in self.keys)]
        new = {old: i for i, old in enumerate(fits)}
        replications = [replace(r, point=new[r.point]) for r in self.replications if r.point in new]
        points = [self.points[i] for i in fits]
        narrowed = replace(self, points=points, replications=replications, _where=kept, **_fresh())
        if narrowed._is_empty():
            raise ValueError(_core.where_left_nothing(texts))
        return narrowed

    def _is_empty(self) -> bool:
        """Whether no point is left, or no row of any table that has all columns of the conditions."""
        columns = set(self._where) - set(self.keys)
        having = [name for name in self.tables if columns <= set(_naming(name))]
        return not self.points or (bool(having) and not any(self.table(name).rows for name in having))

    @property
    def narrowed(self) -> str:
        """Which rows of the runs these are, in words; empty if all."""
        return filters.worded({short(key): values for key, values in self._where.items()})

    def __iter__(self) -> Iterator[Replication]:
        return iter(self.replications)

    def __len__(self) -> int:
        return len(self.replications)


def _fresh() -> dict[str, Any]:
    """Of runs made from others: nothing joined yet, nothing pooled."""
    return {"_tables": {}, "_named_values": {}, "_pools": False}


def _naming(table: str) -> list[str]:
    """The columns whose values name a table's rows."""
    return [column.name for column in COLUMNS.values() if column.table == table and column.role in ("key", "label")]


WORDS[Results] = "a Runs"  # what users have of them


def _texts(column: Column) -> list[str]:
    return ["" if value is None else str(value) for value in column]


def _one(measure: str, missing: float | None) -> Fold:
    def fold(group: Group, rows: list[float]) -> float:
        if not rows and missing is not None:
            return missing
        if len(rows) != 1:
            where = f" for {', '.join(group)}" if group else ""
            raise ValueError(
                f"{measure}{where} has {len(rows)} rows in a replication, not one: "
                "narrow it with where= or by=, give a value for a missing one, or use totals()"
            )
        return rows[0]

    return fold


def with_every(runs: R, column: str) -> R:
    """The same with rows of every value of a column, whatever `where` kept."""
    return replace(runs, _where={key: kept for key, kept in runs._where.items() if key != column}, **_fresh())


def traced(runs: Results) -> sql.Traced:
    """Packets at the ports of those runs that have them on disk."""
    return sql.traced(runs.points, runs.replications, runs._where)


def opened(directories: Sequence[str | Path], where: Conditions = ()) -> Results:
    """The runs of several directories as one, with `run` (the directory) as a swept key if there are several."""
    every = [Results.open(directory) for directory in directories]
    runs = every[0] if len(every) == 1 else joined(dict(zip(map(str, directories), every, strict=True)))
    return runs.where(where) if where else runs


def joined(every: Mapping[str, R]) -> R:
    """Several runs as one, with `run` as a swept key in addition to theirs.

    Raises:
        ValueError: when they sweep different keys.
    """
    keys = {name: runs.keys for name, runs in every.items()}
    if len({tuple(swept) for swept in keys.values()}) > 1:
        raise ValueError(f"these runs sweep different keys and cannot share one plot: {keys}")
    points: list[Point] = []
    replications: list[Replication] = []
    for name, runs in every.items():
        first = len(points)
        points += [replace(point, labels={"run": name} | point.labels) for point in runs.points]
        replications += [replace(r, point=first + r.point, directory=None) for r in runs]
    one, names = next(iter(every.values())), dict.fromkeys(runs.name for runs in every.values())
    name, notes = " and ".join(names), [note for runs in every.values() for note in runs.notes]
    unread = next((runs._unread for runs in every.values() if runs._unread is not None), None)
    return replace(one, name=name, points=points, replications=replications, notes=notes, _unread=unread, **_fresh())
