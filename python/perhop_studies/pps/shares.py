"""Shares at one bottleneck: one hop (Fig. 4), several (Fig. 6), unused capacity (Fig. 7), width of a tag, exponent."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any

from perhop import stats
from perhop_studies import Study, measures
from perhop_studies.bounds import Measured
from perhop_studies.pps.terms import SCHEMES, Rates, Shares, settled
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, at_least, greater, most, near, never_below, not_below

fig4 = Study("pps-fig4", title="Fig. 4: one hop, 30 flows", runs="pps-fig4")
fig6 = Study("pps-fig6", title="Fig. 6: several hops, 20 flows", runs="pps-fig6")
fig7 = Study("pps-fig7", title="Fig. 7: flows that do not use their share", runs="pps-fig7")
bits = Study(
    "pps-bits",
    title="Section III-J: width of a tag",
    runs=("pps-fig4", "pps-fig6", "pps-bits-widths", "pps-bits-sender", "pps-bits-receiver"),
)
exponent = Study("pps-n", title="Section II-C: exponent of TRED", runs=("pps-fig4", "pps-fig6", "pps-n"))
flows = Study("pps-flows", title="Section III-J: width of a tag and number of flows", runs="pps-flows")
rich = Study("pps-rich", title="Section II-C: rich flows that are not filtered out", runs=("pps-fig7", "pps-rich"))
tickets = Study(
    "pps-tickets",
    title="Section II: what packets carry, and how many are dropped",
    runs=("pps-ex1", "pps-fig4", "pps-fig6"),
)
STUDIES = [fig4, fig6, fig7, bits, exponent, flows, rich, tickets]

FIG4: Rates = {f"f{i}": 0.01 * i for i in range(1, 31)}
FIG6: Rates = {f"{group}{i}": rate * i for group, rate in (("A", 0.02), ("B", 0.01)) for i in range(1, 11)}
FIG7: Rates = {f"{group}{i}": rate * i for group, rate in (("A", 0.06), ("B", 0.03)) for i in range(1, 6)}
"""What flows 1 to 5 of each group expect; the others send 0.03 Mbit/s."""
LIMITED = [f"{group}{i}" for group in "AB" for i in range(6, 11)]
CHAIN: Rates = {f"f{i}": 0.02 * i for i in range(1, 11)}

SETUPS: dict[str, Rates] = {"pps-fig4": FIG4, "pps-fig6": FIG6}
LINKS = {"pps-fig4": "P - Q", "pps-fig6": "P3 - P4"}

WIDTHS = (4, 6, 8, 10, 13, 17, "real")
PUBLISHED_WIDTH, HOPS = 8, (2, 4, 6, 8)
EXPONENTS = (1, 2, 3, 4, 6)
PUBLISHED_EXPONENT = 3


def full(runs: Samples, link: str) -> Value:
    """The bottleneck is nearly always sending."""
    return Value("utilisation", runs.values(f"{link}.utilisation"))


@fig4.claim("full-and-fair")
def throughput_is_in_proportion(runs: Samples, **at: Any) -> Measured:
    """The achieved throughput is proportional to the tickets/s given to each flow; utilisation is 99 %."""
    found = runs.at(**at)
    parts = [full(found, "P - Q"), Value("jain(y)", Shares.of(found, FIG4).jain)]
    return Measured(parts, settled(found, FIG4))


@fig4.claim("fair-amount")
def closely(runs: Samples, **at: Any) -> Measured:
    """The same, more closely."""
    return Measured([Value("jain(y)", Shares.of(runs.at(**at), FIG4).jain)])


@fig4.claim("on-a-line")
def on_a_line_through_the_origin(runs: Samples, **at: Any) -> Measured:
    """Throughput over tickets/s is a line."""
    rows = Shares.of(runs.at(**at), FIG4).rows
    slopes, fits = zip(*(measures.through_origin(range(1, 31), row) for row in rows), strict=True)
    return Measured([Value("R^2", fits), Value("Mb/s per 100 t/s", slopes)])


@fig4.claim("each-flow")
def every_flow_has_its_share(runs: Samples, **at: Any) -> Finding:
    """So it is for nearly every flow, and in order."""
    shares = Shares.of(runs.at(**at), FIG4)
    ranked = shares.by_row(lambda row: measures.spearman(row, range(len(row))))
    flows = [near(f"x/e {flow}", shares.y(flow), 0.20) for flow in FIG4]
    outside = ", ".join(f"{part.name.split()[1]} {part.interval.mean:.2f}" for part in flows if part.holds is False)
    note = f"Outside: {outside}." if outside else ""
    return Finding([most("flows with |y-1| <= 0.20", flows, 27), at_least("spearman", ranked, 0.98)], note)


@fig4.claim("schemes-agree")
def both_schemes_agree(runs: Samples, size: int) -> Measured:
    """We expect their results to be similar."""
    sender, receiver = (Shares.of(runs.at(scheme=s, size=size), FIG4).rows for s in SCHEMES)
    alike = [measures.correlation(a, b) for a, b in zip(sender, receiver, strict=True)]
    return Measured([Value("corr(sender, receiver)", alike)])


def pairs(shares: Shares, flows: int) -> list[list[float]]:
    """x_Ai/x_Bi of each pair, a row a replication."""
    return [list(row) for row in zip(*(shares.ratio(f"A{i}", f"B{i}") for i in range(1, flows + 1)), strict=True)]


@fig6.claim("shares")
def a_has_twice_what_b_has(runs: Samples, **at: Any) -> Measured:
    """A_i obtains twice the bandwidth of B_i; within a group it is proportional to tickets; utilisation is 99 %."""
    found = runs.at(**at)
    shares = Shares.of(found, FIG6)
    ratios = pairs(shares, 10)
    parts = [full(found, "P3 - P4"), Value("jain(y)", shares.jain)]
    parts.append(Value("mean A_i/B_i", [stats.mean(row) for row in ratios]))
    parts += [Value(f"A{i}/B{i}", [row[i - 1] for row in ratios]) for i in range(1, 11)]
    parts.append(Value("spearman A", shares.by_row(lambda row: measures.spearman(row[:10], range(10)))))
    parts.append(Value("spearman B", shares.by_row(lambda row: measures.spearman(row[10:], range(10)))))
    return Measured(parts, settled(found, FIG6))


@fig7.claim("unused-capacity")
def the_excess_is_divided_in_proportion(runs: Samples, **at: Any) -> Measured:
    """Flows 6 to 10 obtain 0.03 Mb/s each, flows 1 to 5 divide the excess in proportion; utilisation is 99 %."""
    found = runs.at(**at)
    shares = Shares.of(found, FIG7)
    limited = Shares.of(found, dict.fromkeys(LIMITED, 0.03))
    parts = [Value(f"x {flow}", limited.x(flow)) for flow in LIMITED]
    parts += [Value("jain(y) of the others", shares.jain), full(found, "P3 - P4")]
    parts.append(Value("mean A_i/B_i", [stats.mean(row) for row in pairs(shares, 5)]))
    return Measured(parts, settled(found, FIG7))


def jain_at_width(runs: Samples, setup: str, width: int | str, **at: Any) -> list[float]:
    """jain(y) of Fig. 4 or 6 with tags of a width; 8 bits are those figures' own runs."""
    own = width == PUBLISHED_WIDTH
    found = runs.of(setup).at(**at) if own else runs.of("pps-bits-widths").at(setup=setup, bits=width, **at)
    return Shares.of(found, SETUPS[setup]).jain


