"""Applies configurations of tc inside the kernel, one after the other, and says what became of each packet of each.

DIR/configurations.json is a list of `{"name", "direction", "commands", "packets", "strict"}`: commands for `tc -batch`,
packets as hexadecimal bytes from the EtherType on, with zeros up to their IP length, and whether one command that is
refused ends the configuration, and none of its packets is then sent. DIR/answers.json gets for each
`{"name", "refused", "fates"}`: the numbers of the commands that tc or the kernel refuses, and a fate for each packet:

    1:10          the class in whose queue it went, the innermost
    direct        an HTB sends it past all of its classes
    policed       an action drops it
    unclassified  a queueing discipline drops it, since it has no class
    passed        it comes in, and nothing drops it

The router r has lan0 towards s and eth0 towards d. IP packets of direction output come over lan0 and are forwarded,
so the kernel gives them their priority; others, which no router forwards, are sent at eth0. Packets of direction input
come from d. One packet is sent at a time, and the counters are read before and after it.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import netlink
from network import call, inside

_IP, _IP6 = 0x0800, 0x86DD
_PORT = "eth0"
#: Parents of the first queueing discipline, and of `ingress` and `clsact`.
_ROOT, _INGRESS = 0xFFFFFFFF, 0xFFFFFFF1
#: Queueing disciplines with classes; flows of others look as if they were.
_CLASSFUL = {"htb", "hfsc", "drr", "prio"}
#: Each device with its namespace, and the number that its addresses have.
_DEVICES = {"eth0": ("r", 1), "d0": ("d", 2), "lan0": ("r", 3), "s0": ("s", 4)}
#: It forwards, whatever the source, and asks for no addresses.
_ROUTER = {
    "ipv4/ip_forward": 1,
    "ipv4/conf/all/rp_filter": 0,
    "ipv4/conf/default/rp_filter": 0,
    "ipv6/conf/all/forwarding": 1,
    "ipv6/conf/default/accept_dad": 0,
    "ipv6/conf/default/accept_ra": 0,
    "ipv6/conf/default/router_solicitations": 0,
    "ipv6/conf/default/addr_gen_mode": 1,
}
#: Virtual time after which the kernel has said all that it says of new addresses.
_QUIET_S = 30


def _mac(device: str) -> bytes:
    return bytes((2, 0, 0, 0, 0, _DEVICES[device][1]))


def _ip(words: str) -> None:
    call("ip", *words.split())


def build() -> None:
    """The router between two ends, which say nothing themselves."""
    _ip("link set lo up")
    for name in "srd":
        _ip(f"netns add {name}")
        with inside(name):
            _sysctl("ipv6/conf/default/disable_ipv6", 0 if name == "r" else 1)
    with inside("r"):
        for key, value in _ROUTER.items():
            _sysctl(key, value)
    for near, far in (("lan0", "s0"), ("eth0", "d0")):
        _link(near, far)
        for flag, net, length in ((" nodad", _net6, 64), ("", _net4, 24)):
            _ip(f"-n r addr add {net(near, 1)}/{length} dev {near}{flag}")
            _ip(f"-n r neigh add {net(near, 2)} lladdr {_mac(far).hex(':')} dev {near} nud permanent")
    time.sleep(_QUIET_S)


def _link(near: str, far: str) -> None:
    """A link from the router to an end, without offloads."""
    ends = [(device, _DEVICES[device][0]) for device in (near, far)]
    _ip(f"link add {near} netns {ends[0][1]} type veth peer name {far} netns {ends[1][1]}")
    for device, namespace in ends:
        _ip(f"-n {namespace} link set {device} address {_mac(device).hex(':')} up")
        with inside(namespace):
            call("ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off")


def _net4(device: str, host: int) -> str:
    return f"198.18.{_DEVICES[device][1]}.{host}"


def _net6(device: str, host: int) -> str:
    return f"fdff:0:0:{_DEVICES[device][1]}::{host}"


def _sysctl(key: str, value: int) -> None:
    Path("/proc/sys/net", key).write_text(str(value))


def leads_to(device: str) -> None:
    """Forwards all packets over a device."""
    for version, net in (("-4", _net4), ("-6", _net6)):
        call("ip", "-n", "r", version, "route", "replace", "default", "via", net(device, 2), "dev", device)


def tc(commands: list[str]) -> bool:
    """Runs commands of tc in the router, in one process; whether all of them were taken."""
    words = ["tc", "-n", "r", "-force", "-batch", "-"]
    return not subprocess.run(
        words, input="\n".join(commands) + "\n", capture_output=True, text=True, check=False
    ).returncode


class Senders(NamedTuple):
    """Sockets from which frames enter the router's two devices, and one that sends at its own."""

    lan: socket.socket
    far: socket.socket
    own: socket.socket

    def send(self, packet: bytes, direction: str) -> None:
        """A packet, by the way of its direction."""
        protocol = int.from_bytes(packet[:2])
        frame = packet.ljust(_size(packet), b"\0")
        if direction == "input":
            self.far.send(_mac("eth0") + _mac("d0") + frame)
        elif protocol in {_IP, _IP6}:
            self.lan.send(_mac("lan0") + _mac("s0") + frame)
        else:
            # The sender hears of a drop, which the counters tell in more detail.
            with suppress(OSError):
                self.own.send(_mac("d0") + _mac("eth0") + frame)


