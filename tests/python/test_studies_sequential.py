"""Seeds added where a claim is open: planted claims, errors as stated, and what is run for whom."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Study, sequential
from perhop_studies import runs as simulation
from perhop_studies.criteria import Criterion
from perhop_studies.runs import Budget, Job, Method, Place, RunSet
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED, Finding, positive

LOOKS = Budget(seeds=10, first=(3, 5)).looks
METHOD = Method(lambda _: {})
PLACES = {"far": 40.0, "below": -40.0, "at": 0.0}
"""Means in standard deviations; every claim is that the mean is above zero."""


def above(runs: Samples, where: str) -> Finding:
    return Finding([positive(where, runs.values("x", where=where))])


@dataclass
class Planted:
    """Stands for a paper: claims about the mean of normal draws, one place each."""

    study_: Study = field(default_factory=lambda: Study("s", "planted", "r"))

    def __post_init__(self) -> None:
        self.study_.claims["above"] = above

    def study(self, _: str) -> Study:
        return self.study_


def claims(kind: str = "hard") -> list[Criterion]:
    return [Criterion("s", f"above-{where}", kind, "", rule="above", at={"where": where}) for where in PLACES]


def jobs() -> list[Job]:
    one = [RunSet("r", Path(), {"where": where}, METHOD) for where in PLACES]
    return [Job(found, None, [Place(found.at, "", "", "r")], 10) for found in one]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    """The replications that were simulated, by place."""
    seen: dict[str, list[int]] = {where: [] for where in PLACES}

    def draw(now: list[Job], _: Budget, __: object) -> list[Sample]:
        found = []
        for job in now:
            where = job.set.at["where"]
            for replication in range(job.before, job.replications):
                seen[where].append(replication)
                x = PLACES[where] + (1.0 if replication % 2 else -1.0)
                found.append(Sample("r", job.set.at, replication, {"x": x}))
        return found

    monkeypatch.setattr(simulation, "simulate", draw)
    return seen


def looks(stated: list[Criterion]) -> sequential.Looks:
    paper: Any = Planted()
    return sequential.run(paper, stated, jobs(), Budget(seeds=10, first=(3, 5)), lambda *_: None)


def test_only_what_an_open_claim_asks_for_gets_more_seeds(run: dict[str, list[int]]) -> None:
    found = looks(claims())
    assert {where: len(seen) for where, seen in run.items()} == {"far": 3, "below": 3, "at": 10}
    assert run["at"] == list(range(10)), "each replication once"
    verdicts = {claim.at["where"]: found.finding(claim) for claim in claims()}
    assert {where: f.verdict for where, f in verdicts.items()} == {
        "far": REPRODUCED,
        "below": NOT_REPRODUCED,
        "at": NOT_REPRODUCED,
    }
    assert {where: f.replications for where, f in verdicts.items()} == {"far": 3, "below": 3, "at": 10}


def test_reports_ask_for_no_seeds_and_take_what_is_there(run: dict[str, list[int]]) -> None:
    found = looks([*claims()[2:], *claims("report")[:1]])
    assert {where: len(seen) for where, seen in run.items()} == {"far": 3, "below": 3, "at": 10}
    report, hard = claims("report")[0], claims("report")[2]
    assert found.finding(report).replications == 3
    found.decided.clear()
    assert found.finding(hard).replications == 10


def test_without_earlier_looks_all_seeds_are_run_at_once(run: dict[str, list[int]]) -> None:
    paper: Any = Planted()
    found = sequential.run(paper, claims(), jobs(), Budget(seeds=4), lambda *_: None)
    assert {len(seen) for seen in run.values()} == {4}
    assert found.finding(claims()[0]).replications == 4


def test_runs_with_their_own_number_of_draws_are_complete_at_once(run: dict[str, list[int]]) -> None:
    paper: Any = Planted()
    many = [Job(RunSet(j.set.name, Path(), j.set.at, METHOD, draws=20), None, j.points, 20) for j in jobs()]
    found = sequential.run(paper, claims(), many, Budget(seeds=10, first=(3, 5)), lambda *_: None)
    assert {len(seen) for seen in run.values()} == {20}
    assert found.finding(claims()[2]).replications == 20


ERRORS = runpy.run_path(str(Path(__file__).parents[2] / "scripts/docs/studies_errors.py"))
"""What makes the table of docs/reports/studies/settings.md."""


def test_early_looks_are_those_of_the_verb() -> None:
    assert (*ERRORS["FIRST"], ERRORS["FULL"]) == LOOKS


@pytest.mark.parametrize("kind", ["comparison", "bound"])
@pytest.mark.parametrize("mean", [0.0, 0.3, 0.5, 1.0, 3.0])
def test_early_verdicts_err_as_rarely_as_stated(kind: str, mean: float) -> None:
    """At the bound (noise), near it and far from it, of 4,000 draws: 3.1 standard deviations beyond what is stated."""
    n = 4000
    found = ERRORS["errors"](kind, mean, n)
    for share, stated in zip(found, ERRORS["STATED"].values(), strict=True):
        assert share <= stated + 3.1 * (stated / n) ** 0.5
    if mean == 3.0:
        assert set(found) == {0.0}


def test_far_from_the_bound_three_seeds_decide() -> None:
    decide = ERRORS["decide"]
    assert decide("comparison", [10.0, 11.0, 12.0, *[0.0] * 7]) == (True, 3)
    assert decide("comparison", [10.0, 1.0, 12.0, *[5.0] * 7])[1] > 3


def test_the_page_has_the_table_with_what_is_stated() -> None:
    page = ERRORS["PAGE"].read_text(encoding="utf-8")
    rows = page.partition(ERRORS["BEGIN"])[2].partition(ERRORS["END"])[0]
    for name, stated in ERRORS["STATED"].items():
        assert f"| {name} | {100 * stated:.0f} % | " in rows
