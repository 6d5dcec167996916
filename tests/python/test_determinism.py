"""Same seed, same bytes: whatever the number of threads, whichever run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import SCENARIO, SWEPT, Command, files
from perhop import Scenario


def test_same_seed_same_bytes(tmp_path: Path, perhop: Command) -> None:
    """Two runs, one and two threads: equal hashes and equal Parquet."""
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO + SWEPT)
    hashes = []
    for name, jobs in (("a", 1), ("b", 2), ("c", 2)):
        done = perhop("sweep", path, "--replications", 2, "-j", jobs, "--out", name, "--json")
        assert done.returncode == 0, done.stderr
        hashes.append([json.loads(line).get("result_hash") for line in done.stdout.splitlines()])
    assert hashes[0] == hashes[1] == hashes[2]
    assert any(hashes[0])
    assert files(tmp_path / "a") == files(tmp_path / "b") == files(tmp_path / "c")


def test_replications_and_seeds_differ() -> None:
    scenario = Scenario.from_toml(SCENARIO)
    hashes = [r.hash for seed in (1, 2) for r in scenario.run(3, seed=seed)]
    assert len(set(hashes)) == 6


def test_a_replication_does_not_depend_on_its_companions() -> None:
    scenario = Scenario.from_toml(SCENARIO)
    together = [r.hash for r in scenario.run(4, jobs=2)]
    alone = [scenario.run(range(i, i + 1), jobs=1).replications[0].hash for i in range(4)]
    assert together == alone


@pytest.mark.parametrize("kind", ["throughput", "colours"])
def test_pictures_are_the_same_every_time(tmp_path: Path, kind: str, perhop: Command) -> None:
    Scenario.from_toml(SCENARIO).run(2, out=tmp_path)
    for name in ("a.svg", "b.svg"):
        assert perhop("plot", "small", "--kind", kind, "-o", name).returncode == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
