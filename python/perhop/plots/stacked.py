"""What each class got, stacked by colour, against its contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perhop import units
from perhop.answer import Answer, answers
from perhop.columns import COLOURS, short
from perhop.plots import style
from perhop.plots.axis import Axis, numeric, x_axis
from perhop.plots.names import shortened
from perhop.plots.points import CHANGING, thinned
from perhop.plots.sheet import Look, Sheet, Worth
from perhop.plots.style import Axes, Figure
from perhop.results import Results
from perhop.units import Scale

MOST_BARS = 60
MOST_COLUMNS = 4
"""Panels beside each other: values of what is swept beside the axis."""
WIDTH = 5.4
"""Inches: narrow, for a phone."""
NARROW = 2.6
"""Inches of a panel where several are beside each other."""


def delivered(runs: Results, sheet: Sheet) -> Figure:
    """What each class got, by colour, against what it offered and its contract."""
    return drawn(runs, answers(runs), sheet)


def drawn(runs: Results, found: Sequence[Answer], sheet: Sheet) -> Figure:
    """The picture of these answers."""
    refuse_logarithmic(sheet.look)
    axis = x_axis(runs)
    others, points = [key for key in runs.keys if key != axis.key], len(runs.points)
    fewer = thinned(runs, others, MOST_COLUMNS if axis.key else MOST_BARS // 4, sheet)
    kept = [point.labels for point in fewer.points]
    found = [answer for answer in found if runs.points[answer.point].labels in kept]
    room = style.most_panels(sheet.look) if axis.key else MOST_BARS
    columns = len({tuple(point.labels[key] for key in others) for point in fewer.points}) if axis.key else len(kept)
    rule = CHANGING if points > 1 else "those that were offered most"
    names = {name for (name,) in sheet.chosen(_worth(found, points > 1), ["class"], max(1, room // columns), rule)}
    found = [answer for answer in found if answer.name in names]
    largest = max((max(a.offered.mean, a.delivered.mean, a.contract_bit_s or 0.0) for a in found), default=0.0)
    scale = units.DELIVERED.scaled(largest)
    figure = (
        _areas(runs, axis, found, Drawing(scale, sheet.look))
        if axis.key
        else _bars(runs, found, Drawing(scale, sheet.look))
    )
    style.legend_below(figure, sheet.look)
    return figure


class Drawing(NamedTuple):
    """In which unit, and how large."""

    scale: Scale
    look: Look


def refuse_logarithmic(look: Look) -> None:
    """Raises an error: parts that are stacked have no logarithmic axis."""
    if look.log_y:
        raise ValueError(
            "log-y: parts that are stacked have no logarithmic axis; choose --kind throughput or delay, or a column"
        )


def _worth(found: Sequence[Answer], changes: bool) -> Worth:
    """How much what a class got changes from point to point; at a single point what it offered."""
    got: dict[tuple[str, ...], list[float]] = {}
    for answer in found:
        got.setdefault((answer.name,), []).append(answer.delivered.mean if changes else answer.offered.mean)
    return {name: max(of) - min(of) if changes else sum(of) for name, of in got.items()}


Panels = dict[tuple[str, str], list[tuple[float, Answer]]]
"""By class and what else is swept: the answers along the axis."""


def _panels(runs: Results, axis: Axis, found: Sequence[Answer]) -> Panels:
    out: Panels = {}
    for answer in found:
        labels = dict(runs.points[answer.point].labels)
        x = axis.numbers[labels.pop(axis.key or "")]
        out.setdefault((answer.name, ", ".join(labels.values())), []).append((x, answer))
    names = list(dict.fromkeys(name for name, _ in out))
    rows = sorted(out, key=lambda panel: names.index(panel[0]))
    return {key: sorted(out[key], key=lambda at: at[0]) for key in rows}


def _areas(runs: Results, axis: Axis, found: Sequence[Answer], drawing: Drawing) -> Figure:
    """A panel for each class, and for each value of what else is swept; the axis to scale."""
    panels, scale, look = _panels(runs, axis, found), drawing.scale, drawing.look
    others = list(dict.fromkeys(other for _, other in panels))
    columns = style.abreast(look, len(others) if len(others) > 1 else min(len(panels), 2))
    figure, every = style.panels(-(-len(panels) // columns), columns, 2.0, max(WIDTH, NARROW * columns), look)
    values = dict(zip(others, shortened(others), strict=True))
    titles = dict(zip((name for name, _ in panels), shortened([name for name, _ in panels]), strict=True))
    keys = ", ".join(short(key) for key in runs.keys if key != axis.key)
    for axes, ((name, other), line) in zip(every, panels.items(), strict=False):
        _area(axes, line, scale)
        numeric(axes, axis)
        title = f"{titles[name]}, {keys} {values[other]}" if other else titles[name]
        style.name(axes, title, figure.get_figwidth() / columns)
        axes.set_ylabel(units.named(runs.points, scale.unit))
    for axes in every[len(panels) :]:
        axes.remove()
    tops: dict[str, float] = {}
    for (name, _), axes in zip(panels, every, strict=False):
        tops[name] = max(tops.get(name, 0.0), axes.get_ylim()[1])
    for (name, _), axes in zip(panels, every, strict=False):
        axes.set_ylim(0, tops[name])
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


def _bars(runs: Results, found: Sequence[Answer], drawing: Drawing) -> Figure:
    """A bar for each class, in groups by point."""
    scale = drawing.scale
    titles = shortened([point.title for point in runs.points], 40)
    names = [f"{titles[a.point]}, {a.name}" if runs.keys else a.name for a in found]
    figure, (axes,) = style.panels(1, 1, 0.35 + 0.3 * len(found), WIDTH, drawing.look)
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
