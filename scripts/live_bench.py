"""make live-bench: what perhop forward costs, beside a plain forwarder in C on the same rings, in one run.

    python3 scripts/live_bench.py target/release [FWD]

FWD is a program that is called as `FWD v2 IF0 IF1` and forwards both ways until SIGTERM. Without it there is no ratio.
Measured are the CPU time of a packet in perhop's own code, packets per CPU second of the whole process (the kernel's
part of sending is in it), and the round trip that it adds to that of a kernel's bridge. Round trips are measured with
the two ends and the forwarder on one core, on two (one is the forwarder's), and where Linux puts them. The last says
most of how long its cores take to wake up. Each round measures all, every second one in the opposite order. Medians of
the rounds are printed, of ratios too. It needs root, ip and taskset.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SECONDS = 3
ROUNDS = 7

TRIPS = 5000
FIRST_TRIPS = 100
"""Until caches and timers are warm."""

POLICY = """[policy]
[conditioner.all]
kind = "srtcm"
cir = "1Gbit/s"
cbs = "150kB"
ebs = "150kB"
green = "mark AF11"
yellow = "mark AF12"
red = "mark AF13"
"""

ECHO = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 11, 1)
s.bind(("10.9.0.2", 9))
while True:
    data, at = s.recvfrom(100)
    s.sendto(data, at)
"""

ASK = f"""
import socket, time, statistics
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 11, 1)
s.settimeout(2)
s.connect(("10.9.0.2", 9))
found = []
for n in range({TRIPS}):
    begun = time.perf_counter_ns()
    s.send(b"question")
    try:
        s.recv(100)
        found.append(time.perf_counter_ns() - begun)
    except TimeoutError:
        pass
print(statistics.median(found[{FIRST_TRIPS}:]) / 1000)
"""
"""Without UDP checksums: virtual Ethernets leave them to the other end, and FWD does not finish them."""

PERHOP, FWD, BRIDGE = "perhop", "fwd", "bridge"


class Cores(NamedTuple):
    """Cores on which programs may run, as taskset takes them."""

    ends: str
    forwarder: str


def places() -> dict[str, Cores]:
    """Where round trips are measured."""
    mine = sorted(os.sched_getaffinity(0))
    first, last, all_of_them = str(mine[0]), str(mine[-1]), ",".join(map(str, mine))
    return {
        "on one core": Cores(first, first),
        "on two cores": Cores(first, last),
        "where Linux puts them": Cores(all_of_them, all_of_them),
    }


NAME = f"live-bench-{os.getpid()}"


def ip(words: str) -> str:
    """`ip` with these words; what it prints."""
    return subprocess.run(["ip", *words.split()], check=True, capture_output=True, text=True).stdout


def start(which: str, *words: str) -> subprocess.Popen[str]:
    """Begin a program in a namespace."""
    return subprocess.Popen(["ip", "netns", "exec", f"{NAME}-{which}", *words], stdout=subprocess.PIPE, text=True)


def move(pid: int, cores: str) -> None:
    """All threads of a program run on these cores from now on."""
    subprocess.run(["taskset", "-acp", cores, str(pid)], check=True, stdout=subprocess.DEVNULL)


def set_up() -> None:
    """Make three namespaces in a row."""
    for which in "smr":
        ip(f"netns add {NAME}-{which}")
    for which, near, address in (("s", "va", "10.9.0.1"), ("r", "vb", "10.9.0.2")):
        there = f"{NAME}-{which}"
        ip(f"-n {NAME}-m link add {near} type veth peer name eth0 netns {there}")
        ip(f"-n {there} address add {address}/24 dev eth0")
        ip(f"-n {there} link set eth0 up")
        ip(f"-n {NAME}-m link set {near} up")
    for which, address, other in (("s", "10.9.0.2", "r"), ("r", "10.9.0.1", "s")):
        there = f"{NAME}-{which}"
        mac = json.loads(ip(f"-n {NAME}-{other} -j link show eth0"))[0]["address"]
        ip(f"-n {there} neighbour add {address} lladdr {mac} dev eth0")


def clean() -> None:
    """Remove them."""
    for which in "smr":
        subprocess.run(["ip", "netns", "delete", f"{NAME}-{which}"], check=False)


def received() -> int:
    """Frames that the receiver got."""
    return int(json.loads(ip(f"-n {NAME}-r -s -j link show eth0"))[0]["stats64"]["rx"]["packets"])


