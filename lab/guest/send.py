"""Sends numbered UDP datagrams at given virtual times, from lists of `[ns, size, tos, port, segments]`.

The size is in IP bytes, the port the source's; so many datagrams are handed over as one packet (UDP_SEGMENT).

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
_PR_SET_TIMERSLACK, _SO_SNDBUFFORCE, _SO_MAX_PACING_RATE, _UDP_SEGMENT = 29, 32, 47, 103


class Datagram(NamedTuple):
    """One packet to be sent: of several datagrams of that size, if it has segments."""

    ns: int
    size: int
    tos: int
    port: int
    segments: int = 1


def read(file: Path) -> list[Datagram]:
    """The packets of a file, in the order of their times."""
    return [Datagram(*it) for it in json.loads(file.read_text())]


def anywhere(_port: int) -> str:
    """The address of the interface."""
    return "0.0.0.0"


def pace(opened: socket.socket, rate: int | None) -> None:
    """Nothing leaves a socket faster than at `rate`, bytes a second, where something paces it."""
    if rate is not None:
        opened.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, rate)


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
    number = 0
    for packet in packets:
        wait_until(start + packet.ns)
        opened[packet.port].sendmsg(*message(number, packet), 0, (to, PORT))
        number += packet.segments


def message(number: int, packet: Datagram) -> tuple[list[bytes], list[tuple[int, int, bytes]]]:
    """What a socket is handed: datagrams with numbers from this one, and their marks and size."""
    size = packet.size - HEADERS
    data = [struct.pack("!I", number + i).ljust(size, b"\0") for i in range(packet.segments)]
    told = [(socket.IPPROTO_IP, socket.IP_TOS, struct.pack("i", packet.tos))]
    if packet.segments > 1:
        told.append((socket.IPPROTO_UDP, _UDP_SEGMENT, struct.pack("H", size)))
    return data, told
