"""Small replications in one directory: read like separate directories."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from perhop import Runs, Scenario
from test_on_disk import SHORT, same


def test_a_block_is_read_like_directories(tmp_path: Path) -> None:
    """Whatever is where: all in one, each alone, some of both, and twice."""
    swept = Scenario.from_toml(SHORT, vary=["dumbbell.flows=4,2"])
    memory = swept.run(6)
    places = {"a block": [6], "directories": [1, 2, 3, 4, 5, 6], "both": [1, 4, 6], "blocks": [3, 6]}
    for name, steps in places.items():
        out = tmp_path / name
        for step in steps:
            swept.run(step, out=out)
        same(memory, Runs.open(out))
    assert _directories(tmp_path / "a block") == ["reps-000-005"]
    assert _directories(tmp_path / "both") == ["rep-000", "reps-001-003", "reps-004-005"]
    assert len(_directories(tmp_path / "directories")) == 6
    for block in (tmp_path / "a block").rglob("reps-*"):
        shutil.copytree(block, tmp_path / "directories/small" / block.parent.name / block.name)
    twice = Runs.open(tmp_path / "directories")
    same(memory, twice)
    assert {r.directory.name for r in twice if r.directory} == {f"rep-00{i}" for i in range(6)}, "its own comes first"
    one = Runs.open(next((tmp_path / "both").rglob("reps-001-003")))
    assert [r.replication for r in one] == [1, 2, 3]


def _directories(out: Path) -> list[str]:
    return sorted({path.parent.name for path in out.rglob("manifest.json")})


def test_a_blocks_tables_say_which_replication_a_row_is_of(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SHORT)
    scenario.run(1, out=tmp_path)
    runs = scenario.run(4, out=tmp_path)
    number = r"coalesce(replication, regexp_extract(filename, '/rep-(\d+)/', 1)::bigint)"
    files = f"read_parquet('{tmp_path}/*/*/*/traffic.parquet', union_by_name = true, filename = true)"
    with duckdb.connect() as connection:
        query = f"SELECT {number} AS n, goodput_bit_s AS g FROM {files} ORDER BY n"
        found = connection.execute(query).fetchnumpy()
    assert list(found["n"]) == list(runs.table("traffic")["replication"])
    assert list(found["g"]) == list(runs.table("traffic")["goodput_bit_s"])
