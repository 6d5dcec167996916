"""Figures 2 to 9 with one reading changed at a time, and with a second base seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perhop import stats
from perhop.studies import runs as simulation
from perhop.studies import trying
from perhop.studies.pam_fsam.terms import EVERY_N, FEW, FSAM, PAM, TB, TSW, ceiling, gain, over, pooled, ratio
from perhop.studies.readings import Reading, Readings
from perhop.studies.runs import RunSet
from perhop.studies.samples import Sample, Samples
from perhop.studies.trying import World

TOKENS = ("pf-fig2", "pf-fig3")
VARIED = (*TOKENS, "pf-fig4", "pf-fig6", "pf-fig7")


@dataclass(frozen=True)
class Variant(trying.Variant):
    """One reading at another value."""

    signs: int
    """Signs of Fig. 4 as published, over all n: F-SAM > TB, PAM > TB, TSW2CM < TB; 18 at most."""


def base_sets(world: World) -> list[RunSet]:
    """The run sets that are varied, with the budget's replications and without what is only reported."""
    wanted = [s for s in world.sets if s.name in VARIED and s.at["arrivals"] != "poisson"]
    return [replace(s, draws=None) for s in wanted if not (s.name == "pf-fig7" and s.at["arrivals"] == "strict")]


def variants(world: World, readings: Readings) -> list[Variant]:
    """The frozen reading first, then every other value of every reading."""
    sets = base_sets(world)
    base = world.simulate(sets, {})
    found = [_variant(world, "frozen", base)]
    for reading in readings.by_id.values():
        for value in reading.others:
            name = f"{reading.id}: {value}"
            world.say(f"sensitivity: {name}")
            samples = wire_bytes(base) if reading.id == "a10" else _with(world, (reading, value), base)
            found.append(_variant(world, name, samples))
    return found


def _with(world: World, changed: tuple[Reading, str], base: list[Sample]) -> list[Sample]:
    reading, value = changed
    samples = list(base)
    for group in ("tokens", "load"):
        names = [n for n in VARIED if (n in TOKENS) == (group == "tokens")]
        for name in names:
            settings = reading.settings(value, group)
            if name == "pf-fig3":
                settings = {key: v for key, v in settings.items() if not key.startswith("tcp.")}
            if settings:
                chosen = [s for s in base_sets(world) if s.name == name]
                fresh = world.simulate(chosen, _only(settings, reading.concerns))
                samples = _replaced(samples, fresh, name, reading.concerns)
    return samples


def _only(settings: dict[str, object], markers: list[str] | None) -> dict[str, object]:
    return settings if markers is None else {**settings, "markers.only": markers}


def _replaced(old: list[Sample], fresh: list[Sample], runs: str, markers: list[str] | None) -> list[Sample]:
    kept = [s for s in old if s.runs != runs or (markers is not None and s.at["marker"] not in markers)]
    return kept + fresh


def wire_bytes(samples: list[Sample]) -> list[Sample]:
    """Throughput read as all bytes that arrive (a10), where a mean over flows is asked for."""
    changed = []
    for s in samples:
        new = {k.replace(".throughput", ".goodput"): v for k, v in s.values.items() if k.endswith(".throughput")}
        changed.append(replace(s, values={**s.values, **new}))
    return changed


def _variant(world: World, name: str, samples: list[Sample]) -> Variant:
    by_set = simulation.by_set(samples)
    return Variant(name, world.findings(samples), _figures(by_set), _signs(by_set["pf-fig4"]))


def _figures(runs: dict[str, Samples]) -> dict[str, float]:
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
    }


def _signs(bulk: Samples) -> int:
    means = {m: [stats.mean(gain(bulk, m, n=n)) for n in EVERY_N] for m in (FSAM, PAM, TSW)}
    return sum(g > 0 for g in (*means[FSAM], *means[PAM])) + sum(g < 0 for g in means[TSW])


def _mice(runs: Samples, marker: str) -> list[float]:
    return over(Samples(s for s in runs.all if s.at["loop"] == "open"), "mice.transfer", marker)


def phase_lock(world: World, sizes: Reading) -> list[tuple[str, str, int, list[float]]]:
    """UDP's share of the IN packets behind TB in Fig. 7, run by run, for each packet size and arrival model."""
    found = []
    for value in sizes.values:
        world.say(f"phase lock: {value}")
        settings = {**sizes.settings(value, "load"), "markers.only": [TB]}
        samples = world.simulate([s for s in world.sets if s.name == "pf-fig7"], settings)
        for arrivals in ("strict", "jittered"):
            runs = Samples(samples).at(arrivals=arrivals)
            for n in (5, 10, 20, 30):
                udp, tcp = (runs.values(f"{of}.in", marker=TB, n=n) for of in ("rogue", "bulk"))
                found.append((value, arrivals, n, sorted(u / (u + t) for u, t in zip(udp, tcp, strict=True))))
    return found


def second_seed(world: World) -> list[tuple[str, str, str]]:
    """Hard claims whose verdict differs between two base seeds: name and both verdicts."""
    wanted = [s for s in world.sets if s.at["arrivals"] != "poisson" or s.name in TOKENS]
    return trying.second_seed(world, wanted, (world.budget.seed, world.budget.seed + 1))
