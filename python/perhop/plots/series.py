"""Rates, delays, queues and buckets over time, in the first replication of a point; the warm-up is shaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from perhop import _core, in_force, units
from perhop.columns import Columns, Group, Point, Values
from perhop.plots import extent, passed, style
from perhop.plots.extent import Extent
from perhop.plots.lines import Line, Of
from perhop.plots.names import shortened
from perhop.plots.points import thinned
from perhop.plots.sheet import Sheet
from perhop.plots.style import Axes, Figure
from perhop.results import Results
from perhop.units import Column

PACKETS, BYTES = (units.COLUMNS["events", name] for name in ("queue_packets", "queue_bytes"))
ROUND_TRIP, WAIT = units.COLUMNS["flow_series", "srtt_ms"], units.COLUMNS["summary", "wait_mean_ms"]
MOST_POINTS = 6
MOST_PANELS = 12
MOST_LINES = 8
"""As many as there are colours."""
AVERAGE = "those with the largest averages"
HEIGHT = 2.0
"""Inches of a panel."""
DASHES = ("-", "--", ":", "-.")
"""Of classes whose lines have the colours of their packets."""
WARMUP = "warm-up, not counted"


class Panel(NamedTuple):
    """Where a line is drawn: a point, and a port or what else the panel is about."""

    point: int
    of: str


Lines = dict[Panel, dict[Group, Line]]


class Drawn(NamedTuple):
    """Lines, their unit's column and their label."""

    lines: Lines
    column: Column
    label: str
    keys: Sequence[str]
    """What tells lines apart."""
    painted: bool = False
    """Whether the last key is a packet's colour, in which the line is drawn."""


def _label(group: Group) -> str:
    """`avg queue`, `gold: bucket`: what a line is at its port, or whose it is."""
    *whose, what = group
    if not whose:
        return what
    for unit in ("_packets", "_bytes", ".packets"):
        what = what.removesuffix(unit)
    return ": ".join(filter(None, (*whose, what.replace("_", " ").replace(".", " "))))


def over_time(runs: Results, sheet: Sheet) -> Figure:
    """What each traffic delivers over time, or each class and colour sends at each port; first replication."""
    if not _has(runs, "flow_series") and passed.are_there(runs):
        return _sent(runs, sheet)
    runs = _points(runs, "flow_series", sheet)
    lines = {Panel(i, ""): _rates(runs, i) for i in range(len(runs.points))}
    scale = units.DELIVERED.scaled(_top(lines))
    label = units.headed(runs.points, units.DELIVERED, scale.unit)
    return _drawn(runs, [Drawn(_scaled(lines, scale.factor), units.DELIVERED, label, ["traffic"])], sheet)


def _sent(runs: Results, sheet: Sheet) -> Figure:
    """From packets at ports: a panel for each port."""
    runs = thinned(runs, runs.keys, MOST_POINTS, sheet)
    lines = {Panel(i, hop): of for i in range(len(runs.points)) for hop, of in passed.rates(runs, i).items()}
    if not lines:
        raise ValueError("nothing to show: no packet was sent at any port")
    lines = _at_ports(lines, len(runs.points), sheet)
    scale, column = units.DELIVERED.scaled(_top(lines)), units.DELIVERED
    label = f"{units.named(runs.points, 'sent')}, {scale.unit}"
    return _drawn(runs, [Drawn(_scaled(lines, scale.factor), column, label, ["class", "colour"], painted=True)], sheet)


def delay_over_time(runs: Results, sheet: Sheet) -> Figure:
    """Round trips as senders measure them, and how long a port needs to send what waits; first replication."""
    runs = _points(runs, "flow_series", sheet)
    measured = _has(runs, "flow_series")
    trips = {Panel(i, "round trip"): _round_trips(runs, i) for i in range(len(runs.points)) if measured}
    waits = {Panel(i, "time to send what waits"): _backlogs(runs, i) for i in range(len(runs.points))}
    drawn = [Drawn(trips, ROUND_TRIP, "round trip, ms", ["traffic"]), Drawn(waits, WAIT, "wait, ms", ["hop"])]
    found = [of for of in drawn if any(of.lines.values())]
    if not found:
        raise ValueError("nothing to show: no sender of this run measures round trips, and no packet ever waited")
    return _drawn(runs, found, sheet)


def queue(runs: Results, sheet: Sheet) -> Figure:
    """Packets waiting, and their average, at ports where two ever waited at once; first replication."""
    drawn = _of_series(runs, PACKETS, _queues, sheet)
    if drawn is None:
        raise ValueError("two packets never waited at once at any port")
    return drawn


