"""Where packets went: which colour they got, why they were dropped."""

from __future__ import annotations

import numpy as np

from perhop import measured
from perhop.columns import Group, Values
from perhop.plots import axis, grid, style
from perhop.plots.axis import rows
from perhop.plots.grid import Quantity
from perhop.plots.style import Figure
from perhop.results import Results
from perhop.units import LOST

Counts = dict[Group, Values]
ROWS = ("hop", "class", "colour")


def colours(runs: Results) -> Figure:
    """Colours of each class behind the ports that mark, in per cent of its packets."""
    marks = runs.table("conditioners")
    hops = {
        hop for hop, out in zip(marks["hop"], marks["colour_out"], strict=True) if out in ("green", "yellow", "red")
    }
    if not hops:
        raise ValueError("no conditioner of this run gives colours")
    counts = {g: n for g, n in _counts(runs, "arrived_packets").items() if g[-3] in hops}
    parts = {colour: {g[:-1]: n for g, n in counts.items() if g[-1] == colour} for colour in style.PACKETS}
    whole: Counts = {}
    for (*group, _), n in counts.items():
        whole[tuple(group)] = whole.get(tuple(group), np.zeros_like(n)) + n
    return _drawn(runs, _shares(parts, whole), style.PACKETS)


def drops(runs: Results) -> Figure:
    """Packets dropped at each port by reason, in per cent of those that arrived."""
    counts = {reason: _counts(runs, f"dropped_{reason}_packets") for reason in style.REASONS}
    lost = {group for of in counts.values() for group, packets in of.items() if packets.any()}
    if not lost:
        figure, (axes,) = style.panels(1)
        style.empty(axes, "no packet was dropped")
        return figure
    parts = {reason: {g: of[g] for g in of if g in lost and of[g].any()} for reason, of in counts.items()}
    return _drawn(runs, _shares(parts, _counts(runs, "arrived_packets")), style.REASONS)


def _counts(runs: Results, column: str) -> Counts:
    return runs.totals("summary", column, by=[*runs.keys, *ROWS])


def _shares(parts: dict[str, Counts], whole: Counts) -> dict[str, Counts]:
    """In per cent; nothing of nothing is not known."""
    with np.errstate(invalid="ignore"):
        return {part: {g: 100 * n / whole[g] for g, n in of.items()} for part, of in parts.items() if of}


def _drawn(runs: Results, shares: dict[str, Counts], look: dict[str, str]) -> Figure:
    """Stacked bars of a single point; means with intervals over a sweep."""
    if len(runs.points) > 1:
        return grid.facets(runs, [Quantity(f"{part}, %", of, LOST) for part, of in shares.items()])
    names = list(dict.fromkeys(" ".join(group) for of in shares.values() for group in of))
    named = {part: {" ".join(group): values for group, values in of.items()} for part, of in shares.items()}
    figure, (axes,) = style.panels(1, 1, 0.5 + 0.3 * len(names))
    left = np.zeros(len(names))
    for part, of in named.items():
        estimates = [measured.known(LOST, of[name]) if name in of else None for name in names]
        widths = np.array([estimate.mean if estimate else 0.0 for estimate in estimates])
        axes.barh(range(len(names)), widths, 0.66, left, color=look[part], label=part)
        left += widths
    rows(axes, axis.named(None, names))
    axes.set_xlim(left=0)
    axes.set_xlabel("packets, %")
    style.legend(figure)
    return figure
