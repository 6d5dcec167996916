"""`make renew` is the one way to write again what tests compare with: its words are those of CONTRIBUTING.md."""

from __future__ import annotations

import re
import subprocess

from conftest import ROOT


def test_every_word_of_renew_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = {word for rule in re.findall(r"^(renew-[^:\n]*):", makefile, re.MULTILINE) for word in rule.split()}
    section = (ROOT / "CONTRIBUTING.md").read_text().split("make renew", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    explained = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)} - {"WHAT"}
    assert targets == {f"renew-{word}" for word in explained}


def test_what_renew_does_without_a_word_needs_only_a_checkout() -> None:
    makefile = (ROOT / "Makefile").read_text()
    default = re.search(r"^WHAT \?= (.*)$", makefile, re.MULTILINE)
    first = (ROOT / "CONTRIBUTING.md").read_text().split("| `WHAT` | recorded |")[1]
    cells = re.findall(r"^\| (`[^|]*`) \|", first, re.MULTILINE)
    assert default is not None
    assert set(default[1].split()) == {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


def test_there_is_no_other_variable_that_makes_tests_write() -> None:
    other = r'(env::var\w*\(|environ\b.*)"(BLESS|[A-Z_]*(UPDATE|WRITE)[A-Z_]*)"'
    named = ["git", "grep", "-lE", other, "--", "crates", "tests"]
    assert subprocess.run(named, cwd=ROOT, capture_output=True, text=True, check=False).stdout == ""
