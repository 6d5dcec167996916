"""docs/index.md has each page once; studies, algorithms and decisions have indices that it names."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
INDEXED = ("reference/algorithms", "reports/studies", "reports/beside-linux/", "decisions")
"""Folders with an index."""


def pages() -> set[str]:
    """By their path below docs/."""
    found = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"index.md"}
    return {name for name in found if not name.startswith(INDEXED) or name.endswith("index.md")}


def test_the_entry_page_has_each_page_once() -> None:
    links = re.findall(r"\]\(([\w/-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8").split("## ", 1)[1])
    assert sorted(links) == sorted(pages())
