"""The runs of a paper's studies: each set is simulated once, whoever needs it.

`studies/<paper>/runs.toml` names the scenario files, their arrival models and their draws; a reading of the paper
(`readings.toml`) changes keys on top. This module turns both into calls of the simulator and its tables into samples.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop.scenario import toml
from perhop.studies.samples import Sample, Samples, labels, quantities

Settings = Mapping[str, Any]
"""Keys and values laid over a scenario: `queue.rio.limit`, or `pam.weight` for the swept markers of that kind."""

MARKERS = "conditioner.marker"
KINDS = ("token-bucket", "tsw2cm", "pam", "f-sam")
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Budget:
    """How much to simulate."""

    seeds: int = 10
    seed: int = 1
    jobs: int = 0


@dataclass(frozen=True)
class RunSet:
    """One scenario file under one arrival model."""

    name: str
    scenario: Path
    arrivals: str
    studies: tuple[str, ...]
    draws: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def replications(self, budget: Budget) -> int:
        """As many as the file asks for, or the budget's."""
        return self.draws or budget.seeds

    def overrides(self, reading: Settings) -> list[str]:
        """What is laid over the file, as the command line would write it."""
        merged = {**self.settings, **reading}
        plain = [f"{key}={toml(value)}" for key, value in merged.items() if not _of_marker(key)]
        return [*plain, f'sweep."{MARKERS}"={toml(self.markers(reading))}']

    def markers(self, reading: Settings) -> list[dict[str, Any]]:
        """The swept markers under a reading."""
        merged = {**self.settings, **reading}
        stated = tomllib.loads(self.scenario.read_text())
        return swept_markers(stated, {key: value for key, value in merged.items() if _of_marker(key)})

    def buckets(self, reading: Settings) -> dict[str, float]:
        """CBS in bytes of each swept marker that has one."""
        return {m["kind"]: in_bytes(m["cbs"]) for m in self.markers(reading) if "cbs" in m}


def in_bytes(text: str) -> float:
    """`"12500B"` and `"100kB"`, the two forms the files use."""
    number = text.removesuffix("B")
    return float(number.removesuffix("k")) * (1000 if number.endswith("k") else 1)


def _of_marker(key: str) -> bool:
    return key.split(".", maxsplit=1)[0] in (*KINDS, "marker", "markers")


def swept_markers(stated: Mapping[str, Any], settings: Settings) -> list[dict[str, Any]]:
    """The swept markers of a file: `pam.x` changes PAM, `marker.x` each that has x, `markers.only` keeps kinds."""
    markers = [dict(marker) for marker in stated["sweep"][MARKERS]]
    for key, value in settings.items():
        kind, name = key.split(".", 1)
        for marker in markers:
            if marker["kind"] == kind or (kind == "marker" and name in marker):
                marker[name] = value
    only = settings.get("markers.only")
    return [m for m in markers if only is None or m["kind"] in only]


def data(paper: str) -> Path:
    """The directory of a paper's scenario files: beside the package, or in the checkout.

    Raises:
        FileNotFoundError: neither is there.
    """
    places = [HERE.parent / "data" / "studies" / paper, HERE.parents[2] / "studies" / paper]
    for place in places:
        if (place / "runs.toml").is_file():
            return place
    raise FileNotFoundError(f"no scenario files of {paper}: looked in {' and '.join(map(str, places))}")


def load(directory: Path) -> list[RunSet]:
    """All run sets of a paper."""
    with (directory / "runs.toml").open("rb") as file:
        stated = tomllib.load(file)
    return [
        _run_set(directory, (name, entry), model)
        for name, entry in stated.items()
        for model in entry["arrivals"].items()
    ]


def _run_set(directory: Path, entry: tuple[str, dict[str, Any]], model: tuple[str, dict[str, Any]]) -> RunSet:
    (name, stated), (arrivals, changes) = entry, model
    return RunSet(
        name=name,
        scenario=directory / stated["scenario"],
        arrivals=arrivals,
        studies=tuple(stated["studies"]),
        draws=changes.get("draws"),
        settings=changes.get("set", {}),
    )


@dataclass
class Job:
    """A run set under one reading, read and checked, not yet simulated."""

    set: RunSet
    buckets: dict[str, float]
    """CBS in bytes of each marker that has one."""
    scenario: Any
    points: list[dict[str, Any]]
    replications: int

    @property
    def total(self) -> int:
        """Replications of all points."""
        return len(self.points) * self.replications


def prepare(sets: Iterable[RunSet], budget: Budget, reading: Settings | None = None) -> list[Job]:
    """Reads and checks every scenario before the first is run."""
    from perhop import _core

    jobs = []
    for chosen in sets:
        overrides = chosen.overrides(reading or {})
        scenario = _core.Scenario(chosen.scenario.read_text(), str(chosen.scenario), overrides, [])
        points = [labels(dict(point["labels"])) for point in scenario.points]
        jobs.append(Job(chosen, chosen.buckets(reading or {}), scenario, points, chosen.replications(budget)))
    return jobs


def simulate(jobs: Iterable[Job], budget: Budget, progress: Callable[[Job, int], None]) -> list[Sample]:
    """Runs every job; `progress` hears the replications done of the present one."""
    samples: list[Sample] = []
    for job in jobs:
        done = job.scenario.run(
            replications=(0, job.replications),
            seed=budget.seed,
            jobs=budget.jobs,
            out=None,
            resume=False,
            progress=lambda n, *_, job=job: progress(job, n),
        )
        samples += [_sample(job, result) for result in done]
    return samples


def _sample(job: Job, result: Mapping[str, Any]) -> Sample:
    point = job.points[result["point"]]
    values = quantities(result["tables"])
    if point["marker"] in job.buckets:
        values["cbs"] = job.buckets[point["marker"]]
    return Sample(job.set.name, job.set.arrivals, point, result["replication"], values)


def by_set(samples: Iterable[Sample]) -> dict[str, Samples]:
    """The samples of each run set's name, all arrival models together."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.runs, []).append(sample)
    return {name: Samples(rows) for name, rows in found.items()}
