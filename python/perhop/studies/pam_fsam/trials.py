"""`perhop reproduce pam-fsam --readings`: every open reading tried, the rule applied, a table written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from perhop.studies import Paper, notes
from perhop.studies.criteria import Criterion
from perhop.studies.pam_fsam import deciding, sensitivity, shares
from perhop.studies.pam_fsam.sensitivity import Judge, Variant, World
from perhop.studies.readings import Readings
from perhop.studies.runs import Budget
from perhop.studies.samples import Samples
from perhop.studies.verdict import Finding

STUDIES = ("pf-fig2", "pf-fig3", "pf-fig4", "pf-fig5", "pf-fig6", "pf-fig7", "pf-fig8", "pf-fig9")


def run(paper: Paper, budget: Budget) -> _Trials:
    """Prepares the trials."""

    def judge(criterion: Criterion, by_set: dict[str, Samples]) -> Finding:
        study = paper.study(criterion.study)
        return study.judge(criterion, study.samples(by_set))

    return _Trials(paper, judge, budget)


class _Trials:
    def __init__(self, paper: Paper, judge: Judge, budget: Budget) -> None:
        self.paper, self.judge, self.budget = paper, judge, budget

    def write(self, out: Path, say: Callable[[str], None]) -> Path:
        """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
        readings, criteria, sets = self.paper.readings(), self.paper.criteria(), self.paper.runs()
        world = World(self.paper.studies, sets, criteria, self.judge, self.budget, say)
        out.mkdir(parents=True, exist_ok=True)
        decision = deciding.decide(readings, criteria.cells, (sets, self.budget, say))
        say("shares of 10 and 100 flows")
        measured = shares.measure(self.paper.directory, readings.by_id["a5"], self.budget)
        found = sensitivity.variants(world, readings)
        locked = sensitivity.phase_lock(world, readings.by_id["a13"])
        differing = sensitivity.second_seed(world, (self.budget.seed, self.budget.seed + 1))
        notes.write_tried(out / notes.TRIED, self.paper.name, sensitivity.tried(found, criteria))
        page = out / "readings.md"
        parts = [
            _grid(decision, readings),
            _shares(measured),
            _queues(found, readings),
            _sensitivity(found),
            _phases(locked),
            _seeds(differing, self.budget),
        ]
        page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        say("")
        return page


def table(head: list[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


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


def _sensitivity(found: list[Variant]) -> str:
    figures = list(found[0].figures)
    held = [[v.name, *("{}/{}".format(*v.hard(s)) for s in STUDIES)] for v in found]
    values = [[v.name, *(f"{v.figures[name]:.2f}" for name in figures)] for v in found]
    return "\n\n".join(
        [
            "### One reading at a time: hard claims that hold",
            table(["reading", *STUDIES], held),
            "### One reading at a time: figures",
            table(["reading", *figures], values),
        ]
    )


def _phases(locked: list[tuple[str, str, int, list[float]]]) -> str:
    rows = [
        [size, arrivals, n, f"{values[0]:.2f}", f"{values[len(values) // 2]:.2f}", f"{values[-1]:.2f}"]
        for size, arrivals, n, values in locked
    ]
    head = ["TCP packet (a13)", "UDP arrivals", "n", "smallest", "median", "largest"]
    title = "### Fig. 7 behind TB: UDP's share of the IN packets, run by run"
    return f"{title}\n\n{table(head, rows)}"


def _seeds(differing: list[tuple[str, str, str]], budget: Budget) -> str:
    head = ["claim", f"base seed {budget.seed}", f"base seed {budget.seed + 1}"]
    body = table(head, [list(row) for row in differing]) if differing else "Every hard verdict is the same."
    return f"### A second base seed\n\n{body}"
