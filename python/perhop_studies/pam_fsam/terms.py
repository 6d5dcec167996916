"""The words the claims are written in."""

from __future__ import annotations

import math

from perhop import stats
from perhop_studies.drawing import Look
from perhop_studies.samples import Samples

TB, TSW, PAM, FSAM = "token-bucket", "tsw2cm", "pam", "f-sam"
NAMES = {TB: "TB", TSW: "TSW2CM", PAM: "PAM", FSAM: "F-SAM"}
MARKERS = (TB, TSW, PAM, FSAM)
LOOKS = {
    TB: Look(NAMES[TB], "#8a5a00", "s"),
    TSW: Look(NAMES[TSW], "#5b6b7a", "^"),
    PAM: Look(NAMES[PAM], "#0072b2", "o"),
    FSAM: Look(NAMES[FSAM], "#c2410c", "D"),
}

EVERY_N = (5, 10, 15, 20, 25, 30)
FEW = (5, 10)
"""Where a full link leaves room for a gain: gains are judged here."""
MANY = (15, 20, 25, 30)


def pooled(series: list[list[float]]) -> list[float]:
    """Mean over the grid within each replication."""
    return [stats.mean(values) for values in zip(*series, strict=True)]


def ratio(a: list[float], b: list[float]) -> list[float]:
    """`a / b` within each replication; infinite where b is zero."""
    return [x / y if y else math.inf for x, y in zip(a, b, strict=True)]


def over(runs: Samples, quantity: str, marker: str, ns: tuple[int, ...] = EVERY_N) -> list[float]:
    """A quantity pooled over n."""
    return pooled([runs.values(quantity, marker=marker, n=n) for n in ns])


def gain(runs: Samples, marker: str, **at: int) -> list[float]:
    """g(X): goodput of the bulk flows over that behind the token bucket, minus 1."""
    ours = runs.values("bulk.goodput", marker=marker, **at)
    bucket = runs.values("bulk.goodput", marker=TB, **at)
    return [x - 1 for x in ratio(ours, bucket)]


def ceiling(runs: Samples, **at: int) -> float:
    """The largest gain a full link allows TCP alone: 1/utilisation - 1 behind the token bucket."""
    return 1 / stats.mean(runs.values("utilisation", marker=TB, **at)) - 1


def ceilings(runs: Samples, ns: tuple[int, ...], **at: int) -> str:
    """The ceilings next to the gains, as a sentence."""
    values = ", ".join(f"{100 * ceiling(runs, n=n, **at):.1f} % at n = {n}" for n in ns)
    return f"Ceiling 1/utilisation - 1 behind TB: {values}."
