"""The result of reproducing a paper, and the display of its progress."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from perhop.studies import Paper, Study
from perhop.studies.criteria import Criteria
from perhop.studies.records import Record
from perhop.studies.runs import Budget
from perhop.studies.samples import Sample
from perhop.studies.sequential import Looks
from perhop.studies.settings import Setting


@dataclass(frozen=True)
class Outcome:
    """One paper's records, their criteria, and the samples behind them."""

    paper: Paper
    setting: Setting
    studies: list[Study]
    criteria: Criteria
    records: list[Record]
    looks: Looks
    budget: Budget

    @property
    def samples(self) -> list[Sample]:
        """All runs."""
        return self.looks.samples


def say(text: str) -> None:
    """A line of progress on standard error: rewritten in place on a terminal, otherwise silent."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
