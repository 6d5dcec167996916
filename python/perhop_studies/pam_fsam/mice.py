"""Fig. 6: short transfers and bulk flows ("the war between mice and elephants")."""

from __future__ import annotations

import math

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.pam_fsam.terms import EVERY_N, FSAM, MARKERS, NAMES, PAM, TB, TSW, over, pooled, ratio
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Value, greater

fig6 = Study("pf-fig6", title="Fig. 6: the short transfers", runs="pf-fig6")
STUDIES = [fig6]

LOOPS = ("open", "closed")
OTHERS = (TB, TSW, PAM)
FROM_TEN = tuple(n for n in EVERY_N if n >= 10)


def _transfer(runs: Samples, marker: str, loop: str, n: int) -> list[float]:
    return runs.values("mice.transfer", marker=marker, loop=loop, n=n)


@fig6.claim("fsam-fastest")
def fsam_beats_the_competition(runs: Samples, n: int) -> Finding:
    """F-SAM beats the competition by a large margin (goodput of a transfer, bit/s)."""
    parts = []
    for loop in LOOPS:
        ours = _transfer(runs, FSAM, loop, n)
        parts += [greater(Value(f"{loop}: F-SAM", ours), Value(NAMES[m], _transfer(runs, m, loop, n))) for m in OTHERS]
    return Finding(parts)


@fig6.claim("fsam-by-a-margin")
def by_a_large_margin(runs: Samples) -> Measured:
    """The margin over the second marker."""
    parts = []
    for loop in LOOPS:
        for n in FROM_TEN:
            second = max(OTHERS, key=lambda m: stats.mean(_transfer(runs, m, loop, n)))
            margin = ratio(_transfer(runs, FSAM, loop, n), _transfer(runs, second, loop, n))
            parts.append(Value(f"{loop}, n = {n}: F-SAM/{NAMES[second]}", margin))
    return Measured(parts)


def _variation(runs: Samples, marker: str, loop: str) -> list[float]:
    """Coefficient of variation over n, by replication."""
    rows = zip(*(_transfer(runs, marker, loop, n) for n in EVERY_N), strict=True)
    return [_coefficient(row) for row in rows]


def _coefficient(row: tuple[float, ...]) -> float:
    centre = stats.mean(row)
    return math.sqrt(stats.mean((x - centre) ** 2 for x in row)) / centre


@fig6.claim("fsam-constant-in-n")
def mice_do_not_feel_the_elephants(runs: Samples) -> Measured:
    """The bandwidth of the mice is almost constant in n, unlike with the other markers."""
    parts = []
    for loop in LOOPS:
        variation = ratio(_variation(runs, FSAM, loop), _variation(runs, TB, loop))
        parts.append(Value(f"{loop}: CV(F-SAM)/CV(TB)", variation))
    return Measured(parts)


@fig6.claim("mice-better-with-bucket-than-pam")
def mice_prefer_the_bucket_to_pam(runs: Samples) -> Measured:
    """For the short flows TB is better than PAM (bit/s)."""
    bucket, pam = (over(runs.at(loop="closed"), "mice.total", m) for m in (TB, PAM))
    return Measured([Value("TB - PAM", stats.differences(pam, bucket))])


@fig6.claim("mice-above-their-share")
def mice_have_more_than_their_share_of_tokens(runs: Samples) -> Measured:
    """With F-SAM short flows get more IN packets than fair queueing would entitle them to."""
    found = []
    for loop in LOOPS:
        ours = runs.at(loop=loop, marker=FSAM)
        by_n = [ratio(_of_tokens(ours, n), _of_flows(ours, n)) for n in EVERY_N]
        found.append(Value(f"{loop}: share of IN by share of flows", pooled(by_n)))
    return Measured(found)


def _of_tokens(runs: Samples, n: int) -> list[float]:
    """IN packets of the mice, as a share of all; 0 where no packet is IN."""
    ins = zip(runs.values("mice.in", n=n), runs.values("bulk.in", n=n), strict=True)
    return [mice / (mice + bulk) if mice else 0.0 for mice, bulk in ins]


def _of_flows(runs: Samples, n: int) -> list[float]:
    """Transfers in progress, as a share of all flows."""
    return [active / (active + n) for active in runs.values("mice.active", n=n)]


@fig6.claim("bias-reduced")
def the_bias_against_mice_is_smaller(runs: Samples) -> Measured:
    """The bias against short flows is smaller than behind a token bucket."""
    found = []
    for loop in LOOPS:
        bucket, fsam = (pooled([_by_bulk(runs, m, loop, n) for n in EVERY_N]) for m in (TB, FSAM))
        found.append(Value(f"{loop}: transfer/bulk flow, F-SAM - TB", stats.differences(bucket, fsam)))
    return Measured(found)


def _by_bulk(runs: Samples, marker: str, loop: str, n: int) -> list[float]:
    return ratio(_transfer(runs, marker, loop, n), runs.values("bulk.goodput", marker=marker, loop=loop, n=n))


@fig6.claim("total-bandwidth")
def total_bandwidth_of_the_mice(runs: Samples) -> Finding:
    """TB is better than PAM for short flows."""
    rows = []
    for loop in LOOPS:
        for n in EVERY_N:
            totals = {m: runs.values("mice.total", marker=m, loop=loop, n=n) for m in MARKERS}
            row: dict[str, float | str] = {"loop": loop, "n": n}
            row |= {f"{NAMES[m]}, kbit/s": stats.mean(values) / 1e3 for m, values in totals.items()}
            row["TB - PAM, kbit/s"] = stats.paired(totals[PAM], totals[TB]).mean / 1e3
            rows.append(row)
    above = sum(float(row["TB - PAM, kbit/s"]) > 0 for row in rows)
    seeds = len(_transfer(runs, TB, "open", EVERY_N[0]))
    return Finding([], f"TB is above PAM at {above} of {len(rows)} points (published: above).", rows, seeds)
