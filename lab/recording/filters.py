"""Filters of tc at one place: what they ask, what they do, to which class they lead."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from random import Random

from headers import ARP, VLAN, Wish, wish

KINDS = ["u32", "u32", "u32", "flower", "flower", "fw", "matchall", "basic"]
#: Words of a filter for what an IP packet has at a place, and for the values of its protocol.
U32 = {"tos": "tos", "protocol": "protocol", "source": "src", "destination": "dst", "sport": "sport", "dport": "dport"}
FLOWER = {
    "tos": "ip_tos",
    "protocol": "ip_proto",
    "source": "src_ip",
    "destination": "dst_ip",
    "sport": "src_port",
    "dport": "dst_port",
}
#: Where a field is in an IPv4 packet without options, and in an IPv6 packet; the traffic class is across two bytes.
PLACES = {
    4: {"tos": 1, "protocol": 9, "source": 12, "destination": 16, "sport": 20, "dport": 22},
    6: {"protocol": 6, "sport": 40, "dport": 42},
}
PROTOCOLS = {6: "tcp", 17: "udp", 1: "icmp", 58: "icmpv6"}
#: Buckets that hold all packets of a configuration, and buckets that hold none, or none above a size.
HUGE = ["rate 10gbit burst 100mb", "rate 8gbit burst 50mb mtu 64kb", "rate 1gbit burst 10mb"]
TINY = ["rate 8kbit burst 20", "rate 1mbit burst 40b", "rate 1gbit burst 10mb mtu 300"]
CONTROLS = ["drop", "pass", "ok", "pipe", "continue", "reclassify", "shot"]
#: Without `reclassify`, which begins again at the first filter, so that the same one takes the packet.
ENDS = ["drop", "pass", "ok", "pipe", "continue", "shot"]
MARKS = [1, 2, 5, 10, 0x20]


class Filters:
    """Draws the filters of a configuration, and keeps what they ask for."""

    def __init__(self, draw: Random, shown: Callable[[int, int], str]) -> None:
        self.draw, self.shown = draw, shown
        self.wishes: list[Wish] = []
        #: Whether filters like to set marks here, and to look at them.
        self.marks = draw.random() < 0.25

    def at(self, place: str, targets: list[tuple[int, int]], many: int) -> list[str]:
        """Commands for filters of a place, which lead to some of these classes."""
        used: dict[int, tuple[str, str]] = {}
        return [self.one(place, targets, used) for _ in range(many)]

    def one(self, place: str, targets: list[tuple[int, int]], used: dict[int, tuple[str, str]]) -> str:
        """One of them."""
        kind = self.draw.choice(["fw", *KINDS] if self.marks and targets else KINDS)
        version = self.draw.choices([4, 6, 0], [9, 2, 1])[0]
        protocol = self.protocol(kind, version)
        prio = self.prio(kind, protocol, used)
        match, handle = getattr(self, kind)(version, protocol)
        # Without a handle the mark is the class, and the kernel takes no other words.
        does = self.does(targets, kind) if kind != "fw" or handle else ""
        words = ["filter add", place, f"protocol {protocol}", prio, handle, kind, match, does]
        if self.draw.random() < 0.3:
            words[1:3] = [f"protocol {protocol}", place] if place != "egress" else words[1:3]
        return " ".join(word for word in words if word)

    def protocol(self, kind: str, version: int) -> str:
        """The packets that are asked about; version 0 is of others, or of all."""
        if version == 0:
            return self.draw.choice(["all", "all", "arp", "802.1q"])
        own = "ip" if version == 4 else "ipv6"
        return self.draw.choice([own] * 5 + ["all"]) if kind not in {"flower", "basic"} else own

    def prio(self, kind: str, protocol: str, used: dict[int, tuple[str, str]]) -> str:
        """A place in the order: one that no filter has, one of filters that are alike, or what the kernel gives."""
        alike = [prio for prio, it in used.items() if it == (kind, protocol)]
        if kind in {"u32", "flower", "fw"} and alike and self.draw.random() < 0.4:
            return f"prio {self.draw.choice(alike)}"
        if self.draw.random() < 0.15:
            return ""
        prio = self.draw.choice([it for it in range(1, 40) if it not in used])
        used[prio] = (kind, protocol)
        return f"{self.draw.choice(['prio', 'prio', 'pref'])} {prio}"

    def wish(self, kind: str, version: int, protocol: str) -> Wish:
        """What is asked of a packet, which some of the packets will have."""
        names = [name for name in U32 if kind != "basic" or name in PLACES[version or 4]]
        many = self.draw.choices([1, 2, 3], [6, 3, 1])[0] if version else 0
        it = wish(self.draw, self.draw.sample(names, many), version or 4)
        it.ether = {"arp": ARP, "802.1q": VLAN}.get(protocol, 0)
        self.wishes.append(it)
        return it

    def u32(self, version: int, protocol: str) -> tuple[str, str]:
        """Fields by their names, or all packets."""
        it = self.wish("u32", version, protocol)
        family, words = ("ip", U32) if it.version == 4 else ("ip6", U32 | {"tos": "priority"})
        if "tos" in it.fields and version == 4 and self.draw.random() < 0.3:
            words = U32 | {"tos": "dsfield"}
        terms = [f"match {family} {words[name]} {_value(name, it)}" for name in it.fields]
        return " ".join(terms) or f"match {self.draw.choice(['u32 0 0', 'u8 0 0 at 0'])}", ""

    def flower(self, version: int, protocol: str) -> tuple[str, str]:
        """Keys, the protocol before the ports."""
        it = self.wish("flower", version, protocol)
        order = sorted(it.fields, key=lambda name: name != "protocol")
        return " ".join(f"{FLOWER[name]} {_of_flower(name, it)}" for name in order), ""

    def basic(self, version: int, protocol: str) -> tuple[str, str]:
        """Bytes at places, by cmp or u32."""
        it = self.wish("basic", version, protocol)
        terms = [_ematch(self.draw, name, it) for name in it.fields]
        return f"match '{' and '.join(terms)}'" if terms else "", ""

    def fw(self, _version: int, _protocol: str) -> tuple[str, str]:
        """A mark, which is the filter's handle, or none: then the mark is the class."""
        if self.draw.random() < 0.1:
            return "", ""
        mark = self.draw.choice(MARKS)
        return "", f"handle {self.draw.choice([str(mark), str(mark), hex(mark), f'{mark}/0xff', f'{mark}/0x3'])}"

    def matchall(self, version: int, protocol: str) -> tuple[str, str]:
        """Nothing: all packets of the protocol."""
        if version == 0:
            self.wish("matchall", 0, protocol)
        return "", ""

    def does(self, targets: list[tuple[int, int]], kind: str) -> str:
        """A class, an action, or both."""
        leads = (
            f"{self.draw.choice(['flowid', 'flowid', 'classid'])} {self.shown(*self.draw.choice(targets))}"
            if targets
            else ""
        )
        chance = self.draw.random()
        if not targets:
            return self.action(kind, targets)
        if chance < (0.25 if not self.marks else 0.4):
            action = self.action(kind, targets)
            return self.draw.choices([f"{action} {leads}", f"{leads} {action}", action], [3, 5, 2])[0]
        return leads

    def action(self, kind: str, targets: list[tuple[int, int]]) -> str:
        """A policer, a plain end, or a mark."""
        chance = self.draw.random()
        if self.marks and targets and chance < 0.1:
            chosen = self.shown(*self.draw.choice(targets))
            return f"action skbedit priority {chosen} {self.draw.choice(['continue', 'pipe'])}"
        if self.marks and chance < 0.5:
            mark = f"action skbedit mark {self.draw.choice(MARKS)}"
            return f"{mark} {self.draw.choice(['continue', 'continue', 'continue', 'pipe', 'pass', ''])}".strip()
        if chance < 0.75:
            return self.police(kind)
        return f"action {self.draw.choice([*ENDS, 'pipe action drop', 'pipe action pass'])}"

    def police(self, kind: str) -> str:
        """A bucket, and what becomes of packets that it holds and does not hold."""
        bucket = self.draw.choice([HUGE, HUGE, TINY])
        words = f"police {self.draw.choice(bucket)}"
        form = self.draw.randrange(3)
        # A reclassified packet that meets the same policer again never ends: now and then, the kernel ends it.
        controls = CONTROLS if self.draw.random() < 0.1 else ENDS
        if form == 0:
            words += f" {self.draw.choice(controls)}"
        elif form == 1:
            words += f" conform-exceed {self.draw.choice(controls)}"
        else:
            words += f" conform-exceed {self.draw.choice(controls)}/{self.draw.choice(controls)}"
        old = kind in {"u32", "basic", "fw"} and self.draw.random() < 0.5
        return words if old else f"action {words}"


