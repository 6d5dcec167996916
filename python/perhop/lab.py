"""`perhop lab`: a scenario in a real Linux kernel in virtual time, beside the simulator."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from perhop.results import Runs
from perhop.scenario import Linux, Scenario

SCRIPTS = Path(__file__).parent / "data" / "lab"
#: Models whose datagrams are sent in the kernel at the scenario's own times.
DATAGRAMS = ("cbr", "on-off", "poisson", "capture")
#: The clock's unit in user-mode Linux as shipped; departures closer than this are at the same time.
CLOCK_NS = 256
FINE, CANNOT = 0, 3
_PORT = 20_000
_CE = 3
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
    marked: bool
    tos: int


def lab(arguments: Mapping[str, Any]) -> int:
    """Carries out `perhop lab`.

    Raises:
        ValueError: what Linux's tools cannot say; traffic that the lab cannot send.
    """
    scenario = Scenario.from_toml(Path(arguments["file"]), arguments["settings"])
    linux = scenario.as_tc()
    _sendable(scenario)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments["keep"] or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        runs = scenario.run(replications=1, out=folder / "runs", events=True)
        packets = _packets(runs, scenario)
        (folder / "scenario.json").write_text(json.dumps(_job(scenario, linux, packets)))
        if reason := _boot(folder):
            print(f"lab: {reason}")
            return FINE
        found = json.loads((folder / "scenario.out.json").read_text())
    _say(compared(packets, found["left"]), found["received"], runs)
    return FINE


def _boot(folder: Path) -> str:
    """Runs the job in the kernel; why it cannot, if so."""
    built = subprocess.run([SCRIPTS / "build.sh"], capture_output=True, text=True, check=False)
    if built.returncode == CANNOT:
        return (built.stderr or built.stdout).strip().removeprefix("lab: ")
    if built.returncode:
        raise ValueError(built.stderr.strip())
    done = subprocess.run([SCRIPTS / "run", folder, "3600"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return ""


def _sendable(scenario: Scenario) -> None:
    tables = scenario.to_dict()["traffic"]
    strange = [f"`{name}` ({it['model']})" for name, it in tables.items() if it["model"] not in (*DATAGRAMS, "ftp")]
    if strange:
        sent = ", ".join(DATAGRAMS)
        raise ValueError(f"traffic {', '.join(strange)}: the lab sends datagrams ({sent}) and runs ftp by iperf3")


def _packets(runs: Runs, scenario: Scenario) -> list[Packet]:
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
            marked=ecn == "ce",
            tos=int(dscp) << 2 | _ECT[str(ecn)],
        )
        for packet, traffic, flow, hop, size, came, left, fate, direction, ecn, dscp in zip(
            *(rows[name] for name in columns), strict=True
        )
        if direction == "out" and tables[str(traffic)]["model"] in DATAGRAMS
    ]
    return sorted(found, key=lambda it: (it.came, it.number))


def _job(scenario: Scenario, linux: Linux, packets: list[Packet]) -> dict[str, Any]:
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


class Compared(NamedTuple):
    """A port in both worlds."""

    port: str
    came: int
    left: int
    kernel_left: int
    other_fate: int
    """Left one and not the other."""
    other_mark: int
    apart_ns: list[int]
    """Between the departures of those that left both."""


def compared(packets: list[Packet], left: Mapping[str, list[tuple[int, int, int]]]) -> list[Compared]:
    """Every port that datagrams pass, packet for packet."""
    by_port: dict[str, list[Packet]] = defaultdict(list)
    for it in packets:
        by_port[it.hop].append(it)
    return [
        _compared(port, here, {number: (ns, tos) for number, ns, tos in left[port]}) for port, here in by_port.items()
    ]


def _compared(port: str, packets: list[Packet], kernel: Mapping[int, tuple[int, int]]) -> Compared:
    both = [(it, it.left, kernel[it.number]) for it in packets if it.left is not None and it.number in kernel]
    return Compared(
        port=port,
        came=len(packets),
        left=sum(it.left is not None for it in packets),
        kernel_left=len(kernel),
        other_fate=sum((it.left is None) == (it.number in kernel) for it in packets),
        other_mark=sum(it.marked != (tos & 3 == _CE) for it, _, (_, tos) in both),
        apart_ns=sorted(abs(ns - left) for _, left, (ns, _) in both),
    )


def _say(ports: list[Compared], received: Mapping[str, float], runs: Runs) -> None:
    if ports:
        print(
            "port: datagrams that came, left the simulator's and the kernel's port; packets that differ; departures apart"
        )
    for it in ports:
        times = it.apart_ns
        apart = f"median {statistics.median(times) / 1e3:.3f} us, at most {times[-1] / 1e3:.3f} us" if times else "-"
        print(
            f"{it.port}: {it.came} came, {it.left} and {it.kernel_left} left; "
            f"{it.other_fate} with another fate, {it.other_mark} with another mark; {apart}"
        )
    for name, bit_s in received.items():
        table = runs.frame("tables")
        print(f"{name}: the kernel's TCP received {bit_s / 1e6:.3f} Mbit/s")
        del table
