"""As a referee: a second line beside criteria that are no claim of the paper, or that no honest referee would set so.

`perhop_studies/<paper>/referee.toml` has the lines. The frozen verdict stays; the referee's stands beside it.

    [[line]]
    study = "rtt-fig3"
    claims = ["favours-short"]                 # ids of criteria, without their place in the grid
    change = "looser"                          # a word for a reader; `added` of what is in no criterion
    words = "with SW flow 1 gets at least ..." # the paper's own, which the line is derived from
    text = "..."                               # the new line, as a criterion's text
    why = "..."                                # its derivation, from words and statistics
    known = false                              # whether its effect on the verdict was known when it was written
    holds = ["..."]                            # with `of` and `measures`, as in criteria.toml; or
    rule = "..."                               # the claim in Python that judges it
    only = { n = [5, 10] }                     # the part of the grid it is for

Without `holds` or `rule` a line's bounds are those of the criterion. A line `added` is a separate claim: its `claims`
are its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perhop_studies.bounds import Bounds
from perhop_studies.criteria import Criteria, Criterion, read
from perhop_studies.records import Record, Refereed, rounded
from perhop_studies.verdict import REPRODUCED, Finding

FILE = "referee.toml"
ADDED = "added"
KEYS = ("study", "claims", "change", "words", "why", "known", "text", "holds", "of", "measures", "rule", "only")
NEEDED = KEYS[:6]


@dataclass(frozen=True)
class Line:
    """What a referee would have asked for in the place of some criteria; without a text they do not count."""

    study: str
    claims: list[str]
    change: str
    words: str
    why: str
    known: bool
    text: str = ""
    only: Mapping[str, list[Any]] = field(default_factory=dict)
    rule: str = ""
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def counts(self) -> bool:
        """Whether its claims count at all."""
        return bool(self.text)

    def is_for(self, criterion: Criterion) -> bool:
        """Whether it stands beside a criterion."""
        here = criterion.study == self.study and {criterion.rule, criterion.claim} & {*self.claims}
        return bool(here) and all(criterion.at.get(axis) in values for axis, values in self.only.items())

    def beside(self, criterion: Criterion) -> Criterion:
        """The criterion as it would read, under another name; where only bounds differ, of what it measures."""
        own, frozen = self.bounds, criterion.bounds
        if not (own.measures or own.of):
            own = replace(frozen, holds=own.holds or frozen.holds)
        name, rule = f"{criterion.claim}, as a referee", self.rule or criterion.rule
        return replace(criterion, claim=name, kind="hard", text=self.text, rule=rule, bounds=own)

    @property
    def added(self) -> list[Criterion]:
        """The claims that it adds: reports, so that only the referee judges them."""
        ids = self.claims if self.change == ADDED else ()
        return [
            Criterion(self.study, one, "report", self.text, rule=self.rule or one, bounds=self.bounds) for one in ids
        ]


@dataclass(frozen=True)
class Referee:
    """All lines of a paper."""

    lines: list[Line]

    def line(self, criterion: Criterion) -> Line | None:
        """The one beside a criterion."""
        return next((line for line in self.lines if line.is_for(criterion)), None)

    def added(self, study: str) -> list[Criterion]:
        """The claims it adds to a study."""
        return [criterion for line in self.lines if line.study == study for criterion in line.added]

    def judged(self, claims: Iterable[Criterion]) -> list[Criterion]:
        """What it asks for in the place of these, and what it adds to their studies; all hard."""
        listed = list(claims)
        added = [c for study in dict.fromkeys(c.study for c in listed) for c in self.added(study)]
        lines = ((c, self.line(c)) for c in (*listed, *added))
        return [line.beside(c) for c, line in lines if line and line.counts]

    def told(self, criterion: Criterion, found: Callable[[Criterion], Finding]) -> Refereed | None:
        """What its record says of the referee; None where the frozen line stands."""
        line = self.line(criterion)
        if line is None:
            return None
        stated = (line.change, line.text, line.words, line.why, line.known)
        if not line.counts:
            return Refereed(*stated, verdict=None, measured=None, note="")
        finding = found(line.beside(criterion))
        measured = [rounded(part.interval.mean) for part in finding.parts]
        return Refereed(*stated, finding.verdict, measured, "; ".join(map(str, finding.parts)))


def load(path: Path, criteria: Criteria) -> Referee:
    """A paper's lines; none without the file.

    Raises:
        ValueError: a key that is none, a criterion that is not there or not hard, two lines for one criterion, or a
            text without bounds.
    """
    lines = [_line(path, entry, criteria) for entry in read(path).get("line", [])]
    for criterion in criteria.claims:
        if len(found := [line for line in lines if line.is_for(criterion)]) > 1:
            raise ValueError(f"{path}: {criterion.name}: {len(found)} lines, one is allowed")
    return Referee(lines)


def _line(path: Path, entry: Mapping[str, Any], criteria: Criteria) -> Line:
    where = f"{path}: {entry.get('study')}/{entry.get('claims')}"
    if unknown := [key for key in entry if key not in KEYS]:
        raise ValueError(f"{where}: no key `{unknown[0]}`: there are {', '.join(KEYS)}")
    if lacking := [key for key in NEEDED if key not in entry]:
        raise ValueError(f"{where}: `{lacking[0]}` is missing")
    plain = {key: value for key, value in entry.items() if key not in ("holds", "of", "measures")}
    line = Line(bounds=Bounds.read(entry, {}), **plain)
    rules = {c.rule: c.kind for c in criteria.of(line.study)}
    if line.change == ADDED and (taken := [claim for claim in line.claims if claim in rules]):
        raise ValueError(f"{where}: `{taken[0]}` is a criterion: `added` is for claims that are none")
    if line.change != ADDED and (wrong := [rule for rule in line.claims if rules.get(rule) != "hard"]):
        hard = ", ".join(rule for rule, kind in rules.items() if kind == "hard")
        raise ValueError(f"{where}: no hard criterion `{wrong[0]}`: there are {hard}")
    if bool(line.bounds.holds or line.rule) != line.counts:
        raise ValueError(f"{where}: `text` goes with `holds` or `rule`; without either its claims do not count")
    return line


def verdict(entry: Record) -> str | None:
    """As a referee: the frozen verdict of a hard claim whose line stands; None of what does not count."""
    if entry.referee:
        return entry.referee.verdict
    return entry.verdict if entry.kind == "hard" and not entry.added else None


def held(records: Iterable[Record]) -> tuple[int, int]:
    """Claims that hold as a referee, of those that count."""
    verdicts = [v for entry in records if (v := verdict(entry)) is not None]
    return verdicts.count(REPRODUCED), len(verdicts)
