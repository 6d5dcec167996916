"""What partitioning one simulation could bring, for docs/reports/speed.md: from the packets that cross a cut.

    python scripts/docs/one_core.py

A conservative parallel simulation gives each domain a core, and lets all run ahead by the lookahead, the least delay of
a link between two of them; then they meet. So a window of that length takes what its busiest domain takes, and the
meeting. Work is counted in packet-hops: each belongs to the domain of the node whose port the packet comes to.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import perhop

MEETING_US = (0.0, 0.2, 30.0)
"""A meeting of two threads: nothing; both cores spin; a thread sleeps and is woken."""
HOP_NS = 50.0
"""A packet-hop, as `make bench` has P(100)."""

CORE = """
[scenario]
name = "core"
warmup = "500ms"
duration = "2500ms"

[dumbbell]
flows = 1000
bottleneck = "1Gbit/s"
rtt = "40ms"
queue = { limit = "1000p" }
"""


@dataclass(frozen=True)
class Cut:
    """A scenario in domains."""

    name: str
    scenario: perhop.Scenario
    domain: Callable[[str], int]
    """Of a node, by its name."""
    domains: str


def cuts() -> list[Cut]:
    """Three scenarios, each at the links where domains meet."""
    tutorial = perhop.Scenario.from_toml("examples/tutorial.toml", {"scenario.replications": 1})
    relabelled = perhop.Scenario.from_toml("examples/pps-relabeller.toml", {"scenario.replications": 1})
    core = perhop.Scenario.from_toml(CORE)
    parts = {"S0": 0, "S1": 0, "S3": 0, "S2": 1, "S4": 1}
    return [
        Cut("tutorial", tutorial, lambda node: int(node in ("R", "D")), "access and edge; core and destination"),
        Cut("pps-relabeller", relabelled, lambda node: parts.get(node, 2), "two source domains; the transit domain"),
        Cut("1000 flows, 1 Gbit/s", core, lambda node: int(node in ("E2", "d")), "either side of the bottleneck"),
    ]


def counted(cut: Cut) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as out:
        runs = cut.scenario.run(1, out=out, events=True, progress=False)
        events, links = runs.events(columns=["hop", "in_ns"]), runs.table("links")
        hops, times = events["hop"], events["in_ns"]
    ends = {hop: tuple(cut.domain(node) for node in hop.split(" -> ")) for hop in set(hops) | set(links["hop"])}
    delays = zip(links["hop"], links["delay_ms"], strict=True)
    lookahead = min(float(delay) for hop, delay in delays if len(set(ends[hop])) == 2)
    domains = max(max(both) for both in ends.values()) + 1
    windows = (np.asarray(times) // int(lookahead * 1e6)).astype(np.int64)
    of = np.array([ends[hop][0] for hop in hops])
    work = np.zeros((int(windows.max()) + 1, domains))
    np.add.at(work, (windows, of), 1)
    crossing = np.mean([len(set(ends[hop])) == 2 for hop in hops])
    total, longest = work.sum(), work.max(axis=1).sum()
    met = [total / (longest + len(work) * meeting * 1e3 / HOP_NS) for meeting in MEETING_US]
    shares = " : ".join(f"{share:.2f}" for share in work.sum(axis=0) / total)
    bounds = " | ".join(f"{bound:.2f}" for bound in met)
    each = total / len(work) / domains
    return f"| {cut.name} | {cut.domains} | {lookahead:g} | {crossing:.0%} | {each:,.0f} | {shares} | {bounds} |"


def main() -> None:
    """Prints the table."""
    met = " | ".join(f"at most, meeting {meeting:g} µs" for meeting in MEETING_US)
    print("| scenario | domains | lookahead, ms | hops that cross | hops a window and domain | balance | " + met + " |")
    print("|---|---|---|---|---|---|" + "---|" * len(MEETING_US))
    for cut in cuts():
        print(counted(cut), flush=True)


if __name__ == "__main__":
    main()
