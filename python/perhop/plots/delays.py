"""How delays are distributed: their histogram if the run recorded one, else quantiles; as lines and as boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perhop import measured, units
from perhop.columns import Group
from perhop.plots import extent, style
from perhop.plots.axis import named, rows
from perhop.plots.extent import ROOM, Extent
from perhop.plots.grid import CHOSEN_LINES, MOST_POINTS, MOST_ROWS, look_of
from perhop.plots.names import shortened
from perhop.plots.points import CHANGING, thinned
from perhop.plots.sheet import Sheet
from perhop.plots.style import Axes, Figure
from perhop.results import Results
from perhop.stats import Interval

EXCEEDED = {"delay_p50_ms": 0.5, "delay_p99_ms": 0.01, "delay_p999_ms": 0.001}
"""The share of packets whose delay is above each quantile."""

LARGEST, MEAN = "delay_max_ms", "delay_mean_ms"
RULE = "those with the longest delays"
MOST_PANELS = 12
ROW = ("class", "colour")
SHARES = (1.0, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6, 1e-7)
LABEL = "delay, ms"
UNMARKED = "unmarked"
"""The colour of packets that nothing has coloured."""


class Exceeded(NamedTuple):
    """Delays, ms, in ascending order, and the share of packets above each."""

    delays: np.ndarray
    shares: np.ndarray


class Distribution(NamedTuple):
    """What is recorded of the delays of a row at a point, over the replications."""

    recorded: dict[str, Interval]
    """By column."""
    packets: float
    """Delivered, the mean over the replications."""
    histogram: Exceeded | None = None
    """All delays of all replications, if they were recorded."""

    @property
    def line(self) -> list[tuple[Interval, float]]:
        """Delays, and the share of packets above each; that of the largest is one packet."""
        line = [(self.recorded[name], share) for name, share in EXCEEDED.items()]
        last = min(EXCEEDED.values())
        return [*line, (self.recorded[LARGEST], 1 / self.packets)] if self.packets * last > 1 else line

    @property
    def least(self) -> float:
        """The smallest share above 0 that is drawn."""
        if self.histogram is None:
            return self.line[-1][1]
        return float(self.histogram.shares[:-1].min(initial=1.0))


Distributions = dict[Group, dict[int, Distribution]]
"""By row, then by point."""


Chart = dict[str, dict[str, Distribution]]
"""Panel -> line or box -> what it shows."""


def cdf(runs: Results, sheet: Sheet) -> Figure:
    """Share of packets with a longer delay. Steps: histogram (--trace delays). Markers: quantiles, joined by lines."""
    runs = thinned(runs, runs.keys, CHOSEN_LINES, sheet)
    chart = _chart(runs, _found(runs, sheet, CHOSEN_LINES if len(runs.points) == 1 else MOST_PANELS))
    wide = style.abreast(sheet.look, min(3, len(chart)))
    figure, every = style.panels(-(-len(chart) // wide), wide, 2.6 if len(chart) == 1 else 2.2, look=sheet.look)
    lines, shown = list(dict.fromkeys(line for of in chart.values() for line in of)), _extent(chart, sheet)
    least = min(at.least for of in chart.values() for at in of.values())
    for axes, (title, of) in _panels(every, chart):
        for name, at in of.items():
            _draw(axes, at, lines.index(name), name)
        style.name(axes, title, figure.get_figwidth() / wide)
        _put_shares(axes, least)
        shown.put(axes, "x", LABEL, figure.get_figwidth() / wide)
    style.legend(figure, sheet=sheet)
    return figure


def _draw(axes: Axes, at: Distribution, number: int, name: str) -> None:
    """A step at each recorded delay; without a histogram a marker at each quantile."""
    if at.histogram is None:
        delays, shares = [y.mean for y, _ in at.line], [share for _, share in at.line]
        axes.plot(delays, shares, **look_of(number, name, "--"))
    else:
        look = look_of(number, name, "-") | {"marker": "none"}
        axes.plot(*at.histogram, drawstyle="steps-post", **look)


def box(runs: Results, sheet: Sheet) -> Figure:
    """Delays as recorded: a box from the median to 99 %, a line to 99.9 %, a dot at the largest, a bar at the mean."""
    runs = thinned(runs, runs.keys, MOST_POINTS, sheet)
    many = len(runs.points)
    chart = _chart(
        runs, _found(runs, sheet, MOST_ROWS if many == 1 else max(1, min(MOST_PANELS, 3 * MOST_ROWS // many)))
    )
    wide = style.abreast(sheet.look, min(3, len(chart)))
    axis = named(None, list(dict.fromkeys(name for of in chart.values() for name in of)))
    figure, every = style.panels(-(-len(chart) // wide), wide, 0.5 + 0.27 * len(axis.numbers), look=sheet.look)
    shown = _extent(chart, sheet)
    for i, (axes, (title, of)) in enumerate(_panels(every, chart)):
        for name, at in of.items():
            _box(axes, axis.numbers[name], at.recorded)
        style.name(axes, title, figure.get_figwidth() / wide)
        rows(axes, axis)
        shown.put(axes, "x", LABEL, figure.get_figwidth() / wide)
        axes.tick_params(labelleft=i % wide == 0)
    style.legend_below(figure, sheet.look)
    return figure


def _histograms(runs: Results) -> dict[Group, Exceeded]:
    """Of every point, class and colour whose delays were recorded, over all replications."""
    if "delays" not in runs.tables:
        return {}
    table = runs.table("delays")
    rows: dict[Group, list[int]] = {}
    for i, (point, *row) in enumerate(zip(*(table[name] for name in ("point", *ROW)), strict=True)):
        rows.setdefault((str(point), *row), []).append(i)
    return {group: _exceeded(table["delay_ms"][at], table["packets"][at]) for group, at in rows.items()}


def _exceeded(delays: np.ndarray, packets: np.ndarray) -> Exceeded:
    ascending, places = np.unique(delays.astype(np.float64), return_inverse=True)
    counts = np.bincount(places, weights=packets.astype(np.float64))
    return Exceeded(ascending, 1 - np.cumsum(counts) / counts.sum())


def _chart(runs: Results, found: Distributions) -> Chart:
    """A run's rows in one panel; of a sweep a panel for each row, with the points in it by name."""
    names = dict(zip(found, shortened([_named(row) for row in found], 40), strict=True))
    points = shortened([point.title for point in runs.points], 40)
    if len(points) == 1:
        return {"": {names[row]: of[0] for row, of in found.items()}}
    return {names[row]: {points[i]: of[i] for i in sorted(of)} for row, of in found.items()}


