"""The paper's figures again, with what it expects or prints on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, REFERENCE, Look, Picture, canvas, curve, halves, picture
from perhop_studies.drawing import legend_above as legend
from perhop_studies.pps import beyond_figures, csfq, diffserv, domains, rtt, shares, worked
from perhop_studies.pps.terms import LOOKS, RECEIVER, SCHEMES, SENDER, SIZES, Rates, Shares, mbit
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOWS = {"A": "#0072b2", "B": "#c2410c", "C": "#12633b"}
GROUPS = {"A": ("#0072b2", "#7fb8d8"), "B": ("#c2410c", "#e0a080")}
"""Colours of a group: sender-based, receiver-based."""
EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
RENO = Look("Reno over RED", "#5b6b7a", "^", ":")


class Pair(NamedTuple):
    """A figure with a panel for each packet size."""

    panel: Callable[[Axes, Samples, int], None]
    caption: str
    alternative: str
    title: str = "Mbit/s, packets of {} B"


def draw(study: str, runs: Samples, _: list[Cell]) -> list[Picture]:
    """The pictures of one study."""
    if ours := beyond_figures.PICTURES.get(study):
        return ours(runs)
    if study in PAIRS:
        return [_pair(study, PAIRS[study], runs)]
    return list(OTHERS[study](runs)) if study in OTHERS else []


def _pair(study: str, pair: Pair, runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.5))
    for axes, size in zip(panels, SIZES, strict=True):
        axes.set_title(pair.title.format(size))
        pair.panel(axes, runs, size)
    legend(figure)
    return picture(figure, study, pair.caption, pair.alternative)


def _bars(axes: Axes, look: Look, shift: float, found: Sequence[stats.Interval], width: float = 0.26) -> None:
    style: dict[str, Any] = {"color": look.colour, "width": width, "label": look.label, "alpha": 0.85}
    places = [i + shift for i in range(len(found))]
    axes.bar(places, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, **style)


def _levels(axes: Axes, names: Sequence[str], rates: Iterable[float], label: str = "expected") -> None:
    """What is expected of each group of bars, and its name."""
    for i, rate in enumerate(rates):
        axes.plot([i - 0.42, i + 0.42], [rate, rate], **EXPECTED, label=label if i == 0 else None)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def _points(axes: Axes, look: Look, x: Sequence[float], found: list[stats.Interval]) -> None:
    style: dict[str, Any] = {"color": look.colour, "marker": look.point, "label": look.label, "linestyle": ""}
    axes.errorbar(x, [f.mean for f in found], yerr=halves(found), capsize=2, elinewidth=0.9, **style)


def _printed(
    axes: Axes, x: Sequence[float], y: Iterable[float], label: str | None = "published", at: str = "D"
) -> None:
    axes.plot(x, list(y), linestyle="", marker=at, markersize=5, mfc="white", mec=PUBLISHED, label=label, zorder=5)


def _line(axes: Axes, rates: Iterable[float], label: str | None = "expected", by: int = 100) -> None:
    """In proportion to tickets, or to weights."""
    listed = list(rates)
    axes.plot([by * i for i in range(len(listed) + 1)], [0, *listed], **EXPECTED, label=label)
    axes.set_xlabel("tickets/s issued to the flow" if by > 1 else "weight, or tickets/s by 100")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def _tickets(flows: int) -> list[int]:
    return [100 * i for i in range(1, flows + 1)]


def _cases(axes: Axes, runs: Samples, size: int) -> None:
    slots = [(case, flow, rate) for case, rates in worked.EX1.items() for flow, rate in rates.items()]
    for shift, scheme in zip((-0.2, 0.2), SCHEMES, strict=True):
        at = {"scheme": scheme, "size": size}
        found = [stats.interval(mbit(runs.values(f"{flow}.throughput", case=case, **at))) for case, flow, _ in slots]
        _bars(axes, LOOKS[scheme], shift, found, 0.38)
    _levels(axes, [flow for _, flow, _ in slots], [rate for *_, rate in slots])
    for name, place in (("all active", 1), ("B silent", 3.5), ("B at 0.16", 6)):
        axes.text(place, 0.8, name, ha="center", fontsize=8.5, color=MUTED)
    axes.set_ylim(0, 0.86)


def _one_hop(axes: Axes, runs: Samples, size: int) -> None:
    for scheme in SCHEMES:
        found = Shares.of(runs.at(scheme=scheme, size=size), shares.FIG4)
        _points(axes, LOOKS[scheme], _tickets(30), found.intervals())
    _line(axes, shares.FIG4.values())


def _groups(axes: Axes, runs: Samples, rates: Rates, places: Mapping[str, Sequence[int]]) -> None:
    """Both groups in both schemes."""
    for group, colours in GROUPS.items():
        mine = {flow: rate for flow, rate in rates.items() if flow.startswith(group)}
        for scheme, colour in zip(SCHEMES, colours, strict=True):
            look = Look(f"{group}, {LOOKS[scheme].label}", colour, LOOKS[scheme].point)
            _points(axes, look, places[group], Shares.of(runs.at(scheme=scheme), mine).intervals())


def _grouped(axes: Axes, runs: Samples, rates: Rates) -> None:
    """The same, with what they expect."""
    _groups(axes, runs, rates, dict.fromkeys(GROUPS, _tickets(len(rates) // 2)))
    for group, label in (("A", "expected"), ("B", None)):
        _line(axes, [rate for flow, rate in rates.items() if flow.startswith(group)], label)


def _unused(axes: Axes, runs: Samples, size: int) -> None:
    _grouped(axes, runs.at(size=size), shares.FIG7)
    places = {group: [100 * i + aside for i in range(6, 11)] for group, aside in (("A", 0), ("B", 15))}
    _groups(axes, runs.at(size=size), dict.fromkeys(shares.LIMITED, 0.03), places)
    axes.plot([600, 1000], [0.03, 0.03], **EXPECTED)
    axes.annotate("limited to 0.03", (800, 0.03), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)


def _over_time(name: str, what: str, levels: tuple[Rates, Rates], runs: Samples) -> Iterable[Picture]:
    for size in SIZES:
        figure, panels = canvas(2, (8.6, 3.0))
        for axes, scheme in zip(panels, SCHEMES, strict=True):
            axes.set_title(f"Mbit/s, {LOOKS[scheme].label}, {size} B")
            _seconds(axes, runs.at(scheme=scheme, size=size), levels)
        legend(figure)
        caption = f"Fig. {name}: {what}, packets of {size} B. Bins of 1 s: mean over the seeds, thin one run."
        yield picture(figure, f"pps-fig{name}-{size}", caption, "Rates of A, B and C at new levels soon after 100 s.")


def _seconds(axes: Axes, runs: Samples, levels: tuple[Rates, Rates]) -> None:
    for flow, colour in FLOWS.items():
        seconds = [mbit(runs.values(f"{flow}@{t}")) for t in range(1, worked.END + 1)]
        times = [t - 0.5 for t in range(1, worked.END + 1)]
        axes.plot(times, [values[0] for values in seconds], color=colour, linewidth=0.7, alpha=0.45)
        axes.plot(times, [stats.mean(values) for values in seconds], color=colour, linewidth=1.5, label=flow)
        for rates, span in zip(levels, ((0, worked.CHANGE), (worked.CHANGE, worked.END)), strict=True):
            if flow in rates:
                axes.plot(span, [rates[flow]] * 2, **EXPECTED)
    axes.plot([], [], **EXPECTED, label="expected")
    axes.set_xlabel("time, s")
    axes.set_xlim(0, worked.END)
    axes.set_ylim(0, 1.0)


def _domains(study: str) -> Callable[[Axes, Samples, int], None]:
    def panel(axes: Axes, runs: Samples, size: int) -> None:
        expected = domains.EXPECTED[study]
        for shift, scheme, label in zip((-0.15, 0.15), SCHEMES, ("published", None), strict=True):
            _bars(axes, LOOKS[scheme], shift, Shares.of(runs.at(scheme=scheme, size=size), expected).intervals())
            _printed(axes, [i + shift for i in range(4)], domains.PUBLISHED[study, scheme].values(), label)
        _levels(axes, list(expected), expected.values())

    return panel


def _round_trips(axes: Axes, runs: Samples, size: int) -> None:
    times = rtt.ROUND_TRIPS["b"]
    for look, scheme in ((SENDER, "sender"), (RECEIVER, "receiver"), (RENO, "reno")):
        curve(axes, look, times, rtt.ten(runs, "b", scheme, size).intervals())
    for column, name, point in (("b sender", "PPS", "D"), ("b Reno", "Reno", "^")):
        _printed(axes, times, rtt.printed(column), f"published, {name}", point)
    axes.axhline(0.11, **EXPECTED, label="expected")
    axes.set_xlabel("round-trip time, ms")
    axes.set_ylim(0, 0.25)


def _far(axes: Axes, runs: Samples, size: int) -> None:
    for case, colour, point in (("X", "#0072b2", "o"), ("Y", "#c2410c", "s")):
        for scheme in SCHEMES:
            look = Look(f"{case}, {LOOKS[scheme].label}", colour, point, LOOKS[scheme].line)
            found = Shares.of(runs.at(case=case, scheme=scheme, size=size), rtt.FIG11)
            curve(axes, look, _tickets(10), found.intervals())
    _line(axes, rtt.FIG11.values())


def _profiles(runs: Samples) -> Iterable[Picture]:
    figure, panels = canvas(3, (9.6, 3.1))
    titles = {"below": "0.15, 0.10, 0.05", "matched": "0.6, 0.4, 0.2", "above": "1.2, 0.8, 0.4"}
    for axes, (profile, title) in zip(panels, titles.items(), strict=True):
        _bars(axes, Look("DiffServ", "#8a5a00"), -0.28, diffserv.diffserv(runs, profile, 1000).intervals())
        for scheme, shift in zip(SCHEMES, (0.0, 0.28), strict=True):
            _bars(axes, LOOKS[scheme], shift, diffserv.pps(runs, scheme=scheme, size=1000).intervals())
        if profile in diffserv.PUBLISHED:
            _printed(axes, [i - 0.28 for i in range(3)], diffserv.PUBLISHED[profile].values())
        _levels(axes, list(diffserv.PROPORTIONAL), diffserv.PROPORTIONAL.values(), "in proportion")
        axes.set_ylim(0, 0.7)
        axes.set_title(f"profiles {title}")
    legend(figure)
    caption = "Table IV: DiffServ with profiles below, at and above the link of 1.2 Mbit/s, and PPS; 1000 B, Mbit/s."
    yield picture(figure, "pps-tab4", caption, "DiffServ is in proportion only where profiles match; PPS always.")


def _weighted(axes: Axes, runs: Samples, size: int) -> None:
    weights = list(range(1, 31))
    _points(axes, Look("CSFQ, UDP", "#12633b", "^"), weights, csfq.weighted(runs, "udp", size).intervals())
    _points(axes, Look("CSFQ, TCP", "#7c3aed", "s"), weights, csfq.weighted(runs, "tcp", size).intervals())
    found = csfq.pps(runs, scheme="sender", size=size).intervals()
    _points(axes, Look("PPS, sender-based", SENDER.colour, SENDER.point), weights, found)
    _line(axes, shares.FIG4.values(), by=1)


def _widths(runs: Samples) -> Iterable[Picture]:
    figure, panels = canvas(3, (9.6, 3.2))
    for line, size in zip(("-", ":"), SIZES, strict=True):
        for scheme in SCHEMES:
            base, at = LOOKS[scheme], {"scheme": scheme, "size": size}
            look = Look(f"{base.label}, {size} B", base.colour, base.point, line)
            for axes, setup in zip(panels, shares.SETUPS, strict=False):
                found = [stats.interval(shares.jain_at_width(runs, setup, width, **at)) for width in shares.WIDTHS]
                curve(axes, look, range(len(found)), found)
            found = [stats.interval(shares.jain_of_chain(runs, hops, **at)) for hops in shares.HOPS]
            curve(panels[2], look, shares.HOPS, found)
    for axes, name in zip(panels, ("set-up of Fig. 4", "set-up of Fig. 6", "chain, 8 bits"), strict=True):
        axes.set_title(f"jain(y), {name}")
        axes.set_xticks(range(len(shares.WIDTHS)), list(map(str, shares.WIDTHS)))
        axes.set_xlabel("bits of a tag")
    panels[2].set_xticks(shares.HOPS, list(map(str, shares.HOPS)))
    panels[2].set_xlabel("hops with an exchange rate of 1")
    legend(figure)
    caption = "Section III-J: how closely shares are in proportion, by the width of a tag and by the number of hops."
    yield picture(figure, "pps-bits", caption, "jain(y) rises up to 8 bits and is flat beyond, and flat over hops.")


def _exponents(runs: Samples) -> Iterable[Picture]:
    figure, panels = canvas(3, (9.6, 3.2))
    for setup, colour, point in (("pps-fig4", "#0072b2", "o"), ("pps-fig6", REFERENCE, "s")):
        for line, size in zip(("-", ":"), SIZES, strict=True):
            look = Look(f"Fig. {setup[7:]}, {size} B", colour, point, line)
            found = [shares.at_exponent(runs, setup, n, size=size) for n in shares.EXPONENTS]
            for axes, values in zip(
                panels, zip(*(shares.effects(one, setup) for one in found), strict=True), strict=True
            ):
                curve(axes, look, shares.EXPONENTS, [stats.interval(value) for value in values])
    for axes, title in zip(panels, ("jain(y)", "packets dropped, %", "deviation of AvgQLen, packets"), strict=True):
        axes.set_title(title)
        axes.set_xlabel("exponent n of TRED")
        axes.set_xticks(shares.EXPONENTS)
        axes.axvline(shares.PUBLISHED_EXPONENT, **EXPECTED)
    legend(figure)
    caption = "Section II-C: TRED's exponent, sender-based; dashed: the authors' choice, 3."
    yield picture(figure, "pps-n", caption, "jain(y) is lowest at n = 1; drops rise with n.")


PAIRS: dict[str, Pair] = {
    "pps-ex1": Pair(
        _cases,
        "Fig. 1: shares of the bottleneck in three cases; expected 0.5, 0.25, 0.25; 0.75, 0.25; 0.56, 0.16, 0.28.",
        "Bars of what A, B and C get in each case, near the expected lines.",
    ),
    "pps-fig4": Pair(
        _one_hop,
        "Fig. 4: throughput of 30 flows over one hop by the tickets issued to them; line: in proportion.",
        "Throughput rises with tickets along the expected line.",
    ),
    "pps-fig6": Pair(
        lambda axes, runs, size: _grouped(axes, runs.at(size=size), shares.FIG6),
        "Fig. 6: two groups over several hops; A_i expects twice what B_i does.",
        "Both groups rise with tickets, A's slope is twice B's.",
    ),
    "pps-fig7": Pair(
        _unused,
        "Fig. 7: flows 6 to 10 of each group send 0.03 Mbit/s, flows 1 to 5 share what is left.",
        "Flows 1 to 5 rise along the expected lines, flows 6 to 10 lie at 0.03.",
    ),
    **{
        study: Pair(
            _domains(study),
            f"Table {roman}: four flows over two bottlenecks, measured (bars), published and expected.",
            "Bars of A, B, C and D next to the printed and the expected rates.",
        )
        for study, roman in (("pps-tab1", "I"), ("pps-tab2", "II"))
    },
    "pps-tab3": Pair(
        _round_trips,
        "Table III, case b: ten flows with equal tickets and round-trip times of 30 to 300 ms.",
        "Reno's rates fall steeply with the round-trip time, PPS's gently.",
        "case b: Mbit/s, packets of {} B",
    ),
    "pps-fig11": Pair(
        _far,
        "Fig. 11: one flow at 260 ms, the others at 26 ms: flow 1 in X, flow 10 in Y.",
        "Flow 10 falls well below the line in Y, flow 1 stays near it in X.",
    ),
    "pps-fig12": Pair(
        _weighted,
        "Fig. 12: weighted CSFQ on the set-up of Fig. 4, with TCP and with UDP sources, and PPS.",
        "UDP under CSFQ lies on the line; TCP under CSFQ scatters around it.",
    ),
}
OTHERS: dict[str, Callable[[Samples], Iterable[Picture]]] = {
    "pps-fig8": lambda runs: _over_time("8", "A comes at 100 s", worked.FIG8, runs),
    "pps-fig9": lambda runs: _over_time("9", "tickets of A and B change at 100 s", worked.FIG9, runs),
    "pps-tab4": _profiles,
    "pps-bits": _widths,
    "pps-n": _exponents,
}
