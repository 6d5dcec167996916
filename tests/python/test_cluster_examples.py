"""The examples for clusters: the Snakefile as a whole, the job array as Slurm would start its parts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from perhop import Runs, Scenario

SWEEP = ("examples/dumbbell.toml", "--vary", "dumbbell.flows=5,10", "--replications", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def done(folder: Path, *words: str, **stated: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        words, cwd=folder, env={**os.environ, "PATH": path, **stated}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def hashes(runs: Runs) -> list[str]:
    return [r.hash for r in runs]


def serial() -> list[str]:
    return hashes(Scenario.from_toml(ROOT / SWEEP[0], vary=[SWEEP[2]]).run(2))


def test_the_snakefile_runs_its_parts_and_writes_the_table(folder: Path) -> None:
    stated = [f"{key}={value}" for key, value in {"vary": SWEEP[2], "parts": 2, "replications": 2}.items()]
    command = ["snakemake", "-s", "examples/cluster/Snakefile", "--cores", "2", "--config", *stated]
    done(folder, *command, XDG_CACHE_HOME=str(folder / "cache"))
    assert hashes(Runs.open(folder / "runs")) == serial()
    assert [line.split(",")[0] for line in (folder / "table.csv").read_text().splitlines()[1:]] == ["5", "10"]


def test_a_job_array_runs_what_another_one_left(folder: Path) -> None:
    part = ("sh", "examples/cluster/array.sh", "2", *SWEEP)
    done(folder, *part, SLURM_ARRAY_TASK_ID="2")
    missing = done(folder, "perhop", "sweep", *SWEEP, "--missing=2").strip()
    assert missing == "1"
    done(folder, *part, SLURM_ARRAY_TASK_ID=missing)
    assert hashes(Runs.open(folder / "runs")) == serial()
