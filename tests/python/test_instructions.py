"""What tests/instructions makes of callgrind's counts."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "instructions"


@pytest.fixture(scope="module")
def count() -> ModuleType:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(FOLDER))
        spec = importlib.util.spec_from_file_location("count_instructions", FOLDER / "count.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        patched.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module


def test_a_slope_is_free_of_what_both_runs_do(count: ModuleType) -> None:
    assert count.slope((5_000 + 600 * 10, 10.0), (5_000 + 600 * 30, 30.0)) == 600


def test_a_baseline_is_read_as_it_was_written(count: ModuleType) -> None:
    found = {"u": 593.04, "p100": 634.0, "mark": 2236.5, "set-up-1000": 608_511.8}
    text = count.baseline_text(found, "rustc 1.95.0")
    baseline = tomllib.loads(text)
    assert baseline["rustc"] == "rustc 1.95.0"
    assert baseline["packet"] == {"mark": 2236.5}
    assert count.counts_in(baseline) == {**found, "u": 593.0}


def test_what_is_too_far_above_is_named(count: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    before = {"u": 600.0, "p100": 600.0, "mark": 100.0}
    found = {"u": 617.9, "p100": 600.0, "p100-bbr": 960.0, "p100-cubic": 840.0, "mark": 103.1}
    assert count.compare(found, before) == ["mark"]
    lines = capsys.readouterr().out.splitlines()
    assert "instructions per packet-hop, baseline       600.0: +2.98%" in lines[0]
    assert lines[2].endswith("no baseline; 1.60 times p100, more than 1.5")
    assert lines[3].endswith("; 1.40 times p100")


def test_functions_are_read_from_an_annotation(count: ModuleType) -> None:
    text = """Profile data file 'x'
 2,401,234 (100.0%)  PROGRAM TOTALS
 1,200,000 (49.98%)  ???:perhop_sim::engine::Simulation::run_until [/bin/perhop]
   200,000 ( 8.33%)  ./string/memcpy.S:__memcpy_avx [/lib/libc.so.6]
   100,000 ( 4.16%)  ???:<perhop_core::aqm::red::Red as perhop_core::aqm::Aqm>::arrive::h0123456789abcdef [/bin/perhop]
"""
    assert count.functions(text) == {
        "perhop_sim::engine::Simulation::run_until": 1_200_000,
        "__memcpy_avx": 200_000,
        "<perhop_core::aqm::red::Red as perhop_core::aqm::Aqm>::arrive": 100_000,
    }


def test_every_measure_is_in_the_baseline(count: ModuleType) -> None:
    baseline = tomllib.loads((FOLDER / "baseline.toml").read_text(encoding="utf-8"))
    assert set(count.counts_in(baseline)) == {measure.name for measure in count.MEASURES}


def test_all_workloads_of_bench_are_counted(count: ModuleType) -> None:
    files = {file.stem for file in count.WORKLOADS.glob("*.toml")}
    assert files == {measure.name for measure in count.MEASURES if measure.unit == "packet-hop"}
