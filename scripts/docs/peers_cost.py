"""CPU time of RED, a bucket and AIMD in perhop, ns.py and ns-3, for docs/reports/speed.md.

    python scripts/docs/peers_cost.py --nspy ns/bin/python [--rounds 5]

Each has one link of 10 Mbit/s: packets of 1000 B at 12 Mbit/s for RED and the bucket, one bulk sender for AIMD. A round
runs all of them, one after the other, so that a machine that is slow for a while is slow for all. Medians are printed.
A peer's time begins when everything is set up, perhop's before. `tests/reference/peers` has the peers, and says how to
install them.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import perhop

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "tests/reference/peers"
sys.path.insert(0, str(ROOT / "examples/own"))
MODULES = ("internet", "applications", "point-to-point", "traffic-control", "network", "core")

LINK = """
[scenario]
duration = "{seconds}s"
warmup = "0s"

[links]
"a - b" = {{ rate = "{rate}", delay = "20ms", queue = "port" }}

[queue.port]
{queue}

[traffic.load]
from = "a"
to = "b"
{traffic}
"""
CONSTANT = 'model = "cbr"\nrate = "12Mbit/s"\nsize = "1000B"'
RAMP = "if(avg < 20p, 0, 0.5 * (avg - 20p) / 40p)"
AVERAGE = '{ of = "backlog.packets", weight = 0.002, mean-packet = "1000B" }'
REDS = {
    "built in": 'aqm = "red"\nmin = "20p"\nmax = "60p"\nmax-p = 0.5\nspacing = "bernoulli"',
    "formula": f'aqm = "formula"\naverages = {{ avg = {AVERAGE} }}\np = "{RAMP}"\ndrop-if = "avg >= 60p"',
    "Python": 'aqm = "early-drop"\nlow = "20p"\nhigh = "60p"\nmax-p = 0.5',
}
BUCKETS = {
    "built in": 'kind = "token-bucket"\ncir = "10Mbit/s"\ncbs = "20kB"',
    "formula": 'kind = "formula"\nsets = "if(c >= size, green, red)"\n'
    'buckets = { c = { rate = "10Mbit/s", burst = "20kB", pays = "green" } }',
    "Python": 'kind = "leaky-bucket"\nrate = "10Mbit/s"\ndepth = "20kB"',
}
LAWS = {"built in": "reno", "Python": "aimd"}
SECONDS = {"built in": 600, "formula": 600, "Python": 200, "ns.py": 20, "ns-3": 40}
"""Simulated: a quarter of a second of CPU time at least."""

Cost = tuple[float, float]
"""Packet-hops, and seconds of CPU time."""


def scenarios() -> dict[tuple[str, str], str]:
    """Texts of perhop, by case and way."""
    found = {}
    for way, red in REDS.items():
        found["RED", way] = LINK.format(
            seconds=SECONDS[way], rate="10Mbit/s", queue=f'limit = "100p"\n{red}', traffic=CONSTANT
        )
    for way, bucket in BUCKETS.items():
        link = LINK.format(seconds=SECONDS[way], rate="1Gbit/s", queue='limit = "100p"', traffic=CONSTANT)
        found["leaky bucket", way] = f'{link}\n[conditioner.contract]\nat = "a -> b"\nred = "drop"\n{bucket}\n'
    for way, law in LAWS.items():
        traffic = f'model = "ftp"\ntcp = "own"\n\n[tcp.own]\ncongestion = "{law}"\nsegment = "960B"\nwindow = 1000'
        found["AIMD", way] = LINK.format(seconds=SECONDS[way], rate="10Mbit/s", queue='limit = "50p"', traffic=traffic)
    return found


def perhops(text: str) -> Cost:
    """A run of one replication."""
    scenario = perhop.Scenario.from_toml(text)
    began = time.process_time()
    runs = scenario.run(1, jobs=1, progress=False)
    took = time.process_time() - began
    if "[tcp.own]" in text:
        return float(runs.table("links")["delivered_packets"].sum()), took
    return float(runs.table("flows")["sent_packets"].sum()), took


def peers(command: list[str]) -> Cost:
    """What a peer prints."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    hops, took = done.stdout.split()
    return float(hops), float(took)


def built(folder: str) -> str:
    """The program of ns-3, compiled."""
    program = f"{folder}/load"
    libraries = [f"-lns3-{module}" for module in MODULES]
    subprocess.run(["g++", "-O2", "-o", program, str(PEERS / "load.cc"), *libraries], check=True)
    return program


def works(nspy: str, ns3: str) -> dict[tuple[str, str], Callable[[], Cost]]:
    """All that is run, by case and way."""
    found: dict[tuple[str, str], Callable[[], Cost]] = {at: partial(perhops, text) for at, text in scenarios().items()}
    for case, name in {"RED": "red", "leaky bucket": "bucket", "AIMD": "aimd"}.items():
        for way, program in {"ns.py": [nspy, str(PEERS / "load.py")], "ns-3": [ns3]}.items():
            found[case, way] = partial(peers, [*program, name, str(SECONDS[way])])
    return found


def main(nspy: str, rounds: int) -> None:
    """Prints the table."""
    import aimd  # noqa: F401
    import leaky_bucket  # noqa: F401
    import red  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        every = works(nspy, built(folder))
        each = [{at: work() for at, work in every.items()} for _ in range(rounds)]
    cost = {at: statistics.median(found[at][1] / found[at][0] for found in each) * 1e6 for at in every}
    print(f"| us a packet-hop | {' | '.join(SECONDS)} |\n|---|{'---:|' * len(SECONDS)}")
    for case in ("RED", "leaky bucket", "AIMD"):
        cells = (f"{cost[case, way]:.3g}" if (case, way) in cost else "-" for way in SECONDS)
        print(f"| {case} | {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nspy", required=True, help="a Python that has ns.py")
    parser.add_argument("--rounds", type=int, default=5)
    main(**vars(parser.parse_args()))
