"""What is this paper's own in trying readings: TCP by what has no PPS in it, then the grid, come first."""

from __future__ import annotations

from collections.abc import Mapping

from perhop import stats
from perhop_studies.pps import deciding
from perhop_studies.pps.diffserv import PUBLISHED
from perhop_studies.pps.shares import FIG4, FIG6, FIG7
from perhop_studies.pps.terms import SCHEMES, SIZES, Rates, Shares
from perhop_studies.pps.worked import EX1
from perhop_studies.samples import Samples
from perhop_studies.trying import Trial, World, agreement, table
from perhop_studies.verdict import number

BEYOND = "beyond-"
"""How the names of run sets begin that are not the paper's."""


def _figures(runs: Mapping[str, Samples]) -> dict[str, float]:
    worked = runs["pps-ex1"].at(case="all")
    setups: dict[str, tuple[Samples, Rates]] = {
        "ex1": (worked, EX1["all"]),
        "fig4": (runs["pps-fig4"], FIG4),
        "fig6": (runs["pps-fig6"], FIG6),
        "fig7": (runs["pps-fig7"], FIG7),
    }
    found = {}
    for name, (of, rates) in setups.items():
        for size in SIZES:
            jain = [value for s in SCHEMES for value in Shares.of(of.at(scheme=s, size=size), rates).jain]
            found[f"{name} jain(y), {size} B"] = stats.mean(jain)
    for size in SIZES:
        values = [v for s in SCHEMES for v in runs["pps-fig6"].values("P3 - P4.utilisation", scheme=s, size=size)]
        found[f"fig6 utilisation, {size} B"] = stats.mean(values)
    expectation = [v for s in SCHEMES for v in runs["pps-fig7"].values("P3 - P4.expectation", scheme=s)]
    found["fig7 E / average tickets"] = stats.mean(expectation)
    return found


def _timers(world: World) -> str:
    found = deciding.timers(world)
    rows = []
    for baseline in found:
        for size in SIZES:
            deviations = [f"{baseline.deviations[size, case]:.4f}" for case in deciding.SIGMA]
            cells = [f"{x:.3f}" for (of, _, _), x in baseline.cells.items() if of == size]
            rows.append([baseline.value, size, *deviations, *cells, f"{baseline.errors:.3f}"])
    printed = [rate for rates in PUBLISHED.values() for rate in rates.values()]
    rows.append(["printed", "", *deciding.SIGMA.values(), *printed, ""])
    head = ["b6", "packets, B", "Reno, a", "Reno, b", *(f"{p} {f}" for p, r in PUBLISHED.items() for f in r), "errors"]
    text = agreement(world.readings, {"b6": found[0].value})
    return "\n\n".join(["### TCP without PPS: Reno in Table III, DiffServ in Table IV", table(head, rows), text])


def _grid(world: World) -> str:
    decision = deciding.decide(world)
    rows = sorted(decision.rows, key=lambda row: (not row.allowed, row.errors))
    body = [
        [
            *row.readings.values(),
            f"{row.errors:.3f}",
            f"{row.worked:.3f}",
            f"{row.utilisation:.4f}",
            _margin(decision, row),
        ]
        for row in rows
    ]
    ids = list(rows[0].readings)
    head = [*ids, "sum of (y - 1)^2", "of which Fig. 1", "utilisation, Fig. 6", "above the smallest, a seed"]
    allowed = sum(row.allowed for row in rows)
    rule = agreement(world.readings, decision.chosen.readings)
    text = f"{allowed} of {len(rows)} combinations fill the link. {rule}"
    return "\n\n".join(["### The grid on Fig. 1 and 6", table(head, body), text])


def _margin(decision: deciding.Decision, row: deciding.Row) -> str:
    found = decision.margin(row)
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"


TRIAL = Trial(
    _figures,
    sets=lambda world: [s for s in world.sets if not s.name.startswith(BEYOND)],
    sections=lambda world, _, variants: [_timers(world), _grid(world), variants],
)
