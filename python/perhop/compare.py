"""`perhop compare`: paired differences of two runs on common random numbers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from perhop import in_force, measured, show, stats, units
from perhop.answer import ALL
from perhop.arguments import checked
from perhop.columns import Group, Point, Values
from perhop.results import Results
from perhop.stats import Interval
from perhop.units import Column

METRICS = (
    "traffic.goodput_bit_s",
    "traffic.goodput_mean_bit_s",
    "traffic.jain",
    "arrivals.throughput_bit_s",
    "classes.loss_percent",
    "arrivals.delay_p50_ms",
    "arrivals.delay_p99_ms",
    "summary.dropped_packets",
)
LEVEL = 0.05
MOST = 40
"""Settings that differ, as printed; `--json` has all."""


@dataclass(frozen=True)
class Difference:
    """One quantity in both runs; an interval is `None` if a replication does not have the quantity."""

    metric: str
    point: str
    """`A | B` where the two runs are at different points."""
    row: str
    a: Interval | None
    b: Interval | None
    difference: Interval | None
    p: float

    @property
    def differs(self) -> bool:
        """Whether the interval excludes zero."""
        return self.difference is not None and not self.difference.contains(0.0) and not math.isnan(self.p)


@checked
def differences(a: Results, b: Results, metrics: Sequence[str] = METRICS) -> list[Difference]:
    """`b - a` for every row of every metric, `traffic.goodput_bit_s` for instance.

    `settings` says what the two runs differ in.

    Raises:
        ValueError: when the runs are not pairs (seed, replications, points, measured time), or for an unknown metric.
    """
    refuse_unpaired(a, b)
    return [found for metric in metrics for found in _of_metric(a, b, metric)]


def refuse_unpaired(a: Results, b: Results) -> None:
    """Raises an error with a clear message unless every replication of `a` has its partner in `b`."""
    if a.seed != b.seed:
        raise ValueError(f"seed {a.seed} against seed {b.seed}: run both with one seed, for the same random numbers")
    for key in ("duration_s", "warmup_s", "accounting"):
        if a.settings[key] != b.settings[key]:
            raise ValueError(
                f"{key} {a.settings[key]} against {b.settings[key]}: run both with the same value"
            )
    if len(a.points) > 1 and [p.labels for p in a.points] != [p.labels for p in b.points]:
        raise ValueError("the runs sweep different points: sweep the same, or name one point's directory of each")
    if len(a.points) != len(b.points):
        raise ValueError(f"{len(a.points)} points against {len(b.points)}: name one point's directory of each")
    if [r.run for r in a] != [r.run for r in b]:
        raise ValueError("the runs have different replications: run both with the same `replications`")


def _of_metric(a: Results, b: Results, metric: str) -> Iterator[Difference]:
    table, _, name = metric.partition(".")
    if table not in units.KEYS or not name:
        tables = f"{', '.join(units.KEYS)}{show.near(table, units.KEYS)}"
        raise ValueError(f"no metric `{metric}`: write TABLE.COLUMN with TABLE one of {tables}")
    column = units.column(table, name)
    ours, theirs = (_told_once(_rows(runs, column)) for runs in (a, b))
    for group in dict.fromkeys([*ours, *theirs]):
        left, right = (_filled(side, group, runs, column) for side, runs in ((ours, a), (theirs, b)))
        if column.role == "count" and not left.any() and not right.any():
            continue
        whole = not (np.isnan(left).any() or np.isnan(right).any())
        yield Difference(
            metric,
            pair(a, b)[int(group[0])],
            " ".join(group[1:]),
            _known(column, left),
            _known(column, right),
            measured.difference(column, left, right) if whole else None,
            stats.paired_p(left, right) if whole else math.nan,
        )


def pair(a: Results, b: Results) -> list[str]:
    """What the points are called: one name where they have the same labels, otherwise that of each."""
    names = [(ours.title, theirs.title) for ours, theirs in zip(a.points, b.points, strict=True)]
    return [ours if ours == theirs else f"{ours or 'base'} | {theirs or 'base'}" for ours, theirs in names]


def settings(a: Results, b: Results) -> dict[in_force.Setting, list[str]]:
    """The settings in force that differ, each with the points at which they do."""
    found: dict[in_force.Setting, list[str]] = {}
    for name, ours, theirs in zip(pair(a, b), a.points, b.points, strict=True):
        for setting in in_force.differing(ours.effective, theirs.effective):
            found.setdefault(setting, []).append(name)
    return found


def _known(column: Column, values: Values) -> Interval | None:
    return None if np.isnan(values).any() else measured.interval(column, values)


def _rows(runs: Results, column: Column) -> dict[Group, Values]:
    by = ["point", *units.KEYS[column.table]]
    return runs.values(column.table, column.name, by=by, missing=column.missing)


def _told_once(cells: dict[Group, Values]) -> dict[Group, Values]:
    """Without the row of a class's only colour, which is that of all of it."""
    several = {group[:-1] for group in cells if group[-1] == ALL}
    alone = {of for of in several if sum(group[:-1] == of for group in cells) == 2}
    return {group: values for group, values in cells.items() if group[-1] == ALL or group[:-1] not in alone}


