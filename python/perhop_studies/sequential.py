"""Seeds where they are needed: a claim is looked at with few, and gets more only while it is undecided.

At each look every place of the grid that an open hard claim asks for is simulated up to the look's number of
replications, and a claim is judged from the same number of replications at all its places. The last look is the frozen
rule with all seeds, so what is open there is decided as the criteria say. An earlier look decides by the interval of
`verdict.EARLY`: how often that errs is derived there. Soft claims and reports take what is there.

Decision: docs/decisions/103-seeds-in-three-looks.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from perhop import stats
from perhop_studies import Paper, Study
from perhop_studies import runs as simulation
from perhop_studies.criteria import Cell, Criterion
from perhop_studies.runs import Budget, Job
from perhop_studies.samples import Key, Sample, Samples
from perhop_studies.verdict import UNDECIDED, Finding

Result = TypeVar("Result")
Progress = Callable[[list[Job], Job, int], None]


@dataclass
class Looks:
    """The runs of some studies of a paper so far, and by which look each hard claim was decided."""

    paper: Paper
    fixed: set[Key] = field(default_factory=set)
    """Places with a separate number of draws: complete from the first look on."""
    samples: list[Sample] = field(default_factory=list)
    done: dict[Key, int] = field(default_factory=dict)
    """Replications by place."""
    decided: dict[tuple[str, str], int] = field(default_factory=dict)
    """By study and claim, of hard claims; the last look if none decided it."""
    _runs: dict[tuple[str, int], tuple[Samples, set[Key]]] = field(default_factory=dict)

    def add(self, samples: Iterable[Sample]) -> None:
        """Takes runs in."""
        self._runs.clear()
        for sample in samples:
            self.samples.append(sample)
            self.done[sample.key] = max(self.done.get(sample.key, 0), sample.replication + 1)

    def of(self, study: Study, replications: int) -> tuple[Samples, set[Key]]:
        """A study's runs, at most so many replications of each place, and what takes note of the places asked for."""
        key = (study.id, replications)
        if key not in self._runs:
            asked: set[Key] = set()
            kept = (s for s in self.samples if s.runs in study.sets)
            runs = Samples((s for s in kept if s.replication < replications or s.key in self.fixed), asked)
            self._runs[key] = runs, asked
        return self._runs[key]

    def look(self, claims: Iterable[Criterion], replications: int) -> tuple[list[Criterion], set[Key]]:
        """Judges hard claims; those that stay open, and the places that they ask for."""
        left, wanted = [], set[Key]()
        for claim in claims:
            self.decided[claim.study, claim.claim] = replications
            study = self.paper.study(claim.study)
            finding, asked = self._asking(study, replications, partial(study.judge, claim))
            if finding.verdict == UNDECIDED:
                left.append(claim)
                wanted |= asked
        return left, wanted

    def finding(self, claim: Criterion) -> Finding:
        """What a claim found, by the look that decided it; of others, by what all their places have."""
        study = self.paper.study(claim.study)
        if decided := self.decided.get((claim.study, claim.claim)):
            return study.judge(claim, self.of(study, decided)[0])
        return self.common(study, partial(study.judge, claim))[0]

    def cell(self, cell: Cell) -> stats.Interval:
        """What was measured for a printed cell, from what all its places have."""
        return self.common(self.paper.study(cell.study), lambda runs: self.paper.cell(runs, cell))[0]

    def least(self, study: Study) -> int:
        """Replications that every place of a study has."""
        places = {s.key for s in self.samples if s.runs in study.sets} - self.fixed
        return min((self.done[place] for place in places), default=0)

    def common(self, study: Study, of: Callable[[Samples], Result]) -> tuple[Result, set[Key]]:
        """What a function finds in as many replications as all the places have that it asks for, and these places."""
        least = self.least(study)
        found, asked = self._asking(study, least, of)
        common = min((self.done[place] for place in asked), default=least)
        return (found, asked) if common == least else self._asking(study, common, of)

    def _asking(self, study: Study, replications: int, of: Callable[[Samples], Result]) -> tuple[Result, set[Key]]:
        runs, asked = self.of(study, replications)
        asked.clear()
        return of(runs), asked - self.fixed


def run(paper: Paper, claims: list[Criterion], jobs: list[Job], budget: Budget, progress: Progress) -> Looks:
    """Simulates jobs up to the budget's seeds where hard claims need them, elsewhere to its first look."""
    looks = Looks(paper, {place.key for job in jobs if job.set.draws for place in job.points})
    open_claims, before = [claim for claim in claims if claim.kind == "hard"], 0
    for replications in budget.looks:
        now = [job.between(before, replications) for job in jobs]
        looks.add(simulation.simulate(now, budget, partial(progress, now)))
        open_claims, wanted = looks.look(open_claims, replications)
        jobs = _narrowed(jobs, wanted)
        before = replications
    return looks


def _narrowed(jobs: list[Job], wanted: set[Key]) -> list[Job]:
    return [one for job in jobs for one in job.narrowed(lambda place: place.key in wanted)]
