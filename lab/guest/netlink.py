"""What the kernel counts at a device's queueing disciplines, classes and actions, without a process for each reading.

Source: rtnetlink(7); linux/rtnetlink.h, linux/pkt_sched.h, linux/gen_stats.h of Linux 6.12.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

_DONE, _ERROR, _REQUEST_DUMP = 3, 2, 0x301
_GET_QDISC, _GET_CLASS, _GET_ACTION = 38, 42, 50
_HEADER, _TC, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BxxxiIII"), struct.Struct("=HH")
#: Attributes: the kind, the options and the statistics of a queueing discipline or class.
_KIND, _OPTIONS, _STATS2 = 1, 2, 7
#: Within statistics: bytes and packets, and what waits and was dropped.
_BASIC, _QUEUE = 1, 3
#: Within HTB's options: the fifth number is that of packets that passed no class.
_HTB_INIT = 2
#: Within an action's message and its attributes.
_ACTIONS, _ACTION_KIND, _ACTION_STATS = 1, 1, 4


class Entry(NamedTuple):
    """A queueing discipline or class: its number, what it is attached to, and what it counts."""

    kind: str
    handle: int
    parent: int
    #: Of a class, the handle of the queueing discipline below it.
    below: int
    sent: int
    waiting: int
    dropped: int
    direct: int


def listen() -> socket.socket:
    """A socket to the kernel, in the namespace of the caller."""
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    made.bind((0, 0))
    return made


def qdiscs(netlink: socket.socket, device: int) -> list[Entry]:
    """The queueing disciplines of a device."""
    return list(_entries(netlink, _GET_QDISC, device))


def classes(netlink: socket.socket, device: int) -> list[Entry]:
    """The classes of a device."""
    return list(_entries(netlink, _GET_CLASS, device))


def dropped_by_actions(netlink: socket.socket, kinds: tuple[str, ...] = ("police", "gact")) -> int:
    """How many packets actions of these kinds have dropped."""
    return sum(_dropped(netlink, kind) for kind in kinds)


def _dropped(netlink: socket.socket, kind: str) -> int:
    name = kind.encode() + b"\0"
    asked = _attribute(_ACTIONS, _attribute(1, _attribute(_ACTION_KIND, name)))
    total = 0
    for message in _dump(netlink, _GET_ACTION, struct.pack("=Bxxx", socket.AF_UNSPEC) + asked):
        # Behind four bytes of a header is the list of actions, each in a separate attribute.
        for one in _attributes(_attributes(message[4:]).get(_ACTIONS, b"")).values():
            stats = _attributes(_attributes(one).get(_ACTION_STATS, b""))
            total += struct.unpack_from("=III", stats[_QUEUE])[2] if _QUEUE in stats else 0
    return total


def _entries(netlink: socket.socket, what: int, device: int) -> Iterator[Entry]:
    for message in _dump(netlink, what, _TC.pack(socket.AF_UNSPEC, device, 0, 0, 0)):
        _, index, handle, parent, below = _TC.unpack_from(message)
        if index == device:
            found = _attributes(message[_TC.size :])
            kind = found[_KIND].rstrip(b"\0").decode()
            yield Entry(kind, handle, parent, below, *_counts(found), _direct(kind, found))


def _counts(found: dict[int, bytes]) -> tuple[int, int, int]:
    """Packets that were sent, that wait, that were dropped."""
    stats = _attributes(found.get(_STATS2, b""))
    sent = struct.unpack_from("=QI", stats[_BASIC])[1] if _BASIC in stats else 0
    waiting, _, dropped = struct.unpack_from("=III", stats[_QUEUE]) if _QUEUE in stats else (0, 0, 0)
    return sent, waiting, dropped


def _direct(kind: str, found: dict[int, bytes]) -> int:
    options = _attributes(found.get(_OPTIONS, b"")) if kind == "htb" else {}
    return int(struct.unpack_from("=IIIII", options[_HTB_INIT])[4]) if _HTB_INIT in options else 0


def _dump(netlink: socket.socket, what: int, body: bytes) -> Iterator[bytes]:
    """The bodies of all messages of an answer."""
    netlink.send(_HEADER.pack(_HEADER.size + len(body), what, _REQUEST_DUMP, 1, 0) + body)
    while True:
        data, at = netlink.recv(1 << 18), 0
        while at < len(data):
            length, kind, *_ = _HEADER.unpack_from(data, at)
            if kind == _ERROR:
                (number,) = struct.unpack_from("=i", data, at + _HEADER.size)
                raise OSError(-number, f"the kernel refuses request {what}")
            if kind == _DONE:
                return
            yield data[at + _HEADER.size : at + length]
            at += length + 3 & ~3


def _attributes(data: bytes) -> dict[int, bytes]:
    """By number; the uppermost bits are flags."""
    found, at = {}, 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size:
            break
        found[kind & 0x3FFF] = data[at + _ATTRIBUTE.size : at + length]
        at += length + 3 & ~3
    return found


def _attribute(kind: int, body: bytes) -> bytes:
    length = _ATTRIBUTE.size + len(body)
    return _ATTRIBUTE.pack(length, kind) + body + b"\0" * (-length % 4)
