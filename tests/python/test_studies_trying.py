"""Readings tried one at a time: what is run again, and what is taken from the frozen readings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from perhop_studies.pam_fsam.terms import only
from perhop_studies.papers import PAPERS, TRIALS, paper
from perhop_studies.readings import Reading
from perhop_studies.runs import Budget, Job, RunSet
from perhop_studies.samples import Sample
from perhop_studies.trying import Frozen, World, agreement, changed

PAPER = paper("pam-fsam")
WORLD = World(PAPER, Budget(seeds=1, jobs=1), lambda _: None)
[ONE] = [
    replace(s, settings={**s.settings, "scenario.duration": "4s"})
    for s in PAPER.runs()
    if s.name == "pf-fig2" and s.at["arrivals"] == "jittered"
]


@cache
def frozen() -> Frozen:
    return Frozen(ONE, WORLD.simulate([ONE], {}))


def by_marker(samples: list[Sample]) -> dict[str, dict[str, str]]:
    """Every quantity as text: what is missing is NaN on both sides."""
    return {sample.at["marker"]: {name: repr(x) for name, x in sample.values.items()} for sample in samples}


def tried(reading: Reading, value: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Sample], list[str]]:
    """What a reading gives, and the markers that were run for it."""
    run: list[str] = []

    def counted(self: World, jobs: list[Job]) -> list[Sample]:
        run.extend(place.at["marker"] for job in jobs for place in job.points)
        return simulate(self, jobs)

    simulate = World.run
    before = frozen()
    monkeypatch.setattr(World, "run", counted)
    return changed(WORLD, before, reading.settings(value, "tokens"), reading), run


def test_points_that_a_reading_leaves_alone_are_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = WORLD.readings.by_id["a2"]
    found, run = tried(reading, "1", monkeypatch)
    assert run == ["pam"]
    monkeypatch.undo()
    assert by_marker(found) == by_marker(WORLD.simulate([ONE], reading.settings("1", "tokens")))
    assert by_marker(found)["pam"] != by_marker(frozen().samples)["pam"]


def test_a_reading_is_run_where_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    _, run = tried(WORLD.readings.by_id["a5"], "500/500/500 ms", monkeypatch)
    assert run == ["f-sam"]


def test_the_frozen_value_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = WORLD.readings.by_id["a2"]
    found, run = tried(reading, reading.frozen, monkeypatch)
    assert (found, run) == (frozen().samples, [])


def test_single_points_give_what_all_give_together() -> None:
    alone = WORLD.simulate([ONE], {}, only("token-bucket"))
    assert by_marker(alone) == {"token-bucket": by_marker(frozen().samples)["token-bucket"]}


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_says_which_runs_its_readings_concern(name: str) -> None:
    trial = TRIALS[name]
    world = World(paper(name), Budget(seeds=1), lambda _: None)
    sets, every = trial.sets(world), {s.name for s in world.sets}
    assert sets
    assert {s.name for s in (*sets, *trial.seeded(world))} <= every
    assert {*trial.fixed} <= every
    assert {*trial.reread} <= {*world.readings.by_id}


@pytest.mark.parametrize("name", PAPERS)
def test_every_answer_is_tried_where_it_lays_something(name: str) -> None:
    trial = TRIALS[name]
    world = World(paper(name), Budget(seeds=1), lambda _: None)
    sets = [s for s in trial.sets(world) if s.name not in trial.fixed]
    tried = [reading for reading in world.readings.by_id.values() if reading.id not in trial.reread]
    for reading in tried:
        for value in reading.others:
            assert any(world.paper.answer(reading, value, s) for s in sets), f"{reading.id}: {value}"


def test_an_answer_is_laid_over_a_set_by_its_paper() -> None:
    reading = WORLD.readings.by_id["a13"]

    def laid(name: str) -> dict[str, object]:
        found: RunSet = next(s for s in WORLD.sets if s.name == name)
        return dict(PAPER.answer(reading, "1000 B", found))

    assert laid("pf-fig2") == {"tcp.host.segment": "960B"}
    assert laid("pf-fig3") == {}, "there is no TCP in it"


def test_a_rule_that_takes_what_is_frozen_agrees() -> None:
    readings = WORLD.readings
    assert "the scenario files say the same" in agreement(readings, readings.frozen(["a1", "a2"]))
    assert "**the scenario files say otherwise**" in agreement(readings, {"a1": "bits"})
