"""`make` builds what is there, whether or not git knows it yet."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_new_file_is_built_before_git_knows_it(tmp_path: Path) -> None:
    shutil.copyfile(ROOT / "Makefile", tmp_path / "Makefile")
    (tmp_path / "crates").mkdir()
    for name in ("known.rs", "deleted.rs", "new.rs"):
        (tmp_path / "crates" / name).touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "crates/known.rs", "crates/deleted.rs"], cwd=tmp_path, check=True)
    (tmp_path / "crates/deleted.rs").unlink()
    printed = subprocess.run(["make", "-pn", "install"], cwd=tmp_path, capture_output=True, text=True, check=False)
    rule = next(line for line in printed.stdout.splitlines() if line.startswith(".venv/extension.stamp:"))
    assert {word for word in rule.split() if word.startswith("crates/")} == {"crates/known.rs", "crates/new.rs"}
