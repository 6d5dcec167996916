"""What is this paper's own in trying readings: the grid on Fig. 2 and 3, and tables of three questions."""

from __future__ import annotations

from collections.abc import Sequence

from perhop_studies.pam_fsam import deciding, sensitivity, shares
from perhop_studies.readings import Readings
from perhop_studies.trying import Trial, Variant, World, agreement, table


def _grid(decision: deciding.Decision, readings: Readings) -> str:
    rows = sorted(decision.rows, key=lambda r: (r.marker, r.errors))
    body = [
        [
            r.marker,
            ", ".join(f"{k} {v}" for k, v in r.readings.items()),
            f"{r.errors:.5f}",
            f"{r.in_total:.0f}",
            f"{r.used:.3f}",
            f"{r.jain_f:.3f}",
            f"{r.jain_in:.3f}",
            f"{100 * r.forced:.2f} %",
            ", ".join(r.broken) or "-",
        ]
        for r in rows
    ]
    head = ["marker", "readings", "errors", "IN total", "used", "Jain f", "Jain IN", "forced OUT", "breaks"]
    misses = ", ".join(f"{unit} {miss:.0f}" for unit, miss in decision.misses.items())
    smallest = "; ".join(
        f"{m}: {', '.join(f'{k} {v}' for k, v in r.readings.items())} ({r.errors:.5f})"
        for m, r in decision.smallest.items()
    )
    return "\n\n".join(
        [
            "### The grid on Fig. 2 and 3",
            table(head, body),
            f"IN totals of Fig. 2 miss the printed ones by (packets, mean): {misses}. "
            f"{agreement(readings, decision.chosen)} "
            f"Smallest errors of those that keep the invariants, whatever burst and weight: {smallest}.",
        ]
    )


def _shares(measured: list[shares.Share]) -> str:
    rows = [
        [s.flows, s.value, f"{s.modest:.3f}", f"{s.used:.3f}", f"{s.alpha:.2f}", f"{s.settled_s:.1f} s"]
        for s in measured
    ]
    head = ["flows", "K / K_alpha / K_c", "modest flows IN", "tokens used", "alpha / fair rate", "settled after"]
    return "### Shares of 10 and of 100 flows (a5)\n\n" + table(head, rows)


def _queues(found: Sequence[Variant], readings: Readings) -> str:
    """The rule of a9: a possible gain of 10 % at n = 5, and F-SAM gains over n <= 10; also the signs."""
    names = {value: f"a9: {value}" for value in readings.by_id["a9"].values}
    names[readings.by_id["a9"].frozen] = "frozen"
    columns = ("ceiling n=5, %", "fig4 g(F-SAM), %", "fig4 g(PAM), %", "fig7 g(F-SAM), %", "fig7 g(PAM), %")
    by_name = {v.name: v for v in found}
    rows = [
        [value, *(f"{by_name[n].figures[c]:.2f}" for c in columns), f"{by_name[n].figures[sensitivity.SIGNS]:.0f}"]
        for value, n in names.items()
    ]
    head = ["queue (a9)", *columns, sensitivity.SIGNS]
    return "### The core queue\n\n" + table(head, rows)


def _phases(locked: list[sensitivity.Locked]) -> str:
    rows = [
        [one.size, one.arrivals, one.n, *(f"{one.shares[i]:.2f}" for i in (0, len(one.shares) // 2, -1))]
        for one in locked
    ]
    head = ["TCP packet (a13)", "UDP arrivals", "n", "smallest", "median", "largest"]
    title = "### Fig. 7 behind TB: UDP's share of the IN packets, run by run"
    return f"{title}\n\n{table(head, rows)}"


def _sections(world: World, found: list[Variant], variants: str) -> list[str]:
    readings = world.readings
    return [
        _grid(deciding.decide(world), readings),
        _shares(shares.measure(world.paper.directory, readings.by_id["a5"], world.budget)),
        _queues(found, readings),
        variants,
        _phases(sensitivity.phase_lock(world, readings.by_id["a13"])),
    ]


TRIAL = Trial(
    sensitivity.figures,
    sets=sensitivity.base_sets,
    seeded=sensitivity.seeded,
    reread={"a10": sensitivity.wire_bytes},
    sections=_sections,
)