def _filled(side: dict[Group, Values], group: Group, runs: Results, column: Column) -> Values:
    """The group's values; zeros or unknowns if it is missing altogether."""
    size = sum(r.point == int(group[0]) for r in runs)
    return side.get(group, np.full(size, column.missing))


def compare(arguments: dict[str, Any]) -> int:
    """The verb."""
    a, b = Results.open(arguments["a"]), Results.open(arguments["b"])
    for note in [*a.notes, *b.notes]:
        print(f"note: {note}", file=sys.stderr)
    names, found = (arguments["a"], arguments["b"]), differences(a, b, arguments["metric"] or METRICS)
    if arguments["json"]:
        print(json.dumps([_record(d, settings(a, b)) for d in found], indent=1))
    else:
        _print(found, names, (a, b))
    return 0


def _record(d: Difference, differs: Mapping[in_force.Setting, list[str]]) -> dict[str, Any]:
    def plain(value: Interval | None) -> dict[str, Any] | None:
        if value is None:
            return None
        bounds = None if math.isnan(value.low) else [value.low, value.high]
        return {"mean": value.mean, "ci95": bounds, "n": value.n}

    p = None if math.isnan(d.p) else d.p
    sides = {"a": plain(d.a), "b": plain(d.b), "difference": plain(d.difference)}
    between = {setting.key: [setting.a, setting.b] for setting, points in differs.items() if d.point in points}
    return {"metric": d.metric, "point": d.point, "row": d.row} | sides | {"p": p, "differs": between}


def _print(found: list[Difference], names: tuple[str, str], runs: tuple[Results, Results]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 200)
    with console.capture() as text:
        console.print(*(_plain(f"{side} {name}") for side, name in zip("AB", names, strict=True)), "", sep="\n")
        _print_settings(console, runs)
        paired = f"seed {runs[0].seed}, {len(runs[0])} pairs; mean ± half of the 95 % t-interval\n"
        console.print(paired, highlight=False)
        console.print(_table(found, runs[0].points), highlight=False)
        stars = "\n* the interval leaves zero out; ** so does it after Holm's correction for all rows"
        console.print(stars, highlight=False)
    print(text.get(), end="")


def _print_settings(console: Console, runs: tuple[Results, Results]) -> None:
    """What differs: keys with both values, or that nothing does."""
    differs, table = settings(*runs), _grid("setting that differs", "A", "B")
    if not differs:
        console.print("the same settings are in force in both\n", highlight=False)
        return
    for setting, points in islice(differs.items(), MOST):
        where = "" if len(points) == len(runs[0].points) else f" at {'; '.join(points)}"
        table.add_row(*map(_plain, (setting.key + where, setting.a or "-", setting.b or "-")))
    more = f"and {len(differs) - MOST} more, see --json\n" if len(differs) > MOST else ""
    console.print(table, more, highlight=False)


def _table(found: list[Difference], points: Sequence[Point]) -> Table:
    swept = len(points) > 1
    table = _grid("quantity", *(["point"] if swept else []), "row")
    for heading in ("A", "B", "B - A", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for d, mark in zip(found, marks(found), strict=True):
        column = units.column(*d.metric.split(".", 1))
        unit, factor = column.usual
        cells = ["-" if side is None else str(side.scaled(factor)) for side in (d.a, d.b, d.difference)]
        where = map(_plain, [d.point, d.row] if swept else [d.row])
        table.add_row(units.headed(points, column, unit), *where, *cells, mark)
    return table


def _plain(text: str) -> Text:
    """As it is written: no markup, no control characters."""
    return Text(show.printable(text))


def _grid(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=not sys.stdout.isatty())
    return table


def marks(found: Sequence[Difference]) -> list[str]:
    """`*` where the interval excludes zero, `**` where the difference also holds after Holm's correction."""
    tested = [i for i, d in enumerate(found) if not math.isnan(d.p)]
    adjusted = dict(zip(tested, stats.holm([found[i].p for i in tested]), strict=True))
    return [("**" if adjusted[i] < LEVEL else "*") if d.differs else "" for i, d in enumerate(found)]
