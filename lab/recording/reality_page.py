"""docs/reports/simulation-and-reality.md: policies under TCP in the simulator and in `perhop forward`, side by side.

python3 lab/recording/reality_page.py writes it from lab/records/reality.csv.
"""

from __future__ import annotations

import math
import statistics
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

import reality
from cells import LAB, RECORDS
from passed import Figures
from perhop import stats
from reality import LIVE, SIMULATOR, Cell

PAGE = LAB.parent / "docs/reports/simulation-and-reality.md"
FIGURE = PAGE.parent / "figures/simulation-and-reality.svg"
HEAD = Path(__file__).with_suffix(".md")
#: A live share may differ by so much of the simulated one.
MARGIN = 0.05
WITHIN, UNDECIDED, OUTSIDE = "within", "undecided", "outside"
PERCENT = 100
#: What a table shows of both worlds, and in which unit.
SHOWN = (("share", PERCENT), ("dropped", PERCENT), ("marked", PERCENT), ("green", PERCENT), ("delay_ms", 1))
HEADING = (
    "| law | class | share: simulator | live | live / simulator | dropped: simulator | live | marked: simulator | live "
    "| green: simulator | live | delay, ms: simulator | live | verdict |\n"
    f"|---|---|{'---:|' * 11}---|\n"
)


class Sample(NamedTuple):
    """Runs of one world."""

    values: list[float]

    @property
    def mean(self) -> float:
        """Their mean."""
        return statistics.fmean(self.values)

    @property
    def half(self) -> float:
        """Half of its 95 % interval; infinite for one run."""
        found = stats.interval(self.values)
        return math.inf if found.n < 2 else (found.high - found.low) / 2

    def said(self, scale: float) -> str:
        """The mean with its interval; of what never was, 0."""
        if not any(self.values):
            return "0"
        around = f" ± {scale * self.half:.1f}" if math.isfinite(self.half) else ""
        return f"{scale * self.mean:.1f}{around}"


class Line(NamedTuple):
    """A class of a cell."""

    cell: Cell
    source: str
    worlds: dict[str, dict[str, Sample]]

    @property
    def ratio(self) -> float:
        """Of the live share to the simulated one."""
        return self.worlds[LIVE]["share"].mean / self.worlds[SIMULATOR]["share"].mean

    @property
    def noise(self) -> float:
        """Half of the ratio's 95 % interval, from both worlds; infinite where a world has one run."""
        parts = [self.worlds[world]["share"] for world in (SIMULATOR, LIVE)]
        return self.ratio * math.hypot(*(part.half / part.mean for part in parts))

    @property
    def verdict(self) -> str:
        """Whether the ratio is within the margin; one that is not, and whose interval reaches it, decides nothing."""
        off = abs(self.ratio - 1)
        if off <= MARGIN:
            return WITHIN
        return UNDECIDED if off - self.noise <= MARGIN else OUTSIDE

    @property
    def explained(self) -> str:
        """Why it is not; empty if that is not known."""
        told = self.cell.text.get("explained", {})
        return str(told.get(f"{self.cell.law}.{self.source}", told.get(self.cell.law, told.get("all", ""))))


def lines() -> list[Line]:
    """Every class of every cell that has been recorded in both worlds."""
    rows = list(reality.have().values())
    found = []
    for cell in reality.all_cells():
        own = [row for row in rows if (row["cell"], row["law"]) == (cell.name, cell.law)]
        if {row["world"] for row in own} != {SIMULATOR, LIVE}:
            continue
        for source in (it for it in reality.SOURCES if it in cell.text):
            worlds = {
                world: {name: Sample(_values(own, world, source, name)) for name in Figures._fields}
                for world in (SIMULATOR, LIVE)
            }
            found.append(Line(cell, source, worlds))
    return found


def _values(rows: Sequence[dict[str, str]], world: str, source: str, name: str) -> list[float]:
    return [float(row[name]) for row in rows if (row["world"], row["class"]) == (world, source)]


