"""Named settings: complete, sound, and laid over the runs; rivals in the mechanism's place."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Study, rivals, score
from perhop_studies import runs as simulation
from perhop_studies import settings as named
from perhop_studies.bounds import Bounds
from perhop_studies.criteria import Criterion
from perhop_studies.papers import PAPERS, paper
from perhop_studies.quantities import Tables, sums
from perhop_studies.rivals import Rival
from perhop_studies.runs import Budget, Method, RunSet
from perhop_studies.samples import Sample, Samples
from perhop_studies.sequential import Looks
from perhop_studies.settings import FROZEN, Setting
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED, Finding, positive

ONE = Budget(seeds=1)
SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs/studies_settings.py"))


@pytest.mark.parametrize("name", PAPERS)
def test_every_setting_answers_every_reading_with_a_reason(name: str) -> None:
    found, readings = paper(name), paper(name).readings()
    settings = found.settings()
    assert next(iter(settings)) == FROZEN
    assert sum(setting.headline for setting in settings.values()) == 1
    for setting in settings.values():
        assert setting.answers.keys() == readings.by_id.keys()
        assert all(answer.why for answer in setting.answers.values())
        assert setting.about.endswith(".")
    assert settings[FROZEN].changed == []


@pytest.mark.parametrize("name", PAPERS)
def test_each_answer_of_a_setting_changes_some_run(name: str) -> None:
    """By itself, over the frozen readings."""
    found, readings = paper(name), paper(name).readings()
    plain = points(found.runs())
    for setting in (one for one in found.settings().values() if one.changed):
        for reading in setting.changed:
            alone = Setting("alone", "", {reading: setting.answers[reading]}, [reading])
            assert points(alone.over(found.runs(), readings, found.answer)) != plain, f"{setting.name}: {reading}"


@pytest.mark.parametrize("name", PAPERS)
def test_the_headline_is_the_nearest_to_the_printed_cells(name: str) -> None:
    found = paper(name)
    scores = score.read(found.directory / score.LAST)
    assert set(scores) == set(found.settings()), "a setting without its last run"
    assert [one.name for one in found.asked("headline")] == [score.nearest(scores)]


def scored(*errors: float) -> score.Score:
    return score.Score(0, 0, (), errors, 10)


def test_another_setting_is_shown_first_if_it_is_surely_nearer() -> None:
    frozen = scored(0.50, 0.52, 0.48, 0.50)
    surely, by_chance = scored(0.40, 0.41, 0.39, 0.41), scored(0.0, 0.5, 0.5, 0.5)
    assert score.nearest({"frozen": frozen, "era": surely}) == "era"
    assert score.nearest({"frozen": frozen, "era": by_chance}) == "frozen"
    assert score.nearest({"frozen": frozen, "kindest": surely}) == "frozen", "chosen by verdicts"
    assert score.nearest({"frozen": scored(), "era": scored()}) == "frozen", "no table"


def points(sets: list[RunSet]) -> list[str]:
    return [place.hash for job in simulation.prepare(sets, ONE) for place in job.points]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[other]\nabout = "x"', "no setting is called 'other': frozen, era, kindest"),
        ('[era]\nabout = "x"\nanswers.zz = { value = "x", why = "y" }', "era: no reading is called 'zz': a1, "),
        ('[era]\nabout = "x"\nanswers.a1 = { value = "x", why = "y" }', "era: a1 is 'x', which is not one of 'bits', "),
        ('headline = "era"', "headline is 'era', which is not one of frozen"),
        ('headline = "kindest"\n[kindest]\nabout = "x"', "headline is 'kindest', which is not one of frozen"),
    ],
)
def test_what_is_wrong_in_a_settings_file_is_said(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(ValueError, match=says):
        named.load(tmp_path / "settings.toml", paper("pam-fsam").readings())


def test_a_setting_that_a_paper_lacks_is_an_error() -> None:
    with pytest.raises(LookupError, match="no setting `era`: frozen, "):
        named.chosen({FROZEN: Setting(FROZEN, "", {}, [], headline=True)}, "era")
    assert [one.name for one in paper("redp").asked("headline")] == [
        one.name for one in paper("redp").settings().values() if one.headline
    ]


def test_a_variant_keeps_what_makes_it_one() -> None:
    """The buffer of 100 packets in Fig. 5 is the variant's, whatever a setting says of the buffer."""
    found = paper("redp")
    sets = found.runs(found.settings()["kindest"])
    buffers = {s.at["buffer"]: s.settings["@rio.limit?"] for s in sets if s.name == "redp-fig5"}
    assert buffers == {30: "28p", 100: "100p"}


STUDY = Study("s", "planted", "r")


@STUDY.claim("better")
def is_better(runs: Samples) -> Finding:
    ours, theirs = (runs.values("x", marker=marker) for marker in ("new", "plain"))
    return Finding([positive("new - plain", [a - b for a, b in zip(ours, theirs, strict=True)])])


@STUDY.claim("high")
def is_high(runs: Samples) -> Finding:
    return Finding([positive("new", runs.values("x", marker="new"))])


@STUDY.claim("elsewhere")
def is_about_another(runs: Samples) -> Finding:
    return Finding([positive("plain", runs.values("x", marker="plain"))])


@dataclass
class Planted:
    """Stands for a paper: one study, one claim about the mechanism, one that holds for any, one about another."""

    directory: Path = field(default_factory=Path)

    def study(self, _: str) -> Study:
        return STUDY


