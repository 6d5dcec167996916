"""The studies: one for each scenario, which lists its cells, and the answers that are read from them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, number

SCENARIOS = {
    "today-contract": "Contracts: video, web and files",
    "today-rtt": "Unequal round trips",
    "today-blaster": "A UDP blaster in the house",
    "today-short": "Many short flows",
    "today-cascade": "Two domains in a row",
}
"""Their run sets, and what they are called."""

QUANTITIES = ("fairness", "contract", "call", "call.lost", "wait", "used", "fetch", "video.lost", "share.desks")


def places(runs: Samples) -> Iterator[dict[str, Any]]:
    """The cells of one scenario, marker by marker."""
    known = {tuple(sample.at.values()) for sample in runs.all}
    grid = runs.grid()
    return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()) if values in known)


def cells(runs: Samples) -> Finding:
    """Every cell: the mean of each quantity that the scenario has, with its 95 % interval."""
    seeds = len({sample.replication for sample in runs.all})
    names = [name for name in QUANTITIES if name in runs.all[0].values]
    return Finding([], table=[{**at, **_row(runs.at(**at), names)} for at in places(runs)], seeds=seeds)


def _row(runs: Samples, names: list[str]) -> dict[str, str]:
    return {name: _text(runs.mean(name)) for name in names}


def _text(found: stats.Interval) -> str:
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"


def _scenario(name: str, title: str) -> Study:
    study = Study(name, title=title, runs=name)
    study.claim("cells")(cells)
    return study


ANSWERS = Study("today-answers", title="Do markers still matter?", runs=tuple(SCENARIOS))
STUDIES = [ANSWERS, *(_scenario(name, title) for name, title in SCENARIOS.items())]
