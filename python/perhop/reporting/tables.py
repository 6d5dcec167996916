"""Tables of means with intervals, for people: units that fit, rows and columns that say something."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from perhop import units
from perhop.columns import Group, short
from perhop.measured import known
from perhop.results import Results
from perhop.stats import Interval
from perhop.units import Column

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

    words: str
    column: str
    of: str


class Columns(NamedTuple):
    """What is shown of a table of results."""

    title: str
    columns: tuple[str | Share, ...]


DROPPED = Share("dropped", "dropped_packets", "arrived_packets")
MARKED = Share("marked", "marked_packets", "arrived_packets")

TABLES = {
    "traffic": Columns(
        "Traffic: what applications received",
        (
            "goodput_bit_s",
            "goodput_mean_bit_s",
            "goodput_std_bit_s",
            "jain",
            "transfer_goodput_mean_bit_s",
            "page_mean_s",
        ),
    ),
    "arrivals": Columns(
        "At the destination, by class and colour",
        ("throughput_bit_s", "delay_p50_ms", "delay_p99_ms", "delay_p999_ms", "jitter_p99_ms"),
    ),
    "summary": Columns(
        "At each port, by class and colour",
        ("arrived_packets", DROPPED, MARKED, "wait_mean_ms", "wait_p99_ms"),
    ),
    "conditioners": Columns("Conditioners: colour in, colour out", ("packets", "bytes")),
    "links": Columns("Links", ("rate_bit_s", "delivered_packets", "dropped_packets", "utilisation")),
}

OF_FLOWS = ("goodput_mean_bit_s", "goodput_std_bit_s", "jain")
"""Columns of `traffic` that say nothing more where no traffic has two flows."""

WAIT = 1.0
"""A port is busy if the 99 % quantile of a wait there is above this, in ms."""


def tabled(runs: Results, name: str) -> Tabled:
    """A row for each point and row of a table of results; idle ports and columns without values are omitted."""
    title, names = TABLES[name]
    if name == "traffic" and (runs.table(name)["flows"] < 2).all():
        names = tuple(of for of in names if of not in OF_FLOWS)
    columns = [of if isinstance(of, Share) else units.COLUMNS[name, of] for of in names]
    keys = units.KEYS[name]
    found = {column.words: _estimates(runs, name, column) for column in columns}
    groups = list(dict.fromkeys(group for of in found.values() for group in of))
    busy, idle = _busy(runs) if name in ("summary", "links") else (None, 0)
    if busy is not None:
        groups = [group for group in groups if (int(group[0]), group[1]) in busy]
    shown = [c for c in columns if any(_says(found[c.words].get(group)) for group in groups)]
    scales = {c.words: _scale(c, found[c.words]) for c in shown}
    headings = [*(short(key) for key in runs.keys), *keys, *(_heading(runs, c, scales[c.words].unit) for c in shown)]
    rows = [
        [
            *runs.points[int(group[0])].labels.values(),
            *group[1:],
            *(written(found[c.words].get(group), scales[c.words]) for c in shown),
        ]
        for group in groups
    ]
    return Tabled(title, headings, rows, len(runs.keys) + len(keys), _note(idle))


def _note(idle: int) -> str:
    if not idle:
        return ""
    ports = "1 idle port is" if idle == 1 else f"{idle} idle ports are"
    return f"{ports} hidden: no conditioner, nothing dropped or marked, 99 % of packets waited less than {WAIT:g} ms."


def written(value: Interval | None, scale: units.Scale) -> str:
    """A mean with its interval, in a unit."""
    return "-" if value is None else str(value.scaled(scale.factor))


def _scale(column: Column | Share, of: Estimates) -> units.Scale:
    if isinstance(column, Share):
        return units.Scale(*units.LOST.usual)
    return column.scaled(max((abs(e.mean) for e in of.values() if not math.isnan(e.mean)), default=0.0))


def _heading(runs: Results, column: Column | Share, unit: str) -> str:
    return f"{column.words}, {unit}" if isinstance(column, Share) else units.headed(runs.points, column, unit)


def _says(value: Interval | None) -> bool:
    """Whether it is known and not zero in every replication."""
    return value is not None and not math.isnan(value.mean) and (value.mean != 0 or value.half > 0)


def _estimates(runs: Results, table: str, column: Column | Share) -> Estimates:
    by = ["point", *units.KEYS[table]]
    if isinstance(column, Share):
        whole = runs.totals(table, column.of, by=by)
        parts = runs.totals(table, column.column, by=by)
        estimates = {group: known(units.LOST, 100 * parts[group][n > 0] / n[n > 0]) for group, n in whole.items()}
    else:
        cells = runs.values(table, column.name, by=by, missing=column.missing)
        estimates = {group: known(column, values) for group, values in cells.items()}
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
