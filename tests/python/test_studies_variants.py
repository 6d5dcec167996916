"""Readings and mutants, one at a time: what is run again, what is judged, and what is kept."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Paper, Study, mutants, trying, variants
from perhop_studies import runs as simulation
from perhop_studies.bounds import Bounds
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.mutants import Mutant
from perhop_studies.quantities import Tables, sums
from perhop_studies.runs import Budget, Job, Method, RunSet, Settings
from perhop_studies.samples import Sample
from perhop_studies.settings import Reading, Readings
from planted import LINE

ROOT = Path(__file__).parents[2]
ONE = Budget(seeds=1, jobs=1)
BROKEN = """
[[mechanism]]
name = "the meter"
claims = ["s/m*", "s/some"]
[[mechanism.mutant]]
name = "thin"
set = { "conditioner.meter.cir?" = "1Mbit/s" }
[[mechanism.mutant]]
name = "the other in its place"
axis = "by"
of = ["meter"]
by = "other"
[[mechanism.mutant]]
name = "wrong code"
patch = "wrong"
"""
CIR = Reading("cir", "?", "", "4", {"4": {}, "1": {"all": {"conditioner.meter.cir?": "1Mbit/s"}}, "4 again": {}}, [])


def green(tables: Tables) -> dict[str, float]:
    packets = sums(tables["summary"], "arrived_packets", by="colour")
    return {"green": packets["green"] / sum(packets.values())}


def bounded(name: str, hold: str, by: str, kind: str = "hard") -> Criterion:
    return Criterion("s", name, kind, "", rule=name, bounds=Bounds.read({"holds": [hold], "of": {"by": by}}, {}))


CLAIMS = [
    bounded("most", "green >= 0.5", "meter"),
    bounded("some", "green >= 0.05", "meter"),
    bounded("elsewhere", "green >= 0.5", "other"),
    bounded("more", "green < 0.5", "meter"),
    bounded("soft", "green >= 0.5", "meter", "soft"),
]


@dataclass
class Metered:
    """Stands for a paper: one run with the mechanism, a meter, and one without."""

    directory: Path
    name: str = "metered"
    reread: dict[str, Any] = field(default_factory=dict)

    def criteria(self) -> Criteria:
        return Criteria(CLAIMS, [])

    def readings(self) -> Readings:
        return {"cir": CIR}

    def study(self, _: str) -> Study:
        return Study("s", "planted", "r")

    def answer(self, reading: Reading, value: str, _: RunSet) -> Settings:
        return reading.settings(value, "all")

    def runs(self) -> list[RunSet]:
        for name in ("meter", "other"):
            text = LINE.format(duration="2s", warmup="0s", name=name, cir="4Mbit/s")
            (self.directory / f"{name}.toml").write_text(text)
        return [RunSet("r", self.directory / f"{m}.toml", {"by": m}, Method(green)) for m in ("meter", "other")]


@pytest.fixture
def metered(tmp_path: Path) -> Any:
    (tmp_path / mutants.FILE).write_text(BROKEN)
    for folder in ("mutants", "records"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mutants/wrong.toml").write_text('new = "1"')
    return Metered(tmp_path)


def lines(path: Path) -> dict[str, dict[str, Any]]:
    return {line.get("mutant") or line["value"]: line for line in variants.read(path)}


def test_a_mutant_fails_the_criteria_of_its_mechanism_that_tell(metered: Any, tmp_path: Path) -> None:
    """A meter of 1 Mbit/s for one of 4, of 5 offered: green falls from .8 to .2. The other run has the same meter."""
    path = mutants.run(metered, ONE, tmp_path / "out", lambda _: None)
    found = lines(path)
    assert {name: line["fails"] for name, line in found.items()} == {
        "thin": ["s/most"],
        "the other in its place": ["s/more"],
    }
    assert [line["judged"] for line in found.values()] == [3, 3]
    path.rename(tmp_path / "records/mutants.jsonl")
    assert {name: (one.tells, one.tried) for (_, name), one in mutants.told(metered).items()} == {
        "most": (True, 2),
        "some": (False, 2),
        "more": (True, 2),
    }


def test_a_patch_is_run_where_it_is_built_in_and_kept_elsewhere(metered: Any, tmp_path: Path) -> None:
    patch = tmp_path / "mutants/wrong.toml"
    path = mutants.run(metered, ONE, tmp_path, lambda _: None, "wrong")
    assert "wrong code" in lines(path)
    mutants.run(metered, ONE, tmp_path, lambda _: None)
    assert {*lines(path)} == {"thin", "the other in its place", "wrong code"}
    patch.write_text('new = "2"')
    mutants.run(metered, ONE, tmp_path, lambda _: None)
    assert {*lines(path)} == {"thin", "the other in its place"}, "another text is another mutant"


def test_an_answer_wins_and_loses_claims(metered: Any, tmp_path: Path) -> None:
    trying.run(metered, ONE, tmp_path, lambda _: None)
    found = lines(tmp_path / "readings-metered.jsonl")
    assert (found["1"]["wins"], found["1"]["loses"], found["1"]["changed"]) == (["s/more"], ["s/most"], 1)
    assert (found["4 again"]["wins"], found["4 again"]["loses"], found["4 again"]["changed"]) == ([], [], 0)
    page = (tmp_path / "readings-metered.md").read_text()
    assert "| cir | 1 | 1 | `s/more` | `s/most` |" in page


def test_what_was_run_is_not_run_again(metered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trying.run(metered, ONE, tmp_path, lambda _: None)
    before = (tmp_path / "readings-metered.jsonl").read_text()

    def never(*_: object) -> list[Sample]:
        raise AssertionError("nothing is to be run")

    monkeypatch.setattr(simulation, "simulate", never)
    trying.run(metered, ONE, tmp_path, lambda _: None)
    assert (tmp_path / "readings-metered.jsonl").read_text() == before
    monkeypatch.setattr(metered, "criteria", lambda: Criteria([bounded("most", "green >= 0.6", "meter")], []))
    with pytest.raises(AssertionError, match="nothing is to be run"):
        trying.run(metered, ONE, tmp_path, lambda _: None)


def test_only_points_that_an_answer_changes_are_run_and_none_twice(metered: Any) -> None:
    run: list[tuple[Any, int, int]] = []

    def counted(jobs: list[Job], budget: Budget, told: Any) -> list[Sample]:
        run.extend((place.at["by"], job.before, job.replications) for job in jobs for place in job.points)
        return simulation.simulate(jobs, budget, told)

    bench = variants.Bench(metered, Budget(seeds=10, jobs=1), lambda _: None)
    bench.frozen.run = lambda jobs: counted(jobs, bench.budget, lambda *_: None)
    changed = bench.laid(lambda _: {"conditioner.meter.cir?": "1Mbit/s"})
    assert [place[1] for place in changed.places] == [("by", "meter")]
    for seeds in (3, 10, 3):
        bench.frozen.upto(seeds, bench.frozen.places)
    assert sorted(run) == [("meter", 0, 3), ("meter", 3, 10), ("other", 0, 3), ("other", 3, 10)]


def test_a_place_without_a_rivals_runs_is_not_taken() -> None:
    rival = Mutant("r", axis="marker", of=["new"], by="plain")
    samples = [
        Sample("r", {"marker": m, "n": n}, 0, {"x": i})
        for i, (m, n) in enumerate((("new", 1), ("new", 2), ("plain", 1)))
    ]
    found = {(s.at["marker"], s.at["n"]): s.values["x"] for s in rival.replaced(samples)}
    assert found == {("new", 1): 2, ("new", 2): 1, ("plain", 1): 2}


def test_every_hard_criterion_has_three_mutants(each_paper: Paper) -> None:
    mechanisms = mutants.load(each_paper.directory)
    tried = {c.name: sum(len(m.mutants) for m in mechanisms if c.fits(m.claims)) for c in each_paper.criteria().hard}
    assert {name for name, number in tried.items() if number < 3} == set()


def test_a_patch_is_of_a_text_that_occurs_once(each_paper: Paper) -> None:
    named = {mutant.patch for mechanism in mutants.load(each_paper.directory) for mutant in mechanism.mutants} - {""}
    files = {file.stem: tomllib.loads(file.read_text()) for file in each_paper.directory.glob("mutants/*.toml")}
    counts = {stem: (ROOT / of["file"]).read_text().count(of["old"]) for stem, of in files.items()}
    assert counts == dict.fromkeys(named, 1)


def test_rivals_are_on_the_axes_of_the_runs(each_paper: Paper) -> None:
    jobs = simulation.prepare(each_paper.runs(), ONE)
    axes = {(axis, value) for job in jobs for place in job.points for axis, value in place.at.items()}
    for mutant in (one for mechanism in mutants.load(each_paper.directory) for one in mechanism.mutants):
        assert bool(mutant.axis) + bool(mutant.patch) + bool(mutant.set or mutant.sets) == 1, mutant.name
        if mutant.axis:
            assert {(mutant.axis, value) for value in (*mutant.of, mutant.by)} <= axes, mutant.name


def test_every_answer_is_tried_where_it_changes_something(each_paper: Paper) -> None:
    bench = variants.Bench(each_paper, ONE, lambda _: None)
    for reading in (one for one in each_paper.readings().values() if one.id not in each_paper.reread):
        for value in reading.others:
            assert bench.laid(partial(each_paper.answer, reading, value)).places, f"{reading.id}: {value}"


def test_every_answer_and_every_mutant_was_tried(each_paper: Paper) -> None:
    tried = {(line["reading"], line["value"]) for line in variants.recorded(each_paper, trying.KIND)}
    answers = {(r.id, value) for r in each_paper.readings().values() for value in r.others}
    assert tried == answers, "make renew-readings"
    run = {(line["mechanism"], line["mutant"]) for line in variants.recorded(each_paper, mutants.KIND)}
    assert run == {(m.name, mutant.name) for m in mutants.load(each_paper.directory) for mutant in m.mutants}
