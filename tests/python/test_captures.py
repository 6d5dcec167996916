"""Rates, contracts and bursts that `meter` reports, against their definitions written down plainly."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

S = 10**9
CIR = 2_000_000
CBS = 15_000
WIDTHS = (1, 10, 100)
POLICY = f"""
[conditioner.each]
kind = "token-bucket"
per = "flow"
cir = "{CIR}bit/s"
cbs = "{CBS}B"
red = "drop"
"""


@dataclass(frozen=True)
class Packet:
    """One datagram: when (ns since the first), of which flow, its IP length."""

    at: int
    flow: int
    size: int


def traffic(seed: int) -> list[Packet]:
    """Four flows with pauses and bursts for several seconds; some packets share an instant."""
    rng = random.Random(seed)
    packets, at = [], 0
    while at < 6 * S:
        burst, flow = rng.choice([1, 1, 1, 40]), rng.randrange(4)
        for _ in range(burst):
            packets.append(Packet(at, flow, rng.randrange(28, 1500)))
            at += rng.choice([0, 10_000, 100_000])
        at += rng.choice([1_000_000, 20_000_000, 700_000_000])
    return packets


def capture(packets: list[Packet]) -> bytes:
    """A pcap of raw IP, in nanoseconds, headers only."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)]
    for packet in packets:
        source, destination = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, packet.size, 0, 0, 64, 17, 0, source, destination)
        udp = struct.pack(">HHHH", 1000 + packet.flow, 9, packet.size - 20, 0)
        at = 1_700_000_000 * S + packet.at
        out.append(struct.pack("<IIII", at // S, at % S, 28, packet.size) + ip + udp)
    return b"".join(out)


def when(packets: list[Packet]) -> dict[str, float | int | None]:
    """First, last, and the second with the most bytes (of equals the first)."""
    if not packets:
        return {"first_s": None, "last_s": None, "worst_second_s": 0, "worst_second_bit_s": 0}
    seconds = Counter[int]()
    for packet in packets:
        seconds[packet.at // S] += packet.size
    worst = min(seconds, key=lambda second: (-seconds[second], second))
    first, last = packets[0].at / S, packets[-1].at / S
    return {"first_s": first, "last_s": last, "worst_second_s": worst, "worst_second_bit_s": 8 * seconds[worst]}


def volume(packets: list[Packet]) -> dict[str, int]:
    return {"packets": len(packets), "bytes": sum(packet.size for packet in packets)}


def beyond(packets: list[Packet]) -> list[Packet]:
    """What finds no tokens in a bucket that is full at time zero: credit in bits x ns."""
    full = CBS * 8 * S
    credit, before, found = full, 0, []
    for packet in packets:
        credit = min(full, credit + CIR * (packet.at - before))
        before = packet.at
        if credit >= packet.size * 8 * S:
            credit -= packet.size * 8 * S
        else:
            found.append(packet)
    return found


def burst(packets: list[Packet], width_ms: int) -> dict[str, Any]:
    """Every window (t - w, t] that ends with a packet, one by one."""
    best: list[Packet] = []
    for end, last in enumerate(packets):
        within = [packet for packet in packets[: end + 1] if last.at - packet.at < width_ms * 10**6]
        if sum(packet.size for packet in within) > sum(packet.size for packet in best):
            best = within
    flows = Counter[int]()
    for packet in best:
        flows[packet.flow] += packet.size
    order = {flow: place for place, flow in enumerate(dict.fromkeys(packet.flow for packet in packets))}
    most = min(flows, key=lambda flow: (-flows[flow], order[flow]))
    return {
        "width_s": width_ms / 1000,
        **volume(best),
        "bit_s": pytest.approx(sum(packet.size for packet in best) * 8 / (width_ms / 1000)),
        "first_s": best[0].at / S,
        "last_s": best[-1].at / S,
        "flow": f"udp 10.0.0.1:{1000 + most} > 10.0.0.2:9",
        "flow_bytes": flows[most],
    }


@pytest.fixture(params=range(5))
def load(request: pytest.FixtureRequest) -> list[Packet]:
    return traffic(request.param)


def metered(perhop: Command, folder: Path, load: list[Packet], *arguments: str) -> dict[str, Any]:
    (folder / "in.pcap").write_bytes(capture(load))
    (folder / "policy.toml").write_text(POLICY)
    done = perhop("meter", "in.pcap", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_flows_without_a_policy(perhop: Command, tmp_path: Path, load: list[Packet]) -> None:
    found = metered(perhop, tmp_path, load)
    duration = load[-1].at / S
    assert (found["packets"], found["duration_s"], found["contracts"]) == (len(load), duration, [])
    for row in found["flows"]:
        of = [packet for packet in load if packet.flow == row["source_port"] - 1000]
        wanted = {**volume(of), **when(of), "offered_bit_s": pytest.approx(volume(of)["bytes"] * 8 / duration)}
        assert {key: row[key] for key in wanted} == wanted
        assert row["excess"]["packets"] == 0


def test_who_exceeds_a_contract(perhop: Command, tmp_path: Path, load: list[Packet]) -> None:
    found = metered(perhop, tmp_path, load, "--policy", "policy.toml")
    duration = load[-1].at / S
    excess = {flow: beyond([packet for packet in load if packet.flow == flow]) for flow in range(4)}
    assert sum(map(len, excess.values())) > 50, "the load exceeds it"
    for row in found["contracts"]:
        flow = next(flow for flow in range(4) if f":{1000 + flow} >" in row["instance"])
        of = [packet for packet in load if packet.flow == flow]
        wanted = {
            **volume(of),
            **when(of),
            "conditioner": "each",
            "cir_bit_s": CIR,
            "depth_bytes": CBS,
            "excess": {**volume(excess[flow]), **when(excess[flow])},
            "excess_bit_s": pytest.approx(volume(excess[flow])["bytes"] * 8 / duration),
        }
        assert {key: row[key] for key in wanted} == wanted
    beyond_bytes = [row["excess"]["bytes"] for row in found["contracts"]]
    assert beyond_bytes == sorted(beyond_bytes, reverse=True)
    for row in found["flows"]:
        red = volume(excess[row["source_port"] - 1000])
        assert {key: row["excess"][key] for key in red} == red == row["dropped"]


def test_the_largest_bursts(perhop: Command, tmp_path: Path, load: list[Packet]) -> None:
    found = metered(perhop, tmp_path, load, "--bursts")
    assert found["bursts"] == [burst(load, width) for width in WIDTHS]
    assert metered(perhop, tmp_path, load)["bursts"] is None
