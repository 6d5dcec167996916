"""A provider's edge in user space: frames of a TAP device leave a wire with VLAN tags, and come back without.

    tagger.py TAP WIRE TAG...        TAG is ethertype:vlan, outermost first, such as 88a8:200 8100:300

For make.sh, because not every kernel has VLAN devices; a TAP device nearly every one has.
"""

import contextlib
import fcntl
import os
import select
import socket
import struct
import sys

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
ETH_P_ALL = 0x0003
TAG_TYPES = {b"\x81\x00", b"\x88\xa8", b"\x91\x00"}


def open_tap(name: str) -> int:
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return tap


def open_wire(name: str) -> socket.socket:
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    wire.bind((name, ETH_P_ALL))
    return wire


def untagged(frame: bytes) -> bytes:
    """The frame without tags; the kernel has taken the outermost one already."""
    while frame[12:14] in TAG_TYPES:
        frame = frame[:12] + frame[16:]
    return frame


def main(tap_name: str, wire_name: str, *tags: str) -> None:
    pairs = (tag.split(":") for tag in tags)
    inserted = b"".join(bytes.fromhex(kind) + struct.pack(">H", int(vlan)) for kind, vlan in pairs)
    tap, wire = open_tap(tap_name), open_wire(wire_name)
    while True:
        readable, _, _ = select.select([tap, wire], [], [])
        if tap in readable:
            frame = os.read(tap, 65536)
            wire.send(frame[:12] + inserted + frame[12:])
        if wire in readable:
            frame, (_, _, kind, _, _) = wire.recvfrom(65536)
            if kind != socket.PACKET_OUTGOING:
                with contextlib.suppress(OSError):  # as long as the TAP device is down, frames are lost
                    os.write(tap, untagged(frame))


if __name__ == "__main__":
    main(*sys.argv[1:])
