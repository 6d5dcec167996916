"""Runs a scenario inside the kernel: its network from commands, its datagrams at their times, its TCP by iperf3.

DIR/scenario.json is `{"commands", "datagrams", "taps", "transfers", "duration_ns"}`: shell commands; a list of
`[ns, node, source port, address, size, tos, number]`; the interfaces at the far ends of the ports, each
`{"port", "node", "device"}`; TCP connections, each `{"name", "from", "to", "source", "address", "flows", "start_ns",
"seconds", "omit", "tos", "congestion"}`. DIR/scenario.out.json gets what left each port, `{port: [[number, ns, tos],
..]}`, and what each connection received, in bit/s.
"""

from __future__ import annotations

import ctypes
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import capture
import network
import send

GRID = 1 << 30
#: How long the queues may take to empty, in virtual seconds.
DRAIN = 5
FIRST_PORT = 5201


def main(folder: Path) -> None:
    """The whole scenario."""
    job = json.loads((folder / "scenario.json").read_text())
    (folder / "network.sh").write_text("set -e\n" + "\n".join(job["commands"]) + "\n")
    network.call("ip", "link", "set", "lo", "up")
    network.call("sh", str(folder / "network.sh"))
    taps = {}
    for tap in job["taps"]:
        with network.inside(tap["node"]):
            taps[tap["port"]] = capture.listen(tap["device"])
    servers = [_server(it, i) for i, it in enumerate(job["transfers"])]
    time.sleep(1)
    start = (time.clock_gettime_ns(time.CLOCK_MONOTONIC) // GRID + 2) * GRID
    received: dict[str, float] = {}
    failed: list[str] = []
    clients = [
        threading.Thread(target=_transfer, args=(it, i, start, received, failed))
        for i, it in enumerate(job["transfers"])
    ]
    for client in clients:
        client.start()
    _datagrams(job["datagrams"], start)
    for client in clients:
        client.join()
    if failed:
        raise SystemExit("\n".join(failed))
    _sleep_until(start + job["duration_ns"])
    time.sleep(DRAIN)
    offset = capture.real_minus_monotonic()
    left = {port: _first(capture.seen(tap), offset + start) for port, tap in taps.items()}
    for server in servers:
        server.kill()
    (folder / "scenario.out.json").write_text(json.dumps({"left": left, "received": received}))


def _first(seen: list[capture.Seen], zero: int) -> list[tuple[int, int, int]]:
    """Each packet as it first passes a tap: behind a delay it is seen again."""
    found: dict[int, tuple[int, int, int]] = {}
    for it in seen:
        found.setdefault(it.number, (it.number, it.real_ns - zero, it.tos))
    return list(found.values())


def _sleep_until(at: int) -> None:
    wait = at - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    if wait > 0:
        time.sleep(wait * 1e-9)


def _datagrams(packets: list[tuple[int, str, int, str, int, int, int]], start: int) -> None:
    ctypes.CDLL(None).prctl(29, 1)  # no slack for timers
    opened: dict[tuple[str, int], socket.socket] = {}
    for _, node, port, *_ in packets:
        if (node, port) not in opened:
            with network.inside(node):
                opened[node, port] = send.sockets([send.Datagram(0, 0, 0, port)])[port]
    for ns, node, port, address, size, tos, number in packets:
        _sleep_until(start + ns)
        payload = struct.pack("!I", number).ljust(size - send.HEADERS, b"\0")
        marks = [(socket.IPPROTO_IP, socket.IP_TOS, struct.pack("i", tos))]
        opened[node, port].sendmsg([payload], marks, 0, (address, send.PORT))


def _server(transfer: dict[str, Any], i: int) -> subprocess.Popen[bytes]:
    words = ["ip", "netns", "exec", transfer["to"], "iperf3", "-s", "-p", str(FIRST_PORT + i)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _transfer(transfer: dict[str, Any], i: int, start: int, received: dict[str, float], failed: list[str]) -> None:
    _sleep_until(start + transfer["start_ns"])
    words = ["ip", "netns", "exec", transfer["from"], "iperf3", "-c", transfer["address"], "-B", transfer["source"]]
    words += ["-p", str(FIRST_PORT + i), "-t", str(transfer["seconds"]), "-O", str(transfer["omit"]), "-J"]
    words += ["-P", str(transfer["flows"]), "-S", str(transfer["tos"]), "-C", transfer["congestion"]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        received[transfer["name"]] = json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]
    except (ValueError, KeyError):
        failed.append(f"lab: {' '.join(words)}: {done.stdout.strip()} {done.stderr.strip()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
