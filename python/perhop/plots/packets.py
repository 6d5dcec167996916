"""Where packets went: which colour they got, why they were dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from perhop import measured
from perhop.columns import Group, Values
from perhop.plots import axis, grid, stacked, style
from perhop.plots.axis import rows
from perhop.plots.grid import Kind, Quantity
from perhop.plots.sheet import Sheet
from perhop.plots.style import Figure
from perhop.results import Results
from perhop.units import LOST

Counts = dict[Group, Values]
Shares = dict[str, Counts]
"""By part: a colour or a reason."""
ROWS = ("hop", "class", "colour")


def colours(runs: Results, sheet: Sheet) -> Figure:
    """Colours of each class behind the ports that mark, in per cent of its packets."""
    marks = runs.table("conditioners")
    hops = {
        hop for hop, out in zip(marks["hop"], marks["colour_out"], strict=True) if out in ("green", "yellow", "red")
    }
    if not hops:
        raise ValueError("no conditioner of this run gives colours")

    def shares(of: Results) -> Shares:
        counts = {g: n for g, n in _counts(of, "arrived_packets").items() if g[-3] in hops}
        parts = {colour: {g[:-1]: n for g, n in counts.items() if g[-1] == colour} for colour in style.PACKETS}
        whole: Counts = {}
        for (*group, _), n in counts.items():
            whole[tuple(group)] = whole.get(tuple(group), np.zeros_like(n)) + n
        return _shares(parts, whole)

    return _drawn(runs, shares, Bars(ROWS[:2], style.PACKETS, "arrived_packets", "those with the most packets"), sheet)


def drops(runs: Results, sheet: Sheet) -> Figure:
    """Packets dropped at each port by reason, in per cent of those that arrived."""

    def shares(of: Results) -> Shares:
        counts = {reason: _counts(of, f"dropped_{reason}_packets") for reason in style.REASONS}
        lost = {group for found in counts.values() for group, packets in found.items() if packets.any()}
        parts = {
            reason: {g: found[g] for g in found if g in lost and found[g].any()} for reason, found in counts.items()
        }
        return _shares(parts, _counts(of, "arrived_packets"))

    if not shares(runs):
        figure, (axes,) = style.panels(1, look=sheet.look)
        style.empty(axes, "no packet was dropped")
        return figure
    return _drawn(runs, shares, Bars(ROWS, style.REASONS, "dropped_packets", "those that lost the most packets"), sheet)


class Bars(NamedTuple):
    """What tells bars apart, the colours of their parts, and which are shown where there are too many."""

    row: Sequence[str]
    look: dict[str, str]
    worth: str
    """The counts by which they are chosen."""
    rule: str


def _counts(runs: Results, column: str) -> Counts:
    return runs.totals("summary", column, by=[*runs.keys, *ROWS])


def _shares(parts: Shares, whole: Counts) -> Shares:
    """In per cent; nothing of nothing is not known."""
    with np.errstate(invalid="ignore"):
        return {part: {g: 100 * n / whole[g] for g, n in of.items()} for part, of in parts.items() if of}


def _drawn(runs: Results, shares: Callable[[Results], Shares], bars: Bars, sheet: Sheet) -> Figure:
    """Stacked bars of a single point; means with intervals over a sweep."""

    def measure(of: Results) -> list[Quantity]:
        return [Quantity(f"{part}, %", values, LOST) for part, values in shares(of).items()]

    if len(runs.points) > 1:
        return grid.facets(runs, measure, Kind(bars.row), sheet)
    stacked.refuse_logarithmic(sheet.look)
    swept = len(runs.keys)
    found = {part: {group[swept:]: values for group, values in of.items()} for part, of in shares(runs).items()}
    counts = {group[swept:]: n for group, n in _counts(runs, bars.worth).items()}
    groups = dict.fromkeys(group for of in found.values() for group in of)
    worth = {group: sum(float(n.sum()) for g, n in counts.items() if g[: len(group)] == group) for group in groups}
    kept = sheet.chosen(worth, bars.row, grid.MOST_ROWS, bars.rule)
    figure, (axes,) = style.panels(1, 1, 0.5 + 0.3 * len(kept), look=sheet.look)
    edge = np.zeros(len(kept))
    for part, of in found.items():
        estimates = [measured.known(LOST, of[row]) if row in of else None for row in kept]
        widths = np.array([estimate.mean if estimate else 0.0 for estimate in estimates])
        axes.barh(range(len(kept)), widths, 0.66, edge, color=bars.look[part], label=part)
        edge += widths
    rows(axes, axis.named(None, [" ".join(row) for row in kept]))
    axes.set_xlim(left=0)
    axes.set_xlabel("packets, %")
    style.legend(figure, sheet=sheet)
    return figure
