"""Not in the paper: where its bias is. Over buffer, time-out and jitter; and over the phase of the round trips."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.drawing import PUBLISHED, Picture, canvas, curve, legend_above, picture
from perhop_studies.redp.terms import LOOKS, PLAIN, TCP
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

regime = Study("redp-map", title="Where the bias is: buffer, time-out, jitter (not in the paper)", runs="redp-map")
phase = Study(
    "redp-phase", title="Whose bias it is: the phase of the round trips (not in the paper)", runs="redp-phase"
)
STUDIES = [regime, phase]

ACCESS = (10, 100)
"""Rate of the links that are not bottlenecks, Mbit/s: with 10 one flow wins, with 100 one starves."""
BUFFERS = (20, 25, 30, 35, 40, 50, 60, 100)
RULES = tuple((rto, jitter) for rto in (1000, 200) for jitter in (0, 1))
"""Least time-out and jitter, ms."""
LONGER = tuple(range(0, 6401, 400))
"""us by which all round trips are longer."""
JITTERS = {0: "no jitter", 1: "1 ms of jitter", 7: "6.7 ms of jitter"}
SERVICE = 1000 * 8 / 1.2e6 * 1e6
"""us in which the bottleneck sends a packet."""
EFFECT = 45.0
"""The standard deviation of green that Fig. 5's criterion takes for the paper's bias, kbit/s."""


@regime.claim("map")
def a_corner(runs: Samples) -> Finding:
    """Spread of green over all of it."""
    rows: list[dict[str, Any]] = []
    for access, buffer, (rto, jitter) in product(ACCESS, BUFFERS, RULES):
        each: dict[str, Any] = {"access, Mb/s": access, "B": buffer, "least time-out, ms": rto, "jitter, ms": jitter}
        for drop, look in LOOKS.items():
            found = runs.at(access=access, buffer=buffer, rto=rto, jitter=jitter, drop=drop)
            spread = found.mean("std.green")
            each |= {f"std green, {look.label}": spread.mean, f"± {look.label}": spread.half}
            each[f"least green, {look.label}"] = found.mean("least.green").mean
        rows.append(each)
    note = "kb/s; B = 20 is drop-tail, as no threshold of RIO is below it"
    return Finding([], note, rows, seeds=spread.n)


@phase.claim("phases")
def an_accident(runs: Samples) -> Finding:
    """Spread and least of green over the phase."""
    rows: list[dict[str, Any]] = []
    for longer in LONGER:
        for drop, look in LOOKS.items():
            found = runs.at(longer=longer, drop=drop, jitter=0)
            flows = {flow: found.mean(f"{flow}.green").mean for flow in TCP}
            spreads = {f"std green, {name}": _at(runs, longer, drop, jitter).mean for jitter, name in JITTERS.items()}
            rows.append({"longer, ms": longer / 1000, "marker": look.label, **flows, **spreads})
    counted = {look.label: _biased(runs, drop) for drop, look in LOOKS.items()}
    told = ", ".join(f"{label} {n} of {len(LONGER)}" for label, n in counted.items())
    note = f"kb/s. Phases with a std of green of {EFFECT:g} or more: {told}"
    return Finding([], note, rows, seeds=len(runs.values("std.green", longer=0, drop=PLAIN, jitter=0)))


def _at(runs: Samples, longer: int, drop: int, jitter: int) -> stats.Interval:
    return runs.mean("std.green", longer=longer, drop=drop, jitter=jitter)


def _biased(runs: Samples, drop: int) -> int:
    return sum(_at(runs, at, drop, 0).mean >= EFFECT for at in LONGER)


def draw_map(runs: Samples) -> Picture:
    """Four grids of numbers, by marker and access links, in one scale of colour."""
    figure, panels = canvas(2, (9.6, 7.6), rows=2)
    for axes, (access, (drop, look)) in zip(panels, product(ACCESS, LOOKS.items()), strict=True):
        at = {"access": access, "drop": drop}
        grid = [[_spread(runs, buffer=b, rto=rto, jitter=j, **at) for rto, j in RULES] for b in BUFFERS]
        _heat(axes, grid)
        axes.set_title(f"{look.label}, access links of {access} Mb/s")
        axes.set_xticks(range(len(RULES)), [f"{rto / 1000:g} s, {jitter} ms" for rto, jitter in RULES])
        axes.set_yticks(range(len(BUFFERS)), [str(b) for b in BUFFERS])
    for axes in panels[2:]:
        axes.set_xlabel("least time-out, jitter")
    for axes in panels[::2]:
        axes.set_ylabel("buffer, packets")
    caption = "Standard deviation of green, kb/s. Published under REDP: 25, and three flows over 175: at least 65."
    alternative = (
        "Large under REDP with buffers of 20 to 30 packets, small from 40 on; the dropper takes most of it away."
    )
    return picture(figure, "redp-map", caption, alternative)


def _spread(runs: Samples, **at: int) -> float:
    return runs.mean("std.green", **at).mean


def _heat(axes: Axes, grid: list[list[float]]) -> None:
    axes.imshow(grid, cmap="YlOrRd", vmin=0, vmax=150, aspect="auto")
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            axes.text(
                j, i, f"{value:.0f}", ha="center", va="center", fontsize=9, color="white" if value > 90 else "#1c2733"
            )
    axes.grid(visible=False)


def draw_phase(runs: Samples) -> Picture:
    """Spread and least of green over the phase, without jitter and with it."""
    figure, panels = canvas(4, (12.4, 3.2))
    x = [longer / 1000 for longer in LONGER]
    shown = [("least.green", 0, "least of the four, kb/s")]
    shown += [("std.green", jitter, f"std of green, {name}") for jitter, name in JITTERS.items()]
    for axes, (quantity, jitter, title) in zip(panels, shown, strict=True):
        for drop, look in LOOKS.items():
            curve(axes, look, x, [runs.mean(quantity, longer=at, drop=drop, jitter=jitter) for at in LONGER])
        axes.axvline(SERVICE / 1000, color=PUBLISHED, linestyle=":", linewidth=1.0)
        axes.set_ylim(0, 200 if quantity == "least.green" else 125)
        axes.set_xlabel("round trips longer by, ms")
        axes.set_title(title)
    panels[0].axhline(25, color=PUBLISHED, linestyle=(0, (5, 3)), linewidth=1.1, label="published, REDP")
    legend_above(figure)
    caption = (
        "Fig. 5's scenario (at 0) with round trips longer by up to one service time of the bottleneck (dotted). Who "
        "is favoured is a matter of phase, and so is by how much. Published: least green 25 kb/s."
    )
    alternative = (
        "Plain REDP's spread goes from 15 to 105 kb/s and back over 6.7 ms; with the dropper it stays below 30."
    )
    return picture(figure, "redp-phase", caption, alternative)
