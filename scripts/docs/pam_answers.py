"""Runs the grid that chose answers of PAM and F-SAM, and prints what the rule takes.

$ python scripts/docs/pam_answers.py
"""

from __future__ import annotations

import json

from perhop import files
from perhop.progress import say
from perhop_studies.pam_fsam import answers
from perhop_studies.papers import paper
from perhop_studies.runs import Budget

RECORD = "records/grid.jsonl"


def main() -> None:
    """Writes python/perhop_studies/pam_fsam/records/grid.jsonl."""
    found = paper("pam-fsam")
    rows = list(answers.grid(found, Budget(seeds=answers.DRAWS), say))
    files.write(found.directory / RECORD, "".join(f"{json.dumps(row)}\n" for row in rows))
    print(answers.chosen(rows, answers.printed_totals(found)))


if __name__ == "__main__":
    main()
