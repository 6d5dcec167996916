"""docs/explanation/architecture.md is true: each file it names exists, and has what is named behind it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/explanation/architecture.md"

#: `crates/.../port.rs` (`arrive`, `next`): a path, and names to be found there.
STEP = re.compile(r"`((?:crates|python|docs|tests)/[^`\s]+)`(?:\s+\((`[^)]*`[^)]*)\))?")
NAME = re.compile(r"`(\w+)`")


def definition(name: str) -> re.Pattern[str]:
    """What defines a name: in Rust, in Python, as a macro, or as a constant."""
    return re.compile(rf"\b(?:fn|struct|enum|trait|type|const|static|def|class|macro_rules!) {name}\b|^{name}\b", re.M)


def named() -> list[tuple[str, list[str]]]:
    """Each path of the page with the names behind it."""
    return [(path, NAME.findall(names)) for path, names in STEP.findall(PAGE.read_text(encoding="utf-8"))]


def test_each_file_exists() -> None:
    assert len(named()) > 40
    assert [path for path, _ in named() if not (ROOT / path).exists()] == []


def test_each_file_has_what_is_named() -> None:
    lacking = [
        f"{path}: {name}"
        for path, names in named()
        for name in names
        if not definition(name).search((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert lacking == []
