"""Why claims fail: an entry for each, interventions that were run, and notes that follow from the run at hand."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from perhop import stats
from perhop_studies import Paper, causes, tally
from perhop_studies.causes import OPENING, Cause, Intervention, Notes, Trial
from perhop_studies.criteria import Criterion
from perhop_studies.settings import FROZEN
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED, Finding, Part

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts/docs/studies_causes.py"))
CLAIM = Criterion("s", "order-n05", "hard", "", rule="order", at={"n": 5})
COMPARISONS = re.compile(
    r"\b(?:more|less|fewer|above|below|higher|lower|larger|smaller|greater|least|most|holds?|fails?|equals?|equal|exceeds?|"
    r"rises?|falls?|same|differs?|better|worse|faster|slower|twice|half|\w+er than|significant(?:ly)?)\b|[<>=]|\d"
)
"""What a sentence would have to take from a run: a comparison or a number."""


def part(name: str, mean: float, half: float = 1.0) -> Part:
    return Part(name, stats.Interval(mean, mean - half, mean + half, 10), None)


def test_every_claim_that_fails_as_frozen_has_one_cause(each_paper: Paper) -> None:
    listed, failed = causes.load(each_paper.directory), tally.read(each_paper)[FROZEN, 1].failed
    by_name = {c.name: c for c in each_paper.criteria().claims}
    assert {claim for claim in failed if sum(by_name[claim].fits(one.claims) for one in listed) != 1} == set()
    assert [one.claims for one in listed if not any(c.fits(one.claims) for c in by_name.values())] == []


def test_every_intervention_was_run_and_a_stated_cause_was_taken_away(each_paper: Paper) -> None:
    tried, failed = causes.trials(each_paper), {*tally.read(each_paper)[FROZEN, 1].failed}
    for cause in causes.load(each_paper.directory):
        names = {c.name for c in each_paper.criteria().claims if c.fits(cause.claims)}
        for intervention in cause.interventions:
            ran = [one for name in names for one in tried[name] if one.intervention == intervention.name]
            assert {one.seeds for one in ran} == {intervention.seeds}, intervention.name
        won = {one for one in names & failed if any(t.verdict == REPRODUCED for t in tried[one])}
        assert won or not cause.text or not names & failed, f"{cause.claims}: no intervention removes: {cause.text}"


def test_no_note_compares_or_counts_but_by_the_run(each_paper: Paper) -> None:
    for cause in causes.load(each_paper.directory):
        fixed = re.sub(r"\{[^{}]*\}|`[^`]*`", "", cause.measured)
        assert not COMPARISONS.search(fixed), f"{cause.claims}: {cause.measured}"


def test_a_note_of_every_setting_says_on_which_side_of_zero_the_run_was(each_paper: Paper) -> None:
    """Whatever a run gives: a note that names a comparison changes when its sign does."""
    for cause in causes.load(each_paper.directory):
        labels = re.findall(r"\{([^{}|]+)(?:\|(?:%|sign))?\}", cause.measured)
        for criterion in (c for c in each_paper.criteria().claims if c.fits(cause.claims)):
            runs = [[part(re.sub("[*?]", "x", label), mean) for label in labels] for mean in (2.0, -2.0)]
            texts = {cause.says(each_paper.directory, criterion, Finding(parts)) for parts in runs}
            assert len(texts) == (2 if labels else 1)


def test_the_page_has_the_table(each_paper: Paper) -> None:
    page = (ROOT / f"docs/reports/studies/{each_paper.name}.md").read_text(encoding="utf-8")
    assert SCRIPT["filled"](page, SCRIPT["table"](each_paper)) == page, "run scripts/docs/studies_causes.py"


def test_a_label_that_nothing_has_is_named() -> None:
    cause = Cause(["s/order"], measured="It is {A - C}")
    with pytest.raises(ValueError, match="s/order: nothing measured is called `A - C`: A - B > 0"):
        cause.says(Path("x"), CLAIM, Finding([part("A - B > 0", 1)]))


@pytest.mark.parametrize(
    ("means", "says"),
    [
        ((3.0,), "3 (300 %), above zero"),
        ((-3.0,), "-3 (-300 %), below zero"),
        ((0.5,), "0.5 (50 %), not distinguishable from zero"),
        ((-3.0, 3.0), "-3 to 3 (-300 to 300 %), above zero at some points and not at others"),
    ],
)
def test_what_is_in_braces_is_the_runs(means: tuple[float, ...], says: str) -> None:
    cause = Cause(["s/order"], measured="{A - B} ({A - B|%}), {A - B|sign}")
    assert cause.says(Path("x"), CLAIM, Finding([part("A - B > 0", mean) for mean in means])) == says


def test_a_cause_is_said_of_the_frozen_setting_alone() -> None:
    cause = Cause(["s/order"], "jitter", "It is {A - B}", (Intervention("constant gaps"),))
    trials = {"s/order-n05": [Trial("constant gaps", 40, REPRODUCED), Trial("more flows", 10, NOT_REPRODUCED)]}
    notes = Notes(Path("x"), [cause], trials, True, {"s/order-n05": ["a = b"]}, 7)
    finding = Finding([part("A - B > 0", 1.5)])
    tried = "It holds with 1 of 7 other answers, one at a time: a = b"
    shown = "jitter. With constant gaps (40 seeds) it holds. With more flows (10 seeds) it still fails"
    assert notes.of(CLAIM, finding) == f"It is 1.5. {shown}. {tried}"
    assert replace(notes, frozen=False).of(CLAIM, finding) == f"It is 1.5. {tried}"
    unknown = replace(notes, causes=[cause._replace(text="")], trials={})
    assert unknown.of(CLAIM, finding) == f"It is 1.5. {OPENING}. {tried}"