def cpu_seconds(pid: int) -> float:
    """Processor time of a process, that of the kernel for it included."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def running(words: list[str], measure: Callable[[int], float]) -> float:
    """What is measured of a forwarder that runs."""
    process = start("m", *words)
    while "promiscuity 1" not in ip(f"-n {NAME}-m -details link show vb"):
        time.sleep(0.1)
    found = measure(process.pid)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    while "promiscuity 1" in ip(f"-n {NAME}-m -details link show vb"):
        time.sleep(0.1)
    return found


def packets_per_cpu_second(blast: str) -> Callable[[int], float]:
    """Under all that the sender can send."""

    def measure(pid: int) -> float:
        before, cpu = received(), cpu_seconds(pid)
        start("s", blast, "eth0", str(SECONDS)).communicate(timeout=60)
        return (received() - before) / (cpu_seconds(pid) - cpu)

    return measure


def round_trip(echo: int, ends: str) -> float:
    """Microseconds, with the two ends on these cores."""
    move(echo, ends)
    return float(start("s", "taskset", "-c", ends, sys.executable, "-c", ASK).communicate(timeout=120)[0])


def through(echo: int, cores: Cores) -> Callable[[int], float]:
    """The round trip through a forwarder."""

    def measure(pid: int) -> float:
        move(pid, cores.forwarder)
        return round_trip(echo, cores.ends)

    return measure


def bridged(echo: int) -> dict[str, float]:
    """Microseconds through a bridge of the kernel, by place."""
    ip(f"-n {NAME}-m link add name br0 type bridge")
    for near in ("va", "vb"):
        ip(f"-n {NAME}-m link set {near} master br0")
    ip(f"-n {NAME}-m link set br0 up")
    time.sleep(1)
    found = {place: round_trip(echo, cores.ends) for place, cores in places().items()}
    ip(f"-n {NAME}-m link delete br0")
    return found


def main() -> int:
    """Measure and print."""
    release = Path(sys.argv[1]).resolve()
    fwd = str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else None
    # the plain forwarder sends as perhop does, through the queueing discipline of the interface
    os.environ["QDISC"] = "1"
    own = subprocess.run([release / "examples/cost"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"own code, srTCM: {own} ns a packet (at most 100 wanted)")
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(POLICY, encoding="utf-8")
        words = f"forward --in va --out vb --policy {policy}"
        forwarders = {PERHOP: [str(release / "perhop"), *words.split()]}
        if fwd:
            forwarders[FWD] = [fwd, "v2", "va", "vb"]
        set_up()
        echo = start("r", sys.executable, "-c", ECHO)
        try:
            blast = str(release / "examples/blast")
            rounds = [measured(forwarders, blast, echo.pid, turn % 2 == 1) for turn in range(ROUNDS)]
        finally:
            echo.kill()
            clean()
    show(rounds)
    return 0


class Round(NamedTuple):
    """What was measured in turn, by forwarder."""

    rates: dict[str, float]
    """Packets per CPU second."""
    trips: dict[str, dict[str, float]]
    """Round trips by place, us; that of the kernel's bridge is among them."""

    def added(self, name: str, place: str) -> float:
        """What a forwarder adds to the round trip of the bridge, us."""
        return self.trips[name][place] - self.trips[BRIDGE][place]


def measured(forwarders: dict[str, list[str]], blast: str, echo: int, backwards: bool) -> Round:
    """One round."""
    rates, trips = {}, {BRIDGE: bridged(echo)}
    for name, command in sorted(forwarders.items(), reverse=backwards):
        rates[name] = running(command, packets_per_cpu_second(blast))
        trips[name] = {place: running(command, through(echo, cores)) for place, cores in places().items()}
    return Round(rates, trips)


def show(rounds: list[Round]) -> None:
    """Print what was found, and the ratios."""
    both = FWD in rounds[0].rates
    for name in rounds[0].rates:
        line(f"{name}: million packets per CPU second", [it.rates[name] / 1e6 for it in rounds], 3)
    if both:
        rates = [it.rates[PERHOP] / it.rates[FWD] for it in rounds]
        line("packets per CPU second, perhop / fwd (at least .9 wanted)", rates, 3)
    print(f"round trips, us, medians of {TRIPS - FIRST_TRIPS}:")
    for place in rounds[0].trips[BRIDGE]:
        for name in rounds[0].trips:
            line(f"  {place}: {name}", [it.trips[name][place] for it in rounds], 1)
        if both:
            ratios = [it.added(PERHOP, place) / it.added(FWD, place) for it in rounds]
            line(f"  {place}: added to {BRIDGE}, perhop / fwd (at most 1.3 wanted)", ratios, 3)


def line(what: str, found: list[float], digits: int) -> None:
    """The median, and the figure of each round."""
    print(f"{what}: {statistics.median(found):.{digits}f}  {[round(it, digits) for it in found]}")


if __name__ == "__main__":
    sys.exit(main())
