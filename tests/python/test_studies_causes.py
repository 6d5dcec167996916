"""Why claims fail: an entry for each, interventions that were run, and notes that follow from the run at hand."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from perhop import stats
from perhop_studies import causes, tally
from perhop_studies.causes import OPENING, Cause, Intervention, Notes, Trial
from perhop_studies.criteria import Criterion
from perhop_studies.papers import PAPERS, paper
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


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_that_fails_as_frozen_has_one_cause(name: str) -> None:
    found = paper(name)
    listed, failed = causes.load(found.directory), tally.read(found)[FROZEN, 1].failed
    by_name = {f"{c.study}/{c.claim}": c for c in found.criteria().claims}
    assert {claim for claim in failed if sum(one.explains(by_name[claim]) for one in listed) != 1} == set()
    assert [one.claims for one in listed if not any(one.explains(c) for c in by_name.values())] == []


@pytest.mark.parametrize("name", PAPERS)
def test_every_intervention_was_run_and_a_stated_cause_was_taken_away(name: str) -> None:
    found = paper(name)
    tried, failed = causes.trials(found), {*tally.read(found)[FROZEN, 1].failed}
    for cause in causes.load(found.directory):
        names = {f"{c.study}/{c.claim}" for c in found.criteria().claims if cause.explains(c)}
        for intervention in cause.interventions:
            ran = [one for name in names for one in tried[name] if one.intervention == intervention.name]
            assert {one.seeds for one in ran} == {intervention.seeds}, intervention.name
        won = {one for one in names & failed if any(t.verdict == REPRODUCED for t in tried[one])}
        assert won or not cause.text or not names & failed, f"{cause.claims}: no intervention removes: {cause.text}"


@pytest.mark.parametrize("name", PAPERS)
def test_no_note_compares_or_counts_but_by_the_run(name: str) -> None:
    for cause in causes.load(paper(name).directory):
        fixed = re.sub(r"\{[^{}]*\}", "", cause.measured)
        fixed = re.sub(r"`[^`]*`", "", fixed)
        assert not COMPARISONS.search(fixed), f"{cause.claims}: {cause.measured}"


@pytest.mark.parametrize("name", PAPERS)
def test_a_note_of_every_setting_says_on_which_side_of_zero_the_run_was(name: str) -> None:
    """Whatever a run gives: a note that names a comparison changes when its sign does."""
    found = paper(name)
    for cause in causes.load(found.directory):
        labels = re.findall(r"\{([^{}|]+)(?:\|(?:%|sign))?\}", cause.measured)
        claims = [c for c in found.criteria().claims if cause.explains(c)]
        for criterion in claims:
            parts = [part(label.replace("*", "x").replace("?", "x"), 2.0) for label in labels]
            turned = [replace(one, interval=part("", -2.0).interval) for one in parts]
            texts = {cause.says(found.directory, criterion, Finding(one)) for one in (parts, turned)}
            assert len(texts) == (2 if labels else 1)


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_has_the_table(name: str) -> None:
    page = (ROOT / f"docs/reports/studies/{name}.md").read_text(encoding="utf-8")
    assert SCRIPT["filled"](page, SCRIPT["table"](paper(name))) == page, "run scripts/docs/studies_causes.py"


def test_a_cause_without_an_intervention_is_refused(tmp_path: Path) -> None:
    (tmp_path / causes.FILE).write_text('[[cause]]\nclaims = ["s/order"]\ntext = "because."\n')
    with pytest.raises(ValueError, match="s/order: `text` needs an intervention that takes the cause away"):
        causes.load(tmp_path)


def test_a_label_that_nothing_has_is_named() -> None:
    cause = Cause(("s/order",), measured="It is {A - C}")
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
    cause = Cause(("s/order",), measured="{A - B} ({A - B|%}), {A - B|sign}")
    assert cause.says(Path("x"), CLAIM, Finding([part("A - B > 0", mean) for mean in means])) == says


def test_a_cause_is_said_of_the_frozen_setting_alone() -> None:
    cause = Cause(("s/order",), "jitter", "It is {A - B}", (Intervention("constant gaps"),))
    trials = {"s/order-n05": [Trial("constant gaps", 40, REPRODUCED, ""), Trial("more flows", 10, NOT_REPRODUCED, "")]}
    notes = Notes(Path("x"), [cause], trials, True, {"s/order-n05": ["a = b"]}, 7)
    finding = Finding([part("A - B > 0", 1.5)])
    tried = "It holds with 1 of 7 other answers, one at a time: a = b"
    shown = "jitter. With constant gaps (40 seeds) it holds. With more flows (10 seeds) it still fails"
    assert notes.of(CLAIM, finding) == f"It is 1.5. {shown}. {tried}"
    assert replace(notes, frozen=False).of(CLAIM, finding) == f"It is 1.5. {tried}"
    unknown = replace(notes, causes=[replace(cause, text="")], trials={})
    assert unknown.of(CLAIM, finding) == f"It is 1.5. {OPENING}. {tried}"
