"""Fig. 2 and 3: who gets the tokens?

f is the share of a flow's packets that is IN, N its packets: f_i = IN_i / N_i.
"""

from __future__ import annotations

from typing import Any

from perhop import stats
from perhop.studies import Study
from perhop.studies.bounds import Measured
from perhop.studies.criteria import Cell
from perhop.studies.pam_fsam.terms import FSAM, PAM, TB
from perhop.studies.samples import Samples
from perhop.studies.verdict import Finding, Part, Value, never_below, ordered

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
        return [stats.jain(row) for row in self.ins]

    @property
    def jain_f(self) -> list[float]:
        """Jain's index over IN fractions: 1 is proportional marking."""
        return [stats.jain(row) for row in self.f]

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


def _jain_in_order(runs: Samples, arrivals: str) -> list[Part]:
    series = {name: Marks(runs, arrivals, m).jain_in for name, m in (("F-SAM", FSAM), ("PAM", PAM), ("TB", TB))}
    return ordered(series)


@fig2.claim("pam-proportional")
def pam_is_proportional(runs: Samples) -> Measured:
    """With PAM the ratio IN/(IN + OUT) is the same for all flows."""
    return Measured([Value("Jain(f) of PAM", Marks(runs, "jittered", PAM).jain_f)])


@fig2.claim("pam-largest-deviation")
def pam_deviates_little(runs: Samples) -> Measured:
    """No flow's fraction is far from the mean."""
    return Measured([Value("largest |f/mean(f) - 1| of PAM", Marks(runs, "jittered", PAM).deviation)])


@fig2.claim("bucket-favours-udp")
def the_bucket_favours_udp(runs: Samples) -> Measured:
    """The misbehaving UDP flow squeezes the elastic TCP connections out of IN tokens."""
    return Measured([Value("f_udp/mean(f_tcp) of TB", Marks(runs, "jittered", TB).udp_over_tcp)])


@fig2.claim("bucket-favours-udp-amount")
def the_bucket_favours_udp_much(runs: Samples) -> Measured:
    """By how much."""
    return Measured([Value("f_udp/mean(f_tcp) of TB", Marks(runs, "jittered", TB).udp_over_tcp)])


@fig2.claim("fsam-equal-tokens")
def fsam_shares_equally(runs: Samples) -> Measured:
    """With F-SAM all flows get approximately a similar share of tokens."""
    marks = Marks(runs, "jittered", FSAM)
    return Measured(
        [
            Value("Jain(IN) of F-SAM", marks.jain_in),
            Value("max(IN)/min(IN) of F-SAM", marks.spread_in),
        ]
    )


@fig2.claim("jain-in-order")
def the_order_of_fairness(runs: Samples) -> Finding:
    """F-SAM shares tokens more evenly than PAM, PAM more evenly than the token bucket."""
    return Finding(_jain_in_order(runs, "jittered"))


@fig2.claim("udp-share-of-tokens")
def udp_share_of_tokens(runs: Samples) -> Measured:
    """The UDP flow takes most tokens of the bucket, F-SAM leaves it less than half."""
    return Measured(
        [
            Value("UDP's share of IN, F-SAM", Marks(runs, "jittered", FSAM).udp_share),
            Value("UDP's share of IN, TB", Marks(runs, "jittered", TB).udp_share),
        ]
    )


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


@fig3.claim("pam-proportional")
def pam_is_proportional_for_udp(runs: Samples) -> Measured:
    """With PAM the tokens of a flow are proportional to its packets."""
    parts = []
    for model in ("strict", "jittered"):
        marks = Marks(runs, model, PAM)
        parts += [
            Value(f"Jain(f) of PAM, {model}", marks.jain_f),
            Value(f"max(f)/min(f) of PAM, {model}", marks.spread_f),
        ]
    return Measured(parts)


@fig3.claim("pam-largest-deviation")
def pam_deviates_little_for_udp(runs: Samples) -> Measured:
    """No flow's fraction is far from the mean."""
    models = ("strict", "jittered")
    return Measured([Value(f"largest |f/mean(f) - 1|, {m}", Marks(runs, m, PAM).deviation) for m in models])


@fig3.claim("pam-more-proportional-than-bucket")
def pam_is_more_proportional_than_the_bucket(runs: Samples) -> Finding:
    """A similar improvement of PAM over the token bucket."""
    strict = {name: Marks(runs, "strict", marker).jain_f for name, marker in (("Jain(f) of PAM", PAM), ("of TB", TB))}
    return Finding(ordered(strict))


@fig3.claim("bucket-not-proportional")
def the_bucket_is_not_proportional(runs: Samples) -> Measured:
    """With the bucket the larger flows gather most tokens."""
    return Measured([Value("Jain(f) of TB, strict", Marks(runs, "strict", TB).jain_f)])


@fig3.claim("jain-in-order")
def the_order_of_fairness_for_udp(runs: Samples) -> Finding:
    """F-SAM shares tokens more evenly than PAM, PAM more evenly than the token bucket."""
    return Finding(_jain_in_order(runs, "strict"))


@fig3.claim("fsam-equal-tokens")
def fsam_shares_equally_for_udp(runs: Samples) -> Measured:
    """With F-SAM each flow gets nearly as many tokens, in spite of widely varying rates."""
    parts = []
    for model in ("strict", "jittered"):
        marks = Marks(runs, model, FSAM)
        parts += [
            Value(f"Jain(IN) of F-SAM, {model}", marks.jain_in),
            Value(f"max(IN)/min(IN) of F-SAM, {model}", marks.spread_in),
        ]
    return Measured(parts)


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
