"""Packets of random headers, and what a filter may ask of them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from random import Random

IP, IP6, ARP, VLAN = 0x0800, 0x86DD, 0x0806, 0x8100
TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58
#: Fields of an IP packet, and how many bits each has: of addresses in IPv4 and IPv6.
BITS = {
    "tos": (8, 8),
    "protocol": (8, 8),
    "source": (32, 128),
    "destination": (32, 128),
    "sport": (16, 16),
    "dport": (16, 16),
}
#: Where addresses are drawn from: unicast, and none of the lab's own.
NETS = {4: [0x0A000000, 0xAC100000, 0xC0A80000, 0xCB007100], 6: [0x20010DB8 << 96, 0xFD00 << 112]}
PORTS = [22, 53, 80, 443, 1194, 5000, 5004, 5060, 5061, 8080, 16384, 51820]
CODE_POINTS = [0, 8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56]


@dataclass
class Wish:
    """What a filter asks of an IP packet: its version, and of some fields the value under a mask."""

    version: int
    fields: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: The EtherType that the packet has, if it is not that of its version.
    ether: int = 0

    def width(self, name: str) -> int:
        """The bits of a field."""
        return BITS[name][self.version == 6]


def address(draw: Random, version: int) -> int:
    """An address of one of a few networks."""
    host = draw.choice([draw.randrange(1, 6), draw.randrange(1, 1 << 14)])
    return draw.choice(NETS[version]) + (draw.randrange(4) << 16 - 8 * (version == 4)) + host


def wish(draw: Random, names: list[str], version: int) -> Wish:
    """Something to ask of these fields."""
    it = Wish(version)
    for name in names:
        it.fields[name] = _masked(draw, name, it)
    if {"sport", "dport"} & set(names):
        it.fields["protocol"] = (draw.choice([TCP, UDP]), 0xFF)
    return it


def _masked(draw: Random, name: str, it: Wish) -> tuple[int, int]:
    """A value of a field and the mask under which it counts."""
    bits = it.width(name)
    whole = (1 << bits) - 1
    if name == "tos":
        mask = draw.choice([0xFC, 0xFC, 0xFC, 0xE0, 0xFF, 0x1E, 0x10, 0xB8])
        return draw.choice(CODE_POINTS) << 2 & mask, mask
    if name == "protocol":
        return draw.choice([TCP, UDP, UDP, ICMP if it.version == 4 else ICMP6]), whole
    if name in {"sport", "dport"}:
        mask = draw.choice([whole, whole, whole, 0xFFFE, 0xFFF0, 0xFF00])
        return draw.choice(PORTS) & mask, mask
    length = draw.choice([8, 12, 16, 24, 30, 32] if it.version == 4 else [16, 32, 48, 64, 127, 128])
    mask = whole ^ (whole >> length)
    return address(draw, it.version) & mask, mask


def packet(draw: Random, wishes: list[Wish]) -> bytes:
    """A packet from its EtherType on; every second one as one of the filters asks, as far as it can be."""
    wish = draw.choice(wishes) if wishes and draw.random() < 0.5 else Wish(draw.choices([4, 6], [5, 1])[0])
    ether = wish.ether or (ARP if draw.random() < 0.03 else 0)
    if ether == ARP:
        return struct.pack("!HHHBBH", ARP, 1, IP, 6, 4, 2) + draw.randbytes(20)
    fields = {name: _field(draw, name, wish) for name in BITS}
    body = (_packet4 if wish.version == 4 else _packet6)(draw, fields)
    return struct.pack("!HH", VLAN, draw.randrange(1, 8)) + body if ether == VLAN else body


def _field(draw: Random, name: str, wish: Wish) -> int:
    """A value of a field, as it is asked for."""
    value, mask = wish.fields.get(name, (0, 0))
    return value & mask | _any(draw, name, wish.version) & ~mask


def _any(draw: Random, name: str, version: int) -> int:
    if name == "tos":
        return draw.choice([draw.choice(CODE_POINTS) << 2, draw.randrange(256)])
    if name == "protocol":
        return draw.choices([TCP, UDP, ICMP if version == 4 else ICMP6], [4, 5, 1])[0]
    if name in {"sport", "dport"}:
        return draw.choice([draw.choice(PORTS), draw.randrange(1, 65536)])
    return address(draw, version)


def _packet4(draw: Random, fields: dict[str, int]) -> bytes:
    """IPv4, of a length drawn, with the first bytes of what it carries."""
    length = draw.randrange(60, 600)
    head = struct.pack("!BBHHHBBH", 0x45, fields["tos"], length, 0, 0, 64, fields["protocol"], 0)
    head += IPv4Address(fields["source"]).packed + IPv4Address(fields["destination"]).packed
    return struct.pack("!H", IP) + head[:10] + _checksum(head) + head[12:] + _carried(fields, length - 20)


def _packet6(draw: Random, fields: dict[str, int]) -> bytes:
    """The same of IPv6."""
    first = 6 << 28 | fields["tos"] << 20 | draw.randrange(1 << 20)
    length = draw.randrange(40, 560)
    head = struct.pack("!IHBB", first, length, fields["protocol"], 64)
    addresses = IPv6Address(fields["source"]).packed + IPv6Address(fields["destination"]).packed
    return struct.pack("!H", IP6) + head + addresses + _carried(fields, length)


def _carried(fields: dict[str, int], length: int) -> bytes:
    """The header of TCP or UDP; of ICMP the type of an echo request."""
    ports = struct.pack("!HH", fields["sport"], fields["dport"])
    if fields["protocol"] == TCP:
        return ports + struct.pack("!IIBBHHH", 1, 0, 0x50, 0x10, 1000, 0, 0)
    if fields["protocol"] == UDP:
        return ports + struct.pack("!HH", length, 0)
    return bytes((8 if fields["protocol"] == ICMP else 128, 0, 0, 0, 0, 1, 0, 1))


def _checksum(head: bytes) -> bytes:
    """Of IPv4's header."""
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)