def bucket(runs: Results, sheet: Sheet) -> Figure:
    """Tokens of every conditioner's buckets, in the first replication."""
    if not _has(runs, "series"):
        raise ValueError(f"{LACKING}: run it again with {SAMPLED}")
    drawn = _of_series(runs, BYTES, _buckets, sheet)
    if drawn is None:
        raise ValueError("no conditioner of this run has a bucket")
    return drawn


Choose = Callable[[dict[Of, Line]], dict[Of, Line]]


def _queues(lines: dict[Of, Line]) -> dict[Of, Line]:
    used = {of.hop for of, line in lines.items() if of.quantity == "queue_packets" and line.value.max() > 1}
    shown = {"queue_packets", "avg_queue_packets", "packets"}
    return {of: line for of, line in lines.items() if of.hop in used and of.quantity.split(".")[-1] in shown}


def _buckets(lines: dict[Of, Line]) -> dict[Of, Line]:
    return {of: line for of, line in lines.items() if of.conditioner and "bucket" in of.quantity}


def _of_series(runs: Results, column: Column, choose: Choose, sheet: Sheet) -> Figure | None:
    """Chosen lines, in the unit of a column like theirs; a panel for each port. `None` without a line."""
    runs, lines = _points(runs, "series", sheet), Lines()
    for i in range(len(runs.points)):
        for of, line in choose(_lines(runs, i)).items():
            lines.setdefault(Panel(i, of.hop), {})[of[1:]] = line
    if not lines:
        return None
    scale, what = column.scaled(_top(lines)), "waiting" if column is PACKETS else "tokens"
    what = units.named(runs.points, what) if column.accounted else what
    lines = _at_ports(lines, len(runs.points), sheet)
    return _drawn(runs, [Drawn(_scaled(lines, scale.factor), column, f"{what}, {scale.unit}", Of._fields[1:])], sheet)


