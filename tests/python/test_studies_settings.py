"""Named settings: complete, sound, and laid over the runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from perhop_studies import runs as simulation
from perhop_studies import score
from perhop_studies import settings as named
from perhop_studies.papers import PAPERS, paper
from perhop_studies.runs import Budget, RunSet
from perhop_studies.settings import FROZEN, Setting

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
