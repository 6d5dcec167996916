"""How plots look: colours that colour-blind readers can distinguish, vector text, the same SVG for the same figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perhop.files import whole
from perhop.plots.picture import Picture

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6a3d9a", "#444444")
PACKETS = {"green": "#2ca02c", "yellow": "#f2c12e", "red": "#d62728", "unmarked": "#9e9e9e", "dropped": "#000000"}
REASONS = {
    "policer": "#6a3d9a",
    "early": "#56b4e9",
    "forced": "#0072b2",
    "overflow": "#d55e00",
    "wire": "#444444",
}
FORMATS = (".png", ".svg", ".pdf")

_SETTINGS: dict[Any, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.prop_cycle": cycler(color=SERIES),
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "svg.hashsalt": "perhop",
}


@contextmanager
def styled() -> Iterator[None]:
    """The style within, the caller's own after it."""
    with mpl.rc_context(_SETTINGS):
        yield


def panels(rows: int, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of panels, read row by row; no window, no global state."""
    figure = Picture(figsize=(max(7.0, 1.4 + 3.0 * columns), 1.1 + 2.2 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.flat)


def save(figure: Figure, path: Path) -> None:
    """Writes PNG, SVG or PDF, as the name ends.

    Raises:
        ValueError: for another ending.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture's name ends with {', '.join(FORMATS)}")
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    with styled(), whole(path) as temporary:
        figure.savefig(temporary, metadata=metadata, dpi=150)
