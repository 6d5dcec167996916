"""A scenario as work for the kernel: its network, its datagrams at their times, its TCP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from perhop.runs import Runs

Linux = Mapping[str, Any]
"""What `Scenario.as_tc()` returns: the core's `Linux`, which crates/config/src/as_tc/linux.rs describes."""
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
    strange = [f"`{it['name']}` ({it['model']})" for it in linux["traffic"] if it["model"] not in (*DATAGRAMS, "ftp")]
    if strange:
        sent = ", ".join(DATAGRAMS)
        raise ValueError(f"traffic {', '.join(strange)}: the lab sends datagrams ({sent}) and bulk transfers (ftp)")


def packets_of(runs: Runs, linux: Linux) -> list[Packet]:
    """The datagrams at every port, in the order of their arrival there."""
    sent = {it["name"] for it in linux["traffic"] if it["model"] in DATAGRAMS}
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
    over_tcp = {it["name"] for it in linux["traffic"] if it["transfers"]}
    return [
        Connection(str(traffic), int(flow), str(hop), int(start), int(dscp) << 2, int(size))
        for traffic, flow, start, hop, dscp, size in zip(*columns, strict=True)
        if str(traffic) in over_tcp
    ]


def job(linux: Linux, packets: list[Packet], connections: list[Connection]) -> dict[str, Any]:
    """What lab/guest/scenario.py works from."""
    ports = {key: _PORT + i for i, key in enumerate(dict.fromkeys((it.traffic, it.flow) for it in packets))}
    traffic = {it["name"]: it for it in linux["traffic"]}
    first: dict[int, Packet] = {}
    for it in packets:
        first.setdefault(it.number, it)
    begins = {it["name"]: it["near"]["namespace"] for it in linux["ports"]}

    def datagram(it: Packet) -> list[Any]:
        to, segments = traffic[it.traffic]["to"]["address"], traffic[it.traffic]["segments"]
        return [it.came, begins[it.hop], ports[it.traffic, it.flow], to, it.size, it.tos, it.number, segments]

    def connection(it: Connection) -> dict[str, Any]:
        """As lab/guest/connections.py reads it."""
        told = traffic[it.traffic]
        source = next(node for node in linux["nodes"] if node["namespace"] == begins[it.hop])
        rate = told["max_pacing_rate"]
        return {**told["transfers"], **it._asdict(), "from": source, "to": told["to"], "max_pacing_rate": rate}

    # The datagrams of a burst are sent at once and have numbers one behind the other.
    sent: Counter[tuple[str, int]] = Counter()
    begun = []
    for it in first.values():
        if sent[it.traffic, it.flow] % traffic[it.traffic]["segments"] == 0:
            begun.append(datagram(it))
        sent[it.traffic, it.flow] += 1
    return {
        "linux": linux,
        "datagrams": begun,
        "connections": [connection(it) for it in connections],
        "rates": {str(port): traffic[name]["max_pacing_rate"] for (name, _), port in ports.items()},
    }
