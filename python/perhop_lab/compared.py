"""Ports in both worlds, packet for packet."""

from __future__ import annotations

import itertools
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from perhop.runs import Runs
from perhop_lab.classes import Class, Got, classes
from perhop_lab.job import Packet
from perhop_lab.worlds import Sender, World, recorded, simulated

if TYPE_CHECKING:
    from rich.table import Table

_CE = 3


class Compared(NamedTuple):
    """A port in both worlds."""

    port: str
    came: int
    left: int
    kernel_left: int
    other_fate: int
    """Left one and not the other; those that the simulator still held at its end are not counted."""
    other_mark: int
    apart_ns: list[int]
    """Between the departures of those that left both."""


def compared(packets: list[Packet], left: Mapping[str, list[tuple[int, int, int]]]) -> list[Compared]:
    """Every port that datagrams pass, packet for packet."""
    by_port: dict[str, list[Packet]] = defaultdict(list)
    for it in packets:
        by_port[it.hop].append(it)
    return [
        _compared(port, here, {number: (ns, tos) for number, ns, tos in left[port]}) for port, here in by_port.items()
    ]


def _compared(port: str, packets: list[Packet], kernel: Mapping[int, tuple[int, int]]) -> Compared:
    both = [(it, it.left, kernel[it.number]) for it in packets if it.left is not None and it.number in kernel]
    return Compared(
        port=port,
        came=len(packets),
        left=sum(it.left is not None for it in packets),
        kernel_left=len(kernel),
        other_fate=sum((it.left is None) == (it.number in kernel) for it in packets if not it.waits),
        other_mark=sum(it.marked != (tos & 3 == _CE) for it, _, (_, tos) in both),
        apart_ns=sorted(abs(ns - left) for _, left, (ns, _) in both),
    )


class Both(NamedTuple):
    """A scenario in both worlds."""

    ports: list[Compared]
    worlds: tuple[World, World] | None
    """TCP of the simulator and of the kernel; none is sent: `None`."""
    classes: list[Class]

    @classmethod
    def of(cls, packets: list[Packet], found: Mapping[str, Any], runs: Runs) -> Both:
        """From what was sent, what the kernel says and what the simulator says."""
        times = runs.settings["warmup_s"], runs.settings["duration_s"]
        worlds = (simulated(runs), recorded(found, *times)) if found["connections"] else None
        return cls(compared(packets, found["left"]), worlds, classes(packets, found["left"], worlds, runs))

    def to_json(self) -> dict[str, Any]:
        """What the tables show; `null` where nothing was measured."""
        ports = [_port(it) for it in self.ports]
        own = [{"class": it.name, "perhop": it.perhop._asdict(), "kernel": it.kernel._asdict()} for it in self.classes]
        if self.worlds is None:
            return {"ports": ports, "classes": own, "tcp": [], "queues": []}
        ours, kernel = self.worlds
        return {
            "ports": ports,
            "classes": own,
            "tcp": [
                {"traffic": it.traffic, "flow": it.flow, "perhop": _measured(it), "kernel": _measured(theirs)}
                for it, theirs in zip(ours.senders, kernel.senders, strict=True)
            ],
            "queues": [
                {"port": port, "perhop": it._asdict(), "kernel": kernel.queues[port]._asdict()}
                for port, it in ours.queues.items()
                if kernel.queues
            ],
        }

    def show(self) -> None:
        """Prints the tables: datagrams, classes, TCP, queues."""
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else 160)
        with console.capture() as text:
            if self.ports:
                console.print("Datagrams at ports: what left, and what differs, packet for packet", highlight=False)
                console.print(_departures(self.ports), highlight=False)
            console.print(
                "Classes: goodput of connections, and datagrams until they leave their last port", highlight=False
            )
            console.print(_classes(self.classes), highlight=False)
            if self.worlds:
                console.print("TCP: the simulator's and Linux's", highlight=False)
                console.print(_senders(*self.worlds), highlight=False)
            if self.worlds and all(it.queues for it in self.worlds):
                console.print("Queues at ports, in packets", highlight=False)
                console.print(_queues(*self.worlds), highlight=False)
        print(text.get(), end="")


