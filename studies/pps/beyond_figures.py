"""Figures of the experiments beyond the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from perhop import stats
from perhop_studies.drawing import (
    MUTED,
    PUBLISHED,
    REFERENCE,
    Look,
    Picture,
    canvas,
    curve,
    halves,
    legend_above,
    picture,
)
from perhop_studies.pps import beyond
from perhop_studies.pps.shares import CHAIN, FIG4
from perhop_studies.pps.terms import SCHEMES, SIZES, Shares
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
BLUE, ORANGE, GREEN, OCHRE = "#0072b2", "#c2410c", "#12633b", "#8a5a00"

KEPT = {
    "red": Look("RED", MUTED, "^", ":"),
    "k2": Look("TRED, K = 2", BLUE),
    "k8": Look("TRED, K = 8", OCHRE, "s"),
    "k32": Look("TRED, K = 32", REFERENCE, "v"),
    "cap": Look("capped", GREEN, "D"),
}
"""Where the host does as its contract says."""
LYING = {
    "lies": Look("all 255", ORANGE, "^", ":"),
    "exchanged": Look("all 255, exchanged", BLUE, "o", "--"),
    "capped": Look("all 255, exchanged and capped", GREEN, "D", "--"),
}
SIGNALS = {"drops": Look("drops", BLUE), "ecn": Look("ECN", ORANGE, "s")}
UNITS = {
    "red": Look("RED", MUTED, "^", ":"),
    "packets": Look("tickets by packets", BLUE),
    "bytes": Look("tickets by bytes", ORANGE, "s"),
}
TAGS = {
    "linear": Look("linear, 8 bits", ORANGE, "^"),
    "log-nearest": Look("log, 8 bits, nearest", BLUE),
    "log-stochastic": Look("log, 8 bits, stochastic", REFERENCE, "s"),
    "real": Look("real", GREEN, "D"),
}


def _against_sent(axes: Axes, runs: Samples, looks: dict[str, Look]) -> None:
    sends = [s / 1000 for s in beyond.SENDS]
    for case, look in looks.items():
        found = [stats.interval(beyond.got(runs, "datagrams", case=case, sends=s)) for s in beyond.SENDS]
        curve(axes, look, sends, found)
    axes.plot(sends, [min(beyond.SHARE, s) for s in sends], **EXPECTED, label="fair share")
    axes.set_xlabel("datagrams sent, Mbit/s")
    axes.set_ylim(0, 1.27)


def _own_legend(axes: Axes, columns: int) -> None:
    """The panels share no curves: each has its legend over its title."""
    axes.legend(loc="lower left", bbox_to_anchor=(-0.03, 1.09), ncols=columns, columnspacing=1.2)


def datagrams(runs: Samples) -> list[Picture]:
    """What a datagram source gets, by what it sends and by the currency of its cap."""
    figure, (kept, lying, currency) = canvas(3, (10.4, 4.2))
    _against_sent(kept, runs, KEPT)
    kept.set_title("datagrams got, Mbit/s: an honest host")
    _against_sent(lying, runs, LYING)
    lying.set_title("the same: a host that lies")
    found = runs.of("beyond-udp-currency")
    for sends, colour, point in zip(beyond.SENT, (BLUE, OCHRE, ORANGE), ("o", "s", "^"), strict=True):
        gets = [stats.interval(beyond.got(found, "datagrams", tickets=t, sends=sends)) for t in beyond.TICKETS]
        curve(currency, Look(f"sends {sends / 1000:g} Mbit/s", colour, point), beyond.TICKETS, gets)
    ends = (beyond.TICKETS[0], 1.2e6 / 8 / beyond.PACKET)
    currency.plot(ends, [beyond.cap(t) for t in ends], color=MUTED, linestyle=":", label="one ticket a packet")
    currency.plot([0, beyond.TICKETS[-1]], [beyond.SHARE] * 2, **EXPECTED, label="fair share")
    currency.set_xlabel("tickets/s issued to each source")
    currency.set_title("the same: capped, by currency")
    currency.set_ylim(0, 1.27)
    for axes, columns in ((kept, 2), (lying, 1), (currency, 2)):
        _own_legend(axes, columns)
    caption = (
        "Two TCP sources and a datagram source with equal tickets on 1.2 Mbit/s: what the datagrams get. Middle: "
        "255 tickets on every packet, believed, exchanged, or exchanged and capped at the host's first router."
    )
    alternative = "RED and K = 2 give what is asked for; a larger K holds back up to 3 Mbit/s; the cap is flat at 0.4."
    return [picture(figure, "pps-udp", caption, alternative)]


class Bar(NamedTuple):
    """How far a bar is moved, and how wide it is."""

    shift: float
    width: float


def _bars(axes: Axes, look: Look, where: Bar, found: list[stats.Interval]) -> None:
    """One bar at each whole number."""
    shift, width = where
    style: dict[str, Any] = {"color": look.colour, "ecolor": MUTED, "capsize": 2, "alpha": 0.85}
    places = [i + shift for i in range(len(found))]
    axes.bar(places, [f.mean for f in found], width, yerr=halves(found), **style)


def marks(runs: Samples) -> list[Picture]:
    """Proportion and repeated segments, with drops and with ECN."""
    figure, panels = canvas(3, (10.4, 3.5))
    tickets = [100 * i for i in range(1, len(FIG4) + 1)]
    for axes, size in zip(panels, SIZES, strict=False):
        for signal, look in SIGNALS.items():
            shares = Shares.of(beyond.signalled(runs, signal, scheme="sender", size=size), FIG4)
            curve(axes, look, tickets, [stats.interval(shares.y(flow)) for flow in FIG4])
        axes.axhline(1.0, **EXPECTED, label="in proportion")
        axes.set_xlabel("tickets/s issued to the flow")
        axes.set_title(f"x/e, sender-based, {size} B")
        axes.set_ylim(0, 1.5)
    places = [(scheme, size) for scheme in SCHEMES for size in SIZES]
    for shift, (signal, look) in zip((-0.2, 0.2), SIGNALS.items(), strict=True):
        values = [beyond.repeated(beyond.signalled(runs, signal, scheme=c, size=s)) for c, s in places]
        _bars(panels[2], look, Bar(shift, 0.38), [stats.interval([100 * v for v in row]) for row in values])
    panels[2].set_xticks(range(len(places)), [f"{scheme}\n{size} B" for scheme, size in places])
    panels[2].set_title("segments sent again, %")
    panels[2].grid(visible=False, axis="x")
    panels[2].set_ylim(bottom=0)
    legend_above(figure)
    caption = "Fig. 4 with ECN in the place of early drops: shares by tickets, and segments that were sent again."
    alternative = "With ECN the flows with few tickets lie a little higher; nearly nothing is sent again."
    return [picture(figure, "pps-ecn", caption, alternative)]


def sizes(runs: Samples) -> list[Picture]:
    """Rates by the size of packets, in bytes and in packets."""
    figure, (in_bytes, in_packets) = canvas(2, (8.6, 3.4))
    places = list(range(len(beyond.SEGMENTS)))
    for unit, look in UNITS.items():
        rates = [beyond.rates_by_size(runs, unit, payload) for payload in beyond.SEGMENTS]
        curve(in_bytes, look, places, [stats.interval([1e3 * x for x in row]) for row in rates])
        counts = [beyond.packets(row, payload) for row, payload in zip(rates, beyond.SEGMENTS, strict=True)]
        curve(in_packets, look, places, [stats.interval(row) for row in counts])
    in_bytes.axhline(100, **EXPECTED, label="equal")
    in_packets.axhline(1.2e6 / 8 / sum(3 * (p + beyond.HEADER) for p in beyond.SEGMENTS), **EXPECTED)
    in_bytes.set_title("kbit/s of each flow")
    in_packets.set_title("packets/s of each flow")
    for axes in (in_bytes, in_packets):
        axes.set_xticks(places, [str(p) for p in beyond.SEGMENTS])
        axes.set_xlabel("segment, bytes")
        axes.set_ylim(bottom=0)
    legend_above(figure)
    caption = "Twelve flows with equal tickets and packets of four sizes on 1.2 Mbit/s; dashed: all equal."
    alternative = "By packets all have equal packet rates, by bytes nearly equal byte rates."
    return [picture(figure, "pps-bytes", caption, alternative)]


def tags(runs: Samples) -> list[Picture]:
    """Shares over exchange rates of 1 and 100, by what a tag is."""
    figure, (chain, one, hundred) = canvas(3, (10.4, 3.8))
    for i, (name, look) in enumerate(TAGS.items()):
        found = [runs.of("beyond-log-chain").at(tags=name, exchange=x) for x in beyond.EXCHANGES]
        jain = [stats.interval(Shares.of(f, CHAIN).jain) for f in found]
        _bars(chain, look, Bar(0.2 * i - 0.3, 0.18), jain)
    chain.set_xticks(range(len(beyond.EXCHANGES)), [f"x {x}, / {x}" for x in beyond.EXCHANGES])
    chain.grid(visible=False, axis="x")
    chain.set_ylim(0, 1.05)
    chain.set_title("jain(y), chain of 8 hops")
    chain.set_xlabel("exchange rates on the way")
    tickets = [10**i for i in range(len(beyond.DECADES))]
    for axes, exchange in zip((one, hundred), beyond.EXCHANGES, strict=True):
        for name, look in TAGS.items():
            rows = Shares.of(runs.of("beyond-log").at(tags=name, exchange=exchange), beyond.DECADES, "late")
            means = [stats.mean(rows.x(flow)) for flow in beyond.DECADES]
            axes.plot(tickets, means, color=look.colour, marker=look.point, linestyle="-", label=look.label)
        axes.plot(tickets, list(beyond.DECADES.values()), **EXPECTED, label="expected")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("tickets/s issued to the flow")
        axes.set_title(f"Mbit/s over 20-200 s, x {exchange}, / {exchange}")
    legend_above(figure)
    caption = (
        "Tags of 8 bits where exchange rates take tickets out of their range: jain(y) of ten flows with 100 to 1000 "
        "tickets/s, and rates of five flows with 1 to 10^4 tickets/s."
    )
    alternative = "Linear tags lose all proportion where a link multiplies tickets by 100; logarithmic ones keep it."
    return [picture(figure, "pps-log", caption, alternative)]


PICTURES = {"pps-udp": datagrams, "pps-ecn": marks, "pps-bytes": sizes, "pps-log": tags}
"""By study."""
