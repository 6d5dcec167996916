"""The result of reproducing a paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from perhop_studies import Paper, Study, tally
from perhop_studies.criteria import Criteria
from perhop_studies.records import Record
from perhop_studies.runs import Budget
from perhop_studies.sequential import Looks
from perhop_studies.settings import Setting
from perhop_studies.tally import Tally


@dataclass(frozen=True)
class Outcome:
    """One paper's records under one setting, their criteria, and the samples behind them."""

    paper: Paper
    setting: Setting
    studies: list[Study]
    criteria: Criteria
    records: list[Record]
    looks: Looks
    budget: Budget

    @property
    def complete(self) -> bool:
        """Whether every study of the paper was run, and the paper has claims to judge."""
        hard = any(one.kind == "hard" for one in self.criteria.claims)
        return hard and {one.id for one in self.studies} == {one.id for one in self.paper.studies}

    @cached_property
    def tally(self) -> Tally:
        """What its claims come to."""
        return tally.of(self.paper, self.records, self.setting.title, self.budget.seed)
