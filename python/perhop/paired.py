"""Paired differences of runs on common random numbers: of two runs, or of the values of a swept key."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from perhop import filters, in_force, measured, show, stats, units
from perhop.answer import ALL
from perhop.arguments import checked
from perhop.columns import Group, Point, Values, short
from perhop.frames import Frame
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
OF_FLOWS = ("traffic.goodput_mean_bit_s", "traffic.jain")
"""Of these metrics a traffic of one flow has nothing to add, unless they are asked for."""
LEVEL = 0.05
MOST_NAMED = 4
"""Points that a message names."""
SAME_THING = "these are not measures of the same thing"
IN_COMMON = {
    "scenario.seed": "only runs of the same seed meet the same random numbers",
    "scenario.duration": SAME_THING,
    "scenario.warmup": SAME_THING,
    "scenario.accounting": SAME_THING,
}
"""What both sides of a pair have in force, and why."""

TIMES = ("scenario.duration", "scenario.warmup")
"""Every recorded run has others."""


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
    labels: dict[str, str] = field(default_factory=dict)
    """Of the point, by swept key."""
    value: str = ""
    """B's of the key that is compared by."""

    @property
    def differs(self) -> bool:
        """Whether the interval excludes zero."""
        return self.difference is not None and not self.difference.contains(0.0) and not math.isnan(self.p)


@checked
def differences(a: Results, b: Results, metrics: Sequence[str] = METRICS) -> list[Difference]:
    """`b - a` for every row of every metric, `traffic.goodput_bit_s` for instance.

    `settings` says what the two runs differ in. With a run that was recorded between interfaces there are no pairs:
    a difference is that of the means, without an interval. Where the times differ, counts are not compared.

    Raises:
        ValueError: when the runs are not pairs (seed, replications, points, measured time), or for an unknown metric.
    """
    refuse_unpaired(a, b)
    found = [found for metric in _comparable(a, b, metrics) for found in _of_metric(a, b, metric)]
    if tuple(metrics) != METRICS:
        return found
    several = _of_several_flows(a) | _of_several_flows(b)
    return [d for d in found if d.metric not in OF_FLOWS or d.row in several]


def _of_several_flows(runs: Results) -> set[str]:
    """The traffic that has them."""
    table = runs.table("traffic")
    return {str(name) for name, flows in zip(table["traffic"], table["flows"], strict=True) if flows > 1}


def refuse_unpaired(a: Results, b: Results) -> None:
    """Raises an error with a clear message unless every replication of `a` has its partner in `b`."""
    if len(a.points) > 1 and [p.labels for p in a.points] != [p.labels for p in b.points]:
        raise ValueError("the runs sweep different points: sweep the same, or name one point's directory of each")
    if len(a.points) != len(b.points):
        raise ValueError(f"{len(a.points)} points against {len(b.points)}: name one point's directory of each")
    recorded = is_recorded(a, b)
    if not recorded and [r.run for r in a] != [r.run for r in b]:
        raise ValueError("the runs have different replications: run both with the same `replications`")
    common = {units.ACCOUNTING: SAME_THING} if recorded else IN_COMMON
    for ours, theirs in zip(a.points, b.points, strict=True):
        _refuse_other_measure(in_force.settings(ours.effective), in_force.settings(theirs.effective), common)


def is_recorded(*sides: Results) -> bool:
    """Whether one of the runs was recorded between interfaces."""
    return any(point.origin is not None and point.origin.recorded for side in sides for point in side.points)


def _comparable(a: Results, b: Results, metrics: Sequence[str]) -> list[str]:
    """The metrics, without counts over different times.

    Raises:
        ValueError: when such a count was asked for.
    """
    ours, theirs = (", ".join(map(_times, side.points)) for side in (a, b))
    counts = [metric for metric in metrics if ours != theirs and _column(metric).role == "count"]
    if counts and tuple(metrics) != METRICS:
        raise ValueError(f"{counts[0]}: {ours} against {theirs}: {SAME_THING}; ask for a rate or a share")
    return [metric for metric in metrics if metric not in counts]


def _times(point: Point) -> str:
    """How long it was measured: `duration 6s, warmup 1s`."""
    found = in_force.settings(point.effective)
    return ", ".join(f"{short(key)} {found.get(key)}" for key in TIMES)


def _refuse_other_measure(ours: Mapping[str, str], theirs: Mapping[str, str], common: Mapping[str, str]) -> None:
    for key, why in common.items():
        if ours.get(key) != theirs.get(key):
            name = short(key)
            raise ValueError(f"{name} {ours.get(key)} against {name} {theirs.get(key)}: {why}")


@dataclass(frozen=True)
class Sides:
    """Runs to compare: at each value of a swept key, the base first."""

    key: str
    at: dict[str, Results]

    @property
    def base(self) -> str:
        """The value that the others are compared with."""
        return next(iter(self.at))

    def pairs(self) -> Iterator[tuple[str, Results, Results]]:
        """Each other value, the base's runs and its own."""
        base, *others = self.at
        for value in others:
            yield value, self.at[base], self.at[value]

    def found(self, value: str, metrics: Sequence[str]) -> list[Difference]:
        """What a value changes against the base."""
        return [replace(d, value=value) for d in differences(self.at[self.base], self.at[value], metrics)]


