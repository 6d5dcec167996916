"""Fills the table of README.md from a reproduction: `python docs/readme_table.py reproduction`.

The block between the two markers is rewritten; the figure is copied from the reproduction.
"""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path

from perhop_studies.records import Record, read

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- table: docs/readme_table.py -->\n", "<!-- end of table -->\n"
MARKERS = {"tokenbucket": "token bucket", "pam": "PAM", "f-sam": "F-SAM"}
FLOWS = {"tcp1": "TCP 1", "tcp2": "TCP 2", "udp": "UDP, 2 Mbit/s"}
STUDY, FIGURE = "pf-fig2", "pf-fig2-shares.svg"


def record_of(records: list[Record], marker: str, flow: str) -> Record:
    """The record of a flow's green packets under a marker."""
    claim = f"cell-{marker}-{flow}-in"
    found = [r for r in records if (r.study, r.claim) == (STUDY, claim)]
    if len(found) != 1:
        raise SystemExit(f"results.json has {len(found)} records {STUDY} {claim}; run `make reproduce` first")
    return found[0]


def cell(record: Record) -> str:
    """`139 ± 32 (67)`: mean and half width over the seeds, then the paper's figure."""
    [(mean, span)] = record.estimates
    low, high = span or (math.nan, math.nan)
    return f"{mean:.0f} ± {(high - low) / 2:.0f} ({record.published})"


def table(records: list[Record]) -> str:
    """The rows, as Markdown."""
    cells = {(marker, flow): record_of(records, marker, flow) for marker in MARKERS for flow in FLOWS}
    (seeds,) = {record.seeds for record in cells.values()}
    lines = ["| green packets in 40 s | " + " | ".join(FLOWS.values()) + " |", "|---|" + "---:|" * len(FLOWS)]
    for marker, name in MARKERS.items():
        lines.append(f"| {name} | " + " | ".join(cell(cells[marker, flow]) for flow in FLOWS) + " |")
    lines += ["", f"Mean ± 95 % interval over {seeds} seeds; the paper's figures in brackets.", ""]
    return "\n".join(lines)


def filled(page: str, block: str) -> str:
    """The page with its block replaced."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n" + block + "\n" + END + after


def main(reproduction: Path) -> None:
    """Table and figure of one reproduction."""
    records = read(reproduction / "results.json")
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text(), table(records)))
    shutil.copyfile(reproduction / "figures" / FIGURE, ROOT / "docs/figures/pf-fig2.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "reproduction")
