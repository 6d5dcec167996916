"""Runs a scenario inside the kernel: its network from commands, its datagrams and its TCP connections at their times.

DIR/scenario.json is `{"linux", "datagrams", "connections", "rates"}`: what `Scenario.as_tc()` says of the network; a
list of `[ns, namespace, source port, address, size, tos, number, segments]`; TCP as in connections.py; by source port
the bytes a second that its socket may send (`SO_MAX_PACING_RATE`), or null.
DIR/scenario.out.json gets what left each port, `{port: [[number, ns, tos], ..]}`; of each connection the bytes received
and the segments retransmitted after the warm-up; and for each look its time, the packets and bytes in each queue, and
each sender's windows and round trips.

With `"forward": {"behind", "words"}` a program and its options, `perhop forward`, stand in the wire behind that port,
which has no queue of its own then. What passed is in `"passed"`: packets before and behind it, as
`[ns, tos, size, key..]`.
"""

from __future__ import annotations

import ctypes
import json
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import backlog
import between
import capture
import connections
import network
import send

#: Runs begin at multiples of this time: of 2^16 ns, so that clocks in units of 1024 ns or 64 ns keep their phase, and
#: of 1024 ticks, so that the kernel's timers do.
GRID = 1_024_000_000
#: How long the queues may take to empty, in virtual seconds.
DRAIN = 5


def main(folder: Path) -> None:
    """The whole scenario."""
    job = json.loads((folder / "scenario.json").read_text())
    linux = job["linux"]
    ctypes.CDLL(None).prctl(29, 1)  # no slack for timers
    network.call("ip", "link", "set", "lo", "up")
    live = between.Between(linux, job["forward"]) if "forward" in job else None
    for words in live.commands if live else [it["argv"] for it in linux["commands"]]:
        network.call(*words)
    taps = {}
    for port in linux["ports"]:
        with network.inside(port["far"]["namespace"]):
            taps[port["name"]] = capture.listen(port["far"]["device"])
    # Without a listener, datagrams would be answered by ICMP.
    listening = [_listen(node["namespace"]) for node in linux["nodes"]]
    ends = connections.prepare(job["connections"])
    if live:
        live.begin()
    time.sleep(1)
    start = (time.clock_gettime_ns(time.CLOCK_MONOTONIC) // GRID + 2) * GRID
    warm, end = start + linux["warmup_ns"], start + linux["duration_ns"]
    transfers = connections.Transfers(ends, start, warm, end)
    queues = {it["name"]: backlog.Watched(**it["near"]) for it in linux["ports"]}
    looks = _Looks(transfers, queues, start)
    threading.Thread(target=looks.look, args=(linux["sample_ns"], end), daemon=True).start()
    threading.Thread(target=_end_warmup, args=(transfers, warm), daemon=True).start()
    _datagrams(job["datagrams"], job["rates"], start)
    _sleep_until(end)
    outcome = transfers.outcome()
    time.sleep(DRAIN)
    offset = capture.real_minus_monotonic()
    left = {port: _first(capture.seen(tap), offset + start) for port, tap in taps.items()}
    for it in listening:
        it.close()
    out: dict[str, Any] = {"left": left, "connections": outcome, "looks": looks.seen}
    if live:
        out["passed"] = live.end(offset + start)
    (folder / "scenario.out.json").write_text(json.dumps(out))


class _Looks:
    """Queues and senders, as they were at times."""

    def __init__(self, transfers: connections.Transfers, queues: dict[str, backlog.Watched], start: int) -> None:
        self._transfers, self._queues, self._start = transfers, queues, start
        self.seen: list[dict[str, Any]] = []

    def look(self, every: int, end: int) -> None:
        """At the beginning, and again and again until the end."""
        at = self._start
        while every and at < end:
            _sleep_until(at)
            waiting = {port: it.now() for port, it in self._queues.items()}
            self.seen.append({"ns": at - self._start, "queues": waiting, "senders": self._transfers.states()})
            at += every


def _end_warmup(transfers: connections.Transfers, at: int) -> None:
    _sleep_until(at)
    transfers.end_warmup()


def _listen(namespace: str) -> socket.socket:
    with network.inside(namespace):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("0.0.0.0", send.PORT))
    return made


def _first(seen: list[capture.Seen], zero: int) -> list[tuple[int, int, int]]:
    """Each packet as it first passes a tap: behind a delay it is seen again."""
    found: dict[int, tuple[int, int, int]] = {}
    for it in seen:
        found.setdefault(it.number, (it.number, it.real_ns - zero, it.tos))
    return list(found.values())


def _sleep_until(at: int) -> None:
    wait = at - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    if wait > 0:
        time.sleep(wait * 1e-9)


def _datagrams(
    packets: list[tuple[int, str, int, str, int, int, int, int]], rates: dict[str, int | None], start: int
) -> None:
    opened: dict[tuple[str, int], socket.socket] = {}
    for _, node, port, *_ in packets:
        if (node, port) not in opened:
            with network.inside(node):
                opened[node, port] = send.sockets([send.Datagram(0, 0, 0, port)])[port]
            send.pace(opened[node, port], rates[str(port)])
    for ns, node, port, address, size, tos, number, segments in packets:
        _sleep_until(start + ns)
        message = send.message(number, send.Datagram(ns, size, tos, port, segments))
        opened[node, port].sendmsg(*message, 0, (address, send.PORT))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
