"""docs/reports/tcp-beside-linux.md: every cell of TCP in both worlds, with its verdict.

python3 lab/recording/page.py writes it, and its figures.

Decision: docs/decisions/044-tcp-follows-the-kernel.md
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from matplotlib.figure import Figure

import beside
import transport
from beside import Measure, Verdict
from cells import LAB, RECORDS

REPORTS = LAB.parent / "docs/reports"
PAGE, FIGURES = REPORTS / "tcp-beside-linux.md", REPORTS / "figures"
#: Cells whose windows are drawn.
DRAWN = (
    "drop-tail-40ms-one-linux",
    "drop-tail-100ms-quarter-linux-reno",
    "policer-62kB-40ms-linux",
    "policer-15kB-40ms-linux-reno",
)
HEADING = "| cell | Mbit/s: perhop | Linux | other measures: perhop / Linux | verdict |\n|---|---|---|---|---|\n"
#: How many of ten cells have to be inside.
BAR = 9

HEAD = Path(__file__).with_suffix(".md")


def verdicts() -> list[Verdict]:
    """Every recorded cell, compared."""
    records = transport.recorded()
    which = [cell for cell in transport.all_cells() if cell.name in records]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda cell: beside.verdict(cell, records[cell.name]), which))


def text(found: Sequence[Verdict]) -> str:
    """The page."""
    recorded_with = tomllib.loads((RECORDS / "kernel.toml").read_text())
    phases = max(it.cell.boots for it in found if it.cell.exact)
    sure = " and ".join(dict.fromkeys(f"`{it.cell.group}`" for it in found if it.cell.sure))
    most = max(len(it.measures[0].kernel) for it in found)
    head = HEAD.read_text(encoding="utf-8")
    inside = sum(it.good for it in found)
    out = head.format(
        kernel=recorded_with["kernel"], cells=len(found), inside=inside, phases=phases, sure=sure, most=most
    )
    groups = list(dict.fromkeys(it.cell.group for it in found))
    for group in groups:
        own = [it for it in found if it.cell.group == group]
        inside = sum(it.good for it in own)
        bar = "reached" if 10 * inside >= BAR * len(own) else "not reached"
        out += f"| [{group}](#{group}) | {len(own)} | {inside} | {bar} |\n"
    out += "\nFour cells in their first boot, the window in segments over time in seconds:\n"
    out += "".join(f"\n![window of `{name}`](figures/tcp-{name}.svg)\n" for name in DRAWN)
    return out + "".join(_section(group, [it for it in found if it.cell.group == group]) for group in groups)


def _section(group: str, found: Sequence[Verdict]) -> str:
    """A group's table, and below it why cells are outside."""
    notes = list(dict.fromkeys(it.cell.explained for it in found if it.cell.explained and not it.good))
    out = f"\n## {group}\n\n{HEADING}" + "".join(_row(it, notes) for it in found)
    return out + "".join(f"\n({number}) {note}.\n" for number, note in enumerate(notes, 1))


def _row(it: Verdict, notes: Sequence[str]) -> str:
    goodput, *others = it.measures
    rates = sorted(rate / 1e6 for rate in goodput.kernel)
    spread = f"{rates[0]:.3f}" if len({f"{rate:.3f}" for rate in rates}) == 1 else f"{rates[0]:.3f} to {rates[-1]:.3f}"
    verdict = "inside" if it.good else f"outside: {_what(it)}{_why(it, notes)}"
    measures = "; ".join(_said(other) for other in others)
    return f"| `{it.cell.name}` | {goodput.perhop / 1e6:.3f} | {spread} | {measures} | {verdict} |\n"


def _said(it: Measure) -> str:
    if it.name == "same window":
        return f"{it.name} {it.perhop:.0%}"
    if it.name == "recovery":
        return f"{it.name} {it.perhop:.0f} / {it.mean:.0f} ms"
    digits = 3 if it.name.startswith("share") else 1
    return f"{it.name} {it.perhop:.{digits}f} / {it.mean:.{digits}f}"


def _why(it: Verdict, notes: Sequence[str]) -> str:
    return f" ({notes.index(it.cell.explained) + 1})" if it.cell.explained else ""


def _what(it: Verdict) -> str:
    return ", ".join(measure.name for measure in it.measures if not measure.good)


def draw(name: str) -> None:
    """The windows of a cell's first boot in both worlds."""
    cell = next(it for it in transport.all_cells() if it.name == name)
    kernel, perhop = transport.windows(name), beside.one(cell, 0)
    assert kernel is not None
    figure = Figure(figsize=(8, 2.4), layout="constrained")
    axes = figure.subplots()
    for label, windows, colour, width in (
        ("Linux", kernel[0], "#f0a070", 3.2),
        ("perhop", perhop.senders[0].cwnd, "#203060", 0.9),
    ):
        axes.plot([i / 100 for i in range(len(windows))], windows, label=label, color=colour, linewidth=width)
    axes.set(xlabel="time, s", ylabel="window, segments", xlim=(0, len(kernel[0]) / 100), ylim=(0, None))
    axes.set_title(name, loc="left", fontsize="medium")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0, ncols=2)
    figure.savefig(FIGURES / f"tcp-{name}.svg", metadata={"Date": None})


def main() -> None:
    """Writes all."""
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "perhop"
    PAGE.write_text(text(verdicts()), encoding="utf-8")
    for name in DRAWN:
        draw(name)


if __name__ == "__main__":
    main()
