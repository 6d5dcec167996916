"""Readings tried one at a time, and a second base seed: what the papers' `--readings` share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from perhop.studies import Paper
from perhop.studies import runs as simulation
from perhop.studies.criteria import Criteria, Criterion
from perhop.studies.runs import Budget, RunSet, Settings
from perhop.studies.samples import Sample
from perhop.studies.verdict import NOT_REPRODUCED, REPRODUCED, Finding

Findings = dict[tuple[str, str], tuple[Criterion, Finding]]
"""By study and claim."""


@dataclass(frozen=True)
class World:
    """What every variant shares."""

    paper: Paper
    budget: Budget
    say: Callable[[str], None]

    @cached_property
    def criteria(self) -> Criteria:
        """What decides."""
        return self.paper.criteria()

    @cached_property
    def sets(self) -> list[RunSet]:
        """All run sets."""
        return self.paper.runs()

    def simulate(self, sets: Iterable[RunSet], settings: Settings) -> list[Sample]:
        """Runs these sets with a reading laid over them."""
        return simulation.simulate(simulation.prepare(sets, self.budget, settings), self.budget, lambda *_: None)

    def findings(self, samples: list[Sample]) -> Findings:
        """Hard and soft claims of every study whose runs are all there."""
        by_set = simulation.by_set(samples)
        found: Findings = {}
        for study in self.paper.studies:
            if by_set.keys() >= set(study.sets):
                runs = study.samples(by_set)
                judged = (c for c in self.criteria.of(study.id) if c.kind != "report")
                found |= {(c.study, c.claim): (c, study.judge(c, runs)) for c in judged}
        return found


@dataclass(frozen=True)
class Variant:
    """One reading at another value: its findings by claim, and the figures of the table."""

    name: str
    findings: Findings
    figures: dict[str, float]

    def held(self, study: str, rule: str) -> tuple[int, int]:
        """At how many grid points the claim holds, of how many."""
        found = [f.verdict == REPRODUCED for c, f in self.findings.values() if (c.study, c.rule) == (study, rule)]
        return sum(found), len(found)

    def hard(self, study: str) -> tuple[int, int]:
        """Hard claims of a study that hold, of how many."""
        found = [f.verdict == REPRODUCED for c, f in self.findings.values() if c.study == study and c.kind == "hard"]
        return sum(found), len(found)


def tried(found: Sequence[Variant]) -> dict[str, str]:
    """For each claim that the first, the frozen reading, does not reproduce: what every other reading gave."""
    base, others = found[0], found[1:]
    texts = {}
    for study, rule in dict.fromkeys((c.study, c.rule) for c, _ in base.findings.values()):
        mine = [f.verdict for c, f in base.findings.values() if (c.study, c.rule) == (study, rule)]
        if NOT_REPRODUCED in mine:
            as_frozen = _result(base, study, rule)
            results = {v.name: _result(v, study, rule) for v in others}
            differing = [f"{name}: {result}" for name, result in results.items() if result != as_frozen]
            same = len(results) - len(differing)
            listed = "; ".join([*differing, f"{same} others: the same"])
            texts[f"{study}/{rule}"] = f"Readings tried one at a time (frozen: {as_frozen}): {listed}"
    return texts


def _result(variant: Variant, study: str, rule: str) -> str:
    held, of = variant.held(study, rule)
    if of > 1:
        return f"{held} of {of} points hold"
    [finding] = [f for c, f in variant.findings.values() if (c.study, c.rule) == (study, rule)]
    if len(finding.parts) > 2:
        holding = sum(part.holds is True for part in finding.parts)
        return f"{holding} of {len(finding.parts)} conditions hold"
    return ", ".join(f"{part.interval.mean:.3g}" for part in finding.parts) + (" (holds)" if held else "")


def second_seed(world: World, sets: Iterable[RunSet], seeds: tuple[int, int]) -> list[tuple[str, str, str]]:
    """Hard claims whose verdict differs between two base seeds: name and both verdicts."""
    chosen, found = list(sets), []
    for seed in seeds:
        world.say(f"base seed {seed}")
        at = replace(world, budget=replace(world.budget, seed=seed))
        judged = at.findings(at.simulate(chosen, {}))
        found.append({f"{c.study}/{c.claim}": f.verdict for c, f in judged.values() if c.kind == "hard"})
    first, second = found
    return [(name, verdict, second[name]) for name, verdict in first.items() if verdict != second[name]]


def table(head: list[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def one_at_a_time(found: Sequence[Variant], studies: Iterable[str]) -> str:
    """Which hard claims hold under each reading, and its figures."""
    listed, figures = list(studies), list(found[0].figures)
    held = [[v.name, *("{}/{}".format(*v.hard(s)) for s in listed)] for v in found]
    values = [[v.name, *(f"{v.figures[name]:.2f}" for name in figures)] for v in found]
    return "\n\n".join(
        [
            "### One reading at a time: hard claims that hold",
            table(["reading", *listed], held),
            "### One reading at a time: figures",
            table(["reading", *figures], values),
        ]
    )


def seeds_page(differing: list[tuple[str, str, str]], budget: Budget) -> str:
    """What a second base seed changed."""
    head = ["claim", f"base seed {budget.seed}", f"base seed {budget.seed + 1}"]
    body = table(head, [list(row) for row in differing]) if differing else "Every hard verdict is the same."
    return f"### A second base seed\n\n{body}"
