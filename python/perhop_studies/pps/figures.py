"""The paper's figures again, with what it expects or prints on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import (
    MUTED,
    PUBLISHED,
    Look,
    Picture,
    canvas,
    curve,
    halves,
    legend_above,
    picture,
)
from perhop_studies.pps import beside, beyond_figures, domains, rtt, shares, worked
from perhop_studies.pps.terms import LOOKS, RECEIVER, SCHEMES, SENDER, SIZES, Rates, Shares, mbit
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOWS = {"A": "#0072b2", "B": "#c2410c", "C": "#12633b"}
GROUPS = {"A": ("#0072b2", "#7fb8d8"), "B": ("#c2410c", "#e0a080")}
"""Colours of a group: sender-based, receiver-based."""
EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
RENO = Look("Reno over RED", "#5b6b7a", "^", ":")


At = Mapping[str, Any]
"""Which runs a panel is about."""
Panel = Callable[["Axes", Samples, At], None]


FIGURES: dict[str, Callable[[Samples], Picture]] = {}
SIZED = [{"size": size} for size in SIZES]


def drawn(
    name: str,
    alternative: str,
    title: str = "Mbit/s, packets of {size} B",
    panels: Sequence[At] = SIZED,
    says: str = "",
) -> Callable[[Panel], Panel]:
    """Registers what draws a panel of a figure; its caption is what is said of it, if not here."""

    def register(panel: Panel) -> Panel:
        def whole(runs: Samples) -> Picture:
            figure, found = canvas(len(panels), (6.6 + len(panels), 3.4))
            for axes, at in zip(found, panels, strict=True):
                axes.set_title(title.format(**at))
                panel(axes, runs, at)
            legend_above(figure)
            return picture(figure, name, says or panel.__doc__ or "", alternative)

        FIGURES[name] = whole
        return panel

    return register


def draw(study: str, runs: Samples, _: list[Cell]) -> list[Picture]:
    """The pictures of one study."""
    if ours := beyond_figures.PICTURES.get(study):
        return ours(runs)
    return [whole(runs) for name, whole in FIGURES.items() if f"{name}-".startswith(f"{study}-")]


def _bars(axes: Axes, look: Look, shift: float, found: Sequence[stats.Interval]) -> None:
    style: dict[str, Any] = {"color": look.colour, "width": 0.26, "label": look.label, "alpha": 0.85}
    places = [i + shift for i in range(len(found))]
    axes.bar(places, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, **style)


def _levels(axes: Axes, names: Sequence[str], rates: Iterable[float], label: str = "expected") -> None:
    """What is expected of each group of bars, and its name."""
    for i, rate in enumerate(rates):
        axes.plot([i - 0.42, i + 0.42], [rate, rate], **EXPECTED, label=label if i == 0 else None)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


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


@drawn("pps-fig4", "Throughput rises with tickets along the expected line.")
def _one_hop(axes: Axes, runs: Samples, at: At) -> None:
    """Fig. 4: throughput of 30 flows over one hop by the tickets issued to them; line: in proportion."""
    for scheme in SCHEMES:
        found = Shares.of(runs.at(scheme=scheme, **at), shares.FIG4)
        curve(axes, replace(LOOKS[scheme], line=""), range(100, 3001, 100), found.intervals())
    _line(axes, shares.FIG4.values())


def _groups(axes: Axes, runs: Samples, rates: Rates, places: Mapping[str, Sequence[int]]) -> None:
    """Both groups in both schemes."""
    for group, colours in GROUPS.items():
        mine = {flow: rate for flow, rate in rates.items() if flow.startswith(group)}
        for scheme, colour in zip(SCHEMES, colours, strict=True):
            look = Look(f"{group}, {LOOKS[scheme].label}", colour, LOOKS[scheme].point, "")
            curve(axes, look, places[group], Shares.of(runs.at(scheme=scheme), mine).intervals())


def _grouped(axes: Axes, runs: Samples, rates: Rates) -> None:
    """The same, with what they expect."""
    _groups(axes, runs, rates, dict.fromkeys(GROUPS, range(100, 50 * len(rates) + 1, 100)))
    for group, label in (("A", "expected"), ("B", None)):
        _line(axes, [rate for flow, rate in rates.items() if flow.startswith(group)], label)


@drawn("pps-fig6", "Both groups rise with tickets, A's slope is twice B's.")
def _several_hops(axes: Axes, runs: Samples, at: At) -> None:
    """Fig. 6: two groups over several hops; A_i expects twice what B_i does."""
    _grouped(axes, runs.at(**at), shares.FIG6)


@drawn("pps-fig7", "Flows 1 to 5 rise along the expected lines, flows 6 to 10 lie at 0.03.")
def _unused(axes: Axes, runs: Samples, at: At) -> None:
    """Fig. 7: flows 6 to 10 of each group send 0.03 Mbit/s, flows 1 to 5 share what is left."""
    _grouped(axes, runs.at(**at), shares.FIG7)
    places = {group: [100 * i + aside for i in range(6, 11)] for group, aside in (("A", 0), ("B", 15))}
    _groups(axes, runs.at(**at), dict.fromkeys(shares.LIMITED, 0.03), places)
    axes.plot([600, 1000], [0.03, 0.03], **EXPECTED)
    axes.annotate("limited to 0.03", (800, 0.03), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)


def _seconds(levels: tuple[Rates, Rates], axes: Axes, runs: Samples, at: At) -> None:
    for flow, colour in FLOWS.items():
        found = runs.at(scheme=at["scheme"], size=at["size"])
        seconds = [mbit(found.values(f"{flow}@{t}")) for t in range(1, worked.END + 1)]
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


for _figure, _what, _rates in ((8, "A comes at 100 s", worked.FIG8), (9, "tickets change at 100 s", worked.FIG9)):
    for _size in SIZES:
        drawn(
            f"pps-fig{_figure}-{_size}",
            "Rates of A, B and C over time, at new levels soon after 100 s.",
            "Mbit/s, {scheme}-based, {size} B",
            [{"scheme": scheme, "size": _size} for scheme in SCHEMES],
            f"Fig. {_figure}: {_what}, packets of {_size} B. Bins of 1 s: mean over the seeds, thin one run.",
        )(partial(_seconds, _rates))


def _domains(axes: Axes, runs: Samples, study: str) -> None:
    expected = domains.EXPECTED[study]
    for shift, scheme, label in zip((-0.15, 0.15), SCHEMES, ("published", None), strict=True):
        _bars(axes, LOOKS[scheme], shift, Shares.of(runs.at(scheme=scheme), expected).intervals())
        _printed(axes, [i + shift for i in range(4)], domains.PUBLISHED[study, scheme].values(), label)
    _levels(axes, list(expected), expected.values())


@drawn("pps-tab1", "Bars of A, B, C and D next to the printed and the expected rates.")
def _first_table(axes: Axes, runs: Samples, at: At) -> None:
    """Table I: four flows over two bottlenecks, measured (bars), published and expected."""
    _domains(axes, runs.at(**at), "pps-tab1")


@drawn("pps-tab2", "Bars of A, B, C and D next to the printed and the expected rates.")
def _second_table(axes: Axes, runs: Samples, at: At) -> None:
    """Table II: four flows over two bottlenecks, measured (bars), published and expected."""
    _domains(axes, runs.at(**at), "pps-tab2")


@drawn("pps-tab3", "Reno falls steeply with the round-trip time, PPS gently.", "case b: Mbit/s, packets of {size} B")
def _round_trips(axes: Axes, runs: Samples, at: At) -> None:
    """Table III, case b: ten flows with equal tickets and round-trip times of 30 to 300 ms."""
    times = rtt.ROUND_TRIPS["b"]
    for look, scheme in ((SENDER, "sender"), (RECEIVER, "receiver"), (RENO, "reno")):
        curve(axes, look, times, rtt.ten(runs, "b", scheme, at["size"]).intervals())
    for column, name, point in (("b sender", "PPS", "D"), ("b Reno", "Reno", "^")):
        _printed(axes, times, rtt.printed(column), f"published, {name}", point)
    axes.axhline(0.11, **EXPECTED, label="expected")
    axes.set_xlabel("round-trip time, ms")
    axes.set_ylim(0, 0.25)


@drawn("pps-fig11", "Flow 10 falls well below the line in Y, flow 1 stays near it in X.")
def _far(axes: Axes, runs: Samples, at: At) -> None:
    """Fig. 11: one flow at 260 ms, the others at 26 ms: flow 1 in X, flow 10 in Y."""
    for case, colour, point in (("X", "#0072b2", "o"), ("Y", "#c2410c", "s")):
        for scheme in SCHEMES:
            look = Look(f"{case}, {LOOKS[scheme].label}", colour, point, LOOKS[scheme].line)
            found = Shares.of(runs.at(case=case, scheme=scheme, **at), rtt.FIG11)
            curve(axes, look, range(100, 1001, 100), found.intervals())
    _line(axes, rtt.FIG11.values())


PROFILES = [{"profile": profile} for profile in ("below", "matched", "above")]


@drawn(
    "pps-tab4",
    "DiffServ is in proportion only where profiles match; PPS always.",
    "profiles {profile} the link",
    PROFILES,
)
def _profiles(axes: Axes, runs: Samples, at: At) -> None:
    """Table IV: DiffServ with profiles below, at and above the link of 1.2 Mbit/s, and PPS; 1000 B, Mbit/s."""
    rates, profile = beside.PROPORTIONAL, at["profile"]
    _bars(axes, Look("DiffServ", "#8a5a00"), -0.28, beside.diffserv(runs, profile, 1000).intervals())
    for scheme, shift in zip(SCHEMES, (0.0, 0.28), strict=True):
        _bars(axes, LOOKS[scheme], shift, beside.pps(runs, scheme=scheme, size=1000).intervals())
    if profile in beside.PUBLISHED:
        _printed(axes, [i - 0.28 for i in range(3)], beside.PUBLISHED[profile].values())
    _levels(axes, list(rates), rates.values(), "in proportion")
    axes.set_ylim(0, 0.7)


@drawn("pps-fig12", "UDP under CSFQ lies on the line; TCP under CSFQ scatters around it.")
def _weighted(axes: Axes, runs: Samples, at: At) -> None:
    """Fig. 12: weighted CSFQ on the set-up of Fig. 4, with TCP and with UDP sources, and PPS."""
    weights = list(range(1, 31))
    for name, colour, point in (("UDP", "#12633b", "^"), ("TCP", "#7c3aed", "s")):
        found = beside.weighted(runs, name.lower(), at["size"])
        curve(axes, Look(f"CSFQ, {name}", colour, point, ""), weights, found.intervals())
    curve(
        axes,
        Look("PPS, sender-based", SENDER.colour, line=""),
        weights,
        beside.of_fig4(runs, scheme="sender", **at).intervals(),
    )
    _line(axes, shares.FIG4.values(), by=1)


BITS, HOPS = "bits of a tag", "hops with an exchange rate of 1"
WIDTHS = [{"setup": f"pps-fig{n}", "of": f"set-up of Fig. {n}", "x": BITS} for n in (4, 6)]
WIDTHS.append({"of": "chain, 8 bits", "x": HOPS})


@drawn("pps-bits", "jain(y) rises up to 8 bits and is flat beyond, and flat over hops.", "jain(y), {of}", WIDTHS)
def _widths(axes: Axes, runs: Samples, at: At) -> None:
    """Section III-J: how closely shares are in proportion, by the width of a tag and by the number of hops."""
    x: Sequence[int | str] = shares.WIDTHS if at["x"] == BITS else shares.HOPS
    for (line, size), scheme in product((("-", 1000), (":", 500)), SCHEMES):
        of: At = {"scheme": scheme, "size": size}
        if at["x"] == BITS:
            found = [shares.jain_at_width(runs, at["setup"], width, **of) for width in shares.WIDTHS]
        else:
            found = [shares.jain_of_chain(runs, hops, **of) for hops in shares.HOPS]
        look = Look(f"{LOOKS[scheme].label}, {size} B", LOOKS[scheme].colour, LOOKS[scheme].point, line)
        curve(axes, look, range(len(x)), list(map(stats.interval, found)))
    axes.set_xticks(range(len(x)), list(map(str, x)))
    axes.set_xlabel(at["x"])
