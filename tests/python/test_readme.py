"""README's table has the shape that scripts/docs/readme_table.py gives it; its numbers are those of a reproduction."""

import re
import runpy
from pathlib import Path

import pytest

from perhop_studies import headline
from perhop_studies.papers import PAPERS
from perhop_studies.records import Estimate, Record
from perhop_studies.settings import FROZEN

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts/docs/readme_table.py"))


def records(measured: float = 100.0) -> list[Record]:
    found = (Estimate(measured, (measured - 5, measured + 5)),)
    return [
        Record("pf-fig2", f"cell-{marker}-{flow}-in", "report", "", 67, found, 10, "reported", "")
        for marker in SCRIPT["MARKERS"]
        for flow in SCRIPT["FLOWS"]
    ]


def shape(block: str) -> str:
    return re.sub(r"\d+", "0", block)


def test_the_table_is_one_that_the_script_writes() -> None:
    readme = (ROOT / "README.md").read_text()
    block = readme.split(SCRIPT["BEGIN"])[1].split(SCRIPT["END"])[0].strip("\n")
    assert shape(block) == shape(SCRIPT["table"](records()).strip("\n"))


def test_filling_changes_the_block_alone_and_is_done_once() -> None:
    page = "a\n" + SCRIPT["BEGIN"] + "old\n" + SCRIPT["END"] + "b\n"
    once = SCRIPT["filled"](page, SCRIPT["table"](records()))
    assert "| token bucket | 100 ± 5 (67) | 100 ± 5 (67) | 100 ± 5 (67) |" in once
    assert once.startswith("a\n")
    assert once.endswith("b\n")
    assert SCRIPT["filled"](once, SCRIPT["table"](records())) == once


def test_a_missing_record_is_named() -> None:
    with pytest.raises(SystemExit, match="cell-pam-udp-in"):
        SCRIPT["table"]([r for r in records() if r.claim != "cell-pam-udp-in"])


def test_the_counts_are_those_of_the_last_full_runs() -> None:
    readme = (ROOT / "README.md").read_text()
    assert SCRIPT["filled"](readme, SCRIPT["counts"](), *SCRIPT["COUNTS"]) == readme, "run scripts/docs/readme_table.py"


@pytest.mark.parametrize("name", SCRIPT["FIGURES"].values())
def test_the_figures_are_there(name: str) -> None:
    assert f"docs/reports/figures/{name}" in (ROOT / "README.md").read_text()
    assert (ROOT / "docs/reports/figures" / name).is_file()
    assert "<svg" in (ROOT / "docs/reports/figures/pf-fig2.svg").read_text()


def report(name: str) -> str:
    return (ROOT / "docs/reports" / name).read_text()


def test_the_first_screen_says_what_the_reports_say() -> None:
    first = (ROOT / "README.md").read_text().split("\n## ")[0]
    queues = re.search(r"(\d+) of \[(\d+) recordings\]\S+ of its queues .*\n.*?(\d+) in dist", first)
    assert queues
    exact, cells, alike = queues.groups()
    assert f"Of {cells} cells with " in report("beside-linux.md")
    assert f"{exact} are exact, {alike} agree in distribution" in report("beside-linux.md")

    groups = re.findall(r"^\| \[\S+\]\(\S+\) \| (\d+) \| (\d+) \|", report("tcp-beside-linux.md"), re.MULTILINE)
    within, recorded = sum(int(inside) for _, inside in groups), sum(int(cells) for cells, _ in groups)
    assert f"{within} of [{recorded} recordings](docs/reports/tcp-beside-linux.md)" in first

    ratios = re.findall(r"^\| [UPD]\S* \| \d+ \(.*?\) \| .*? \| ([\d.]+) \(", report("speed.md"), re.MULTILINE)
    assert (round(min(map(float, ratios))), round(max(map(float, ratios)))) == (5, 15)
    assert "A fifth to a fifteenth of [ns-2's time](docs/reports/speed.md)" in first

    assert f"rerun**, {headline.kept(PAPERS.values(), FROZEN).short}." in first