def _size(packet: bytes) -> int:
    """How long the packet is from its EtherType on."""
    protocol = int.from_bytes(packet[:2])
    stated = {_IP: int.from_bytes(packet[4:6]), _IP6: 40 + int.from_bytes(packet[6:8])}
    return 2 + stated.get(protocol, 46)


def opened() -> Senders:
    """The sockets."""

    def raw(device: str) -> socket.socket:
        with inside(_DEVICES[device][0]):
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.bind((device, 0))
        return made

    return Senders(raw("s0"), raw("d0"), raw("eth0"))


class Counts(NamedTuple):
    """What a device's queues have counted."""

    classes: dict[int, netlink.Entry]
    qdiscs: dict[int, netlink.Entry]


class Meter:
    """Reads the counters of the port and says what became of the packet that changed them."""

    def __init__(self) -> None:
        with inside("r"):
            self.index, self.netlink = socket.if_nametoindex(_PORT), netlink.listen()
        self.before = self.read()
        self.by_actions = 0

    def read(self) -> Counts:
        """All counters."""
        classes, qdiscs = netlink.classes(self.netlink, self.index), netlink.qdiscs(self.netlink, self.index)
        return Counts({it.handle: it for it in classes if it.kind in _CLASSFUL}, {it.handle: it for it in qdiscs})

    def clearing(self) -> list[str]:
        """Commands that take all queueing disciplines off the port."""
        places = {it.parent: it.kind for it in netlink.qdiscs(self.netlink, self.index) if it.handle}
        known = {_ROOT: "root", _INGRESS: places.get(_INGRESS)}
        return [f"qdisc del dev {_PORT} {known[place]}" for place in places if place in known]

    def restart(self) -> None:
        """What is counted so far belongs to no packet."""
        self.before, self.by_actions = self.read(), netlink.dropped_by_actions(self.netlink)

    def fate(self, direction: str) -> str:
        """Of the packet that was sent since."""
        before, after = self.before, self.read()
        self.before = after
        if any(it.direct != before.qdiscs[it.handle].direct for it in after.qdiscs.values()):
            return "direct"
        # A class with classes below it counts a packet when it leaves, which may be while the next one comes.
        inner = {it.parent for it in after.classes.values()}
        leaves = [it for it in after.classes.values() if it.handle not in inner]
        queued = [it for it in leaves if _came(it) != _came(before.classes[it.handle])]
        if queued:
            return _shown(_innermost(queued, after))
        if any(it.dropped != before.qdiscs[it.handle].dropped for it in after.qdiscs.values()):
            actions = netlink.dropped_by_actions(self.netlink)
            policed, self.by_actions = actions != self.by_actions, actions
            return "policed" if policed else "unclassified"
        return "passed" if direction == "input" or not after.classes else "lost"


def _came(it: netlink.Entry) -> int:
    """Packets that came to a class; those that it drops do not count."""
    return it.sent + it.waiting


def _shown(it: netlink.Entry) -> str:
    return f"{it.handle >> 16:x}:{it.handle & 0xFFFF:x}"


def _innermost(queued: list[netlink.Entry], counts: Counts) -> netlink.Entry:
    """The class that has no other of these below it."""

    def above(handle: int) -> int:
        """The class above a class, or above the queueing discipline that it is of."""
        parent = counts.classes[handle].parent
        known = counts.classes.get(parent)
        qdisc = counts.qdiscs.get(handle & 0xFFFF0000)
        return parent if known else qdisc.parent if qdisc else 0

    parents = set()
    for it in queued:
        at = above(it.handle)
        while at in counts.classes:
            parents.add(at)
            at = above(at)
    (only,) = [it for it in queued if it.handle not in parents]
    return only


def apply(commands: list[str], meter: Meter, strict: bool) -> list[int]:
    """Runs all commands at a port without queueing disciplines; the numbers of those that are refused, from 0."""
    if tc(meter.clearing() + commands):
        return []
    if strict:
        return list(range(len(commands)))
    # A word that tc does not know ends the batch, where a shell would go on.
    tc(meter.clearing())
    return [number for number, command in enumerate(commands) if not tc([command])]


def answer(job: dict[str, Any], senders: Senders, meter: Meter) -> dict[str, Any]:
    """One configuration."""
    refused, fates = apply(job["commands"], meter, job["strict"]), []
    meter.restart()
    for packet in job["packets"] if not (refused and job["strict"]) else []:
        senders.send(bytes.fromhex(packet), job["direction"])
        fates.append(meter.fate(job["direction"]))
    return {"name": job["name"], "refused": refused, "fates": fates}


def main(folder: Path) -> None:
    """The whole job."""
    build()
    senders, meter = opened(), Meter()
    answers, direction = [], ""
    for job in json.loads((folder / "configurations.json").read_text()):
        if job["direction"] != direction:
            direction = job["direction"]
            leads_to("eth0" if direction == "output" else "lan0")
        answers.append(answer(job, senders, meter))
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
