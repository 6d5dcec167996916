"""Fig. 2 and 3: who gets the tokens?

f is the share of a flow's packets that is IN, N its packets: f_i = IN_i / N_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
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


class Marks:
    """The marks one marker gave in one arrival model, by replication."""

    def __init__(self, runs: Samples, arrivals: str, marker: str) -> None:
        chosen, self.marker = runs.at(arrivals=arrivals), marker
        self.flows = FLOWS[chosen.all[0].runs]
        self.ins = list(zip(*(chosen.values(f"{flow}.in", marker=marker) for flow in self.flows), strict=True))
        self.outs = list(zip(*(chosen.values(f"{flow}.out", marker=marker) for flow in self.flows), strict=True))
        self.in_bytes = chosen.values("in_bytes", marker=marker)

    @property
    def packets(self) -> float:
        """All packets of all replications."""
        return sum(sum(row) for row in (*self.ins, *self.outs))

    @property
    def f(self) -> list[list[float]]:
        """IN fraction of each flow, by replication."""
        return [[i / (i + o) for i, o in zip(*both, strict=True)] for both in zip(self.ins, self.outs, strict=True)]

    @property
    def jain_in(self) -> list[float]:
        """Jain's index over IN packets."""
        return [measures.jain(row) for row in self.ins]

    @property
    def jain_f(self) -> list[float]:
        """Jain's index over IN fractions: 1 is proportional marking."""
        return [measures.jain(row) for row in self.f]

    @property
    def deviation(self) -> list[float]:
        """Largest |f_i / mean(f) - 1|."""
        return [max(abs(x / stats.mean(row) - 1) for x in row) for row in self.f]

    @property
    def spread_in(self) -> list[float]:
        """Largest by smallest IN count."""
        return [_spread(row) for row in self.ins]

    @property
    def spread_f(self) -> list[float]:
        """Largest by smallest IN fraction."""
        return [_spread(row) for row in self.f]

    @property
    def udp_share(self) -> list[float]:
        """Share of all IN packets that the last flow has."""
        return [row[-1] / sum(row) for row in self.ins]

    @property
    def udp_over_tcp(self) -> list[float]:
        """IN fraction of the UDP flow over the mean of the TCP flows."""
        return [row[-1] / stats.mean(row[:-1]) for row in self.f]


def _spread(row: Any) -> float:
    return max(row) / min(row) if min(row) > 0 else float("inf")


def _differ(a: str, b: str, arrivals: str, runs: Samples, what: str = "jain_in") -> list[float]:
    """By how much one marker is fairer than another, replication by replication."""
    one, other = (getattr(Marks(runs, arrivals, marker), what) for marker in (a, b))
    return stats.differences(other, one)


@fig2.measures
def shares_beside_a_udp_flow(runs: Samples) -> Iterator[Value]:
    """PAM marks in proportion, F-SAM evenly; in the bucket the UDP flow squeezes TCP out of the tokens."""
    bucket, pam, fsam = (Marks(runs, "jittered", marker) for marker in (TB, PAM, FSAM))
    yield Value("Jain(f) of PAM", pam.jain_f)
    yield Value("largest |f/mean(f) - 1| of PAM", pam.deviation)
    yield Value("f_udp/mean(f_tcp) of TB", bucket.udp_over_tcp)
    yield Value("Jain(IN) of F-SAM", fsam.jain_in)
    yield Value("max(IN)/min(IN) of F-SAM", fsam.spread_in)
    yield Value("UDP's share of IN, F-SAM", fsam.udp_share)
    yield Value("UDP's share of IN, TB", bucket.udp_share)
    yield Value("F-SAM - PAM", _differ(FSAM, PAM, "jittered", runs))
    yield Value("PAM - TB", _differ(PAM, TB, "jittered", runs))


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
    marks = Marks(runs, "strict", TB)
    rows = [
        {"quantity": "f_udp/mean(f_tcp)", **_distribution(marks.udp_over_tcp)},
        {"quantity": "UDP's share of IN", **_distribution(marks.udp_share)},
    ]
    return Finding([], f"{len(marks.f)} phases.", rows, seeds=len(marks.f))


def _distribution(values: list[float]) -> dict[str, float]:
    ranked = sorted(values)
    return {"min": ranked[0], "median": ranked[len(ranked) // 2], "max": ranked[-1], "mean": stats.mean(ranked)}


@fig3.measures
def shares_of_udp_flows(runs: Samples) -> Iterator[Value]:
    """With PAM a flow's tokens are in proportion to its packets; with F-SAM all flows have nearly the same."""
    for model in ("strict", "jittered"):
        pam, fsam = (Marks(runs, model, marker) for marker in (PAM, FSAM))
        yield Value(f"Jain(f) of PAM, {model}", pam.jain_f)
        yield Value(f"max(f)/min(f) of PAM, {model}", pam.spread_f)
        yield Value(f"largest |f/mean(f) - 1|, {model}", pam.deviation)
        yield Value(f"Jain(IN) of F-SAM, {model}", fsam.jain_in)
        yield Value(f"max(IN)/min(IN) of F-SAM, {model}", fsam.spread_in)
    yield Value("Jain(f) of PAM - of TB", _differ(PAM, TB, "strict", runs, "jain_f"))
    yield Value("Jain(f) of TB, strict", Marks(runs, "strict", TB).jain_f)
    yield Value("F-SAM - PAM", _differ(FSAM, PAM, "strict", runs))
    yield Value("PAM - TB", _differ(PAM, TB, "strict", runs))


@fig3.claim("bucket-over-phases")
def the_bucket_over_phases(runs: Samples) -> Finding:
    """How unequal the bucket is depends on the phases; Poisson arrivals make it proportional."""
    models = ("strict", "jittered", "poisson")
    rows = [{"arrivals": model, **_distribution(Marks(runs, model, TB).spread_f)} for model in models]
    draws = len(Marks(runs, "strict", TB).f)
    return Finding([], f"max(f)/min(f) of TB; {draws} phases of strict CBR.", rows, seeds=draws)


def cell(runs: Samples, printed: Cell) -> stats.Interval:
    """The measured counterpart of a printed cell: packets, mean over the replications."""
    flow, kind = printed.column.split(" ")
    return runs.at(**printed.at).mean(f"{COLUMNS[flow]}.{kind.lower()}", marker=ROWS[printed.row])
