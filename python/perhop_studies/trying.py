"""`perhop reproduce PAPER --readings`: readings tried one at a time, and a second base seed.

What is a paper's own in this stands in its module `trials`, as `TRIAL`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from perhop import files
from perhop_studies import Paper, notes
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.readings import Reading, Readings
from perhop_studies.runs import Budget, Job, Place, RunSet, Settings
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED, Finding

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
    def readings(self) -> Readings:
        """What the paper leaves open."""
        return self.paper.readings()

    @cached_property
    def sets(self) -> list[RunSet]:
        """All run sets."""
        return self.paper.runs()

    def simulate(
        self, sets: Iterable[RunSet], settings: Settings, wanted: Callable[[Place], bool] = lambda _: True
    ) -> list[Sample]:
        """Runs these sets with a reading laid over them, at the required points."""
        jobs = simulation.prepare(sets, self.budget, settings)
        return self.run([narrow for job in jobs for narrow in job.narrowed(wanted)])

    def run(self, jobs: Iterable[Job]) -> list[Sample]:
        """Runs jobs without output."""
        return simulation.simulate(jobs, self.budget, lambda *_: None)

    def findings(self, samples: list[Sample]) -> Findings:
        """Hard and soft claims of every study whose runs are complete."""
        by_set = simulation.by_set(samples)
        found: Findings = {}
        for study in self.paper.studies:
            if by_set.keys() >= set(study.sets):
                runs = study.samples(by_set)
                judged = (c for c in self.criteria.of(study.id) if c.kind != "report")
                found |= {(c.study, c.claim): (c, study.judge(c, runs)) for c in judged}
        return found


class Frozen(NamedTuple):
    """A run set and its results under the frozen readings."""

    set: RunSet
    samples: list[Sample]


Figures = Callable[[Mapping[str, Samples]], dict[str, float]]
"""From the runs by set, the values shown for a variant."""


@dataclass(frozen=True)
class Trial:
    """What is specific to a paper in trying its readings."""

    figures: Figures
    sets: Callable[[World], list[RunSet]] = lambda world: world.sets
    """What is judged under every reading."""
    fixed: tuple[str, ...] = ()
    """Run sets among these that no reading changes."""
    seeded: Callable[[World], list[RunSet]] = lambda world: world.sets
    """What is judged from a second base seed."""
    reread: Mapping[str, Callable[[list[Sample]], list[Sample]]] = field(default_factory=dict)
    """Readings of the measurement, not of the runs."""
    sections: Callable[[World, list[Variant], str], list[str]] = lambda _, __, table: [table]
    """The page, without the second seed, around the table of all variants."""

    def variants(self, world: World) -> list[Variant]:
        """The frozen readings first, then every other value of every reading."""
        frozen = [Frozen(one, world.simulate([one], {})) for one in self.sets(world)]
        found = [self._variant(world, "frozen", [sample for one in frozen for sample in one.samples])]
        for reading in world.readings.by_id.values():
            for value in reading.others:
                name = f"{reading.id}: {value}"
                world.say(name)
                samples = [sample for one in frozen for sample in self._under(world, one, reading, value)]
                found.append(self._variant(world, name, samples))
        return found

    def _variant(self, world: World, name: str, samples: list[Sample]) -> Variant:
        return Variant(name, world.findings(samples), self.figures(simulation.by_set(samples)))

    def _under(self, world: World, frozen: Frozen, reading: Reading, value: str) -> list[Sample]:
        if reading.id in self.reread:
            return self.reread[reading.id](frozen.samples)
        settings = {} if frozen.set.name in self.fixed else world.paper.answer(reading, value, frozen.set)
        return changed(world, frozen, settings, reading) if settings else frozen.samples


def changed(world: World, frozen: Frozen, settings: Settings, reading: Reading) -> list[Sample]:
    """The runs of a set under a reading: those of the frozen one at points where it changes nothing."""
    (plain,), (laid,) = (simulation.prepare([frozen.set], world.budget, s) for s in ({}, settings))
    jobs = laid.narrowed(lambda place: place not in plain.points and reading.is_about(place.at))
    run = [place.at for job in jobs for place in job.points]
    return [*(sample for sample in frozen.samples if sample.at not in run), *world.run(jobs)]


def run(trial: Trial, paper: Paper, budget: Budget, out: Path, say: Callable[[str], None]) -> Path:
    """Runs all of it; writes `readings.md` and `tried.toml`, and returns the former."""
    world = World(paper, budget, say)
    out.mkdir(parents=True, exist_ok=True)
    found = trial.variants(world)
    sections = trial.sections(world, found, one_at_a_time(found))
    differing = second_seed(world, trial.seeded(world))
    notes.write_tried(out / Path(notes.TRIED).name, paper.name, tried(found))
    page = out / "readings.md"
    files.write(page, "\n\n".join([*sections, seeds_page(differing, budget)]) + "\n")
    say("")
    return page


@dataclass(frozen=True)
class Variant:
    """One reading at another value: its findings by claim, and the figures of the table."""

    name: str
    findings: Findings
    figures: dict[str, float]

    def held(self, study: str, rule: str) -> tuple[int, int]:
        """Grid points at which the claim holds, and their total."""
        found = [f.verdict == REPRODUCED for c, f in self.findings.values() if (c.study, c.rule) == (study, rule)]
        return sum(found), len(found)

    def hard(self, study: str) -> tuple[int, int]:
        """Hard claims of a study that hold, and their total."""
        found = [f.verdict == REPRODUCED for c, f in self.findings.values() if c.study == study and c.kind == "hard"]
        return sum(found), len(found)


def tried(found: Sequence[Variant]) -> dict[str, str]:
    """For each claim that the first, the frozen reading, does not reproduce: the result of every other reading."""
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


class Differing(NamedTuple):
    """A claim whose verdict differs between two base seeds."""

    claim: str
    first: str
    second: str


def second_seed(world: World, sets: Iterable[RunSet]) -> list[Differing]:
    """Hard claims whose verdict differs between the base seed and the next one."""
    chosen, found = list(sets), []
    for seed in (world.budget.seed, world.budget.seed + 1):
        world.say(f"base seed {seed}")
        at = replace(world, budget=replace(world.budget, seed=seed))
        judged = at.findings(at.simulate(chosen, {}))
        found.append({f"{c.study}/{c.claim}": f.verdict for c, f in judged.values() if c.kind == "hard"})
    first, second = found
    return [Differing(name, verdict, second[name]) for name, verdict in first.items() if verdict != second[name]]


def table(head: list[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def agreement(readings: Readings, taken: Mapping[str, str]) -> str:
    """What a rule takes, and whether the scenario files have it."""
    listed = ", ".join(f"{name} = {value}" for name, value in taken.items())
    agrees = all(readings.by_id[name].frozen == value for name, value in taken.items())
    says = "the scenario files say the same" if agrees else "**the scenario files say otherwise**"
    return f"The rule takes {listed}; {says}."


def one_at_a_time(found: Sequence[Variant]) -> str:
    """Which hard claims hold under each reading, and its figures."""
    listed, figures = list(dict.fromkeys(study for study, _ in found[0].findings)), list(found[0].figures)
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


def seeds_page(differing: list[Differing], budget: Budget) -> str:
    """What a second base seed changed."""
    head = ["claim", f"base seed {budget.seed}", f"base seed {budget.seed + 1}"]
    body = table(head, [list(row) for row in differing]) if differing else "Every hard verdict is the same."
    return f"### A second base seed\n\n{body}"
