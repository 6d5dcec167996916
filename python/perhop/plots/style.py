"""How plots look: colours that colour-blind readers can distinguish, a dark variant, one SVG for one figure."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from perhop import files
from perhop.plots.dark import alone
from perhop.show import printable

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure

    Axes = matplotlib.axes.Axes
    Figure = matplotlib.figure.Figure
else:
    Axes = Figure = Any  # their library is imported when something is drawn

INK, MUTED, LINE, EDGE = "#1c2733", "#56636f", "#e6eaee", "#b8c2cc"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6a3d9a", "#444444")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
PACKETS = {"green": "#2ca02c", "yellow": "#f2c12e", "red": "#d62728", "unmarked": "#9e9e9e", "dropped": "#000000"}
REASONS = {
    "policer": "#6a3d9a",
    "early": "#56b4e9",
    "forced": "#0072b2",
    "overflow": "#d55e00",
    "wire": "#444444",
}
LEGENDS = 5
"""In one row below a picture."""

NOTEBOOK_DPI = 90
FORMATS = (".png", ".svg", ".pdf")

_SETTINGS: dict[Any, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": EDGE,
    "axes.labelcolor": INK,
    "axes.prop_cycle": f"cycler(color={SERIES})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": LINE,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "svg.fonttype": "path",
    "svg.hashsalt": "perhop",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def styled() -> Iterator[None]:
    """The style within, the caller's own after it."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield


def picture(width: float, height: float) -> Figure:
    """An empty figure that a notebook shows, in inches; without pyplot, which alone would teach a notebook to."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    vars(made)["_repr_png_"] = partial(_png, made)
    return made


def _png(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=NOTEBOOK_DPI)
    return drawn.getvalue()


def panels(rows: int, columns: int = 1, height: float = 2.2, width: float = 0.0) -> tuple[Figure, list[Axes]]:
    """A figure of panels, read row by row; no window, no global state."""
    wide = width or max(7.2, 1.6 + 3.0 * columns)
    figure = picture(wide, 1.2 + height * rows)
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.flat)


def head(figure: Figure, name: str, about: str) -> None:
    """Which run it is and what is shown, beside the legend; a long line is broken."""
    wide = int(figure.get_figwidth() * 10.5)
    lines = [*wrap(printable(name), wide), *wrap(about, wide)]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=9)


def _shown(figure: Figure) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    return {} if list(shown) == [""] else shown


def legend_below(figure: Figure) -> None:
    """One legend for all panels, below them, in one row or two."""
    shown = _shown(figure)
    columns = len(shown) if len(shown) <= LEGENDS else -(-len(shown) // 2)
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=max(1, columns))


def legend(figure: Figure, title: str = "") -> None:
    """One legend for all panels, right of them; none for a single nameless line."""
    shown = _shown(figure)
    if not shown:
        return
    drawn = figure.legend(list(shown.values()), list(shown), loc="outside right upper", title=title or None)
    drawn.get_title().set_fontsize(8)
    figure.set_figheight(max(figure.get_figheight(), 0.5 + 0.18 * (len(shown) + bool(title))))


def from_zero(lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    """Limits that hold zero and every interval, with room for what is drawn at them."""
    known = [value for value in (0.0, *lows, *highs) if math.isfinite(value)]
    low, high = min(known), max(known)
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


def empty(axes: Axes, why: str) -> None:
    """A panel that has nothing to show, and says why."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", color=MUTED, transform=axes.transAxes)


def svg(figure: Figure) -> str:
    """The figure as SVG, without a date."""
    text = io.StringIO()
    with styled():
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def picture_file(path: Path) -> Path:
    """A path whose ending is a picture's.

    Raises:
        ValueError: for another ending.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture's name ends with {', '.join(FORMATS)}")
    return path


def save(figure: Figure, path: Path) -> None:
    """Writes PNG, SVG or PDF, as the name ends."""
    picture_file(path)
    if path.suffix.lower() == ".svg":
        files.write(path, alone(svg(figure)))
        return
    metadata = {".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    with styled(), files.whole(path) as temporary:
        figure.savefig(temporary, metadata=metadata, dpi=150)
