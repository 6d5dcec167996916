"""`perhop compare`: paired differences of two runs on common random numbers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from perhop import stats, units
from perhop.columns import Group, Values
from perhop.results import Runs
from perhop.stats import Interval

METRICS = (
    "traffic.goodput_bit_s",
    "traffic.goodput_mean_bit_s",
    "traffic.jain",
    "arrivals.throughput_bit_s",
    "arrivals.delay_p50_ms",
    "arrivals.delay_p99_ms",
    "summary.dropped_packets",
)
LEVEL = 0.05


class Row(NamedTuple):
    """A row of a metric, at a point of the sweep."""

    metric: str
    point: str
    row: str


class Names(NamedTuple):
    """The directories of two runs."""

    a: str
    b: str


@dataclass(frozen=True)
class Difference:
    """One quantity in both runs; an interval is `None` if a replication does not have the quantity."""

    metric: str
    point: str
    row: str
    a: Interval | None
    b: Interval | None
    difference: Interval | None
    p: float

    @property
    def differs(self) -> bool:
        """Whether the interval excludes zero."""
        return self.difference is not None and not self.difference.contains(0.0) and not math.isnan(self.p)


def differences(a: Runs, b: Runs, metrics: Sequence[str] = METRICS) -> list[Difference]:
    """`b - a` for every row of every metric, `traffic.goodput_bit_s` for instance.

    Raises:
        ValueError: when the runs are not pairs (seed, replications, points, measured time), or for an unknown metric.
    """
    refuse_unpaired(a, b)
    return [found for metric in metrics for found in _of_metric(a, b, metric)]


def refuse_unpaired(a: Runs, b: Runs) -> None:
    """Raises an error with a clear message unless every replication of `a` has its partner in `b`."""
    if a.seed != b.seed:
        raise ValueError(
            f"seed {a.seed} against seed {b.seed}: only runs of the same seed meet the same random numbers"
        )
    for key in ("duration_s", "warmup_s", "accounting"):
        if a.settings[key] != b.settings[key]:
            raise ValueError(
                f"{key} {a.settings[key]} against {b.settings[key]}: these are not measures of the same thing"
            )
    if len(a.points) > 1 and [p.labels for p in a.points] != [p.labels for p in b.points]:
        raise ValueError("the runs sweep different points: sweep the same, or name one point's directory of each")
    if len(a.points) != len(b.points):
        raise ValueError(f"{len(a.points)} points against {len(b.points)}: name one point's directory of each")
    if _numbers(a) != _numbers(b):
        raise ValueError("the runs have different replications: run both with the same --replications")


def _numbers(runs: Runs) -> list[tuple[int, int]]:
    return [(r.point, r.replication) for r in runs]


def _of_metric(a: Runs, b: Runs, metric: str) -> Iterator[Difference]:
    table, _, column = metric.partition(".")
    if table not in units.KEYS or not column:
        raise ValueError(f"no metric `{metric}`: write TABLE.COLUMN with TABLE one of {', '.join(units.KEYS)}")
    ours, theirs = _rows(a, table, column), _rows(b, table, column)
    for group in dict.fromkeys([*ours, *theirs]):
        left, right = (_filled(side, group, runs, column) for side, runs in ((ours, a), (theirs, b)))
        if units.counted(column) and not left.any() and not right.any():
            continue
        point, row = a.points[int(group[0])].title, " ".join(group[1:])
        yield _difference(Row(metric, point, row), left, right)


def _difference(row: Row, left: Values, right: Values) -> Difference:
    whole = not (np.isnan(left).any() or np.isnan(right).any())
    gap = stats.paired(left, right) if whole else None
    p = stats.paired_p(left, right) if whole else math.nan
    return Difference(*row, _known(left), _known(right), gap, p)


def _known(values: Values) -> Interval | None:
    return None if np.isnan(values).any() else stats.interval(values)


def _rows(runs: Runs, table: str, column: str) -> dict[Group, Values]:
    missing = 0.0 if units.counted(column) else math.nan
    return runs.values(table, column, by=["point", *units.KEYS[table]], missing=missing)


def _filled(side: dict[Group, Values], group: Group, runs: Runs, column: str) -> Values:
    """The group's values; zeros or unknowns if it is missing altogether."""
    size = sum(r.point == int(group[0]) for r in runs)
    return side.get(group, np.full(size, 0.0 if units.counted(column) else math.nan))


def compare(arguments: dict[str, Any]) -> int:
    """The verb."""
    a, b = Runs.open(arguments["a"]), Runs.open(arguments["b"])
    for note in [*a.notes, *b.notes]:
        print(f"note: {note}", file=sys.stderr)
    found = differences(a, b, arguments["metric"] or METRICS)
    if arguments["json"]:
        print(json.dumps([_record(d) for d in found], indent=1))
    else:
        _print(found, Names(arguments["a"], arguments["b"]), a)
    return 0


def _record(d: Difference) -> dict[str, Any]:
    def plain(value: Interval | None) -> dict[str, Any] | None:
        if value is None:
            return None
        bounds = None if math.isnan(value.low) else [value.low, value.high]
        return {"mean": value.mean, "ci95": bounds, "n": value.n}

    p = None if math.isnan(d.p) else d.p
    sides = {"a": plain(d.a), "b": plain(d.b), "difference": plain(d.difference)}
    return {"metric": d.metric, "point": d.point, "row": d.row} | sides | {"p": p}


def _print(found: list[Difference], names: Names, runs: Runs) -> None:
    from rich.console import Console
    from rich.table import Table

    swept = bool(runs.keys)
    table = Table(box=None, pad_edge=False)
    for heading in ("quantity", *(["point"] if swept else []), "row"):
        table.add_column(heading, no_wrap=not sys.stdout.isatty())
    for heading in ("A", "B", "B - A", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for d, mark in zip(found, marks(found), strict=True):
        name, unit, factor = units.named(d.metric.partition(".")[2])
        cells = [units.estimate(side, factor) for side in (d.a, d.b, d.difference)]
        table.add_row(f"{name}, {unit}" if unit else name, *([d.point] if swept else []), d.row, *cells, mark)
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(f"A {names.a}\nB {names.b}", highlight=False)
    console.print(f"seed {runs.seed}, {len(runs)} pairs; mean ± half of the 95 % t-interval\n", highlight=False)
    console.print(table, highlight=False)
    console.print(
        "\n* the interval leaves zero out; ** so does it after Holm's correction for all rows", highlight=False
    )


def marks(found: Sequence[Difference]) -> list[str]:
    """`*` where the interval excludes zero, `**` where the difference also holds after Holm's correction."""
    tested = [i for i, d in enumerate(found) if not math.isnan(d.p)]
    adjusted = dict(zip(tested, stats.holm([found[i].p for i in tested]), strict=True))
    return [("**" if adjusted[i] < LEVEL else "*") if d.differs else "" for i, d in enumerate(found)]
