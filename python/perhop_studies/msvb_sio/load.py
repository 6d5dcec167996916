"""Fig. 2: what of the queue under a changing load needs more than an expression."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.msvb_sio.method import STEPS
from perhop_studies.msvb_sio.terms import LOOKS
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, at_least, at_most, number

fig2 = Study("msvb-fig2", title="Fig. 2: dynamic load", runs="msvb-fig2")


@fig2.claim("follows-the-load")
def red_ranks_with_the_load(runs: Samples) -> Finding:
    """RED's queue follows the load; MSVB's does not."""
    found = runs.mean("slope", scheme="msvb")
    ranked = at_most("Spearman MSVB", runs.values("rank", scheme="msvb"), 0.6)
    flat = not (found.above(0.0) or found.below(0.0))
    either = Part(f"{ranked.name} or slope around 0", ranked.interval, True if flat else ranked.holds)
    note = f"MSVB's slope: {number(found.mean)} [{number(found.low)}, {number(found.high)}] packets a flow."
    return Finding([at_least("Spearman RED", runs.values("rank", scheme="red"), 0.8), either], note)


@fig2.claim("sio-and-others")
def every_scheme(runs: Samples) -> Finding:
    """The same figures of all."""
    rows = [_row(runs.at(scheme=scheme), look.label) for scheme, look in LOOKS.items()]
    return Finding([], "Packets; steps of 50 s.", rows, seeds=len(runs.values("drops", scheme="msvb")))


def _row(runs: Samples, label: str) -> dict[str, Any]:
    means, deviations = (
        [stats.mean(runs.values(f"{q}@{k}")) for k in range(1, STEPS + 1)] for q in ("queue", "deviation")
    )
    of = {name: stats.mean(runs.values(name)) for name in ("rise", "range", "rank", "drops", "utilisation", "below")}
    return {
        "scheme": label,
        "step means": means,
        "Delta": of["rise"],
        "range": of["range"],
        "Spearman": of["rank"],
        "largest sd": max(deviations),
        "drops, %": 100 * of["drops"],
        "utilisation": of["utilisation"],
        "q < B": of["below"],
    }
