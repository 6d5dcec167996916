"""Runs as users have them: results with queries, data frames, pictures, and a summary in a notebook.

Decision: docs/decisions/098-swept-values-and-pooling.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from perhop import _core, frames, measured, paired, show, sql, units
from perhop.answer import ALL
from perhop.arguments import checked
from perhop.arguments import shown as shown_value
from perhop.columns import Group, Values, short
from perhop.filters import Conditions
from perhop.frames import Frame
from perhop.plot import figure
from perhop.plots.sheet import Look
from perhop.plots.style import Figure
from perhop.results import Results, traced, with_every
from perhop.units import Column

if TYPE_CHECKING:
    import duckdb

ANSWER = [
    units.COLUMNS["classes", name] for name in ("throughput_bit_s", "loss_percent", "delay_p50_ms", "delay_p99_ms")
]
"""What a notebook shows of runs, by class and colour."""


class Runs(Results):
    """All replications of all points of one scenario, ordered by point and replication."""

    @checked
    def df(self, table: str, engine: str | None = None) -> Any:
        """A table as a data frame of "pandas" or "polars"; by default of the first of them that is installed.

        A swept key whose values are quantities also has a column of numbers in base units beside its labels:
        `conditioner.gold.cir` "3Mbit/s" and `cir_bit_s` 3e6.

        Raises:
            KeyError: when there is no such table.
            ModuleNotFoundError: when neither is installed; the message says how to install one.
        """
        return frames.with_numbers(self.table(table), self.points).df(engine)

    @checked
    def intervals(
        self, table: str, column: str, where: Conditions | None = None, by: str | Sequence[str] | None = None
    ) -> Frame:
        """Means over the replications: `mean`, `half_width`, `low`, `high` of the 95 % interval, `n`; by group.

        By default a row for each point of the sweep and each row of the table; a count without a row is then zero, and
        any other quantity unknown. With `by`, as `Runs.values`.
        """
        of = units.column(table, self._key(self.table(table), column))
        missing = None if by is not None else of.missing
        by = [by] if isinstance(by, str) else by
        names = list(by) if by is not None else [*self.keys, *units.KEYS[self._known(table)]]
        cells = self.values(table, column, where, names, missing)
        found = {group: measured.interval(of, values) for group, values in cells.items()}
        ends = {short(key): key for key in self.keys}
        whole = [name if name in self.keys or name in self.table(table) else ends[name] for name in names]
        return frames.with_numbers(frames.of_intervals(whole, found, of.unit), self.points)

    @checked
    def tc_stats(self, replication: int = 0) -> str:
        """What `tc -s qdisc show` and `tc -s class show` would print at the end of a replication, port by port.

        Raises:
            ValueError: when the runs were made without `tc_stats=True` (`--tc-stats`), and for several points.
        """
        if len(self.points) > 1:
            raise ValueError(f"{len(self.points)} points of the sweep: choose one with where()")
        counters = self.table("counters") if "counters" in self.tables else Frame({})
        chosen = [i for i, number in enumerate(counters.get("replication", ())) if int(number) == replication]
        if not chosen:
            said = f"no counters of replication = {shown_value(replication)}"
            raise ValueError(f"{said}: run it with tc_stats=True, or --tc-stats")
        names = ("hop", "object", "stated", "counter", "value")
        return _core.tc_stats([tuple(counters[name][i] for name in names) for i in chosen])

    def _known(self, table: str) -> str:
        self.table(table)
        if table not in units.KEYS:
            raise ValueError(f"nothing identifies the rows of `{table}`: say by= which columns do")
        return table

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with one view for each table."""
        connection = sql.connect()
        for name in self.tables:
            connection.register(name, self.table(name))
        if (of := traced(self)).replications:
            sql.register(connection, of)
        return connection

    @checked
    def sql(self, query: str) -> Frame:
        """The answer of a DuckDB query on the tables, made with one thread so that sums are the same every time."""
        with self.connection() as connection:
            try:
                return Frame(sql.asked(connection, query))
            except ValueError as error:
                named = next((key for key in self.keys if f'column "{short(key)}" not found' in str(error)), None)
                if named is None:
                    raise
                raise ValueError(f'{error}\n   help: write the swept key in full, quoted: "{named}"') from error

    @checked
    def events(self, where: str | None = None, columns: Sequence[str] | None = None) -> Frame:
        """A row for each packet at each port, of runs with `--trace events`: swept keys, `point`, `replication` first.

        There may be many: `where` is an SQL condition, as in `"fate = 'dropped' and hop = 'C -> E2'"`, and `columns`
        names those that are wanted. `sql` knows them as the table `events`.

        Raises:
            ValueError: when these runs have none, or a file is damaged.
        """
        return Frame(sql.events(traced(self), where, columns))

    @checked
    def plot(  # noqa: PLR0913
        self,
        kind: str = "delivered",
        *,
        x: str | None = None,
        by: str | Sequence[str] = (),
        title: str | None = None,
        width: float | None = None,
        height: float | None = None,
        log_y: bool = False,
    ) -> Figure:
        """A picture, which a notebook shows: of a `kind`, as `perhop plot --kind`, or of any column.

        A column, "arrivals.delay_p99_ms", is drawn along the key `x`, with a line for each value of the keys `by`.
        `title` stands in place of the run's name and of what is shown; `width` and `height` are inches; `log_y` gives
        the quantity a logarithmic axis.

        Raises:
            ValueError: when there is no such plot, column or key, these runs lack the data, or it would be illegible.
        """
        return figure(kind, self, x, by, Look(title, width, height, log_y))

    @checked
    def compare(
        self, other: Results | None = None, *, by: str | None = None, base: object = None, metrics: Sequence[str] = ()
    ) -> Frame:
        """Paired differences on common random numbers: `other` minus these runs, or along the swept key `by`.

        With `by` each other value of the key is compared with the first, or with `base`, at each point of the rest.
        The `metrics` are columns, as "arrivals.delay_p99_ms"; by default those of `perhop compare`. For each of their
        rows: the means `a` and `b`, their difference with the ends of its 95 % interval, its p-value, and that after
        Holm's correction for all rows. They are in the unit of the metric; NaN where a replication lacks the quantity.

        Raises:
            ValueError: when the runs are not pairs, for a key that is not swept or has one value, or a metric unknown.
        """
        metrics = metrics or paired.METRICS
        if by is not None and other is None:
            sides = paired.sides(self, by, base)
            found = [d for value, _, _ in sides.pairs() for d in sides.found(value, metrics)]
            return frames.with_numbers(paired.frame(found, sides.key), self.points)
        if other is None or by is not None or base is not None:
            raise ValueError(
                "compare: give other runs; or a swept key in by=, with one of its values in base= or the first"
            )
        table = paired.frame(paired.differences(self, other, metrics))
        return frames.with_numbers(table, self.points) if len(self.points) > 1 else table

    def __repr__(self) -> str:
        swept = f"; {', '.join(map(short, self.keys))}" if self.keys else ""
        notes = f"; {show.count(len(self.notes), 'note')}" if self.notes else ""
        return f"Runs({self.name!r}: {self._size()}{swept}{notes})"

    def _size(self) -> str:
        numbers = {r.replication for r in self.replications}
        return f"{show.count(len(self.points), 'point')} x {show.count(len(numbers), 'replication')}, seed {self.seed}"

    def _repr_html_(self) -> str:
        """What arrived, by class and colour."""
        head = "".join(map(show.note, [f"{self.name}: {self._size()}", *self.notes]))
        if "classes" not in self.tables:
            return head
        by = [*self.keys, *units.KEYS["classes"]]
        cells = [with_every(self, "colour").values("classes", of.name, by=by, missing=of.missing) for of in ANSWER]
        groups = [group for group in self.values("classes", ANSWER[0].name, by=by, missing=0.0) if group[-1] != ALL]
        headings = [*map(short, by), *(units.headed(self.points, of, of.usual[0]) for of in ANSWER)]
        alone = {of for of, colours in Counter(group[:-1] for group in groups).items() if colours == 1}
        measures = list(zip(ANSWER, cells, strict=True))
        rows = [
            [*group, *(_shown(of, _told(found, group, group[:-1] in alone)) for of, found in measures)]
            for group in groups[: show.ROWS]
        ]
        left = len(groups) - len(rows)
        return head + show.table(headings, rows) + (show.note(f"and {show.count(left, 'row')} more") if left else "")


def _told(found: Mapping[Group, Values], group: Group, alone: bool) -> Values:
    """The values of a colour; of the only one of a class those of the class, where it has them."""
    whole = found[*group[:-1], ALL]
    return np.where(np.isnan(whole), found[group], whole) if alone else found[group]


def _shown(of: Column, values: Values) -> str:
    known = measured.known(of, values)
    return str(known.scaled(of.usual[1])) if known else "-"
