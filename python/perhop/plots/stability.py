"""The picture of `perhop tune`: where Lemma 3.1 puts the boundary, and what the fluid model does on either side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perhop.plots import style
from perhop.plots.style import Axes, Figure

STABLE, UNSTABLE = "#009e73", "#d55e00"
LOWEST = 1.0
"""Thresholds below a packet are not drawn."""


def tune(arguments: dict[str, Any]) -> int:
    """The verb's picture."""
    path = style.picture_file(Path(arguments["output"]))
    style.save(figure(arguments["picture"]), path)
    print(path)
    return 0


def figure(picture: dict[str, Any]) -> Figure:
    """Critical threshold over flows with the settings as points; the load over time on both sides of the boundary."""
    with style.styled():
        drawn = style.picture(9.2, 3.9)
        grid = drawn.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
        _boundary(drawn.add_subplot(grid[:, 0]), picture)
        above = drawn.add_subplot(grid[0, 1])
        _time(above, drawn.add_subplot(grid[1, 1], sharex=above), picture)
    return drawn


def _boundary(axes: Axes, picture: dict[str, Any]) -> None:
    curves, settings, least = picture["curves"], picture["settings"], picture["flows"][0]
    longest = curves[-1]
    top = 4.0 * max(*(s["v0"] for s in settings), _at(longest, least))
    lowest = max(LOWEST, min(10.0, *(0.3 * s["v0"] for s in settings)))
    flows, critical = longest["flows"], longest["critical_packets"]
    left, last = max(1.0, min(least / 6.0, curves[0]["flows"][-1] / 6.0)), flows[-1]
    axes.fill_between([*flows, last], [*critical, lowest], top, color=STABLE, alpha=0.12, linewidth=0)
    axes.fill_between(flows, lowest, critical, color=UNSTABLE, alpha=0.12, linewidth=0)
    axes.axvspan(last, 3.0 * last, color="#666666", alpha=0.12, linewidth=0)
    for curve, colour in zip(curves, style.SERIES, strict=False):
        label = f"RTT {1e3 * curve['rtt_s']:.0f} ms"
        axes.plot(curve["flows"], curve["critical_packets"], color=colour, linewidth=1.6, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, 3.0 * last)
    axes.set_ylim(lowest, top)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    for x, y, word, colour in ((0.03, 0.33, "unstable", UNSTABLE), (0.5, 0.955, "stable", STABLE)):
        axes.text(x, y, word, color=colour, transform=axes.transAxes, va="top", fontsize=10, style="italic")
    low = (1.7 * last, 1.3 * lowest)
    axes.text(*low, "no equilibrium: timeouts rule", color="#555555", rotation=90, ha="center", va="bottom", fontsize=8)
    _settings(axes, picture)
    axes.set_xlabel("TCP flows")
    axes.set_ylabel("threshold, packets")
    alpha = f"\N{GREEK SMALL LETTER ALPHA} = {picture['alpha']:.2g}"
    axes.set_title(f"a  Critical threshold of Lemma 3.1, {alpha}", loc="left", fontsize=9, fontweight="bold")
    axes.legend(loc="lower left")


def _settings(axes: Axes, picture: dict[str, Any]) -> None:
    """Each setting from the fewest flows to the most, its name on the side away from the boundary."""
    low, high = picture["flows"]
    for setting in picture["settings"]:
        stable, v0 = setting["stable"], setting["v0"]
        colour = STABLE if stable else UNSTABLE
        axes.plot([low, high], [v0] * 2, color=colour, linewidth=1.0, linestyle=(0, (2, 1.5)))
        axes.plot([low], [v0], "o", color=colour, markersize=6, markeredgecolor="white", zorder=5)
        alpha = f"\N{GREEK SMALL LETTER ALPHA} = {setting['alpha']:.2g}"
        text = f"{setting['name']}: V\N{SUBSCRIPT ZERO} = {v0:.0f}, {alpha}"
        where: dict[str, Any] = {"textcoords": "offset points", "ha": "left" if stable else "right", "va": "bottom"}
        axes.annotate(text, (low, v0), (7 if stable else -7, 4), fontsize=8, color="#222222", **where)


def _time(above: Axes, below: Axes, picture: dict[str, Any]) -> None:
    from matplotlib.ticker import MaxNLocator

    panels = (above, below)
    flows, rtt = picture["flows"][0], 1e3 * picture["rtt_s"]
    title = f"b  Fluid model: {flows:.0f} flows, RTT {rtt:.0f} ms"
    panels[0].set_title(title, loc="left", fontsize=9, fontweight="bold")
    for axes, trajectory, colour in zip(panels, picture["trajectories"], (STABLE, UNSTABLE), strict=True):
        load = [100.0 * value for value in trajectory["load"]]
        axes.plot(trajectory["t_s"], load, color=colour, linewidth=1.1)
        axes.axhline(100.0, color="#444444", linewidth=0.6)
        axes.margins(x=0.0, y=0.12)
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.2 * (high - low))
        label = f"threshold {trajectory['ratio']} of the critical one"
        axes.text(0.02, 0.95, label, transform=axes.transAxes, va="top", color=colour)
        axes.set_ylabel("load, % of the link")
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter("{x:g}")
    panels[0].tick_params(labelbottom=False)
    panels[1].set_xlabel("time, s")


def _at(curve: dict[str, Any], flows: float) -> float:
    """The critical threshold at a number of flows, that of the next number drawn."""
    beyond = (c for n, c in zip(curve["flows"], curve["critical_packets"], strict=True) if n >= flows)
    return float(next(beyond, LOWEST))