def text(found: Sequence[Line]) -> str:
    """The page."""
    kernel = tomllib.loads((RECORDS / "kernel.toml").read_text())["kernel"]
    runs = sorted({len(it.worlds[LIVE]["share"].values) for it in found})
    out = HEAD.read_text(encoding="utf-8").format(
        kernel=kernel,
        shares=len(found),
        within=sum(it.verdict == WITHIN for it in found),
        sure=sum(abs(it.ratio - 1) + it.noise <= MARGIN for it in found),
        undecided=sum(it.verdict == UNDECIDED for it in found),
        outside=sum(it.verdict == OUTSIDE for it in found),
        runs=" or ".join(", ".join(map(str, runs)).rsplit(", ", 1)),
        cells=len({(it.cell.name, it.cell.law) for it in found}),
        simulated=reality.SIMULATED,
        margin=f"{PERCENT * MARGIN:.0f}",
    )
    for name in dict.fromkeys(it.cell.name for it in found):
        out += _section([it for it in found if it.cell.name == name])
    return out


def _section(found: Sequence[Line]) -> str:
    cell = found[0].cell
    out = f"\n## `{cell.name}`: {cell.text['about']}\n\n```ini\n{cell.text['policy']}```\n\n{HEADING}"
    out += "".join(_row(it) for it in found)
    queues = (f"{law} {_queue(found, law, SIMULATOR)} / {_queue(found, law, LIVE)}" for law in _laws(found))
    out += f"\nMean queue in packets, simulator / live: {', '.join(queues)}.\n"
    told = dict.fromkeys([cell.text.get("note"), *(it.explained for it in found if it.verdict == OUTSIDE)])
    return out + "".join(f"\n{it}\n" for it in told if it)


def _laws(found: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(it.cell.law for it in found))


def _queue(found: Sequence[Line], law: str, world: str) -> str:
    own = [it.worlds[world]["queue"].values for it in found if it.cell.law == law]
    return Sample([sum(values) for values in zip(*own, strict=True)]).said(1)


def _row(it: Line) -> str:
    cells = [it.worlds[world][name].said(scale) for name, scale in SHOWN for world in (SIMULATOR, LIVE)]
    around = f" ± {it.noise:.3f}" if math.isfinite(it.noise) else ""
    cells.insert(2, f"{it.ratio:.3f}{around}")
    verdict = f"**{OUTSIDE}**" if it.verdict == OUTSIDE else it.verdict
    return f"| {it.cell.law} | {it.source} | {' | '.join(cells)} | {verdict} |\n"


def draw(found: Sequence[Line]) -> None:
    """Every share in both worlds, with its interval, and the margin."""
    figure = Figure(figsize=(5.2, 4.8), layout="constrained")
    axes = figure.subplots()
    axes.fill_between((0, 1), (0, 1 - MARGIN), (0, 1 + MARGIN), color="#e8e8e8", linewidth=0, label=f"± {MARGIN:.0%}")
    for law, colour, marker in (("cubic", "#203060", "o"), ("reno", "#f0a070", "s"), ("bbr", "#408060", "^")):
        own = [it for it in found if it.cell.law == law]
        simulated, live = ([it.worlds[world]["share"] for it in own] for world in (SIMULATOR, LIVE))
        axes.errorbar(
            [it.mean for it in simulated],
            [it.mean for it in live],
            xerr=[it.half for it in simulated],
            yerr=[it.half if math.isfinite(it.half) else 0 for it in live],
            fmt=marker,
            color=colour,
            markersize=4,
            linewidth=0.8,
            label=law,
        )
    axes.set(xlabel="share, simulator", ylabel="share, live", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    """Writes page and figure."""
    mpl.rcParams["svg.hashsalt"] = "perhop"
    found = lines()
    PAGE.write_text(text(found), encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
