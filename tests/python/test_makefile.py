"""`make` builds what is there, whether or not git knows it yet."""

from __future__ import annotations

import os
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


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("options", [[], ["-k"], ["-j3"], ["-k", "-j3"]])
@pytest.mark.parametrize(
    "failing", [[], ["test-rust"], ["test-python"], ["test-rust", "test-differential", "test-python"]]
)
def test_all_three_parts_run_and_the_end_says_what_failed(
    tmp_path: Path, options: list[str], failing: list[str]
) -> None:
    part = tmp_path / "part"
    last, failed = 'for it; do :; done\necho "$it of seed $PROPTEST_RNG_SEED"', " ".join(failing)
    part.write_text(f'#!/bin/sh\n{last}\ncase " {failed} " in *" $it "*) exit 2;; esac\n')
    part.chmod(0o755)
    command = ["make", *options, "test", f"MAKE={part}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment())
    parts = [f"test-{name} of seed 2475" for name in ("rust", "differential", "python")]
    assert done.stdout.splitlines() == parts, "the last line is that of the last runner"
    assert bool(done.returncode) == bool(failing)
    said = done.stderr.splitlines()
    assert said[:1] == ([f"make test failed in: {' '.join(failing)}"] if failing else [])


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_words_for_pytest_reach_it() -> None:
    command = ["make", "-n", "test", "ARGS=-k nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment())
    assert "-m pytest -n auto --dist loadfile --no-loadscope-reorder -k nothing" in done.stdout, done.stderr


def environment() -> dict[str, str]:
    """Without what the make that runs the tests hands on."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PROPTEST"))}
