"""The runs of a paper's studies: each set is simulated once, however many studies need it.

A paper's `runs.toml` names the scenario files and the variants in which each is run; a reading of the paper
(`readings.toml`) changes keys on top. This module turns both into calls of the simulator and its tables into samples.

    [axes.size]                            # variants that several sets share
    1000 = {}
    500  = { set = { "tcp.host.segment" = "460B" } }

    [pps-fig4]
    scenario = "pps-fig4-{scheme}.toml"    # names may hold the variant's
    over = ["size"]                        # the shared axes it is run over
    set = { "scenario.sample" = "1s" }     # keys of the file, in every variant
    [pps-fig4.scheme.sender]               # a separate axis: any other table; a variant has `set` and `draws`
    [pps-fig4.size.500]                    # what it adds to a shared variant

    [[left-out]]                           # variants that are not run: those that have one of the values on each axis
    scheme = ["receiver"]
    size = [500]
    why = "..."                            # `runs = ["pps-fig4"]` restricts it to these sets
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop import _core
from perhop.hands import Hands, Threads, Work, span
from perhop.in_force import toml
from perhop_studies.quantities import Tables
from perhop_studies.samples import Key, Sample

if TYPE_CHECKING:
    from perhop.cluster.client import Cluster

Settings = Mapping[str, Any]
"""Keys and values laid over a scenario: `queue.rio.limit`, or a selector, `@rio.limit?`."""

CHOOSERS = ("kind", "aqm", "scheduler", "model")
"""Keys that choose a section's algorithm."""

OWN_KEYS = ("scenario", "over", "set", "draws")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Budget:
    """How much to simulate."""

    seeds: int = 10
    seed: int = 1
    jobs: int = 0
    first: tuple[int, ...] = ()
    """Numbers of seeds at which claims are looked at before; none: all seeds at once."""
    cluster: Cluster | None = None
    """What runs them in place of threads."""

    @property
    def hands(self) -> Hands:
        """What runs them."""
        return self.cluster or Threads(self.jobs)

    @property
    def side_by_side(self) -> int:
        """How many works of one replication at a time keep all threads busy."""
        return 2 * self.cluster.threads if self.cluster else self.jobs or os.cpu_count() or 1

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of seeds at which claims are looked at, the last with all."""
        return (*(n for n in self.first if n < self.seeds), self.seeds)


@dataclass(frozen=True)
class Axis:
    """A swept key of the files, as claims call it."""

    name: str
    read: Callable[[str], Any] = str
    """From the point's label to the value that claims use."""
    unit: str = ""
    """The unit of that value: part of the column's name in the samples."""

    @property
    def column(self) -> str:
        """Its column in the samples."""
        return f"{self.name}_{self.unit}" if self.unit else self.name


def assignments(settings: Settings) -> list[str]:
    """As the command line would write them, general ones before special ones.

    First what chooses algorithms (whole sections too), then selectors, then single keys.
    """
    return [f"{key}={toml(settings[key])}" for key in sorted(settings, key=lambda key: _rank(key, settings[key]))]


def _rank(key: str, value: Any) -> int:
    if key.startswith("@"):
        return 1
    return 0 if isinstance(value, Mapping) or key.rpartition(".")[2] in CHOOSERS else 2


@dataclass(frozen=True)
class Method:
    """What is specific to a paper in running its files and reading quantities from them."""

    quantities: Callable[[Tables], dict[str, float]]
    """From one replication's tables."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """By swept key."""
    laid: Callable[[Path, Settings], Settings] = lambda _, settings: settings
    """The settings for a scenario file, where selectors cannot express them."""
    stated: Callable[[Mapping[str, Any]], dict[str, float]] | None = None
    """Quantities that follow from a point's file: from every value in force there."""

    def of_file(self, effective: str) -> dict[str, float]:
        """The quantities that `stated` takes from a file."""
        return {} if self.stated is None else self.stated(tomllib.loads(effective))

    def labels(self, stated: Mapping[str, str]) -> dict[str, Any]:
        """A point's labels by the names the claims use."""
        known = {key: self.axes.get(key, Axis(key)) for key in stated}
        return {known[key].name: known[key].read(text) for key, text in stated.items()}


