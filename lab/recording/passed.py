"""What passed a port, and what each class got there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from perhop.runs import Runs

#: AF11.
GREEN = 10
CE = 3
#: The class of a packet by the code point with which it came.
CLASSES = {16: "A", 8: "B", 24: "C"}


class Passed(NamedTuple):
    """A packet at the port: the class it came with, times in ns, IP bytes, and its TOS byte as it left."""

    source: str
    came: int
    left: int | None
    size: int
    tos: int


class Figures(NamedTuple):
    """A class after the warm-up."""

    mbit_s: float
    share: float
    """Of the bytes that left."""
    dropped: float
    """Of the packets that came."""
    green: float
    """Of the packets that left: AF11."""
    delay_ms: float
    queue: float
    """Mean number of its packets that waited, by Little's law."""
    marked: float = 0.0
    """Of the packets that left: CE."""


def figures(packets: Sequence[Passed], warmup_ns: int, end_ns: int) -> dict[str, Figures]:
    """Those of every class."""
    seen = [it for it in packets if warmup_ns <= it.came < end_ns]
    span = (end_ns - warmup_ns) * 1e-9
    total = sum(it.size for it in seen if it.left is not None)
    found = {}
    for source in dict.fromkeys(it.source for it in sorted(seen)):
        own = [it for it in seen if it.source == source]
        left = [it for it in own if it.left is not None]
        waited = [(it.left - it.came) * 1e-9 for it in left if it.left is not None]
        size = sum(it.size for it in left)
        found[source] = Figures(
            mbit_s=size * 8e-6 / span,
            share=size / total,
            dropped=1 - len(left) / len(own),
            green=sum(it.tos >> 2 == GREEN for it in left) / len(left),
            delay_ms=1e3 * sum(waited) / len(left),
            queue=sum(waited) / span,
            marked=sum(it.tos & CE == CE for it in left) / len(left),
        )
    return found


def simulated(runs: Runs, port: str) -> list[Passed]:
    """What passed the port in the simulator."""
    rows = runs.events()
    columns = ("traffic", "hop", "direction", "in_ns", "out_ns", "fate", "wire_bytes", "dscp", "ecn")
    return [
        Passed(
            source=str(traffic),
            came=int(came),
            left=int(left) if fate in ("sent", "marked") else None,
            size=int(size),
            tos=int(dscp) << 2 | (CE if ecn == "ce" else 0),
        )
        for traffic, hop, direction, came, left, fate, size, dscp, ecn in zip(
            *(rows[it] for it in columns), strict=True
        )
        if str(hop) == port and direction == "out" and fate not in ("waiting", "in-flight")
    ]


def recorded(found: Mapping[str, Any]) -> list[Passed]:
    """What passed the forwarder in the kernel."""
    # Behind the delay of the link a packet is seen again.
    behind = {tuple(key): (ns, tos) for ns, tos, _, *key in reversed(found["passed"]["behind"])}
    packets = []
    for came, tos, size, *key in found["passed"]["before"]:
        left, out = behind.get(tuple(key), (None, 0))
        packets.append(Passed(CLASSES.get(tos >> 2, "other"), came, left, size, out))
    return packets