def jain_of_chain(runs: Samples, hops: int, **at: Any) -> list[float]:
    """jain(y) after this many hops with an exchange rate of 1."""
    return Shares.of(runs.at(chain=hops, **at), CHAIN).jain


@bits.claim("width")
def more_bits_finer_shares(runs: Samples, **at: Any) -> Measured:
    """More bits, finer differentiation; what is needed depends on exchange rates, not on the number of hops."""
    parts: list[Value | Part] = []
    for setup in SETUPS:
        found = [Value(f"{width} bits", jain_at_width(runs, setup, width, **at)) for width in WIDTHS]
        parts += [not_below(b._replace(label=f"{setup}: jain(y), {b.label}"), a) for a, b in pairwise(found)]
    lost = stats.differences(jain_of_chain(runs, 8, **at), jain_of_chain(runs, 2, **at))
    parts.append(Value("jain(y) lost from 2 to 8 hops", lost))
    cut, uncut = (runs.values("saturated", chain=chain, **at) for chain in ("exchange", "exchange-real"))
    return Measured([*parts, never_below("saturations, 8 bits", cut, 1), Value("saturations, real tags", uncut)])


@bits.claim("width-as-said")
def from_four_bits_up(runs: Samples, **at: Any) -> Measured:
    """Eight bits are finer than four; beyond eight little changes, and hops cost nothing."""
    parts = []
    for setup in SETUPS:
        four, own = (jain_at_width(runs, setup, width, **at) for width in (4, PUBLISHED_WIDTH))
        parts.append(Value(f"{setup}: jain(y), 8 bits - 4", stats.differences(four, own)))
        for width in WIDTHS[WIDTHS.index(PUBLISHED_WIDTH) + 1 :]:
            finer = jain_at_width(runs, setup, width, **at)
            parts.append(Value(f"{setup}: jain(y), {width} bits - 8", stats.differences(own, finer)))
    lost = stats.differences(jain_of_chain(runs, 8, **at), jain_of_chain(runs, 2, **at))
    return Measured([*parts, Value("jain(y) lost from 2 to 8 hops", lost)])