@dataclass(frozen=True)
class RunSet:
    """One scenario file in one variant."""

    name: str
    scenario: Path
    at: dict[str, Any]
    """The variant, by axis."""
    method: Method
    draws: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    """What the command line lays over all else, as it has it: `KEY=VALUE`."""

    def replications(self, budget: Budget) -> int:
        """As many as the file requires, or the budget's."""
        return self.draws or budget.seeds

    def overrides(self, reading: Settings) -> list[str]:
        """The settings laid over the file, as the command line would write them."""
        return [*assignments(self.method.laid(self.scenario, {**self.settings, **reading})), *self.given]


def data(paper: str) -> Path:
    """The directory of a paper, whose name is that of its package: `pam_fsam` of `pam-fsam`."""
    return HERE / paper.replace("-", "_")


def load(directory: Path, method: Method) -> list[RunSet]:
    """All run sets of a paper."""
    stated, omitted = _file(directory), left_out(directory)
    shared = stated.get("axes", {})
    entries = {name: entry for name, entry in stated.items() if name not in ("axes", "left-out")}
    sets = (one for name, entry in entries.items() for one in _variants(name, entry, shared, directory, method))
    return [one for one in sets if not any(entry.takes(one) for entry in omitted)]


def _file(directory: Path) -> dict[str, Any]:
    return tomllib.loads((directory / "runs.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class LeftOut:
    """Variants that are not run."""

    why: str
    axes: Mapping[str, list[Any]]
    """Their values by axis; `runs` are the names of the sets."""

    def takes(self, one: RunSet) -> bool:
        """Whether it is among them."""
        at = {**one.at, "runs": one.name}
        return all(at.get(axis) in values for axis, values in self.axes.items())


def left_out(directory: Path) -> list[LeftOut]:
    """What a study's `runs.toml` leaves out, and why."""
    return [LeftOut(entry.pop("why"), entry) for entry in _file(directory).get("left-out", [])]


Variants = Mapping[str, Mapping[str, Any]]
"""What each value of an axis changes."""


def _variants(
    name: str, entry: Mapping[str, Any], shared: Mapping[str, Variants], directory: Path, method: Method
) -> Iterator[RunSet]:
    """One run set for each combination of the axes: the shared ones that it names, then its own."""
    own: dict[str, Variants] = {key: table for key, table in entry.items() if key not in OWN_KEYS}
    named = {key: _together(shared[key], own.pop(key, {})) for key in entry.get("over", ())}
    axes = {**named, **own}
    for values in product(*axes.values()):
        layers = [entry, *(axes[axis][value] for axis, value in zip(axes, values, strict=True))]
        at = {axis: int(value) if value.isdigit() else value for axis, value in zip(axes, values, strict=True)}
        settings = {key: value for layer in layers for key, value in layer.get("set", {}).items()}
        draws = next((layer["draws"] for layer in reversed(layers) if "draws" in layer), None)
        yield RunSet(name, directory / entry["scenario"].format(**at), at, method, draws, settings)


def _together(shared: Variants, own: Variants) -> Variants:
    both = {value: (shared.get(value, {}), own.get(value, {})) for value in {**shared, **own}}
    return {value: {**a, **b, "set": {**a.get("set", {}), **b.get("set", {})}} for value, (a, b) in both.items()}


@dataclass(frozen=True)
class Place:
    """A point of a run set under one reading."""

    at: dict[str, Any]
    """Its place in the grid, the set's variant included."""
    hash: str
    effective: str = field(repr=False)
    """Every value in force there, as TOML."""
    runs: str = ""
    """The run set's name."""

    @property
    def key(self) -> Key:
        """As its samples have it."""
        return (self.runs, *self.at.items())


@dataclass
class Job:
    """A run set under one reading, read and checked, not yet simulated."""

    set: RunSet
    scenario: Any
    points: list[Place]
    replications: int
    before: int = 0
    """Replications that have been run already."""

    @property
    def total(self) -> int:
        """Replications of all points that are to be run."""
        return len(self.points) * (self.replications - self.before)

    def between(self, before: int, replications: int) -> Job:
        """The same job from one number of replications to another; those with their own number of draws have them."""
        return self if self.set.draws else replace(self, before=before, replications=replications)

    def narrowed(self, wanted: Callable[[Place], bool]) -> list[Job]:
        """Jobs of the required points, one each; this one if all are."""
        return [self] if all(map(wanted, self.points)) else self.alone(wanted)

    def alone(self, wanted: Callable[[Place], bool]) -> list[Job]:
        """A job for each of the required points."""
        name, kept = str(self.set.scenario), [place for place in self.points if wanted(place)]
        return [replace(self, scenario=_core.Scenario(p.effective, name, [], []), points=[p]) for p in kept]


def prepare(sets: Iterable[RunSet], budget: Budget, reading: Settings | None = None) -> list[Job]:
    """Reads and checks every scenario before the first is run."""
    jobs = []
    for chosen in sets:
        overrides = chosen.overrides(reading or {})
        scenario = _core.Scenario(chosen.scenario.read_text(), str(chosen.scenario), overrides, [])
        points = [_place(chosen, point) for point in scenario.points]
        jobs.append(Job(chosen, scenario, points, chosen.replications(budget)))
    return jobs


def _place(chosen: RunSet, point: Mapping[str, Any]) -> Place:
    at = {**chosen.at, **chosen.method.labels(dict(point["labels"]))}
    return Place(at, point["hash"], point["effective"], chosen.name)


def simulate(jobs: Iterable[Job], budget: Budget, progress: Callable[[Job, int], None]) -> list[Sample]:
    """Runs every job; `progress` is called with the replications done of one of them."""
    listed = list(jobs)
    works = [_work(job, budget.seed) for job in listed]
    found = budget.hands.run(works, lambda number, done, _: progress(listed[number], done))
    return [sample for job, taken in zip(listed, found, strict=True) for sample in _samples(job, taken)]


def progress(say: Callable[[str], None], jobs: list[Job], job: Job, done: int) -> None:
    """Says how many replications of jobs are done, which are run one after the other."""
    before = sum(other.total for other in jobs[: next(i for i, other in enumerate(jobs) if other is job)])
    variant = " ".join(str(value) for value in job.set.at.values())
    say(f"{job.set.name} {variant}: {before + done} of {sum(other.total for other in jobs)} runs")


Measured = tuple[int, int, dict[str, float]]
"""Point, replication and its quantities."""


def _work(job: Job, seed: int) -> Work:
    take = partial(_measured, job.set.method.quantities, job.set.given)
    return Work(job.scenario.seeded(seed), take).asking(replications=span(range(job.before, job.replications)))


def _measured(
    quantities: Callable[[Tables], dict[str, float]], given: tuple[str, ...], result: _core.ReplicationDict
) -> Measured:
    try:
        return (result["point"], result["replication"], quantities(result["tables"]))
    except (ArithmeticError, LookupError, ValueError) as error:
        if not given:
            raise
        laid = " ".join(f"-s {one}" for one in given)
        raise ValueError(
            f"{laid}: what the paper measures cannot be read from such a run ({error}): lay less over it"
        ) from error


def _samples(job: Job, taken: Iterable[Measured]) -> Iterator[Sample]:
    stated = [job.set.method.of_file(place.effective) for place in job.points]
    for point, replication, values in taken:
        yield Sample(job.set.name, job.points[point].at, replication, {**values, **stated[point]})
