"""Fig. 7, 8, 9 and the end of section VI: bulk TCP flows against an unresponsive UDP flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.pam_fsam.terms import EVERY_N, FEW, FSAM, NAMES, PAM, TB, TSW, ceilings, gain, over, ratio
from perhop_studies.samples import Samples
from perhop_studies.verdict import REPORTED, Finding, Part, Value, greater, more_than, within

fig7 = Study("pf-fig7", title="Fig. 7: n bulk TCP flows against a UDP flow of 1 Mbit/s", runs="pf-fig7")
fig8 = Study("pf-fig8", title="Fig. 8: what the UDP flow gets", runs="pf-fig7")
fig9 = Study("pf-fig9", title="Fig. 9: Jain's index over the TCP flows and the UDP flow", runs="pf-fig7")
growing = Study("pf-udp", title="Section VI, end: the UDP flow grows", runs="pf-udp")
STUDIES = [fig7, fig8, fig9, growing]

RATES = (1, 2, 3, 4, 5)

Order = Callable[..., list[Part]]


def tcp_order(runs: Samples, **at: int) -> list[Part]:
    """Mean TCP goodput: F-SAM > PAM > TB and F-SAM > TSW2CM (bit/s)."""
    tcp = {m: runs.values("bulk.goodput", marker=m, **at) for m in (FSAM, PAM, TB, TSW)}
    return [
        greater(Value("F-SAM", tcp[FSAM]), Value("PAM", tcp[PAM])),
        greater(Value("PAM", tcp[PAM]), Value("TB", tcp[TB])),
        greater(Value("F-SAM", tcp[FSAM]), Value("TSW2CM", tcp[TSW])),
    ]


def udp_fsam_below_pam(runs: Samples, **at: int) -> list[Part]:
    """UDP goodput: F-SAM < PAM (bit/s)."""
    fsam, pam = (runs.values("rogue.goodput", marker=m, **at) for m in (FSAM, PAM))
    return [greater(Value("UDP with PAM", pam), Value("with F-SAM", fsam))]


def udp_pam_below_bucket(runs: Samples, **at: int) -> list[Part]:
    """UDP goodput: PAM < TB (bit/s)."""
    pam, bucket = (runs.values("rogue.goodput", marker=m, **at) for m in (PAM, TB))
    return [greater(Value("UDP with TB", bucket), Value("with PAM", pam))]


def jain_fsam_highest(runs: Samples, **at: int) -> list[Part]:
    """Jain's index: F-SAM > PAM and F-SAM > TSW2CM."""
    fsam, pam, sliding = (runs.values("jain", marker=m, **at) for m in (FSAM, PAM, TSW))
    return [
        greater(Value("Jain F-SAM", fsam), Value("PAM", pam)),
        greater(Value("Jain F-SAM", fsam), Value("TSW2CM", sliding)),
    ]


def jain_pam_above_bucket(runs: Samples, **at: int) -> list[Part]:
    """Jain's index: PAM > TB."""
    pam, bucket = (runs.values("jain", marker=m, **at) for m in (PAM, TB))
    return [greater(Value("Jain PAM", pam), Value("TB", bucket))]


def _judge(study: Study, criterion: str, order: Order) -> None:
    """The order under jittered CBR, once for each point of the criterion's grid."""

    def claim(runs: Samples, **at: int) -> Finding:
        found = runs.at(arrivals="jittered")
        return Finding(order(found, **at), ceilings(found, (at["n"],), **_rate(at)) if order is tcp_order else "")

    study.claim(criterion)(claim)


def _report(study: Study, criterion: str, order: Order, grid: Iterable[dict[str, int]]) -> None:
    """The same line under strict CBR over the whole grid: reported, never judged."""
    points = list(grid)

    def claim(runs: Samples) -> Finding:
        strict = runs.at(arrivals="strict")
        return _reported([(at, order(strict, **at)) for at in points])

    study.claim(criterion)(claim)


def _reported(found: list[tuple[dict[str, int], list[Part]]]) -> Finding:
    rows: list[dict[str, Any]] = []
    held = 0
    for at, parts in found:
        held += all(part.holds for part in parts)
        rows.append({**at, **{part.name: part.interval.mean for part in parts}, "holds": _all_hold(parts)})
    note = f"Under strict CBR it holds at {held} of {len(rows)} points."
    return Finding([], note, rows, seeds=min(p.interval.n for _, parts in found for p in parts))


def _all_hold(parts: list[Part]) -> str:
    verdict = Finding(parts).verdict
    return verdict if verdict != REPORTED else ""


def _rate(at: dict[str, int]) -> dict[str, int]:
    return {key: value for key, value in at.items() if key == "rate"}


AT_EVERY_N = [{"n": n} for n in EVERY_N]
GROWING = [{"rate": rate, "n": n} for rate in RATES for n in FEW]

ORDERS: list[tuple[Study, str, Order]] = [
    (fig7, "tcp-order", tcp_order),
    (fig8, "udp-fsam-below-pam", udp_fsam_below_pam),
    (fig8, "udp-pam-below-bucket", udp_pam_below_bucket),
    (fig9, "jain-fsam-highest", jain_fsam_highest),
    (fig9, "jain-pam-above-bucket", jain_pam_above_bucket),
]

