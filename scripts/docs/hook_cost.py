"""What a hook in Python costs, for docs/decisions/122-one-variant-for-what-is-registered.md.

    python scripts/docs/hook_cost.py [ROUNDS]

An empty method is called from Rust a million times. Beside it a link takes a million packets with an AQM that answers,
with one that reads the backlog too, and without any: the difference is what the hook costs. A round does all of them,
one after the other; medians of the rounds are printed. A hook may cost three times the empty method.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import perhop
from perhop import _core

PACKETS = 1_000_000
MOST_TIMES = 3

SCENARIO = """
[scenario]
duration = "{seconds}s"
warmup = "0s"

[links]
"a - b" = {{ rate = "10Mbit/s", delay = "1ms", queue = "port" }}

[queue.port]
limit = "100p"
aqm = "{aqm}"

[traffic.load]
model = "cbr"
rate = "8Mbit/s"
size = "1000B"
from = "a"
to = "b"
"""


class Empty:
    """What is called."""

    def method(self) -> None:
        """Nothing."""


@perhop.register
class Answers(perhop.Aqm):
    """Answers."""

    def on_arrival(self, at, packet, rng):
        """Always the same."""
        return "pass"


@perhop.register
class Reads(perhop.Aqm):
    """Reads the backlog and compares it."""

    def __init__(self, most: int = 100) -> None:
        self.most = most

    def on_arrival(self, at, packet, rng):
        """As drop-tail."""
        return "drop" if at.backlog.packets >= self.most else "pass"


def ns(work: Callable[[], object]) -> float:
    """CPU time of a packet, or of a call."""
    began = time.process_time()
    work()
    return (time.process_time() - began) / PACKETS * 1e9


def run(aqm: str) -> Callable[[], object]:
    """A run with an AQM."""
    scenario = perhop.Scenario.from_toml(SCENARIO.format(aqm=aqm, seconds=PACKETS // 1000))
    return partial(scenario.run, 1, jobs=1, progress=False)


def main(rounds: int) -> None:
    """Prints a line for each."""
    works = {aqm: run(aqm) for aqm in ("drop-tail", "answers", "reads")}
    works["empty"] = partial(_core.called, Empty().method, PACKETS)
    each = [{name: ns(work) for name, work in works.items()} for _ in range(rounds)]
    empty = statistics.median(found["empty"] for found in each)
    print(f"an empty method   {empty:4.0f} ns")
    for name, what in {"answers": "a hook that answers", "reads": "one that reads"}.items():
        cost = statistics.median(found[name] - found["drop-tail"] for found in each)
        times = statistics.median((found[name] - found["drop-tail"]) / found["empty"] for found in each)
        print(f"{what:19} {cost:4.0f} ns, {times:.1f} times; at most {MOST_TIMES}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
