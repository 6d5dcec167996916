"""Studies: one experiment of a paper each, with its claims as functions.

A claim is written under the id its criterion has in `studies/<paper>/criteria.toml`, and reads like the paper's
sentence. What decides it stands in that file; what it is decided from, in `runs.toml`.

    fig7 = Study("pf-fig7", title="Fig. 7: bulk TCP against a UDP flow", runs="pf-fig7")

    @fig7.claim("tcp-order")
    def tcp_is_protected(runs, n):
        ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from perhop.studies.criteria import Criterion
from perhop.studies.samples import Samples
from perhop.studies.verdict import Finding

Claim = Callable[..., Finding]

PAPERS = {"pam-fsam": "perhop.studies.pam_fsam"}
"""Papers by name, and the module that holds their studies."""


@dataclass
class Study:
    """One experiment: the runs it reads and the claims on them."""

    id: str
    title: str
    runs: str
    claims: dict[str, Claim] = field(default_factory=dict)

    def claim(self, criterion: str) -> Callable[[Claim], Claim]:
        """Registers a function as what judges this criterion.

        Raises:
            ValueError: the criterion has one already.
        """

        def register(function: Claim) -> Claim:
            if criterion in self.claims:
                raise ValueError(f"{self.id}/{criterion} has a claim already")
            self.claims[criterion] = function
            return function

        return register

    def judge(self, criterion: Criterion, samples: Samples) -> Finding:
        """The claim's finding at the criterion's grid point."""
        return self.claims[criterion.rule](samples, **criterion.at)


@dataclass(frozen=True)
class Paper:
    """The studies of one paper, its pictures, and what its readings are."""

    name: str
    title: str
    source: str
    studies: list[Study]
    module: Any

    def study(self, name: str) -> Study:
        """One of them by its id."""
        return next(s for s in self.studies if s.id == name)


def paper(name: str) -> Paper:
    """A paper by its name.

    Raises:
        KeyError: there is none of that name.
    """
    found: Paper = import_module(PAPERS[name]).PAPER
    return found
