"""What a paper's claims come to under one setting, and how near its printed numbers are.

`records/settings.jsonl` of a paper keeps that of the last full run of each setting with each base seed, a line each, so
that a report can show those that it has not run, with their date.

Decision: docs/decisions/102-three-counts-of-claims.md
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from perhop import files
from perhop_studies import Paper, referee, sentences
from perhop_studies.records import Record
from perhop_studies.sentences import HOLDS, IN_PART
from perhop_studies.variants import recorded
from perhop_studies.verdict import REPRODUCED, UNDECIDED

NEAR = (0.05, 0.10, 0.25)
WORST = 1.0
"""A cell's error counts as this at most: one that is far off does not hide the others."""
KEPT = "records/settings.jsonl"
NOTHING = "\N{EN DASH}"
COLUMNS = ("hard claims", "sentences", "in part", "that tell", "as a referee", "added", "soft", "undecided")
COUNTS = ("hard", "undecided", "in_part", "soft_undecided")
SHARES = ("refereed", "sentences", "telling", "added", "soft")


class Share(NamedTuple):
    """So many of so many."""

    held: int
    of: int


@dataclass(frozen=True)
class Tally:
    """Of one paper under one setting with one base seed."""

    setting: str
    seed: int
    date: str
    """When it was run; empty for now."""
    seeds: int
    """The most seeds of any hard claim."""
    hard: int
    undecided: int
    failed: tuple[str, ...]
    """Hard claims that do not hold, undecided ones included: `study/claim`."""
    errors: tuple[float, ...]
    """Of each printed cell."""
    refereed: Share | None = None
    sentences: Share | None = None
    in_part: int = 0
    """Sentences of which a part holds."""
    telling: Share | None = None
    """Claims that tell, of those that hold; None if no mutant was tried."""
    added: Share | None = None
    soft: Share | None = None
    soft_undecided: int = 0

    @property
    def held(self) -> Share:
        """Hard claims that hold."""
        return Share(self.hard - len(self.failed), self.hard)

    @property
    def near(self) -> list[int]:
        """How many printed cells are within 5, 10 and 25 %."""
        return [sum(error <= bound for error in self.errors) for bound in NEAR]

    @property
    def error(self) -> float:
        """The mean error of the printed cells; NaN if the paper prints no table."""
        return math.fsum(self.errors) / len(self.errors) if self.errors else math.nan

    @property
    def cells(self) -> list[str]:
        """As a row of the first table, by `COLUMNS`."""
        return [
            *map(_of, (self.held, self.sentences)),
            str(self.in_part) if self.sentences else NOTHING,
            *map(_of, (self.telling, self.refereed, self.added)),
            _of(self.soft) + (f", {self.soft_undecided} undecided" if self.soft and self.soft_undecided else ""),
            str(self.undecided),
        ]


def _of(found: Share | None) -> str:
    return f"{found.held} of {found.of}" if found and found.of else NOTHING


def total(tallies: Iterable[Tally]) -> Tally:
    """Of several papers; a share that one of them lacks has no total."""
    listed = list(tallies)
    sums = {key: sum(getattr(one, key) for one in listed) for key in COUNTS}
    shares = {key: [getattr(one, key) for one in listed] for key in SHARES}
    whole: dict[str, Any] = {k: Share(*map(sum, zip(*x, strict=True))) for k, x in shares.items() if None not in x}
    failed = tuple(name for one in listed for name in one.failed)
    return Tally("in all", 0, "", 0, failed=failed, errors=(), **sums, **whole)


def error(measured: float | None, printed: float) -> float | None:
    """A cell's relative error, at most 1; None of a cell whose printed number is 0."""
    if not printed:
        return None
    return WORST if measured is None else min(WORST, abs(measured / printed - 1))


def of(paper: Paper, records: Iterable[Record], setting: str, seed: int, date: str = "") -> Tally:
    """Of a paper's records under one setting."""
    listed, criteria = list(records), paper.criteria()
    verdicts = {(r.study, r.claim): r.verdict for r in listed}
    hard, soft = ([r for r in listed if r.kind == kind and not r.added] for kind in ("hard", "soft"))
    held = [r for r in hard if r.verdict == REPRODUCED]
    found = {(r.study, r.claim): r.estimates[0].mean for r in listed if r.estimates}
    cells = [(c.study, c.criterion.claim, c.published) for c in criteria.cells]
    errors = [error(found[study, claim], printed) for study, claim, printed in cells if (study, claim) in found]
    said = sentences.counted(sentences.load(paper.directory), criteria, verdicts)
    told = [r for r in held if r.tells is not None]
    return Tally(
        setting,
        seed,
        date,
        max((r.seeds for r in hard), default=0),
        len(hard),
        sum(r.verdict == UNDECIDED for r in hard),
        tuple(r.name for r in hard if r.verdict != REPRODUCED),
        tuple(float(f"{e:.4g}") for e in errors if e is not None),
        Share(*referee.held(listed)),
        Share(said[HOLDS], sum(said.values())) if any(said.values()) else None,
        said[IN_PART],
        Share(sum(r.tells is True for r in told), len(held)) if told else None,
        share(r for r in listed if r.added and r.kind == "hard"),
        share(soft),
        sum(r.verdict == UNDECIDED for r in soft),
    )


def share(records: Iterable[Record]) -> Share:
    """How many hold."""
    verdicts = [r.verdict for r in records]
    return Share(verdicts.count(REPRODUCED), len(verdicts))


def read(paper: Paper) -> dict[tuple[str, int], Tally]:
    """Those kept, by setting and base seed."""
    return {(one.setting, one.seed): one for one in (_read(**line) for line in recorded(paper, "settings"))}


def _read(failed: list[str], errors: list[float], **rest: Any) -> Tally:
    shares = {key: Share(*rest.pop(key)) for key in SHARES if rest[key]}
    return Tally(failed=tuple(failed), errors=tuple(errors), **{**rest, **shares})


def write(paper: Paper, tallies: Iterable[Tally]) -> None:
    """A line for each setting and base seed."""
    lines = [json.dumps(asdict(one), allow_nan=False) for one in sorted(tallies, key=lambda one: one.seed)]
    files.write(paper.directory / KEPT, "".join(f"{line}\n" for line in lines))
