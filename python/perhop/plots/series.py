"""Rates, queues and buckets over time, in the first replication of a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from perhop import units
from perhop.columns import Columns, Values
from perhop.plots import style
from perhop.plots.names import shortened
from perhop.plots.style import Figure
from perhop.results import Results
from perhop.units import Column

PACKETS, BYTES = (units.COLUMNS["events", name] for name in ("queue_packets", "queue_bytes"))
MOST_POINTS = 6
MOST_LINES = 16


class Line(NamedTuple):
    """Values over time."""

    t_s: Values
    value: Values


class Of(NamedTuple):
    """What a line of `series` shows."""

    hop: str
    conditioner: str | None
    quantity: str

    @property
    def label(self) -> str:
        """`C -> E2: avg queue`."""
        quantity = self.quantity.removesuffix("_packets").removesuffix("_bytes").replace("_", " ")
        return f"{self.conditioner} at {self.hop}: {quantity}" if self.conditioner else f"{self.hop}: {quantity}"


Choose = Callable[[dict[Of, Line]], dict[Of, Line]]


def over_time(runs: Results) -> Figure:
    """What each traffic delivers over time, from one sample to the next."""
    chosen = [_rates(runs, i) for i in _points(runs, "flow_series")]
    top = max((float(line.value.max(initial=0.0)) for of in chosen for line in of.values()), default=0.0)
    scale = units.DELIVERED.scaled(top)
    of = [{name: Line(t, v * scale.factor) for name, (t, v) in lines.items()} for lines in chosen]
    return _drawn(runs, of, units.headed(runs.points, units.DELIVERED, scale.unit))


def queue(runs: Results) -> Figure:
    """Packets waiting and their average at the ports where two ever waited at once, by queue where it has several."""
    return _of_series(runs, PACKETS, "waiting", _queues, "two packets never waited at once at any port")


def bucket(runs: Results) -> Figure:
    """Tokens of every conditioner's buckets."""
    return _of_series(runs, BYTES, "tokens", _buckets, "no conditioner of this run has a bucket")


def _queues(lines: dict[Of, Line]) -> dict[Of, Line]:
    used = {of.hop for of, line in lines.items() if of.quantity == "queue_packets" and line.value.max() > 1}
    shown = {"queue_packets", "avg_queue_packets", "packets"}
    return {of: line for of, line in lines.items() if of.hop in used and of.quantity.split(".")[-1] in shown}


def _buckets(lines: dict[Of, Line]) -> dict[Of, Line]:
    return {of: line for of, line in lines.items() if of.conditioner and "bucket" in of.quantity}


def _of_series(runs: Results, column: Column, what: str, choose: Choose, without: str) -> Figure:
    """Chosen lines, in the unit of a column like theirs."""
    chosen = [choose(_lines(runs, i)) for i in _points(runs, "series")]
    if not any(chosen):
        raise ValueError(without)
    top = max(float(line.value.max()) for lines in chosen for line in lines.values())
    scale = column.scaled(top)
    scaled = [{of.label: Line(t, v * scale.factor) for of, (t, v) in lines.items()} for lines in chosen]
    what = units.named(runs.points, what) if column.accounted else what
    return _drawn(runs, scaled, f"{what}, {scale.unit}")


def _points(runs: Results, table: str) -> range:
    """The numbers of the points, if this run has the table and few enough of them."""
    if table not in runs.tables or not len(runs.table(table)["t_s"]):
        raise ValueError("this run has no series: run it again with --trace series, or with `sample` in [scenario]")
    if len(runs.points) > MOST_POINTS:
        raise ValueError(f"{len(runs.points)} points are too many over time: name one point's directory")
    return range(len(runs.points))


def _drawn(runs: Results, chosen: list[dict[str, Line]], unit: str) -> Figure:
    """A panel for each point, a colour for each line."""
    names = list(dict.fromkeys(name for lines in chosen for name in lines))
    if len(names) > MOST_LINES:
        raise ValueError(f"{len(names)} lines are too many for one picture: read the table with perhop.Runs instead")
    looks = {name: (label, i) for i, (name, label) in enumerate(zip(names, shortened(names, 36), strict=True))}
    figure, panels = style.panels(len(chosen))
    titles = shortened([point.title for point in runs.points], 60)
    for axes, lines, title in zip(panels, chosen, titles, strict=True):
        axes.set_title(f"{title}, first replication" if title else "first replication")
        if not lines:
            style.empty(axes, "nothing to show here")
            continue
        for name, line in lines.items():
            label, look = looks[name]
            again, which = divmod(look, len(style.SERIES))
            kind, colour = "--" if again else "-", style.SERIES[which]
            axes.plot(line.t_s, line.value, kind, color=colour, linewidth=0.9, label=label)
        axes.set_ylabel(unit)
        axes.set_xlabel("time, s")
        axes.margins(x=0)
    style.legend(figure)
    return figure


def _first(table: Columns, point: int) -> np.ndarray:
    """The rows of a point's first replication."""
    first = table["replication"][table["point"] == point].min(initial=np.iinfo(np.int64).max)
    return np.flatnonzero((table["point"] == point) & (table["replication"] == first))


def _lines(runs: Results, point: int) -> dict[Of, Line]:
    table = runs.table("series")
    keys: dict[Of, list[int]] = {}
    for i in _first(table, point):
        keys.setdefault(Of(table["hop"][i], table["conditioner"][i], table["quantity"][i]), []).append(int(i))
    return {of: Line(table["t_s"][at], table["value"][at]) for of, at in keys.items()}


def _rates(runs: Results, point: int) -> dict[str, Line]:
    """Bits a second between samples, summed over the flows of each traffic."""
    table = runs.table("flow_series")
    rows = _first(table, point)
    out = {}
    for name in dict.fromkeys(table["traffic"][rows]):
        at = rows[table["traffic"][rows] == name]
        times, places = np.unique(table["t_s"][at], return_inverse=True)
        total = np.bincount(places, weights=table["delivered_bytes"][at].astype(np.float64))
        out[name] = Line(times[1:], 8 * np.diff(total) / np.diff(times))
    return out
