"""What users of Telnet and of the web wait for, from the tables of one run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perhop import stats
from perhop_studies.quantities import Tables, real

COLUMNS = {"F1,F2,F4": ("F1", "F2", "F4"), "F3,F5": ("F3", "F5"), "overall": ("F1", "F2", "F3", "F4", "F5")}
"""Of Table 1: whose packets."""
TRIMMED = 0.01
"""Share of the slowest objects that Table 2 leaves out."""


def telnet(tables: Tables) -> dict[str, float]:
    """Delays of packets, weighted by packets; mean duration of sessions."""
    rows = tables["sessions"]
    packets = [real(n) for n in rows["delivered_packets"]]
    waited = [n * real(ms) / 1000 if n else 0.0 for n, ms in zip(packets, rows["delay_mean_ms"], strict=True)]
    found = {}
    for column, names in COLUMNS.items():
        mine = [i for i, name in enumerate(rows["traffic"]) if name in names]
        found[column] = stats.total(waited[i] for i in mine) / stats.total(packets[i] for i in mine)
    ended = [s for s in map(real, rows["duration_s"]) if not math.isnan(s)]
    return {**found, "per session": stats.mean(ended), "open": 1 - len(ended) / len(packets)}


def web(tables: Tables) -> dict[str, float]:
    """Time to the first packet of an object and to the last: means and deviations."""
    rows = tables["transfers"]
    still = stats.total(tables["traffic"]["transfers_open"])
    objects = len(rows["traffic"]) + still
    found = {"objects": objects, "open": still / objects}
    for column, name in {"first packet": "first_byte_ms", "all packets": "last_byte_ms"}.items():
        kept = _without_slowest([real(ms) / 1000 for ms in rows[name]], objects)
        found |= {column: stats.mean(kept), f"{column} sd": stats.deviation(kept)}
    return found


def _without_slowest(seconds: Sequence[float], of: float) -> list[float]:
    """The fastest 99 % of all objects; those that did not end count as slowest."""
    return sorted(seconds)[: math.floor(of * (1 - TRIMMED))]
