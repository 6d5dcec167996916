"""What runs along x: a swept key whose values are numbers, in order and to scale; or names, one below the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perhop import _core
from perhop.columns import Point, short
from perhop.plots.names import shortened
from perhop.plots.style import Axes
from perhop.results import Results

SHOWN = {"p": "packets"}
LOGARITHMIC = 20.0
"""An axis whose largest number is this many times its smallest is logarithmic."""

APART = 0.12
"""Of the axis, between the labels of two ticks."""


@dataclass(frozen=True)
class Axis:
    """The positions along x of labels, by their text; `key` is the swept key, `None` for names."""

    key: str | None
    label: str
    numbers: dict[str, float]

    @property
    def logarithmic(self) -> bool:
        """Whether equal ratios are equal lengths."""
        low, high = min(self.numbers.values()), max(self.numbers.values())
        return len(self.numbers) > 2 and low > 0 and high / low >= LOGARITHMIC


def read(text: str) -> tuple[float, str, str, float] | None:
    """As `_core.quantity`; a unit that is none of the core's is only itself."""
    words = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*)", text)
    return _core.quantity(text) or (words and (float(words[1]), words[2], words[2], 1.0))


def numeric_axis(key: str, texts: Sequence[str]) -> Axis | None:
    """An axis with these values, in the unit of the largest; `None` unless all are numbers of one quantity."""
    different = list(dict.fromkeys(texts))
    quantities = [found for found in map(read, different) if found]
    if not quantities or len(quantities) < len(different) or len({ending for _, ending, _, _ in quantities}) > 1:
        return None
    _, _, unit, one = max(quantities)
    numbers = {text: found[0] / one for text, found in zip(different, quantities, strict=True)}
    label = f"{short(key)}, {SHOWN.get(unit, unit)}" if unit else short(key)
    return Axis(key, label, numbers) if len(set(numbers.values())) == len(numbers) else None


def x_axis(runs: Results, wanted: str | None = None) -> Axis:
    """The swept key with the most numbers, at least two, or the one that is wanted; without one, names of points."""
    keys = runs.keys if wanted is None else [wanted]
    axes = [numeric_axis(key, [point.labels[key] for point in runs.points]) for key in keys]
    best = max((axis for axis in axes if axis), key=lambda axis: len(axis.numbers), default=None)
    if best and len(best.numbers) > 1:
        return best
    if wanted is not None:
        return named(wanted, [point.labels[wanted] for point in runs.points])
    return named(None, [title(point) for point in runs.points])


def named(key: str | None, texts: Sequence[str]) -> Axis:
    """Names in order of appearance, `key` for all of them."""
    return Axis(
        None, "" if key is None else short(key), {text: float(i) for i, text in enumerate(dict.fromkeys(texts))}
    )


def title(point: Point) -> str:
    """The values of a point."""
    return ", ".join(point.labels.values())


def numeric(axes: Axes, axis: Axis) -> None:
    """Ticks at the numbers, as many as have room; to scale."""
    from matplotlib.ticker import FixedLocator, NullLocator

    if axis.logarithmic:
        axes.set_xscale("log")
    numbers = sorted(axis.numbers.values())
    axes.xaxis.set_major_locator(FixedLocator(roomy(numbers, axes)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.5g}")
    axes.set_xlabel(f"{axis.label} (log scale)" if axis.logarithmic else axis.label)


def roomy(numbers: Sequence[float], axes: Axes) -> list[float]:
    """Those far enough apart for their labels; the first and the last are among them."""
    transform = axes.xaxis.get_transform().transform
    positions = [float(p) for p in transform(list(numbers))]
    least = (positions[-1] - positions[0]) * APART
    kept = [0]
    for i, position in enumerate(positions[:-1]):
        if position - positions[kept[-1]] >= least and positions[-1] - position >= least:
            kept.append(i)
    return [numbers[i] for i in dict.fromkeys([*kept, len(numbers) - 1])]


def rows(axes: Axes, axis: Axis) -> None:
    """Names one below the other, where long ones have room; the first on top."""
    names = list(axis.numbers)
    axes.set_yticks(range(len(names)), shortened(names, 40))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_ylabel(axis.label)
    axes.grid(visible=False, axis="y")
