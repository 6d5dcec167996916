"""`perhop reproduce STUDY -s KEY=VALUE`: a reader's idea, laid over every scenario, and marked as such."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

STUDY, SHORT = "redp-fig6", ["--seeds", "2", "-j", "1"]


def reproduce(out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "perhop", "reproduce", STUDY, "--out", str(out), *SHORT, *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def records(out: Path) -> dict[str, dict[str, Any]]:
    return {r["claim"]: r for r in json.loads((out / "results.json").read_text())}


def test_an_idea_changes_every_run_and_is_marked(tmp_path: Path) -> None:
    plain, tried = tmp_path / "plain", tmp_path / "tried"
    assert reproduce(plain).returncode == 0
    assert reproduce(tried, "-s", "queue.rio.limit=40p").returncode == 0
    before, after = records(plain), records(tried)
    assert before.keys() == after.keys()
    assert before["steadier-queue"]["measured"] != after["steadier-queue"]["measured"]
    assert {r["setting"] for r in after.values()} == {"frozen -s queue.rio.limit=40p"}
    page = (tried / "report.html").read_text()
    assert "An idea is tried" in page
    assert "queue.rio.limit=40p" in page


def test_a_key_that_is_none_is_refused_with_the_one_that_is_near(tmp_path: Path) -> None:
    done = reproduce(tmp_path, "-s", "queue.rio.limt=40p")
    assert done.returncode == 2
    assert "limt" in done.stderr
    assert "did you mean `limit`?" in done.stderr
    assert not (tmp_path / "results.json").exists()


def test_a_run_in_which_nothing_can_be_measured_is_an_error_that_says_so(tmp_path: Path) -> None:
    done = reproduce(tmp_path, "-s", "scenario.duration=11s")
    assert (done.returncode, done.stdout) == (2, "")
    assert "-s scenario.duration=11s: what the paper measures cannot be read from such a run" in done.stderr
    assert "Traceback" not in done.stderr
