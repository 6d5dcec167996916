"""`perhop reproduce pam-fsam --readings`: every open reading tried, the rule applied, a table written."""

from __future__ import annotations

from pathlib import Path

from perhop.studies import Paper, Say, notes, trying
from perhop.studies.pam_fsam import deciding, sensitivity, shares
from perhop.studies.pam_fsam.sensitivity import Variant
from perhop.studies.readings import Readings
from perhop.studies.runs import Budget
from perhop.studies.trying import World, table

STUDIES = ("pf-fig2", "pf-fig3", "pf-fig4", "pf-fig5", "pf-fig6", "pf-fig7", "pf-fig8", "pf-fig9")


def run(paper: Paper, budget: Budget, to: tuple[Path, Say]) -> Path:
    """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
    out, say = to
    world, readings = World(paper, budget, say), paper.readings()
    out.mkdir(parents=True, exist_ok=True)
    decision = deciding.decide(readings, world.criteria.cells, (world.sets, budget, say))
    say("shares of 10 and 100 flows")
    measured = shares.measure(paper.directory, readings.by_id["a5"], budget)
    found = sensitivity.variants(world, readings)
    locked = sensitivity.phase_lock(world, readings.by_id["a13"])
    differing = sensitivity.second_seed(world)
    notes.write_tried(out / notes.TRIED, paper.name, trying.tried(found))
    parts = [
        _grid(decision, readings),
        _shares(measured),
        _queues(found, readings),
        trying.one_at_a_time(found, STUDIES),
        _phases(locked),
        trying.seeds_page(differing, budget),
    ]
    page = out / "readings.md"
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    say("")
    return page


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
    chosen = ", ".join(f"{name} = {value}" for name, value in decision.chosen.items())
    agrees = all(readings.by_id[name].frozen == value for name, value in decision.chosen.items())
    smallest = "; ".join(
        f"{m}: {', '.join(f'{k} {v}' for k, v in r.readings.items())} ({r.errors:.5f})"
        for m, r in decision.smallest.items()
    )
    return "\n\n".join(
        [
            "### The grid on Fig. 2 and 3",
            table(head, body),
            f"IN totals of Fig. 2 miss the printed ones by (packets, mean): {misses}. The rule takes {chosen}; "
            f"{'the scenario files say the same' if agrees else '**the scenario files say otherwise**'}. "
            f"Smallest errors of all that keep the invariants, whatever burst and weight: {smallest}.",
        ]
    )


def _shares(measured: list[shares.Share]) -> str:
    rows = [
        [s.flows, s.value, f"{s.modest:.3f}", f"{s.used:.3f}", f"{s.alpha:.2f}", f"{s.settled_s:.1f} s"]
        for s in measured
    ]
    head = ["flows", "K / K_alpha / K_c", "modest flows IN", "tokens used", "alpha / fair rate", "settled after"]
    return "### Shares of 10 and of 100 flows (a5)\n\n" + table(head, rows)


def _queues(found: list[Variant], readings: Readings) -> str:
    """The rule of a9: room for a gain of 10 % at n = 5, and F-SAM gains over n <= 10; the signs beside it."""
    names = {value: f"a9: {value}" for value in readings.by_id["a9"].values}
    names[readings.by_id["a9"].frozen] = "frozen"
    columns = ("ceiling n=5, %", "fig4 g(F-SAM), %", "fig4 g(PAM), %", "fig7 g(F-SAM), %", "fig7 g(PAM), %")
    by_name = {v.name: v for v in found}
    rows = [[value, *(f"{by_name[n].figures[c]:.2f}" for c in columns), by_name[n].signs] for value, n in names.items()]
    head = ["queue (a9)", *columns, "signs as published, of 18"]
    return "### The core queue\n\n" + table(head, rows)


def _phases(locked: list[tuple[str, str, int, list[float]]]) -> str:
    rows = [
        [size, arrivals, n, f"{values[0]:.2f}", f"{values[len(values) // 2]:.2f}", f"{values[-1]:.2f}"]
        for size, arrivals, n, values in locked
    ]
    head = ["TCP packet (a13)", "UDP arrivals", "n", "smallest", "median", "largest"]
    title = "### Fig. 7 behind TB: UDP's share of the IN packets, run by run"
    return f"{title}\n\n{table(head, rows)}"
