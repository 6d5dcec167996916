"""Figures 2 to 9 with one reading changed at a time, and with a second base seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from perhop import stats
from perhop_studies.pam_fsam.method import TOKENS
from perhop_studies.pam_fsam.terms import EVERY_N, FEW, FSAM, PAM, TB, TSW, ceiling, gain, only, over, pooled, ratio
from perhop_studies.readings import Reading
from perhop_studies.runs import RunSet
from perhop_studies.samples import Sample, Samples
from perhop_studies.trying import World

SIGNS = "signs as published, of 18"
VARIED = (*TOKENS, "pf-fig4", "pf-fig6", "pf-fig7")


def base_sets(world: World) -> list[RunSet]:
    """The run sets that are varied, with the budget's replications and without what is only reported."""
    wanted = [s for s in world.sets if s.name in VARIED and s.at["arrivals"] != "poisson"]
    return [replace(s, draws=None) for s in wanted if not (s.name == "pf-fig7" and s.at["arrivals"] == "strict")]


def wire_bytes(samples: list[Sample]) -> list[Sample]:
    """Throughput read as all bytes that arrive (a10), where a mean over flows is asked for."""
    changed = []
    for s in samples:
        new = {k.replace(".throughput", ".goodput"): v for k, v in s.values.items() if k.endswith(".throughput")}
        changed.append(replace(s, values={**s.values, **new}))
    return changed


def figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    """What is shown of a variant."""
    bulk, jittered = runs["pf-fig4"], runs["pf-fig7"].at(arrivals="jittered")
    mice = {m: _mice(runs["pf-fig6"], m) for m in (TB, TSW, PAM, FSAM)}
    tcp = {m: pooled([gain(jittered, m, n=n) for n in FEW]) for m in (PAM, FSAM)}
    udp = {m: over(jittered, "rogue.goodput", m) for m in (TB, PAM, FSAM)}
    return {
        "ceiling n=5, %": 100 * ceiling(bulk, n=5),
        "fig4 g(F-SAM), %": 100 * stats.mean(pooled([gain(bulk, FSAM, n=n) for n in FEW])),
        "fig4 g(PAM), %": 100 * stats.mean(pooled([gain(bulk, PAM, n=n) for n in FEW])),
        "fig4 std F-SAM/TB": stats.mean(ratio(over(bulk, "bulk.std", FSAM), over(bulk, "bulk.std", TB))),
        "fig4 std PAM/TB": stats.mean(ratio(over(bulk, "bulk.std", PAM), over(bulk, "bulk.std", TB))),
        "fig6 F-SAM/TB": stats.mean(ratio(mice[FSAM], mice[TB])),
        "fig7 g(F-SAM), %": 100 * stats.mean(tcp[FSAM]),
        "fig7 g(PAM), %": 100 * stats.mean(tcp[PAM]),
        "fig8 F-SAM/TB": stats.mean(ratio(udp[FSAM], udp[TB])),
        "fig8 PAM/TB": stats.mean(ratio(udp[PAM], udp[TB])),
        SIGNS: _signs(bulk),
    }


def _signs(bulk: Samples) -> int:
    """Signs of Fig. 4 as published, over all n: F-SAM > TB, PAM > TB, TSW2CM < TB."""
    means = {m: [stats.mean(gain(bulk, m, n=n)) for n in EVERY_N] for m in (FSAM, PAM, TSW)}
    return sum(g > 0 for g in (*means[FSAM], *means[PAM])) + sum(g < 0 for g in means[TSW])


def _mice(runs: Samples, marker: str) -> list[float]:
    return over(runs.at(loop="open"), "mice.transfer", marker)


class Locked(NamedTuple):
    """UDP's share of the IN packets behind TB in Fig. 7, smallest first: a value a run."""

    size: str
    arrivals: str
    n: int
    shares: list[float]


def phase_lock(world: World, sizes: Reading) -> list[Locked]:
    """For each packet size, arrival model and number of flows."""
    found = []
    for value in sizes.values:
        world.say(f"phase lock: {value}")
        sets = [s for s in world.sets if s.name == "pf-fig7"]
        samples = world.simulate(sets, sizes.settings(value, "load"), only(TB))
        for arrivals in ("strict", "jittered"):
            runs = Samples(samples).at(arrivals=arrivals)
            for n in (5, 10, 20, 30):
                udp, tcp = (runs.values(f"{of}.in", marker=TB, n=n) for of in ("rogue", "bulk"))
                found.append(Locked(value, arrivals, n, sorted(u / (u + t) for u, t in zip(udp, tcp, strict=True))))
    return found


def seeded(world: World) -> list[RunSet]:
    """What a second base seed is tried on."""
    return [s for s in world.sets if s.at["arrivals"] != "poisson" or s.name in TOKENS]
