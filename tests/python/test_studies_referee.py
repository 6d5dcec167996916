"""The referee's lines: sound, about criteria that exist, judged beside the frozen verdict, no laxer on the whole."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from perhop_studies import Paper, Study, referee
from perhop_studies.bounds import Bounds
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.records import record
from perhop_studies.referee import Referee
from perhop_studies.runs import Budget, prepare
from perhop_studies.samples import Sample, Samples
from perhop_studies.verdict import NOT_REPRODUCED, REPRODUCED

UNCOUNTED = ("no claim", "counted already")


def test_each_line_has_the_papers_words_and_a_reason(each_paper: Paper) -> None:
    lines = each_paper.referee().lines
    assert lines
    for line in lines:
        assert line.words, line
        assert line.why.endswith("."), line
        assert len(line.words.split()) <= 25, line
        assert line.change in ("stricter", "looser", "restated", "added", *UNCOUNTED), line
        assert line.counts == (line.change not in UNCOUNTED), line


def test_at_least_as_many_lines_get_stricter_as_looser(each_paper: Paper) -> None:
    changes = Counter(line.change for line in each_paper.referee().lines)
    assert changes["stricter"] + changes["no claim"] >= changes["looser"]


def test_every_line_stands_beside_a_criterion_or_adds_one(each_paper: Paper) -> None:
    claims, lines = each_paper.criteria().hard, each_paper.referee()
    beside = {id(lines.line(claim)) for claim in claims}
    rules = {(c.study, c.rule) for c in claims}
    for line in lines.lines:
        assert id(line) in beside or line.change == "added", f"{line.study}/{line.claims}: its `only` leaves nothing"
        assert not line.rule or line.rule in each_paper.study(line.study).claims
        assert line.bounds.holds or line.rule or not line.counts
        assert line.change == "added" or {(line.study, claim) for claim in line.claims} <= rules


def criterion(claim: str, kind: str = "hard", **at: Any) -> Criterion:
    suffix = "".join(f"-{value}" for value in at.values())
    bounds = Bounds.read({"holds": ["x >= 5"], "of": {"at": "here"}}, {})
    return Criterion("s", claim + suffix, kind, "x >= 5", rule=claim, at=at, bounds=bounds)


STATED = Criteria([criterion("a", n=5), criterion("a", n=10), criterion("b"), criterion("c", "soft")], [])
LINE = """[[line]]
study = "s"
claims = ["{claim}"]
change = "{change}"
words = "w"
why = "y."
known = false
{more}
"""


def load(tmp_path: Path, *lines: str) -> Referee:
    (tmp_path / "referee.toml").write_text("".join(lines))
    return referee.load(tmp_path / "referee.toml", STATED)


STRICT = 'text = "x >= 7"\nholds = ["x >= 7"]\nof = { at = "here" }'


def test_each_point_of_a_criterion_has_one_line(tmp_path: Path) -> None:
    lines = [LINE.format(claim="a", change="stricter", more=f"{STRICT}\nonly = {{ n = [{n}] }}") for n in (5, 10)]
    assert len(load(tmp_path, *lines).lines) == 2
    with pytest.raises(ValueError, match="s/a-5: 2 lines, one is allowed"):
        load(tmp_path, lines[0], lines[0])


def test_a_line_judges_by_its_own_bounds_and_the_frozen_verdict_stays(tmp_path: Path) -> None:
    lines = load(
        tmp_path,
        LINE.format(claim="a", change="stricter", more=STRICT + "\nonly = { n = [5] }"),
        LINE.format(claim="b", change="no claim", more=""),
        LINE.format(claim="new", change="added", more=STRICT.replace(">= 7", ">= 2")),
    )
    runs = Samples(Sample("r", {"at": "here"}, i, {"x": 6 + (-1) ** i / 10}) for i in range(10))
    study, judged = Study("s", "", "r"), lines.judged(STATED.claims)
    assert [c.claim for c in judged] == ["a-5, as a referee", "new, as a referee"]
    assert [study.judge(c, runs).verdict for c in judged] == [NOT_REPRODUCED, REPRODUCED]
    assert {study.judge(c, runs).verdict for c in STATED.claims} == {REPRODUCED}
    records = [
        replace(record(c, study.judge(c, runs)), referee=lines.told(c, lambda one: study.judge(one, runs)))
        for c in (*STATED.claims, *lines.added("s"))
    ]
    assert [referee.verdict(r) for r in records] == [NOT_REPRODUCED, REPRODUCED, None, None, REPRODUCED]
    assert referee.held(records) == (2, 3)


class Anything(defaultdict[str, float]):
    """Stands for the quantities of a run: any name has a number."""


def test_every_line_and_every_claim_can_be_judged(each_paper: Paper) -> None:
    """On made-up runs of every point: an expression that is none, or a measure that is missing, is seen here."""
    places = [place for job in prepare(each_paper.runs(), Budget(seeds=3)) for place in job.points]
    runs = [
        Sample(p.runs, p.at, n, Anything(partial(float, 1.0 + n / 7 + i / 1000)))
        for i, p in enumerate(places)
        for n in range(3)
    ]
    claims = [one for one in each_paper.criteria().claims if one.kind != "report"]
    for claim in (*claims, *each_paper.referee().judged(claims)):
        study = each_paper.study(claim.study)
        with suppress(ZeroDivisionError):
            assert study.judge(claim, Samples(s for s in runs if s.runs in study.sets)).parts
