"""Results of runs as columns: every replication of every point, in memory or read from Parquet directories."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from perhop import _core, measured, stats, units
from perhop.arguments import WORDS, checked, shown
from perhop.columns import COLOURS, Column, Columns, Group, Point, Replication, Run, Values, point, replication, short
from perhop.frames import Frame
from perhop.show import near
from perhop.storage import here
from perhop.unknown import UnknownKeyError

MOST_NAMED = 12
"""Names of rows that a message lists."""

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
    _tables: dict[str, Frame] = field(default_factory=dict, repr=False, compare=False)
    _pools: bool = field(default=False, repr=False, compare=False)

    @classmethod
    @checked
    def open(cls, directory: str | os.PathLike[str]) -> Self:
        """Reads a run's directory: a scenario's, a point's or a replication's, or an address as `s3://bucket/runs/NAME`."""
        found = _core.opened(str(here(os.fspath(directory))))
        points, replications = map(point, found["points"]), map(replication, found["replications"])
        settings = found["settings"]
        return cls(settings["name"], settings["seed"], list(points), list(replications), settings, found["notes"])

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
                raise UnknownKeyError(
                    f"no table `{name}` here: there are {', '.join(self.tables)}{near(name, self.tables)}"
                )
            self._tables[name] = Frame(self._joined(name))
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
        where: Mapping[str, object] | None = None,
        by: Sequence[str] = (),
        missing: float | None = None,
    ) -> dict[Group, Values]:
        """For each group of `by`, in order of appearance, the column's value in each replication.

        `by` and `where` name columns or swept keys (their last part will do); a group's key is a tuple of texts.
        `missing` is the value for a replication that has no row of the group.

        Raises:
            ValueError: when a group has several rows in a replication, or none and `missing` is not given; when it has
                several points, unless these runs are `pooled`; when nothing is called as `where` says.
        """
        return self._folded(self._cells(table, column, where, by), _one(f"{table}.{column}", missing))

    @checked
    def totals(
        self, table: str, column: str, where: Mapping[str, object] | None = None, by: Sequence[str] = ()
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
        self, table: str, column: str, where: Mapping[str, object] | None = None, by: Sequence[str] = ()
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
        self, table: str, column: str, where: Mapping[str, object] | None, by: Sequence[str]
    ) -> dict[Group, dict[Run, list[float]]]:
        """For each group the values of each replication's rows."""
        columns = self.table(table)
        groups = [_texts(columns[self._key(columns, name)]) for name in by]
        measure = columns[self._key(columns, column)]
        cells: dict[Group, dict[Run, list[float]]] = {}
        for i in np.flatnonzero(self._mask(columns, where or {})):
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

    def _mask(self, columns: Columns, where: Mapping[str, object]) -> npt.NDArray[np.bool_]:
        keep = np.ones(len(columns["point"]), dtype=np.bool_)
        for name, wanted in where.items():
            key = self._key(columns, name)
            if key in self.keys:
                self._label(key, wanted)
            column = columns[key]
            if column.dtype == object:
                named = np.array([value == wanted or value == str(wanted) for value in column], dtype=np.bool_)
                self._refuse_unknown(key, wanted, named)
                keep &= named
            elif isinstance(wanted, str):
                ends = [swept for swept in self.keys if short(swept) == name]
                meant = f"; the swept key is `{ends[0]}`" if ends else ""
                raise ValueError(f"column `{name}` holds numbers, and {wanted!r} is a text: write a number{meant}")
            else:
                self._refuse_unknown(key, wanted, column == wanted)
                keep &= column == wanted
        return keep

    def _refuse_unknown(self, key: str, wanted: object, named: npt.NDArray[np.bool_]) -> None:
        """Raises an error if no row is called so and none of another table: a class may have no row in one of them."""
        if named.any():
            return
        columns = [self.table(name)[key] for name in self.tables if key in self.table(name)]
        known = [*dict.fromkeys(str(value) for column in columns for value in column if value is not None)]
        known += [colour for colour in COLOURS if key == "colour" and colour not in known]
        if str(wanted) not in known:
            shown = ", ".join(known[:MOST_NAMED]) + (", .." if len(known) > MOST_NAMED else "")
            raise ValueError(f"no row has {key} = {wanted}: there are {shown or 'none'}{near(str(wanted), known)}")

    def _key(self, columns: Columns, name: str) -> str:
        """A column's name, or the one swept key that ends with it."""
        if name in columns:
            return name
        ends = [key for key in self.keys if short(key) == name]
        if len(ends) == 1:
            return ends[0]
        raise UnknownKeyError(f"no column `{name}`: there are {', '.join(columns)}{near(name, columns)}")

    def select(self, **labels: object) -> Self:
        """The runs at the points that carry these labels (the last part of a key is enough)."""
        swept = {self._swept(name): value for name, value in labels.items()}
        wanted = {key: self._label(key, value) for key, value in swept.items()}
        kept = [i for i, p in enumerate(self.points) if all(p.labels[k] == v for k, v in wanted.items())]
        new = {old: i for i, old in enumerate(kept)}
        replications = [replace(r, point=new[r.point]) for r in self.replications if r.point in new]
        points = [self.points[i] for i in kept]
        return replace(self, points=points, replications=replications, _tables={}, _pools=False)

    def _label(self, key: str, value: object) -> str:
        """The label of a swept value.

        Raises:
            ValueError: when no point has it.
        """
        labels = list(dict.fromkeys(point.labels[key] for point in self.points))
        text = value if isinstance(value, str) else shown(value)
        if text not in labels:
            raise ValueError(f"no point has {short(key)} = {text}: there are {', '.join(labels)}")
        return text

    def _swept(self, name: str) -> str:
        ends = [key for key in self.keys if name in (key, short(key))]
        if len(ends) != 1:
            swept = ", ".join(self.keys) or "nothing is"
            raise UnknownKeyError(f"`{name}` is not swept here: {swept}{near(name, map(short, self.keys))}")
        return ends[0]

    def __iter__(self) -> Iterator[Replication]:
        return iter(self.replications)

    def __len__(self) -> int:
        return len(self.replications)


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


def opened(directories: Sequence[str | Path]) -> Results:
    """The runs of several directories as one, with `run` (the directory) as a swept key if there are several."""
    every = [Results.open(directory) for directory in directories]
    return every[0] if len(every) == 1 else joined(dict(zip(map(str, directories), every, strict=True)))


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
    return replace(one, name=name, points=points, replications=replications, notes=notes, _tables={}, _pools=False)
