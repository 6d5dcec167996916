"""`compare` says which two runs it compares, and what they differ in."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import SCENARIO, SWEPT, Command
from perhop import Runs, Scenario, compare, in_force, paired, plot, stats
from perhop.reporting.tables import tabled


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A sweep on disk, and the names of its points' directories."""
    folder = tmp_path_factory.mktemp("points")
    runs = Scenario.from_toml(SCENARIO, vary=["dumbbell.marker.cbs=5kB,20kB"]).run(2, out=folder)
    return folder / "small", [point.name for point in runs.points]


def test_two_points_of_a_sweep(points: tuple[Path, list[str]], perhop: Command) -> None:
    folder, (a, b) = points
    done = perhop("compare", a, b, cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"A {a}", f"B {b}"]
    assert "setting that differs" in done.stdout
    (differs,) = [line.split() for line in lines if line.startswith("conditioner.")]
    assert differs == ["conditioner.marker.cbs", "5000B", "20000B"]
    assert "cbs 5kB" not in done.stdout, "what belongs to A alone does not label a row of both"


def test_every_record_says_what_it_compares(points: tuple[Path, list[str]], perhop: Command) -> None:
    folder, (a, b) = points
    done = perhop("compare", a, b, "--json", "--metric", "traffic.jain", cwd=folder)
    (record,) = json.loads(done.stdout)
    assert record["point"] == "cbs 5kB | cbs 20kB"
    assert record["differs"] == {"conditioner.marker.cbs": ["5000B", "20000B"]}


def test_a_run_against_itself_differs_in_nothing(points: tuple[Path, list[str]], perhop: Command) -> None:
    folder, (a, _) = points
    assert "the same settings are in force in both" in perhop("compare", a, a, cwd=folder).stdout


def test_sweeps_say_where_a_setting_differs() -> None:
    ours = Scenario.from_toml(SCENARIO + SWEPT).run(1)
    theirs = Scenario.from_toml(SCENARIO + SWEPT.replace('"pam", cir = "500kbit/s"', '"pam", cir = "400kbit/s"')).run(1)
    everywhere = {f"flows {n}, marker pam" for n in (2, 10)}
    found = {setting: set(at) for setting, at in paired.settings(ours, theirs).items()}
    assert found == {in_force.Setting("conditioner.marker.cir", "500kbit/s", "400kbit/s"): everywhere}
    assert {d.point for d in paired.differences(ours, theirs)} == {point.title for point in ours.points}


def test_items_of_a_list_have_names() -> None:
    profiles = 'profiles = [{ for = "AF11", min = "10p" }, { for = ["AF12", "BE"], min = "5p" }]\nports = [80, 443]\n'
    assert in_force.settings(f"[queue.'a b']\n{profiles}") == {
        'queue."a b".profiles.AF11.for': "AF11",
        'queue."a b".profiles.AF11.min': "10p",
        'queue."a b".profiles.AF12.for': '["AF12", "BE"]',
        'queue."a b".profiles.AF12.min': "5p",
        'queue."a b".ports': "[80, 443]",
    }
    assert list(in_force.settings('classes = [{ for = "EF" }, { for = "EF" }, {}]')) == [
        "classes.1.for",
        "classes.2.for",
        "classes.3",
    ]


def test_a_setting_of_one_side_alone() -> None:
    assert in_force.differing("a.b = 1\n", "a.c = true\n") == [("a.b", "1", None), ("a.c", None, "true")]


