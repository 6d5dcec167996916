"""How a setting did: hard claims that hold, and how near its printed numbers are.

`studies/<paper>/records/last.toml` keeps the scores of the last full run of each setting, so that a report can show
those that it has not run, with their date.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import stats
from perhop_studies import referee
from perhop_studies.criteria import Cell
from perhop_studies.records import Record
from perhop_studies.settings import FROZEN, KINDEST
from perhop_studies.verdict import REPRODUCED, UNDECIDED

NEAR = (0.05, 0.10, 0.25)
WORST = 1.0
"""A cell's error counts as this at most: one that is far off does not hide the others."""
LAST = "records/last.toml"


@dataclass(frozen=True)
class Score:
    """Of one paper under one setting."""

    hard: int
    undecided: int
    failed: tuple[str, ...]
    """Hard claims that do not hold, undecided ones included: `study/claim`."""
    errors: tuple[float, ...]
    """Of each printed cell: |measured / printed - 1|, at most 1."""
    seeds: int
    """The most seeds of any claim."""
    date: str = ""
    """When it was run, if not now."""
    refereed: tuple[int, int] | None = None
    """Claims that hold as a referee, of those that count then; None if the referee was not asked."""

    @property
    def held(self) -> int:
        """Hard claims that hold."""
        return self.hard - len(self.failed)

    @property
    def cells(self) -> int:
        """How many numbers the paper prints in tables."""
        return len(self.errors)

    @property
    def near(self) -> list[int]:
        """How many of them are within 5, 10 and 25 %."""
        return [sum(error <= bound for error in self.errors) for bound in NEAR]

    @property
    def error(self) -> float:
        """The measure of nearness: the mean of the cells' errors; NaN if the paper prints no table."""
        return math.fsum(self.errors) / len(self.errors) if self.errors else math.nan


def nearest(scores: Mapping[str, Score]) -> str:
    """The setting that a report shows first: the nearest to the printed cells.

    Another setting takes the place of `frozen` if it is surely nearer: the 95 % t-interval of the differences of the
    cells' errors lies above zero. Of several the one with the least mean error; never one that was chosen by verdicts.
    """
    frozen = scores[FROZEN].errors
    others = {name: one.errors for name, one in scores.items() if name not in (FROZEN, KINDEST)}
    surely = {name: stats.mean(one) for name, one in others.items() if stats.paired(one, frozen).above(0)}
    return min(surely, key=surely.__getitem__, default=FROZEN)


def error(measured: float | None, printed: float) -> float | None:
    """A cell's relative error, at most 1; None of a cell whose printed number is 0."""
    if not printed:
        return None
    return WORST if measured is None else min(WORST, abs(measured / printed - 1))


def of(records: Iterable[Record], cells: Iterable[Cell], date: str = "") -> Score:
    """The score of a paper's records under one setting."""
    listed = list(records)
    hard = {r.name: r.verdict for r in listed if r.kind == "hard"}
    failed = tuple(name for name, verdict in hard.items() if verdict != REPRODUCED)
    printed = {(c.study, c.criterion.claim): c.published for c in cells}
    cells_of = ((r.estimates[0].mean, printed.get((r.study, r.claim), 0.0)) for r in listed if r.estimates)
    errors = tuple(e for measured, published in cells_of if (e := error(measured, published)) is not None)
    seeds = max((r.seeds for r in listed if r.kind == "hard"), default=0)
    undecided = list(hard.values()).count(UNDECIDED)
    return Score(len(hard), undecided, failed, errors, seeds, date, referee.held(listed))


def read(path: Path) -> dict[str, Score]:
    """The last scores by setting; none without the file."""
    stated: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: _score(**entry) for name, entry in stated.items()}


def _score(errors: list[float], failed: list[str], refereed: list[int] | None = None, **rest: Any) -> Score:
    asked = (refereed[0], refereed[1]) if refereed else None
    return Score(errors=tuple(errors), failed=tuple(failed), refereed=asked, **rest)


def text(paper: str, scores: Mapping[str, Score]) -> str:
    """The file's text."""
    lines = [f"# The last full run of each setting of {paper}, written by docs/studies_settings.py from results.json."]
    for name, score in scores.items():
        errors = ", ".join(f"{value:.4g}" for value in score.errors)
        lines += [
            f"\n[{name}]",
            f'date = "{score.date}"\nseeds = {score.seeds}\nhard = {score.hard}\nundecided = {score.undecided}',
            *([f"refereed = {list(score.refereed)}"] if score.refereed else []),
            "failed = [\n" + "".join(f'  "{name}",\n' for name in score.failed) + f"]\nerrors = [{errors}]",
        ]
    return "\n".join(lines) + "\n"
