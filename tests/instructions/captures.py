"""Deterministic captures for measurements: the same arguments give the same bytes.

    python3 tests/instructions/captures.py out.pcap --packets 1000000 --flows 1000

Ethernet in a pcap with microseconds, sizes uniform in 64 to 1500 bytes unless told otherwise, back to back at 1 Gbit/s.
Three of four flows are IPv4, one is IPv6; even ones are TCP, odd ones UDP. The first packets begin one flow each, until
all have begun; after that each packet belongs to a random flow. Standard library only.
"""

from __future__ import annotations

import argparse
import random
import struct
from collections.abc import Iterator
from pathlib import Path

FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
RECORD_HEADER = struct.Struct("<IIII")
IPV4_HEADER = struct.Struct(">BBHHHBBHII")
ETHERNET_ADDRESSES = bytes.fromhex("020000000001020000000002")
START = 1_700_000_000
"""Seconds since 1970 of the first packet."""

NS_PER_BYTE = 8
"""1 Gbit/s."""

ENCODED_PER_WRITE = 4096
"""Packets collected before they are written."""

TCP, UDP = 6, 17
TRANSPORT = {TCP: 20, UDP: 8}


def checksum(header: bytes) -> int:
    """The IPv4 header checksum (RFC 1071) of a header whose own field is 0."""
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def ipv4(flow: int, protocol: int, payload: int) -> bytes:
    """The header of a flow's packet: addresses in 10.0.0.0/8 and 192.0.2.0/24."""
    source, destination = 0x0A00_0000 | flow & 0xFF_FFFF, 0xC000_0200 | flow >> 24
    fields = (0x45, 0, 20 + payload, 0, 0x4000, 64, protocol)
    summed = checksum(IPV4_HEADER.pack(*fields, 0, source, destination))
    return b"\x08\x00" + IPV4_HEADER.pack(*fields, summed, source, destination)


def ipv6(flow: int, protocol: int, payload: int) -> bytes:
    """The header of a flow's packet: addresses in 2001:db8::/32."""
    prefix = bytes.fromhex("20010db8") + bytes(8)
    source, destination = prefix + struct.pack(">I", flow), prefix + bytes(4)
    return b"\x86\xdd" + struct.pack(">IHBB", 0x6000_0000, payload, protocol, 64) + source + destination


def transport(flow: int, protocol: int, payload: int, sent: int) -> bytes:
    """The header of TCP, with the sequence number `sent`, or UDP; checksums are 0."""
    ports = struct.pack(">HH", 1024 + flow % 50_000, 443)
    if protocol == UDP:
        return ports + struct.pack(">HH", payload, 0)
    return ports + struct.pack(">IIBBHHH", sent & 0xFFFF_FFFF, 1, 0x50, 0x10, 65_535, 0, 0)


def frame(flow: int, size: int, sent: int) -> bytes:
    """A flow's packet of `size` bytes, or as many as its headers have."""
    protocol = UDP if flow % 2 else TCP
    network = 40 if flow % 4 == 0 else 20
    payload = max(size - 14 - network, TRANSPORT[protocol])
    header = (ipv6 if network == 40 else ipv4)(flow, protocol, payload)
    head = ETHERNET_ADDRESSES + header + transport(flow, protocol, payload, sent)
    return head + bytes(14 + network + payload - len(head))


def records(packets: int, flows: int, smallest: int, largest: int) -> Iterator[bytes]:
    """The packets with their record headers."""
    draw, now_ns = random.Random(1), 0
    for number in range(packets):
        flow = number if number < flows else draw.randrange(flows)
        data = frame(flow, draw.randint(smallest, largest), 1460 * number)
        seconds, ns = divmod(now_ns, 1_000_000_000)
        yield RECORD_HEADER.pack(START + seconds, ns // 1000, len(data), len(data)) + data
        now_ns += NS_PER_BYTE * len(data)


def write(path: Path | str, packets: int, flows: int, *, smallest: int = 64, largest: int = 1500) -> None:
    """A capture of so many packets and flows at `path`."""
    with Path(path).open("wb") as file:
        pieces = [FILE_HEADER]
        for record in records(packets, flows, smallest, largest):
            pieces.append(record)
            if len(pieces) == ENCODED_PER_WRITE:
                file.write(b"".join(pieces))
                pieces.clear()
        file.write(b"".join(pieces))


def main() -> None:
    """Carries out the command line."""
    parser = argparse.ArgumentParser(description="write a deterministic capture")
    parser.add_argument("path", type=Path)
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--flows", type=int, default=1000)
    parser.add_argument("--smallest", type=int, default=64, help="bytes of the smallest frame")
    parser.add_argument("--largest", type=int, default=1500, help="bytes of the largest frame")
    chosen = parser.parse_args()
    write(chosen.path, chosen.packets, chosen.flows, smallest=chosen.smallest, largest=chosen.largest)


if __name__ == "__main__":
    main()
