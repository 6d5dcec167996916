"""What TCP got in a world, and what it did to the queues: from the simulator's tables, or from the kernel's record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from perhop.runs import Runs

#: Bits and milliseconds.
_BYTE, _US = 8, 1e-3


class Sender(NamedTuple):
    """A connection after the warm-up; its windows from the beginning, one a look."""

    traffic: str
    flow: int
    goodput_bit_s: float
    retransmitted: int
    cwnd: list[float]
    """Segments."""
    srtt_ms: list[float]
    """0: none yet."""


class Queue(NamedTuple):
    """A port's queue at each look after the warm-up, in packets."""

    mean: float
    p99: float


class World(NamedTuple):
    """One run of a scenario."""

    senders: list[Sender]
    """By traffic and flow."""
    queues: dict[str, Queue]

    def goodput_bit_s(self) -> float:
        """Of all connections."""
        return sum(it.goodput_bit_s for it in self.senders)

    def shares(self) -> list[float]:
        """Each connection's part of that."""
        return [it.goodput_bit_s / max(self.goodput_bit_s(), 1.0) for it in self.senders]

    def retransmitted(self) -> int:
        """By all connections."""
        return sum(it.retransmitted for it in self.senders)


def simulated(runs: Runs, replication: int = 0) -> World:
    """A replication of the simulator's."""
    looks: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    of_looks = ("traffic", "flow", "cwnd_segments", "srtt_ms")
    traffics, flows, windows, trips = _columns(runs, "flow_series", replication, *of_looks)
    for traffic in dict.fromkeys(traffics.tolist()):
        its = traffics == traffic
        for flow in dict.fromkeys(flows[its].tolist()):
            one = its & (flows == flow)
            looks[traffic, flow] = windows[one].tolist(), [srtt or 0.0 for srtt in trips[one].tolist()]
    of_flows = ("traffic", "flow", "goodput_bit_s", "retransmitted_segments")
    senders = [
        Sender(traffic, flow, goodput, int(retransmitted), *looks.get((traffic, flow), ([], [])))
        for traffic, flow, goodput, retransmitted in _rows(runs, "flows", replication, *of_flows)
        if _is_number(retransmitted)
    ]
    times_s, quantities, hops, values = _columns(runs, "series", replication, "t_s", "quantity", "hop", "value")
    waiting = (quantities == "queue_packets") & (times_s >= runs.settings["warmup_s"])
    hops, values = hops[waiting], values[waiting]
    queues = {port: _queue(values[hops == port].tolist()) for port in dict.fromkeys(hops.tolist())}
    return World(sorted(senders, key=_key), queues)


def recorded(found: Mapping[str, Any], warmup_s: float, duration_s: float) -> World:
    """The kernel's: what lab/guest/scenario.py has written."""
    looks = found["looks"]
    senders = [
        Sender(
            traffic=it["traffic"],
            flow=it["flow"],
            goodput_bit_s=it["received"] * _BYTE / (duration_s - warmup_s),
            retransmitted=it["retransmitted"],
            cwnd=[float(look["senders"][i][0]) for look in looks],
            srtt_ms=[look["senders"][i][2] * _US for look in looks],
        )
        for i, it in enumerate(found["connections"])
    ]
    later = [look["queues"] for look in looks if look["ns"] >= warmup_s * 1e9]
    ports = later[0] if later else ()
    return World(sorted(senders, key=_key), {port: _queue([float(look[port][0]) for look in later]) for port in ports})


def _columns(runs: Runs, table: str, replication: int, *columns: str) -> list[Any]:
    """These columns of a replication's rows, as arrays."""
    found = runs.table(table)
    own = found["replication"] == replication
    return [found[name][own] for name in columns]


def _rows(runs: Runs, table: str, replication: int, *columns: str) -> Iterator[tuple[Any, ...]]:
    """The same, row by row."""
    return zip(*(column.tolist() for column in _columns(runs, table, replication, *columns)), strict=True)


def _is_number(value: float | None) -> bool:
    """A flow without TCP has none: null, or NaN where others have some."""
    return value is not None and not math.isnan(value)


def _key(it: Sender) -> tuple[str, int]:
    return it.traffic, it.flow


def _queue(values: Sequence[float]) -> Queue:
    ordered = sorted(values)
    return Queue(sum(ordered) / len(ordered), ordered[len(ordered) * 99 // 100])
