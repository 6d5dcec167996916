"""A paper's runs with something laid over them, judged: readings, mutants and interventions, one at a time.

What a variant gave is kept in a file, a line each, with a hash of what it was made from: an interrupted call continues,
and a line is made again only if its runs or its criteria changed.

Decision: docs/decisions/106-papers-use-everyones-selectors.md
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from perhop import files
from perhop_studies import Paper
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.runs import Budget, Job, Place, RunSet, Settings
from perhop_studies.samples import Key, Sample
from perhop_studies.sequential import Looks
from perhop_studies.verdict import Finding

FEW, FULL = 3, 10
"""Seeds with which a variant is tried first, and with which a verdict that moved is made sure."""

Say = Callable[[str], None]
Lay = Callable[[RunSet], Settings]
Verdicts = dict[str, str]
"""By `study/claim`."""
Line = dict[str, Any]
"""A line of a file of results."""


@dataclass(frozen=True)
class Change:
    """Keys that are laid over a paper's runs, under a name."""

    name: str
    set: dict[str, Any] = field(default_factory=dict)
    """Over every run set."""
    sets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Over one, by its name."""

    def lay(self, runs: RunSet) -> Settings:
        """Those of a run set."""
        return {**self.set, **self.sets.get(runs.name, {})}


def read(path: Path) -> list[Line]:
    """The lines of a file; none if there is none."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def recorded(paper: Paper, kind: str) -> list[Line]:
    """What the variants of a kind gave when they were last run: `readings`, `mutants` or `causes`."""
    return read(paper.directory / f"records/{kind}.jsonl")


@dataclass
class Store:
    """Runs that are simulated when they are asked for, each once."""

    jobs: list[Job]
    run: Callable[[list[Job]], list[Sample]]
    samples: dict[Key, list[Sample]] = field(default_factory=dict)

    @cached_property
    def places(self) -> set[Key]:
        """All of its points."""
        return {place.key for job in self.jobs for place in job.points}

    def upto(self, seeds: int, wanted: set[Key]) -> list[Sample]:
        """The first replications of these points."""
        for have in {self._have(key) for key in wanted & self.places}:
            if have < seeds:
                lacking = partial(self._lacks, wanted, have)
                jobs = [one.between(have, seeds) for job in self.jobs for one in job.narrowed(lacking)]
                for sample in self.run([one for one in jobs if not (one.set.draws and have)]):
                    self.samples.setdefault(sample.key, []).append(sample)
        return [s for key in wanted & self.places for s in self.samples[key]]

    def _have(self, key: Key) -> int:
        return len(self.samples.get(key, ()))

    def _lacks(self, wanted: set[Key], have: int, place: Place) -> bool:
        return place.key in wanted and self._have(place.key) == have


class Variant(NamedTuple):
    """Something laid over the runs, and how its line is made."""

    name: Line
    """The line's first fields."""
    changed: Store
    claims: list[Criterion]
    make: Callable[[], Line] | None
    """None if it cannot be made here: a line of the same is kept then, or there is none."""
    more: tuple[object, ...] = ()
    """What else its line is made from."""


@dataclass(frozen=True)
class Judged:
    """What claims found with so many seeds, and the points that each asked for."""

    findings: dict[str, Finding]
    asked: dict[str, set[Key]]

    @property
    def verdicts(self) -> Verdicts:
        """Their verdicts."""
        return {name: finding.verdict for name, finding in self.findings.items()}


@dataclass
class Bench:
    """A paper's frozen runs, and what judges variants of them."""

    paper: Paper
    budget: Budget
    say: Say

    def lines(self, kind: str, out: Path, variants: Iterable[Variant]) -> tuple[Path, list[Line]]:
        """The line of each variant, made from the same before or now; in a file, each as soon as it is known."""
        path = files.directory(out) / f"{kind}-{self.paper.name}.jsonl"
        kept = {line["of"]: line for line in (*recorded(self.paper, kind), *read(path))}
        left, found = dict(kept), list[Line]()
        for one in variants:
            self.say(": ".join(map(str, one.name.values())))
            of = self._hash(one)
            if line := kept.get(of) or (one.make and one.make()):
                found.append({**one.name, **line, **one.name, "of": of})
                left.pop(of, None)
                _write(path, [*found, *left.values()])
        _write(path, found)
        self.say("")
        return path, found

    @cached_property
    def hard(self) -> list[Criterion]:
        """All hard criteria."""
        return self.paper.criteria().hard

    @cached_property
    def frozen(self) -> Store:
        """The frozen runs of its studies."""
        wanted = {name for claim in self.hard for name in self.paper.study(claim.study).sets}
        return self._store([one for one in self.paper.runs() if one.name in wanted])

    @cached_property
    def hashes(self) -> dict[Key, str]:
        """Of each frozen point."""
        return {place.key: place.hash for job in self.frozen.jobs for place in job.points}

    def laid(self, lay: Lay, about: Callable[[Mapping[str, Any]], bool] = lambda _: True) -> Store:
        """The runs that a variant changes, at the points where it does and that it is about."""
        settings = [(job.set, lay(job.set)) for job in self.frozen.jobs]
        store = self._store([replace(one, settings={**one.settings, **keys}) for one, keys in settings if keys])
        changed = [
            one for job in store.jobs for one in job.narrowed(lambda p: p.hash != self.hashes[p.key] and about(p.at))
        ]
        return replace(store, jobs=[job for job in changed if job.points])

    def _hash(self, one: Variant) -> str:
        """Of what a line is made from: its runs, the frozen ones, what judges them."""
        points = sorted(place.hash for job in one.changed.jobs for place in job.points)
        judged = [(claim.study, claim.claim, repr(claim.bounds)) for claim in one.claims]
        text = repr((points, judged, self.budget.seed, sorted(self.hashes.values()), one.more))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def judge(self, claims: Iterable[Criterion], seeds: int, changed: Store, wanted: set[Key] | None = None) -> Judged:
        """Verdicts with changed runs in the place of frozen ones; `wanted` are the points that are enough."""
        listed = list(claims)
        points = self.places(listed) if wanted is None else wanted
        samples = changed.upto(seeds, points) + self.frozen.upto(seeds, points - changed.places)
        return self.by(samples, listed, seeds)

    def places(self, claims: Iterable[Criterion]) -> set[Key]:
        """The frozen points of the studies that claims are in."""
        sets = {name for claim in claims for name in self.paper.study(claim.study).sets}
        return {key for key in self.frozen.places if key[0] in sets}

    def by(self, samples: Iterable[Sample], claims: Iterable[Criterion], seeds: int) -> Judged:
        """The verdicts of claims by these samples."""
        looks = Looks(self.paper, {p.key for job in self.frozen.jobs if job.set.draws for p in job.points})
        looks.add(samples)
        found = Judged({}, {})
        for claim in claims:
            study = self.paper.study(claim.study)
            runs, asked = looks.of(study, seeds)
            asked.clear()
            found.findings[claim.name] = study.judge(claim, runs)
            found.asked[claim.name] = set(asked)
        return found

    def _store(self, sets: Iterable[RunSet]) -> Store:
        return Store(simulation.prepare(sets, self.budget), self._run)

    def _run(self, jobs: list[Job]) -> list[Sample]:
        return simulation.simulate(jobs, self.budget, partial(simulation.progress, self.say, jobs))


def _write(path: Path, lines: Iterable[Line]) -> None:
    files.write(path, "".join(f"{json.dumps(x, ensure_ascii=False, allow_nan=False)}\n" for x in lines))
