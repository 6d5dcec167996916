"""Keeps the counts of full runs, `records/settings.jsonl` of each paper, and fills docs/reports/studies/settings.md.

$ perhop reproduce all --setting all
$ python scripts/docs/studies_settings.py reproduction/results.json

A run with another base seed is kept beside it:

$ perhop reproduce all --setting all --seed 2
$ python scripts/docs/studies_settings.py reproduction/results.json 2

Without a file it writes the head-line and the tables, and the words of docs/reports/studies/index.md.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from perhop_studies import headline, tally, trying
from perhop_studies.papers import PAPERS
from perhop_studies.records import read
from perhop_studies.report import WORDS
from perhop_studies.settings import NAMES
from perhop_studies.tally import COLUMNS, NOTHING, Tally

STUDIES = Path(__file__).parents[2] / "docs/reports/studies"
PAGE, INDEX = STUDIES / "settings.md", STUDIES / "index.md"
SEEDS = (1, 2, 3)
"""Base seeds; no choice of a setting has used the second and the third."""
WIDTH = 128
Tallies = dict[str, dict[tuple[str, int], Tally]]
"""By paper, then by setting and base seed."""


def keep(results: Path, seed: int) -> None:
    """Updates the file of each paper of which every study was run."""
    records, date = read(results), datetime.fromtimestamp(results.stat().st_mtime, UTC).strftime("%Y-%m-%d")
    for name, paper in PAPERS.items():
        found, ids = tally.read(paper), {study.id for study in paper.studies}
        for setting in paper.settings():
            mine = [r for r in records if r.study in ids and r.setting == setting]
            if {r.study for r in mine} == ids:
                found[setting, seed] = tally.of(paper, mine, setting, seed, date)
                print(f"{name}, {setting}, seed {seed}: {'{} of {}'.format(*found[setting, seed].held)}")
        tally.write(paper, found.values())


def page(text: str) -> str:
    """The page with new tables."""
    kept = {name: tally.read(paper) for name, paper in PAPERS.items()}
    made = {"counts": counts_table, "anywhere": anywhere_table, "cells": cells_table, "seeds": seeds_table}
    for name, table in ((name, make(kept)) for name, make in made.items()):
        text = _between(text, name, table)
    return _between(text, "headline", headline.markdown(PAPERS.values()))


def index(text: str) -> str:
    """The page with the words."""
    lines = (f"- **{word}**: {says}." for word, says in WORDS.items())
    fill = textwrap.TextWrapper(WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False).fill
    text = _between(text, "headline", headline.markdown(PAPERS.values()))
    return _between(text, "words", "\n".join(map(fill, lines)))


def _between(text: str, name: str, block: str) -> str:
    begin, end = f"<!-- {name}: scripts/docs/studies_settings.py -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{block}\n\n{end}{rest.partition(end)[2]}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def counts_table(kept: Tallies) -> str:
    """What the claims come to in every setting, with the first base seed."""
    rows = [[name, one.setting, *one.cells] for name, found in kept.items() for one in found.values() if one.seed == 1]
    for setting in NAMES:
        mine = [found[setting, 1] for found in kept.values() if (setting, 1) in found]
        if len(mine) == len(kept):
            rows.append(["in all", setting, *tally.total(mine).cells])
    return _table(("paper", "setting", *COLUMNS), rows)


def anywhere_table(kept: Tallies) -> str:
    """Hard claims that hold as frozen, in any setting, with any answer that was tried; and those that never do."""
    rows = []
    for name, found in kept.items():
        paper, frozen = PAPERS[name], found["frozen", 1]
        never = set(frozen.failed).intersection(*(one.failed for one in found.values() if one.seed == 1))
        nowhere = sorted(headline.nowhere(headline.Part(paper, frozen)))
        answers = sum(len(reading.others) for reading in paper.readings().values())
        held = [str(frozen.hard - len(failed)) for failed in (frozen.failed, never, nowhere)]
        tried = f"{trying.answers(paper)} of {answers}"
        rows.append([name, *held, str(frozen.hard), tried, ", ".join(f"`{one}`" for one in nowhere) or NOTHING])
    return _table(("paper", "frozen", "any setting", "any answer too", "of", "answers tried", "hold in none"), rows)


def cells_table(kept: Tallies) -> str:
    """How near the printed cells are."""
    rows = [
        [name, one.setting, str(len(one.errors)), ", ".join(map(str, one.near)), f"{100 * one.error:.1f} %"]
        for name, found in kept.items()
        for one in found.values()
        if one.seed == 1 and one.errors
    ]
    return _table(("paper", "setting", "printed cells", "within 5, 10, 25 %", "mean error"), rows)


def seeds_table(kept: Tallies) -> str:
    """Every setting with every base seed: hard claims that hold, and those whose verdict differs from the first's."""
    names = [(name, setting) for name, paper in PAPERS.items() for setting in paper.settings()]
    rows = [[name, setting, *(_held(kept[name], setting, seed) for seed in SEEDS)] for name, setting in names]
    for setting in (one for one in NAMES if all((name, one) in names for name in PAPERS)):
        rows.append(["in all", setting, *(_sum(list(kept.values()), setting, seed) for seed in SEEDS)])
    table = _table(("paper", "setting", *(f"base seed {seed}" for seed in SEEDS)), rows)
    return f"{table}\n\n{moved(kept)}"


def _sum(papers: list[dict[tuple[str, int], Tally]], setting: str, seed: int) -> str:
    """Of all papers, if each was run."""
    listed = [one[setting, seed] for one in papers if (setting, seed) in one]
    return str(sum(one.held.held for one in listed)) if len(listed) == len(papers) else NOTHING


def _held(found: dict[tuple[str, int], Tally], setting: str, seed: int) -> str:
    one, first = found.get((setting, seed)), found.get((setting, 1))
    if one is None or first is None:
        return NOTHING
    return str(one.held.held) if one is first else differing(first, one)


def differing(first: Tally, other: Tally) -> str:
    """How many hold, and what holds now (+) or no longer (-)."""
    gone, come = ({*a.failed} - {*b.failed} for a, b in ((other, first), (first, other)))
    named = [f"+ `{claim}`" for claim in sorted(come)] + [f"- `{claim}`" for claim in sorted(gone)]
    return f"{other.held.held}" + (": " + ", ".join(named) if named else "")


def _pairs(kept: Tallies) -> Iterable[tuple[str, Tally, Tally]]:
    """What is compared: its name, with the first base seed and with another."""
    for name, found in kept.items():
        for (setting, seed), one in found.items():
            if seed > 1:
                yield f"{name}, `{setting}`, base seed {seed}", found[setting, 1], one


def moved(kept: Tallies) -> str:
    """By how much a setting's count moves, and how many verdicts change, at most; in a sentence."""
    pairs = list(_pairs(kept))
    counts = [(abs(a.held.held - b.held.held), where) for where, a, b in pairs]
    verdicts = [(len({*a.failed} ^ {*b.failed}), where) for where, a, b in pairs]
    (most, where), (changed, there) = max(counts, default=(0, "")), max(verdicts, default=(0, ""))
    return "\n".join(
        textwrap.wrap(
            f"Against base seed 1 a setting's count moves by {most} at most ({where}), and at most {changed} verdicts "
            f"change ({there}); of {len(pairs)} runs with another base seed.",
            WIDTH,
        )
    )


def main(arguments: list[str]) -> None:
    """Keeps a run, if one is given, and writes the pages."""
    if arguments:
        keep(Path(arguments[0]), *map(int, arguments[1:] or ["1"]))
    for path, make in ((PAGE, page), (INDEX, index)):
        path.write_text(make(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
