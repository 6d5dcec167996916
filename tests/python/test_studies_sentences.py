"""The sentences of the papers: every hard criterion is drawn from exactly one."""

from __future__ import annotations

from pathlib import Path

import pytest

from perhop_studies import sentences
from perhop_studies.criteria import Criteria, Criterion
from perhop_studies.papers import PAPERS, paper
from perhop_studies.sentences import Sentence, fits

R, N = "reproduced", "not reproduced"


@pytest.mark.parametrize("name", PAPERS)
def test_every_hard_criterion_has_one_sentence(name: str) -> None:
    found = paper(name)
    listed = sentences.load(found.directory)
    hard = [c for c in found.criteria().claims if c.kind == "hard"]
    assert {f"{c.study}/{c.rule}" for c in hard if sum(s.says(c) for s in listed) != 1} == set()


@pytest.mark.parametrize("name", PAPERS)
def test_every_sentence_has_criteria_or_a_reason(name: str) -> None:
    found = paper(name)
    criteria = [*found.criteria().claims, *(c for line in found.referee().lines for c in line.added)]
    for sentence in sentences.load(found.directory):
        assert all(any(fits([pattern], c) for c in criteria) for pattern in sentence.claims), sentence.title
        assert not sentence.no_claim or sentence.no_claim.startswith("because "), sentence.title


@pytest.mark.parametrize(
    "entry", ["claims = []", 'claims = ["s/x"]\nno-claim = "because it is a plan"', 'no-claim = ""']
)
def test_a_sentence_with_neither_or_both_is_refused(tmp_path: Path, entry: str) -> None:
    (tmp_path / sentences.FILE).write_text(f'[[sentence]]\nplace = "section 1"\nwords = "w"\n{entry}\n')
    with pytest.raises(ValueError, match="section 1: w: give either `claims` or `no-claim`"):
        sentences.load(tmp_path)


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
