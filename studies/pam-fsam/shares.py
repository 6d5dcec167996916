"""Reading a5: how near F-SAM comes to max-min shares with 10 and with 100 flows (`readings-shares.toml`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import stats
from perhop.scenario import Scenario
from perhop_studies.pam_fsam.method import MARKER_HOP
from perhop_studies.quantities import Tables
from perhop_studies.readings import Reading
from perhop_studies.runs import Budget

SCENARIO = "readings-shares.toml"
CIR, SIZE, MEASURED_S = 1e6, 1000, 60
FAIR = {10: 150e3 / 8, 100: 15e3 / 8}
"""alpha in bytes/s by the number of flows."""
FLOWS: dict[int, dict[str, Any]] = {
    10: {},
    100: {
        "traffic.modest.flows": 50,
        "traffic.modest.rate": "5kbit/s",
        "traffic.greedy.flows": 50,
        "traffic.greedy.rate": "60kbit/s",
    },
}
NEAR = 0.25


@dataclass(frozen=True)
class Share:
    """One answer at one number of flows; means over the replications."""

    flows: int
    value: str
    modest: float
    """IN fraction of the flows below their fair rate: 1 would be exact."""
    used: float
    """IN rate by CIR."""
    alpha: float
    """Mean of alpha after the warm-up by the fair rate."""
    settled_s: float
    """When alpha is first within 25 % of the fair rate."""


def measure(directory: Path, reading: Reading, budget: Budget) -> list[Share]:
    """Every answer at both numbers of flows."""
    found = []
    for flows, changes in FLOWS.items():
        for value in reading.values:
            scenario = Scenario.from_toml(directory / SCENARIO, {**changes, **reading.settings(value, "load")})
            runs = scenario.run(
                budget.seeds,
                seed=budget.seed,
                jobs=budget.jobs,
                client=budget.cluster.client if budget.cluster else None,
                progress=False,
            )
            rows = [_row(flows, replication.tables) for replication in runs.replications]
            found.append(Share(flows, value, *(stats.mean(column) for column in zip(*rows, strict=True))))
    return found


def _row(flows: int, tables: Tables) -> tuple[float, float, float, float]:
    summary, series, fair = tables["summary"], tables["series"], FAIR[flows]
    columns = (summary[c] for c in ("class", "colour", "hop", "arrived_packets"))
    packets = {(of, colour): int(n) for of, colour, hop, n in zip(*columns, strict=True) if hop == MARKER_HOP}
    modest, greedy = packets[("modest", "green")], packets[("greedy", "green")]
    rated = zip(series["t_s"], series["quantity"], series["value"], strict=True)
    alpha = [(float(t), float(v) / fair) for t, quantity, v in rated if quantity == "fair_rate_bytes_s"]
    settled = [t for t, v in alpha if t > 1 and abs(v - 1) <= NEAR]
    return (
        modest / (modest + packets.get(("modest", "red"), 0)),
        (modest + greedy) * SIZE * 8 / MEASURED_S / CIR,
        stats.mean(v for t, v in alpha if t >= 5),
        settled[0] if settled else float("inf"),
    )
