"""README and the pages of studies say what the records and reports say; scripts/docs/readme.py fills what it fills."""

import re
import runpy
from pathlib import Path

import pytest

from perhop_studies.papers import paper
from perhop_studies.records import Estimate, Record

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts/docs/readme.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def records(measured: float = 100.0) -> list[Record]:
    found = (Estimate(measured, (measured - 5, measured + 5)),)
    return [
        Record("pf-fig2", f"cell-{marker}-{flow}-in", "report", "", 67, found, 10, "reported", "")
        for marker in SCRIPT["MARKERS"]
        for flow in SCRIPT["FLOWS"]
    ]


def test_a_cell_of_fig_2_has_mean_half_width_and_the_papers_figure() -> None:
    assert "| token bucket | 100 ± 5 (67) | 100 ± 5 (67) | 100 ± 5 (67) |" in SCRIPT["fig2"](records())


def test_the_table_of_fig_2_has_the_papers_figures_and_the_text_its_own() -> None:
    page = SCRIPT["PAM"].read_text(encoding="utf-8")
    block = page.split("<!-- fig2: scripts/docs/readme.py -->\n")[1].split("<!-- end of fig2 -->")[0]
    rows = re.findall(r"^\| (?!green)(\D+?) \| (.*) \|$", block, re.MULTILINE)
    assert [name for name, _ in rows] == [*SCRIPT["MARKERS"].values()]
    printed = paper("pam-fsam").criteria().cells
    cells = {cell.criterion.claim: cell.published for cell in printed if cell.study == SCRIPT["STUDY"]}
    for marker, (_, row) in zip(SCRIPT["MARKERS"], rows, strict=True):
        figures = [cells[f"cell-{marker}-{flow}-in"] for flow in SCRIPT["FLOWS"]]
        assert [float(figure) for figure in re.findall(r"\((\d+)\)", row)] == figures
    counts = [int(mean) for mean in re.findall(r"(\d+) ±", rows[0][1])]
    assert f"A token bucket gives {100 * counts[2] / sum(counts):.0f} % of it to the UDP flow" in " ".join(page.split())


def test_filling_changes_the_block_alone_and_is_done_once() -> None:
    page = "a\n<!-- x: scripts/docs/readme.py -->\nold\n<!-- end of x -->\nb\n"
    once = SCRIPT["filled"](page, "x", "new")
    assert once == "a\n<!-- x: scripts/docs/readme.py -->\n\nnew\n\n<!-- end of x -->\nb\n"
    assert SCRIPT["filled"](once, "x", "new") == once


def test_a_missing_record_is_named() -> None:
    with pytest.raises(SystemExit, match="cell-pam-udp-in"):
        SCRIPT["fig2"]([r for r in records() if r.claim != "cell-pam-udp-in"])


@pytest.mark.parametrize(("path", "name"), [("README", "headline"), ("INDEX", "counts")])
def test_what_is_filled_is_that_of_the_last_full_runs(path: str, name: str) -> None:
    block = {"headline": SCRIPT["first_line"], "counts": SCRIPT["counts"]}[name]()
    page = SCRIPT[path].read_text(encoding="utf-8")
    assert SCRIPT["filled"](page, name, block) == page, "run scripts/docs/readme.py"


def test_the_picture_has_a_bar_for_each_paper_and_fate() -> None:
    found = SCRIPT["tallies"]()
    (axes,) = SCRIPT["drawn"](found).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [*found][::-1]
    widths = [[bar.get_width() for bar in bars] for bars in axes.containers]
    assert [*zip(*widths, strict=True)][::-1] == [SCRIPT["fates"](one) for one in found.values()]
    assert "docs/reports/figures/sentences.svg" in README
    assert "<svg" in SCRIPT["SENTENCES"].read_text(encoding="utf-8")


def test_a_link_to_a_picture_finds_it() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    assert [name for name in pictures if not (ROOT / name).is_file()] == []


def report(name: str) -> str:
    return (ROOT / "docs/reports" / name).read_text(encoding="utf-8")


def test_figures_beside_a_kernel_are_those_of_the_reports() -> None:
    said = " ".join(README.split())
    queues = re.search(r"in (\d+) of \[(\d+) recordings\]\(docs/reports/beside-linux.md\)", said)
    assert queues
    exact, cells = queues.groups()
    assert f"Of {cells} cells with " in report("beside-linux.md")
    assert f"{exact} are exact" in report("beside-linux.md")

    groups = re.findall(r"^\| \[\S+\]\(\S+\) \| (\d+) \| (\d+) \|", report("tcp-beside-linux.md"), re.MULTILINE)
    within, recorded = sum(int(inside) for _, inside in groups), sum(int(cells) for cells, _ in groups)
    assert f"in {within} of [{recorded} recordings](docs/reports/tcp-beside-linux.md)" in said


def test_the_ratio_to_ns2s_time_is_that_of_the_report() -> None:
    rows = re.findall(r"^\| [UPD]\S* \| \d+ \(.*?\) \| .*? \| ([\d.]+) to ([\d.]+) ", report("speed.md"), re.MULTILINE)
    least, most = min(float(low) for low, _ in rows), max(float(high) for _, high in rows)
    assert f"{least:g} to {most:g} times" in " ".join(README.split())
