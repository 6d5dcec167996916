"""docs/tcp-beside-linux.md: every cell of TCP in both worlds, with its verdict.

python3 tests/kernel/page.py writes it, and its figures.
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

ROOT = transport.HERE.parents[1]
PAGE, FIGURES = ROOT / "docs" / "tcp-beside-linux.md", ROOT / "docs" / "figures"
#: Cells whose windows are drawn.
DRAWN = (
    "drop-tail-40ms-one-linux",
    "drop-tail-100ms-quarter-linux-reno",
    "policer-62kB-40ms-linux",
    "policer-15kB-40ms-linux-reno",
)
HEADING = "| cell | Mbit/s: perhop | Linux | other measures: perhop / Linux | |\n|---|---|---|---|---|\n"
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
    recorded_with = tomllib.loads((transport.HERE / "kernel.toml").read_text())
    phases = max(it.cell.boots for it in found if it.cell.phased)
    out = HEAD.read_text(encoding="utf-8").format(kernel=recorded_with["kernel"], cells=len(found), phases=phases)
    groups = list(dict.fromkeys(it.cell.group for it in found))
    for group in groups:
        own = [it for it in found if it.cell.group == group]
        inside = sum(it.good for it in own)
        bar = "reached" if 10 * inside >= BAR * len(own) else "not reached"
        out += f"| [{group}](#{group}) | {len(own)} | {inside} | {bar} |\n"
    there = {it.cell.name for it in found}
    missing = [cell for cell in transport.all_cells() if cell.name not in there]
    for why in dict.fromkeys(cell.unrecorded for cell in missing):
        names = ", ".join(f"`{cell.name}`" for cell in missing if cell.unrecorded == why)
        out += f"\nNot recorded: {names}{': ' if why else ''}{why}.\n"
    out += "".join(f"\n![window of `{name}`](figures/tcp-{name}.svg)\n" for name in DRAWN)
    for group in groups:
        out += f"\n## {group}\n\n{HEADING}"
        out += "".join(_row(it) for it in found if it.cell.group == group)
    return out


def _row(it: Verdict) -> str:
    goodput, *others = it.measures
    rates = sorted(rate / 1e6 for rate in goodput.kernel)
    spread = f"{rates[0]:.3f}" if len({f"{rate:.3f}" for rate in rates}) == 1 else f"{rates[0]:.3f} to {rates[-1]:.3f}"
    verdict = "inside" if it.good else f"outside: {it.cell.explained or _what(it)}"
    measures = "; ".join(_said(other) for other in others)
    return f"| `{it.cell.name}` | {goodput.perhop / 1e6:.3f} | {spread} | {measures} | {verdict} |\n"


def _said(it: Measure) -> str:
    digits = 3 if it.name.startswith("share") else 1
    return f"{it.name} {it.perhop:.{digits}f} / {it.mean:.{digits}f}"


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
        ("Linux", kernel[0], "#c05020", 2.4),
        ("perhop", perhop.senders[0].cwnd, "#203060", 0.9),
    ):
        axes.plot([i / 100 for i in range(len(windows))], windows, label=label, color=colour, linewidth=width)
    axes.set(xlabel="s", ylabel="window, segments", title=name, xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False, loc="upper right", ncols=2)
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
