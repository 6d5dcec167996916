"""The layout of means with intervals: along a swept number, or name by name; a panel for each quantity and row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from perhop import measured
from perhop.columns import Group, Values, short
from perhop.plots import extent, style
from perhop.plots.axis import Axis, named, numeric, rows, x_axis
from perhop.plots.extent import Extent
from perhop.plots.names import LONGEST, shortened
from perhop.plots.points import CHANGING, LARGEST, thinned
from perhop.plots.sheet import Look, Sheet, Worth
from perhop.plots.style import Axes, Figure
from perhop.results import Results
from perhop.stats import Interval
from perhop.units import Column

HEIGHT = 2.2
"""Inches of a panel along a swept number."""
SHORT = 18
"""Characters of names that need no shortening: what all lines have in common says which rows were chosen."""
MOST_PANELS = 24
MOST_LINES = 16
MOST_ROWS = 40
"""Rows of a run one below the other."""
MOST_POINTS = 24
"""Points of a sweep of names, one below the other."""
CHOSEN_LINES = 8
"""In a picture that chooses them itself: as many as there are colours."""


@dataclass(frozen=True)
class Quantity:
    """What is drawn: a label with its unit, and for each group the value in each replication.

    A group is a point's labels, followed by the names of a row (class, colour, ...).
    """

    label: str
    values: dict[Group, Values]
    column: Column
    """Whose values they are, or of what kind."""
    factor: float = 1.0
    """What they are shown in, over what the column has."""

    def known(self, values: Values) -> Interval | None:
        """Mean and interval of the values of a group, as they are shown."""
        found = measured.known(self.column, values)
        return found.scaled(self.factor) if found else None


Line = list[tuple[float, Interval]]
Lines = dict[str, Line]
Chart = dict[str, Lines]
"""Panel -> line -> positions with mean and interval."""


@dataclass(frozen=True)
class Kind:
    """The columns of a table that a plot shows, each in a separate panel."""

    row: Sequence[str]
    """What tells the rows of the table apart."""
    rule: str = LARGEST
    """Which rows a run without a sweep shows where there are too many."""
    least: bool = False
    """Whether those are the rows with the smallest values."""


Measure = Callable[[Results], Sequence[Quantity]]


def facets(runs: Results, measure: Measure, kind: Kind, sheet: Sheet) -> Figure:
    """A column of panels for each quantity. What else is swept are lines in a panel for each row, else rows are."""
    axis = x_axis(runs)
    others = [key for key in runs.keys if key != axis.key]
    runs = thinned(runs, others, CHOSEN_LINES if axis.key else MOST_POINTS, sheet)
    quantities = [of for of in measure(runs) if any(not np.isnan(values).all() for values in of.values.values())]
    if not quantities:
        raise ValueError("nothing to show: no traffic of this run has this quantity")
    quantities = _chosen(runs, quantities, kind, sheet)
    if len(runs.points) == 1:
        axis = named(None, [" ".join(group[len(runs.keys) :]) for quantity in quantities for group in quantity.values])
        figure = draw(axis, quantities, [{"": _by_name(runs, axis, quantity)} for quantity in quantities], sheet)
        style.legend(figure, sheet=sheet)
        return figure
    axis = x_axis(runs)
    charts = arranged([_lines(runs, axis, quantity) for quantity in quantities])
    figure = draw(axis, quantities, charts, sheet)
    style.legend(figure, ", ".join(map(short, others)) if axis.key and others else "", sheet)
    return figure


def _chosen(runs: Results, quantities: Sequence[Quantity], kind: Kind, sheet: Sheet) -> list[Quantity]:
    """The quantities of as many rows as can be read."""
    alone = len(runs.points) == 1
    room, rule = (MOST_ROWS, kind.rule) if alone else (_room(runs, len(quantities), sheet.look), CHANGING)
    kept = sheet.chosen(worth(runs, quantities, least=kind.least), kind.row, room, rule)
    order, swept = {row: i for i, row in enumerate(kept)}, len(runs.keys)
    chosen = []
    for of in quantities:
        groups = sorted((g for g in of.values if g[swept:] in order), key=lambda g: order[g[swept:]])
        chosen += [replace(of, values={g: of.values[g] for g in groups})] if groups else []
    return chosen


def _room(runs: Results, quantities: int, look: Look) -> int:
    """Rows of a sweep: each in separate panels, or, where there are several quantities and no other key, as lines."""
    lines = x_axis(runs).key is None or len(runs.keys) == 1
    return CHOSEN_LINES if lines and quantities > 1 else max(1, style.most_panels(look) // quantities)


def worth(runs: Results, quantities: Sequence[Quantity], *, least: bool = False) -> Worth:
    """How much each row changes from point to point; at a single point how large its values are, or how small.

    In shares of the most of each quantity.
    """
    out: dict[Group, float] = {}
    for quantity in quantities:
        means: dict[Group, list[float]] = {}
        for group, values in quantity.values.items():
            found = quantity.known(values)
            means.setdefault(group[len(runs.keys) :], []).extend([found.mean] if found else [])
        if len(runs.points) > 1:
            worths = {row: max(of, default=0.0) - min(of, default=0.0) for row, of in means.items()}
        else:
            worths = {row: (-1 if least else 1) * sum(of) for row, of in means.items()}
        most = max(map(abs, worths.values()), default=0.0) or 1.0
        for row, value in worths.items():
            out[row] = out.get(row, 0.0) + value / most
    return out


def _by_name(runs: Results, axis: Axis, quantity: Quantity) -> Lines:
    found = {" ".join(group[len(runs.keys) :]): quantity.known(values) for group, values in quantity.values.items()}
    return {"": [(axis.numbers[name], estimate) for name, estimate in found.items() if estimate]}


Rows = dict[tuple[str, str], Line]
"""By row, and by what is swept beside the axis."""


def _lines(runs: Results, axis: Axis, quantity: Quantity) -> Rows:
    out: Rows = {}
    for group, values in quantity.values.items():
        swept, row = dict(zip(runs.keys, group, strict=False)), " ".join(group[len(runs.keys) :])
        x = axis.numbers[swept.pop(axis.key) if axis.key else ", ".join(swept.values())]
        line = out.setdefault((row, ", ".join(swept.values()) if axis.key else ""), [])
        if (estimate := quantity.known(values)) is not None:
            line.append((x, estimate))
    return {key: sorted(line, key=lambda p: p[0]) for key, line in out.items()}


def arranged(quantities: Sequence[Rows]) -> list[Chart]:
    """The lines of each quantity as panels with lines."""
    names = list(dict.fromkeys(row for of in quantities for row, _ in of))
    others = list(dict.fromkeys(other for of in quantities for _, other in of))
    apart = len(others) > 1 or len(names) > len(style.SERIES)
    charts: list[Chart] = []
    for of in quantities:
        chart: Chart = {name: {} for name in (names if apart else [""])}
        for (row, other), line in of.items():
            chart[row if apart else ""][other if apart else row] = line
        charts.append(chart)
    return charts


def draw(axis: Axis, quantities: Sequence[Quantity], charts: Sequence[Chart], sheet: Sheet) -> Figure:
    """The panels: a column for each quantity, as many as have room; with one quantity several panels share a row."""
    titles, lines = list(charts[0]), _names(charts)
    wide = _abreast(axis, min(3, len(charts) if len(charts) > 1 else len(titles)), sheet.look)
    height = HEIGHT if axis.key else max(1.0, 0.25 * len(axis.numbers) * max(1.0, 0.4 * len(lines)))
    deep = -(-len(charts) // wide) if len(charts) > 1 else 1
    down = deep * len(titles) if len(charts) > 1 else -(-len(titles) // wide)
    figure, every = style.panels(down, wide, height, look=sheet.look)
    legends = lines if max(map(len, lines), default=0) <= SHORT else shortened(lines)
    looks = {line: (legend, i) for i, (line, legend) in enumerate(zip(lines, legends, strict=True))}
    length = HEIGHT if axis.key else (figure.get_figwidth() - _beside(axis)) / wide
    extents = [_extent(of, chart, sheet.look) for of, chart in zip(quantities, charts, strict=True)]
    for i, axes in enumerate(every):
        panel, quantity = (divmod(i, deep * wide)) if len(charts) > 1 else (i, 0)
        if panel >= len(titles) or quantity >= len(charts):
            axes.remove()
            continue
        title = titles[panel]
        shown = QuantityAxis(quantities[quantity].label, extents[quantity], length)
        _panel(axes, axis, charts[quantity][title], looks, shown)
        style.name(axes, title if len(title) <= LONGEST else shortened(titles)[panel], figure.get_figwidth() / wide)
        if not axis.key and i % wide:
            axes.tick_params(labelleft=False)
            axes.set_ylabel("")
    return figure


def _abreast(axis: Axis, most: int, look: Look) -> int:
    if axis.key:
        return style.abreast(look, most)
    return style.abreast(look, most, style.SLIM, _beside(axis))


def _beside(axis: Axis) -> float:
    """Inches that the names of rows take, about."""
    return 0.3 + max(map(len, shortened(list(axis.numbers), 40))) / 13


def _names(charts: Sequence[Chart]) -> list[str]:
    return list(dict.fromkeys(line for chart in charts for panel in chart.values() for line in panel))


def _extent(quantity: Quantity, chart: Chart, look: Look) -> Extent:
    """One for all panels of a quantity."""
    every = {
        " ".join(filter(None, (panel, line))): [y for _, y in points]
        for panel, lines in chart.items()
        for line, points in lines.items()
    }
    return extent.of_means(quantity.column, every, look)


class QuantityAxis(NamedTuple):
    """The axis of a quantity."""

    label: str
    extent: Extent
    inches: float


def _panel(axes: Axes, axis: Axis, lines: Lines, looks: dict[str, tuple[str, int]], shown: QuantityAxis) -> None:
    """Every line, by its legend and the number of its look."""
    along, spread = axis.key is not None, _spread(axis, len(lines))
    for place, (line, points) in enumerate(lines.items()):
        (legend, look), shift = looks[line], spread * (place - (len(lines) - 1) / 2)
        places, means = [x + shift for x, _ in points], [y.mean for _, y in points]
        xy = (places, means) if along else (means, places)
        bars = {"yerr" if along else "xerr": _halves(points)}
        axes.errorbar(*xy, capsize=2.5, **bars | look_of(look, legend, "-" if along else "none"))
    if along:
        numeric(axes, axis)
    else:
        rows(axes, axis)
    shown.extent.put(axes, "y" if along else "x", shown.label, shown.inches)


def _spread(axis: Axis, lines: int) -> float:
    """Between lines at the same position, so that their intervals can be told apart."""
    if axis.key is None:
        return 0.7 / max(lines, 1)
    return 0.0 if axis.logarithmic else (max(axis.numbers.values()) - min(axis.numbers.values())) * 0.006


def look_of(number: int, label: str, linestyle: str) -> dict[str, Any]:
    """Colours come twice, the second time with other markers and dashed."""
    again, which = divmod(number, len(style.SERIES))
    colour, marker = style.SERIES[which], style.MARKERS[(which + 3 * again) % len(style.MARKERS)]
    linestyle = "--" if again and linestyle == "-" else linestyle
    return {"color": colour, "marker": marker, "linestyle": linestyle, "label": label}


def _halves(line: Line) -> list[list[float]]:
    """What an interval has below its mean, and above."""
    sides = ([y.mean - y.low for _, y in line], [y.high - y.mean for _, y in line])
    return [[0.0 if np.isnan(side) else side for side in of] for of in sides]
