"""Figures of the experiments beyond the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.drawing import MUTED, REFERENCE, Look, Picture, canvas, curve, halves, legend_above, picture
from perhop_studies.pps import beyond
from perhop_studies.pps.shares import CHAIN, FIG4
from perhop_studies.pps.terms import SCHEMES, SIZES, Shares
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPECTED: dict[str, Any] = {"color": "#111111", "linestyle": (0, (5, 3)), "linewidth": 1.1}
BLUE, ORANGE, GREEN, OCHRE = "#0072b2", "#c2410c", "#12633b", "#8a5a00"
SIGNALS = {"drops": Look("drops", BLUE), "ecn": Look("ECN", ORANGE, "s")}

SHARE = 0.4
"""Of the datagram source and of each TCP source, Mbit/s."""
SENDS = (200, 400, 600, 800, 1000, 1500, 2000, 3000, 4000)
"""kbit/s."""
TICKETS, SENT = (25, 40, 50, 60, 75, 100, 150, 200), {1000: BLUE, 2000: OCHRE, 4000: ORANGE}
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


def _datagrams(runs: Samples, **at: Any) -> stats.Interval:
    return stats.interval(beyond.got(runs, "datagrams", **at))


def _fair(axes: Axes, title: str) -> None:
    """The datagrams' share, and a legend of the panel's own over its title."""
    axes.axhline(SHARE, **EXPECTED, label="fair share")
    axes.set(title=title, ylim=(0, 1.27))
    axes.legend(loc="lower left", bbox_to_anchor=(-0.03, 1.09), ncols=2, columnspacing=1.2)


def _bars(axes: Axes, title: str, names: Sequence[str], rows: Mapping[Look, Sequence[stats.Interval]]) -> None:
    """A group of bars over each name."""
    width = 0.8 / len(rows)
    for i, (look, found) in enumerate(rows.items()):
        style: dict[str, Any] = {"color": look.colour, "ecolor": MUTED, "capsize": 2, "alpha": 0.85}
        places = [place + width * (i - (len(rows) - 1) / 2) for place in range(len(names))]
        axes.bar(places, [f.mean for f in found], 0.95 * width, yerr=halves(found), label=look.label, **style)
    axes.set_xticks(range(len(names)), names)
    axes.set_title(title)
    axes.grid(visible=False, axis="x")


def _under_one_legend(figure: Figure, study: str, caption: str, alternative: str) -> list[Picture]:
    legend_above(figure)
    return [picture(figure, study, caption, alternative)]


def datagrams(runs: Samples) -> list[Picture]:
    """What a datagram source gets, by what it sends and by the currency of its cap."""
    figure, (kept, lying, currency) = canvas(3, (10.4, 4.2))
    for axes, looks, host in ((kept, KEPT, "an honest host"), (lying, LYING, "a host that lies")):
        for case, look in looks.items():
            curve(axes, look, [s / 1000 for s in SENDS], [_datagrams(runs, case=case, sends=s) for s in SENDS])
        axes.set_xlabel("datagrams sent, Mbit/s")
        _fair(axes, f"datagrams got, Mbit/s: {host}")
    for sends, colour in SENT.items():
        found = [_datagrams(runs.of("beyond-udp-currency"), tickets=t, sends=sends) for t in TICKETS]
        curve(currency, Look(f"sends {sends / 1000:g} Mbit/s", colour), TICKETS, found)
    currency.plot([25, 150], [0.2, 1.2], color=MUTED, linestyle=":", label="one ticket a packet")
    currency.set_xlabel("tickets/s issued to each source")
    _fair(currency, "the same: capped, by currency")
    caption = (
        "Two TCP sources and a datagram source with equal tickets on 1.2 Mbit/s: what the datagrams get. Middle: "
        "255 tickets on every packet, believed, exchanged, or exchanged and capped at the host's first router."
    )
    alternative = "RED and K = 2 give what is asked for; a larger K holds back up to 3 Mbit/s; the cap is flat at 0.4."
    return [picture(figure, "pps-udp", caption, alternative)]


AT_TRED = {"honest": "honest", "lying": "all 255", "red": "untagged:\nred", "least": "least", "drop": "drop"}
BEHIND = {"lying": "all 255", "pass": "untagged:\npass", "least": "least", "drop": "drop"}


def hosts(runs: Samples) -> list[Picture]:
    """What a datagram source gets that tags, lies or does not tag, by what is done about it."""
    figure, panels = canvas(3, (10.4, 3.5))
    behind = [("beyond-untagged-input", BEHIND, {"input": kind}) for kind in ("exchanged", "capped")]
    for axes, (of, named, at) in zip(panels, [("beyond-untagged", AT_TRED, {}), *behind], strict=True):
        rows = {}
        for (k, sends), colour in zip(product((2, 32), (1, 2)), (BLUE, REFERENCE, OCHRE, ORANGE), strict=True):
            found = [_datagrams(runs.of(of), host=host, k=k, sends=1000 * sends, **at) for host in named]
            rows[Look(f"K = {k}, sends {sends} Mbit/s", colour)] = found
        _bars(axes, "datagrams got, Mbit/s: " + at.get("input", "at TRED"), list(named.values()), rows)
        axes.axhline(SHARE, **EXPECTED, label="fair share")
    caption = (
        "The same sources; the datagrams are tagged as they should be, all with 255 tickets, or not at all. Left by "
        "what TRED does with packets without tickets, then by what a relabeller at the first router does."
    )
    alternative = "Untagged datagrams take the link where they pass; least and drop hold them, the cap at their share."
    return _under_one_legend(figure, "pps-untagged", caption, alternative)


def marks(runs: Samples) -> list[Picture]:
    """Proportion and repeated segments, with drops and with ECN."""
    figure, panels = canvas(3, (10.4, 3.5))
    tickets = [100 * i for i in range(1, len(FIG4) + 1)]
    for axes, size in zip(panels, SIZES, strict=False):
        for signal, look in SIGNALS.items():
            shares = Shares.of(beyond.signalled(runs, signal, scheme="sender", size=size), FIG4)
            curve(axes, look, tickets, [stats.interval(shares.y(flow)) for flow in FIG4])
        axes.axhline(1.0, **EXPECTED, label="in proportion")
        axes.set(xlabel="tickets/s issued to the flow", title=f"x/e, sender-based, {size} B", ylim=(0, 1.5))
    places, rows = list(product(SCHEMES, SIZES)), {}
    for signal, look in SIGNALS.items():
        values = [beyond.repeated(beyond.signalled(runs, signal, scheme=c, size=s)) for c, s in places]
        rows[look] = [stats.interval([100 * v for v in row]) for row in values]
    _bars(panels[2], "segments sent again, %", [f"{scheme}\n{size} B" for scheme, size in places], rows)
    caption = "Fig. 4 with ECN in the place of early drops: shares by tickets, and segments that were sent again."
    alternative = "With ECN the flows with few tickets lie a little higher; nearly nothing is sent again."
    return _under_one_legend(figure, "pps-ecn", caption, alternative)


def sizes(runs: Samples) -> list[Picture]:
    """Rates by the size of packets, in bytes and in packets."""
    figure, (in_bytes, in_packets) = canvas(2, (8.6, 3.4))
    places = list(range(len(beyond.SEGMENTS)))
    for unit, look in beyond.UNITS.items():
        rates = [beyond.rates_by_size(runs, unit, payload) for payload in beyond.SEGMENTS]
        curve(in_bytes, look, places, [stats.interval([1e3 * x for x in row]) for row in rates])
        counts = [beyond.packets(row, payload) for row, payload in zip(rates, beyond.SEGMENTS, strict=True)]
        curve(in_packets, look, places, [stats.interval(row) for row in counts])
    in_bytes.axhline(100, **EXPECTED, label="equal")
    in_packets.axhline(1.2e6 / 8 / sum(3 * (p + beyond.HEADER) for p in beyond.SEGMENTS), **EXPECTED)
    for axes, title in ((in_bytes, "kbit/s of each flow"), (in_packets, "packets/s of each flow")):
        axes.set_xticks(places, [str(p) for p in beyond.SEGMENTS])
        axes.set(xlabel="segment, bytes", title=title, ylim=(0, None))
    caption = "Twelve flows with equal tickets and packets of four sizes on 1.2 Mbit/s; dashed: all equal."
    alternative = "By packets all have equal packet rates, by bytes nearly equal byte rates."
    return _under_one_legend(figure, "pps-bytes", caption, alternative)


def tags(runs: Samples) -> list[Picture]:
    """Shares over exchange rates of 1 and 100, by what a tag is."""
    figure, (chain, one, hundred) = canvas(3, (10.4, 3.8))
    rows = {}
    for name, look in beyond.TAGS.items():
        found = [runs.of("beyond-log-chain").at(tags=name, exchange=x) for x in beyond.EXCHANGES]
        rows[look] = [stats.interval(Shares.of(f, CHAIN).jain) for f in found]
    _bars(chain, "jain(y), chain of 8 hops", [f"x {x}, / {x}" for x in beyond.EXCHANGES], rows)
    chain.set_xlabel("exchange rates on the way")
    tickets = [10**i for i in range(len(beyond.DECADES))]
    for axes, exchange in zip((one, hundred), beyond.EXCHANGES, strict=True):
        for name, look in beyond.TAGS.items():
            late = Shares.of(runs.of("beyond-log").at(tags=name, exchange=exchange), beyond.DECADES, "late")
            curve(axes, look, tickets, [stats.interval(late.x(flow)) for flow in beyond.DECADES])
        axes.plot(tickets, list(beyond.DECADES.values()), **EXPECTED, label="expected")
        axes.set(xscale="log", yscale="log", xlabel="tickets/s issued to the flow")
        axes.set_title(f"Mbit/s over 20-200 s, x {exchange}, / {exchange}")
    caption = (
        "Tags of 8 bits where exchange rates take tickets out of their range: jain(y) of ten flows with 100 to 1000 "
        "tickets/s, and rates of five flows with 1 to 10^4 tickets/s."
    )
    alternative = "Linear tags lose all proportion where a link multiplies tickets by 100; logarithmic ones keep it."
    return _under_one_legend(figure, "pps-log", caption, alternative)


PICTURES = {"pps-udp": datagrams, "pps-untagged": hosts, "pps-ecn": marks, "pps-bytes": sizes, "pps-log": tags}
"""By study."""
