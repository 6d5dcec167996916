"""The Rust side as Python sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import perhop
from conftest import ROOT, SCENARIO, SWEPT
from perhop import Runs, Scenario, _core

HEAVY = ("numpy", "matplotlib", "duckdb", "rich", "jinja2", "scipy", "pandas", "polars")


def test_the_stub_has_not_drifted(tmp_path: Path) -> None:
    """mypy's stubtest compares names, signatures and classes of the module with `_core.pyi`.

    Modules that the stub imports are skipped: their types are not part of the signatures that exist at run time.
    """
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = skip\n")
    allowed = ROOT / "tests" / "python" / "stubtest.txt"
    command = [sys.executable, "-m", "mypy.stubtest", "perhop._core", "--allowlist", str(allowed)]
    command += ["--mypy-config-file", str(tmp_path / "mypy.ini")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["check", "small.toml"]])
def test_light_verbs_import_nothing_heavy(arguments: list[str], scenario_file: object, tmp_path: object) -> None:
    code = (
        "import sys, perhop.__main__ as m; code = m.main(['perhop', *sys.argv[1:]]); "
        f"print([name for name in {HEAVY!r} if name in sys.modules]); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=str(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(("name", "loaded"), [("__version__", []), ("ScenarioError", []), ("Scenario", ["numpy"])])
def test_a_name_imports_what_it_needs(name: str, loaded: list[str]) -> None:
    code = f"import sys, perhop; perhop.{name}; print([heavy for heavy in {HEAVY!r} if heavy in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{loaded}\n"


def test_versions_agree(perhop: object) -> None:
    done = subprocess.run([sys.executable, "-m", "perhop", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"perhop {_core.__version__}\n"


@pytest.mark.parametrize(("choice", "against"), [("always", "NO_COLOR"), ("never", "CLICOLOR_FORCE")])
def test_colour_is_used_as_the_option_says(choice: str, against: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[scenario]\n")
    command = [sys.executable, "-m", "perhop", "--color", choice, "check", "bad.toml"]
    environment = {**os.environ, against: "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert ("\x1b[" in done.stdout) == (choice == "always")


def test_every_name_can_be_had() -> None:
    assert all(getattr(perhop, name) is not None for name in perhop.__all__)
    assert set(perhop.__all__) <= set(dir(perhop))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = perhop.nothing


def test_a_scenario_tells_what_is_in_force(small: Scenario) -> None:
    assert small.name == "small"
    assert small.settings == {
        "name": "small",
        "duration_s": 6.0,
        "warmup_s": 1.0,
        "seed": 1,
        "replications": 3,
        "accounting": "l3",
        "sample_s": None,
    }
    assert [point.labels for point in small.points] == [{}]
    assert 'aqm = "rio"' in small.effective()


def test_to_toml_is_the_inverse_of_reading(small: Scenario) -> None:
    again = Scenario.from_toml(small.to_toml())
    assert again.to_toml() == small.to_toml()
    assert again.effective() == small.effective()
    assert again.points == small.points


def test_all_that_is_wrong_is_reported_at_once() -> None:
    wrong = SCENARIO.replace('"2Mbit/s"', "2000000").replace("flows", "flow").replace('"6s"', '"6 parsecs"')
    with pytest.raises(perhop.ScenarioError) as caught:
        Scenario(wrong, "wrong.toml")
    diagnostics = caught.value.diagnostics
    assert len(diagnostics) >= 3
    assert diagnostics == _core.check(wrong, "wrong.toml", [], [])
    assert {d["severity"] for d in diagnostics} == {"error"}
    lines = wrong.splitlines()
    for d in diagnostics:
        assert d["file"] == "wrong.toml"
        assert d["line"] is None or d["column"] is None or lines[d["line"] - 1][d["column"] - 1 :].strip()
        assert f"error[{d['code']}]" in str(caught.value)


def test_overrides_come_as_texts_or_as_values() -> None:
    texts = Scenario.from_toml(SCENARIO, ["dumbbell.flows=7", "scenario.duration=3s"])
    values = Scenario.from_toml(SCENARIO, {"dumbbell.flows": 7, "scenario.duration": "3s"})
    assert texts.effective() == values.effective()
    assert texts.settings["duration_s"] == 3.0


def test_a_selector_is_an_override_and_an_axis() -> None:
    wrr = ROOT / "examples/wrr.toml"
    by_hand, selected = (Scenario.from_toml(wrr, {key: 0.3}) for key in ("queue.small.max-p", "@red.max-p"))
    assert by_hand.effective() == selected.effective()
    nowhere = Scenario.from_toml(wrr, {"@tred.n?": 3, "tcp.none.window?": 9})
    assert nowhere.effective() == Scenario.from_toml(wrr).effective()
    with pytest.raises(perhop.ScenarioError, match=r"algorithms here: .*red"):
        Scenario.from_toml(wrr, {"@tred.n": 3})
    short = {"scenario.duration": "2s", "scenario.warmup": "1s"}
    runs = Scenario.from_toml(wrr, short).sweep({"@red.max-p": [0.1, 0.5]}, replications=1, progress=False)
    assert [point.title for point in runs.points] == ["max-p 0.1", "max-p 0.5"]
    assert [len(value) for value in runs.totals("summary", "dropped_packets", by=["max-p"]).values()] == [1, 1]


@pytest.mark.parametrize("replications", [0, -1, range(0), range(0, 4, 2), range(-1, 2)])
def test_no_replications_are_refused(small: Scenario, replications: int | range) -> None:
    with pytest.raises(ValueError, match="replications"):
        small.run(replications)


def test_progress_is_told(small: Scenario) -> None:
    told: list[tuple[int, int]] = []
    small.run(3, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
    assert {total for _, total in told} == {3}
    assert sorted(told) == told


def test_a_callback_that_fails_ends_the_run(small: Scenario) -> None:
    def fail(done: int, total: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        Scenario.from_toml(SCENARIO, {"scenario.duration": "500s"}).run(4, progress=fail)


def test_a_sweep_by_code_is_that_of_the_file(small: Scenario) -> None:
    ours = small.sweep({"dumbbell.flows": [2, 10]}, replications=1)
    file = Scenario.from_toml(SCENARIO + '[sweep]\n"dumbbell.flows" = [2, 10]').run(1)
    assert [p.labels for p in ours.points] == [{"dumbbell.flows": "2"}, {"dumbbell.flows": "10"}]
    assert [r.hash for r in ours] == [r.hash for r in file]
    with pytest.raises(ValueError, match="no values"):
        small.sweep({"dumbbell.flows": []})
    with pytest.raises(TypeError, match=r"axis `dumbbell\.flows`: '2' is not a list of values"):
        small.sweep({"dumbbell.flows": "2"})


def test_a_sweep_by_code_takes_tables_and_linked_keys_and_labels(small: Scenario) -> None:
    tables = tomllib.loads(SWEPT)["sweep"]["dumbbell.marker"]
    ours = small.sweep({"dumbbell.flows": np.array([2, 10]), "dumbbell.marker": tables}, replications=1)
    assert ours.points == Scenario.from_toml(SCENARIO + SWEPT).points
    linked = small.sweep({("dumbbell.flows", "dumbbell.rtt"): [[2, "20ms"], [4, "80ms"]]}, replications=1)
    assert [p.title for p in linked.points] == ["flows 2, rtt 20ms", "flows 4, rtt 80ms"]
    named = small.sweep(
        {"dumbbell.flows": {"values": [2, 4], "labels": ["few", "many"], "as": "users"}}, replications=1
    )
    assert [p.title for p in named.points] == ["users few", "users many"]


def test_columns_have_the_types_that_are_promised(runs: Runs) -> None:
    summary, flows = runs.table("summary"), runs.table("flows")
    assert summary["arrived_packets"].dtype == np.int64
    assert summary["wait_mean_ms"].dtype == np.float64
    assert summary["class"].dtype == object
    assert flows["goodput_bit_s"].dtype == np.float64
    assert (flows["goodput_bit_s"] > 0).all()


def test_a_swept_scenario_has_its_points() -> None:
    points = Scenario.from_toml(SCENARIO + SWEPT).points
    assert len(points) == 4
    assert [p.title for p in points][:2] == ["flows 2, marker token-bucket", "flows 2, marker pam"]
    assert len({p.hash for p in points}) == 4
