"""A crate has one binary of tests, and every file is a module of it: a file that no `mod` names would never run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT

FOLDERS = sorted(ROOT.glob("crates/*/tests/all"))


def forgotten(folder: Path) -> list[str]:
    """Files and folders below this one that their parent does not name."""
    return [str(file.relative_to(folder)) for file in sorted(folder.rglob("*.rs")) if not is_named(file, folder)]


def is_named(file: Path, root: Path) -> bool:
    """Whether a module declares this file; the root needs none."""
    own = file.parent if file.name == "mod.rs" else file
    parent = own.parent / ("main.rs" if own.parent == root else "mod.rs")
    declared = parent.is_file() and re.search(rf"^\s*(?:pub.*)?mod {own.stem};", parent.read_text(), re.MULTILINE)
    return bool(declared) or file == root / "main.rs"


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.parts[-3] for folder in FOLDERS])
def test_every_file_is_a_module(folder: Path) -> None:
    assert forgotten(folder) == []


def test_a_crate_has_one_binary_and_few_have_another() -> None:
    binaries = [*ROOT.glob("crates/*/tests/*.rs"), *ROOT.glob("crates/*/tests/*/main.rs")]
    assert len(binaries) <= len(FOLDERS) + 3


def test_a_forgotten_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    texts = {"main.rs": "mod a;\npub(crate) mod b;", "a/mod.rs": "mod c;", "a/c.rs": "", "a/d.rs": "", "b.rs": ""}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert forgotten(tmp_path) == ["a/d.rs"]