def _named(row: Group) -> str:
    """A class with its colour, if its packets have one."""
    return " ".join(name for name in row if name != UNMARKED)


def _panels(every: list[Axes], chart: Chart) -> list[tuple[Axes, tuple[str, dict[str, Distribution]]]]:
    """The panels that are drawn; the others are removed."""
    for axes in every[len(chart) :]:
        axes.remove()
    return list(zip(every, chart.items(), strict=False))


def _extent(chart: Chart, sheet: Sheet) -> Extent:
    """One for all panels, from the medians and means to the largest."""
    every = {
        f"{name} {title}".strip(): list(at.recorded.values()) for title, of in chart.items() for name, at in of.items()
    }
    means = {name: [y.mean for y in of] for name, of in every.items()}
    log = extent.wanted(units.COLUMNS["arrivals", LARGEST], means, sheet.look)
    return extent.around([y for of in every.values() for y in of], log=log)


def _put_shares(axes: Axes, least: float) -> None:
    """From all packets down to the least share, in per cent."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_yscale("log")
    axes.set_ylim(least / ROOM, 1.0)
    axes.yaxis.set_major_locator(FixedLocator([share for share in SHARES if share >= least / ROOM]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}"))
    axes.set_ylabel("longer delay, % of packets")


def _box(axes: Axes, y: float, recorded: dict[str, Interval]) -> None:
    middle, tail, far = (recorded[name].mean for name in EXCEEDED)
    first, rest = style.SERIES[0], style.SERIES[1]
    axes.barh([y], [tail - middle], 0.5, [middle], color=first, alpha=0.45, linewidth=0, label="median to 99 %")
    axes.hlines([y], tail, far, color=first, linewidth=1.4, label="to 99.9 %")
    axes.plot([recorded[LARGEST].mean], [y], "o", color=rest, markersize=3.5, linestyle="none", label="largest")
    axes.vlines([recorded[MEAN].mean], y - 0.3, y + 0.3, color=style.INK, linewidth=1.6, label="mean")


def _found(runs: Results, sheet: Sheet, room: int) -> Distributions:
    """The rows for which there is room, with what is recorded of them."""
    columns = {name: units.COLUMNS["arrivals", name] for name in (*EXCEEDED, LARGEST, MEAN)}
    by = ["point", *ROW]
    values = {n: runs.values("arrivals", n, by=by, missing=np.nan) for n in columns}
    packets, histograms = runs.totals("arrivals", "delivered_packets", by=by), _histograms(runs)
    out: Distributions = {}
    for point, *row in packets:
        group = (point, *row)
        known = {n: measured.known(of, values[n][group]) for n, of in columns.items()}
        recorded = {n: mean for n, mean in known.items() if mean}
        if len(recorded) == len(columns):
            out.setdefault(tuple(row), {})[int(point)] = Distribution(
                recorded, float(np.mean(packets[group])), histograms.get(group)
            )
    if not out:
        raise ValueError("nothing to show: no packet of this run reached its destination")
    tails = {row: [at.recorded["delay_p99_ms"].mean for at in of.values()] for row, of in out.items()}
    swept = len(runs.points) > 1
    telling = {row: max(of) - min(of) if swept else max(of) for row, of in tails.items()}
    kept = sheet.chosen(telling, ROW, room, CHANGING if swept else RULE)
    return {row: out[row] for row in kept}
