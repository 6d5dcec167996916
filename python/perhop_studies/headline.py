"""The head-line: what the sentences and claims of some papers come to, in a few lines that are the same everywhere.

`perhop reproduce` prints it last and its report begins with it. README, docs/reports/studies/index.md and settings.md
quote that of the last full run (scripts/docs/studies_settings.py, scripts/docs/readme.py).

Decision: docs/decisions/123-in-sample-claims-are-counted-apart.md
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from perhop_studies import Paper, causes, readings, sentences, tally, trying
from perhop_studies.settings import FROZEN
from perhop_studies.tally import Share, Tally

PREDICTION, IN_SAMPLE, WITHOUT_SENTENCE = "prediction", "in-sample", "without a sentence"
WIDTH = 128
"""Of a page's lines."""
SEED = 1
"""The base seed of the runs that are compared."""


class Part(NamedTuple):
    """A paper and what its claims came to."""

    paper: Paper
    tally: Tally


@dataclass(frozen=True)
class Headline:
    """The counts of some papers under one setting."""

    papers: int
    total: Tally
    predictions: Share
    """Hard claims that are drawn from a sentence of a paper, on runs that chose no answer."""
    in_sample: Share
    """Hard claims on runs that chose an answer."""
    without_sentence: Share
    """Hard claims that no sentence of a paper states."""
    anywhere: Share
    """Hard claims that hold now, in some setting or with another answer to one reading."""

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Headline:
        """Of papers that were run in full."""
        verdicts: dict[str, list[bool]] = {PREDICTION: [], IN_SAMPLE: [], WITHOUT_SENTENCE: []}
        for part in parts:
            for name, kind in kinds(part.paper).items():
                verdicts[kind].append(name not in part.tally.failed)
        found = {kind: Share(sum(held), len(held)) for kind, held in verdicts.items()}
        of = sum(share.of for share in found.values())
        lost = sum(len(nowhere(part)) for part in parts)
        return cls(
            len(parts),
            tally.total(part.tally for part in parts),
            found[PREDICTION],
            found[IN_SAMPLE],
            found[WITHOUT_SENTENCE],
            Share(of - lost, of),
        )

    @property
    def lines(self) -> list[str]:
        """It as sentences, without their full stops."""
        whole, held = self.total, self.total.held
        undecided = f", {whole.undecided} are undecided" if whole.undecided else ""
        found = [
            self._sentences,
            f"Of {held.of} claims that test them, {held.held} hold{undecided}: {_of(self.predictions)} predictions, "
            f"{_of(self.in_sample)} on runs that chose an answer (in-sample), "
            f"and {_of(self.without_sentence)} that no sentence of a paper states",
            f"By the bounds of a strict referee {_of(whole.refereed)} hold" if whole.refereed else "",
            f"In some setting, or with another answer to one open question, {_of(self.anywhere)} hold",
        ]
        return [line for line in found if line]

    @property
    def short(self) -> str:
        """What becomes of the sentences, in a few words; nothing if they were not counted."""
        held, of = self.total.sentences or Share(0, 0)
        rest = of - held - self.total.in_part
        return f"{of} of their sentences judged: {held} hold, {self.total.in_part} in part, {rest} do not" if of else ""

    @property
    def _sentences(self) -> str:
        if self.total.sentences is None:
            return ""
        held, of = self.total.sentences
        papers = "the paper" if self.papers == 1 else f"{self.papers} papers"
        rest = of - held - self.total.in_part
        return f"Of {of} judged sentences of {papers}, {held} hold, {self.total.in_part} hold in part and {rest} do not"


def kinds(paper: Paper) -> dict[str, str]:
    """Each frozen hard claim of a paper, by `study/claim`: a prediction, in-sample, or without a sentence."""
    found, listed, answers = {}, sentences.load(paper.directory), paper.readings()
    for claim in (one for one in paper.criteria().claims if one.kind == "hard" and not one.added):
        stated = any(one.words and one.says(claim) for one in listed)
        in_sample = bool(readings.in_sample(answers, claim))
        kind = WITHOUT_SENTENCE if not stated else IN_SAMPLE if in_sample else PREDICTION
        found[f"{claim.study}/{claim.claim}"] = kind
    return found


def nowhere(part: Part) -> set[str]:
    """The hard claims that hold neither now nor in another setting, with more seeds too, nor with another answer."""
    others = (one.failed for one in tally.read(part.paper).values() if one.seed == SEED)
    held = {*trying.won_by(part.paper)} | causes.with_more_seeds(part.paper)
    return {*part.tally.failed}.intersection(*others) - held


def kept(papers: Iterable[Paper], setting: str) -> Headline:
    """That of the last full run."""
    return Headline.of([Part(paper, tally.read(paper)[setting, SEED]) for paper in papers])


def markdown(papers: Iterable[Paper]) -> str:
    """That of the last full run as frozen, as a list for a page."""
    fill = textwrap.TextWrapper(WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False).fill
    return "\n".join(fill(f"{line}.") for line in kept(papers, FROZEN).lines)


def _of(share: Share) -> str:
    return f"{share.held} of {share.of}"
