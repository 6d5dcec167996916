"""perhop's TCP beside the kernel's, cell by cell.

python3 lab/recording/beside.py [GROUP | TABLE | CELL ...] prints both and the verdict.
"""

from __future__ import annotations

import itertools
import math
import statistics
import sys
from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats

import transport
from perhop_lab.worlds import World, simulated
from transport import Cell

#: One connection, nothing random but a phase: how far from the range goodput may be, and retransmissions.
EXACT, LOSSES = 0.03, 2
#: Several connections or random queues: goodput and shares (or half the interval of the mean, if below NARROW); queues.
RANDOM, NARROW, QUEUE = 0.05, 0.10, 0.15
#: Cells of many boots: the standard error of the kernel's mean, in parts of it; of goodput and shares, and of queues.
#: With as many seeds, perhop, were it the kernel, would be outside in 1 of 20: RANDOM and QUEUE by 1.96 times root 2.
SURE = (0.018, 0.054)


class Measure(NamedTuple):
    """One number in both worlds."""

    name: str
    perhop: float
    kernel: Sequence[float]
    """Boot by boot."""
    good: bool

    @property
    def mean(self) -> float:
        """The kernel's."""
        return statistics.mean(self.kernel)


class Verdict(NamedTuple):
    """A cell in both worlds."""

    cell: Cell
    measures: list[Measure]

    @property
    def good(self) -> bool:
        """Whether every measure is inside."""
        return all(it.good for it in self.measures)


def verdict(cell: Cell, kernel: Sequence[World]) -> Verdict:
    """Runs a cell in the simulator and compares."""
    perhop = [one(cell, i) for i in range(len(kernel))]
    if not cell.exact:
        return Verdict(cell, _random(perhop, kernel))
    return Verdict(cell, [*_exact(perhop, kernel), *_alike(cell, perhop[0], kernel[0])])


def one(cell: Cell, boot: int) -> World:
    """The simulator's run that stands beside a boot."""
    scenario = cell.made(boot)
    return simulated(scenario.run(replications=1, seed=boot + 1, jobs=1, progress=False))


def _exact(perhop: Sequence[World], kernel: Sequence[World]) -> list[Measure]:
    rates, goodput = [it.goodput_bit_s() for it in kernel], statistics.mean(it.goodput_bit_s() for it in perhop)
    near = min(rates) * (1 - EXACT) <= goodput <= max(rates) * (1 + EXACT)
    repeats, ours = [float(it.retransmitted()) for it in kernel], statistics.mean(it.retransmitted() for it in perhop)
    same = min(repeats) - LOSSES <= ours <= max(repeats) + LOSSES
    return [Measure("goodput", goodput, rates, near), Measure("retransmitted", ours, repeats, same)]


def _alike(cell: Cell, perhop: World, kernel: World) -> list[Measure]:
    """Of the first boot: how long the window falls, to within a round trip; and at how many looks it is the same.

    The second is told, and no part of the verdict.
    """
    windows = transport.windows(cell.name)
    if windows is None:
        return []
    pairs = [(int(ours), int(theirs)) for ours, theirs in zip(perhop.senders[0].cwnd, windows[0], strict=False)]
    look_ms = 1e3 * cell.made(0).settings["duration_s"] / len(windows[0])
    ours, theirs = (look_ms * mean_fall(window) for window in zip(*pairs, strict=True))
    near = abs(ours - theirs) <= statistics.mean(kernel.senders[0].srtt_ms)
    same = sum(ours == theirs for ours, theirs in pairs) / len(pairs)
    return [Measure("recovery", ours, [theirs], near), Measure("same window", same, [1.0], good=True)]


def mean_fall(window: Sequence[int]) -> float:
    """Looks, on average, from one at which a window has shrunk to the first at which it has grown again."""
    falls, since = [], None
    for look, (before, now) in enumerate(itertools.pairwise(window), 1):
        if now < before and since is None:
            since = look
        elif now > before and since is not None:
            falls.append(look - since)
            since = None
    return statistics.mean(falls) if falls else 0.0


def told(worlds: Sequence[World], port: str) -> dict[str, list[float]]:
    """Run by run: goodput, the shares of traffic of several connections, the mean queue of a port."""
    found = {"goodput": [it.goodput_bit_s() for it in worlds]}
    names = list(dict.fromkeys(it.traffic for it in worlds[0].senders))
    if len(names) > 1:
        found |= {f"share of {name}": [_share(it, name) for it in worlds] for name in names}
    return found | {"queue": [it.queues[port].mean for it in worlds]}


def longest(worlds: Sequence[World]) -> str:
    """The port with the longest queue."""
    return max(worlds[0].queues, key=lambda port: statistics.mean(it.queues[port].mean for it in worlds))


def sure(cell: Cell, kernel: Sequence[World]) -> bool:
    """Whether the kernel's means are known as well as the cell asks."""
    measures = told(kernel, longest(kernel)).items() if cell.sure else ()
    return all(_error(runs) <= SURE[name == "queue"] * statistics.mean(runs) for name, runs in measures)


def _error(runs: Sequence[float]) -> float:
    """The standard error of the mean."""
    return statistics.stdev(runs) / math.sqrt(len(runs))


def _random(perhop: Sequence[World], kernel: Sequence[World]) -> list[Measure]:
    port = longest(kernel)
    ours, theirs = told(perhop, port), told(kernel, port)
    return [_measure(name, ours[name], theirs[name]) for name in theirs]


def _share(world: World, traffic: str) -> float:
    return sum(share for share, it in zip(world.shares(), world.senders, strict=True) if it.traffic == traffic)


def _measure(name: str, perhop: Sequence[float], kernel: Sequence[float]) -> Measure:
    ours, theirs, half = statistics.mean(perhop), statistics.mean(kernel), 0.0
    if name == "queue":
        return Measure(name, ours, kernel, abs(ours - theirs) <= QUEUE * theirs)
    if len(kernel) > 1:
        half = float(stats.t.ppf(0.975, len(kernel) - 1)) * _error(kernel)
    reach = max(RANDOM * theirs, half if half < NARROW * theirs else 0.0)
    return Measure(name, ours, kernel, abs(ours - theirs) <= reach)


def main() -> None:
    """A line a cell."""
    names, records = set(sys.argv[1:]), transport.recorded()
    groups: dict[str, list[bool]] = {}
    for cell in transport.all_cells():
        if cell.name in records and (not names or {cell.name, cell.table, cell.group} & names):
            found = verdict(cell, records[cell.name])
            groups.setdefault(cell.group, []).append(found.good)
            told = ", ".join(f"{_word(it)}{'' if it.good else ' !'}" for it in found.measures)
            print(f"{'   ' if found.good else 'OUT'} {cell.name:32} {told}", flush=True)
    for group, good in groups.items():
        print(f"{group}: {sum(good)} of {len(good)} inside")


def _word(it: Measure) -> str:
    scale = 1e6 if it.name == "goodput" else 1.0
    return f"{it.name} {it.perhop / scale:.3f}/{it.mean / scale:.3f} ({it.perhop / max(it.mean, 1e-9) - 1:+.1%})"


if __name__ == "__main__":
    main()
