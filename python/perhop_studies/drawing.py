"""Figures of a report: one style, SVG for the page and PNG beside it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop.plots.dark import inline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, PUBLISHED, REFERENCE = "#1c2733", "#667584", "#111111", "#7c3aed"

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#b8c2cc",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6eaee",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "perhop",
}


@dataclass(frozen=True)
class Picture:
    """One figure of the report."""

    name: str
    caption: str
    alternative: str
    """Its description for readers who cannot see it."""
    svg: str
    png: bytes


def canvas(columns: int = 1, size: tuple[float, float] = (7.6, 3.1), rows: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure with panels side by side, row by row."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def picture(figure: Figure, name: str, caption: str, alternative: str) -> Picture:
    """The figure as SVG (without its prologue) and PNG."""
    vector, raster = io.StringIO(), io.BytesIO()
    figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": None, "Title": caption})
    figure.savefig(raster, format="png", dpi=160, metadata={"Software": None})
    return Picture(name, caption, alternative, inline(vector.getvalue(), name), raster.getvalue())


@dataclass(frozen=True)
class Look:
    """How one of the compared items is drawn."""

    label: str
    colour: str
    point: str = "o"
    line: str = "-"


def curve(axes: Axes, look: Look, x: Sequence[float], found: Sequence[stats.Interval]) -> None:
    """Means with their intervals."""
    style: dict[str, Any] = {"color": look.colour, "marker": look.point, "linestyle": look.line, "label": look.label}
    axes.errorbar(x, [f.mean for f in found], yerr=halves(found), capsize=2.5, elinewidth=1.0, **style)


def halves(found: Sequence[stats.Interval]) -> list[float]:
    """Half-widths of the intervals; zero for a single value."""
    return [0.0 if math.isnan(f.half) else f.half for f in found]


def published_line(axes: Axes, value: float, text: str) -> None:
    """A level that the paper gives."""
    axes.axhline(value, color=PUBLISHED, linestyle=(0, (5, 3)), linewidth=1.1)
    _published(axes, value, text)


def published_band(axes: Axes, band: tuple[float, float], text: str) -> None:
    """A range that the paper gives."""
    axes.axhspan(*band, color=PUBLISHED, alpha=0.08, linewidth=0)
    _published(axes, band[1], text)


def _published(axes: Axes, value: float, text: str) -> None:
    where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "color": PUBLISHED}
    axes.annotate(text, (0.99, value), xytext=(0, 3), ha="right", va="bottom", fontsize=8, **where)


def legend_above(figure: Figure) -> None:
    """One legend over all panels."""
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(list(shown.values()), list(shown), loc="outside upper center", ncols=len(shown))