for _study, _criterion, _order in ORDERS:
    _judge(_study, _criterion, _order)
    _judge(growing, _criterion, _order)
    _report(_study, f"strict-{_criterion}", _order, AT_EVERY_N)
    _report(growing, f"strict-{_criterion}", _order, GROWING)


def _pam_by_tsw2cm(runs: Samples, n: int) -> list[float]:
    pam, sliding = (runs.values("bulk.goodput", marker=m, n=n) for m in (PAM, TSW))
    return ratio(pam, sliding)


@fig7.claim("pam-near-tsw2cm", "pam-above-tsw2cm")
def pam_by_tsw2cm(runs: Samples) -> Measured:
    """The performance of TSW2CM is close to PAM; PAM is marginally better."""
    jittered = runs.at(arrivals="jittered")
    return Measured([Value(f"n = {n}: PAM/TSW2CM", _pam_by_tsw2cm(jittered, n)) for n in EVERY_N])


@fig7.claim("losses-apart")
def two_losses_of_one_flow_are_rarer(runs: Samples) -> Measured:
    """OUT packets are more evenly distributed with F-SAM than with TB (packets lost by cut of a window)."""
    bucket, fsam = (over(runs.at(arrivals="jittered"), "bulk.lost_per_cut", m) for m in (TB, FSAM))
    return Measured([Value("TB - F-SAM", stats.differences(fsam, bucket))])


@fig7.claim("gains")
def tcp_gains_as_published(runs: Samples) -> Measured:
    """F-SAM gives TCP around 50 % more than TB, PAM around 30 %."""
    jittered = runs.at(arrivals="jittered")
    gains = [Value(f"n = {n}: g({NAMES[m]})", gain(jittered, m, n=n)) for m in (FSAM, PAM) for n in EVERY_N]
    return Measured(gains, ceilings(jittered, EVERY_N))


@fig7.claim("up-to-thirty-percent")
def the_largest_gain(runs: Samples) -> Measured:
    """Up to 30 % more than with commonly used markers, in throughput or fairness."""
    jittered = runs.at(arrivals="jittered")
    gains = [
        Value(f"{what} of {NAMES[ours]} over {NAMES[theirs]} at n = {n}", _gain_in(jittered, quantity, ours, theirs, n))
        for quantity, what in (("bulk.goodput", "goodput"), ("jain", "Jain's index"))
        for ours in (FSAM, PAM)
        for theirs in (TB, TSW)
        for n in EVERY_N
    ]
    largest = max(gains, key=lambda value: stats.mean(value.values))
    return Measured([Value("largest gain", largest.values)], f"It is that in {largest.label}.")


def _gain_in(runs: Samples, quantity: str, ours: str, theirs: str, n: int) -> list[float]:
    found, beside = (runs.values(quantity, marker=m, n=n) for m in (ours, theirs))
    return [x - 1 for x in ratio(found, beside)]


@fig7.claim("equal-tokens-unequal-throughput")
def equal_tokens_are_not_equal_throughput(runs: Samples) -> Measured:
    """With F-SAM a UDP flow and a TCP flow have similar numbers of tokens, and UDP has more throughput."""
    ours = runs.at(arrivals="jittered", marker=FSAM)
    found = []
    for n in EVERY_N:
        tcp = [packets / n for packets in ours.values("bulk.in", n=n)]
        tokens = ratio(ours.values("rogue.in", n=n), tcp)
        found.append(Value(f"n = {n}: IN packets, UDP by a TCP flow", tokens))
        goodput = ratio(ours.values("rogue.goodput", n=n), ours.values("bulk.goodput", n=n))
        found.append(Value(f"n = {n}: goodput, UDP by a TCP flow", goodput))
    return Measured(found)


@fig8.claim("tsw2cm-checks-udp")
def tsw2cm_checks_udp_too(runs: Samples) -> Measured:
    """TSW2CM too takes bandwidth from the UDP flow (bit/s)."""
    bucket, sliding = (over(runs.at(arrivals="jittered"), "rogue.goodput", m) for m in (TB, TSW))
    return Measured([Value("UDP with TB - with TSW2CM", stats.differences(sliding, bucket))])


@fig7.claim("strict-pam-over-tsw2cm")
def pam_and_tsw2cm_under_strict_cbr(runs: Samples) -> Finding:
    """PAM over TSW2CM, strict CBR."""
    strict = runs.at(arrivals="strict")
    return _reported([({"n": n}, [more_than("PAM/TSW2CM", _pam_by_tsw2cm(strict, n), 0.97)]) for n in EVERY_N])


@fig7.claim("strict-gains")
def gains_under_strict_cbr(runs: Samples) -> Finding:
    """Gains over TB, strict CBR."""
    strict = runs.at(arrivals="strict")
    bands = {FSAM: ("g(F-SAM)", (0.10, 0.70)), PAM: ("g(PAM)", (0.05, 0.45))}
    rows = [
        ({"n": n}, [within(name, gain(strict, m, n=n), band) for m, (name, band) in bands.items()]) for n in EVERY_N
    ]
    return _reported(rows)
