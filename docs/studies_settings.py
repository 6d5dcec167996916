"""Keeps the scores of full runs: `studies/<paper>/records/last.toml`, and the tables of docs/studies/settings.md.

$ perhop reproduce all --setting all
$ python docs/studies_settings.py reproduction/results.json

A run with another base seed is kept beside it, `studies/<paper>/records/last-seed-2.toml`:

$ perhop reproduce all --setting all --seed 2
$ python docs/studies_settings.py reproduction/results.json 2
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from perhop_studies import score
from perhop_studies.papers import PAPERS, paper
from perhop_studies.records import read
from perhop_studies.score import Score
from perhop_studies.settings import ERA, FROZEN, KINDEST

PAGE = Path(__file__).parent / "studies/settings.md"
SEEDS = (2, 3)
"""Base seeds that no choice of a setting has used."""


def main(results: Path, seed: int = 1) -> None:
    """Updates the file of each paper of which every study was run."""
    records = read(results)
    date = datetime.fromtimestamp(results.stat().st_mtime, UTC).strftime("%Y-%m-%d")
    for name in PAPERS:
        found, path = paper(name), kept(name, seed)
        scores = score.read(path)
        ids = {study.id for study in found.studies}
        for setting in found.settings():
            mine = [r for r in records if r.study in ids and r.setting == setting]
            if {r.study for r in mine} == ids:
                scores[setting] = score.of(mine, found.criteria().cells, date)
        if scores:
            path.write_text(score.text(name, scores), encoding="utf-8")
            print(f"{name}: " + ", ".join(f"{s} {of.held} of {of.hard}" for s, of in scores.items()))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def kept(name: str, seed: int) -> Path:
    """Where a paper's scores with a base seed are."""
    return paper(name).directory / (score.LAST if seed == 1 else f"records/last-seed-{seed}.toml")


def page(text: str) -> str:
    """The page with new tables."""
    for name, table in {"scores": scores_table(), "seeds": seeds_table()}.items():
        begin, end = f"<!-- {name}: docs/studies_settings.py -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table}\n\n{end}{rest.partition(end)[2]}"
    return text


def scores_table() -> str:
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


def seeds_table() -> str:
    """Settings with base seeds that none has used: hard claims that hold, and those whose verdict differs."""
    lines = ["| paper | setting | seed 1 | " + " | ".join(f"seed {seed}" for seed in SEEDS) + " |"]
    lines.append("|---" * (3 + len(SEEDS)) + "|")
    found = {name: [score.read(kept(name, seed)) for seed in (1, *SEEDS)] for name in PAPERS}
    for name, (firsts, *again) in found.items():
        for setting, first in firsts.items():
            cells = [_differing(first, one[setting]) if setting in one else "-" for one in again]
            lines.append(f"| {name} | {setting} | {first.held} | " + " | ".join(cells) + " |")
    for setting in (FROZEN, ERA, KINDEST):
        sums = [_sum([one[i] for one in found.values()], setting) for i in range(1 + len(SEEDS))]
        lines.append(f"| in all | {setting} | " + " | ".join(sums) + " |")
    return "\n".join(lines)


def _sum(papers: list[dict[str, Score]], setting: str) -> str:
    """Of all papers, if each was run."""
    return str(sum(one[setting].held for one in papers)) if all(setting in one for one in papers) else "-"


def _differing(first: Score, other: Score) -> str:
    """How many hold, and what holds now (+) or no longer (-)."""
    gone, come = ({*a.failed} - {*b.failed} for a, b in ((other, first), (first, other)))
    named = [f"+ `{claim}`" for claim in sorted(come)] + [f"- `{claim}`" for claim in sorted(gone)]
    return f"{other.held}" + (": " + ", ".join(named) if named else "")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
