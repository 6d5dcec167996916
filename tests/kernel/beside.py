"""perhop's TCP beside the kernel's, cell by cell.

python3 tests/kernel/beside.py [GROUP | TABLE | CELL ...] prints both and the verdict.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats

import transport
from perhop.kernel.transport import World, simulated
from transport import Cell

#: One connection, nothing random but a phase: how far from the range goodput may be, and retransmissions.
EXACT, LOSSES = 0.03, 2
#: Several connections or random queues: goodput and shares (or half the interval of the mean, if below NARROW); queues.
RANDOM, NARROW, QUEUE = 0.05, 0.10, 0.15
#: Queues are told apart to one packet.
PACKET = 1.0


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
    perhop = [one(cell, i) for i in range(cell.boots)]
    return Verdict(cell, _exact(perhop, kernel) if cell.phased else _random(perhop, kernel))


def one(cell: Cell, boot: int) -> World:
    """The simulator's run that stands beside a boot."""
    scenario = cell.made(boot)
    return simulated(scenario.run(replications=1, seed=boot + 1, jobs=1, progress=False), scenario)


def _exact(perhop: Sequence[World], kernel: Sequence[World]) -> list[Measure]:
    rates, goodput = [it.goodput_bit_s() for it in kernel], statistics.mean(it.goodput_bit_s() for it in perhop)
    near = min(rates) * (1 - EXACT) <= goodput <= max(rates) * (1 + EXACT)
    repeats, ours = [float(it.retransmitted()) for it in kernel], statistics.mean(it.retransmitted() for it in perhop)
    same = min(repeats) - LOSSES <= ours <= max(repeats) + LOSSES
    return [Measure("goodput", goodput, rates, near), Measure("retransmitted", ours, repeats, same)]


def _random(perhop: Sequence[World], kernel: Sequence[World]) -> list[Measure]:
    goodput = _measure("goodput", [it.goodput_bit_s() for it in perhop], [it.goodput_bit_s() for it in kernel])
    shares = [
        _measure(f"share of {name}", [_share(it, name) for it in perhop], [_share(it, name) for it in kernel])
        for name in dict.fromkeys(it.traffic for it in kernel[0].senders)
    ]
    port = max(kernel[0].queues, key=lambda port: statistics.mean(it.queues[port].mean for it in kernel))
    waiting = [it.queues[port].mean for it in kernel]
    ours = statistics.mean(it.queues[port].mean for it in perhop)
    apart = abs(ours - statistics.mean(waiting))
    queue = Measure("queue", ours, waiting, apart <= max(QUEUE * statistics.mean(waiting), PACKET))
    return [goodput, *(shares if len(shares) > 1 else []), queue]


def _share(world: World, traffic: str) -> float:
    return sum(share for share, it in zip(world.shares(), world.senders, strict=True) if it.traffic == traffic)


def _measure(name: str, perhop: Sequence[float], kernel: Sequence[float]) -> Measure:
    ours, theirs, half = statistics.mean(perhop), statistics.mean(kernel), 0.0
    if len(kernel) > 1:
        half = float(stats.t.ppf(0.975, len(kernel) - 1)) * statistics.stdev(kernel) / math.sqrt(len(kernel))
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
