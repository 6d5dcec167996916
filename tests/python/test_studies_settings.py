"""Named settings: complete, sound, and laid over the runs."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from perhop import stats
from perhop_studies import Paper, tally
from perhop_studies import runs as simulation
from perhop_studies import settings as named
from perhop_studies.criteria import Cell, Criteria, Criterion
from perhop_studies.papers import paper
from perhop_studies.records import Record, cell_record
from perhop_studies.report import WORDS
from perhop_studies.runs import Budget, RunSet
from perhop_studies.settings import FROZEN, Setting
from perhop_studies.tally import Share, Tally

ONE = Budget(seeds=1)
SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts/docs/studies_settings.py"))


def test_every_setting_answers_every_reading_with_a_reason(each_paper: Paper) -> None:
    readings, settings = each_paper.readings(), each_paper.settings()
    assert next(iter(settings)) == FROZEN
    assert [setting.name for setting in settings.values() if setting.frozen] == [FROZEN]
    for setting in settings.values():
        assert setting.answers.keys() == readings.keys()
        assert all(answer.why for answer in setting.answers.values())
        assert setting.about.endswith(".")
    assert settings[FROZEN].changed == []


def test_each_answer_of_a_setting_changes_some_run(each_paper: Paper) -> None:
    """By itself, over the frozen readings."""
    readings, plain = each_paper.readings(), points(each_paper.runs())
    for setting in each_paper.settings().values():
        for reading in setting.changed:
            alone = Setting("alone", "", {reading: setting.answers[reading]}, [reading])
            sets = alone.over(each_paper.runs(), readings, each_paper.answer)
            assert points(sets) != plain, f"{setting.name}: {reading}"


def test_every_setting_has_its_last_run(each_paper: Paper) -> None:
    kept, hard = tally.read(each_paper), {c.name for c in each_paper.criteria().hard if not c.added}
    assert {setting for setting, seed in kept if seed == 1} == set(each_paper.settings())
    for one in kept.values():
        assert one.hard == len(hard)
        assert {*one.failed} <= hard


def points(sets: list[RunSet]) -> list[str]:
    return [place.hash for job in simulation.prepare(sets, ONE) for place in job.points]


def test_a_setting_that_a_paper_lacks_is_an_error() -> None:
    with pytest.raises(LookupError, match="no setting `era`: frozen, "):
        named.chosen({FROZEN: Setting(FROZEN, "", {}, [])}, "era")
    assert [one.name for one in named.chosen(paper("redp").settings(), FROZEN)] == [FROZEN]
    assert [one.name for one in named.chosen(paper("redp").settings(), "all")] == [*paper("redp").settings()]


def test_a_variant_keeps_what_makes_it_one() -> None:
    """The buffer of 100 packets in Fig. 5 is the variant's, whatever a setting says of the buffer."""
    found = paper("redp")
    sets = found.runs(found.settings()["kindest"])
    buffers = {s.at["buffer"]: s.settings["@rio.limit?"] for s in sets if s.name == "redp-fig5"}
    assert buffers == {30: "28p", 100: "100p"}


@dataclass
class Planted:
    """Stands for a paper: where its files are, and what decides."""

    directory: Path
    claims: list[Criterion] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def criteria(self) -> Criteria:
        return Criteria(self.claims, self.cells)


def test_what_a_run_came_to_is_kept_as_it_was(tmp_path: Path) -> None:
    stands: Any = Planted(tmp_path)
    share = Share(1, 2)
    errors, failed = (0.05, 0.2, 1.0), ("s/a", "s/b")
    kept = [
        Tally("era", 1, "2026-11-24", 10, 3, 1, failed, errors),
        Tally("era", 2, "2026-11-25", 10, 3, 0, failed, errors, share, share, 1, share, share, share),
    ]
    (tmp_path / tally.KEPT).parent.mkdir()
    tally.write(stands, kept)
    found = tally.read(stands)
    assert found == {("era", one.seed): one for one in kept}
    assert (found["era", 1].held, found["era", 1].near) == (Share(1, 3), [1, 1, 2])
    assert found["era", 1].error == pytest.approx(1.25 / 3)


