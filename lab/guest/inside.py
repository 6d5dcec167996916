"""Works through a job inside the kernel: each cell sets up its queue, sends its datagrams and records both sides.

DIR/job.json is a list of `{"name", "up", "adaptive", "down", "show", "packets"}`: `tc` commands before and after,
handles of adaptive REDs, commands that print counts, and a file of datagrams. DIR/NAME.rows.json gets a list for each
datagram: arrival, size, tos, port, departure, tos at departure. Times are the monotonic clock's, and the last two are
null for what did not depart. DIR/NAME.tc gets the counts. With `"read"`,
milliseconds of the cell, DIR/NAME.counters.json gets what the same commands print then with -j, and when.
With `"forward"`, a program and its options, `perhop forward` takes the router's place; DIR/NAME.forward.json gets its
counts.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import adaptive
import capture
import forward
import network
import send

#: Cells begin at multiples of this time: a power of two, so that clocks in units of 1024 ns or 64 ns keep their phase.
GRID = 1 << 30


#: How long a cell waits for its queue to empty, in virtual seconds.
DRAIN = 5


class Reader(threading.Thread):
    """Reads counters at given times of a cell, with the times at which each command began and ended."""

    def __init__(self, show: list[list[str]], at: list[int], start: int) -> None:
        """`start` is the monotonic clock at time 0."""
        super().__init__()
        self.show, self.at, self.start_ns = show, at, start
        self.read: list[dict[str, Any]] = []

    def run(self) -> None:
        """Waits for each time."""
        send.wake_in_time()
        for ms in self.at:
            send.wait_until(self.start_ns + ms * 1_000_000)
            self.read += [self.shown(words) for words in self.show]

    def shown(self, words: list[str]) -> dict[str, Any]:
        """What a command prints, and the times of the cell between which it did."""
        began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        text = network.call("tc", "-n", "r", "-s", "-j", *words)
        ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        return {"what": words[0], "from_ns": began - self.start_ns, "to_ns": ended - self.start_ns, "text": text}


def cell(job: dict[str, Any], folder: Path) -> None:
    """One cell."""
    packets = send.read(folder / job["packets"])
    way = network.FORWARDED if "forward" in job else network.ROUTED
    with network.inside("s"):
        opened = send.sockets(packets, network.source)
    with network.inside(way.middle):
        before = capture.listen(way.coming)
    with network.inside("d"):
        behind = capture.listen(way.leaving)
    bursts = any(it.segments > 1 for it in packets)
    network.keeps_bursts("s0", bursts)
    network.tc(job["up"])
    for handle in job["adaptive"]:
        adaptive.start("r1", handle)
    forwarder = forward.Forwarder(way.middle, ("l0", "l1"), job["forward"]) if "forward" in job else None
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    start = (now // GRID + 2) * GRID
    reader = Reader(job["show"], job.get("read", []), start)
    reader.start()
    send.send(packets, opened, way.receiver, start)
    time.sleep(DRAIN)
    reader.join()
    if forwarder:
        (folder / f"{job['name']}.forward.json").write_text(json.dumps(forwarder.end()))
    offset = capture.real_minus_monotonic()
    came, left = capture.seen(before), {it.number: it for it in capture.seen(behind)}
    shown = [network.call("tc", "-n", "r", "-s", "-d", *words) for words in job["show"]]
    network.tc(job["down"])
    for socket in (*opened.values(), before, behind):
        socket.close()
    rows = []
    for it, sent in zip(came, packets, strict=False):
        for number in range(it.number, it.number + sent.segments):
            gone = left.get(number)
            fate = (gone.real_ns - offset - start, gone.tos) if gone else (None, None)
            rows.append((it.real_ns - offset - start, sent.size, it.tos, it.port, *fate))
    (folder / f"{job['name']}.rows.json").write_text(json.dumps(rows))
    (folder / f"{job['name']}.tc").write_text("".join(shown))
    if reader.read:
        (folder / f"{job['name']}.counters.json").write_text(json.dumps(reader.read))
    if [it.size for it in came] != [send.HEADERS + it.segments * (it.size - send.HEADERS) for it in packets]:
        raise SystemExit(f"lab: {job['name']}: {len(packets)} datagrams sent, {len(came)} at the router")


def main(folder: Path) -> None:
    """The whole job."""
    network.build()
    for job in json.loads((folder / "job.json").read_text()):
        cell(job, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
