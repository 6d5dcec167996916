"""The result of reproducing a paper."""

from __future__ import annotations

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