def _value(name: str, it: Wish) -> str:
    """A value under its mask, as u32 has it."""
    value, mask = it.fields[name]
    if name in {"source", "destination"}:
        return _prefix(value, mask, it)
    return f"{hex(value) if name == 'tos' else value} {hex(mask)}"


def _of_flower(name: str, it: Wish) -> str:
    value, mask = it.fields[name]
    whole = (1 << it.width(name)) - 1
    if name in {"source", "destination"}:
        return _prefix(value, mask, it)
    if name == "protocol":
        return PROTOCOLS[value]
    if name == "tos":
        return f"{value:#x}/{mask:#x}"
    return str(value) if mask == whole else f"{value}/{mask:#x}"


def _prefix(value: int, mask: int, it: Wish) -> str:
    shown = IPv4Address(value) if it.version == 4 else IPv6Address(value)
    return f"{shown}/{mask.bit_count()}"


def _ematch(draw: Random, name: str, it: Wish) -> str:
    """A field by its place."""
    (value, mask), place = it.fields[name], PLACES[it.version][name]
    size = {8: "u8", 16: "u16", 32: "u32"}[it.width(name)]
    if draw.random() < 0.5 and size != "u32":
        return f"cmp({size} at {place} layer network mask {mask:#x} eq {value:#x})"
    return f"u32({size} {value:#x} {mask:#x} at {place})"
