"""The layout of a quantity's means: a panel for each row, along a swept number if there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perhop.columns import Group, Values, short
from perhop.plots import style
from perhop.results import Runs
from perhop.stats import Interval, interval


@dataclass(frozen=True)
class Axis:
    """The swept key that runs along x, with its values as numbers; without one, points stand side by side."""

    key: str | None
    label: str
    numbers: dict[str, float]


@dataclass(frozen=True)
class Quantity:
    """What is drawn: a label with its unit, and for each group the value in each replication.

    A group is a point's labels, followed by the names of a row (class, colour, ...).
    """

    label: str
    values: dict[Group, Values]


Line = list[tuple[float, Interval]]


def number(text: str) -> tuple[float, str] | None:
    """`5Mbit/s` as 5 and `Mbit/s`; `None` if it does not begin with a number."""
    read = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*)", text)
    return (float(read[1]), read[2]) if read else None


def x_axis(runs: Runs) -> Axis:
    """The swept key with the most numbers, all in one unit; at least two."""
    best = Axis(None, "", {_named(list(p.labels.values())): float(i) for i, p in enumerate(runs.points)})
    most = 1
    for key in runs.keys:
        texts = list(dict.fromkeys(point.labels[key] for point in runs.points))
        read = [value for value in map(number, texts) if value]
        if len(read) == len(texts) > most and len({unit for _, unit in read}) == 1:
            unit = f" ({read[0][1]})" if read[0][1] else ""
            numbers = {text: value for text, (value, _) in zip(texts, read, strict=True)}
            best, most = Axis(key, f"{short(key)}{unit}", numbers), len(texts)
    return best


def _named(swept: Sequence[str]) -> str:
    return ", ".join(swept)


def rows(runs: Runs, quantity: Quantity) -> dict[str, dict[str, Line]]:
    """Row -> line -> points with mean and interval; a line is named by what else is swept."""
    axis, out = x_axis(runs), dict[str, dict[str, Line]]()
    for group, values in quantity.values.items():
        swept, row = dict(zip(runs.keys, group, strict=False)), " ".join(group[len(runs.keys) :])
        x = axis.numbers[swept.pop(axis.key) if axis.key else _named(list(swept.values()))]
        label = _named(list(swept.values())) if axis.key else ""
        line = out.setdefault(row, {}).setdefault(label, [])
        if (estimate := known(values)) is not None:
            line.append((x, estimate))
    return {row: {label: sorted(line, key=lambda p: p[0]) for label, line in of.items()} for row, of in out.items()}


def known(values: Values) -> Interval | None:
    """Mean and interval over the replications that have the quantity; `None` if none has."""
    present = values[~np.isnan(values)]
    return interval(present) if len(present) else None


def facets(runs: Runs, quantities: Sequence[Quantity]) -> Figure:
    """A column of panels for each quantity, a panel for each row; with a single point one panel, rows along x."""
    if len(runs.points) == 1:
        return _single(runs, quantities)
    axis, drawn = x_axis(runs), [rows(runs, quantity) for quantity in quantities]
    names = list(dict.fromkeys(row for of in drawn for row in of))
    figure, panels = style.panels(max(1, len(names)), len(quantities))
    for i, axes in enumerate(panels):
        row, column = divmod(i, len(quantities))
        if row < len(names):
            _panel(axes, axis, drawn[column].get(names[row], {}))
            axes.set_title(names[row], loc="left", fontsize=9)
        axes.set_ylabel(quantities[column].label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


def _panel(axes: Axes, axis: Axis, lines: dict[str, Line]) -> None:
    spread = (max(axis.numbers.values()) - min(axis.numbers.values())) * 0.015
    for i, (label, line) in enumerate(lines.items()):
        shift = (i - (len(lines) - 1) / 2) * spread / 2
        _estimates(axes, [(x + shift, y) for x, y in line], "o-" if axis.key else "o", label)
    if axis.key is None:
        ticks(axes, list(axis.numbers))
    axes.set_xlabel(axis.label)
    axes.set_ylim(bottom=0)


def _single(runs: Runs, quantities: Sequence[Quantity]) -> Figure:
    figure, panels = style.panels(1, len(quantities))
    for axes, quantity in zip(panels, quantities, strict=True):
        found = {row: line for row, of in rows(runs, quantity).items() for line in of.values() if line}
        _estimates(axes, [(float(i), line[0][1]) for i, line in enumerate(found.values())], "o")
        ticks(axes, list(found))
        axes.set_ylabel(quantity.label)
        axes.set_ylim(bottom=0)
    return figure


def _estimates(axes: Axes, line: Line, style_: str, label: str = "") -> None:
    xs, means, halves = [x for x, _ in line], [y.mean for _, y in line], [y.half for _, y in line]
    axes.errorbar(xs, means, yerr=halves, fmt=style_, capsize=3, markersize=4, linewidth=1.2, label=label)


def ticks(axes: Axes, names: Sequence[str]) -> None:
    """Names along x, slanted when they are long."""
    slanted = sum(len(name) for name in names) > 24
    axes.set_xticks(range(len(names)), names, rotation=30 if slanted else 0, ha="right" if slanted else "center")
    axes.set_xlim(-0.6, len(names) - 0.4)
