"""Writes docs/reports/studies/known.md from python/perhop_studies/*/known.toml.

$ python scripts/docs/studies_known.py
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from perhop_studies import known, maps
from perhop_studies.papers import PAPERS, paper

PAGE = Path(__file__).parents[2] / "docs/reports/studies/known.md"
WIDTH = 128
HEAD = """# What is known now

Five papers of 2000 to 2003 proposed markers and queues for Differentiated Services. This page is for readers who have
not read them. It says what each paper proposes, whether the mechanism is worth using, and which claims hold widely,
which only in a corner of the parameters, and which nowhere near the paper's point. Verdicts are those of `perhop
reproduce all` in the frozen setting unless another is named ([settings](settings.md)). The report has a page for each
paper, with the maps named here (`perhop map --list`). `scripts/docs/studies_known.py` writes this page from
`python/perhop_studies/*/known.toml`.
"""


def text() -> str:
    """The page."""
    parts = [HEAD]
    for name in PAPERS:
        found = paper(name)
        page = known.load(found.directory / known.FILE, [one.id for one in maps.load(found)])
        if page:
            parts += [f"## {page.title}\n", *(_wrapped(line) for line in page.about)]
            parts += ["### What is worth using\n", *(_wrapped(line) for line in page.worth)]
            for heading, facts in page.facts.items():
                parts += [f"### {heading}\n", "".join(_item(fact) for fact in facts)]
    return "\n".join(parts)


def _wrapped(line: str, first: str = "", rest: str = "") -> str:
    return textwrap.fill(line, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) + "\n"


def _item(fact: known.Fact) -> str:
    return _wrapped(fact.text + (f" (map `{fact.map}`)" if fact.map else ""), "- ", "  ")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
