"""Each mutant of tests/mutants is a text that occurs once in its file, so that the list can be tried at any time."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_text_occurs_once() -> None:
    mutants = tomllib.loads((ROOT / "tests/mutants/mutants.toml").read_text(encoding="utf-8"))["mutant"]
    wrong = [it for it in mutants if (ROOT / it["file"]).read_text(encoding="utf-8").count(it["old"]) != 1]
    assert not wrong
    assert len(mutants) > 70