@bits.claim("seventeen-bits")
def seventeen_bits_are_enough(runs: Samples, **at: Any) -> Measured:
    """Our simulations suggest that a tag of 17 bits is enough."""
    return Measured([Value(f"{setup}: jain(y), 17 bits", jain_at_width(runs, setup, 17, **at)) for setup in SETUPS])


def at_exponent(runs: Samples, setup: str, n: int, **at: Any) -> Samples:
    """The sender-based runs of Fig. 4 or 6 with an exponent; 3 are those figures' own."""
    if n == PUBLISHED_EXPONENT:
        return runs.of(setup).at(scheme="sender", **at)
    return runs.of("pps-n").at(setup=setup, n=n, **at)


def _jain_at(runs: Samples, setup: str, n: int, **at: Any) -> list[float]:
    return Shares.of(at_exponent(runs, setup, n, **at), SETUPS[setup]).jain


@exponent.claim("three-above-one")
def a_small_exponent_penalises_too_little(runs: Samples, size: int) -> Finding:
    """For small n TRED fails to penalise those above their share sufficiently."""
    return Finding([_three_above_one(runs, setup, size) for setup in SETUPS])


def _three_above_one(runs: Samples, setup: str, size: int) -> Part:
    three, one = (_jain_at(runs, setup, n, size=size) for n in (3, 1))
    return greater(Value(f"{setup}: jain(y), n = 3", three), Value("n = 1", one))


@exponent.claim("three-as-said")
def with_one_it_is_difficult(runs: Samples, size: int) -> Measured:
    """The same, and with n = 1 shares are not in proportion."""
    parts: list[Value | Part] = [_three_above_one(runs, setup, size) for setup in SETUPS]
    return Measured([*parts, *(Value(f"{s}: jain(y), n = 1", _jain_at(runs, s, 1, size=size)) for s in SETUPS)])


