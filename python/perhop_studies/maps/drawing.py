"""A map as a picture: the margin as colour, the verdict as a sign, the paper's point framed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perhop_studies.drawing import INK, Picture, canvas, picture
from perhop_studies.maps import Map
from perhop_studies.maps.grid import Grid
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED, UNDECIDED, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

FULL = 4.0
"""Half-widths of the interval at which a colour is full."""
TRUE, FALSE, BETWEEN = (0x2F, 0x7F, 0x8F), (0xC8, 0x5A, 0x3C), (0xF3, 0xEE, 0xE0)
"""Readable for the colour-blind."""
SIGNS = {REPRODUCED: "\N{CHECK MARK}", NOT_REPRODUCED: "\N{BALLOT X}", UNDECIDED: "?"}
PALE = 0.45
"""Of points that were not run: as their neighbours."""


def draw(found: Map, grid: Grid) -> Picture:
    """The map, as large as it has columns and rows."""
    size = (2.6 + 0.62 * grid.columns, 1.5 + 0.42 * grid.rows)
    figure, [axes] = canvas(size=size)
    for x in range(grid.columns):
        for y in range(grid.rows):
            _cell(axes, grid, x, y)
    axes.add_patch(_square(*found.own, fill=False, edgecolor=INK, linewidth=2.2))
    for axis, of in ((axes.xaxis, found.x), (axes.yaxis, found.y)):
        axis.set_ticks(range(len(of.values)), [_label(value) for value in of.values])
        axis.set_label_text(of.label)
    axes.set_xlim(-0.5, grid.columns - 0.5)
    axes.set_ylim(-0.5, grid.rows - 0.5)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return picture(figure, f"map-{found.id}", caption(found), alternative(found, grid))


def caption(found: Map) -> str:
    """What it shows, and how to read it."""
    return (
        f"Where it is true: {found.title}. {SIGNS[REPRODUCED]} holds, {SIGNS[NOT_REPRODUCED]} does not, ? undecided. "
        f"The number is what was measured, the colour how far it is from the bound in half-widths of its interval; "
        f"pale: taken from the neighbours; framed: the study's point."
    )


def alternative(found: Map, grid: Grid) -> str:
    """In words, row by row."""
    words = {REPRODUCED: "holds", NOT_REPRODUCED: "does not hold", UNDECIDED: "undecided"}
    rows = []
    for y, value in enumerate(found.y.values):
        verdicts = ", ".join(f"{_label(v)} {words[grid.verdict((x, y))]}" for x, v in enumerate(found.x.values))
        rows.append(f"{found.y.label} {_label(value)}: {verdicts}")
    return f"{found.title}, by {found.x.label}. " + "; ".join(rows) + "."


def _cell(axes: Axes, grid: Grid, x: int, y: int) -> None:
    point = grid.points.get((x, y))
    verdict = grid.verdict((x, y))
    margin = {REPRODUCED: FULL, NOT_REPRODUCED: -FULL, UNDECIDED: 0.0}[verdict]
    if point is not None and point.margin is not None:
        margin = point.margin
    alpha = 1.0 if point else PALE
    axes.add_patch(_square(x, y, color=_colour(margin), alpha=alpha, linewidth=0))
    if point is not None:
        dark = abs(margin) < 0.75 * FULL
        text = SIGNS[point.verdict] + ("" if point.value is None else f" {number(float(f'{point.value:.2g}'))}")
        axes.text(x, y, text, ha="center", va="center", fontsize=7.5, color=INK if dark else "#fdfdfd")


def _colour(margin: float) -> str:
    share = min(1.0, abs(margin) / FULL)
    end = TRUE if margin > 0 else FALSE
    return "#" + "".join(f"{round(b + share * (e - b)):02x}" for b, e in zip(BETWEEN, end, strict=True))


def _square(x: int, y: int, **style: Any) -> Rectangle:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, **style)


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
