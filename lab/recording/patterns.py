"""Arrival patterns: from the streams of patterns.toml to datagrams, by fixed formulas."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

DSCP = {"BE": 0, "EF": 46, "AF41": 34, "AF21": 18, "AF12": 12}
ECN = {"not-ect": 0, "ect1": 1, "ect0": 2}
MILLISECOND, MICROSECOND = 1_000_000, 1_000
#: The least time between two packets: twice the clock's unit, so that a recording cannot change their order.
APART_NS = 512
KEYS = {
    *("size", "gap", "law", "burst", "spacing", "segments", "start", "stop", "on", "off"),
    *("dscp", "ecn", "port", "flows"),
}


class Datagram(NamedTuple):
    """A packet to be sent: when, bytes of IP, TOS byte and source port; how many such datagrams it is."""

    ns: int
    size: int
    tos: int
    port: int
    segments: int = 1


class Sequence:
    """Numbers in (0, 1) by a linear congruential formula (Knuth's MMIX constants), the same everywhere."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 2 + 1
        for _ in range(4):
            self.next()

    def next(self) -> float:
        """The next of them."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return ((self._state >> 11) + 0.5) / (1 << 53)


def datagrams(name: str, pattern: dict[str, Any]) -> list[Datagram]:
    """All packets of a pattern, in the order of their times, no two of them at once."""
    found: list[Datagram] = []
    for index, stream in enumerate(pattern["streams"]):
        if unknown := stream.keys() - KEYS:
            raise SystemExit(f"patterns.toml: {name}: unknown keys {sorted(unknown)}; known: {sorted(KEYS)}")
        found += _stream(stream, Sequence(zlib.crc32(f"{name}/{index}".encode())))
    found.sort()
    for index in range(1, len(found)):
        found[index] = found[index]._replace(ns=max(found[index].ns, found[index - 1].ns + APART_NS))
    return found


def _stream(stream: dict[str, Any], numbers: Sequence) -> Iterator[Datagram]:
    sizes = stream["size"] if isinstance(stream["size"], list) else [stream["size"]]
    tos = DSCP[stream.get("dscp", "BE")] << 2 | ECN[stream.get("ecn", "not-ect")]
    spacing = stream.get("spacing", 3) * MICROSECOND
    first, flows = stream.get("port", 5001), stream.get("flows", 1)
    ports = itertools.cycle(range(first, first + flows))
    for at in _times(stream, numbers):
        for place in range(stream.get("burst", 1)):
            size = sizes[int(numbers.next() * len(sizes))]
            yield Datagram(at + place * spacing, size, tos, next(ports), stream.get("segments", 1))


def _times(stream: dict[str, Any], numbers: Sequence) -> Iterator[int]:
    gap, stop = stream["gap"] * MICROSECOND, stream["stop"] * MILLISECOND
    start = stream.get("start", 0) * MILLISECOND
    on, off = stream.get("on", 0) * MILLISECOND, stream.get("off", 0) * MILLISECOND
    at, poisson = float(start), stream.get("law", "regular") == "poisson"
    while at < stop:
        if not on or (at - start) % (on + off) < on:
            yield int(at if poisson else at + numbers.next() * gap / 8)
        at += -math.log(numbers.next()) * gap if poisson else gap
