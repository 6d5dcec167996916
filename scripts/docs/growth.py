"""Draws docs/reports/figures/growth.svg: `make renew WHAT=growth`.

CPU time of a whole process over the size of its scenario, start-up taken off, with the exponent of each line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

from perhop.plots import style

FIGURE = Path(__file__).resolve().parents[2] / "docs/reports/figures/growth.svg"

Axis = dict[str, Any]


def points(axis: Axis) -> list[tuple[int, float]]:
    """Sizes, and CPU seconds beyond start-up where they are more than nothing."""
    beyond = [(point["n"], point["cpu_s"] - axis["start_up_s"]) for point in axis["points"]]
    return [(n, cpu) for n, cpu in beyond if cpu > 0]


def label(name: str, axis: Axis) -> str:
    """`flows 1.08`."""
    return name if axis["exponent"] is None else f"{name}: {axis['exponent']:.2f}"


def drawn(growth: dict[str, Any]) -> Figure:
    """All axes of `perhop-bench --growth`, and two lines to compare their slopes with."""
    with style.styled():
        figure, (axes,) = style.panels(1, height=2.8)
        lines = {name: points(axis) for name, axis in growth["axes"].items()}
        for name, line in lines.items():
            if line:
                axes.plot(*zip(*line, strict=True), marker="o", label=label(name, growth["axes"][name]))
        sizes = sorted({n for line in lines.values() for n, _ in line})
        low, high = sizes[0], sizes[-1]
        bottom = min(cpu for line in lines.values() for _, cpu in line) / 2
        for exponent, dashes in ((1.0, ":"), (growth["bar"], "--")):
            ends = [bottom, bottom * (high / low) ** exponent]
            axes.plot([low, high], ends, dashes, color=style.MUTED, linewidth=1, label=f"a line of {exponent:g}")
        axes.set(xscale="log", yscale="log", xlabel="how many of them (log scale)", ylabel="CPU time, s (log scale)")
        axes.xaxis.set_major_locator(FixedLocator(sizes))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
        style.legend(figure, "what, and its exponent")
    return figure


def main() -> None:
    """Draws what standard input holds."""
    growth = json.load(sys.stdin)["growth"]
    style.save(drawn(growth), Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURE)


if __name__ == "__main__":
    main()
