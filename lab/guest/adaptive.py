"""Starts the timer of an adaptive RED.

iproute2 6.1 hands the flag `adaptive` over in an attribute, but Linux 6.12 starts the timer by the older field of the
same flag. With this tc alone nothing adapts. The queue is given its own parameters again, with the older field. The
table for idle time is left at zero: below a shaper RED never learns that it is idle.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import network

NEW, GET = 36, 38
REQUEST, ACK, DUMP = 1, 4, 0x300
OPTIONS, KIND = 2, 1
PARMS, STAB, MAX_P = 1, 2, 3
_HEADER, _TC = struct.Struct("=IHHII"), struct.Struct("=BxxxiIII")


def start(device: str, handle: int) -> None:
    """Of the queue of this handle at a device of the router."""
    with network.inside("r"):
        route, index = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0), socket.if_nametoindex(device)
    route.send(_message(GET, REQUEST | DUMP, _TC.pack(0, index, 0, 0, 0)))
    parent, options = next((it[2], it[3]) for it in _queues(route) if it[:2] == (index, handle))
    again = _attribute(PARMS, options[PARMS]) + _attribute(STAB, bytes(256)) + _attribute(MAX_P, options[MAX_P])
    body = _TC.pack(0, index, handle, parent, 0) + _attribute(KIND, b"red\0") + _attribute(OPTIONS, again)
    route.send(_message(NEW, REQUEST | ACK, body))
    if error := struct.unpack_from("=i", route.recv(1 << 16), _HEADER.size)[0]:
        raise SystemExit(f"lab: RED at {device} did not take its parameters: error {-error}")
    route.close()


def _queues(route: socket.socket) -> Iterator[tuple[int, int, int, dict[int, bytes]]]:
    """Interface, handle, parent and options of each queue that a dump tells."""
    data = route.recv(1 << 16)
    while data:
        length, kind = _HEADER.unpack_from(data)[:2]
        if kind == NEW:
            _, index, handle, parent, _ = _TC.unpack_from(data, _HEADER.size)
            options = _attributes(data[_HEADER.size + _TC.size : length]).get(OPTIONS, b"")
            yield index, handle, parent, _attributes(options)
        data = data[length:]


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body


def _attribute(kind: int, value: bytes) -> bytes:
    return (struct.pack("=HH", 4 + len(value), kind) + value).ljust((4 + len(value) + 3) & ~3, b"\0")


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found