def _at_ports(lines: Lines, points: int, sheet: Sheet) -> Lines:
    """At the ports for which there is room: those where most waits, or most tokens are."""
    worth: dict[tuple[str, ...], float] = {}
    for panel, of in lines.items():
        worth[panel.of,] = max(worth.get((panel.of,), 0.0), *(float(line.value.mean()) for line in of.values()))
    kept = {hop for (hop,) in sheet.chosen(worth, ["hop"], max(1, MOST_PANELS // points), AVERAGE)}
    return {panel: of for panel, of in lines.items() if panel.of in kept}


LACKING, SAMPLED = "this run has no series", "--trace series, or with `sample` in [scenario]"


def _has(runs: Results, table: str) -> bool:
    """Whether these runs were sampled."""
    return table in runs.tables and len(runs.table(table)["t_s"]) > 0


def _points(runs: Results, table: str, sheet: Sheet) -> Results:
    """The points for which there is room, if this run has the table or packets at ports."""
    if not _has(runs, table) and not passed.are_there(runs):
        raise ValueError(f"{LACKING}: run it again with {SAMPLED}, or with --trace events")
    return thinned(runs, runs.keys, MOST_POINTS, sheet)


def _top(lines: Lines) -> float:
    return max((float(line.value.max(initial=0.0)) for of in lines.values() for line in of.values()), default=0.0)


def _scaled(lines: Lines, factor: float) -> Lines:
    return {panel: {name: Line(t, v * factor) for name, (t, v) in of.items()} for panel, of in lines.items()}


def _drawn(runs: Results, every: Sequence[Drawn], sheet: Sheet) -> Figure:
    """A panel for each point and port, a colour for each line."""
    every = [of._replace(lines=_chosen(of, sheet)) for of in every]
    panels = sorted(((panel, of) for of in every for panel in of.lines), key=lambda found: found[0].point)
    names = list(dict.fromkeys(_label(name) for panel, of in panels for name in of.lines[panel]))
    classes = list(dict.fromkeys(name[0] for panel, of in panels for name in of.lines[panel]))
    looks = {name: (label, i) for i, (name, label) in enumerate(zip(names, shortened(names, 36), strict=True))}
    extents = {of.label: _extent(of, sheet) for of in every}
    titles = shortened([point.title for point in runs.points], 60)
    figure, axes = style.panels(len(panels), 1, HEIGHT, look=sheet.look)
    for at, (panel, of) in zip(axes, panels, strict=True):
        style.name(at, ", ".join(filter(None, (panel.of, titles[panel.point]))), figure.get_figwidth())
        if not of.lines[panel]:
            style.empty(at, "nothing to show here")
            continue
        _shade(at, runs.points[panel.point])
        _draw(at, of.lines[panel], looks, classes if of.painted else [])
        extents[of.label].put(at, "y", of.label, HEIGHT)
        at.set_xlabel("time, s")
    style.legend(figure, sheet=sheet)
    return figure


def _draw(axes: Axes, lines: Mapping[Group, Line], looks: Mapping[str, tuple[str, int]], classes: list[str]) -> None:
    for name, line in lines.items():
        label, look = looks[_label(name)]
        again, which = divmod(look, len(style.SERIES))
        kind, colour = "--" if again else "-", style.SERIES[which % len(style.SERIES)]
        if classes:
            kind, colour = DASHES[classes.index(name[0]) % len(DASHES)], style.PACKETS[name[-1]]
        axes.plot(line.t_s, line.value, kind, color=colour, linewidth=0.9, label=label)
    axes.margins(x=0)


def _shade(axes: Axes, point: Point) -> None:
    """What is not counted, at the beginning."""
    warmup = _core.quantity(in_force.settings(point.effective).get("scenario.warmup", "")) if point.effective else None
    if warmup and warmup[0] > 0:
        axes.axvspan(0.0, warmup[0], color=style.EDGE, alpha=0.35, linewidth=0, label=WARMUP)


def _extent(of: Drawn, sheet: Sheet) -> Extent:
    """One for all panels of a quantity."""
    values: dict[str, list[float]] = {}
    for panel, lines in of.lines.items():
        for name, line in lines.items():
            values.setdefault(f"{_label(name)} {panel.of}".strip(), []).extend(line.value.tolist())
    every = [value for found in values.values() for value in found]
    if extent.wanted(of.column, values, sheet.look):
        return extent.logarithmic(every)
    return Extent(*style.from_zero(every, every))


def _chosen(of: Drawn, sheet: Sheet) -> Lines:
    """As many lines of a panel as can be told apart."""
    if all(len(lines) <= MOST_LINES for lines in of.lines.values()):
        return of.lines
    worth: dict[Group, float] = {}
    for lines in of.lines.values():
        for name, line in lines.items():
            worth[name] = max(worth.get(name, 0.0), float(np.nanmean(line.value)))
    kept = set(sheet.chosen(worth, of.keys, MOST_LINES, AVERAGE))
    return {panel: {n: line for n, line in lines.items() if n in kept} for panel, lines in of.lines.items()}


def _first(table: Columns, point: int) -> np.ndarray:
    """The rows of a point's first replication."""
    first = table["replication"][table["point"] == point].min(initial=np.iinfo(np.int64).max)
    return np.flatnonzero((table["point"] == point) & (table["replication"] == first))


def _lines(runs: Results, point: int) -> dict[Of, Line]:
    if not _has(runs, "series"):
        return passed.backlogs(runs, point)
    table = runs.table("series")
    keys: dict[Of, list[int]] = {}
    for i in _first(table, point):
        keys.setdefault(Of(table["hop"][i], table["conditioner"][i] or "", table["quantity"][i]), []).append(int(i))
    return {of: Line(table["t_s"][at], table["value"][at]) for of, at in keys.items()}


def _by_traffic(
    runs: Results, point: int, column: str, fold: Callable[[np.ndarray, Values], Values]
) -> dict[Group, Line]:
    """The values of each traffic's flows at each sample, put together by the place of the sample."""
    table = runs.table("flow_series")
    rows = _first(table, point)
    out: dict[Group, Line] = {}
    for name in dict.fromkeys(table["traffic"][rows]):
        at = rows[table["traffic"][rows] == name]
        at = at[~np.isnan(table[column][at].astype(np.float64))]
        times, places = np.unique(table["t_s"][at], return_inverse=True)
        if len(times):
            out[name,] = Line(times, fold(places, table[column][at].astype(np.float64)))
    return out


def _rates(runs: Results, point: int) -> dict[Group, Line]:
    """Bits a second between samples, summed over the flows of each traffic."""
    total = _by_traffic(runs, point, "delivered_bytes", lambda at, count: np.bincount(at, count).astype(np.float64))
    return {name: Line(t[1:], 8 * np.diff(value) / np.diff(t)) for name, (t, value) in total.items() if len(t) > 1}


def _round_trips(runs: Results, point: int) -> dict[Group, Line]:
    """The mean over the flows of each traffic that have measured one."""
    return _by_traffic(runs, point, ROUND_TRIP.name, lambda at, ms: np.bincount(at, weights=ms) / np.bincount(at))


def _backlogs(runs: Results, point: int) -> dict[Group, Line]:
    """What waits at each port over the rate of its link, ms; of ports where two packets ever waited at once."""
    links, lines = runs.table("links"), _lines(runs, point)
    rates = {links["hop"][i]: float(links["rate_bit_s"][i]) for i in _first(links, point)}
    used = {of.hop for of in _queues(lines)}
    return {
        (of.hop,): Line(line.t_s, 8e3 * line.value / rates[of.hop])
        for of, line in lines.items()
        if of.hop in used and of.quantity == "queue_bytes"
    }
