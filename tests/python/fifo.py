"""One FIFO with SVB before NewReno flows with ECN: slow, and written from the paper and the RFCs alone.

What TCP does with an echo is a choice, so that it can be seen what the swing of the queue depends on.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field
from typing import Any

RATE, ROOM = 1250.0, 100
"""Packets per second, and packets that may wait."""
ALPHA, WINDOW, TIMEOUT = 0.05, 64.0, 0.3


@dataclass
class Flow:
    """Both ends of a connection: numbers count segments."""

    rtt: float
    cwnd: float = 2.0
    ssthresh: float = math.inf
    next: int = 0
    acked: int = 0
    cut_at: int = -1
    """No second cut before this is acknowledged (RFC 3168, 6.1.2)."""
    owes_cwr: bool = False
    recover: int = -1
    recovering: bool = False
    duplicates: int = 0
    waits: bool = False
    """An echo came at a window of 1: nothing is sent before the timer."""
    backoff: int = 1
    timer: int = 0
    expected: int = 0
    echo: bool = False
    held: set[int] = field(default_factory=set)


@dataclass
class Fifo:
    """SVB as its equations have it: C-passed, V0 as cap and start, F as floor of the virtual queue."""

    v0: float
    floor: float
    seed: int = 1
    latch: bool = True
    """The receiver echoes a mark until CWR comes (RFC 3168, 6.1.3)."""
    still: bool = True
    """An echo does not open the window (RFC 3168, 6.1.2)."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.events: list[tuple[float, int, str, int, Any]] = []
        self.flows: list[Flow] = []
        self.virtual, self.threshold, self.seen = self.floor, self.v0, 0.0
        self.waiting, self.free_at, self.count = 0, 0.0, 0

    def at(self, when: float, what: str, flow: int = 0, detail: Any = None) -> None:
        self.count += 1
        heapq.heappush(self.events, (when, self.count, what, flow, detail))

    def deviation(self, seconds: float = 100.0, warmup: float = 10.0) -> float:
        """Standard deviation of the packets that wait, by time."""
        for i in range(50):
            self.flows.append(Flow(0.12 * (1 + 0.02 * self.random.uniform(-1, 1))))
            self.at(self.random.random(), "start", i)
        sums, since = [0.0, 0.0, 0.0], warmup
        while self.events:
            now, _, what, i, detail = heapq.heappop(self.events)
            if now > seconds:
                break
            if now > since:
                sums = [s + (now - since) * self.waiting**k for k, s in enumerate(sums)]
                since = now
            getattr(self, what)(now, i, detail)
        return math.sqrt(sums[2] / sums[0] - (sums[1] / sums[0]) ** 2)

    def start(self, now: float, i: int, _: Any) -> None:
        self.fill(now, i)
        self.restart(now, i)

    def fill(self, now: float, i: int) -> None:
        flow = self.flows[i]
        while not flow.waits and flow.next - flow.acked < min(int(flow.cwnd), WINDOW):
            self.at(now, "arrive", i, (flow.next, False))
            flow.next += 1

    def restart(self, now: float, i: int) -> None:
        flow = self.flows[i]
        flow.timer += 1
        self.at(now + TIMEOUT * flow.backoff, "expire", i, flow.timer)

    def arrive(self, now: float, i: int, segment: tuple[int, bool]) -> None:
        number, repeated = segment
        flow, sent = self.flows[i], RATE * (now - self.seen)
        cwr, flow.owes_cwr = (flow.owes_cwr and not repeated), (flow.owes_cwr and repeated)
        self.seen = now
        self.virtual = max(self.floor, self.virtual - sent)
        self.threshold = min(self.v0, self.threshold + ALPHA * sent)
        queue, threshold = self.virtual + 1, self.threshold - ALPHA
        marked = self.random.random() < (queue - threshold) / queue
        if marked and (repeated or self.waiting >= ROOM):
            return
        self.virtual, self.threshold = queue, max(0.0, threshold)
        if self.waiting >= ROOM:
            return
        if self.free_at > now:
            self.waiting += 1
            self.at(self.free_at, "leave")
        self.free_at = max(now, self.free_at) + 1 / RATE
        self.at(self.free_at + flow.rtt, "answer", i, (number, marked, cwr))

    def leave(self, _now: float, _i: int, _: Any) -> None:
        self.waiting -= 1

    def expire(self, now: float, i: int, timer: int) -> None:
        flow = self.flows[i]
        if timer != flow.timer:
            return
        if flow.waits:
            flow.waits = False
            self.start(now, i, None)
        elif flow.acked < flow.next:
            flow.ssthresh, flow.cwnd = max(2.0, min(flow.cwnd, flow.next - flow.acked) / 2), 1.0
            flow.backoff, flow.recovering, flow.duplicates = min(64, 2 * flow.backoff), False, 0
            flow.recover, flow.next = flow.next, flow.acked + 1
            self.at(now, "arrive", i, (flow.acked, True))
            self.restart(now, i)

    def answer(self, now: float, i: int, segment: tuple[int, bool, bool]) -> None:
        """The receiver's ACK, and the sender on it: the return path has no queue, so one event is enough."""
        number, marked, cwr = segment
        flow = self.flows[i]
        flow.held.add(number)
        while flow.expected in flow.held:
            flow.held.discard(flow.expected)
            flow.expected += 1
        flow.echo = marked or (self.latch and flow.echo and not cwr)
        cut = flow.echo and flow.expected > flow.cut_at
        if cut:
            self.cut(now, i)
        if flow.expected > flow.acked:
            self.advance(now, i, cut or (self.still and flow.echo))
        elif flow.next > flow.acked:
            self.duplicate(now, i)
        self.fill(now, i)

    def cut(self, now: float, i: int) -> None:
        flow = self.flows[i]
        flow.cut_at, flow.owes_cwr = flow.next, True
        if flow.cwnd <= 1.0:
            flow.waits, flow.backoff = True, min(64, 2 * flow.backoff)
            self.restart(now, i)
        flow.ssthresh, flow.cwnd = max(2.0, flow.cwnd / 2), max(1.0, flow.cwnd / 2)

    def advance(self, now: float, i: int, hold: bool) -> None:
        flow = self.flows[i]
        flow.acked, flow.next, flow.duplicates = flow.expected, max(flow.next, flow.expected), 0
        if flow.recovering and flow.acked < flow.recover:
            self.at(now, "arrive", i, (flow.acked, True))
        elif flow.recovering:
            flow.recovering, flow.cwnd = False, flow.ssthresh
        elif not hold:
            flow.cwnd = min(WINDOW, flow.cwnd + (1.0 if flow.cwnd < flow.ssthresh else 1.0 / flow.cwnd))
        if not flow.waits:
            flow.backoff = 1
            self.restart(now, i)

    def duplicate(self, now: float, i: int) -> None:
        flow = self.flows[i]
        flow.duplicates += 1
        if flow.duplicates == 3 and not flow.recovering and flow.acked >= flow.recover:
            flow.recovering, flow.recover = True, flow.next
            flow.ssthresh = flow.cwnd = max(2.0, flow.cwnd / 2)
            self.at(now, "arrive", i, (flow.acked, True))
