"""The tutorial and the how-tos do what they say: every file is written, every command run, every line compared.

`make renew WHAT=walkthroughs` writes what is printed and drawn now into the pages and their figures; read
`git diff docs` then, for the prose quotes numbers.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from walkthrough import FENCE, Reader, commands, edit, missing, renewed, replaced

ROOT = Path(__file__).resolve().parents[2]
IDEAS = ("an-idea-in-two-minutes", "a-congestion-control-of-your-own", "a-knob-in-your-hand")
NAMES = ("tutorial", "configurations", "captures", *IDEAS)
GUIDES = [ROOT / f"docs/guides/{name}.md" for name in NAMES]
PAGES = [*GUIDES, *sorted((ROOT / "docs/guides/how-to").glob("*.md"))]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A directory in which `examples/` and `tests/` are what a reader has."""
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_can_be_followed(page: Path, checkout: Path) -> None:
    reader = Reader(checkout, renews="PERHOP_RENEW" in os.environ)
    reader.follow(page.read_text())
    assert reader.ran >= 2
    drawn = {path.name: path for path in checkout.glob("*.svg")}
    shown = re.findall(r"\]\((?:\.\./)?figures/(\S+)\)", reader.page)
    assert set(shown) <= set(drawn)
    if reader.renews:
        page.write_text(reader.page)
        for name in shown:
            shutil.copyfile(drawn[name], ROOT / "docs/guides/figures" / name)


def test_the_tutorial_ends_with_the_example(tmp_path: Path) -> None:
    for found in FENCE.finditer((ROOT / "docs/guides/tutorial.md").read_text()):
        if found[1] == "toml":
            edit(tmp_path, found[2])
    built = tomllib.loads((tmp_path / "tutorial.toml").read_text())
    assert built == tomllib.loads((ROOT / "examples/tutorial.toml").read_text())


def test_numbers_in_the_tutorials_text_are_in_the_examples_output() -> None:
    said = (ROOT / "docs/guides/tutorial.md").read_text().split("## 4.")[1].split("## 5.")[0]
    printed = (ROOT / "examples/expected/tutorial.txt").read_text()
    rates = re.findall(r"(\d+\.\d) (?:Mbit/s|of the homes)", said)
    assert len(rates) == 3
    delivered = [f"{float(x):.1f}" for x in re.findall(r"^(?:business|home) +\w+ +(\d+\.\d+)", printed, re.MULTILINE)]
    assert set(rates) <= set(delivered)


@pytest.mark.slow
def test_the_readmes_first_screen_can_be_followed(checkout: Path) -> None:
    readme = ROOT / "README.md"
    screen, rest = readme.read_text().split("\n## ", 1)
    reader = Reader(checkout, renews="PERHOP_RENEW" in os.environ)
    reader.follow(screen)
    drawn, kept = checkout / "branch.svg", ROOT / "docs/guides/figures/branch.svg"
    if reader.renews:
        readme.write_text(f"{reader.page}\n## {rest}")
        shutil.copyfile(drawn, kept)
    assert drawn.read_text() == kept.read_text(), "run `make renew WHAT=walkthroughs`"


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_no_placeholder_is_left(page: Path) -> None:
    assert re.findall(r"@[A-Z]+@|TODO", page.read_text()) == []


def test_a_line_that_is_not_printed_is_found() -> None:
    assert missing(["a", "...", "c 1.5 s"], "a\nb\nc 0.1 s (3 M)\n") is None
    assert missing(["c", "a"], "a\nb\nc\n") == "a"
    assert missing(["a b"], "a\nb\n") == "a b"


def test_what_is_shown_is_renewed() -> None:
    printed = "a 1\ncbs  rate Mbit/s\n25kB  4.61 ±0.20\n50kB  7.2 ±0.1\n100kB  9 ±0\n"
    shown = ["cbs  rate Mbit/s", "25kB  4.58 ±0.14", "...", "100kB  8.2 ±0.1", "gone 1"]
    assert renewed(shown, printed) == ["cbs  rate Mbit/s", "25kB  4.61 ±0.20", "...", "100kB  9 ±0", "gone 1"]


def test_commands_and_their_output_are_told_apart() -> None:
    found = commands("$ perhop check x\nfine\n$ perhop run x\n")
    assert [(c.line, c.shown) for c in found] == [("perhop check x", ["fine"]), ("perhop run x", [])]


def test_one_table_is_replaced() -> None:
    text = "[a]\nx = 1\n\n[b]\ny = [\n  1,\n]\n\n[c]\nz = 3\n"
    assert replaced(text, "b", "[b]\ny = 2\n") == "[a]\nx = 1\n\n[b]\ny = 2\n\n[c]\nz = 3\n"
    with pytest.raises(AssertionError, match="0 times"):
        replaced(text, "d", "")
