"""What runs along x: a swept key whose values are numbers, in order and to scale; or names, one below the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perhop.columns import Point, short
from perhop.plots.names import shortened
from perhop.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIMENSIONS = (
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1048576.0},
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    {"p": 1.0},
    {"%": 1.0},
    {"": 1.0},
)
"""Units that one axis can hold together."""

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


def number(text: str) -> tuple[float, str] | None:
    """`5Mbit/s` as 5 and `Mbit/s`; `None` if it does not begin with a number."""
    read = re.fullmatch(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*)", text)
    return (float(read[1]), read[2]) if read else None


def numeric_axis(key: str, texts: Sequence[str]) -> Axis | None:
    """An axis with these values, in the unit of the largest; `None` unless all are numbers of one dimension."""
    different = list(dict.fromkeys(texts))
    read = [value for value in map(number, different) if value]
    if not read or len(read) < len(different):
        return None
    units = {unit for _, unit in read}
    factors = next(
        (of for of in DIMENSIONS if units <= of.keys()), dict.fromkeys(units, 1.0) if len(units) == 1 else None
    )
    if factors is None:
        return None
    unit = max(read, key=lambda value: value[0] * factors[value[1]])[1]
    numbers = {t: v * factors[u] / factors[unit] for t, (v, u) in zip(different, read, strict=True)}
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
