"""The head-line: what the sentences and claims of some papers come to, in a few lines that are the same everywhere.

`perhop reproduce` prints it last and its report begins with it. README, docs/reports/studies/index.md and settings.md
quote that of the last full run (scripts/docs/studies_settings.py, scripts/docs/readme.py).

Decision: docs/decisions/123-in-sample-claims-are-counted-apart.md
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from perhop_studies import Paper, causes, sentences, settings, tally, trying
from perhop_studies.settings import FROZEN
from perhop_studies.tally import Share, Tally

PREDICTION, IN_SAMPLE, WITHOUT_SENTENCE = "prediction", "in-sample", "without a sentence"
MORE_SEEDS = "more seeds in a named setting"
"""As a place where a claim holds."""
WIDTH = 128
"""Of a page's lines."""
SEED = 1
"""The base seed of the runs that are compared."""


class Part(NamedTuple):
    """A paper and what its claims came to."""

    paper: Paper
    tally: Tally


class Headline(NamedTuple):
    """The counts of some papers under one setting."""

    papers: int
    total: Tally
    kinds: dict[str, Share]
    """Hard claims by their kind: drawn from a sentence, on runs that chose no answer; on runs that did; others."""
    anywhere: Share
    """Hard claims that hold now, in some setting or with another answer to one reading."""

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Headline:
        """Of papers that were run in full."""
        held: dict[str, list[bool]] = {PREDICTION: [], IN_SAMPLE: [], WITHOUT_SENTENCE: []}
        for part in parts:
            for name, kind in kinds(part.paper).items():
                held[kind].append(name not in part.tally.failed)
        whole = tally.total(part.tally for part in parts)
        anywhere = Share(whole.hard - sum(len(nowhere(part)) for part in parts), whole.hard)
        return cls(len(parts), whole, {kind: Share(sum(x), len(x)) for kind, x in held.items()}, anywhere)

    @property
    def lines(self) -> list[str]:
        """It as sentences, without their full stops."""
        whole, said = self.total, {kind: _of(share) for kind, share in self.kinds.items()}
        undecided = f", {whole.undecided} are undecided" if whole.undecided else ""
        found = [
            self._sentences(*whole.sentences) if whole.sentences else "",
            f"Of {whole.held.of} claims that test them, {whole.held.held} hold{undecided}: {said[PREDICTION]} "
            f"predictions, {said[IN_SAMPLE]} on runs that chose an answer (in-sample), "
            f"and {said[WITHOUT_SENTENCE]} that no sentence of a paper states",
            f"By the bounds of a strict referee {_of(whole.refereed)} hold" if whole.refereed else "",
            f"In some setting, or with another answer to one open question, {_of(self.anywhere)} hold",
        ]
        return [line for line in found if line]

    def _sentences(self, held: int, of: int) -> str:
        papers = "the paper" if self.papers == 1 else f"{self.papers} papers"
        part = self.total.in_part
        return f"Of {of} judged sentences of {papers}, {held} hold, {part} hold in part and {of - held - part} do not"


def kinds(paper: Paper) -> dict[str, str]:
    """Each frozen hard claim of a paper, by `study/claim`: a prediction, in-sample, or without a sentence."""
    found, listed, answers = {}, sentences.load(paper.directory), paper.readings()
    for claim in (one for one in paper.criteria().hard if not one.added):
        stated = any(one.words and claim.fits(one.claims) for one in listed)
        chosen = IN_SAMPLE if settings.in_sample(answers, claim) else PREDICTION
        found[claim.name] = chosen if stated else WITHOUT_SENTENCE
    return found


def elsewhere(part: Part, others: Mapping[str, Tally]) -> dict[str, list[str]]:
    """Of each hard claim that does not hold, the other settings and answers with which it does, or more seeds."""
    won, seeded = trying.won_by(part.paper), causes.with_more_seeds(part.paper)
    found = {}
    for claim in part.tally.failed:
        named = [name for name, one in others.items() if claim not in one.failed]
        found[claim] = [*named, *won.get(claim, ()), *[MORE_SEEDS] * (claim in seeded)]
    return found


def nowhere(part: Part) -> set[str]:
    """The hard claims that hold neither now nor in another setting, with more seeds too, nor with another answer."""
    kept = {setting: one for (setting, seed), one in tally.read(part.paper).items() if seed == SEED}
    return {claim for claim, where in elsewhere(part, kept).items() if not where}


def kept(papers: Iterable[Paper], setting: str) -> Headline:
    """That of the last full run."""
    return Headline.of([Part(paper, tally.read(paper)[setting, SEED]) for paper in papers])


def markdown(papers: Iterable[Paper]) -> str:
    """That of the last full run as frozen, as a list for a page."""
    fill = textwrap.TextWrapper(WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False).fill
    return "\n".join(fill(f"{line}.") for line in kept(papers, FROZEN).lines)


def _of(share: Share) -> str:
    return f"{share.held} of {share.of}"
