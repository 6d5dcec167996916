"""A scenario as work for the kernel: its network, its datagrams at their times, its TCP."""

from __future__ import annotations

from typing import Any, NamedTuple

from perhop.linux import Device, Linux
from perhop.runs import Runs

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


def sendable(linux: Linux) -> None:
    """Whether the lab can send all traffic.

    Raises:
        ValueError: naming what it cannot send.
    """
    strange = [f"`{it.name}` ({it.model})" for it in linux.traffic if it.model not in (*DATAGRAMS, "ftp")]
    if strange:
        sent = ", ".join(DATAGRAMS)
        raise ValueError(f"traffic {', '.join(strange)}: the lab sends datagrams ({sent}) and bulk transfers (ftp)")


def packets_of(runs: Runs, linux: Linux) -> list[Packet]:
    """The datagrams at every port, in the order of their arrival there."""
    sent = {it.name for it in linux.traffic if it.model in DATAGRAMS}
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
        if direction == "out" and str(traffic) in sent
    ]
    return sorted(found, key=lambda it: (it.came, it.number))


class Connection(NamedTuple):
    """A bulk transfer over TCP, as the simulator opened it."""

    traffic: str
    flow: int
    hop: str
    """Its first port."""
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
        Connection(str(traffic), int(flow), str(hop), int(start), int(dscp) << 2, int(size))
        for traffic, flow, start, hop, dscp, size in zip(*columns, strict=True)
        if str(traffic) in over_tcp
    ]


def job(linux: Linux, packets: list[Packet], connections: list[Connection]) -> dict[str, Any]:
    """What lab/scenario.py works from: nodes are namespaces here."""
    near, traffic = {it.name: it.near for it in linux.ports}, {it.name: it for it in linux.traffic}
    ports = {key: _PORT + i for i, key in enumerate(dict.fromkeys((it.traffic, it.flow) for it in packets))}
    first: dict[int, Packet] = {}
    for it in packets:
        first.setdefault(it.number, it)

    def datagram(it: Packet) -> list[Any]:
        node, to = near[it.hop].namespace, traffic[it.traffic].address
        return [it.came, node, ports[it.traffic, it.flow], to, it.size, it.tos, it.number]

    return {
        "commands": linux.commands,
        "datagrams": [datagram(it) for it in first.values()],
        "receivers": sorted({traffic[it.traffic].to for it in first.values()}),
        "taps": [_end(it.name, it.far) for it in linux.ports],
        "queues": [_end(it.name, it.near) for it in linux.ports],
        "sample_ns": linux.sample_ns,
        "connections": [_connection(it, linux) for it in connections],
        "warmup_ns": linux.warmup_ns,
        "duration_ns": linux.duration_ns,
    }


def _end(port: str, end: Device) -> dict[str, str]:
    return {"port": port, "node": end.namespace, "device": end.device}


def _connection(it: Connection, linux: Linux) -> dict[str, Any]:
    """As lab/connections.py reads it."""
    told = next(told for told in linux.transfers if told.traffic == it.traffic)
    to = next(traffic for traffic in linux.traffic if traffic.name == it.traffic)
    begins = next(port.near.namespace for port in linux.ports if port.name == it.hop)
    source = next(node.address for node in linux.nodes if node.namespace == begins)
    node = {"from": begins, "source": source, "to": to.to, "address": to.address}
    return told._asdict() | node | {"flow": it.flow, "start_ns": it.start_ns, "tos": it.tos, "bytes": it.bytes}
