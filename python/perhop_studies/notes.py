"""Why a claim that is not reproduced fails: `studies/<paper>/notes.toml`, and under which other answers it holds.

A note is a text by `"study/claim"`, without grid point. What the run measures is taken from it: `{LABEL}` is the part
of the claim with that label (stars match any text; of several parts the least and the largest are given), and
`{LABEL|%}` is in per cent.

    "pps-tab1/ratios" = "A+C+D is {*A+C+D*|%} of the link. With ns-2's wait_ it holds"
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from perhop_studies.criteria import Criterion
from perhop_studies.verdict import Finding, number

WHY = "notes.toml"
_MEASURED = re.compile(r"\{([^{}|]+)(\|%)?\}")


@dataclass(frozen=True)
class Notes:
    """Those of a paper."""

    path: Path
    why: dict[str, str]
    won_by: dict[str, list[str]]
    """By `study/claim`, the other answers with which it holds."""
    tried: int
    """How many other answers were tried."""

    def of(self, criterion: Criterion, finding: Finding) -> str:
        """The note of a claim that failed."""
        why = self.why.get(f"{criterion.study}/{criterion.rule}", "")
        return ". ".join(text for text in (self._measured(why, criterion, finding), self._tried(criterion)) if text)

    def _tried(self, criterion: Criterion) -> str:
        if not self.tried:
            return ""
        won = self.won_by.get(f"{criterion.study}/{criterion.claim}", [])
        of = f"of {self.tried} other answers, one at a time"
        return f"It holds with {len(won)} {of}: {'; '.join(won)}" if won else f"It holds with none {of}"

    def _measured(self, text: str, criterion: Criterion, finding: Finding) -> str:
        return _MEASURED.sub(lambda found: self._value(found, criterion, finding), text)

    def _value(self, found: re.Match[str], criterion: Criterion, finding: Finding) -> str:
        label, percent = found[1], found[2]
        means = [part.interval.mean for part in finding.parts if _bounded(part.name, label)]
        if not means:
            name, parts = f"{criterion.study}/{criterion.rule}", "; ".join(part.name for part in finding.parts)
            raise ValueError(f"{self.path}: {name}: nothing measured is called `{label}`: {parts}")
        scale, unit = (100, " %") if percent else (1, "")
        ends = dict.fromkeys(f"{scale * x:.3g}" if percent else number(x) for x in (min(means), max(means)))
        return " to ".join(ends) + unit


def _bounded(part: str, label: str) -> bool:
    """Whether a part, `LABEL >= 2`, has this label."""
    return any(fnmatchcase(part, f"{label}{rest}") for rest in ("", " [<>]*", " in *", ", not below *"))


def load(directory: Path, won_by: dict[str, list[str]], tried: int) -> Notes:
    """A paper's notes; none without the file."""
    path = directory / WHY
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return Notes(path, stated, won_by, tried)
