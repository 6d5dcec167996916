"""What each class got in both worlds: its connections' goodput, and how long its datagrams were on their way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from perhop.runs import Runs
from perhop_lab.job import Packet
from perhop_lab.worlds import World

_MS = 1e-6


class Got(NamedTuple):
    """A class in one world after the warm-up; `None`: it has no connections, or none of its datagrams left."""

    goodput_bit_s: float | None
    """Of its connections."""
    lost: float | None
    """Share of its datagrams that did not leave their last port."""
    delay_p50_ms: float | None
    """From a datagram's first port until it leaves its last."""
    delay_p99_ms: float | None


class Class(NamedTuple):
    """A class in both worlds."""

    name: str
    perhop: Got
    kernel: Got


class _Sent(NamedTuple):
    """A datagram that was sent, and when it left its last port in both worlds; `None`: it did not."""

    came: int
    perhop: int | None
    kernel: int | None


Left = Mapping[str, Sequence[tuple[int, int, int]]]


def classes(packets: Sequence[Packet], left: Left, worlds: tuple[World, World] | None, runs: Runs) -> list[Class]:
    """Every class that sent something, in the order of the file."""
    named = runs.table("traffic")
    of = dict(zip(named["traffic"].tolist(), named["class"].tolist(), strict=True))
    sent: dict[str, list[_Sent]] = defaultdict(list)
    for traffic, one in _sent(packets, left):
        if one.came >= runs.settings["warmup_s"] * 1e9:
            sent[of[traffic]].append(one)
    rates: tuple[dict[str, float], ...] = tuple(_goodput(world, of) for world in worlds or ())
    perhop, kernel = rates or ({}, {})
    return [
        Class(
            name,
            _got(perhop.get(name), [(it.came, it.perhop) for it in sent[name]]),
            _got(kernel.get(name), [(it.came, it.kernel) for it in sent[name]]),
        )
        for name in dict.fromkeys(of.values())
        if name in perhop or sent[name]
    ]


def _sent(packets: Iterable[Packet], left: Left) -> Iterable[tuple[str, _Sent]]:
    """Each datagram with its traffic; those that were still on their way at the end are left out."""
    ways: dict[int, list[Packet]] = defaultdict(list)
    for it in packets:
        ways[it.number].append(it)
    last: dict[tuple[str, int], tuple[int, str]] = {}
    for way in ways.values():
        key = way[0].traffic, way[0].flow
        last[key] = max(last.get(key, (0, "")), (len(way), way[-1].hop))
    times = {port: {number: ns for number, ns, _ in here} for port, here in left.items()}
    for number, way in ways.items():
        _, port = last[way[0].traffic, way[0].flow]
        end = way[-1]
        if not end.waits:
            own = end.left if end.hop == port else None
            yield end.traffic, _Sent(way[0].came, own, times[port].get(number))


def _goodput(world: World, of: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for it in world.senders:
        found[of[it.traffic]] += it.goodput_bit_s
    return found


def _got(goodput: float | None, sent: Sequence[tuple[int, int | None]]) -> Got:
    delays = sorted((out - came) * _MS for came, out in sent if out is not None)
    lost = 1 - len(delays) / len(sent) if sent else None
    p50, p99 = (delays[len(delays) * share // 100] if delays else None for share in (50, 99))
    return Got(goodput, lost, p50, p99)