def judged(claim: str, kind: str, verdict: str, *, tells: bool | None = None, added: bool = False) -> Record:
    return Record("s", claim, kind, "", None, (), 10, verdict, "", tells=tells, added=added)


def test_claims_are_counted_by_themselves_by_sentence_and_by_whether_they_tell(tmp_path: Path) -> None:
    """What was added after results were known, and what no sentence says, is counted apart or not at all."""
    (tmp_path / "sentences.toml").write_text(
        """[[sentence]]
place = "a"
words = "w"
claims = ["s/x*"]
[[sentence]]
place = "b"
words = "v"
claims = ["s/y*", "s/new"]
[[sentence]]
place = "no sentence of the paper"
words = ""
claims = ["s/z"]
"""
    )
    held, not_held, open_still = "reproduced", "not reproduced", "undecided"
    records = [
        judged("x1", "hard", held, tells=True),
        judged("x2", "hard", held, tells=False),
        judged("y1", "hard", held, tells=True),
        judged("y2", "hard", not_held, tells=True),
        judged("z", "hard", open_still),
        judged("new", "hard", not_held, added=True),
        judged("soft", "soft", held),
    ]
    claims = [Criterion("s", r.claim, r.kind, "", rule=r.claim, added=r.added) for r in records]
    stands: Any = Planted(tmp_path, claims, [Cell("s", "row", "column", 10.0, "p")])
    cell = cell_record(stands.cells[0].criterion, stats.interval([9.0, 9.0]))
    found = tally.of(stands, [*records, cell], "frozen", 1)
    assert found.failed == ("s/y2", "s/z")
    assert (found.held, found.undecided, found.seeds) == (Share(3, 5), 1, 10)
    assert (found.sentences, found.in_part) == (Share(1, 2), 1)
    assert (found.telling, found.added, found.soft) == (Share(2, 3), Share(0, 1), Share(1, 1))
    assert found.errors == (0.1,)
    assert found.cells == ["3 of 5", "1 of 2", "1", "2 of 3", "3 of 5", "0 of 1", "1 of 1", "1"]
    assert len(tally.COLUMNS) == len(found.cells)
    both = tally.total([found, found])
    assert both.cells == ["6 of 10", "2 of 4", "2", "4 of 6", "6 of 10", "0 of 2", "2 of 2", "2"]
    assert tally.total([found, replace(found, telling=None)]).telling is None, "no mutant was tried for one"


def test_the_pages_tables_are_those_of_the_kept_runs() -> None:
    for page, make in (("PAGE", "page"), ("INDEX", "index")):
        text = SCRIPT[page].read_text(encoding="utf-8")
        assert SCRIPT[make](text) == text, "run scripts/docs/studies_settings.py"


def test_each_word_is_said_once_and_in_short() -> None:
    assert len(WORDS) <= 10
    assert all(len(says) <= 260 and ";" not in says for says in WORDS.values())


def kept(seed: int, *failed: str) -> Tally:
    return Tally("frozen", seed, "", 10, 5, 0, failed, ())


def test_what_another_base_seed_changes_is_named_and_the_most_is_computed() -> None:
    first, other, third = kept(1, "s/a", "s/b"), kept(2, "s/b", "s/c", "s/d"), kept(3, "s/a")
    assert SCRIPT["differing"](first, other) == "2: + `s/a`, - `s/c`, - `s/d`"
    assert SCRIPT["differing"](first, first) == "3"
    said = SCRIPT["moved"]({"redp": {("frozen", one.seed): one for one in (first, other, third)}})
    assert " ".join(said.split()) == (
        "Against base seed 1 a setting's count moves by 1 at most (redp, `frozen`, base seed 3), and at most 3 "
        "verdicts change (redp, `frozen`, base seed 2); of 2 runs with another base seed."
    )


def test_a_cell_far_off_counts_as_wholly_wrong() -> None:
    assert tally.error(9.0, 10.0) == pytest.approx(0.1)
    assert tally.error(100.0, 1.0) == 1.0
    assert tally.error(None, 1.0) == 1.0
    assert tally.error(1.0, 0.0) is None
