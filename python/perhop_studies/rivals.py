"""Does a claim discriminate? Its verdict with the paper's mechanism replaced by the nearest rival.

`studies/<paper>/rivals.toml` names them. A rival that was run beside the mechanism takes its place in the samples; one
that was not is run for it, with keys laid over the files (`lay`). A claim that never asks for the mechanism's runs has
no rival. One that holds for the rival too does not tell them apart.

    [[rival]]
    name = "TSW2CM in the place of PAM"
    axis = "marker"                            # of the studies' runs
    of = ["pam"]                               # whose places it takes
    by = "tsw2cm"                              # and from where
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from perhop_studies import Paper, sequential
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.runs import Budget, Job, RunSet
from perhop_studies.samples import Key, Sample
from perhop_studies.sequential import Looks, Progress

FILE = "rivals.toml"


@dataclass(frozen=True)
class Rival:
    """What takes the place of a paper's mechanism."""

    name: str
    axis: str = ""
    of: list[Any] = field(default_factory=list)
    by: Any = None
    lay: Mapping[str, Any] = field(default_factory=dict)
    """Keys laid over the files, where it was not run beside the mechanism."""

    def replaced(self, samples: Iterable[Sample]) -> tuple[list[Sample], set[Key]]:
        """Samples with the rival's in the mechanism's places, and these places."""
        listed = list(samples)
        kept = [s for s in listed if s.at.get(self.axis) not in self.of]
        theirs = [s for s in kept if s.at.get(self.axis) == self.by and self.axis in s.at]
        there = {s.key for s in listed if s.at.get(self.axis) in self.of}
        moved = [replace(s, at={**s.at, self.axis: value}) for s in theirs for value in self.of]
        taken = [s for s in moved if s.key in there]
        lacking = there - {s.key for s in taken}
        left = [s for s in listed if s.key in lacking]
        return [*kept, *taken, *left], there - lacking


def load(path: Path) -> list[Rival]:
    """A paper's rivals; none without the file."""
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return [Rival(**entry) for entry in stated.get("rival", [])]


def judge(paper: Paper, claims: Iterable[Criterion], looks: Looks) -> dict[tuple[str, str], dict[str, str]]:
    """By study and claim, then by rival: the verdict with the rival in the mechanism's place."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    hard = [claim for claim in claims if claim.kind == "hard"]
    for rival in load(paper.directory / FILE):
        if not rival.axis:
            continue
        samples, theirs = rival.replaced(looks.samples)
        other = Looks(paper, looks.fixed)
        other.add(samples)
        for claim in hard:
            verdict = _verdict(other, claim, theirs)
            if verdict is not None:
                found.setdefault((claim.study, claim.claim), {})[rival.name] = verdict
    return found


def _verdict(looks: Looks, claim: Criterion, theirs: set[Key]) -> str | None:
    """None if the claim asks for none of the places that the rival has taken, or for a quantity that it lacks."""
    study = looks.paper.study(claim.study)
    try:
        finding, asked = looks.common(study, partial(study.judge, claim))
    except KeyError:
        return None
    return finding.verdict if asked & theirs else None


def simulated(
    paper: Paper, sets: Iterable[RunSet], claims: list[Criterion], budget: Budget, progress: Progress
) -> dict[tuple[str, str], dict[str, str]]:
    """As [`judge`], of the rivals that have to be run: all claims of studies whose runs they change."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    listed = list(sets)
    hard = [claim for claim in claims if claim.kind == "hard"]
    for rival in (one for one in load(paper.directory / FILE) if one.lay):
        laid = [replace(one, settings={**one.settings, **rival.lay}) for one in listed]
        jobs = simulation.prepare(laid, budget)
        looks, changed = sequential.run(paper, hard, jobs, budget, progress), _changed(listed, jobs, budget)
        for claim in hard:
            study = paper.study(claim.study)
            if looks.common(study, partial(study.judge, claim))[1] & changed:
                found.setdefault((claim.study, claim.claim), {})[rival.name] = looks.finding(claim).verdict
    return found


def _changed(sets: list[RunSet], laid: list[Job], budget: Budget) -> set[Key]:
    plain = {place.key: place.hash for job in simulation.prepare(sets, budget) for place in job.points}
    return {place.key for job in laid for place in job.points if plain[place.key] != place.hash}
