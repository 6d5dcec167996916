"""CPU time of a session in steps of 20 ms beside the same run undisturbed, for docs/reports/speed.md.

    python scripts/docs/session_cost.py [PAIRS]

Each pair is a run of one replication and a session of it, one after the other, so that a machine that is slow for a
while is slow for both. Their medians are printed, and the median of the pairs' ratios.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import perhop

SCENARIOS = {
    "P(100)": "crates/bench/src/workloads/p100.toml",
    "tutorial": "examples/tutorial.toml",
    "dumbbell": "examples/dumbbell.toml",
}
STEP = "20ms"


def undisturbed(scenario: perhop.Scenario) -> str:
    """The hash of one replication."""
    return scenario.run(1, jobs=1, progress=False).replications[0].hash


def stepped(scenario: perhop.Scenario, look: Callable[[perhop.Port], object]) -> str:
    """The same by steps, with a look at the last port after each."""
    session = perhop.Session(scenario)
    end = round(scenario.settings["duration_s"] * 50)
    port = list(session.ports.values())[-1]
    for _ in range(end):
        session.step(STEP)
        look(port)
    return session.finish().replications[0].hash


def cpu(work: Callable[[], str]) -> tuple[float, str]:
    """Seconds of CPU time, and the hash."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def main(pairs: int) -> None:
    """Prints a line for each scenario and each way to look."""
    looks = {
        "steps alone": lambda _port: None,
        "and a gauge": lambda port: port.gauge("queue_packets"),
        "and counters": lambda port: (port.gauge("queue_packets"), port.counters()),
    }
    print(f"{'scenario':9} {'':12} {'run s':>7} {'session s':>9} {'ratio':>6} {'us a step':>9}")
    for name, file in SCENARIOS.items():
        scenario = perhop.Scenario.from_toml(file, {"scenario.duration": "25s"})
        steps = round(scenario.settings["duration_s"] * 50)
        for how, look in looks.items():
            ways = partial(undisturbed, scenario), partial(stepped, scenario, look)
            both = [(cpu(ways[0]), cpu(ways[1])) for _ in range(pairs)]
            if any(run[1] != session[1] for run, session in both):
                raise RuntimeError(f"{name}: the session has another hash")
            run, session = (statistics.median(pair[side][0] for pair in both) for side in (0, 1))
            ratio = statistics.median(pair[1][0] / pair[0][0] for pair in both)
            print(f"{name:9} {how:12} {run:7.3f} {session:9.3f} {ratio:6.2f} {(session - run) / steps * 1e6:9.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
