"""Decisions and the code they concern name each other; the index has each once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/decisions"
INDEX = FOLDER / "index.md"
DECISIONS = sorted(set(FOLDER.glob("*.md")) - {INDEX})
CODE = ("crates", "python", "lab", "scripts", "site", "tests")
NAMED = re.compile(r"docs/decisions/([\w-]+)\.md")
LINKED = re.compile(r"decisions/([\w-]+)\.md\)")


def code() -> list[Path]:
    """Sources that people write, but for this test."""
    files = (path for folder in CODE for end in ("rs", "py", "sh") for path in (ROOT / folder).rglob(f"*.{end}"))
    return [path for path in files if "target" not in path.parts and path != Path(__file__)]


def pages() -> list[Path]:
    """Pages outside the folder of decisions that people write."""
    inside = (path for path in (ROOT / "docs").rglob("*.md") if FOLDER not in path.parents)
    return [*inside, *ROOT.glob("*.md")]


def test_every_decision_that_code_names_exists() -> None:
    names = {path.stem for path in DECISIONS}
    found = [(path, name) for path in code() for name in NAMED.findall(path.read_text(encoding="utf-8"))]
    assert len(found) > 100
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in found if name not in names] == []


def test_every_decision_is_named_by_code_or_by_a_page() -> None:
    by_code = {name for path in code() for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    by_page = {name for path in pages() for name in LINKED.findall(path.read_text(encoding="utf-8"))}
    assert [path.stem for path in DECISIONS if path.stem not in by_code | by_page] == []


def test_the_index_has_each_decision_once_under_its_title() -> None:
    rows = re.findall(r"^- \[(\d{3})\]\(([\w-]+\.md)\) (.+)$", INDEX.read_text(encoding="utf-8"), re.MULTILINE)
    headings = [(path, path.read_text(encoding="utf-8").splitlines()[0]) for path in DECISIONS]
    assert sorted(rows, key=lambda row: row[0]) == [
        (path.name[:3], path.name, heading.removeprefix(f"# {int(path.name[:3])}. ")) for path, heading in headings
    ]
