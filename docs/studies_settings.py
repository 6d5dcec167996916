"""Keeps the scores of a full run: `studies/<paper>/last.toml` of each setting in a `results.json`.

$ perhop reproduce all --setting all --seeds 10
$ python docs/studies_settings.py reproduction/results.json
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from perhop.studies import PAPERS, paper, score


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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
