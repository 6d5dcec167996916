"""TCP connections inside the kernel: senders that always have more to send, receivers that count what they read.

A connection is `{"traffic", "from", "source", "to", "address", "start_ns", "stop_ns", "segment", "window", "tos",
"congestion"}`: nodes and their addresses, times from the beginning of the run, bytes of a full segment and of the
receiver's window.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import network

FIRST_PORT = 5201
_CHUNK = 1 << 16


class Ends(NamedTuple):
    """A connection's sockets, before it is opened."""

    connection: dict[str, Any]
    client: socket.socket
    server: socket.socket


def prepare(connections: Iterable[dict[str, Any]]) -> list[Ends]:
    """Both ends of each, in their namespaces; each has its own port."""
    return [_ends(it, FIRST_PORT + i) for i, it in enumerate(connections)]


def _ends(connection: dict[str, Any], port: int) -> Ends:
    with network.inside(connection["to"]):
        server = _socket(connection)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, connection["window"])
        server.bind((connection["address"], port))
        server.listen(1)
    with network.inside(connection["from"]):
        client = _socket(connection)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, connection["congestion"].encode())
        client.bind((connection["source"], 0))
    return Ends(connection, client, server)


def _socket(connection: dict[str, Any]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, connection["segment"])
    made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, connection["tos"])
    return made


class Transfers:
    """Connections in progress, and the bytes of each traffic that were read from `warmup` to `end` (monotonic, ns)."""

    def __init__(self, ends: list[Ends], start: int, warmup: int, end: int) -> None:
        """Begins all of them at their times."""
        self._window = range(warmup, end)
        self._lock = threading.Lock()
        self.received = dict.fromkeys((it.connection["traffic"] for it in ends), 0)
        for it in ends:
            threading.Thread(target=self._receive, args=(it,), daemon=True).start()
            threading.Thread(target=_send, args=(it, start, end), daemon=True).start()

    def _receive(self, ends: Ends) -> None:
        opened, _ = ends.server.accept()
        while data := opened.recv(_CHUNK):
            if time.clock_gettime_ns(time.CLOCK_MONOTONIC) in self._window:
                with self._lock:
                    self.received[ends.connection["traffic"]] += len(data)


def _send(ends: Ends, start: int, end: int) -> None:
    connection, client, data = ends.connection, ends.client, bytes(_CHUNK)
    stop = end if connection["stop_ns"] is None else min(end, start + connection["stop_ns"])
    wait = start + connection["start_ns"] - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    time.sleep(max(wait, 0) * 1e-9)
    try:
        client.connect((connection["address"], ends.server.getsockname()[1]))
        while (left := stop - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) > 0:
            client.settimeout(left * 1e-9)
            client.send(data)
        client.shutdown(socket.SHUT_WR)
    except TimeoutError:
        client.shutdown(socket.SHUT_WR)
