"""The sentences of the papers: every hard criterion is drawn from exactly one."""

from __future__ import annotations

import pytest

from perhop_studies import sentences
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.papers import PAPERS, paper
from perhop_studies.sentences import Sentence

R, N = "reproduced", "not reproduced"


@pytest.mark.parametrize("name", PAPERS)
def test_every_hard_criterion_has_one_sentence(name: str) -> None:
    found = paper(name)
    listed = sentences.load(found.directory)
    hard = [c for c in found.criteria().claims if c.kind == "hard"]
    assert {f"{c.study}/{c.rule}" for c in hard if sum(s.says(c) for s in listed) != 1} == set()
    assert [s for s in listed if not any(s.says(c) for c in hard)] == []


def test_a_sentence_holds_with_all_its_criteria() -> None:
    listed = [Sentence("a", "A", ("s/x", "s/y*")), Sentence("b", "B", ("s/z",)), Sentence("c", "C", ("t/*",))]
    claims = [Criterion("s", f"{rule}-{n}", "hard", "", rule=rule) for rule in ("x", "y1", "z") for n in (1, 2)]
    claims.append(Criterion("s", "x-3", "soft", "", rule="x"))
    verdicts = {("s", f"{rule}-{n}"): R for rule in ("x", "y1") for n in (1, 2)} | {("s", "z-1"): R, ("s", "z-2"): N}
    criteria = Criteria(claims, [])
    assert sentences.counted(listed, criteria, verdicts) == {"holds": 1, "in part": 1, "fails": 0}
    verdicts["s", "y1-2"] = N
    verdicts["s", "z-1"] = N
    assert sentences.counted(listed, criteria, verdicts) == {"holds": 0, "in part": 1, "fails": 1}
