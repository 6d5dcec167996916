"""Algorithms that are Python classes, and a run with them, for the tests of these."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

import perhop
from conftest import ROOT
from perhop import Runs, Scenario, own

DUMBBELL = ROOT / "examples/dumbbell.toml"
SHORT = "scenario.duration=4s"


class Half(perhop.Aqm):
    """Drops what finds `most` packets waiting.

    most: packets that may wait.
    """

    def __init__(self, most: int = 10) -> None:
        self.most = most

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        return "drop" if at.backlog.packets >= self.most else "pass"


class Coin(perhop.Aqm):
    """Drops one packet in so many, by the stream of the queue."""

    name = "coin-2"

    def __init__(self, p: perhop.Probability = 0.01) -> None:
        self.p, self.seen = p, 0

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> own.Verdict:
        self.seen += 1
        return "drop" if rng.random() < self.p else "pass"

    def gauges(self) -> dict[str, float]:
        return {"seen": self.seen}


EXAMPLES = ROOT / "examples/own"
sys.path.insert(0, str(EXAMPLES))
aimd, leaky_bucket, red = (importlib.import_module(name) for name in ("aimd", "leaky_bucket", "red"))
"""Each registers its class."""


def ran(queue: str, *more: str, replications: int = 1, **options: Any) -> Runs:
    scenario = Scenario.from_toml(DUMBBELL, [f"dumbbell.queue={queue}", SHORT, "scenario.warmup=1s", *more])
    return scenario.run(replications, **options)


def same(a: Runs, b: Runs, *tables: str) -> bool:
    return all(
        np.array_equal(
            a.table(table)[column], b.table(table)[column], equal_nan=a.table(table)[column].dtype.kind == "f"
        )
        for table in tables
        for column in a.table(table)
    )
