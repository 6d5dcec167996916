"""Records of `results.json`: a finding against its criterion, in the words of the reproduction contract."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from perhop import files, stats
from perhop_studies.criteria import Criterion
from perhop_studies.verdict import REPORTED, VERDICTS, Finding

Record = dict[str, Any]

DIGITS = 6
"""Significant digits in the file."""

KEYS = (
    "study",
    "claim",
    "kind",
    "criterion",
    "published",
    "measured",
    "ci95",
    "seeds",
    "verdict",
    "note",
    "referee",
    "setting",
)


def record(criterion: Criterion, finding: Finding, tried: str = "") -> Record:
    """One record; `tried` has the results of other readings, kept if the claim is not reproduced."""
    verdict = REPORTED if criterion.kind == "report" else finding.verdict
    spans = [_span(part.interval) for part in finding.parts]
    means = [rounded(part.interval.mean) for part in finding.parts]
    single = len(means) == 1
    note = [criterion.where, _parts(finding), finding.note, tried if verdict == "not reproduced" else ""]
    return {
        "study": criterion.study,
        "claim": criterion.claim,
        "kind": criterion.kind,
        "criterion": criterion.text,
        "published": criterion.published,
        "measured": rounded(finding.table) if finding.table is not None else means[0] if single else means,
        "ci95": None if not spans else spans[0] if single else spans,
        "seeds": finding.replications,
        "verdict": verdict,
        "note": " ".join(text.rstrip(".") + "." for text in note if text),
    }


def cell_record(criterion: Criterion, found: stats.Interval) -> Record:
    """One printed table cell and what was measured."""
    by = found.mean / criterion.published if criterion.published else math.nan
    where = f"{criterion.where}; " if criterion.at else ""
    return {
        "study": criterion.study,
        "claim": criterion.claim,
        "kind": criterion.kind,
        "criterion": criterion.text,
        "published": criterion.published,
        "measured": rounded(found.mean),
        "ci95": _span(found),
        "seeds": found.n,
        "verdict": REPORTED,
        "note": f"{where}measured/published {by:.2f}.",
    }


def rounded(value: Any) -> Any:
    """To six significant digits; null if not a number."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def _span(found: stats.Interval) -> list[float] | None:
    return None if math.isnan(found.low) else rounded([found.low, found.high])


def _parts(finding: Finding) -> str:
    return "; ".join(map(str, finding.parts))


def write(path: Path, records: list[Record]) -> None:
    """As JSON, one record per line."""
    lines = ",\n".join(json.dumps(r, ensure_ascii=False, allow_nan=False) for r in records)
    files.write(path, f"[\n{lines}\n]\n")


def counts(records: Iterable[Record]) -> dict[str, Counter[str]]:
    """Verdicts by kind."""
    found = {kind: Counter(dict.fromkeys(VERDICTS, 0)) for kind in ("hard", "soft", "report")}
    for entry in records:
        found[entry["kind"]][entry["verdict"]] += 1
    return found


def overall(records: Iterable[Record]) -> str:
    """The verdict of hard and soft lines: `reproduced`, `quantitatively reproduced`, or what the hard lines lack.

    Without a hard line nothing is judged: `reported`.
    """
    listed = list(records)
    hard, soft = ([r["verdict"] for r in listed if r["kind"] == kind] for kind in ("hard", "soft"))
    if not hard:
        return REPORTED
    if "not reproduced" in hard:
        return "not reproduced"
    if "undecided" in hard:
        return "undecided"
    return "quantitatively reproduced" if all(v == "reproduced" for v in soft) else "reproduced"
