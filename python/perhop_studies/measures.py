"""What studies compute in addition: medians, Jain's index, ranks, lines. Sums are `math.fsum`, as in `stats`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate

from perhop.stats import CONFIDENCE, Interval, mean


def median(values: Iterable[float], confidence: float = CONFIDENCE) -> Interval:
    """The median between two of the values that enclose it with at least this probability, for any distribution.

    The k-th smallest of n is above it with the probability that fewer than k of n fair coins show heads; bounds are NaN
    with too few values (95 %: six, 99 %: eight). Values may be infinite; a NaN makes all of it NaN.
    """
    listed = sorted(float(x) for x in values)
    n = len(listed)
    if n == 0 or any(map(math.isnan, listed)):
        return Interval(math.nan, math.nan, math.nan, n)
    centre = (listed[(n - 1) // 2] + listed[n // 2]) / 2
    above = list(accumulate(math.comb(n, i) for i in range(n // 2)))
    k = sum(2 * tail <= (1 - confidence) * 2**n for tail in above)
    return Interval(centre, listed[k - 1], listed[n - k], n) if k else Interval(centre, math.nan, math.nan, n)


def jain(shares: Iterable[float]) -> float:
    """Jain's fairness index `(sum x)^2 / (n sum x^2)`; NaN when nothing was shared."""
    listed = [float(x) for x in shares]
    squares = math.fsum(x * x for x in listed)
    return math.fsum(listed) ** 2 / (len(listed) * squares) if squares > 0 else math.nan


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's correlation; NaN where one of them does not vary."""
    dx, dy = ([v - mean(values) for v in values] for values in (x, y))
    norm = math.sqrt(math.fsum(a * a for a in dx) * math.fsum(b * b for b in dy))
    return math.fsum(a * b for a, b in zip(dx, dy, strict=True)) / norm if norm else math.nan


def ranks(values: Sequence[float]) -> list[float]:
    """From 1 for the smallest; equal values share the mean of their ranks."""
    below = [sum(other < value for other in values) for value in values]
    equal = [sum(other == value for other in values) for value in values]
    return [b + (e + 1) / 2 for b, e in zip(below, equal, strict=True)]


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's rank correlation."""
    return correlation(ranks(x), ranks(y))


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the least-squares line."""
    centre, level = mean(x), mean(y)
    across = math.fsum((a - centre) ** 2 for a in x)
    return math.fsum((a - centre) * (b - level) for a, b in zip(x, y, strict=True)) / across


def through_origin(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Slope b of the least-squares line through the origin, and R^2 = 1 - sum (y - b x)^2 / sum (y - mean y)^2."""
    b = math.fsum(p * q for p, q in zip(x, y, strict=True)) / math.fsum(p * p for p in x)
    left = math.fsum((q - b * p) ** 2 for p, q in zip(x, y, strict=True))
    return b, 1 - left / math.fsum((q - mean(y)) ** 2 for q in y)