@exponent.claim("large-n")
def a_large_exponent_reacts_too_much(runs: Samples, size: int) -> Finding:
    """For large n unnecessary drops and some unpredictable effects."""
    rows: list[dict[str, Any]] = []
    for setup, n in product(SETUPS, EXPONENTS):
        found = at_exponent(runs, setup, n, size=size)
        shares, (link, names) = (
            Shares.of(found, SETUPS[setup]),
            (LINKS[setup], ("utilisation", "drops", "queue_deviation")),
        )
        rates = [stats.mean(found.values(f"{link}.{name}")) for name in names]
        row = {"set-up": setup, "n": n, "jain(y)": stats.mean(shares.jain), "mean |y-1|": stats.mean(shares.error)}
        rows.append(row | dict(zip(("utilisation", "drop ratio", "std of AvgQLen, packets"), rates, strict=True)))
    return Finding([], "", rows, seeds=len(found.values("tagged")))


LEVELS: Rates = {"A": 0.6, "B": 0.4, "C": 0.2}
"""Mbit/s of a flow, by its level of service."""


def jain_of_levels(runs: Samples, each: int, bits: int | str, size: int) -> list[float]:
    """jain(y) over all flows, with so many of each level."""
    found = runs.at(flows=each, bits=bits, size=size)
    sums, squares = ([found.values(f"{level}.{of}") for level in LEVELS] for of in ("throughput", "squares"))
    y = [math.fsum(x / e for x, e in zip(row, LEVELS.values(), strict=True)) for row in zip(*sums, strict=True)]
    yy = [math.fsum(x / e**2 for x, e in zip(row, LEVELS.values(), strict=True)) for row in zip(*squares, strict=True)]
    return [a * a / (len(LEVELS) * each * b) for a, b in zip(y, yy, strict=True)]


@flows.claim("independent-of-flows")
def as_many_bits_for_thirty_flows(runs: Samples, size: int) -> Measured:
    """The number of bits needed is independent of the number of flows."""
    parts = []
    for bits in (6, 8):
        lost = {n: stats.differences(*(jain_of_levels(runs, n, b, size) for b in (bits, "real"))) for n in (1, 10)}
        parts.append(Value(f"{bits} bits: jain(y) lost with 30 flows - with 3", stats.differences(lost[1], lost[10])))
    return Measured(parts)


@flows.claim("by-width")
def at_each_width(runs: Samples, size: int) -> Finding:
    """How closely each width follows 3:2:1."""
    found = {bits: [jain_of_levels(runs, n, bits, size) for n in (1, 10)] for bits in (4, 6, 8, "real")}
    rows = [
        {"bits": bits, "3 flows": stats.mean(few), "30 flows": stats.mean(many)} for bits, (few, many) in found.items()
    ]
    return Finding([], "", rows, seeds=len(found[8][0]))


SOURCES = {"sender": "S", "receiver": "D"}
"""What the hosts of Fig. 4 that send data are called."""


def carried(runs: Samples, scheme: str, size: int) -> list[list[float]]:
    """Tickets by packets of each flow of Fig. 4, by those of all its packets; a row a replication.

    Packets are those delivered; tickets of lost packets count too.
    """
    found = runs.of("pps-fig4").at(scheme=scheme, size=size)
    issued = zip(*(found.values(f"{SOURCES[scheme]}{i}.source_tickets") for i in range(1, len(FIG4) + 1)), strict=True)
    packets = zip(*([x / (8 * size) for x in found.values(f"{flow}.late")] for flow in FIG4), strict=True)
    return [
        [t / n * math.fsum(ns) / math.fsum(ts) if n else math.inf for t, n in zip(ts, ns, strict=True)]
        for ts, ns in zip(issued, packets, strict=True)
    ]


@tickets.claim("alike")
def most_flows_tag_alike(runs: Samples, scheme: str, size: int) -> Finding:
    """Most competing flows tag approximately the same number of tickets on their packets."""
    each = zip(*carried(runs, scheme, size), strict=True)
    parts = [near(f"{flow}: tickets a packet by the average", [*of], 0.20) for flow, of in zip(FIG4, each, strict=True)]
    outside = ", ".join(f"{part.name.split(':')[0]} {part.interval.mean:.2f}" for part in parts if part.holds is False)
    return Finding([most("flows within 20 % of the average", parts, 27)], f"Outside: {outside}." if outside else "")
