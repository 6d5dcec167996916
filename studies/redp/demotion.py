"""Fig. 5 and 6: one boundary, which demotes. Who keeps how much green, and what the queue behind it does."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.redp.terms import (
    LOOKS,
    PHASE,
    REGULAR,
    TCP,
    both,
    row,
)
from perhop_studies.samples import Samples
from perhop_studies.verdict import (
    Finding,
    Value,
    greater,
)

fig5 = Study("redp-fig5", title="Fig. 5: fairness in demotion", runs="redp-fig5")
fig6 = Study("redp-fig6", title="Fig. 6: the queue at CR1", runs="redp-fig5")
STUDIES = [fig5, fig6]


def pair(runs: Samples, buffer: int = PHASE) -> tuple[Samples, Samples]:
    """Plain REDP and the dropper, in the regime of phase effects unless stated."""
    return both(runs, buffer=buffer)


@fig5.claim("regular-regime")
def with_room_for_the_average(runs: Samples) -> Finding:
    """With B = 100 the average queue rules, not the overflow."""
    rows: list[dict[str, Any]] = []
    for buffer in (PHASE, REGULAR):
        for look, found in zip(LOOKS.values(), pair(runs, buffer), strict=True):
            each = {f: found.mean(f"{f}.green").mean for f in TCP}
            rows.append({"B": buffer, "marker": look.label, **each, **row(found)})
    plain, dropper = pair(runs, REGULAR)
    gap = stats.paired(plain.values("std.green"), dropper.values("std.green"))
    note = f"kb/s. B = 100: std green, dropper - plain: {gap.mean:.1f} [{gap.low:.1f}, {gap.high:.1f}]"
    return Finding([], note, rows, seeds=gap.n)


@fig6.claim("steadier-queue")
def bursts_are_reduced(runs: Samples) -> Finding:
    """Bursts with global synchronisation under REDP; reduced with the dropper."""
    plain, dropper = pair(runs)
    names = {"cov": "CoV", "peak": "peak autocorrelation"}
    parts = [
        greater(Value(f"{n}: plain", plain.values(q)), Value("dropper", dropper.values(q))) for q, n in names.items()
    ]
    told = "; ".join(
        f"{look.label} {_mean(found, 'cov')}, {_mean(found, 'peak')} at {_mean(found, 'lag')} s, "
        f"{_mean(found, 'echo')}, {_mean(found, 'queue')} packets, {found.mean('lost.CR1.overflow').mean:.0f} overflows"
        for look, found in zip(LOOKS.values(), (plain, dropper), strict=True)
    )
    return Finding(parts, f"CoV, peak, peak beyond the first zero (how periodic it is), mean queue: {told}")


def _mean(runs: Samples, quantity: str) -> str:
    return f"{runs.mean(quantity).mean:.2f}"
