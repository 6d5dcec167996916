"""Queues as they are at a moment: of an interface's root queue, packets and bytes, by netlink."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import network

_GET_QDISC, _DONE, _DUMP, _REQUEST = 38, 3, 0x300, 1
_STATS2, _QUEUE = 7, 3
_ROOT = 0xFFFFFFFF
_TCMSG = struct.Struct("=BxxxiIII")
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")


class Watched:
    """An interface whose root queue is looked at."""

    def __init__(self, namespace: str, device: str) -> None:
        """Opens a netlink socket in a namespace."""
        with network.inside(namespace):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            self._index = socket.if_nametoindex(device)

    def now(self) -> tuple[int, int]:
        """Packets and bytes that wait."""
        body = _TCMSG.pack(0, self._index, 0, 0, 0)
        self._socket.send(_HEADER.pack(_HEADER.size + len(body), _GET_QDISC, _REQUEST | _DUMP, 1, 0) + body)
        found = (0, 0)
        while True:
            for kind, body in _messages(self._socket.recv(1 << 16)):
                if kind == _DONE:
                    return found
                _, index, _, parent, _ = _TCMSG.unpack_from(body)
                if index == self._index and parent == _ROOT:
                    queue = dict(_attributes(dict(_attributes(body[_TCMSG.size :]))[_STATS2]))[_QUEUE]
                    packets, size = struct.unpack_from("=II", queue)
                    found = (packets, size)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, kind, *_ = _HEADER.unpack_from(data)
        yield kind, data[_HEADER.size : length]
        data = data[length + 3 & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, kind = _ATTRIBUTE.unpack_from(data)
        yield kind & 0x3FFF, data[_ATTRIBUTE.size : length]
        data = data[length + 3 & ~3 :]
