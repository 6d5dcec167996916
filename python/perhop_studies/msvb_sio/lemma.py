"""Lemma 3.1: thresholds above which SVB's loop is stable, in the formula and the fluid model; packets: claims.toml."""

from __future__ import annotations

import math

from perhop import _core
from perhop_studies import Study
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, exact, number

lemma31 = Study("svb-lemma31", title="Lemma 3.1: stable thresholds", runs="svb-lemma31")

CAPACITY, ALPHA = 1250.0, 0.05
"""Packets/s; SVB's alpha."""
ROUND_TRIPS = (0.12, 0.16, 0.20)
TABLE: dict[int, tuple[float, float, float]] = {
    10: (11800, 28000, 54800),
    25: (1790, 4370, 8640),
    50: (350, 963, 2000),
    75: (91.5, 334, 770),
    100: (16.0, 122, 342),
    120: (0.320, 47.9, 180),
}
"""Critical thresholds by flows and round-trip time, packets."""
STEEP: dict[int, float] = {50: 726, 100: 55.7}
"""The same with alpha = 1, at 0.12 s."""
SIDES = (1.2, 0.8)
"""Of the critical threshold: stable and not."""
SECONDS, DISTURBANCE = 100.0, 0.001
"""How long the fluid model runs, and by how much its rate is moved at first."""
V0 = (40, 100, 200, 300, 500, 1000)
"""Thresholds of the packet runs, packets; N = 50, 0.12 s."""


def critical(flows: int, rtt: float, alpha: float = ALPHA) -> float:
    """Lemma 3.1's threshold, packets; NaN without an equilibrium."""
    found = _core.Loop(flows, rtt, CAPACITY).critical_threshold(alpha)
    return math.nan if found is None else found


def trajectory(flows: int, side: float) -> tuple[list[float], list[float]]:
    """Times and load/C of the fluid model at this multiple of the critical threshold, moved by 0.1 %.

    Raises:
        ValueError: there is no equilibrium.
    """
    found = _core.Loop(flows, ROUND_TRIPS[0], CAPACITY).fluid(ALPHA, side * critical(flows, ROUND_TRIPS[0]), SECONDS)
    if found is None:
        raise ValueError(f"no equilibrium with {flows} flows")
    return found


def remains(load: list[float]) -> float:
    """Largest |load/C - 1| of the last tenth, by the disturbance."""
    return max(abs(x - 1) for x in load[-len(load) // 10 :]) / DISTURBANCE


def _printed(flows: int, rtt: float, printed: float, alpha: float = ALPHA) -> Part:
    """Equal in three digits: within half a unit of the third."""
    found, unit = critical(flows, rtt, alpha), 10.0 ** (math.floor(math.log10(printed)) - 2)
    name = f"N = {flows}, R = {rtt:g}, alpha = {alpha:g}: {number(printed)}"
    return exact(name, found, holds=abs(found - printed) <= 0.5 * unit)


@lemma31.claim("table")
def the_formula(_: Samples) -> Finding:
    """The check values of Lemma 3.1."""
    parts = [_printed(n, r, v) for n, row in TABLE.items() for r, v in zip(ROUND_TRIPS, row, strict=True)]
    return Finding([*parts, *(_printed(n, ROUND_TRIPS[0], v, 1.0) for n, v in STEEP.items())])


@lemma31.claim("fluid")
def the_fluid_model(_: Samples) -> Finding:
    """Above the threshold a disturbance dies, below it grows."""
    parts = []
    for flows in (50, 100):
        for side in SIDES:
            left = remains(trajectory(flows, side)[1])
            word, holds = ("decays", left < 1) if side > 1 else ("does not", left >= 1)
            parts.append(exact(f"N = {flows}, {side} x critical {word}: swing/disturbance", left, holds=holds))
    return Finding(parts, "Swing: largest |load/C - 1| from 90 to 100 s.")
