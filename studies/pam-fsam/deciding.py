"""The scripted rule: which reading of Fig. 2 and 3 is frozen.

All combinations of a marker's grid are run on both figures, 50 replications each since they differ little. Then

1. the burst's unit (a1) is the one whose IN totals in Fig. 2 are nearer to the printed ones;
2. what breaks an invariant is out;
3. PAM's weight (a2) is the smallest that is left;
4. of the rest the combination with the smallest sum of squared errors of the flows' IN shares against the printed
   tables is taken: Fig. 2 with jittered UDP, Fig. 3 with strict CBR.

| invariant | holds for | is                                                                                          |
|-----------|-----------|---------------------------------------------------------------------------------------------|
| bucket    | all       | IN bytes <= CIR T + CBS in each run                                                          |
| used      | PAM       | IN rate >= 0.95 CIR                                                                          |
| forced    | PAM       | packets chosen IN that find no token < 0.5 %                                                 |
| settles   | PAM       | P_max >= 1 - CIR/load on both figures: below, there is no fixed point                        |
| alike     | PAM       | Fig. 3 jittered, each flow over the seeds: |f_i/f - 1| <= 0.05 + 3 sqrt((1 - f)/(N_i f))     |
| equal     | F-SAM     | Fig. 3 jittered: each share within 10 % of a third, Jain >= 0.98                             |
| supplied  | F-SAM     | IN rate within 10 % of CIR                                                                   |
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain

from perhop import stats
from perhop_studies import runs as simulation
from perhop_studies.criteria import Cell
from perhop_studies.pam_fsam.terms import FSAM, PAM, TB, only
from perhop_studies.pam_fsam.tokens import CIR, DURATION, ROWS, Marks
from perhop_studies.samples import Samples
from perhop_studies.trying import World

DRAWS = 50
SUPPLY = CIR * DURATION
FITTED = (("pf-fig2", "jittered"), ("pf-fig3", "strict"))
RUN = (*FITTED, ("pf-fig3", "jittered"))


@dataclass(frozen=True)
class Row:
    """One combination of readings for one marker."""

    marker: str
    readings: dict[str, str]
    errors: float
    """Sum of squared errors of IN shares over Fig. 2 and 3."""
    in_total: float
    """IN packets of Fig. 2."""
    used: float
    """IN rate by CIR, Fig. 2."""
    jain_f: float
    jain_in: float
    forced: float
    """Share of packets forced OUT, Fig. 2."""
    broken: list[str]
    """Invariants it does not keep."""


@dataclass(frozen=True)
class Decision:
    """The whole grid, and what the rule takes."""

    rows: list[Row]
    chosen: dict[str, str]
    misses: dict[str, float]
    """Packets by which the IN totals of Fig. 2 miss the printed ones, by the burst's unit: mean over all rows."""
    smallest: dict[str, Row]
    """By marker: the smallest errors among rows that keep the invariants, whatever unit and weight."""


def decide(world: World) -> Decision:
    """Runs the grid and applies the rule."""
    readings, cells = world.readings, world.criteria.cells
    used = [replace(s, draws=DRAWS) for s in world.sets if (s.name, s.at["arrivals"]) in RUN]
    rows = []
    for marker in readings.grids:
        combinations = readings.combinations(marker)
        for i, chosen in enumerate(combinations):
            world.say(f"{marker}: reading {i + 1} of {len(combinations)}")
            settings = {**readings.settings(chosen, "tokens"), "scenario.sample": "39s"}
            samples = world.simulate(used, settings, only(marker))
            rows.append(_row(marker, chosen, simulation.by_set(samples), cells))
    totals = {m: math.fsum(_printed(cells, "pf-fig2", m)) for m in readings.grids}
    return _decision(rows, totals)


def _decision(rows: list[Row], printed: dict[str, float]) -> Decision:
    markers = list(dict.fromkeys(row.marker for row in rows))
    units = list(dict.fromkeys(row.readings["a1"] for row in rows))
    misses = {u: stats.mean(abs(r.in_total - printed[r.marker]) for r in rows if r.readings["a1"] == u) for u in units}
    unit = min(units, key=lambda u: misses[u])
    sound = {m: [r for r in rows if r.marker == m and not r.broken] for m in markers}
    chosen: dict[str, str] = {}
    for m in markers:
        chosen |= _best(_lightest([r for r in sound[m] if r.readings["a1"] == unit])).readings
    return Decision(rows, chosen, misses, {m: _best(sound[m]) for m in markers})


