"""The head-line: three groups of claims, derived from the readings, and the same lines wherever it stands."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from perhop_studies import causes, headline, readings, report, tally
from perhop_studies.criteria import Criterion
from perhop_studies.headline import IN_SAMPLE, PREDICTION, WITHOUT_SENTENCE, Headline, Part
from perhop_studies.papers import PAPERS, paper
from perhop_studies.sentences import fits
from perhop_studies.settings import FROZEN
from perhop_studies.tally import Share
from perhop_studies.verdict import FULL

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PAPERS)
def test_a_reading_says_on_which_claims_its_answer_was_chosen(name: str) -> None:
    found = paper(name)
    for reading in found.readings().values():
        for pattern in reading.chosen_on:
            assert any(fits([pattern], c) for c in found.criteria().claims), f"{reading.id}: {pattern}"


def test_a_reading_that_does_not_say_so_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "readings.toml"
    path.write_text('[[reading]]\nid = "a"\nquestion = "?"\ndecided-by = "?"\nfrozen = "x"\n[reading.values]\nx = {}\n')
    with pytest.raises(ValueError, match="a: `chosen-on` is missing: the claims on the runs that chose the answer"):
        readings.load(path)
    path.write_text(path.read_text().replace('frozen = "x"', 'frozen = "x"\nchosen-on = ["s/a*"]'))
    found = readings.load(path)
    assert readings.in_sample(found, Criterion("s", "ab-n05", "hard", "", rule="ab")) == ["a"]
    assert readings.in_sample(found, Criterion("s", "b", "hard", "", rule="b")) == []


def test_the_groups_are_all_hard_claims_and_overlap_nowhere() -> None:
    for found in PAPERS.values():
        hard = [c for c in found.criteria().claims if c.kind == "hard" and not c.added]
        assert headline.kinds(found).keys() == {f"{c.study}/{c.claim}" for c in hard}
    assert headline.kinds(paper("pam-fsam"))["pf-fig2/jain-in-order"] == IN_SAMPLE
    assert headline.kinds(paper("pam-fsam"))["pf-fig2/token-supply"] == WITHOUT_SENTENCE
    assert headline.kinds(paper("pam-fsam"))["pf-fig4/fsam-gain"] == PREDICTION


def test_a_claim_that_fails_leaves_its_group_alone() -> None:
    found = paper("pam-fsam")
    plain = tally.read(found)[FROZEN, 1]
    held = Headline.of([Part(found, replace(plain, failed=()))])
    fails = Headline.of([Part(found, replace(plain, failed=("pf-fig2/jain-in-order", "pf-fig2/token-supply")))])
    assert held.predictions == fails.predictions
    assert held.in_sample.held - fails.in_sample.held == 1
    assert held.without_sentence.held - fails.without_sentence.held == 1
    assert sum(share.of for share in (held.predictions, held.in_sample, held.without_sentence)) == plain.hard


def test_what_is_undecided_or_not_counted_is_said_or_left_out() -> None:
    found = paper("redp")
    plain = replace(
        tally.read(found)[FROZEN, 1], failed=(), sentences=Share(8, 15), in_part=1, refereed=None, undecided=0
    )
    lines = Headline.of([Part(found, plain)]).lines
    assert lines[0] == "Of 15 judged sentences of the paper, 8 hold, 1 hold in part and 6 do not"
    assert lines[1].startswith("Of 23 claims that test them, 23 hold: ")
    assert len(lines) == 3
    lines = Headline.of([Part(found, replace(plain, undecided=2, sentences=None))]).lines
    assert lines[0].startswith("Of 23 claims that test them, 23 hold, 2 are undecided: ")
    assert len(lines) == 2


@pytest.mark.parametrize("name", PAPERS)
def test_what_holds_nowhere_was_tried_with_enough_seeds(name: str) -> None:
    """In every setting, with four times the seeds that a verdict has."""
    found = paper(name)
    lost = headline.nowhere(Part(found, tally.read(found)[FROZEN, headline.SEED]))
    criteria = {f"{c.study}/{c.claim}": c for c in found.criteria().claims}
    for claim in lost:
        (cause,) = (one for one in causes.load(found.directory) if one.explains(criteria[claim]))
        plain = {one.setting for one in cause.interventions if not one.set and not one.sets and one.seeds >= 4 * FULL}
        assert plain == {*found.settings()}, claim


@pytest.mark.parametrize("name", PAPERS)
def test_a_report_finds_the_same_claims_elsewhere(name: str) -> None:
    found, kept = paper(name), tally.read(paper(name))
    rows = [report.Row(name, one, kept.get((one.name, headline.SEED)), None) for one in found.settings().values()]
    frozen = kept[FROZEN, headline.SEED]
    outcome: Any = SimpleNamespace(paper=found, setting=found.settings()[FROZEN], tally=frozen)
    lost = headline.nowhere(Part(found, frozen))
    assert report.Entry(outcome, [], "").anywhere(rows) == Share(frozen.hard - len(lost), frozen.hard)


@pytest.mark.parametrize("page", ["docs/reports/studies/index.md", "docs/reports/studies/settings.md"])
def test_every_page_has_the_same_lines(page: str) -> None:
    block = headline.markdown(PAPERS.values())
    assert block in (ROOT / page).read_text(encoding="utf-8"), "run scripts/docs/studies_settings.py"


def test_the_pages_say_which_criteria_were_first() -> None:
    script: dict[str, Any] = runpy.run_path(str(ROOT / "scripts/docs/studies_settings.py"))
    for path in (script["PAGE"], script["INDEX"], ROOT / "README.md"):
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert "answer was chosen before the first run" not in text
        assert "parameters that were fixed before the first run" not in text
