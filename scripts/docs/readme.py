"""Fills what a reproduction says on the first pages: `python scripts/docs/readme.py [reproduction]`.

- README.md: the first line of the head-line, and docs/reports/figures/sentences.svg, the sentences of each paper.
- docs/reports/studies/index.md: the counts of the claims.
- docs/reports/studies/pam-fsam.md: with a reproduction, the table of Fig. 2 and the figures of that run.

Sentences and counts are those of the last full run of each paper (`python/perhop_studies/*/records/settings.jsonl`).
"""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from pathlib import Path

from matplotlib.figure import Figure

from perhop.plots import style
from perhop_studies import headline, tally
from perhop_studies.papers import PAPERS
from perhop_studies.records import Record, read
from perhop_studies.settings import FROZEN
from perhop_studies.tally import Tally

ROOT = Path(__file__).resolve().parents[2]
README, INDEX = ROOT / "README.md", ROOT / "docs/reports/studies/index.md"
PAM = ROOT / "docs/reports/studies/pam-fsam.md"
FIGURES = ROOT / "docs/reports/figures"
SENTENCES = FIGURES / "sentences.svg"
COPIED = {"pf-fig2-shares.svg": "pf-fig2.svg", "pf-fig7.svg": "pf-fig7.svg"}
"""Figures of a reproduction, and their names on the pages."""
MARKERS = {"tokenbucket": "token bucket", "pam": "PAM", "f-sam": "F-SAM"}
FLOWS = {"tcp1": "TCP 1", "tcp2": "TCP 2", "udp": "UDP, 2 Mbit/s"}
STUDY = "pf-fig2"
SEED = 1
FATES = {"hold": "#009e73", "in part": "#e69f00", "do not": "#b0b0b0"}
"""What becomes of a sentence, and its colour."""


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


def fig2(records: list[Record]) -> str:
    """The green packets of Fig. 2, as Markdown."""
    cells = {(marker, flow): record_of(records, marker, flow) for marker in MARKERS for flow in FLOWS}
    (seeds,) = {record.seeds for record in cells.values()}
    lines = ["| green packets in 40 s | " + " | ".join(FLOWS.values()) + " |", "|---|" + "---:|" * len(FLOWS)]
    for marker, name in MARKERS.items():
        lines.append(f"| {name} | " + " | ".join(cell(cells[marker, flow]) for flow in FLOWS) + " |")
    return "\n".join([*lines, "", f"Mean ± 95 % interval over {seeds} seeds; the paper's figures in brackets."])


def tallies() -> dict[str, Tally]:
    """Of each paper in the frozen setting, by its name."""
    return {name: tally.read(paper)[FROZEN, SEED] for name, paper in PAPERS.items()}


def counts() -> str:
    """What each paper's claims come to as frozen, as Markdown."""
    rows = {**tallies(), "in all": tally.total(tallies().values())}
    lines = ["| paper | " + " | ".join(tally.COLUMNS) + " |", "|---|" + "---:|" * len(tally.COLUMNS)]
    return "\n".join([*lines, *(f"| {name} | " + " | ".join(one.cells) + " |" for name, one in rows.items())])


def first_line() -> str:
    """What becomes of all sentences, as the README has it."""
    return textwrap.fill(headline.kept(PAPERS.values(), FROZEN).lines[0] + ".", headline.WIDTH)


def fates(one: Tally) -> tuple[int, int, int]:
    """How many sentences of a paper hold, hold in part and do not, in the order of `FATES`."""
    if one.sentences is None:
        raise SystemExit("a paper without counted sentences: run `perhop reproduce` of it in full")
    held, of = one.sentences
    return held, one.in_part, of - held - one.in_part


def drawn(found: dict[str, Tally]) -> Figure:
    """A bar for each paper: its sentences that hold, hold in part, and do not."""
    with style.styled():
        figure, (axes,) = style.panels(1, height=2.0)
        names = [*found][::-1]
        left = [0] * len(names)
        for place, (fate, colour) in enumerate(FATES.items()):
            widths = [fates(found[name])[place] for name in names]
            bars = axes.barh(names, widths, left=left, color=colour, label=fate, height=0.7)
            axes.bar_label(bars, [str(width or "") for width in widths], label_type="center")
            left = [sum(pair) for pair in zip(left, widths, strict=True)]
        axes.set_xlabel("judged sentences")
        axes.legend(ncols=len(FATES), loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    return figure


def filled(page: str, name: str, block: str) -> str:
    """A page with one of its blocks replaced: the text between `<!-- NAME: .. -->` and `<!-- end of NAME -->`."""
    begin, end = f"<!-- {name}: scripts/docs/readme.py -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{block}\n\n{end}{after}"


def fill(path: Path, name: str, block: str) -> None:
    """Writes one of a page's blocks."""
    path.write_text(filled(path.read_text(encoding="utf-8"), name, block), encoding="utf-8")


def main(reproduction: Path | None) -> None:
    """The counts of the records; table and figures of one reproduction."""
    fill(README, "headline", first_line())
    fill(INDEX, "counts", counts())
    style.save(drawn(tallies()), SENTENCES)
    if reproduction:
        fill(PAM, "fig2", fig2(read(reproduction / "results.json")))
        for figure, name in COPIED.items():
            shutil.copyfile(reproduction / "figures" / figure, FIGURES / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
