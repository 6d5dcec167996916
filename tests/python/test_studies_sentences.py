"""The sentences of the papers: every hard criterion is drawn from exactly one."""

from __future__ import annotations

from perhop_studies import Paper, sentences
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.sentences import Sentence

R, N = "reproduced", "not reproduced"


def test_every_hard_criterion_has_one_sentence(each_paper: Paper) -> None:
    listed = sentences.load(each_paper.directory)
    hard = each_paper.criteria().hard
    assert {f"{c.study}/{c.rule}" for c in hard if sum(c.fits(s.claims) for s in listed) != 1} == set()


def test_every_sentence_has_criteria_or_a_reason(each_paper: Paper) -> None:
    criteria = [*each_paper.criteria().claims, *(c for line in each_paper.referee().lines for c in line.added)]
    for sentence in sentences.load(each_paper.directory):
        assert all(any(c.fits([pattern]) for c in criteria) for pattern in sentence.claims), sentence.title
        assert not sentence.no_claim or sentence.no_claim.startswith("because "), sentence.title


def test_a_sentence_holds_with_all_its_criteria() -> None:
    listed = [Sentence("a", "A", ("s/x", "s/y*")), Sentence("b", "B", ("s/z",)), Sentence("c", "C", ("t/*",))]
    claims = [Criterion("s", f"{rule}-{n}", "hard", "", rule=rule) for rule in ("x", "y1", "z") for n in (1, 2)]
    claims.append(Criterion("s", "x-3", "soft", "", rule="x"))
    verdicts = {("s", f"{rule}-{n}"): R for rule in ("x", "y1") for n in (1, 2)} | {("s", "z-1"): R, ("s", "z-2"): N}
    criteria = Criteria(claims, [])
    assert sentences.counted(listed, criteria, verdicts) == {"holds": 1, "in part": 1, "fails": 0}
    verdicts |= {("s", "y1-2"): N, ("s", "z-1"): N}
    assert sentences.counted(listed, criteria, verdicts) == {"holds": 0, "in part": 1, "fails": 1}
