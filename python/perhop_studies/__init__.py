"""Studies: one experiment of a paper each, with its claims as functions.

A claim is written under the id its criterion has in `perhop_studies/<paper>/criteria.toml`, and reads like the paper's
sentence. What decides it is in that file; the runs it is decided from are in `runs.toml`. Bounds on numbers are written
in one place, beside the text, as `holds` (see `bounds`). Python measures what they bound, for one criterion or for
several; where quantities and arithmetic are enough, the criteria file states the claim and there is no Python.

    fig7 = Study("pf-fig7", title="Fig. 7: bulk TCP against a UDP flow", runs="pf-fig7")

    @fig7.claim("pam-near-tsw2cm")              # holds = ["n = *: PAM/TSW2CM > 0.97"]
    def pam_is_not_below_tsw2cm(runs):
        return Measured([Value(f"n = {n}: PAM/TSW2CM", ratios(runs, n)) for n in EVERY_N])

    @fig2.measures                              # the values that `holds` of criteria without a claim choose from
    def shares(runs):
        yield Value("Jain(f) of PAM", ...)

A paper is a package with a `PAPER`, a directory of files, and its line in `papers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perhop import stats
from perhop.unknown import UnknownError
from perhop_studies import criteria as frozen
from perhop_studies import referee as refereed
from perhop_studies import runs as simulation
from perhop_studies import settings as named
from perhop_studies.bounds import Measured
from perhop_studies.criteria import Cell, Criteria, Criterion
from perhop_studies.drawing import Picture
from perhop_studies.referee import Referee
from perhop_studies.runs import Method, RunSet
from perhop_studies.samples import Sample, Samples
from perhop_studies.settings import Lay, Readings, Setting
from perhop_studies.verdict import Finding, Value

Claim = Callable[..., Finding | Measured]
"""What it found, or what it measured for the bounds beside its text."""
Measures = Callable[..., Iterable[Value]]


@dataclass
class Study:
    """One experiment: the runs it reads and the claims on them."""

    id: str
    title: str
    runs: str | tuple[str, ...]
    """The run set of `runs.toml`, or several."""
    claims: dict[str, Claim] = field(default_factory=dict)
    measured: Measures | None = None
    """Measures the values that criteria without a claim bound."""

    @property
    def sets(self) -> tuple[str, ...]:
        """All run sets it reads."""
        return (self.runs,) if isinstance(self.runs, str) else self.runs

    def claim(self, *criteria: str) -> Callable[[Claim], Claim]:
        """Registers the function that judges these criteria: several if the bounds beside their texts differ.

        Raises:
            ValueError: one has a function already.
        """

        def register(function: Claim) -> Claim:
            for criterion in criteria:
                if criterion in self.claims:
                    raise ValueError(f"{self.id}/{criterion} has a claim already")
                self.claims[criterion] = function
            return function

        return register

    def measures(self, function: Measures) -> Measures:
        """Registers the function that measures what criteria without a claim bound."""
        self.measured = function
        return function

    def judge(self, criterion: Criterion, samples: Samples) -> Finding:
        """The claim's finding at the criterion's grid point; without a claim, what the bounds beside its text say.

        Raises:
            UnknownError: there is neither.
        """
        name = criterion.name
        if criterion.rule not in self.claims or criterion.bounds.are_of_quantities:
            if not criterion.bounds.holds and not criterion.bounds.table:
                raise UnknownError(f"{name}: neither a claim nor `holds` says when it holds")
            if self.measured and not criterion.bounds.are_of_quantities:
                return criterion.bounds.judge(name, criterion.bounds.among(self.measured(samples, **criterion.at)))
            return criterion.bounds.of_quantities(name, samples, criterion.at)
        found = self.claims[criterion.rule](samples, **criterion.at)
        if isinstance(found, Finding):
            return found
        return criterion.bounds.judge(name, found)


@dataclass(frozen=True)
class Paper:
    """The studies of one paper, and what is specific to running, drawing and explaining them."""

    name: str
    title: str
    source: str
    studies: list[Study]
    method: Method
    measured: str
    """What its runs share and what is measured in them, for the report's page."""
    pictures: Callable[[str, Samples, list[Cell]], list[Picture]]
    """The figures of one study, by its id."""
    cell: Callable[[Samples, Cell], stats.Interval] = lambda _, printed: stats.interval(())
    """The measured value for a cell that the paper printed, if it prints tables."""
    answer: Lay = lambda reading, value, of: reading.settings(value, of.name)
    """What an answer to one of its readings lays over a run set."""
    reread: Mapping[str, Callable[[list[Sample]], list[Sample]]] = field(default_factory=dict)
    """Readings of what is measured, not of the runs: the samples under the other answer."""
    template: str = "paper.html"
    """Of its page in the report."""

    def study(self, name: str) -> Study:
        """One of them by its id."""
        return next(s for s in self.studies if s.id == name)

    @property
    def directory(self) -> Path:
        """Where its files are."""
        return simulation.data(self.name)

    def criteria(self) -> Criteria:
        """What decides."""
        return frozen.load(self.directory / "criteria.toml")

    def referee(self) -> Referee:
        """What a referee would ask for in the place of some criteria."""
        return refereed.load(self.directory / refereed.FILE, self.criteria())

    def readings(self) -> Readings:
        """What it leaves open."""
        return named.readings(self.directory / "readings.toml")

    def settings(self) -> dict[str, Setting]:
        """Its named settings, `frozen` first."""
        return named.load(self.directory / "settings.toml", self.readings())

    def runs(self, setting: Setting | None = None) -> list[RunSet]:
        """What is simulated, with a setting laid over it."""
        sets = simulation.load(self.directory, self.method)
        return sets if setting is None else setting.over(sets, self.readings(), self.answer)
