"""The paper's figures and tables again, with what it prints on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, Look, Picture, canvas, curve, halves, picture
from perhop_studies.rtt_rto import bulk, tables
from perhop_studies.rtt_rto.terms import (
    BASIC,
    COMPARED,
    FEW,
    FLOWS,
    LABELS,
    MANY,
    PAIR,
    RTO,
    RTTS,
    STANDARD,
    STANDARD_SW,
    SW,
    ratios,
)
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {STANDARD: "#667584", STANDARD_SW: "#12633b", BASIC: "#c2410c", RTO: "#0072b2", SW: "#a05195"}
DOMAINS = {"F1": "#0072b2", "F2": "#56a5d8", "F3": "#c2410c", "F4": "#12633b", "F5": "#c08a00"}
PRINTED: dict[str, Any] = {
    "linestyle": "",
    "marker": "D",
    "markersize": 5,
    "mfc": "white",
    "mec": PUBLISHED,
    "zorder": 5,
    "label": "published",
}
LEVEL: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
FIG4 = {"F1": 2.3, "F2": 7.52}
"""Mb/s at 100 ms under the basic conditioner."""
POINTS = (("o", "-"), ("s", "--"))
TRIP = "round trip of F2, ms"

WORDS = {
    "rtt-fig3": (
        "Fig. 3: the standard conditioner without and with protection of small windows; F1 has 20 ms. Published, "
        "without numbers: with SW the total is higher and close to capacity (dashed), F1 is favoured, drops fall to "
        "the right.",
        "With 200 flows the total with SW is nearer to 10 Mb/s than without; with 10 flows it is a little less.",
    ),
    "rtt-fig4": (
        "Fig. 4: F1 (20 ms, solid) and F2 (dashed) under four conditioners. Diamonds: the two numbers that the paper "
        "prints, for 200 flows each and the basic conditioner.",
        "With 200 flows basic pins F1 to 2 Mb/s for round trips of F2 above 20 ms; RTT-RTO and RTT-SW do not.",
    ),
    "rtt-fig4-2dp": (
        "Two drop precedences: what would be DP1 stays IN. Published, without numbers: basic is biased as well.",
        "With 200 flows basic leaves F1 less than 2 Mb/s; RTT-RTO is nearer to even.",
    ),
    "rtt-under": (
        "Contracts of 6 Mb/s each on a link of 10. Published, without numbers: round trips do not matter then.",
        "With 10 flows F1 gets about 6 Mb/s and F2 4 under every conditioner.",
    ),
    "rtt-fig5": (
        "Fig. 5: congestion window of one flow of F1, every 0.5 s; dashed: the mean over time and flows. Published, "
        "without numbers: it stays small under basic, and grows with SW.",
        "Windows of one to three segments under both.",
    ),
    "rtt-fig6": (
        "Fig. 6: five aggregates; F1, F2 100 ms, F4 40, F5 16, F3 8. Published, without numbers: under basic F1 and F2 "
        "have most, under RTT-SW F3, under RTT-RTO all nearly the same and F3 a little more.",
        "At 200 flows basic gives F1 and F2 most and F3 least, RTT-SW F3 most; under RTT-RTO all are nearer to even.",
    ),
    "rtt-67x": (
        "Contracts of 10 kb/s, ten flows each. Published: 67 under the standard conditioner, about 1 with RTT-RTO.",
        "Under the standard conditioner F3 has several times as much as F1 and F2, under RTT-RTO as much.",
    ),
    "rtt-table1": ("Table 1: Telnet, 100 sessions in each of five aggregates.", "Delays by conditioner, and printed."),
    "rtt-table2": (
        "Table 2: web, set W1, time to the first packet of an object and to the last, without the slowest 1 %.",
        "Response times by conditioner next to the printed ones.",
    ),
}
"""Caption and description of each figure, by study."""


def _lines(axes: Axes, runs: Samples, markers: Sequence[str], rtts: Sequence[int] = RTTS) -> None:
    """Both aggregates over the round trip of F2: one colour a conditioner."""
    for marker in markers:
        for flow, (point, line) in zip(PAIR, POINTS, strict=True):
            look = Look(f"{LABELS[marker]}, {flow}", COLOURS[marker], point, line)
            curve(axes, look, rtts, [runs.mean(flow, marker=marker, rtt=rtt) for rtt in rtts])
    axes.set_xlabel(TRIP)
    axes.set_ylim(bottom=0)


def _bars(
    axes: Axes, names: Sequence[str], found: Mapping[str, Sequence[stats.Interval]], cells: Sequence[Cell] = ()
) -> None:
    """Bars a name, one a conditioner, with what is printed."""
    wide = 0.8 / len(found)
    for i, (marker, values) in enumerate(found.items()):
        places = [k + wide * (i - (len(found) - 1) / 2) for k in range(len(names))]
        style: dict[str, Any] = {"color": COLOURS[marker], "label": LABELS[marker], "alpha": 0.85, "ecolor": MUTED}
        axes.bar(places, [v.mean for v in values], 0.95 * wide, yerr=halves(values), capsize=2, **style)
        printed = {cell.column: cell.published for cell in cells if tables.ROWS[cell.row] == marker}
        for place, name in zip(places, names, strict=True):
            if name in printed:
                axes.plot([place], [printed[name]], **PRINTED)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def _means(runs: Samples, quantities: Sequence[str], markers: Sequence[str]) -> dict[str, list[stats.Interval]]:
    return {marker: [runs.mean(name, marker=marker) for name in quantities] for marker in markers}


def _legend(figure: Figure, columns: int = 6) -> Figure:
    """One legend over all panels, in rows."""
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(list(shown.values()), list(shown), loc="outside upper center", ncols=columns)
    return figure


def _fig3(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(4, (13.6, 3.6))
    both = (STANDARD, STANDARD_SW)
    for axes, n in zip(panels, (FEW, MANY), strict=False):
        _lines(axes, runs.at(n=n), both)
        axes.set_title(f"n = {n}: Mb/s")
    for axes, quantity in zip(panels[2:], ("total", "drop ratio"), strict=True):
        for marker in both:
            for n, (point, line) in zip((FEW, MANY), POINTS, strict=True):
                found = [runs.mean(quantity, marker=marker, n=n, rtt=rtt) for rtt in RTTS]
                curve(axes, Look(f"{LABELS[marker]}, n = {n}", COLOURS[marker], point, line), RTTS, found)
        axes.set_xlabel(TRIP)
        axes.set_title(quantity)
    panels[2].axhline(10, **LEVEL)
    for axes in panels[::2]:
        axes.legend(fontsize=7)
    return figure


def _fig4(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(2, (11.0, 4.2))
    for axes, n in zip(panels, (MANY, FEW), strict=True):
        _lines(axes, runs.of("rtt-fig4").at(n=n), COMPARED)
        axes.set_title(f"n = {n}: Mb/s")
    panels[0].plot([100, 100], list(FIG4.values()), **PRINTED)
    for flow, value in FIG4.items():
        where: dict[str, Any] = {"textcoords": "offset points", "color": PUBLISHED, "fontsize": 8}
        panels[0].annotate(f"{flow} {value}", (100, value), xytext=(-6, 6), ha="right", **where)
    return _legend(figure, 5)


def _two(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(2, (10.4, 3.8))
    found = runs.of("rtt-fig4-2dp")
    for axes, n in zip(panels, (MANY, FEW), strict=True):
        _lines(axes, found.at(n=n), (STANDARD, BASIC, RTO), found.grid()["rtt"])
        axes.set_title(f"n = {n}: Mb/s")
    return _legend(figure, 3)


def _under(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(2, (9.6, 3.2))
    for axes, n in zip(panels, (FEW, MANY), strict=True):
        _bars(axes, PAIR, _means(runs.at(n=n, cir=6), PAIR, list(LABELS)))
        axes.set_title(f"n = {n}: Mb/s")
    return _legend(figure)


def _fig5(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(2, (10.4, 3.0))
    for axes, marker in zip(panels, (BASIC, SW), strict=True):
        found = runs.at(marker=marker)
        axes.step(*bulk.trace(found), where="post", color=COLOURS[marker], linewidth=1.0)
        mean, timeouts = found.mean("F1.cwnd").mean, found.mean("F1.timeouts").mean
        axes.axhline(mean, **LEVEL)
        axes.set_title(f"{LABELS[marker]}: all of F1 {mean:.2f}, {timeouts:.0f} time-outs a flow")
        axes.set_ylim(0, 8)
        axes.set_xlabel("s")
    panels[0].set_ylabel("cwnd, segments")
    return figure


def _fig6(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(4, (13.6, 3.4))
    counts = runs.grid()["n"]
    for axes, marker in zip(panels, COMPARED, strict=True):
        for flow, colour in DOMAINS.items():
            curve(axes, Look(flow, colour), counts, [runs.mean(flow, marker=marker, n=n) for n in counts])
        axes.set_title(f"{LABELS[marker]}: Mb/s")
        axes.set_xlabel("flows in an aggregate")
        axes.set_ylim(0, 8)
    return _legend(figure)


def _extreme(runs: Samples, _: list[Cell]) -> Figure:
    figure, panels = canvas(2, (9.6, 3.2))
    _bars(panels[0], FLOWS, _means(runs, FLOWS, COMPARED))
    by = {}
    for marker in COMPARED:
        rates = [runs.values(flow, marker=marker) for flow in FLOWS[:3]]
        longer = [stats.mean(pair) for pair in zip(*rates[:2], strict=True)]
        by[marker] = [stats.interval(ratios(rates[2], longer))]
    _bars(panels[1], ["F3 / mean(F1, F2)"], by)
    panels[1].plot([-0.3], [67], **PRINTED)
    panels[1].set_yscale("log")
    panels[0].set_title("Mb/s")
    return _legend(figure)


def _table1(runs: Samples, cells: list[Cell]) -> Figure:
    figure, panels = canvas(2, (10.4, 3.3))
    columns = {"delay of a packet, s": (tables.LONG, tables.SHORT, tables.OVERALL), "s": (tables.SESSION,)}
    for axes, (title, names) in zip(panels, columns.items(), strict=True):
        _bars(axes, names, _means(runs, names, COMPARED), cells)
        axes.set_title(title)
    return _legend(figure)


def _table2(runs: Samples, cells: list[Cell]) -> Figure:
    figure, panels = canvas(3, (12.4, 3.3))
    columns = (tables.FIRST, tables.ALL)
    titles = ("50 sessions: s", "100 sessions: s", "50 sessions, 10 Mb/s: s")
    loads = (tables.web(runs), tables.web(runs, 100), runs.of("rtt-table2-fast"))
    for axes, title, found, printed in zip(panels, titles, loads, (cells, [], []), strict=True):
        _bars(axes, columns, _means(found, columns, COMPARED), printed)
        axes.set_title(title)
    return _legend(figure)


DRAWN: dict[str, Callable[[Samples, list[Cell]], Figure]] = {
    "rtt-fig3": _fig3,
    "rtt-fig4": _fig4,
    "rtt-fig4-2dp": _two,
    "rtt-under": _under,
    "rtt-fig5": _fig5,
    "rtt-fig6": _fig6,
    "rtt-67x": _extreme,
    "rtt-table1": _table1,
    "rtt-table2": _table2,
}
"""By study."""


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The pictures of a study."""
    return [picture(DRAWN[study](runs, cells), study, *WORDS[study])] if study in DRAWN else []
