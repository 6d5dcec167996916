"""The rule that chose answers of PAM and F-SAM: on the rows that are kept, and on planted ones."""

from __future__ import annotations

import json
from typing import Any

from perhop_studies.pam_fsam import answers
from perhop_studies.pam_fsam.terms import FSAM, PAM, TB
from perhop_studies.papers import paper

PAPER = paper("pam-fsam")
ROWS = [json.loads(line) for line in (PAPER.directory / "records/grid.jsonl").read_text().splitlines()]
PRINTED = answers.printed_totals(PAPER)


def test_the_rule_takes_what_is_frozen() -> None:
    readings = PAPER.readings()
    assert len(ROWS) == 2 + 2 * 4 * 3 + 2 * 5 * 4
    assert answers.chosen(ROWS, PRINTED) == {name: readings[name].frozen for name in ("a1", "a2", "a3", "a5", "a7")}


def row(marker: str, errors: float, broken: tuple[str, ...] = (), total: float = 100, **taken: str) -> dict[str, Any]:
    return {"marker": marker, "a1": "bits", "errors": errors, "in_total": total, "broken": broken, **taken}


def test_the_unit_comes_first_then_what_is_sound_then_the_least_weight_and_error() -> None:
    rows = [
        row(TB, 0.5),
        row(TB, 0.1, total=200, a1="bytes"),
        row(PAM, 0.0, ("forced",), a2="0.002", a3="1"),
        row(PAM, 0.3, a2="0.02", a3="1"),
        row(PAM, 0.2, a2="0.02", a3="0.8"),
        row(PAM, 0.1, a2="1", a3="1"),
        row(FSAM, 0.2, a5="x", a7="p"),
        row(FSAM, 0.1, a5="y", a7="q"),
    ]
    taken = answers.chosen(rows, dict.fromkeys(answers.GRID, 110.0))
    assert taken == {"a1": "bits", "a2": "0.02", "a3": "0.8", "a5": "y", "a7": "q"}
