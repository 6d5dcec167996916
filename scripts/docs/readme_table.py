"""Fills the tables of README.md: `python scripts/docs/readme_table.py [reproduction]`.

The counts are those of the last full run of each paper (`studies/*/records/settings.jsonl`). With a reproduction, the
table of Fig. 2 is that of its run, and the figures are copied from there.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
from pathlib import Path

from perhop_studies import headline, tally
from perhop_studies.papers import PAPERS
from perhop_studies.records import Record, read
from perhop_studies.settings import FROZEN

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- table: scripts/docs/readme_table.py -->\n", "<!-- end of table -->\n"
COUNTS = "<!-- counts: scripts/docs/readme_table.py -->\n", "<!-- end of counts -->\n"
HEADLINE = "<!-- headline: scripts/docs/readme_table.py -->\n", "<!-- end of headline -->\n"
SHORT = r"\d+ of their sentences judged: \d+ hold, \d+ in part, \d+ do not"
"""In the list of the first screen."""
MARKERS = {"tokenbucket": "token bucket", "pam": "PAM", "f-sam": "F-SAM"}
FLOWS = {"tcp1": "TCP 1", "tcp2": "TCP 2", "udp": "UDP, 2 Mbit/s"}
STUDY = "pf-fig2"
FIGURES = {"pf-fig2-shares.svg": "pf-fig2.svg", "pf-fig7.svg": "pf-fig7.svg"}
SEED = 1


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


def counts() -> str:
    """What each paper's claims come to as frozen, as Markdown."""
    found = {name: tally.read(paper)[FROZEN, SEED] for name, paper in PAPERS.items()}
    rows = {**found, "in all": tally.total(found.values())}
    lines = ["| paper | " + " | ".join(tally.COLUMNS) + " |", "|---|" + "---:|" * len(tally.COLUMNS)]
    return "\n".join([*lines, *(f"| {name} | " + " | ".join(one.cells) + " |" for name, one in rows.items()), ""])


def filled(page: str, block: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with its block replaced."""
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return before + begin + "\n" + block + "\n" + end + after


def main(reproduction: Path | None) -> None:
    """Counts; table and figures of one reproduction."""
    readme = ROOT / "README.md"
    page = filled(readme.read_text(), counts(), *COUNTS)
    page = filled(page, headline.markdown(PAPERS.values()) + "\n", *HEADLINE)
    page = re.sub(SHORT, headline.kept(PAPERS.values(), FROZEN).short, page)
    if reproduction:
        page = filled(page, table(read(reproduction / "results.json")))
        for figure, name in FIGURES.items():
            shutil.copyfile(reproduction / "figures" / figure, ROOT / "docs/reports/figures" / name)
    readme.write_text(page)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
