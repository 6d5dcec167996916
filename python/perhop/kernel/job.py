"""A scenario as work for the kernel: its network, its datagrams at their times, its TCP."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from perhop.results import Runs
from perhop.scenario import Linux, Scenario

#: Models whose datagrams are sent in the kernel at the scenario's own times.
DATAGRAMS = ("cbr", "on-off", "poisson", "capture")
_PORT = 20_000
_PAIR = re.compile(r"ip link add (\w+) netns \w+ .*type veth peer name (\w+) ")
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
    strange = [f"`{name}` ({it['model']})" for name, it in tables.items() if it["model"] not in (*DATAGRAMS, "ftp")]
    if strange:
        sent = ", ".join(DATAGRAMS)
        raise ValueError(f"traffic {', '.join(strange)}: the lab sends datagrams ({sent}) and bulk transfers (ftp)")


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
            waits=fate in ("waiting", "in-flight"),
            marked=ecn == "ce",
            tos=int(dscp) << 2 | _ECT[str(ecn)],
        )
        for packet, traffic, flow, hop, size, came, left, fate, direction, ecn, dscp in zip(
            *(rows[name] for name in columns), strict=True
        )
        if direction == "out" and tables[str(traffic)]["model"] in DATAGRAMS
    ]
    return sorted(found, key=lambda it: (it.came, it.number))


class Connection(NamedTuple):
    """A bulk transfer over TCP, as the simulator opened it."""

    traffic: str
    flow: int
    node: str
    start_ns: int
    tos: int
    bytes: int
    """A quarter more than it sent."""


def connections_of(runs: Runs, linux: Linux) -> list[Connection]:
    """Where and when each connection sent its first packet."""
    rows = runs.sql(
        "select traffic, flow, min(in_ns) as start_ns, arg_min(hop, in_ns) as hop, arg_min(dscp, in_ns) as dscp, "
        "1.25 * sum(wire_bytes) / count(distinct hop) as bytes from events "
        "where direction = 'out' group by traffic, flow order by start_ns, traffic, flow"
    )
    columns = (rows[name] for name in ("traffic", "flow", "start_ns", "hop", "dscp", "bytes"))
    over_tcp = {it.traffic for it in linux.transfers}
    return [
        Connection(str(traffic), int(flow), str(hop).split(" -> ")[0], int(start), int(dscp) << 2, int(size))
        for traffic, flow, start, hop, dscp, size in zip(*columns, strict=True)
        if str(traffic) in over_tcp
    ]


def job(scenario: Scenario, linux: Linux, packets: list[Packet], connections: list[Connection]) -> dict[str, Any]:
    """What lab/scenario.py works from."""
    tables, settings = scenario.to_dict()["traffic"], scenario.settings
    ports = {key: _PORT + i for i, key in enumerate(dict.fromkeys((it.traffic, it.flow) for it in packets))}
    first: dict[int, Packet] = {}
    for it in packets:
        first.setdefault(it.number, it)

    def datagram(it: Packet) -> list[Any]:
        node, to = it.hop.split(" -> ")[0], linux.addresses[tables[it.traffic]["to"]]
        return [it.came, node, ports[it.traffic, it.flow], to, it.size, it.tos, it.number]

    return {
        "commands": linux.commands,
        "datagrams": [datagram(it) for it in first.values()],
        "receivers": sorted({tables[it.traffic]["to"] for it in first.values()}),
        "taps": [{"port": port, "node": node, "device": device} for port, node, device in linux.ends],
        "queues": _queues(linux),
        "sample_ns": round((settings["sample_s"] or 0) * 1e9),
        "connections": [_connection(it, tables[it.traffic]["to"], linux) for it in connections],
        "warmup_ns": round(settings["warmup_s"] * 1e9),
        "duration_ns": round(settings["duration_s"] * 1e9),
    }


def _queues(linux: Linux) -> list[dict[str, str]]:
    """Where packets wait for each port: at its own end of the link."""
    pairs = [pair.groups() for pair in map(_PAIR.match, linux.commands) if pair]
    peer = {one: other for a, b in pairs for one, other in ((a, b), (b, a))}
    return [{"port": port, "node": port.split(" -> ")[0], "device": peer[device]} for port, _, device in linux.ends]


def _connection(it: Connection, to: str, linux: Linux) -> dict[str, Any]:
    """As lab/connections.py reads it."""
    told = next(told for told in linux.transfers if told.traffic == it.traffic)
    node = {"from": it.node, "source": linux.addresses[it.node], "to": to, "address": linux.addresses[to]}
    return told._asdict() | node | {"flow": it.flow, "start_ns": it.start_ns, "tos": it.tos, "bytes": it.bytes}
