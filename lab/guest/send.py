"""Sends numbered UDP datagrams at given virtual times, from lists of `[ns, size, tos, port]`: IP bytes, source port.

Decision: docs/decisions/070-the-lab-sends-tcp-itself.md
"""

from __future__ import annotations

import ctypes
import json
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

PORT = 9
HEADERS = 28  # IP and UDP
_PR_SET_TIMERSLACK, _SO_SNDBUFFORCE = 29, 32


class Datagram(NamedTuple):
    """One packet to be sent."""

    ns: int
    size: int
    tos: int
    port: int


def read(file: Path) -> list[Datagram]:
    """The packets of a file, in the order of their times."""
    return [Datagram(*it) for it in json.loads(file.read_text())]


def anywhere(_port: int) -> str:
    """The address of the interface."""
    return "0.0.0.0"


def sockets(packets: list[Datagram], source: Callable[[int], str] = anywhere) -> dict[int, socket.socket]:
    """A socket for each source port, at the address that `source` says, in the namespace of the caller."""
    opened = {}
    for port in {packet.port for packet in packets}:
        opened[port] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        opened[port].setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, 1 << 26)
        opened[port].bind((source(port), port))
    return opened


def wake_in_time() -> None:
    """The calling thread sleeps no longer than it asks for."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1)


def wait_until(at: int) -> None:
    """Sleeps until the monotonic clock shows this."""
    wait = at - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    if wait > 0:
        time.sleep(wait * 1e-9)


def send(packets: list[Datagram], opened: dict[int, socket.socket], to: str, start: int) -> None:
    """Sends all; `start` is the monotonic clock at time 0."""
    wake_in_time()
    for number, packet in enumerate(packets):
        wait_until(start + packet.ns)
        payload = struct.pack("!I", number).ljust(packet.size - HEADERS, b"\0")
        tos = [(socket.IPPROTO_IP, socket.IP_TOS, struct.pack("i", packet.tos))]
        opened[packet.port].sendmsg([payload], tos, 0, (to, PORT))