def sides(runs: Results, by: str, base: object = None) -> Sides:
    """The runs at each value of a swept key, the base first: by default the first of the sweep.

    Raises:
        ValueError: when nothing of this name is swept, it has one value alone or not this one, or a value lacks points
            that another has.
    """
    key = _swept(runs, by)
    values = list(dict.fromkeys(point.labels[key] for point in runs.points))
    if len(values) < 2:
        raise ValueError(f"by {by}: these runs have only {short(key)} {values[0]}, and nothing to compare it with")
    first = values[0] if base is None else filters.text(base)
    if first not in values:
        raise ValueError(f"base {first}: these runs have {short(key)} {', '.join(values)}{show.near(first, values)}")
    gone = {key, *_tied(runs, key)}
    every = {value: _side(runs.where({key: value}), gone) for value in dict.fromkeys([first, *values])}
    _refuse_gaps(short(key), every)
    return Sides(key, every)


def _swept(runs: Results, name: str) -> str:
    found = [key for key in runs.keys if name in (key, short(key))]
    if len(found) != 1:
        names = [key if found else short(key) for key in found or runs.keys]
        why = "several swept keys end so, write one of" if found else "no such key is swept; there are"
        raise ValueError(f"by {name}: {why} {', '.join(names) or 'none'}{show.near(name, names)}")
    return found[0]


def _tied(runs: Results, key: str) -> list[str]:
    """The keys that change with this one: each of its values has one of theirs."""
    of = {other: {(point.labels[key], point.labels[other]) for point in runs.points} for other in runs.keys}
    return [other for other, both in of.items() if len(both) == len(of[key]) and len({b for _, b in both}) > 1]


def _side(runs: Results, gone: Collection[str]) -> Results:
    """Without these keys."""
    rest = [replace(p, labels={key: of for key, of in p.labels.items() if key not in gone}) for p in runs.points]
    return replace(runs, points=rest)


def _refuse_gaps(name: str, every: Mapping[str, Results]) -> None:
    """Raises an error if the values differ in the points of the rest."""
    titles = {value: [point.title for point in side.points] for value, side in every.items()}
    for value, of in titles.items():
        if missing := [title for title in dict.fromkeys(chain(*titles.values())) if title not in of]:
            raise ValueError(
                f"{name} {value} was not run at {'; '.join(missing[:MOST_NAMED])}: every value is compared at every "
                "point of the rest; run the others, or choose by where"
            )


def _column(metric: str) -> Column:
    """Of `TABLE.COLUMN`."""
    table, _, name = metric.partition(".")
    if table not in units.KEYS or not name:
        tables = f"{', '.join(units.KEYS)}{show.near(table, units.KEYS)}"
        raise ValueError(f"no metric `{metric}`: write TABLE.COLUMN with TABLE one of {tables}")
    return units.column(table, name)


def _of_metric(a: Results, b: Results, metric: str) -> Iterator[Difference]:
    column, pairs = _column(metric), not is_recorded(a, b)
    ours, theirs = (_told_once(_rows(runs, column)) for runs in (a, b))
    for group in dict.fromkeys([*ours, *theirs]):
        left, right = (_filled(side, group, runs, column) for side, runs in ((ours, a), (theirs, b)))
        if column.role == "count" and not left.any() and not right.any():
            continue
        whole = not (np.isnan(left).any() or np.isnan(right).any())
        mine, other = _known(column, left), _known(column, right)
        if whole and not pairs:
            left, right = (np.array([stats.mean(values)]) for values in (left, right))
        yield Difference(
            metric,
            pair(a, b)[int(group[0])],
            " ".join(group[1:]),
            mine,
            other,
            measured.difference(column, left, right) if whole else None,
            stats.paired_p(left, right) if whole else math.nan,
            _labels(a.points[int(group[0])], b.points[int(group[0])]),
        )


def pair(a: Results, b: Results) -> list[str]:
    """What the points are called: one name where they have the same labels, otherwise that of each."""
    names = [(ours.title, theirs.title) for ours, theirs in zip(a.points, b.points, strict=True)]
    return [ours if ours == theirs else f"{ours or 'base'} | {theirs or 'base'}" for ours, theirs in names]


def _labels(a: Point, b: Point) -> dict[str, str]:
    both = {key: (a.labels.get(key, "base"), b.labels.get(key, "base")) for key in {**a.labels, **b.labels}}
    return {key: ours if ours == theirs else f"{ours} | {theirs}" for key, (ours, theirs) in both.items()}


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


def adjusted(found: Sequence[Difference]) -> list[float]:
    """The p-values after Holm's correction for all of them; NaN where there is none."""
    tested = [i for i, d in enumerate(found) if not math.isnan(d.p)]
    corrected = dict(zip(tested, stats.holm([found[i].p for i in tested]), strict=True))
    return [corrected.get(i, math.nan) for i in range(len(found))]


def marks(found: Sequence[Difference]) -> list[str]:
    """`*` where the interval excludes zero, `**` where the difference also holds after Holm's correction."""
    each = zip(found, adjusted(found), strict=True)
    return [("**" if p < LEVEL else "*") if d.differs else "" for d, p in each]


def frame(found: Sequence[Difference], by: str = "") -> Frame:
    """A row for each difference: what was compared, both means, the difference with its interval, and its p-values."""
    keys = dict.fromkeys(key for d in found for key in d.labels)
    texts = {by: [d.value for d in found]} if by else {}
    texts |= {key: [d.labels.get(key, "") for d in found] for key in keys}
    texts |= {"metric": [d.metric for d in found], "row": [d.row for d in found]}
    means = {"a": [d.a for d in found], "b": [d.b for d in found], "difference": [d.difference for d in found]}
    numbers = {name: [of.mean if of else math.nan for of in values] for name, values in means.items()}
    numbers |= {name: [getattr(d.difference, name, math.nan) for d in found] for name in ("low", "high")}
    numbers |= {"p": [d.p for d in found], "p_holm": adjusted(found)}
    columns = {name: np.array(values, dtype=object) for name, values in texts.items()}
    return Frame(columns | {name: np.array(values, dtype=np.float64) for name, values in numbers.items()})
