"""Four namespaces: sender s, receiver d, and between them router r and live host l. No offloads, no packets but ours.

The router has s0 - r0 and r1 - d0, the live host s1 - l0 and l1 - d1.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

LINKS = (("s", "s0", "10.0.0.1"), ("r", "r0", "10.0.0.2"), ("r", "r1", "10.0.1.2"), ("d", "d0", "10.0.1.1"))
#: The live host's interfaces have no addresses: sender and receiver are neighbours.
AROUND = (("s", "s1", "10.0.2.1"), ("d", "d1", "10.0.2.2"))
BETWEEN = (("l", "l0"), ("l", "l1"))
#: Further hosts, all of them the sender: the hundreds of a source port say which one sends.
HOSTS = ("10.0.0.1", "10.0.0.11", "10.0.0.12")
_FIRST_PORT = 5000


class Way(NamedTuple):
    """From the sender to the receiver: what is between, where packets come and where they have left, the address."""

    middle: str
    coming: str
    leaving: str
    receiver: str


ROUTED, FORWARDED = Way("r", "r0", "d0", "10.0.1.1"), Way("l", "l0", "d1", "10.0.2.2")
_LIBC = ctypes.CDLL(None, use_errno=True)


def source(port: int) -> str:
    """The address that datagrams of a source port come from: of 5001 the first, of 5101 the second."""
    return HOSTS[(port - _FIRST_PORT) // 100]


def call(*words: str) -> str:
    """What a command prints; its error is ours."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"lab: {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def tc(commands: list[str]) -> None:
    """Runs `tc` commands in the router, in one process."""
    done = subprocess.run(
        ["tc", "-n", "r", "-batch", "-"], input="\n".join(commands) + "\n", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"lab: {done.stderr.strip()}\nof:\n" + "\n".join(commands))


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Sockets opened here belong to a namespace."""
    home, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(f"/run/netns/{name}", os.O_RDONLY)
    _enter(there)
    try:
        yield
    finally:
        _enter(home)
        os.close(home)
        os.close(there)


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "setns")


def build() -> None:
    """Namespaces, links, addresses and fixed neighbours."""
    call("ip", "link", "set", "lo", "up")
    for name in "srld":
        call("ip", "netns", "add", name)
        with inside(name):
            _write("net/ipv6/conf/all/disable_ipv6", "1")
            _write("net/ipv6/conf/default/disable_ipv6", "1")
            _write("net/ipv4/ip_forward", "0" if name == "l" else "1")
    for a, b in (("s0", "r0"), ("d0", "r1"), ("s1", "l0"), ("d1", "l1")):
        call("ip", "link", "add", a, "netns", a[0], "type", "veth", "peer", "name", b, "netns", b[0])
    for name, device, address in (*LINKS, *AROUND):
        call("ip", "-n", name, "addr", "add", f"{address}/24", "dev", device)
    for name, device, *_ in (*LINKS, *AROUND, *BETWEEN):
        call("ip", "-n", name, "link", "set", device, "up")
        with inside(name):
            call("ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off", "tx-udp-segmentation", "off")
    for address in HOSTS[1:]:
        call("ip", "-n", "s", "addr", "add", f"{address}/24", "dev", "s0")
    call("ip", "-n", "s", "route", "add", "default", "via", "10.0.0.2")
    call("ip", "-n", "d", "route", "add", "default", "via", "10.0.1.2")
    for (name, device, _), (_, there, address) in zip(LINKS, (LINKS[1], LINKS[0], LINKS[3], LINKS[2]), strict=True):
        call("ip", "-n", name, "neigh", "replace", address, "lladdr", _mac(there), "dev", device, "nud", "permanent")
    for address in HOSTS[1:]:
        call("ip", "-n", "r", "neigh", "replace", address, "lladdr", _mac("s0"), "dev", "r0", "nud", "permanent")
    for (name, device, _), (_, there, address) in zip(AROUND, reversed(AROUND), strict=True):
        call("ip", "-n", name, "neigh", "replace", address, "lladdr", _mac(there), "dev", device, "nud", "permanent")


def keeps_bursts(device: str, so: bool) -> None:
    """Whether the sender's interface hands on packets of several datagrams as they are, and takes none apart."""
    with inside("s"):
        call("ethtool", "-K", device, "gso", "on" if so else "off", "tx-udp-segmentation", "on" if so else "off")


def _mac(device: str) -> str:
    name = next(name for name, it, _ in (*LINKS, *AROUND) if it == device)
    with inside(name):
        words = call("ip", "-o", "link", "show", device).split()
    return words[words.index("link/ether") + 1]


def _write(key: str, value: str) -> None:
    with open(f"/proc/sys/{key}", "w", encoding="ascii") as file:
        file.write(value)
