"""Means with 95 % t-intervals, paired differences, Holm's correction.

Sums are `math.fsum` (correctly rounded) and quantiles are rounded to 12 digits: the same numbers on any machine.

Decision: docs/decisions/099-intervals-of-quantiles.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from perhop import _core
from perhop.arguments import checked, positive

CONFIDENCE = 0.95


@dataclass(frozen=True, repr=False)
class Interval:
    """A mean and its t-interval; bounds are NaN with fewer than two values."""

    mean: float
    low: float
    high: float
    n: int
    cut: bool = field(default=False, kw_only=True)
    """Whether it ends at a bound of what is measured, as that of a share does at 0 or 1."""

    @checked
    def scaled(self, factor: float) -> Interval:
        """In another unit.

        Raises:
            ValueError: for a factor that is not above 0, or not finite.
        """
        by = positive("factor", factor)
        return Interval(self.mean * by, self.low * by, self.high * by, self.n, cut=self.cut)

    @property
    def half(self) -> float:
        """Half its width."""
        return (self.high - self.low) / 2

    @checked
    def above(self, bound: float) -> bool:
        """Whether the whole interval lies above `bound`."""
        return self.low > bound

    @checked
    def below(self, bound: float) -> bool:
        """Whether the whole interval lies below `bound`."""
        return self.high < bound

    @checked
    def contains(self, bound: float) -> bool:
        """Whether `bound` lies in it: undecided."""
        return self.low <= bound <= self.high

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "-"
        half = None if math.isnan(self.half) else self.half
        return _core.estimate(self.mean, half, [self.low, self.high] if self.cut else None)

    def __repr__(self) -> str:
        return f"Interval({self}, n={self.n})"

    def _repr_html_(self) -> str:
        return f"{self} <small>(n = {self.n})</small>"


def total(values: Iterable[float]) -> float:
    """The sum, correctly rounded; zero of nothing."""
    return math.fsum(float(x) for x in values)


def mean(values: Iterable[float]) -> float:
    """The mean; NaN of nothing."""
    listed = [float(x) for x in values]
    return math.fsum(listed) / len(listed) if listed else math.nan


def deviation(values: Iterable[float]) -> float:
    """The sample standard deviation (n - 1); NaN with fewer than two values."""
    listed = [float(x) for x in values]
    if len(listed) < 2:
        return math.nan
    centre = mean(listed)
    return math.sqrt(math.fsum((x - centre) ** 2 for x in listed) / (len(listed) - 1))


def interval(values: Iterable[float], confidence: float = CONFIDENCE) -> Interval:
    """The mean with its Student t-interval; a NaN among the values makes all of it NaN."""
    listed = [float(x) for x in values]
    n, centre = len(listed), mean(listed)
    if n < 2:
        return Interval(centre, math.nan, math.nan, n)
    half = t_quantile(0.5 + confidence / 2, n - 1) * deviation(listed) / math.sqrt(n)
    return Interval(centre, centre - half, centre + half, n)


def differences(a: Iterable[float], b: Iterable[float]) -> list[float]:
    """`b - a`, pair by pair.

    Raises:
        ValueError: when they are not pairs.
    """
    ours, theirs = [float(x) for x in a], [float(x) for x in b]
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} values against {len(theirs)}: pairs need the same replications on both sides")
    return [y - x for x, y in zip(ours, theirs, strict=True)]


def paired(a: Iterable[float], b: Iterable[float], confidence: float = CONFIDENCE) -> Interval:
    """The mean of `b - a` over replications with common random numbers."""
    return interval(differences(a, b), confidence)


def paired_p(a: Iterable[float], b: Iterable[float]) -> float:
    """Two-sided p-value of the paired t-test; NaN with fewer than two pairs, 1 if all differences are zero."""
    gaps = differences(a, b)
    spread, centre = deviation(gaps), mean(gaps)
    if math.isnan(spread):
        return math.nan
    if spread == 0:
        return 0.0 if centre else 1.0
    return 2 * t_tail(abs(centre) / (spread / math.sqrt(len(gaps))), len(gaps) - 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: adjusted p-values in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, floor = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = floor
    return adjusted


def t_tail(t: float, freedom: int) -> float:
    """P(T > t) of Student's t with a whole number of degrees of freedom.

    A finite sum in the angle atan(t / sqrt(freedom)): Abramowitz and Stegun 26.7.3 and 26.7.4; exact to 1e-15, so
    that a tail thinner than that is zero.
    """
    cos2 = freedom / (freedom + t * t)
    sin = t / math.sqrt(freedom + t * t)
    odd = freedom % 2
    term, terms = (math.sqrt(cos2) if odd else 1.0), []
    for k in range(odd, freedom - 1, 2):
        terms.append(term)
        term *= cos2 * (k + 1) / (k + 2)
    series = sin * math.fsum(terms)
    if odd:
        series = 2 / math.pi * (math.atan2(t, math.sqrt(freedom)) + series)
    return max(0.0, (1 - series) / 2)


@cache
def t_quantile(p: float, freedom: int) -> float:
    """Student's t quantile for 0.5 <= p < 1, by bisection.

    Raises:
        ValueError: outside that range, or without degrees of freedom.
    """
    if not 0.5 <= p < 1 or freedom < 1:
        raise ValueError(f"t quantile of p = {p}, {freedom} degrees of freedom: need 0.5 <= p < 1 and at least 1")
    low, high = 0.0, 1.0
    while t_tail(high, freedom) > 1 - p:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_tail(middle, freedom) > 1 - p else (low, middle)
    return round(middle, 12)