def test_many_settings_are_cut_with_their_number(small: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    runs = small.run(1)
    ours, theirs = ("".join(f"k{i} = {i + add}\n" for i in range(50)) for add in (0, 1))
    a, b = (replace(runs, points=[replace(runs.points[0], effective=text)]) for text in (ours, theirs))
    compare._print([compare.Compared(("A", "B"), (a, b), [])])
    shown = capsys.readouterr().out
    assert "k39 " in shown
    assert "k40 " not in shown
    assert "and 10 more, see --json" in shown


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("trafic.jain", "with TABLE one of .*; did you mean `traffic`?"),
        ("traffic.jane", "no column `jane`: .*; did you mean `jain`?"),
    ],
)
def test_a_wrong_metric_has_a_near_name(runs: Runs, metric: str, said: str) -> None:
    with pytest.raises((ValueError, KeyError), match=said.replace("?", r"\?")):
        paired.differences(runs, runs, [metric])


def test_control_characters_stay_off_the_terminal(small: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    runs = small.run(1)
    other = Runs(runs.name, 1, [replace(runs.points[0], effective='a = "\\u001b[2J"')], runs.replications)
    compare._print([compare.Compared(("\x1b[31mA", "[b]B"), (runs, other), [])])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\\x1b[31mA" in shown
    assert "B [b]B" in shown


def test_values_of_a_swept_key_are_compared_at_each_point_of_the_rest(swept: Runs) -> None:
    found = swept.compare(by="marker", metrics=["traffic.goodput_bit_s"])
    assert list(found["dumbbell.marker"]) == ["pam", "pam"]
    assert list(found["dumbbell.flows"]) == ["2", "10"]
    for row, flows in enumerate((2, 10)):
        base, other = (
            swept.values("traffic", "goodput_bit_s", {"flows": flows, "marker": marker})[()]
            for marker in ("token-bucket", "pam")
        )
        expected = stats.paired(base, other)
        assert found["difference"][row] == pytest.approx(expected.mean)
        assert (found["a"][row], found["b"][row]) == (pytest.approx(base.mean()), pytest.approx(other.mean()))
    turned = swept.compare(by="marker", base="pam", metrics=["traffic.goodput_bit_s"])
    np.testing.assert_allclose(turned["difference"], -found["difference"])


def test_keys_that_change_together_are_one() -> None:
    """Neither is part of the rest, or no value would have a partner."""
    vary = ["[dumbbell.flows, dumbbell.rtt]=[[2, '40ms'], [10, '80ms']]", "dumbbell.marker.cir=300kbit/s,1Mbit/s"]
    runs = Scenario.from_toml(SCENARIO, vary=vary).run(2, progress=False)
    found = runs.compare(by="flows", metrics=["traffic.jain"])
    assert list(found["dumbbell.marker.cir"]) == ["300kbit/s", "1Mbit/s"]
    assert "dumbbell.rtt" not in found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"by": "markr"}, "by markr: no such key is swept; there are flows, marker; did you mean `marker`?"),
        ({"by": "marker", "base": "pan"}, "base pan: these runs have marker token-bucket, pam; did you mean `pam`?"),
        ({}, "give other runs; or a swept key in by="),
        ({"base": "pam"}, "give other runs; or a swept key in by="),
        ({"by": "marker", "metrics": ["traffic.jane"]}, "no column `jane`"),
    ],
)
def test_what_cannot_be_compared_is_said(swept: Runs, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        swept.compare(**given)


def test_one_value_has_no_partner(swept: Runs) -> None:
    with pytest.raises(ValueError, match="by marker: these runs have only marker pam, and nothing to compare it with"):
        swept.where(marker="pam").compare(by="marker")


def test_a_value_lacks_no_point_and_no_replication(swept: Runs) -> None:
    without = [i for i, point in enumerate(swept.points) if point.title != "flows 10, marker pam"]
    points = [swept.points[i] for i in without]
    some = [replace(r, point=without.index(r.point)) for r in swept if r.point in without]
    with pytest.raises(ValueError, match="marker pam was not run at flows 10: every value is compared at every point"):
        replace(swept, points=points, replications=some, _tables={}).compare(by="marker")
    with pytest.raises(ValueError, match="different replications"):
        replace(swept, replications=swept.replications[:-1], _tables={}).compare(by="marker")


def test_points_of_other_seeds_are_no_pairs() -> None:
    """They have not met the same random numbers."""
    runs = Scenario.from_toml(SCENARIO, vary=["scenario.seed=1,2"]).run(2, progress=False)
    with pytest.raises(ValueError, match="seed 1 against seed 2: only runs of the same seed meet"):
        runs.compare(by="seed")


def test_two_runs_as_a_frame(swept: Runs) -> None:
    a, b = (swept.where(marker=marker) for marker in ("token-bucket", "pam"))
    with pytest.raises(ValueError, match="sweep different points"):
        a.compare(b)
    one, two = (side.where(flows=2) for side in (a, b))
    found = one.compare(two)
    listed = paired.differences(one, two)
    assert list(found["metric"]) == [d.metric for d in listed]
    np.testing.assert_array_equal(found["p"], [d.p for d in listed])
    assert (found["p_holm"] >= found["p"])[~np.isnan(found["p"])].all()


def test_the_command_line_compares_by_a_key(tmp_path: Path, perhop: Command) -> None:
    Scenario.from_toml(SCENARIO + SWEPT).run(2, out=tmp_path, progress=False)
    done = perhop("compare", "small", "--by", "marker", "--base", "pam", "--metric", "traffic.jain")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["A marker pam", "B marker token-bucket"]
    rows = json.loads(
        perhop("compare", "small", "--by", "marker", "--base", "pam", "--metric", "traffic.jain", "--json").stdout
    )
    assert [row["point"] for row in rows] == ["flows 2", "flows 10"]
    assert rows[0]["by"] == {"dumbbell.marker": ["pam", "token-bucket"]}
    assert rows[0]["differs"]["conditioner.marker.kind"] == ["pam", "token-bucket"]
    done = perhop("compare", "small")
    assert done.returncode == 2
    assert "one run: name another, or --by KEY; swept in small is flows, marker" in done.stderr


QUEUES = """
[scenario]
name = "queues"
duration = "3s"
warmup = "1s"
replications = 2

[links]
"a - b" = { rate = "2Mbit/s", delay = "5ms" }
"a -> b" = { queue = "up" }

[queue.up]
limit = "50p"

[traffic."c{1..2}"]
model = "ftp"
from = "a"
to = "b"
tcp = "linux"

[sweep]
"queue.up" = { as = "setup", labels = ["FIFO", "FQ"], values = [{ limit = "50p" }, { scheduler = "fq-codel" }] }
"""


def test_parameters_of_one_algorithm_alone_are_counted(tmp_path: Path, perhop: Command) -> None:
    (tmp_path / "queues.toml").write_text(QUEUES)
    assert perhop("sweep", "queues.toml", cwd=tmp_path).returncode == 0
    printed = perhop("compare", "runs/queues", "--by", "setup", cwd=tmp_path).stdout
    settings = [line.split() for line in printed.splitlines() if line.startswith("queue.up.")]
    assert settings == [
        ["queue.up.aqm", "drop-tail", "-"],
        ["queue.up.limit", "50p", "10240p"],
        ["queue.up.scheduler", "-", "fq-codel"],
    ]
    assert "and 11 parameters of an algorithm that one side lacks, see --json" in printed
    (record, *_) = json.loads(perhop("compare", "runs/queues", "--by", "setup", "--json", cwd=tmp_path).stdout)
    assert len(record["differs"]) == 14


def test_a_traffic_of_one_flow_has_one_goodput() -> None:
    runs = Scenario.from_toml(QUEUES).run(2)
    assert "traffic.goodput_mean_bit_s" not in {d.metric for d in paired.differences(runs, runs)}
    assert paired.differences(runs, runs, ["traffic.jain"]), "it is there if it is asked for"
    assert len(plot.figure("throughput", runs).axes) == 1
    with pytest.raises(ValueError, match="each traffic of this run has one flow"):
        plot.figure("fairness", runs)
    assert "Jain" not in " ".join(tabled(runs, "traffic").headings)