def _apart_us(it: Compared) -> list[float]:
    """How far apart the departures are: median, 99 % quantile, most; nothing left both: none."""
    times = it.apart_ns
    return [ns / 1e3 for ns in (statistics.median(times), times[len(times) * 99 // 100], times[-1])] if times else []


def _port(it: Compared) -> dict[str, Any]:
    names = ("apart_p50_us", "apart_p99_us", "apart_max_us")
    counts = {name: count for name, count in it._asdict().items() if name != "apart_ns"}
    return {**counts, **dict(itertools.zip_longest(names, _apart_us(it)))}


def _grid(*headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left", no_wrap=not sys.stdout.isatty())
    return table


def _name(it: str) -> str:
    """A name of the scenario: no markup, and on one line."""
    from rich.markup import escape

    return escape(it if it.isprintable() else repr(it))


def _departures(ports: list[Compared]) -> Table:
    fates = ("came", "perhop", "kernel", "other fate", "other mark")
    table = _grid("port", *fates, "apart, median us", "p99 us", "at most us")
    for it in ports:
        cells = [f"{us:.3f}" for us in _apart_us(it)] or ["-"] * 3
        table.add_row(
            _name(it.port), *map(str, (it.came, it.left, it.kernel_left, it.other_fate, it.other_mark)), *cells
        )
    return table


def _classes(found: list[Class]) -> Table:
    pairs = [(f"{what}, perhop", "kernel") for what in ("Mbit/s", "lost %", "delay p50 ms", "p99 ms")]
    table = _grid("class", *(name for pair in pairs for name in pair))
    for it in found:
        pairs = [*zip(_shown(it.perhop), _shown(it.kernel), strict=True)]
        table.add_row(_name(it.name), *(cell for pair in pairs for cell in pair))
    return table


def _shown(it: Got) -> list[str]:
    values = ((it.goodput_bit_s, 1e-6), (it.lost, 100), (it.delay_p50_ms, 1), (it.delay_p99_ms, 1))
    return ["-" if value is None else f"{value * scale:.2f}" for value, scale in values]


def _senders(perhop: World, kernel: World) -> Table:
    pairs = [(f"{what}, perhop", "kernel") for what in ("Mbit/s", "repeats", "mean RTT ms", "mean window")]
    table = _grid("traffic", *(name for pair in pairs for name in pair))
    for ours, theirs in zip(perhop.senders, kernel.senders, strict=True):
        cells = zip(_figures(ours), _figures(theirs), strict=True)
        table.add_row(_name(ours.traffic), *(cell for pair in cells for cell in pair))
    return table


def _figures(it: Sender) -> list[str]:
    goodput, repeats, *means = _measured(it).values()
    return [f"{goodput / 1e6:.3f}", str(repeats), *("-" if mean is None else f"{mean:.2f}" for mean in means)]


def _measured(it: Sender) -> dict[str, Any]:
    srtt, cwnd = (statistics.mean(values) if values else None for values in (it.srtt_ms, it.cwnd))
    return {
        "goodput_bit_s": it.goodput_bit_s,
        "retransmitted_segments": it.retransmitted,
        "srtt_mean_ms": srtt,
        "cwnd_mean_segments": cwnd,
    }


def _queues(perhop: World, kernel: World) -> Table:
    table = _grid("port", "mean, perhop", "kernel", "p99, perhop", "kernel")
    for port, ours in perhop.queues.items():
        theirs = kernel.queues[port]
        table.add_row(_name(port), f"{ours.mean:.2f}", f"{theirs.mean:.2f}", f"{ours.p99:.0f}", f"{theirs.p99:.0f}")
    return table
