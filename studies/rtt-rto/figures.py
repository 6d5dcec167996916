"""The paper's figures and tables again, with what it prints on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import MUTED, PUBLISHED, Look, Picture, canvas, curve, halves, legend_above, picture
from perhop_studies.rtt_rto import domains, kin, tables
from perhop_studies.rtt_rto.terms import (
    BASIC,
    COLOURS,
    FEW,
    LABELS,
    MANY,
    PAIR,
    RTO,
    RTTS,
    STANDARD,
    STANDARD_SW,
    SW,
)
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLLOW: dict[str, Any] = {"mfc": "white", "mec": PUBLISHED, "zorder": 5}
PRINTED: dict[str, Any] = {"linestyle": "", "marker": "D", "markersize": 6, **HOLLOW}
LEVEL: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}
PRINTED_FIG4 = {"F1": 2.3, "F2": 7.52}
"""Mb/s at 100 ms under the basic conditioner."""
POINTS = {"F1": ("o", "-"), "F2": ("s", "--")}
DOMAIN_COLOURS = {"F1": "#0072b2", "F2": "#56a5d8", "F3": "#c2410c", "F4": "#12633b", "F5": "#c08a00"}


def _trips(axes: Axes, runs: Samples, markers: Sequence[str], rtts: Sequence[int] = RTTS) -> None:
    """Both aggregates over the round trip of F2: one colour a conditioner."""
    for marker in markers:
        for flow, (point, line) in POINTS.items():
            style = Look(f"{LABELS[marker]}, {flow}", COLOURS[marker], point, line)
            curve(axes, style, rtts, [runs.mean(flow, marker=marker, rtt=rtt) for rtt in rtts])
    axes.set_xlabel("round trip of F2, ms")
    axes.set_ylim(bottom=0)


def _fig3(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(4, (13.6, 3.6))
    both = (STANDARD, STANDARD_SW)
    for axes, n in zip(panels, (FEW, MANY), strict=False):
        _trips(axes, runs.at(n=n), both)
        axes.set_title(f"n = {n}: Mb/s")
    for axes, quantity, title in zip(panels[2:], ("total", "drop ratio"), ("total, Mb/s", "drop ratio"), strict=True):
        for marker in both:
            for n, (point, line) in zip((FEW, MANY), POINTS.values(), strict=True):
                found = [runs.mean(quantity, marker=marker, n=n, rtt=rtt) for rtt in RTTS]
                curve(axes, Look(f"{LABELS[marker]}, n = {n}", COLOURS[marker], point, line), RTTS, found)
        axes.set_xlabel("round trip of F2, ms")
        axes.set_title(title)
    panels[2].axhline(10, **LEVEL)
    panels[2].legend(loc="lower left", fontsize=7)
    panels[0].legend(fontsize=7)
    caption = (
        "Fig. 3: the standard conditioner without and with protection of small windows; F1 has 20 ms. "
        "Published, without numbers: with SW the total is higher and close to capacity (dashed), F1 is favoured, "
        "drops fall to the right."
    )
    alternative = "With 200 flows the total with SW is 9.8 Mb/s, without 9.2 to 9.6; with 10 flows up to 4 % less."
    return picture(figure, "rtt-fig3", caption, alternative)


def _fig4(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(2, (11.0, 4.2))
    found = runs.of("rtt-fig4")
    for axes, n in zip(panels, (MANY, FEW), strict=True):
        _trips(axes, found.at(n=n), (STANDARD, BASIC, RTO, SW))
        axes.set_title(f"n = {n}: Mb/s")
    panels[0].plot([100, 100], list(PRINTED_FIG4.values()), label="published, basic RTT", **PRINTED)
    for flow, value in PRINTED_FIG4.items():
        where: dict[str, Any] = {"textcoords": "offset points", "color": PUBLISHED, "fontsize": 8}
        panels[0].annotate(f"{flow} {value}", (100, value), xytext=(-6, 6), ha="right", **where)
    _legend(figure, 5)
    caption = (
        "Fig. 4: F1 (20 ms, solid) and F2 (dashed) under four conditioners. Diamonds: the two numbers that the paper "
        "prints, for 200 flows each and the basic conditioner."
    )
    alternative = "With 200 flows basic pins F1 to 2 Mb/s for round trips of F2 above 20 ms; RTT-RTO and RTT-SW do not."
    return picture(figure, "rtt-fig4", caption, alternative)


def _legend(figure: Any, columns: int) -> None:
    """One legend over all panels, in rows."""
    shown: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(list(shown.values()), list(shown), loc="outside upper center", ncols=columns)


def _two(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(2, (10.4, 3.8))
    for axes, n in zip(panels, (MANY, FEW), strict=True):
        _trips(axes, runs.of("rtt-fig4-2dp").at(n=n), (STANDARD, BASIC, RTO), kin.RTTS_2DP)
        axes.set_title(f"n = {n}: Mb/s")
    _legend(figure, 3)
    caption = "Two drop precedences: what would be DP1 stays IN. Published, without numbers: basic is biased as well."
    alternative = "With 200 flows basic leaves F1 less than 2 Mb/s; RTT-RTO is nearer to even."
    return picture(figure, "rtt-fig4-2dp", caption, alternative)


def _under(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(2, (9.6, 3.2))
    for axes, n in zip(panels, (FEW, MANY), strict=True):
        for shift, (flow, hatch) in zip((-0.2, 0.2), zip(PAIR, ("", "//"), strict=True), strict=True):
            values = [runs.mean(flow, marker=marker, n=n, cir=6) for marker in LABELS]
            style: dict[str, Any] = {"color": list(COLOURS.values()), "hatch": hatch, "alpha": 0.85, "ecolor": MUTED}
            places = [i + shift for i in range(len(values))]
            axes.bar(places, [v.mean for v in values], 0.38, yerr=halves(values), capsize=2, edgecolor="white", **style)
        axes.set_xticks(range(len(LABELS)), [label.replace(" ", "\n", 1) for label in LABELS.values()])
        axes.set_title(f"n = {n}: F1 and F2 (hatched), Mb/s")
        axes.grid(visible=False, axis="x")
    caption = "Contracts of 6 Mb/s each on a link of 10. Published, without numbers: round trips do not matter then."
    alternative = "With 10 flows F1 gets about 6 Mb/s and F2 4 under every conditioner."
    return picture(figure, "rtt-under", caption, alternative)


def _fig5(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(2, (10.4, 3.0))
    for axes, marker, found in zip(panels, (BASIC, SW), kin.windows(runs), strict=True):
        axes.step(*kin.trace(found), where="post", color=COLOURS[marker], linewidth=1.0)
        mean, timeouts = found.mean("F1.cwnd").mean, found.mean("F1.timeouts").mean
        axes.axhline(mean, **LEVEL)
        axes.set_title(f"{LABELS[marker]}: all of F1 {mean:.2f}, {timeouts:.0f} time-outs a flow")
        axes.set_ylim(0, 8)
        axes.set_xlabel("s")
    panels[0].set_ylabel("cwnd, segments")
    caption = (
        "Fig. 5: congestion window of one flow of F1, every 0.5 s; dashed: the mean over time and flows. Published, "
        "without numbers: it stays small under basic, and grows with SW."
    )
    alternative = "Windows of one to three segments under both."
    return picture(figure, "rtt-fig5", caption, alternative)


def _fig6(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(4, (13.6, 3.4))
    for axes, marker in zip(panels, (STANDARD, BASIC, RTO, SW), strict=True):
        for flow, colour in DOMAIN_COLOURS.items():
            found = [runs.mean(flow, marker=marker, n=n) for n in domains.COUNTS]
            curve(axes, Look(flow, colour), domains.COUNTS, found)
        axes.set_title(f"{LABELS[marker]}: Mb/s")
        axes.set_xlabel("flows in an aggregate")
        axes.set_ylim(0, 8)
    legend_above(figure)
    caption = (
        "Fig. 6: five aggregates; F1, F2 100 ms, F4 40, F5 16, F3 8. Published, without numbers: under basic F1 and F2 "
        "have most, under RTT-SW F3, under RTT-RTO all nearly the same and F3 a little more."
    )
    alternative = "At 200 flows basic gives F1 and F2 3 Mb/s and F3 1; RTT-SW F3 6; under RTT-RTO all have 2 to 2.7."
    return picture(figure, "rtt-fig6", caption, alternative)


def _extreme(runs: Samples, _: list[Cell]) -> Picture:
    figure, panels = canvas(2, (9.6, 3.2))
    markers = (STANDARD, BASIC, RTO, SW)
    for i, marker in enumerate(markers):
        values = [runs.mean(flow, marker=marker) for flow in domains.FLOWS]
        places = [k + 0.2 * (i - 1.5) for k in range(len(values))]
        style: dict[str, Any] = {"color": COLOURS[marker], "label": LABELS[marker], "alpha": 0.85, "ecolor": MUTED}
        panels[0].bar(places, [v.mean for v in values], 0.19, yerr=halves(values), capsize=2, **style)
        by = stats.interval(domains.by_short(runs.at(marker=marker)))
        panels[1].bar([i], [by.mean], 0.6, yerr=halves([by]), capsize=2, **style)
    panels[0].set_xticks(range(len(domains.FLOWS)), domains.FLOWS)
    panels[0].set_title("Mb/s")
    panels[1].plot([0], [67], label="published", **PRINTED)
    panels[1].set_yscale("log")
    panels[1].set_xticks(range(len(markers)), [LABELS[m] for m in markers])
    panels[1].set_title("F3 / mean(F1, F2)")
    legend_above(figure)
    caption = (
        "Contracts of 10 kb/s, ten flows each. Published: 67 under the standard conditioner, about 1 with RTT-RTO."
    )
    alternative = "Under the standard conditioner F3 has about seven times as much as F1 and F2, under RTT-RTO as much."
    return picture(figure, "rtt-67x", caption, alternative)


def _columns(axes: Axes, runs: Samples, columns: Sequence[str], cells: list[Cell]) -> None:
    """Bars a column, one a conditioner, with what is printed."""
    for i, (row, marker) in enumerate(tables.ROWS.items()):
        values = [runs.mean(column, marker=marker) for column in columns]
        places = [k + 0.2 * (i - 1.5) for k in range(len(columns))]
        style: dict[str, Any] = {"color": COLOURS[marker], "label": LABELS[marker], "alpha": 0.85, "ecolor": MUTED}
        axes.bar(places, [v.mean for v in values], 0.19, yerr=halves(values), capsize=2, **style)
        printed = {cell.column: cell.published for cell in cells if cell.row == row}
        there = [(x, printed[c]) for x, c in zip(places, columns, strict=True) if c in printed]
        if there:
            axes.plot(*zip(*there, strict=True), label="published", **{**PRINTED, "markersize": 4.5})
    axes.set_xticks(range(len(columns)), columns)
    axes.grid(visible=False, axis="x")


def _table1(runs: Samples, cells: list[Cell]) -> Picture:
    figure, panels = canvas(2, (10.4, 3.3))
    _columns(panels[0], runs, (tables.LONG, tables.SHORT, tables.OVERALL), cells)
    _columns(panels[1], runs, (tables.SESSION,), cells)
    panels[0].set_title("delay of a packet, s")
    panels[1].set_title("duration of a session, s")
    legend_above(figure)
    caption = "Table 1: Telnet, 100 sessions in each of five aggregates."
    alternative = "Delays by conditioner and aggregate next to the printed ones."
    return picture(figure, "rtt-table1", caption, alternative)


def _table2(runs: Samples, cells: list[Cell]) -> Picture:
    figure, panels = canvas(3, (12.4, 3.3))
    columns = (tables.FIRST, tables.ALL)
    _columns(panels[0], tables.web(runs), columns, cells)
    _columns(panels[1], tables.web(runs, 100), columns, [])
    _columns(panels[2], runs.of("rtt-table2-fast"), columns, [])
    for axes, title in zip(panels, ("50 sessions", "100 sessions", "50 sessions, 10 Mb/s"), strict=True):
        axes.set_title(f"{title}: s")
    legend_above(figure)
    caption = "Table 2: web, set W1, time to the first packet of an object and to the last, without the slowest 1 %."
    alternative = "Response times by conditioner next to the printed ones."
    return picture(figure, "rtt-table2", caption, alternative)


PICTURES: dict[str, Callable[[Samples, list[Cell]], Picture]] = {
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
    return [PICTURES[study](runs, cells)] if study in PICTURES else []
