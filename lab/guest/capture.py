"""What passes an interface: number, time, size and TOS of our datagrams, stamped by the kernel."""

from __future__ import annotations

import ctypes
import socket
import struct
import time
from typing import NamedTuple

from send import HEADERS, PORT

_ETH_P_ALL, _ETH_P_IP, _SO_RCVBUFFORCE, _SO_TIMESTAMPNS, _UDP, _OUTGOING = 3, 0x800, 33, 35, 17, 4
_HEADER = struct.Struct("!BBHHHBBHII")
_SO_ATTACH_FILTER = 26
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_LOAD_BYTE, _LOAD_HALF, _JUMP_EQUAL, _RETURN = 0x30, 0x28, 0x15, 0x06
#: Keeps UDP to our port, of 20 bytes of IP header: else TCP would fill the socket's buffer.
_OURS = b"".join(
    struct.pack("HBBI", *it)
    for it in (
        (_LOAD_BYTE, 0, 0, 9),
        (_JUMP_EQUAL, 0, 3, _UDP),
        (_LOAD_HALF, 0, 0, 22),
        (_JUMP_EQUAL, 0, 1, PORT),
        (_RETURN, 0, 0, 1 << 16),
        (_RETURN, 0, 0, 0),
    )
)


class Seen(NamedTuple):
    """A datagram at an interface."""

    number: int
    real_ns: int
    size: int
    tos: int
    port: int


def listen(device: str) -> socket.socket:
    """A socket that keeps a copy of each packet that arrives over a device, in the namespace of the caller."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
    made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 27)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    program = ctypes.create_string_buffer(_OURS)
    made.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(_OURS) // 8, ctypes.addressof(program)))
    made.bind((device, _ETH_P_ALL))
    made.setblocking(False)
    return made


def seen(listening: socket.socket) -> list[Seen]:
    """All that came; it is an error if a socket had no room for some."""
    _, lost = struct.unpack("II", listening.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    if lost:
        device = listening.getsockname()[0]
        raise SystemExit(f"lab: {device}: {lost} packets more than can be recorded: a shorter run, or fewer datagrams")
    found: list[Seen] = []
    while True:
        try:
            data, ancillary, _, address = listening.recvmsg(64, 64)
        except BlockingIOError:
            return found
        _, tos, length, *_ = _HEADER.unpack_from(data)
        (port,) = struct.unpack_from("!H", data, 20)
        if address[2] == _OUTGOING:
            continue
        seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
        number = struct.unpack_from("!I", data, HEADERS)[0]
        found.append(Seen(number, seconds * 1_000_000_000 + nanoseconds, length, tos, port))


class Passing(NamedTuple):
    """Any IPv4 packet at an interface, with what tells it from others: addresses, identification, ports, number."""

    real_ns: int
    tos: int
    size: int
    key: tuple[int, ...]


def watch(device: str) -> socket.socket:
    """A socket that keeps a copy of every IPv4 packet that arrives over a device, in the namespace of the caller."""
    # A socket for one protocol gets a packet behind the delay of its link, one for all protocols before it.
    made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
    made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 28)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    made.bind((device, _ETH_P_ALL))
    made.setblocking(False)
    return made


def passed(watching: socket.socket) -> list[Passing]:
    """All that came; it is an error if a socket had no room for some."""
    _, lost = struct.unpack("II", watching.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    if lost:
        raise SystemExit(f"lab: {watching.getsockname()[0]}: {lost} packets more than can be recorded: a shorter run")
    found: list[Passing] = []
    while True:
        try:
            data, ancillary, _, address = watching.recvmsg(64, 64)
        except BlockingIOError:
            return found
        if address[2] != _OUTGOING and address[1] == _ETH_P_IP:
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            _, tos, length, number, _, _, protocol, _, source, to = _HEADER.unpack_from(data)
            # Of a datagram of ours its number, for the checksum before it is finished on the way.
            place = HEADERS if protocol == _UDP else 24
            key = (source, to, number, *struct.unpack_from("!HH", data, 20), *struct.unpack_from("!I", data, place))
            found.append(Passing(seconds * 1_000_000_000 + nanoseconds, tos, length, key))


def real_minus_monotonic() -> int:
    """The offset of the clock of time stamps. Reading a clock takes virtual time: the reading between two others."""
    while True:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        real = time.clock_gettime_ns(time.CLOCK_REALTIME)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if (after - before) % 2 == 0:
            return real - (before + after) // 2
