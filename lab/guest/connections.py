"""TCP connections inside the kernel: senders that always have more to send, receivers that count what they read.

A connection is `{"traffic", "flow", "from", "to", "start_ns", "stop_ns", "bytes", "segment", "window", "tos",
"congestion", "max_pacing_rate"}`: two nodes, times from the beginning of the run, bytes that it may come to send, of a
full segment, of the receiver's window and that it may send a second, or null.

A sender hands its socket all that it may come to send at once: so PSH is set once in each half of the first window, and
not wherever a process happens to write. One that is to stop early writes as it goes, for what a socket holds is sent.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import network
import send

FIRST_PORT = 5201
_CHUNK = 1 << 18
_SO_SNDBUFFORCE = 32


class Ends(NamedTuple):
    """A connection's sockets, before it is opened."""

    connection: dict[str, Any]
    client: socket.socket
    server: socket.socket


def prepare(connections: Iterable[dict[str, Any]]) -> list[Ends]:
    """Both ends of each, in their namespaces; each has its own port."""
    return [_ends(it, FIRST_PORT + i) for i, it in enumerate(connections)]


def _ends(connection: dict[str, Any], port: int) -> Ends:
    with network.inside(connection["to"]["namespace"]):
        server = _socket(connection)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, connection["window"])
        server.bind((connection["to"]["address"], port))
        server.listen(1)
    with network.inside(connection["from"]["namespace"]):
        client = _socket(connection)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, connection["congestion"].encode())
        send.pace(client, connection["max_pacing_rate"])
        client.bind((connection["from"]["address"], 0))
    return Ends(connection, client, server)


def _socket(connection: dict[str, Any]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, connection["segment"])
    made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, connection["tos"])
    return made


class State(NamedTuple):
    """What a sender's socket says of itself: windows in segments, round trips in us, retransmissions so far."""

    cwnd: int
    ssthresh: int
    rtt: int
    minimum: int
    retransmitted: int


def _state(client: socket.socket) -> State:
    """`struct tcp_info`: 8 bytes, then words."""
    words = struct.unpack_from("=36I", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232), 8)
    # Rates are 64 bits wide: 4 words after the 24th, then what was acknowledged and received, segments, unsent bytes.
    return State(cwnd=words[18], ssthresh=words[17], rtt=words[15], minimum=words[35], retransmitted=words[23])


class Transfers:
    """Connections in progress, and what became of each from `warmup` to `end` (monotonic, ns)."""

    def __init__(self, ends: list[Ends], start: int, warmup: int, end: int) -> None:
        """Begins all of them at their times."""
        self._window = range(warmup, end)
        self._ends = ends
        self._received = [0] * len(ends)
        self._retransmitted_before = [0] * len(ends)
        for i in range(len(ends)):
            threading.Thread(target=self._receive, args=(i,), daemon=True).start()
            threading.Thread(target=_send, args=(ends[i], start, end), daemon=True).start()

    def _receive(self, i: int) -> None:
        opened, _ = self._ends[i].server.accept()
        while data := opened.recv(_CHUNK):
            if time.clock_gettime_ns(time.CLOCK_MONOTONIC) in self._window:
                self._received[i] += len(data)

    def states(self) -> list[State]:
        """Of all connections, as they are now."""
        return [_state(it.client) for it in self._ends]

    def end_warmup(self) -> None:
        """What is retransmitted counts from now on."""
        self._retransmitted_before = [it.retransmitted for it in self.states()]

    def outcome(self) -> list[dict[str, Any]]:
        """Of each connection: its traffic, bytes received, segments retransmitted."""
        return [
            {
                "traffic": it.connection["traffic"],
                "flow": it.connection["flow"],
                "received": size,
                "retransmitted": state.retransmitted - before,
            }
            for it, size, state, before in zip(
                self._ends, self._received, self.states(), self._retransmitted_before, strict=True
            )
        ]


def _send(ends: Ends, start: int, end: int) -> None:
    connection, client = ends.connection, ends.client
    early = connection["stop_ns"] is not None
    stop = min(end, start + connection["stop_ns"]) if early else end
    # A call takes up to 1024 pieces.
    piece = bytes(max(_CHUNK, connection["bytes"] // 1000))
    data = [piece] * (1 if early else connection["bytes"] // len(piece) + 1)
    wait = start + connection["start_ns"] - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    time.sleep(max(wait, 0) * 1e-9)
    try:
        client.connect((connection["to"]["address"], ends.server.getsockname()[1]))
        if not early:
            client.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, connection["bytes"] + len(piece))
        while (left := stop - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) > 0:
            client.settimeout(left * 1e-9)
            client.sendmsg(data)
        client.shutdown(socket.SHUT_WR)
    except TimeoutError:
        client.shutdown(socket.SHUT_WR)
