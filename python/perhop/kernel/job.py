"""A scenario as work for the kernel: its network, its datagrams at their times, its TCP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from perhop.results import Runs
from perhop.scenario import Linux, Scenario

#: Models whose datagrams are sent in the kernel at the scenario's own times.
DATAGRAMS = ("cbr", "on-off", "poisson", "capture")
_PORT = 20_000
#: What a packet carried when it was sent: what is marked at its first port was capable before.
_ECT = {"not-ect": 0, "ect1": 1, "ect0": 2, "ce": 2}


class Packet(NamedTuple):
    """A datagram at a port, as the simulator saw it."""

    number: int
    traffic: str
    flow: int
    hop: str
    size: int
    came: int
    left: int | None
    """None: dropped, or still there at the end of the run."""
    waits: bool
    marked: bool
    tos: int


def sendable(scenario: Scenario) -> None:
    """Whether the lab can send all traffic.

    Raises:
        ValueError: naming what it cannot send.
    """
    tables = scenario.to_dict()["traffic"]
    strange = [f"`{name}` ({it['model']})" for name, it in tables.items() if it["model"] not in DATAGRAMS]
    if strange:
        sent = ", ".join(DATAGRAMS)
        raise ValueError(f"traffic {', '.join(strange)}: the lab sends datagrams only ({sent})")


def packets_of(runs: Runs, scenario: Scenario) -> list[Packet]:
    """The datagrams at every port, in the order of their arrival there."""
    tables = scenario.to_dict()["traffic"]
    rows = runs.events()
    columns = ("packet", "traffic", "flow", "hop", "wire_bytes", "in_ns", "out_ns", "fate", "direction", "ecn", "dscp")
    found = [
        Packet(
            number=int(packet),
            traffic=str(traffic),
            flow=int(flow),
            hop=str(hop),
            size=int(size),
            came=int(came),
            left=int(left) if fate in ("sent", "marked") else None,
            waits=fate == "waiting",
            marked=ecn == "ce",
            tos=int(dscp) << 2 | _ECT[str(ecn)],
        )
        for packet, traffic, flow, hop, size, came, left, fate, direction, ecn, dscp in zip(
            *(rows[name] for name in columns), strict=True
        )
        if direction == "out" and tables[str(traffic)]["model"] in DATAGRAMS
    ]
    return sorted(found, key=lambda it: (it.came, it.number))


def job(scenario: Scenario, linux: Linux, packets: list[Packet]) -> dict[str, Any]:
    """What lab/scenario.py works from."""
    tables, settings = scenario.to_dict()["traffic"], scenario.settings
    ports = {key: _PORT + i for i, key in enumerate(dict.fromkeys((it.traffic, it.flow) for it in packets))}
    first: dict[int, Packet] = {}
    for it in packets:
        first.setdefault(it.number, it)

    def datagram(it: Packet) -> list[Any]:
        node, to = it.hop.split(" -> ")[0], linux.addresses[tables[it.traffic]["to"]]
        return [it.came, node, ports[it.traffic, it.flow], to, it.size, it.tos, it.number]

    transfers = [(name, table) for name, table in tables.items() if table["model"] == "ftp"]
    return {
        "commands": linux.commands,
        "datagrams": [datagram(it) for it in first.values()],
        "taps": [{"port": port, "node": node, "device": device} for port, node, device in linux.ends],
        "transfers": [_transfer(name, table, settings, linux) for name, table in transfers],
        "duration_ns": round(settings["duration_s"] * 1e9),
    }


def _transfer(name: str, table: Mapping[str, Any], settings: Mapping[str, Any], linux: Linux) -> dict[str, Any]:
    """A table of ftp as one iperf3: all its flows from the start to the end of the run."""
    return {
        "name": name,
        "from": table["from"],
        "to": table["to"],
        "source": linux.addresses[table["from"]],
        "address": linux.addresses[table["to"]],
        "flows": table.get("flows", 1),
        "start_ns": 0,
        "seconds": max(1, round(settings["duration_s"] - settings["warmup_s"])),
        "omit": round(settings["warmup_s"]),
        "tos": 0,
        "congestion": "reno",
    }