def test_a_rival_takes_the_mechanisms_place(tmp_path: Path) -> None:
    """`high` holds for the rival too; `better` does not; the third never asks for the mechanism."""
    (tmp_path / rivals.FILE).write_text('[[rival]]\nname = "plain"\naxis = "marker"\nof = ["new"]\nby = "plain"\n')
    stands: Any = Planted(tmp_path)
    looks = Looks(stands)
    values = {"new": 10.0, "plain": 5.0}
    looks.add(Sample("r", {"marker": m}, n, {"x": x + n / 100}) for m, x in values.items() for n in range(10))
    claims = [Criterion("s", name, "hard", "", rule=name) for name in ("better", "high", "elsewhere")]
    assert {name: looks.finding(c).verdict for c in claims for name in [c.claim]} == dict.fromkeys(
        ("better", "high", "elsewhere"), REPRODUCED
    )
    assert rivals.judge(stands, claims, looks) == {
        ("s", "better"): {"plain": NOT_REPRODUCED},
        ("s", "high"): {"plain": REPRODUCED},
    }


METERED = """
[scenario]
name = "metered"
duration = "2s"
warmup = "0s"
[links]
"A - B" = {{ rate = "10Mbit/s", delay = "1ms" }}
[conditioner.{name}]
at = "A -> B"
kind = "token-bucket"
cir = "4Mbit/s"
cbs = "3kB"
[traffic.p]
model = "poisson"
rate = "5Mbit/s"
size = "1000B"
from = "A"
to = "B"
"""


@dataclass
class Metered:
    """Stands for a paper: one run with the mechanism, a meter, and one without."""

    directory: Path
    studied: Study = field(default_factory=lambda: Study("s", "planted", "r"))

    def study(self, _: str) -> Study:
        return self.studied

    def sets(self) -> list[RunSet]:
        for name in ("meter", "other"):
            (self.directory / f"{name}.toml").write_text(METERED.format(name=name))
        return [RunSet("r", self.directory / f"{m}.toml", {"by": m}, Method(green)) for m in ("meter", "other")]


def green(tables: Tables) -> dict[str, float]:
    packets = sums(tables["summary"], "arrived_packets", by="colour")
    return {"green": packets["green"] / sum(packets.values())}


def bounded(name: str, hold: str, by: str, kind: str = "hard") -> Criterion:
    return Criterion("s", name, kind, "", rule=name, bounds=Bounds.read({"holds": [hold], "of": {"by": by}}, {}))


def test_a_rival_that_was_not_run_is_run_and_judged_where_it_changes_a_run(tmp_path: Path) -> None:
    """A meter of 1 Mbit/s for one of 4, of 5 offered: green falls from .8 to .2; the other run stays."""
    (tmp_path / rivals.FILE).write_text('[[rival]]\nname = "thin"\nlay = { "conditioner.meter.cir?" = "1Mbit/s" }\n')
    stands: Any = Metered(tmp_path)
    claims = [
        bounded("most", "green >= 0.5", "meter"),
        bounded("some", "green >= 0.05", "meter"),
        bounded("elsewhere", "green >= 0.5", "other"),
        bounded("soft", "green >= 0.5", "meter", "soft"),
    ]
    found = rivals.simulated(stands, stands.sets(), claims, Budget(seeds=3, jobs=1), lambda *_: None)
    assert found == {("s", "most"): {"thin": NOT_REPRODUCED}, ("s", "some"): {"thin": REPRODUCED}}


def test_a_place_without_a_rivals_runs_is_not_taken() -> None:
    rival = Rival("r", "marker", ["new"], "plain")
    samples = [Sample("r", {"marker": m, "n": n}, 0, {}) for m, n in (("new", 1), ("new", 2), ("plain", 1))]
    found, taken = rival.replaced(samples)
    assert taken == {("r", ("marker", "new"), ("n", 1))}
    assert sorted(str(s.at) for s in found) == sorted(str(s.at) for s in samples)


@pytest.mark.parametrize("name", PAPERS)
def test_rivals_are_on_the_axes_of_the_runs(name: str) -> None:
    found = paper(name)
    jobs = simulation.prepare(found.runs(), ONE)
    axes = {(axis, value) for job in jobs for place in job.points for axis, value in place.at.items()}
    for rival in rivals.load(found.directory / rivals.FILE):
        if rival.axis:
            assert {(rival.axis, value) for value in (*rival.of, rival.by)} <= axes, rival.name


def test_scores_are_kept_as_they_were(tmp_path: Path) -> None:
    kept = {"era": score.Score(3, 1, ("s/a", "s/b"), (0.05, 0.2, 1.0), 10, "2026-11-24")}
    (tmp_path / score.LAST).parent.mkdir()
    (tmp_path / score.LAST).write_text(score.text("pps", kept))
    found = score.read(tmp_path / score.LAST)
    assert found == kept
    assert (found["era"].held, found["era"].near, found["era"].cells) == (1, [1, 1, 2], 3)
    assert found["era"].error == pytest.approx(1.25 / 3)


def test_the_pages_tables_are_those_of_the_kept_scores() -> None:
    page = SCRIPT["PAGE"].read_text(encoding="utf-8")
    assert SCRIPT["page"](page) == page, "run docs/studies_settings.py"


def test_what_another_base_seed_changes_is_named() -> None:
    first, other = (score.Score(5, 0, failed, (), 10) for failed in (("s/a", "s/b"), ("s/b", "s/c", "s/d")))
    assert SCRIPT["_differing"](first, other) == "2: + `s/a`, - `s/c`, - `s/d`"
    assert SCRIPT["_differing"](first, first) == "3"


def test_a_cell_far_off_counts_as_wholly_wrong() -> None:
    assert score.error(9.0, 10.0) == pytest.approx(0.1)
    assert score.error(100.0, 1.0) == 1.0
    assert score.error(None, 1.0) == 1.0
    assert score.error(1.0, 0.0) is None
