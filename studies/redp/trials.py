"""What is REDP's own in trying readings: which runs they concern, and what is shown."""

from __future__ import annotations

from collections.abc import Mapping

from perhop_studies.redp import choice, demotion, promotion
from perhop_studies.samples import Samples
from perhop_studies.trying import Trial

VARIED = ("redp-fig5", "redp-fig8", "redp-fig8-start", "redp-fig9")
"""Run sets under other readings."""
JUDGED = (*VARIED, "redp-udp")
"""Run sets that decide anything."""


def _figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    plain, dropper = demotion.pair(runs["redp-fig5"])
    both = Samples([*runs["redp-fig5"].all, *runs["redp-fig9"].all])
    _, promoted = promotion.pair(runs["redp-fig8"])
    spreads = {drop: choice.at(both, drop).mean("std.green").mean for drop in choice.POINTS}
    return {
        "least green, plain": plain.mean("least.green").mean,
        "std green, plain": plain.mean("std.green").mean,
        "std green, dropper": dropper.mean("std.green").mean,
        "yellow, plain": plain.mean("yellow").mean,
        "yellow, dropper": dropper.mean("yellow").mean,
        "green at ER, plain": plain.mean("ER.in.green").mean,
        "green at ER, dropper": dropper.mean("ER.in.green").mean,
        "CoV, plain": plain.mean("cov").mean,
        "CoV, dropper": dropper.mean("cov").mean,
        "green at CR3 by flow": promoted.mean("green").mean / 4,
        "P_drop with the least std": min(spreads, key=lambda drop: spreads[drop]) / 100,
    }


TRIAL = Trial(
    _figures,
    sets=lambda world: [s for s in world.sets if s.name in VARIED],
    seeded=lambda world: [s for s in world.sets if s.name in JUDGED],
)
