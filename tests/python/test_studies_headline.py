"""The head-line: three groups of claims, derived from the readings, and the same lines wherever it stands."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from perhop_studies import Paper, causes, headline, report, settings, tally
from perhop_studies.criteria import Criterion
from perhop_studies.headline import IN_SAMPLE, PREDICTION, SEED, WITHOUT_SENTENCE, Headline, Part
from perhop_studies.papers import PAPERS, paper
from perhop_studies.settings import FROZEN, Reading
from perhop_studies.tally import Share, Tally
from perhop_studies.verdict import FULL

ROOT = Path(__file__).parents[2]


def as_frozen(found: Paper, **other: Any) -> Tally:
    """What the last run of a paper came to, with other counts."""
    return replace(tally.read(found)[FROZEN, SEED], **other)


def test_a_reading_says_on_which_claims_its_answer_was_chosen(each_paper: Paper) -> None:
    claims = each_paper.criteria().claims
    for reading in each_paper.readings().values():
        assert [one for one in reading.chosen_on if not any(c.fits([one]) for c in claims)] == [], reading.id


def test_a_claim_on_runs_that_chose_an_answer_is_in_sample() -> None:
    readings = {"a": Reading("a", "?", "?", "x", {"x": {}}, ["s/a*"])}
    assert settings.in_sample(readings, Criterion("s", "ab-n05", "hard", "", rule="ab")) == ["a"]
    assert settings.in_sample(readings, Criterion("s", "b", "hard", "", rule="b")) == []


def test_the_groups_are_all_hard_claims_and_overlap_nowhere(each_paper: Paper) -> None:
    assert headline.kinds(each_paper).keys() == {c.name for c in each_paper.criteria().hard if not c.added}
    kinds = headline.kinds(paper("pam-fsam"))
    named = ("pf-fig2/jain-in-order", "pf-fig2/token-supply", "pf-fig4/fsam-gain")
    assert [kinds[name] for name in named] == [IN_SAMPLE, WITHOUT_SENTENCE, PREDICTION]


def test_a_claim_that_fails_leaves_its_group_alone() -> None:
    found = paper("pam-fsam")
    all_hold, two_fail = (), ("pf-fig2/jain-in-order", "pf-fig2/token-supply")
    held, fails = (Headline.of([Part(found, as_frozen(found, failed=x))]).kinds for x in (all_hold, two_fail))
    lost = {kind: held[kind].held - fails[kind].held for kind in held}
    assert lost == {PREDICTION: 0, IN_SAMPLE: 1, WITHOUT_SENTENCE: 1}
    assert sum(share.of for share in held.values()) == as_frozen(found).hard


def test_what_is_undecided_or_not_counted_is_said_or_left_out() -> None:
    found = paper("redp")
    plain = as_frozen(found, failed=(), sentences=Share(8, 15), in_part=1, refereed=None, undecided=0)
    lines = Headline.of([Part(found, plain)]).lines
    assert lines[0] == "Of 15 judged sentences of the paper, 8 hold, 1 hold in part and 6 do not"
    assert lines[1].startswith("Of 23 claims that test them, 23 hold: ")
    assert len(lines) == 3
    lines = Headline.of([Part(found, replace(plain, undecided=2, sentences=None))]).lines
    assert lines[0].startswith("Of 23 claims that test them, 23 hold, 2 are undecided: ")
    assert len(lines) == 2


def test_what_holds_nowhere_was_tried_with_enough_seeds(each_paper: Paper) -> None:
    """In every setting, with four times the seeds that a verdict has."""
    lost = headline.nowhere(Part(each_paper, as_frozen(each_paper)))
    for claim in (one for one in each_paper.criteria().claims if one.name in lost):
        (cause,) = (one for one in causes.load(each_paper.directory) if claim.fits(one.claims))
        plain = {one.setting for one in cause.interventions if one.plain and one.seeds >= 4 * FULL}
        assert plain == {*each_paper.settings()}, claim.name


def test_a_report_finds_the_same_claims_elsewhere(each_paper: Paper) -> None:
    found, kept, frozen = each_paper.settings(), tally.read(each_paper), as_frozen(each_paper)
    rows = [report.Row(each_paper.name, one, kept.get((one.name, SEED)), None) for one in found.values()]
    outcome: Any = SimpleNamespace(paper=each_paper, setting=found[FROZEN], tally=frozen)
    lost = headline.nowhere(Part(each_paper, frozen))
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
