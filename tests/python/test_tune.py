"""`perhop tune` and `perhop.tune`: the same numbers, and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perhop
from conftest import ROOT, Command

CLASS = {"rtt": "120ms", "flows": (50, 100), "share": 1.0}
LINK = ["--rate", "10Mbit/s", "--class", "rtt=120ms,flows=50..100"]


def test_the_same_numbers(perhop: Command) -> None:
    from perhop import tune

    done = perhop("tune", "svb", *LINK, "--v0", "300p", "--alpha", "0.05", "--json")
    tuned = tune("svb", rate="10Mbit/s", classes=[CLASS], v0="300p", alpha=0.05)
    assert tuned.numbers == json.loads(done.stdout)
    stated = tuned.settings[0]["loops"][0]
    assert stated["critical_packets"] == pytest.approx(350, abs=0.5)
    assert not tuned.settings[0]["stable"]
    assert tuned.recommended["stable"]


def test_a_scenario_and_its_overrides() -> None:
    few = perhop.tune("svb", ROOT / "examples/svb.toml", overrides={"dumbbell.flows": 10})
    many = perhop.tune("svb", ROOT / "examples/svb.toml", overrides={"dumbbell.flows": 15})
    assert few.loops[0]["flows"] == [10, 10]
    assert many.recommended["v0_packets"] < few.recommended["v0_packets"]
    assert 'aqm = "svb"' in many.toml


def test_classes_as_words_or_mappings() -> None:
    words = ["rtt=120ms,flows=5,share=0.5,for=AF11+AF12", "rtt=60ms,flows=9,share=0.5"]
    mappings: list[perhop.tuning.Class] = [
        {"rtt": "120ms", "flows": 5, "share": 0.5, "for": ["AF11", "AF12"]},
        {"rtt": "60ms", "flows": 9, "share": 0.5},
    ]
    one, other = (perhop.tune("msvb", rate="10Mbit/s", classes=classes) for classes in (words, mappings))
    assert one.numbers == other.numbers
    assert 'for = ["AF11", "AF12"]' in one.toml


def test_faults_are_said() -> None:
    with pytest.raises(ValueError, match="no equilibrium"):
        perhop.tune("svb", rate="10Mbit/s", classes=["rtt=120ms,flows=500"])
    with pytest.raises(ValueError, match="rate without unit"):
        perhop.tune("svb", rate="10", classes=["rtt=120ms,flows=50"])
    with pytest.raises(ValueError, match="pi"):
        perhop.tune("pi", rate="10Mbit/s", classes=["rtt=120ms,flows=50"])


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.pdf"])
def test_a_picture(tmp_path: Path, perhop: Command, name: str) -> None:
    done = perhop("tune", "svb", *LINK, "-o", name)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).stat().st_size > 5000
    assert done.stdout.endswith(f"{name}\n")
    before = (tmp_path / name).read_bytes()
    assert perhop("tune", "svb", *LINK, "-o", name).returncode == 0
    assert (tmp_path / name).read_bytes() == before, "the same numbers give the same picture"


def test_a_picture_of_no_kind(tmp_path: Path, perhop: Command) -> None:
    done = perhop("tune", "svb", *LINK, "-o", "a.txt")
    assert done.returncode == 2
    assert ".svg" in done.stderr
    assert not list(tmp_path.iterdir())
