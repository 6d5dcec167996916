"""The layout of means with intervals: along a swept number, or name by name; a panel for each quantity and row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perhop import measured
from perhop.columns import Group, Values, short
from perhop.plots import style
from perhop.plots.axis import Axis, named, numeric, rows, x_axis
from perhop.plots.names import LONGEST, shortened
from perhop.plots.style import Axes, Figure
from perhop.results import Results
from perhop.stats import Interval
from perhop.units import Column

MOST_PANELS = 24
MOST_LINES = 16


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


def facets(runs: Results, quantities: Sequence[Quantity]) -> Figure:
    """A column of panels for each quantity. What else is swept are lines in a panel for each row; else rows are lines.

    Raises:
        ValueError: when it would take too many panels or lines.
    """
    quantities = [quantity for quantity in quantities if any(not np.isnan(v).all() for v in quantity.values.values())]
    if not quantities:
        raise ValueError("nothing to show: no traffic of this run has this quantity")
    if len(runs.points) == 1:
        axis = named(None, [" ".join(group[len(runs.keys) :]) for quantity in quantities for group in quantity.values])
        figure = draw(axis, quantities, [{"": _by_name(runs, axis, quantity)} for quantity in quantities])
        style.legend(figure)
        return figure
    axis = x_axis(runs)
    charts = arranged([_lines(runs, axis, quantity) for quantity in quantities])
    figure = draw(axis, quantities, charts)
    others = ", ".join(short(key) for key in runs.keys if key != axis.key)
    style.legend(figure, others if axis.key and len(runs.keys) > 1 else "")
    return figure


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


def draw(axis: Axis, quantities: Sequence[Quantity], charts: Sequence[Chart]) -> Figure:
    """The panels: a column for each quantity; with one quantity several panels share a row."""
    titles, columns = list(charts[0]), len(charts)
    lines = list(dict.fromkeys(line for chart in charts for panel in chart.values() for line in panel))
    if len(titles) * columns > MOST_PANELS or len(lines) > MOST_LINES:
        raise ValueError(
            f"{len(titles) * columns} panels with {len(lines)} lines are too many for one picture: name fewer points' "
            "directories, or choose with y, x and by"
        )
    wide = columns if columns > 1 else min(3, len(titles))
    height = 2.2 if axis.key else max(1.0, 0.25 * len(axis.numbers) * max(1.0, 0.4 * len(lines)))
    figure, every = style.panels(-(-len(titles) * columns // wide), wide, height)
    looks = {line: (legend, i) for i, (line, legend) in enumerate(zip(lines, shortened(lines), strict=True))}
    for i, axes in enumerate(every):
        if i >= len(titles) * columns:
            axes.remove()
            continue
        title, chart = titles[i // columns], charts[i % columns]
        _panel(axes, axis, quantities[i % columns].label, chart[title], looks)
        axes.set_title(title if len(title) <= LONGEST else shortened(titles)[i // columns])
        if not axis.key and i % wide:
            axes.tick_params(labelleft=False)
            axes.set_ylabel("")
    return figure


def _panel(axes: Axes, axis: Axis, label: str, lines: Lines, looks: dict[str, tuple[str, int]]) -> None:
    """Every line, by its legend and the number of its look; the quantity's axis holds zero."""
    along, spread = axis.key is not None, _spread(axis, len(lines))
    for place, (line, points) in enumerate(lines.items()):
        (legend, look), shift = looks[line], spread * (place - (len(lines) - 1) / 2)
        places, means = [x + shift for x, _ in points], [y.mean for _, y in points]
        xy = (places, means) if along else (means, places)
        bars = {"yerr" if along else "xerr": _halves(points)}
        axes.errorbar(*xy, **bars | _look(look, legend, "-" if along else "none"))
    every = [y for points in lines.values() for _, y in points]
    limits = style.from_zero([y.low for y in every], [y.high for y in every] + [y.mean for y in every])
    if along:
        numeric(axes, axis)
        axes.set_ylabel(label)
        axes.set_ylim(limits)
    else:
        rows(axes, axis)
        axes.set_xlabel(label)
        axes.set_xlim(limits)


def _spread(axis: Axis, lines: int) -> float:
    """Between lines at the same position, so that their intervals can be told apart."""
    if axis.key is None:
        return 0.7 / max(lines, 1)
    return 0.0 if axis.logarithmic else (max(axis.numbers.values()) - min(axis.numbers.values())) * 0.006


def _look(number: int, label: str, linestyle: str) -> dict[str, Any]:
    """Colours come twice, the second time with other markers and dashed."""
    again, which = divmod(number, len(style.SERIES))
    colour, marker = style.SERIES[which], style.MARKERS[(which + 3 * again) % len(style.MARKERS)]
    linestyle = "--" if again and linestyle == "-" else linestyle
    return {"color": colour, "marker": marker, "linestyle": linestyle, "label": label, "capsize": 2.5}


def _halves(line: Line) -> list[list[float]]:
    """What an interval has below its mean, and above."""
    sides = ([y.mean - y.low for _, y in line], [y.high - y.mean for _, y in line])
    return [[0.0 if np.isnan(side) else side for side in of] for of in sides]
