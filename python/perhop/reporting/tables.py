"""Tables of means with intervals, for people: units that fit, rows and columns that say something."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from perhop import accounting, units
from perhop.columns import Group, short
from perhop.plots.grid import known
from perhop.results import Results
from perhop.stats import Interval

Estimates = dict[Group, Interval]
"""By the number of the point and the names of the row."""


@dataclass(frozen=True)
class Tabled:
    """A table as the page shows it; its first columns are names."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    names: int
    note: str = ""


class Share(NamedTuple):
    """A column in per cent of another one, replication by replication."""

    label: str
    column: str
    of: str


class Columns(NamedTuple):
    """What is shown of a table of results."""

    title: str
    columns: tuple[str | Share, ...]


LOST = Share("dropped", "dropped_packets", "arrived_packets")
MARKED = Share("marked", "marked_packets", "arrived_packets")

TABLES = {
    "traffic": Columns(
        "Traffic: what applications received",
        ("goodput_bit_s", "goodput_mean_bit_s", "goodput_std_bit_s", "jain", "transfer_goodput_mean_bit_s"),
    ),
    "arrivals": Columns(
        "At the destination, by class and colour",
        ("throughput_bit_s", "delay_p50_ms", "delay_p99_ms", "delay_p999_ms", "jitter_p99_ms"),
    ),
    "summary": Columns(
        "At each port, by class and colour",
        ("arrived_packets", LOST, MARKED, "wait_mean_ms", "wait_p99_ms"),
    ),
    "conditioners": Columns("Conditioners: colour in, colour out", ("packets", "bytes")),
    "links": Columns(
        "Links",
        ("rate_bit_s", "delivered_packets", "dropped_packets", "utilisation"),
    ),
}

WAIT = 1.0
"""A port is busy if the 99 % quantile of a wait there is above this, in ms."""


def tabled(runs: Results, name: str) -> Tabled:
    """A row for each point and row of a table of results; idle ports and columns without values are omitted."""
    title, columns = TABLES[name]
    keys = units.KEYS[name]
    found = {_label(column): _estimates(runs, name, column) for column in columns}
    groups = list(dict.fromkeys(group for of in found.values() for group in of))
    busy, idle = _busy(runs) if name in ("summary", "links") else (None, 0)
    if busy is not None:
        groups = [group for group in groups if (int(group[0]), group[1]) in busy]
    shown = {label: of for label, of in found.items() if any(_says(of.get(group)) for group in groups)}
    looks = {c: Look.of(_scale(c, shown[_label(c)]), shown[_label(c)].values()) for c in columns if _label(c) in shown}
    headings = [
        *(short(key) for key in runs.keys),
        *keys,
        *(_heading(runs, c, look.scale) for c, look in looks.items()),
    ]
    rows = [
        [
            *runs.points[int(group[0])].labels.values(),
            *group[1:],
            *(look.text(shown[_label(c)].get(group)) for c, look in looks.items()),
        ]
        for group in groups
    ]
    return Tabled(title, headings, rows, len(runs.keys) + len(keys), _note(idle))


def _note(idle: int) -> str:
    if not idle:
        return ""
    ports = "1 idle port is" if idle == 1 else f"{idle} idle ports are"
    return f"{ports} hidden: no conditioner, nothing dropped or marked, 99 % of packets waited less than {WAIT:g} ms."


@dataclass(frozen=True)
class Look:
    """How a column's values are written: their unit, and no more decimals than the largest of them needs."""

    scale: units.Scale
    decimals: int

    @staticmethod
    def of(scale: units.Scale, values: Iterable[Interval | None]) -> Look:
        """That fits all of them."""
        means = [abs(value.mean) for value in values if value is not None and not math.isnan(value.mean)]
        largest = max(means, default=0.0) * scale.factor
        return Look(scale, units.places(largest, units.DIGITS))

    def text(self, value: Interval | None) -> str:
        """A mean with its interval; without it if all replications agree."""
        return units.estimate(value, self.scale.factor, self.decimals).removesuffix(" ±0")


def _label(column: str | Share) -> str:
    return column if isinstance(column, str) else column.label


def _scale(column: str | Share, of: Estimates) -> units.Scale:
    if isinstance(column, Share):
        return units.Scale("%", 1.0)
    if column == "utilisation":
        return units.Scale("%", 100.0)
    ending = f"_{column}" if column in ("packets", "bytes") else column
    return units.scaled(ending, max((abs(e.mean) for e in of.values() if not math.isnan(e.mean)), default=0.0))


def _heading(runs: Results, column: str | Share, scale: units.Scale) -> str:
    if isinstance(column, Share):
        return f"{column.label}, {scale.unit}"
    name = units.named(column)[0]
    shown = accounting.headed(runs.points, column, name)
    return f"{shown}, {scale.unit}" if scale.unit and scale.unit != name else shown


def _says(value: Interval | None) -> bool:
    """Whether it is known and not zero in every replication."""
    return value is not None and not math.isnan(value.mean) and (value.mean != 0 or value.half > 0)


def _estimates(runs: Results, table: str, column: str | Share) -> Estimates:
    by = ["point", *units.KEYS[table]]
    if isinstance(column, Share):
        whole = runs.totals(table, column.of, by=by)
        parts = runs.totals(table, column.column, by=by)
        estimates = {group: known("lost_percent", 100 * parts[group][n > 0] / n[n > 0]) for group, n in whole.items()}
    else:
        missing = 0.0 if units.counted(column) else math.nan
        estimates = {g: known(column, v) for g, v in runs.values(table, column, by=by, missing=missing).items()}
    return {group: value for group, value in estimates.items() if value is not None}


def _busy(runs: Results) -> tuple[set[tuple[int, str]], int]:
    """Point and port of those that do something, and how many other ports the run has."""
    marks = runs.table("conditioners")
    busy = {(int(p), str(hop)) for p, hop in zip(marks["point"], marks["hop"], strict=True)}
    every = set()
    table = runs.table("summary")
    columns = [table[c] for c in ("point", "hop", "dropped_packets", "marked_packets", "wait_p99_ms")]
    for point, hop, dropped, marked, wait in zip(*columns, strict=True):
        every.add(str(hop))
        if dropped > 0 or marked > 0 or wait >= WAIT:
            busy.add((int(point), str(hop)))
    every |= {str(hop) for hop in runs.table("links")["hop"]}
    shown = {hop for _, hop in busy}
    return {(point, hop) for point in range(len(runs.points)) for hop in shown}, len(every - shown)
