"""The papers' run sets: the quantities read off their tables, and what the open readings change."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from perhop import Scenario, ScenarioError
from perhop_studies import runs as simulation
from perhop_studies.papers import PAPERS, paper
from perhop_studies.runs import Budget, RunSet

from .record import Table, digest

ONE = Budget(seeds=1, jobs=1)


def names() -> list[str]:
    """Each paper's run sets, `pps: pps-fig4`, and its readings, `pps: readings`."""
    return [
        f"{name}: {part}"
        for name in PAPERS
        for part in ["readings", *dict.fromkeys(of.name for of in paper(name).runs())]
    ]


def tables(name: str) -> dict[str, Table]:
    """A run set's quantities, or what each reading of a paper changes."""
    of, part = name.split(": ")
    return _readings(of) if part == "readings" else {"quantities": _quantities(of, part)}


def _quantities(of: str, name: str) -> Table:
    """The hash of each quantity over all variants and points, to twelve digits: sums may be taken in another order."""
    jobs = simulation.prepare([found for found in paper(of).runs() if found.name == name], ONE)
    for job in jobs:
        job.replications = 1
    texts: dict[str, list[str]] = defaultdict(list)
    for sample in simulation.simulate(jobs, ONE, lambda *_: None):
        for key, value in sample.values.items():
            texts[key].append(f"{sample.at} {value:.12g}")
    return {key: digest("\n".join(values).encode()) for key, values in texts.items()}


def _readings(name: str) -> dict[str, Table]:
    """For each scenario file the hash of the keys that each answer changes, with their values."""
    first = {of.scenario: of for of in reversed(paper(name).runs())}
    return {str(of.scenario.name): dict(_changes(name, of)) for of in first.values()}


def _changes(name: str, of: RunSet) -> Iterator[tuple[str, str]]:
    before = _leaves(of, {}) or {}
    for reading in paper(name).readings().values():
        for value, settings in reading.values.items():
            for group, laid in settings.items():
                after = _leaves(of, laid)
                yield f"{reading.id} {value} {group}", "refused" if after is None else _difference(before, after)


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    changed = sorted((key, repr(value)) for key, value in after.items() if before.get(key) != value)
    gone = sorted(before.keys() - after.keys())
    return digest(repr((changed, gone)).encode()) if changed or gone else "nothing"


def _leaves(of: RunSet, laid: Mapping[str, Any]) -> dict[str, Any] | None:
    """Every value in force at the first point; None when the file refuses what is laid over it."""
    try:
        scenario = Scenario(of.scenario.read_text(), str(of.scenario), of.overrides(laid))
    except (ScenarioError, KeyError):
        return None
    return dict(_flat("", tomllib.loads(scenario.points[0].effective)))


def _flat(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(f"{place}.{key}", item)
    else:
        yield place, value
