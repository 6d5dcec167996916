"""What each class got, stacked by colour, against its contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from perhop import units
from perhop.answer import Answer, answers
from perhop.columns import COLOURS, short
from perhop.plots import style
from perhop.plots.axis import Axis, numeric, x_axis
from perhop.plots.names import shortened
from perhop.plots.style import Axes, Figure
from perhop.results import Results
from perhop.units import Scale

MOST_BARS = 80
MOST_PANELS = 12
WIDTH = 5.4
"""Inches: narrow, for a phone."""


def delivered(runs: Results) -> Figure:
    """What each class got, by colour, against what it offered and its contract."""
    return drawn(runs, answers(runs))


def drawn(runs: Results, found: Sequence[Answer]) -> Figure:
    """The picture of these answers."""
    largest = max((max(a.offered.mean, a.delivered.mean, a.contract_bit_s or 0.0) for a in found), default=0.0)
    scale = units.DELIVERED.scaled(largest)
    axis = x_axis(runs)
    panels = _panels(runs, axis, found) if axis.key else {}
    figure = _areas(runs, axis, panels, scale) if 0 < len(panels) <= MOST_PANELS else _bars(runs, found, scale)
    style.legend_below(figure)
    return figure


Panels = dict[tuple[str, str], list[tuple[float, Answer]]]
"""By class and what else is swept: the answers along the axis."""


def _panels(runs: Results, axis: Axis, found: Sequence[Answer]) -> Panels:
    out: Panels = {}
    for answer in found:
        labels = dict(runs.points[answer.point].labels)
        x = axis.numbers[labels.pop(axis.key or "")]
        out.setdefault((answer.name, ", ".join(labels.values())), []).append((x, answer))
    return {key: sorted(line, key=lambda at: at[0]) for key, line in out.items()}


def _areas(runs: Results, axis: Axis, panels: Panels, scale: Scale) -> Figure:
    """A panel for each class, and for each value of what else is swept; the axis to scale."""
    others = list(dict.fromkeys(other for _, other in panels))
    columns = len(others) if len(others) > 1 else min(len(panels), 2)
    figure, every = style.panels(-(-len(panels) // columns), columns, 2.0, max(WIDTH, 2.6 * columns))
    values = dict(zip(others, shortened(others), strict=True))
    titles = dict(zip((name for name, _ in panels), shortened([name for name, _ in panels]), strict=True))
    keys = ", ".join(short(key) for key in runs.keys if key != axis.key)
    for axes, ((name, other), line) in zip(every, panels.items(), strict=False):
        _area(axes, line, scale)
        numeric(axes, axis)
        axes.set_title(f"{titles[name]}, {keys} {values[other]}" if other else titles[name])
        axes.set_ylabel(units.named(runs.points, scale.unit))
    for axes in every[len(panels) :]:
        axes.remove()
    top = max(axes.get_ylim()[1] for axes in every[: len(panels)]) if len(others) > 1 else 0.0
    for axes in every[: len(panels)]:
        axes.set_ylim(0, top or axes.get_ylim()[1])
    return figure


def _area(axes: Axes, line: list[tuple[float, Answer]], scale: Scale) -> None:
    xs, every = [x for x, _ in line], [answer for _, answer in line]
    base = np.zeros(len(xs))
    for colour in COLOURS:
        heights = np.array([_mean(answer, colour) for answer in every]) * scale.factor
        if heights.any():
            look: dict[str, Any] = {"color": style.PACKETS[colour], "linewidth": 0, "label": colour}
            axes.fill_between(xs, base, base + heights, alpha=0.85, **look)
            base = base + heights
    offered = [answer.offered.mean * scale.factor for answer in every]
    axes.plot(xs, offered, color=style.MUTED, linewidth=1, linestyle=(0, (2, 2)), label="offered")
    contracts = [np.nan if a.contract_bit_s is None else a.contract_bit_s * scale.factor for a in every]
    if not np.isnan(contracts).all():
        axes.plot(xs, contracts, color=style.INK, linewidth=1.8, label="contract")


def _bars(runs: Results, found: Sequence[Answer], scale: Scale) -> Figure:
    """A bar for each class, in groups by point."""
    if len(found) > MOST_BARS:
        raise ValueError(
            f"{len(runs.points)} points with {len(found) // len(runs.points)} classes are too many bars: "
            "name fewer points' directories, or sweep numbers, which are drawn along an axis"
        )
    titles = shortened([point.title for point in runs.points], 40)
    names = [f"{titles[a.point]}, {a.name}" if runs.keys else a.name for a in found]
    figure, (axes,) = style.panels(1, 1, 0.35 + 0.3 * len(found), WIDTH)
    ys = np.arange(len(found), dtype=float)
    left = np.zeros(len(found))
    for colour in COLOURS:
        widths = np.array([_mean(answer, colour) for answer in found]) * scale.factor
        if widths.any():
            axes.barh(ys, widths, 0.62, left, color=style.PACKETS[colour], label=colour)
            left += widths
    offered = [answer.offered.mean * scale.factor for answer in found]
    frame: dict[str, Any] = {"facecolor": "none", "edgecolor": style.MUTED, "linewidth": 0.8, "label": "offered"}
    axes.barh(ys, offered, 0.78, **frame)
    marks = [(y, a.contract_bit_s * scale.factor) for y, a in zip(ys, found, strict=True) if a.contract_bit_s]
    if marks:
        at, where = [x for _, x in marks], [y for y, _ in marks]
        axes.vlines(
            at, np.array(where) - 0.46, np.array(where) + 0.46, color=style.INK, linewidth=2.2, label="contract"
        )
    axes.set_yticks(ys, shortened(names, 40))
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(units.headed(runs.points, units.DELIVERED, scale.unit))
    return figure


def _mean(answer: Answer, colour: str) -> float:
    return answer.colours[colour].mean if colour in answer.colours else 0.0
