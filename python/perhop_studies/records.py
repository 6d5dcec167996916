"""Records of `results.json`: a finding against its criterion, in the words of the reproduction contract."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from perhop import files, stats
from perhop_studies.criteria import Criterion
from perhop_studies.verdict import NOT_REPRODUCED, REPORTED, REPRODUCED, UNDECIDED, Finding, Row

DIGITS = 6
"""Significant digits in the file."""

KEYS = (
    *("study", "claim", "kind", "criterion", "published", "measured", "ci95", "seeds", "verdict", "note"),
    *("referee", "setting", "sentence", "tells", "added", "in_sample"),
)
"""Of a record in the file."""


class Estimate(NamedTuple):
    """What was measured for one condition."""

    mean: float | None
    span: tuple[float, float] | None
    """The 95 % interval; None if there is none."""


@dataclass(frozen=True)
class Refereed:
    """What a referee's line says beside a criterion, and what it found."""

    change: str
    criterion: str
    words: str
    why: str
    known: bool
    verdict: str | None
    """None of a criterion that does not count."""
    measured: list[float | None] | None
    note: str


@dataclass(frozen=True)
class Record:
    """One criterion, or one printed cell, and what was found; in the file `estimates` are `measured` and `ci95`."""

    study: str
    claim: str
    kind: str
    criterion: str
    published: float | list[float] | None
    estimates: tuple[Estimate, ...]
    """One for each condition."""
    seeds: int
    verdict: str
    note: str
    referee: Refereed | None = None
    setting: str = ""
    sentence: str = ""
    """Of the paper, which it was drawn from."""
    tells: bool | None = None
    """Whether a mutant of its mechanism fails it; None if none was tried."""
    added: bool = False
    """Whether it was added after results were known."""
    in_sample: bool = False
    """Whether it is judged by runs that chose an answer to what the paper leaves open: a fit, no prediction."""
    table: Sequence[Row] | None = None
    """Rows in the place of the conditions' means."""

    @property
    def name(self) -> str:
        """`study/claim`."""
        return f"{self.study}/{self.claim}"


def record(criterion: Criterion, finding: Finding, why: str = "") -> Record:
    """One record; `why` is kept if the claim is not reproduced."""
    verdict = REPORTED if criterion.kind == "report" else finding.verdict
    parts = "; ".join(map(str, finding.parts))
    note = [criterion.where, parts, finding.note, why if verdict == NOT_REPRODUCED else ""]
    text = " ".join(text.rstrip(".") + "." for text in note if text)
    found = tuple(_estimate(part.interval) for part in finding.parts)
    table = None if finding.table is None else [_row(row) for row in finding.table]
    return Record(*_of(criterion), found, finding.replications, verdict, text, table=table)


def cell_record(criterion: Criterion, found: stats.Interval) -> Record:
    """One printed table cell and what was measured."""
    by = found.mean / criterion.published if criterion.published else math.nan
    where = f"{criterion.where}; " if criterion.at else ""
    return Record(*_of(criterion), (_estimate(found),), found.n, REPORTED, f"{where}measured/published {by:.2f}.")


def _of(stated: Criterion) -> tuple[str, str, str, str, float | list[float] | None]:
    return stated.study, stated.claim, stated.kind, stated.text, stated.published


def rounded(value: float) -> float | None:
    """To six significant digits; None if not a number."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _estimate(found: stats.Interval) -> Estimate:
    low, high = rounded(found.low), rounded(found.high)
    return Estimate(rounded(found.mean), None if low is None or high is None else (low, high))


def write(path: Path, records: Iterable[Record]) -> None:
    """As JSON, one record per line."""
    lines = ",\n".join(json.dumps(_stated(one), ensure_ascii=False, allow_nan=False) for one in records)
    files.write(path, f"[\n{lines}\n]\n")


def _stated(one: Record) -> dict[str, object]:
    """As in the file: of a single condition the number alone."""
    means, spans = [found.mean for found in one.estimates], [found.span for found in one.estimates]
    single = len(means) == 1
    measured = one.table if one.table is not None else means[0] if single else means
    stated = {**asdict(one), "measured": measured, "ci95": (spans[0] if single else spans) if spans else None}
    return {key: stated[key] for key in KEYS}


def _row(row: Row) -> Row:
    return {key: [*map(_cell, x)] if isinstance(x, list) else _cell(x) for key, x in row.items()}


def _cell(value: object) -> object:
    return rounded(value) if isinstance(value, float) else value


def read(path: Path) -> list[Record]:
    """The records of a file."""
    return [_read(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _read(measured: Any, ci95: Any, referee: Any, **rest: Any) -> Record:
    table = measured if isinstance(measured, list) and measured and isinstance(measured[0], dict) else None
    single = not isinstance(measured, list) or (table is not None and ci95 and isinstance(ci95[0], float))
    spans = [tuple(span) if span else None for span in ([ci95] if single else ci95 or ())]
    means = [None] * len(spans) if table else [measured] if single else measured
    found = tuple(map(Estimate, means, spans))
    return Record(estimates=found, referee=Refereed(**referee) if referee else None, table=table, **rest)


def overall(records: Iterable[Record]) -> str:
    """The verdict of hard and soft lines: `reproduced`, `quantitatively reproduced`, or what the hard lines lack.

    Without a hard line nothing is judged: `reported`. Added lines decide only where there are no others.
    """
    listed = list(records)
    listed = [r for r in listed if not r.added] if any(r.kind == "hard" and not r.added for r in listed) else listed
    hard, soft = ([r.verdict for r in listed if r.kind == kind] for kind in ("hard", "soft"))
    if not hard:
        return REPORTED
    lacking = next((verdict for verdict in (NOT_REPRODUCED, UNDECIDED) if verdict in hard), None)
    return lacking or ("quantitatively reproduced" if all(v == REPRODUCED for v in soft) else REPRODUCED)