def _lightest(rows: list[Row]) -> list[Row]:
    """Those with PAM's smallest weight; all of them for other markers."""
    weights = [float(r.readings.get("a2", 0)) for r in rows]
    return [r for r, weight in zip(rows, weights, strict=True) if weight == min(weights)]


def _best(rows: list[Row]) -> Row:
    return min(rows, key=lambda r: r.errors)


def _row(marker: str, chosen: dict[str, str], runs: dict[str, Samples], cells: list[Cell]) -> Row:
    marks = {(name, model): Marks(runs[name], model, marker) for name, model in RUN}
    fig2, fig3 = marks["pf-fig2", "jittered"], marks["pf-fig3", "jittered"]
    packets = [sum(i) + sum(o) for i, o in zip(fig2.ins, fig2.outs, strict=True)]
    forced = runs["pf-fig2"].at(arrivals="jittered").values("forced", marker=marker)
    supply = [s.values["cbs"] + SUPPLY for s in runs["pf-fig2"].all]
    checks = {
        "bucket": max(chain(*(m.in_bytes for m in marks.values()))) <= supply[0],
        **(_pam(fig2, fig3, stats.mean(f / n for f, n in zip(forced, packets, strict=True))) if marker == PAM else {}),
        **(_settles(fig2, fig3, float(chosen["a3"])) if marker == PAM else {}),
        **(_fsam(fig2, fig3) if marker == FSAM else {}),
    }
    return Row(
        marker,
        chosen,
        errors=math.fsum(_errors(marks[where], _printed(cells, where[0], marker)) for where in FITTED),
        in_total=stats.mean(sum(row) for row in fig2.ins),
        used=stats.mean(fig2.in_bytes) / SUPPLY,
        jain_f=stats.mean(fig2.jain_f),
        jain_in=stats.mean(fig2.jain_in),
        forced=0.0 if marker == TB else stats.mean(f / n for f, n in zip(forced, packets, strict=True)),
        broken=[name for name, kept in checks.items() if not kept],
    )


def _printed(cells: list[Cell], study: str, marker: str) -> list[float]:
    return [c.published for c in cells if c.study == study and ROWS[c.row] == marker and c.column.endswith(" IN")]


def shares(marks: Marks) -> list[float]:
    """IN share of each flow, mean over the replications."""
    return [stats.mean(column) for column in zip(*([i / sum(row) for i in row] for row in marks.ins), strict=True)]


def _errors(marks: Marks, printed: list[float]) -> float:
    total = sum(printed)
    return math.fsum((ours - p / total) ** 2 for ours, p in zip(shares(marks), printed, strict=True))


def _pam(fig2: Marks, fig3: Marks, forced: float) -> dict[str, bool]:
    return {"used": stats.mean(fig2.in_bytes) >= 0.95 * SUPPLY, "forced": forced < 0.005, "alike": _alike(fig3)}


def _settles(fig2: Marks, fig3: Marks, p_max: float) -> dict[str, bool]:
    return {"settles": all(p_max >= 1 - sum(sum(row) for row in m.ins) / m.packets for m in (fig2, fig3))}


def _alike(marks: Marks) -> bool:
    """PAM's invariant 4, on the packets of all replications together."""
    ins = [sum(column) for column in zip(*marks.ins, strict=True)]
    all_of = [i + sum(column) for i, column in zip(ins, zip(*marks.outs, strict=True), strict=True)]
    f = sum(ins) / sum(all_of)
    return all(abs(i / n / f - 1) <= 0.05 + 3 * math.sqrt((1 - f) / (n * f)) for i, n in zip(ins, all_of, strict=True))


def _fsam(fig2: Marks, fig3: Marks) -> dict[str, bool]:
    return {
        "equal": all(abs(3 * s - 1) <= 0.1 for s in shares(fig3)) and stats.mean(fig3.jain_in) >= 0.98,
        "supplied": abs(stats.mean(fig2.in_bytes) / SUPPLY - 1) <= 0.1,
    }
