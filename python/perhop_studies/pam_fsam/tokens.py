"""Fig. 2 and 3: who gets the tokens?

f is the share of a flow's packets that is IN.
"""

from __future__ import annotations

from collections.abc import Iterator

from perhop import stats
from perhop_studies import Study
from perhop_studies.criteria import Cell
from perhop_studies.pam_fsam.terms import FSAM, PAM, TB
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Value, never_below

fig2 = Study("pf-fig2", title="Fig. 2: two TCP flows and a UDP flow of 2 Mbit/s", runs="pf-fig2")
fig3 = Study("pf-fig3", title="Fig. 3: three UDP flows, 1, 4 and 2 Mbit/s", runs="pf-fig3")
STUDIES = [fig2, fig3]

FLOWS = {"pf-fig2": ("tcp1", "tcp2", "udp"), "pf-fig3": ("udp1", "udp2", "udp3")}
ROWS = {"TokenBucket": TB, "PAM": PAM, "F-SAM": FSAM}
COLUMNS = {"TCP1": "tcp1", "TCP2": "tcp2", "UDP": "udp", "F1": "udp1", "F2": "udp2", "F3": "udp3"}

CIR, DURATION = 500e3 / 8, 40
"""Bytes/s and seconds, as in the scenario files."""


@fig2.measures
def shares_beside_a_udp_flow(runs: Samples) -> Iterator[Value]:
    """PAM marks in proportion, F-SAM evenly; in the bucket the UDP flow squeezes TCP out of the tokens."""
    bucket, pam, fsam = (runs.at(arrivals="jittered", marker=marker) for marker in (TB, PAM, FSAM))
    yield Value("Jain(f) of PAM", pam.values("jain.f"))
    yield Value("largest |f/mean(f) - 1| of PAM", pam.values("deviation.f"))
    yield Value("f_udp/mean(f_tcp) of TB", _udp_by_tcp(bucket))
    yield Value("Jain(IN) of F-SAM", fsam.values("jain.in"))
    yield Value("max(IN)/min(IN) of F-SAM", fsam.values("spread.in"))
    yield Value("UDP's share of IN, F-SAM", fsam.values("udp.share"))
    yield Value("UDP's share of IN, TB", bucket.values("udp.share"))
    yield Value("F-SAM - PAM", stats.differences(pam.values("jain.in"), fsam.values("jain.in")))
    yield Value("PAM - TB", stats.differences(bucket.values("jain.in"), pam.values("jain.in")))


def _udp_by_tcp(runs: Samples) -> list[float]:
    """IN fraction of the UDP flow over the mean of the TCP flows."""
    tcp1, tcp2, udp = by_flow(runs, "pf-fig2", TB, "f")
    return [u / stats.mean(tcp) for u, *tcp in zip(udp, tcp1, tcp2, strict=True)]


@fig2.claim("token-supply")
def no_more_tokens_than_there_are(runs: Samples) -> Finding:
    """IN bytes never exceed CIR T + CBS, in any run of either arrival model."""
    bucketed = [s for s in runs.all if s.at["marker"] in (TB, PAM, FSAM)]
    unspent = [CIR * DURATION + s.values["cbs"] - s.values["in_bytes"] for s in bucketed]
    part = never_below("CIR T + CBS - IN bytes", unspent, 0)
    seeds = len(runs.at(arrivals="jittered").values("in_bytes", marker=TB))
    return Finding([part], f"{len(unspent)} runs of TB, PAM and F-SAM", seeds=seeds)


@fig2.claim("strict-cbr")
def a_strict_source_locks_in_phase(runs: Samples) -> Finding:
    """With constant gaps the outcome depends on the phase between packets and tokens."""
    strict = runs.at(arrivals="strict", marker=TB)
    ratios = _udp_by_tcp(strict)
    rows = [
        {"quantity": "f_udp/mean(f_tcp)", **_distribution(ratios)},
        {"quantity": "UDP's share of IN", **_distribution(strict.values("udp.share"))},
    ]
    return Finding([], f"{len(ratios)} phases.", rows, seeds=len(ratios))


def by_flow(runs: Samples, study: str, marker: str, what: str) -> list[list[float]]:
    """`X.in`, `X.f` or `X.share` of each flow."""
    return [runs.values(f"{flow}.{what}", marker=marker) for flow in FLOWS[study]]


def _distribution(values: list[float]) -> dict[str, float]:
    ranked = sorted(values)
    return {"min": ranked[0], "median": ranked[len(ranked) // 2], "max": ranked[-1], "mean": stats.mean(ranked)}


@fig3.measures
def shares_of_udp_flows(runs: Samples) -> Iterator[Value]:
    """With PAM a flow's tokens are in proportion to its packets; with F-SAM all flows have nearly the same."""
    for model in ("strict", "jittered"):
        pam, fsam = (runs.at(arrivals=model, marker=marker) for marker in (PAM, FSAM))
        yield Value(f"Jain(f) of PAM, {model}", pam.values("jain.f"))
        yield Value(f"max(f)/min(f) of PAM, {model}", pam.values("spread.f"))
        yield Value(f"largest |f/mean(f) - 1|, {model}", pam.values("deviation.f"))
        yield Value(f"Jain(IN) of F-SAM, {model}", fsam.values("jain.in"))
        yield Value(f"max(IN)/min(IN) of F-SAM, {model}", fsam.values("spread.in"))
    bucket, pam, fsam = (runs.at(arrivals="strict", marker=marker) for marker in (TB, PAM, FSAM))
    yield Value("Jain(f) of PAM - of TB", stats.differences(bucket.values("jain.f"), pam.values("jain.f")))
    yield Value("Jain(f) of TB, strict", bucket.values("jain.f"))
    yield Value("F-SAM - PAM", stats.differences(pam.values("jain.in"), fsam.values("jain.in")))
    yield Value("PAM - TB", stats.differences(bucket.values("jain.in"), pam.values("jain.in")))


@fig3.claim("bucket-over-phases")
def the_bucket_over_phases(runs: Samples) -> Finding:
    """How unequal the bucket is depends on the phases; Poisson arrivals make it proportional."""
    spread = {m: runs.values("spread.f", arrivals=m, marker=TB) for m in ("strict", "jittered", "poisson")}
    rows = [{"arrivals": model, **_distribution(values)} for model, values in spread.items()]
    draws = len(spread["strict"])
    return Finding([], f"max(f)/min(f) of TB; {draws} phases of strict CBR.", rows, seeds=draws)


def cell(runs: Samples, printed: Cell) -> stats.Interval:
    """The measured counterpart of a printed cell: packets, mean over the replications."""
    flow, kind = printed.column.split(" ")
    return runs.at(**printed.at).mean(f"{COLUMNS[flow]}.{kind.lower()}", marker=ROWS[printed.row])
