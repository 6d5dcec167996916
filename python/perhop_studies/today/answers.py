"""The studies: one for each scenario, which lists its cells, and the answers that are read from them.

Decision: docs/decisions/107-today-judges-nothing.md
"""

from __future__ import annotations

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


def cells(runs: Samples) -> Finding:
    """Every cell: the mean of each quantity that the scenario has, with its 95 % interval."""
    seeds = len({sample.replication for sample in runs.all})
    names = [name for name in QUANTITIES if name in runs.all[0].values]
    places = {sample.key: sample.at for sample in runs.all}.values()
    rows = [{**at, **{name: _text(runs.mean(name, **at)) for name in names}} for at in places]
    return Finding([], table=rows, seeds=seeds)


def _text(found: stats.Interval) -> str:
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"


def _scenario(name: str, title: str) -> Study:
    study = Study(name, title=title, runs=name)
    study.claim("cells")(cells)
    return study


ANSWERS = Study("today-answers", title="Do markers still matter?", runs=tuple(SCENARIOS))
STUDIES = [ANSWERS, *(_scenario(name, title) for name, title in SCENARIOS.items())]
