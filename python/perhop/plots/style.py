"""How plots look: colours that colour-blind readers can distinguish, a dark variant, one SVG for one figure."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from perhop import files
from perhop.plots.dark import alone
from perhop.plots.sheet import NATURAL, Look, Sheet
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

BESIDE = 5.0
"""Inches: a narrower picture has its legend below its panels."""

ABREAST, SLIM = 2.1, 1.0
"""Inches: the least width of each panel where several share a row; of those that share the names of their rows."""

MOST_PANELS = 18
"""In a picture that chooses them itself."""

LOWEST = 0.55
"""Inches: the least height of a row of panels."""

SIGNS, BOLD = 10.5, 9.5
"""Letters to an inch of a line above a picture, and of a panel's title."""

INSET = 0.6
"""Inches left of a panel: ticks and a label."""

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
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Geneva", "Arial"],
    "font.size": 9,
    "grid.color": LINE,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
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
    """An empty figure, in inches: a notebook shows it without pyplot, and it is saved in this style."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    vars(made)["_repr_png_"] = partial(_png, made)
    vars(made)["savefig"] = partial(_savefig, made)
    return made


def _savefig(figure: Figure, *args: Any, **options: Any) -> None:
    """As matplotlib's: which kind of font a file embeds is read while it is written."""
    with styled():
        type(figure).savefig(figure, *args, **options)


def _png(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=NOTEBOOK_DPI)
    return drawn.getvalue()


def abreast(look: Look, most: int, each: float = ABREAST, beside: float = 0.0) -> int:
    """How many panels share a row: as many as a stated width has room for, beside what the row takes in inches."""
    return max(1, min(most, most if look.width is None else int((look.width - beside) / each)))


def most_panels(look: Look) -> int:
    """Panels of a picture that chooses them itself; fewer where they are below each other."""
    return MOST_PANELS if abreast(look, 2) > 1 else MOST_PANELS // 2


def panels(
    rows: int, columns: int = 1, height: float = 2.2, width: float = 0.0, look: Look = NATURAL
) -> tuple[Figure, list[Axes]]:
    """A figure of panels, read row by row; no window, no global state. Inches; a stated size goes before these.

    Raises:
        ValueError: when they do not fit into a stated height.
    """
    wide = look.width or width or max(7.2, 1.6 + 3.0 * columns)
    high = look.height or 1.2 + height * rows
    if high < 1.0 + LOWEST * rows:
        raise ValueError(
            f"height {high:g}: {rows} rows of panels need {1.0 + LOWEST * rows:.1f} inches; "
            "state more, or choose fewer with --where"
        )
    figure = picture(wide, high)
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.flat)


def broken(text: str, inches: float) -> str:
    """A text in lines that are no longer than this."""
    return "\n".join(wrap(text, max(8, int(inches * SIGNS))))


def name(axes: Axes, title: str, width: float) -> None:
    """Writes a panel's title, in as many lines as so many inches need."""
    axes.set_title(broken(printable(title), (width - INSET) * BOLD / SIGNS))


def head(figure: Figure, name: str, about: str, sheet: Sheet) -> None:
    """Which run it is and what is shown, or a title in their place; what is left out; long lines are broken."""
    look, wide = sheet.look, int((figure.get_figwidth() - sheet.beside) * SIGNS)
    words = [name, about] if look.title is None else [look.title]
    notes = [f"Shown: {left.said}" for left in sheet.left]
    lines = [line for text in (*words, *notes) for line in wrap(printable(text), wide)]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=9)
    _grow(figure, look, 0.16 * max(0, len(lines) - 2))


def _grow(figure: Figure, look: Look, more: float) -> None:
    """Makes room, unless the height is stated."""
    if look.height is None:
        figure.set_figheight(figure.get_figheight() + more)


def _shown(figure: Figure) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    return {} if list(shown) == [""] else shown


def _wide(labels: Iterable[str]) -> float:
    """Inches of an entry of a legend, about."""
    return 0.45 + max(map(len, labels)) / 13


def legend_below(figure: Figure, look: Look = NATURAL, title: str = "") -> None:
    """One legend for all panels, below them, in as many rows as its labels need."""
    shown = _shown(figure)
    if not shown:
        return
    fitting = max(1, int(figure.get_figwidth() / _wide(shown)))
    rows = -(-len(shown) // min(fitting, LEGENDS))
    columns = -(-len(shown) // rows)
    look_of: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "title": title or None}
    drawn = figure.legend(list(shown.values()), list(shown), **look_of)
    drawn.get_title().set_fontsize(8)
    _grow(figure, look, 0.17 * (rows - 2 + bool(title)) if rows > 2 else 0.0)


def legend(figure: Figure, title: str = "", sheet: Sheet | None = None) -> None:
    """One legend for all panels, right of them, below where the picture is narrow; none for a single nameless line."""
    shown = _shown(figure)
    if not shown:
        return
    sheet = sheet or Sheet()
    if figure.get_figwidth() < BESIDE:
        legend_below(figure, sheet.look, title)
        return
    sheet.beside = _wide(shown)
    drawn = figure.legend(list(shown.values()), list(shown), loc="outside right upper", title=title or None)
    drawn.get_title().set_fontsize(8)
    _grow(figure, sheet.look, max(0.0, 0.5 + 0.18 * (len(shown) + bool(title)) - figure.get_figheight()))


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
