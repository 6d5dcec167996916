"""What is laid out in a figure, and a check that nothing of it is cut off or covered."""

from __future__ import annotations

from itertools import pairwise
from weakref import WeakSet

from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SLACK = 1.5
"""Pixels by which boxes may differ from what is drawn: antialiasing."""

LAID_OUT: WeakSet[Figure] = WeakSet()


def laid_out(figure: Figure) -> FigureCanvasAgg:
    """The canvas of a figure that does not change any more."""
    if figure not in LAID_OUT:
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
        LAID_OUT.add(figure)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    return figure.canvas


def labels(figure: Figure) -> list[Text]:
    """Titles, labels of axes and of ticks."""
    names = [t for a in figure.axes for t in (a.title, *a.texts, a.xaxis.label, a.yaxis.label)]
    left = [a._left_title for a in figure.axes if hasattr(a, "_left_title")]
    ticks = [label for axes in figure.axes for side in (axes.xaxis, axes.yaxis) for label in ticked(side)]
    return [text for text in [*names, *left, *ticks, *headings(figure)] if text.get_text()]


def ticked(side: Axis) -> list[Text]:
    """The labels of the ticks that are drawn: matplotlib also makes some beyond the limits."""
    low, high = sorted(side.get_view_interval())
    slack = 1e-9 * (high - low)
    every = [tick for tick in side.get_major_ticks() if low - slack <= tick.get_loc() <= high + slack]
    return [tick.label1 for tick in every if tick.label1.get_visible() and tick.label1.get_text()]


def headings(figure: Figure) -> list[Text]:
    """The figure's own title: texts of it that are not of a panel or a legend."""
    return [t for t in figure.get_children() if isinstance(t, Text) and t.get_text()]


def check(kind: str, figure: Figure) -> None:
    """Raises an error for anything cut off or overlapping."""
    renderer = laid_out(figure).get_renderer()  # type: ignore[no-untyped-call]
    page = Bbox.from_bounds(-SLACK, -SLACK, figure.bbox.width + 2 * SLACK, figure.bbox.height + 2 * SLACK)
    for text in labels(figure):
        box = text.get_window_extent(renderer)
        assert page.x0 <= box.x0, f"{kind}: `{text.get_text()}` is cut off"
        assert page.y0 <= box.y0, f"{kind}: `{text.get_text()}` is cut off"
        assert box.x1 <= page.x1, f"{kind}: `{text.get_text()}` is cut off"
        assert box.y1 <= page.y1, f"{kind}: `{text.get_text()}` is cut off"
    for legend in figure.legends:
        box = legend.get_window_extent(renderer)
        assert page.contains(box.x0, box.y0), f"{kind}: the legend is cut off"
        assert page.contains(box.x1, box.y1), f"{kind}: the legend is cut off"
        for axes in figure.axes:
            assert not box.overlaps(axes.get_window_extent(renderer)), f"{kind}: the legend covers a panel"
        assert not any(box.overlaps(t.get_window_extent(renderer)) for t in headings(figure)), (
            f"{kind}: legend on title"
        )
    for axes in figure.axes:
        assert not axes.get_legend(), f"{kind}: a legend inside a panel"
        for ticks in (ticked(axes.xaxis), ticked(axes.yaxis)):
            boxes = [t.get_window_extent(renderer) for t in ticks]
            for one, other in pairwise(boxes):
                assert not one.overlaps(other), f"{kind}: labels of ticks overlap: {[t.get_text() for t in ticks]}"
