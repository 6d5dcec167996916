"""`perhop map`: runs a claim's points over two parameters, the boundary more finely than the rest.

Decision: docs/decisions/104-claims-note-what-they-read.md
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from perhop import _core, files
from perhop_studies import runs as simulation
from perhop_studies.maps import Map
from perhop_studies.maps.grid import At, Grid, Point, read, write
from perhop_studies.runs import Budget, Job, assignments
from perhop_studies.samples import Key, Sample, Samples
from perhop_studies.verdict import Finding, Part

Say = Callable[[str], None]


@dataclass
class Runner:
    """A map's jobs at the paper's point: those that its claim asks for."""

    map: Map
    budget: Budget
    jobs: list[Job]

    @classmethod
    def of(cls, found: Map, budget: Budget) -> Runner:
        """As frozen."""
        sets = [one for one in found.paper.runs() if one.name in found.study.sets]
        jobs = simulation.prepare([replace(one, draws=None) for one in sets], budget)
        asked = _asked(found, jobs)
        return cls(found, budget, [one for job in jobs for one in job.alone(lambda place: place.key in asked)])

    @property
    def made_with(self) -> str:
        """What a kept grid must have in common with this run."""
        axes = [(axis.keys, axis.form, axis.values) for axis in (self.map.x, self.map.y)]
        points = [place.hash for job in self.jobs for place in job.points]
        stated = repr((self.map.claim, axes, points, self.budget.seeds, self.budget.seed, _core.__version__))
        return hashlib.sha256(stated.encode()).hexdigest()[:16]

    def at(self, at: At) -> Point:
        """The claim's verdict at a point of the map."""
        x, y = self.map.x, self.map.y
        laid = assignments({**x.settings(x.values[at[0]]), **y.settings(y.values[at[1]])})
        jobs = [self._laid(job, laid) for job in self.jobs]
        samples = Samples(simulation.simulate(jobs, replace(self.budget, jobs=1), lambda *_: None))
        return _point(self.map.study.judge(self.map.claim, samples))

    def _laid(self, job: Job, laid: list[str]) -> Job:
        if not laid:
            return job
        [place] = job.points
        return replace(job, scenario=_core.Scenario(place.effective, str(job.set.scenario), laid, []))


def _asked(found: Map, jobs: Iterable[Job]) -> set[Key]:
    """The places that the claim asks for, by asking it about numbers that mean nothing."""
    asked: set[Key] = set()
    places = [place for job in jobs for place in job.points]
    rows = [Sample(p.runs, p.at, n, _any(1.0 + n / 7 + i / 100)) for i, p in enumerate(places) for n in range(3)]
    found.study.judge(found.claim, Samples(rows, asked))
    return asked


def _any(value: float) -> defaultdict[str, float]:
    """Stands for the quantities of a run: any name, a number that varies."""
    return defaultdict(lambda: value)


def _point(finding: Finding) -> Point:
    """A condition that nothing was measured for is open, whatever the criteria's rule makes of it."""
    parts = [replace(part, holds=None) if math.isnan(part.interval.mean) else part for part in finding.parts]
    narrow = min(parts, key=_margin)
    margin, value = (x if math.isfinite(x) else None for x in (_margin(narrow), narrow.interval.mean))
    return Point(Finding(parts).verdict, None if value is None else margin, value, finding.replications)


def _margin(part: Part) -> float:
    """In half-widths of the interval, positive where the condition holds; infinite if it does not vary."""
    if math.isnan(part.interval.mean):
        return 0.0
    distance = part.distance if part.distance is not None else (1.0 if part.holds else -1.0)
    half = part.interval.half
    return distance / half if half > 0 else distance * math.inf if distance else 0.0


def run(found: Map, budget: Budget, out: Path, date: str, say: Say) -> Grid:
    """Runs a map, or takes up one that was broken off; what is complete is kept after each point."""
    files.directory(out)
    runner, path = Runner.of(found, budget), out / f"{found.id}.jsonl"
    fresh = Grid(len(found.x.values), len(found.y.values), runner.made_with, date)
    kept = read(path)
    grid = kept if kept is not None and kept.made_with == runner.made_with else fresh
    with ThreadPoolExecutor(budget.side_by_side) as threads:
        while wanted := grid.wanted(found.own):
            for done, (at, point) in enumerate(zip(wanted, threads.map(runner.at, wanted), strict=True)):
                grid.points[at] = point
                write(path, grid)
                say(f"{found.id}: {len(grid.points)} points, {len(wanted) - done - 1} more at least")
    return grid
