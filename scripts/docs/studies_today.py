"""Writes the answers of docs/reports/today.md from a reproduction: `python scripts/docs/studies_today.py reproduction`.

The block between the two markers is rewritten; the heat maps are copied from the reproduction.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from textwrap import wrap

from perhop_studies.papers import paper
from perhop_studies.records import Record, read
from perhop_studies.report import why
from perhop_studies.today.answers import ANSWERS
from perhop_studies.today.figures import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reports/today.md"
BEGIN, END = "<!-- answers: scripts/docs/studies_today.py -->\n", "<!-- end of answers -->\n"
PARTS = {"surprise": "## Three surprises", "use": "## What to use today"}

WIDTH = 120


def answers(records: list[Record]) -> str:
    """Each with its cells, as Markdown."""
    criteria = paper("today").criteria().of(ANSWERS.id)
    lines: list[str] = []
    for part, heading in PARTS.items():
        lines += [heading, ""]
        for criterion in (c for c in criteria if c.claim.startswith(part)):
            (record,) = [r for r in records if (r.study, r.claim) == (ANSWERS.id, criterion.claim)]
            lines += [f"### {criterion.text}", "", *wrap(why(criterion, record), WIDTH), "", *_cells(record), ""]
    return "\n".join(lines)


def _cells(record: Record) -> list[str]:
    """What was measured, and the bound it was held against."""
    rows = [part.rpartition(": ") for part in record.note.removesuffix(".").split("; ")]
    found = [(bound, *value.rsplit(" ", 1)) for bound, _, value in rows]
    return ["| cell | mean and 95 % interval | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in found)]


def main(reproduction: Path) -> None:
    """The page and its figures of one reproduction."""
    records = read(reproduction / "results.json")
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(before + BEGIN + "\n" + answers(records) + END + after)
    for name in (q.id for q in QUESTIONS if f"figures/{q.id}.png" in after):
        shutil.copy(reproduction / "figures" / f"{name}.png", ROOT / "docs/reports/figures")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
