"""Results in memory, returned by a run that also writes them, and read back: the same answer to every question."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import SCENARIO, Command
from perhop import Runs, Scenario
from perhop.columns import Column, Columns, short
from waits import WAIT_S

SHORT = SCENARIO.replace('"6s"', '"2s"').replace("replications = 3", "replications = 2")
BUCKET = '{ kind = "token-bucket", cir = "500kbit/s", cbs = "20000B" }'
PAM = '{ kind = "pam", cir = "500kbit/s", cbs = "20000B" }'
AXES = {
    "dumbbell.flows": ["1", "2", "3", "10"],
    "dumbbell.bottleneck": ['"2Mbit/s"', '"900kbit/s"', '"1.5Mbit/s"'],
    "dumbbell.marker": [BUCKET, PAM],
    "dumbbell.marker.cbs": ['"5kB"', '"20000B"', '"12kB"'],
    "queue.rio.in.max-p": ["0.02", "0.1", "1.0"],
    "queue.rio.out.max-p": ["0.2", "0.4"],
    "queue.rio.limit": ['"40p"', '"50p"'],
    "scenario.seed": ["1", "7", "3"],
    "scenario.duration": ['"2s"', '"3s"'],
    "scenario.sample": ['"500ms"', '"250ms"'],
}
"""Numbers, texts, quantities and tables."""


@st.composite
def sweeps(draw: st.DrawFn) -> str:
    keys = draw(st.lists(st.sampled_from(list(AXES)), min_size=1, max_size=3, unique=True))
    if "dumbbell.marker" in keys and "dumbbell.marker.cbs" in keys:
        keys.remove("dumbbell.marker.cbs")
    axes = []
    for key in keys:
        values = draw(st.lists(st.sampled_from(AXES[key]), min_size=1, max_size=2, unique=True))
        axes.append(f'"{key}" = [{", ".join(values)}]\n')
    return SHORT + "\n[sweep]\n" + "".join(axes)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def equal(a: Column, b: Column) -> None:
    assert a.dtype == b.dtype
    if a.dtype == object:
        assert list(a) == list(b)
    else:
        np.testing.assert_array_equal(a, b)


def equal_columns(a: Columns, b: Columns) -> None:
    assert list(a) == list(b)
    for name in a:
        equal(a[name], b[name])


def equal_answers(a: dict[Any, Any], b: dict[Any, Any]) -> None:
    assert list(a) == list(b)
    for group, values in a.items():
        np.testing.assert_array_equal(values, b[group])


def intervals(runs: Runs, by: list[str]) -> dict[Any, list[float]]:
    means = runs.pooled().means("traffic", "goodput_bit_s", by=by)
    return {group: [i.mean, i.low, i.high, i.n] for group, i in means.items()}


def same(a: Runs, b: Runs) -> None:
    """Every accessor gives the same."""
    assert (a.name, a.seed, a.settings, a.notes) == (b.name, b.seed, b.settings, b.notes)
    assert (a.keys, a.points, a.tables) == (b.keys, b.points, b.tables)
    assert [(r.run, r.hash) for r in a] == [(r.run, r.hash) for r in b]
    for table in a.tables:
        equal_columns(a.table(table), b.table(table))
    short_ones = [short(key) for key in a.keys]
    names = [key if short_ones.count(short(key)) > 1 else short(key) for key in a.keys]
    for by in [[*names], [*a.keys], ["point"], *([name] for name in names)]:
        grouped = [*by, "class", "colour"]
        for ask in (Runs.totals, lambda runs, *args: runs.values(*args, missing=0.0)):
            equal_answers(*(ask(runs.pooled(), "arrivals", "delivered_packets", None, grouped) for runs in (a, b)))
        equal_answers(*(intervals(runs, by) for runs in (a, b)))
    for point in a.points:
        answers = [runs.values("traffic", "goodput_bit_s", where=point.labels) for runs in (a, b)]
        assert len(answers[0][()]) == sum(a.points[r.point] == point for r in a)
        equal_answers(*answers)
    query = "SELECT point, class, sum(delivered_packets) AS n, avg(delay_mean_ms) AS d FROM arrivals GROUP BY ALL"
    equal_columns(a.sql(query + " ORDER BY ALL"), b.sql(query + " ORDER BY ALL"))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=sweeps())
def test_every_accessor_is_the_same_from_disk(text: str) -> None:
    with folder() as out:
        scenario = Scenario.from_toml(text)
        memory = scenario.run(progress=False)
        written = scenario.run(out=out, progress=False)
        reused = scenario.run(out=out, progress=False)
        read = Runs.open(out)
        assert all(r.reused for r in reused)
        for other in (written, reused, read):
            same(memory, other)
        first = dict(list(memory.points[0].labels.items())[:1])
        same(memory.where(first), read.where(first))
        with duckdb.connect() as connection:
            globbed = connection.execute(
                f"SELECT * FROM read_parquet('{out}/*/*/*/traffic.parquet', union_by_name = true)"
            )
            names = [name for name in globbed.fetchnumpy() if name != "replication"]
        stated = [*memory.keys, *memory.replications[0].tables["traffic"]]
        assert names == stated, "no column comes from a directory's name"


def test_directories_are_called_by_the_ends_of_keys_that_differ(tmp_path: Path) -> None:
    vary = ["dumbbell.marker.cbs=5kB", "dumbbell.bottleneck=3Mbit/s", "queue.rio.in.max-p=0.1", "queue.rio.out.max-p=1"]
    point = Scenario.from_toml(SHORT, vary=vary).run(1, out=tmp_path).points[0]
    assert point.name == f"cbs_5kB,bottleneck_3Mbit-s,in.max-p_0.1,out.max-p_1-{point.hash[:8]}"
    assert (tmp_path / "small" / point.name / "rep-000" / "flows.parquet").is_file()


def test_a_copy_of_a_directory_counts_once(tmp_path: Path) -> None:
    run = Scenario.from_toml(SHORT, vary=["dumbbell.flows=4,2"]).run(out=tmp_path)
    first = tmp_path / "small" / run.points[0].name
    shutil.copytree(first, first.with_name("flows=4-copy"))
    assert [r.hash for r in Runs.open(tmp_path)] == [r.hash for r in run]


def test_seeds_do_not_mix(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SHORT)
    scenario.run(2, seed=1, out=tmp_path)
    other = scenario.run(1, seed=2, out=tmp_path)
    read = Runs.open(tmp_path)
    assert [r.hash for r in read] == [r.hash for r in other]
    assert (read.seed, read.settings["seed"]) == (2, 2)
    assert "the newest is taken" in read.notes[0]
    assert other.points == Scenario.from_toml(SHORT, {"scenario.seed": 2}).points
    with pytest.raises(ValueError, match="sweeps its seed"):
        Scenario.from_toml(SHORT, vary=["scenario.seed=1,2"]).run(seed=3)
    with pytest.raises(ValueError, match=r"`seed` is 18446744073709551615\n   help: 0 to 9223372036854775807"):
        scenario.run(seed=2**64 - 1)


def test_a_swept_seed_is_the_seed(tmp_path: Path) -> None:
    both = Scenario.from_toml(SHORT, vary=["scenario.seed=1,2"]).run(1, out=tmp_path)
    alone = [Scenario.from_toml(SHORT).run(1, seed=seed).replications[0].hash for seed in (1, 2)]
    assert [r.hash for r in both] == alone
    assert [r.hash for r in Runs.open(tmp_path)] == alone


def test_a_sweep_made_larger_is_one(tmp_path: Path) -> None:
    Scenario.from_toml(SHORT, vary=["dumbbell.flows=10,2"]).run(1, out=tmp_path)
    larger = Scenario.from_toml(SHORT, vary=["dumbbell.flows=10,5,2"]).run(1, out=tmp_path)
    assert [r.reused for r in larger] == [True, False, True]
    same(larger, Runs.open(tmp_path))


def test_sweeps_of_two_bases_do_not_mix(tmp_path: Path) -> None:
    Scenario.from_toml(SHORT, {"dumbbell.rtt": "80ms"}, vary=["dumbbell.flows=10,2"]).run(1, out=tmp_path)
    newer = Scenario.from_toml(SHORT, vary=["dumbbell.flows=4"]).run(1, out=tmp_path)
    read = Runs.open(tmp_path)
    assert read.points == newer.points
    assert len(read.notes) == 1


def directories(scenario: Scenario, out: Path) -> Runs:
    """Each of two replications in its own directory: the second has no company when it comes."""
    scenario.run(1, out=out)
    return scenario.run(2, out=out)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a table is missing": (lambda d: _remove(d, "flows.parquet"), "flows.parquet is missing"),
    "all tables are missing": (lambda d: _remove(d, "*.parquet"), "summary.parquet is missing"),
    "a table is cut short": (lambda d: _cut(d / "flows.parquet"), "flows.parquet cannot be read"),
    "a table is another's": (lambda d: shutil.copy(d / "queues.parquet", d / "links.parquet"), "a table was altered"),
    "the manifest is cut short": (lambda d: _cut(d / "manifest.json"), "manifest.json cannot be read"),
    "the manifest is gone": (lambda d: _remove(d, "manifest.json"), "manifest.json cannot be read"),
    "no result_hash": (lambda d: _without(d / "manifest.json", "result_hash"), "result_hash`"),
    "no effective scenario": (lambda d: _without(d / "manifest.json", "effective"), "effective`"),
}


def _remove(directory: Path, names: str) -> None:
    for path in directory.glob(names):
        path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _without(path: Path, key: str) -> None:
    manifest = json.loads(path.read_text())
    holder = manifest if key in manifest else manifest["replications"][1]
    del holder[key]
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["rep-000", "reps-000-001"])
@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damaged_results_are_an_error_and_made_again(tmp_path: Path, damage: str, name: str) -> None:
    scenario = Scenario.from_toml(SHORT)
    whole = directories(scenario, tmp_path) if name == "rep-000" else scenario.run(out=tmp_path)
    harm, said = DAMAGE[damage]
    harmed = tmp_path / "small" / whole.points[0].name / name
    harm(harmed)
    with pytest.raises(ValueError, match="E023") as error:
        Runs.open(tmp_path)
    assert said in str(error.value)
    assert f"damaged results in {harmed}:" in str(error.value)
    assert "run it again" in str(error.value)
    mended = scenario.run(out=tmp_path)
    assert [r.reused for r in mended] == [False, name == "rep-000"]
    assert len(mended.notes) == 1
    assert f"{harmed} was made again" in mended.notes[0]
    assert said in mended.notes[0]
    read = Runs.open(tmp_path)
    assert read.notes == []
    assert [r.hash for r in read] == [r.hash for r in whole]


def test_verbs_refuse_damaged_results(tmp_path: Path, perhop: Command, scenario_file: Path) -> None:
    """Not zeros: a replication without its tables once counted as nothing delivered."""
    perhop("sweep", scenario_file, "--replications", 2)
    harmed = next(tmp_path.rglob("reps-000-001"))
    for path in harmed.glob("*.parquet"):
        path.unlink()
    for verb in (["report", "runs"], ["plot", "runs"], ["compare", "runs", "runs"]):
        done = perhop(*verb)
        assert done.returncode == 2
        assert "error[E023] damaged results in" in done.stderr
        assert "reps-000-001: summary.parquet is missing" in done.stderr
    done = perhop("sweep", scenario_file, "--replications", 2)
    assert done.returncode == 0
    assert done.stderr.count("reps-000-001 was made again: summary.parquet is missing") == 1
    assert perhop("report", "runs").returncode == 0


@pytest.mark.parametrize("fresh", [[], ["--fresh"]])
def test_processes_may_share_a_directory(tmp_path: Path, scenario_file: Path, fresh: list[str]) -> None:
    scenario_file.write_text(SHORT)
    vary = ["--vary", "dumbbell.flows=1,2", "--replications", "3", *fresh]
    command = [sys.executable, "-m", "perhop", "sweep", str(scenario_file), *vary]
    for _ in range(3):
        processes = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        said = [process.communicate(timeout=WAIT_S)[1] for process in processes]
        assert [process.returncode for process in processes] == [0] * 4, said
        assert said == [""] * 4
        read = Runs.open(tmp_path / "runs")
        assert len(read) == 6
        assert not list((tmp_path / "runs").rglob(".*")), "nothing is left"
        if not fresh:
            shutil.rmtree(tmp_path / "runs")


def test_a_name_is_a_directory_and_an_address(tmp_path: Path, perhop: Command, scenario_file: Path) -> None:
    base = Scenario.from_toml(SHORT)
    many = Scenario.from_toml(SHORT, {"dumbbell.flows": 9})
    runs = {name: scenario.run(out=tmp_path / "runs", name=name) for name, scenario in (("a", base), ("b", many))}
    unnamed = base.run(out=tmp_path / "runs")
    for name, named in runs.items():
        assert named.points[0].name.startswith(f"{name}-")
        same(named, Runs.open(tmp_path / "runs" / "small" / name))
    newest = Runs.open(tmp_path / "runs")
    assert newest.points == unnamed.points
    assert "the newest is taken" in newest.notes[0]
    with pytest.raises(FileNotFoundError, match="no run there has this name: `perhop runs` lists all runs"):
        Runs.open(tmp_path / "runs" / "small" / "c")
    done = perhop("plot", "runs/small/b", "-o", "b.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, "b.svg\n", "")
    done = perhop("plot", "runs/small", "-o", "newest.svg")
    assert done.returncode == 0
    assert "the newest is taken: runs/small/base-" in done.stderr
    assert perhop("compare", "runs/small/a", "runs/small/b").returncode == 0
    assert perhop("run", scenario_file, "--name", "c", "--replications", 2).returncode == 0
    assert perhop("report", "runs/small/c").returncode == 0


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SHORT)
    point = tmp_path / "small" / scenario.run(1, out=tmp_path).points[0].name
    for name in (".rep-001.12345.partial", ".reps-001-009.12345-0.partial", ".rep-000.12345-1.old"):
        (point / name).mkdir()
        (point / name / "flows.parquet").write_bytes(b"half")
    scenario.run(1, out=tmp_path)
    assert [p.name for p in point.iterdir()] == ["rep-000"]


TAKEN = """
import fcntl, os, sys
from pathlib import Path
from perhop import Scenario

out = Path(sys.argv[1])
scenario = Scenario.from_toml(out / "short.toml")
point = out / "small" / scenario.points[0].name
point.mkdir(parents=True)
fcntl.flock(os.open(out / "small", os.O_RDONLY), fcntl.LOCK_SH)
for n in range(20):
    (point / f".rep-000.{os.getpid()}-{n}.partial").mkdir()
scenario.run(1, out=out)
"""


def test_a_process_of_the_same_number_on_another_machine_is_not_in_the_way(tmp_path: Path) -> None:
    """Its temporary names are taken, and it cannot be known that it has ended: as in containers that share a disk."""
    (tmp_path / "short.toml").write_text(SHORT)
    subprocess.run([sys.executable, "-c", TAKEN, str(tmp_path)], check=True)
    assert [r.hash for r in Runs.open(tmp_path / "small")] == [r.hash for r in Scenario.from_toml(SHORT).run(1)]
