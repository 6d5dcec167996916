"""A token bucket written from the manual page of tc-tbf does what the kernel recorded: so the vectors' times are sound.

The only thing the kernel adds is a nanosecond: its timer fires one after the time it was set for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import pytest

import cells

ETHERNET = 14
Price = Callable[[int], int]


def price(rate: int, *, overhead: int = 0, mpu: int = 0, atm: bool = False) -> Price:
    """Nanoseconds that bytes cost at a rate in bit/s."""

    def cost(size: int) -> int:
        size = max(size + overhead, mpu)
        size = -(-size // 48) * 53 if atm else size
        return size * 8_000_000_000 // rate

    return cost


class Bucket(NamedTuple):
    """Its price of bytes, sizes in bytes, and the price and depth of its peak."""

    cost: Price
    burst: int
    limit: int
    peak: tuple[Price, int] | None = None


BUCKETS = {
    "tbf": Bucket(price(10_000_000), 10_000, 60_000),
    "tbf-tight": Bucket(price(10_000_000), 1_600, 30_000),
    "tbf-burst-below-packet": Bucket(price(10_000_000), 1_000, 30_000),
    "tbf-peak": Bucket(price(10_000_000), 40_000, 100_000, (price(20_000_000), 1_600)),
    "tbf-overhead": Bucket(price(10_000_000, overhead=24, mpu=124), 10_000, 60_000),
    "tbf-atm": Bucket(price(10_000_000, overhead=10, atm=True), 10_000, 60_000),
}


class Port:
    """Queue and bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.queue: deque[tuple[int, int]] = deque()
        self.waiting = 0
        self.depth = self.tokens = bucket.cost(bucket.burst)
        self.peak_depth = self.peak_tokens = bucket.peak[0](bucket.peak[1]) if bucket.peak else 0
        self.filled = -(1 << 40)
        self.wakes: int | None = None
        self.left: dict[int, int] = {}

    def arrive(self, now: int, number: int, size: int) -> None:
        self.advance(now)
        if size <= self.bucket.burst and self.waiting + size <= self.bucket.limit:
            self.queue.append((number, size))
            self.waiting += size
            self.send(now)

    def advance(self, now: int) -> None:
        while self.wakes is not None and self.wakes <= now:
            self.send(self.wakes)

    def send(self, now: int) -> None:
        self.wakes = None
        while self.queue:
            number, size = self.queue[0]
            passed = now - self.filled
            tokens = min(self.tokens + passed, self.depth) - self.bucket.cost(size)
            peak = 0
            if self.bucket.peak:
                peak = min(self.peak_tokens + passed, self.peak_depth) - self.bucket.peak[0](size)
            if min(tokens, peak) < 0:
                self.wakes = now - min(tokens, peak) + 1
                return
            self.queue.popleft()
            self.waiting -= size
            self.filled, self.tokens, self.peak_tokens = now, tokens, peak
            self.left[number] = now


@pytest.mark.parametrize("cell", [it for it in cells.all_cells() if it.port in BUCKETS], ids=lambda cell: cell.name)
def test_a_token_bucket_is_the_kernels_to_the_nanosecond(cell: cells.Cell) -> None:
    port, rows = Port(BUCKETS[cell.port]), cells.read(cell.file)
    for number, row in enumerate(rows):
        port.arrive(row.arrival, number, row.size + ETHERNET)
    port.advance(1 << 60)
    assert [port.left.get(number) for number in range(len(rows))] == [row.departure for row in rows]
