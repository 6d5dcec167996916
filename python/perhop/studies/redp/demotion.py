"""Fig. 5 and 6: one boundary, which demotes. Who keeps how much green, and what the queue behind it does."""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop.studies import Study
from perhop.studies.bounds import Measured
from perhop.studies.redp.terms import (
    AGREED,
    LINK,
    LOOKS,
    PHASE,
    REGULAR,
    TCP,
    both,
    fairer,
    row,
)
from perhop.studies.samples import Samples
from perhop.studies.verdict import (
    Finding,
    Part,
    Value,
    greater,
    less_than,
    more_than,
    positive,
)

fig5 = Study("redp-fig5", title="Fig. 5: fairness in demotion", runs="redp-fig5")
fig6 = Study("redp-fig6", title="Fig. 6: the queue at CR1", runs="redp-fig5")
STUDIES = [fig5, fig6]


def pair(runs: Samples, buffer: int = PHASE) -> tuple[Samples, Samples]:
    """Plain REDP and the dropper, in the regime of phase effects unless stated."""
    return both(runs, buffer=buffer)


@fig5.claim("dropper-is-fairer")
def fairness_is_improved(runs: Samples) -> Finding:
    """Green, yellow and total are fairer with the combined dropper."""
    plain, dropper = pair(runs)
    least = [a - 1.5 * b for a, b in zip(dropper.values("least.green"), plain.values("least.green"), strict=True)]
    return Finding([*fairer(plain, dropper, 0.6), positive("min green: dropper - 1.5 x plain", least)])


@fig5.claim("more-green-less-yellow")
def aggregates_move(runs: Samples) -> Finding:
    """The dropper can increase aggregate green throughput and decrease aggregate yellow."""
    plain, dropper = pair(runs)
    more = greater(Value("green: dropper", dropper.values("green")), Value("plain", plain.values("green")))
    return Finding(
        [more, greater(Value("yellow: plain", plain.values("yellow")), Value("dropper", dropper.values("yellow")))]
    )


@fig5.claim("link-is-used")
def utilisation_is_not_improved(runs: Samples) -> Measured:
    """Utilisation of the bottleneck and input green rate are not improved."""
    plain, dropper = pair(runs)
    parts = [
        Value(f"{look.label}: total / 1.2 Mb/s", [x / LINK for x in found.values("total")])
        for look, found in zip(LOOKS.values(), (plain, dropper), strict=True)
    ]
    for name, quantity in (("total", "total"), ("input green", "ER.in.green")):
        gains = [100 * (b / a - 1) for a, b in zip(plain.values(quantity), dropper.values(quantity), strict=True)]
        parts.append(Value(f"{name}: dropper over plain, %", gains))
    return Measured(parts)


@fig5.claim("input-green")
def between_rate_and_link(runs: Samples) -> Finding:
    """The input green rate is above the negotiated rate and much smaller than the bottleneck."""
    parts: list[Part] = []
    for look, found in zip(LOOKS.values(), pair(runs), strict=True):
        rate = found.values("ER.in.green")
        parts.append(more_than(f"{look.label}: input green, kb/s", rate, AGREED))
        parts.append(less_than(f"{look.label}: input green, kb/s", rate, 1080.0))
    return Finding(parts)


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
