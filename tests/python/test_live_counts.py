"""What `perhop forward` says of frames that are malformed or not IP: table, `--json`, the page for Prometheus."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from waits import WAIT_S, until

pytestmark = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or shutil.which("ip") is None, reason="namespaces need root and iproute2"
)

POLICY = """
[policy]
accounting = "l2"
[conditioner.police]
kind = "token-bucket"
cir = "1kbit/s"
cbs = "15kB"
red = "drop"
"""

# Frames for no host: 12 of 1514 B that state 28 B of IP, of which 9 fit into 15 kB; 3 of 60 B that state 65,535;
# 2 of LLDP.
SEND = """
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("pa", 0))
ends = bytes([0x33] * 6 + [2] * 6)
def ip(stated, size):
    words = [0x4500, stated, 7, 0, 64 << 8 | 17, 0, 0x0A09, 1, 0x0A09, 2]
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    words[5] = ~total & 0xFFFF
    return ends + bytes([8, 0]) + struct.pack("!10H", *words) + bytes(size - 34)
for frame in [ip(28, 1514)] * 12 + [ip(65535, 60)] * 3 + [ends + bytes([0x88, 0xCC]) + bytes(46)] * 2:
    s.send(frame)
"""

PAGE = """
import socket
s = socket.create_connection(("127.0.0.1", 9123))
s.sendall(b"GET")
print(b"".join(iter(lambda: s.recv(65536), b"")).decode())
"""


def ip(words: str) -> str:
    return subprocess.run(["ip", *shlex.split(words)], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def inside() -> Iterator[list[str]]:
    """What runs a program in a namespace whose `va` and `vb` lead to `pa` and `pb`."""
    name = f"live-counts-{os.getpid()}"
    ip(f"netns add {name}")
    ip(f"netns exec {name} sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'")
    ip(f"-n {name} link set lo up")
    for near, far in (("va", "pa"), ("vb", "pb")):
        ip(f"-n {name} link add {near} type veth peer name {far}")
        ip(f"-n {name} link set {near} up")
        ip(f"-n {name} link set {far} up")
    yield ["ip", "netns", "exec", name, sys.executable]
    ip(f"netns delete {name}")


def started(inside: list[str], folder: Path, *more: str) -> subprocess.Popen[str]:
    (folder / "policy.toml").write_text(POLICY)
    words = ["-m", "perhop", "forward", "--in", "va", "--out", "vb", "--policy", "policy.toml", *more]
    pipe = subprocess.PIPE
    process = subprocess.Popen([*inside, *words], cwd=folder, stdout=pipe, stderr=pipe, text=True)
    namespace = inside[3]
    until(lambda: "promiscuity 1" in ip(f"-n {namespace} -details link show vb"), "it forwards", process)
    return process


def ended(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said
    return out


def test_what_is_lost_and_what_is_not_ip(inside: list[str], tmp_path: Path) -> None:
    process = started(inside, tmp_path, "--json", "--metrics", "9123")
    subprocess.run([*inside, "-c", SEND], check=True)

    def page() -> str:
        return subprocess.run([*inside, "-c", PAGE], check=True, capture_output=True, text=True).stdout

    lldp = 'perhop_not_ip_packets_total{device="vb",protocol="EtherType 0x88cc"} 2'
    until(lambda: lldp in page(), "they have passed", process)
    shown = page()
    assert 'perhop_not_ip_bytes_total{device="vb",protocol="EtherType 0x88cc"} 120' in shown
    assert 'perhop_drops_total{device="vb",reason="truncated"} 3' in shown
    assert 'perhop_drops_total{device="vb",reason="policer"} 3' in shown
    counts = json.loads(ended(process))
    there = counts["forward"]
    assert (there["dropped"]["truncated"], there["dropped"]["policer"], there["closed"]) == (3, 3, True)
    assert counts["not_ip"]["forward"]["EtherType 0x88cc"] == [2, 120]
    assert counts["colours"]["green"] == [9, 9 * 1514]


def test_the_table(inside: list[str], tmp_path: Path) -> None:
    process = started(inside, tmp_path, "--trace", "runs")
    subprocess.run([*inside, "-c", SEND], check=True)
    table = [line.split() for line in ended(process).splitlines()]
    assert ["truncated", "3", "0"] in table
    assert ["not", "IP,", "forward:", "EtherType", "0x88cc:", "2", "frames,", "120", "B"] in table
