"""`compare` says which two runs it compares, and what they differ in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import SCENARIO, SWEPT, Command
from perhop import Runs, Scenario, compare, in_force, paired


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
