"""Keeps the scores of a full run: `studies/<paper>/last.toml`, and the table of docs/studies/settings.md.

$ perhop reproduce all --setting all --seeds 10
$ python docs/studies_settings.py reproduction/results.json
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from perhop.studies import PAPERS, paper, score

PAGE = Path(__file__).parent / "studies/settings.md"
BEGIN, END = "<!-- scores: docs/studies_settings.py -->\n", "<!-- end of scores -->\n"


def main(results: Path) -> None:
    """Updates the file of each paper of which every study was run."""
    records = json.loads(results.read_text(encoding="utf-8"))
    date = datetime.fromtimestamp(results.stat().st_mtime, UTC).strftime("%Y-%m-%d")
    for name in PAPERS:
        found, scores = paper(name), score.read(paper(name).directory / score.LAST)
        ids = {study.id for study in found.studies}
        for setting in found.settings():
            mine = [r for r in records if r["study"] in ids and r["setting"] == setting]
            if {r["study"] for r in mine} == ids:
                scores[setting] = score.of(mine, found.criteria().cells, date)
        if scores:
            (found.directory / score.LAST).write_text(score.text(name, scores), encoding="utf-8")
            print(f"{name}: " + ", ".join(f"{s} {of.held} of {of.hard}" for s, of in scores.items()))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def table() -> str:
    """Every setting that was run, as Markdown."""
    lines = [
        "| paper | setting | hard claims that hold | as a referee | printed cells | within 5, 10, 25 % | mean error |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in PAPERS:
        found = paper(name)
        for setting, of in score.read(found.directory / score.LAST).items():
            shown = f"**{setting}**" if found.settings()[setting].headline else setting
            near = ", ".join(map(str, of.near)) if of.cells else "-"
            error = f"{100 * of.error:.1f} %" if of.cells else "-"
            held = f"{of.held} of {of.hard}" + (f", {of.undecided} undecided" if of.undecided else "")
            refereed = "{} of {}".format(*of.refereed) if of.refereed else "-"
            lines.append(f"| {name} | {shown} | {held} | {refereed} | {of.cells or '-'} | {near} | {error} |")
    return "\n".join([*lines, "", "In bold what a report shows first."])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
