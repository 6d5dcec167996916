"""Runs in memory and on disk."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from conftest import SCENARIO, SWEPT, Command, files
from perhop import Runs, Scenario
from perhop.columns import Replication
from perhop.results import joined


def same(a: Runs, b: Runs) -> None:
    """Equal rows in every table that has any."""
    for name in ("summary", "arrivals", "flows", "traffic", "transfers", "sessions", "conditioners", "links"):
        ours, theirs = a.table(name), b.table(name)
        assert list(ours) == list(theirs)
        for column, values in ours.items():
            assert values.dtype == theirs[column].dtype, (name, column)
            if values.dtype == object:
                assert list(values) == list(theirs[column])
            else:
                np.testing.assert_array_equal(values, theirs[column])


def test_what_is_read_back_is_what_was_run(tmp_path: Path) -> None:
    written = Scenario.from_toml(SCENARIO + SWEPT).run(2, out=tmp_path)
    read = Runs.open(tmp_path / "small")
    assert sorted(r.hash for r in read) == sorted(r.hash for r in written)
    assert (read.seed, read.settings, read.notes) == (1, written.settings, [])
    for point in written.points:
        again = Runs.open(tmp_path / "small" / point.name)
        chosen = written.where({"dumbbell.flows": point.labels["dumbbell.flows"]})
        chosen = chosen.where({"dumbbell.marker": point.labels["dumbbell.marker"]})
        assert again.points == [point]
        same(again, chosen) if again.keys == chosen.keys else pytest.fail(f"{again.keys} {chosen.keys}")


def test_points_on_disk_are_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    """In natural order if they are of several sweeps that state different orders."""
    for vary, order in (("10,9,2", ["10", "9", "2"]), ("4,2,1", ["1", "2", "4", "9", "10"])):
        Scenario.from_toml(SCENARIO, vary=[f"dumbbell.flows={vary}"]).run(1, out=tmp_path)
        assert [p.labels["dumbbell.flows"] for p in Runs.open(tmp_path).points] == order


def test_values_by_group(swept: Runs) -> None:
    by = swept.values("traffic", "goodput_bit_s", by=["dumbbell.flows", "marker"])
    assert list(by) == [("2", "token-bucket"), ("2", "pam"), ("10", "token-bucket"), ("10", "pam")]
    assert all(len(values) == 2 for values in by.values())
    one = swept.values("traffic", "goodput_bit_s", {"dumbbell.flows": 10, "marker": "pam"})
    np.testing.assert_array_equal(one[()], by["10", "pam"])
    mean = swept.means("traffic", "goodput_bit_s", {"dumbbell.flows": 10, "marker": "pam"})[()]
    assert mean.mean == pytest.approx(np.mean(one[()]))


def test_a_count_names_no_rows(swept: Runs) -> None:
    """`flows` is a column of `traffic`, and the end of a swept key, which is meant: as a number or as a text."""
    for flows in (2, "2", np.int64(2)):
        assert len(swept.values("traffic", "goodput_bit_s", {"flows": flows}, by=["marker"])) == 2
    with pytest.raises(ValueError, match="have no `jain`"):
        swept.values("traffic", "goodput_bit_s", {"jain": 1.0}, by=["marker"])


def test_several_rows_are_not_summed_in_silence(runs: Runs) -> None:
    with pytest.raises(ValueError, match="has 4 rows in a replication, not one"):
        runs.values("flows", "goodput_bit_s")
    total = runs.totals("flows", "goodput_bit_s")[()]
    np.testing.assert_allclose(total, runs.values("traffic", "goodput_bit_s")[()], rtol=1e-12)


def test_a_missing_row_is_said_or_filled(runs: Runs) -> None:
    short = Runs(runs.name, runs.seed, runs.points, [runs.replications[0], _without(runs.replications[1], "red")])
    with pytest.raises(ValueError, match="for red has 0 rows"):
        short.values("arrivals", "delay_p50_ms", by=["colour"])
    filled = short.values("arrivals", "delay_p50_ms", by=["colour"], missing=math.nan)
    assert math.isnan(filled["red",][1])
    assert not math.isnan(filled["red",][0])


def _without(replication: Replication, colour: str) -> Replication:
    arrivals = replication.tables["arrivals"]
    keep = arrivals["colour"] != colour
    tables = dict(replication.tables) | {"arrivals": {name: column[keep] for name, column in arrivals.items()}}
    return Replication(replication.point, replication.replication, replication.hash, tables)


def test_tables_are_a_mapping_that_travels(runs: Runs) -> None:
    tables = runs.replications[0].tables
    assert isinstance(tables, Mapping)
    assert list(tables) == list(tables.keys()) == [name for name, _ in tables.items()]
    assert len(tables) == len(tables.values()) == len(list(tables))
    assert tables["flows"] is tables["flows"], "a table becomes columns once"
    assert "flow" not in tables
    assert tables.get("flow") is None
    assert tables.get("flow", 1) == 1
    with pytest.raises(KeyError, match="flow"):
        tables["flow"]
    sent = pickle.loads(pickle.dumps(tables))
    assert list(sent) == list(tables)
    for name, columns in tables.items():
        assert list(sent[name]) == list(columns)
        for column, values in columns.items():
            np.testing.assert_array_equal(sent[name][column], values)


def test_unknown_names_are_answered_with_those_there_are(runs: Runs) -> None:
    with pytest.raises(KeyError, match="no table `sumary` here: there are summary, arrivals"):
        runs.table("sumary")
    with pytest.raises(KeyError, match="no column `delay`"):
        runs.values("arrivals", "delay")
    with pytest.raises(ValueError, match=r"E006.*the rows that are shown have no `flows`"):
        runs.where(flows=3)


def test_sql_sees_every_table(runs: Runs) -> None:
    answer = runs.sql("SELECT replication, sum(arrived_packets) AS n FROM summary GROUP BY ALL ORDER BY ALL")
    assert list(answer["replication"]) == [0, 1, 2]
    np.testing.assert_array_equal(answer["n"], runs.totals("summary", "arrived_packets")[()])
    threads = runs.sql("SELECT current_setting('threads') AS n")
    assert list(threads["n"]) == [1]


def test_conservation_as_a_reader_sees_it(runs: Runs) -> None:
    """What arrives at a port is queued or dropped; each drop has one reason."""
    s = runs.table("summary")
    reasons = sum(s[f"dropped_{reason}_packets"] for reason in ("policer", "early", "forced", "overflow", "wire"))
    np.testing.assert_array_equal(s["dropped_packets"], reasons)
    np.testing.assert_array_equal(
        s["arrived_packets"], s["queued_packets"] + s["dropped_packets"] - s["dropped_wire_packets"]
    )


def test_of_several_runs_the_newest_is_taken_and_said(tmp_path: Path) -> None:
    Scenario.from_toml(SCENARIO).run(1, out=tmp_path)
    newer = Scenario.from_toml(SCENARIO, {"dumbbell.flows": 5})
    newer.run(1, out=tmp_path)
    read = Runs.open(tmp_path)
    assert [p.hash for p in read.points] == [newer.points[0].hash]
    assert len(read.notes) == 1
    assert "the newest is taken" in read.notes[0]


def test_directories_without_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a directory"):
        Runs.open(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match="no finished replication"):
        Runs.open(tmp_path)
    Scenario.from_toml(SCENARIO).run(1, out=tmp_path)
    Scenario.from_toml(SCENARIO, {"scenario.name": "other"}).run(1, out=tmp_path)
    with pytest.raises(ValueError, match=r"several scenarios \(other, small\)"):
        Runs.open(tmp_path)


@pytest.mark.parametrize("name", ["manifest.json", "flows.parquet"])
def test_damaged_results_are_named(tmp_path: Path, name: str) -> None:
    Scenario.from_toml(SCENARIO).run(1, out=tmp_path)
    path = next(tmp_path.rglob(name))
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ValueError, match=f"{name} cannot be read"):
        Runs.open(tmp_path)


def test_finished_replications_are_reused(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SCENARIO)
    first = scenario.run(2, out=tmp_path)
    before = files(tmp_path)
    more = scenario.run(3, out=tmp_path)
    assert [r.reused for r in first] == [False, False]
    assert [r.reused for r in more] == [True, True, False]
    assert {path: files(tmp_path)[path] for path in before} == before
    same(more, scenario.run(3))
    other = scenario.run(2, seed=2, out=tmp_path)
    assert [r.reused for r in other] == [False, False]
    assert [r.hash for r in other] != [r.hash for r in first]


def test_runs_of_several_directories_stand_side_by_side(runs: Runs, swept: Runs) -> None:
    both = joined({"a": runs, "b": runs})
    assert both.keys == ["run"]
    by = both.values("traffic", "goodput_bit_s", by=["run"])
    np.testing.assert_array_equal(by["a",], by["b",])
    with pytest.raises(ValueError, match="sweep different keys"):
        joined({"a": runs, "b": swept})


def test_the_command_line_and_python_write_the_same(tmp_path: Path, scenario_file: Path, perhop: Command) -> None:
    done = perhop("run", scenario_file, "--out", "a")
    assert done.returncode == 0, done.stderr
    Scenario.from_toml(scenario_file).run(out=tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_events_add_up_to_the_counts(tmp_path: Path) -> None:
    """Without a warm-up every packet that was counted at a port has a row there; written, read back, by SQL."""
    scenario = Scenario.from_toml(SCENARIO + SWEPT, overrides={"scenario.warmup": "0s"})
    runs = scenario.run(2, out=tmp_path, events=True)
    assert [r.hash for r in runs] == [r.hash for r in scenario.run(2)]
    events, summary = runs.events(), runs.table("summary")
    assert list(events)[:5] == ["dumbbell.flows", "dumbbell.marker", "point", "replication", "packet"]
    dropped = runs.events("fate = 'dropped'", ["point", "hop", "reason"])
    assert len(dropped["hop"]) == summary["dropped_packets"].sum() > 0
    assert np.isnan(events["out_ns"][events["fate"] == "waiting"]).all()
    both = "select e.n, s.n from (select hop, count(*) n from events where fate in ('sent', 'marked') group by hop) e"
    both += " join (select hop, sum(delivered_packets) as n from summary group by all) s using (hop)"
    answer = runs.sql(both)
    np.testing.assert_array_equal(answer["n"], answer["n_1"])
    read = Runs.open(tmp_path)
    np.testing.assert_array_equal(read.events()["in_ns"], events["in_ns"])
    few = read.where(flows=2).events(columns=["packet"])
    assert 0 < len(few["packet"]) < len(events["packet"])


def test_missing_and_damaged_events_say_so(tmp_path: Path, runs: Runs) -> None:
    with pytest.raises(ValueError, match="run with `--trace events`"):
        runs.events()
    with pytest.raises(ValueError, match="events=True without out="):
        Scenario.from_toml(SCENARIO).run(1, events=True)
    Scenario.from_toml(SCENARIO).run(1, out=tmp_path, events=True)
    (file,) = tmp_path.rglob("events.parquet")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"E023.*events.parquet cannot be read"):
        Runs.open(tmp_path).events()
