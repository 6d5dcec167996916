"""The paper's figures again, with what it expects or prints on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
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
from perhop_studies.pps import beyond_figures, csfq, diffserv, domains, rtt, shares, worked
from perhop_studies.pps.terms import LOOKS, RECEIVER, SCHEMES, SENDER, SIZES, Rates, Shares, mbit
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOWS = {"A": "#0072b2", "B": "#c2410c", "C": "#12633b"}
GROUPS = {"A": ("#0072b2", "#7fb8d8"), "B": ("#c2410c", "#e0a080")}
"""Colours of a group: sender-based, receiver-based."""
EXPECTED: dict[str, Any] = {"color": PUBLISHED, "linestyle": (0, (5, 3)), "linewidth": 1.1}


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The pictures of one study."""
    by_study: dict[str, Callable[[], list[Picture]]] = {
        "pps-ex1": lambda: [_cases(runs)],
        "pps-fig4": lambda: [_one_hop(runs)],
        "pps-fig6": lambda: [_groups(runs)],
        "pps-fig7": lambda: [_unused(runs)],
        "pps-fig8": lambda: [_over_time("pps-fig8", runs, size) for size in SIZES],
        "pps-fig9": lambda: [_over_time("pps-fig9", runs, size) for size in SIZES],
        "pps-tab1": lambda: [_domains("pps-tab1", runs)],
        "pps-tab2": lambda: [_domains("pps-tab2", runs)],
        "pps-tab3": lambda: [_round_trips(runs, cells)],
        "pps-fig11": lambda: [_far(runs)],
        "pps-tab4": lambda: [_profiles(runs)],
        "pps-fig12": lambda: [_weighted(runs)],
        "pps-bits": lambda: [_widths(runs)],
        "pps-n": lambda: [_exponents(runs)],
    }
    ours = beyond_figures.PICTURES.get(study)
    return ours(runs) if ours else by_study[study]()


def _cases(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.2))
    slots = [(case, flow, rate) for case, rates in worked.EX1.items() for flow, rate in rates.items()]
    names = {"all": "all active", "silent": "B silent", "limited": "B at 0.16"}
    for axes, size in zip(panels, SIZES, strict=True):
        for shift, scheme in zip((-0.2, 0.2), SCHEMES, strict=True):
            at = {"scheme": scheme, "size": size}
            found = [stats.interval(mbit(runs.values(f"{f}.throughput", case=c, **at))) for c, f, _ in slots]
            style: dict[str, Any] = {"color": LOOKS[scheme].colour, "width": 0.38, "label": LOOKS[scheme].label}
            places = [i + shift for i in range(len(slots))]
            axes.bar(places, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, alpha=0.85, **style)
        for i, (_, _, rate) in enumerate(slots):
            axes.plot([i - 0.42, i + 0.42], [rate, rate], **EXPECTED, label="expected" if i == 0 else None)
        axes.set_xticks(range(len(slots)), [flow for _, flow, _ in slots])
        for case, name in names.items():
            places = [i for i, slot in enumerate(slots) if slot[0] == case]
            axes.text(stats.mean(places), 0.8, name, ha="center", fontsize=8.5, color=MUTED)
        axes.set_ylim(0, 0.86)
        axes.grid(visible=False, axis="x")
        axes.set_title(f"Mbit/s, packets of {size} B")
    legend_above(figure)
    caption = "Fig. 1: shares of the bottleneck in three cases; expected 0.5, 0.25, 0.25; 0.75, 0.25; 0.56, 0.16, 0.28."
    return picture(figure, "pps-ex1", caption, "Bars of what A, B and C get in each case, near the expected lines.")


def _points(axes: Axes, look: Look, tickets: Sequence[float], found: list[stats.Interval]) -> None:
    style: dict[str, Any] = {"color": look.colour, "marker": look.point, "label": look.label, "linestyle": ""}
    axes.errorbar(tickets, [f.mean for f in found], yerr=halves(found), capsize=2, elinewidth=0.9, **style)


def _line(axes: Axes, tickets: Sequence[float], rates: Sequence[float], label: str | None = "expected") -> None:
    axes.plot([0, *tickets], [0, *rates], **EXPECTED, label=label)


def _over_tickets(axes: Axes, size: int) -> None:
    axes.set_xlabel("tickets/s issued to the flow")
    axes.set_title(f"Mbit/s, packets of {size} B")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def _one_hop(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.6))
    tickets = [100 * i for i in range(1, 31)]
    for axes, size in zip(panels, SIZES, strict=True):
        for scheme in SCHEMES:
            _points(axes, LOOKS[scheme], tickets, Shares.of(runs.at(scheme=scheme, size=size), shares.FIG4).intervals())
        _line(axes, tickets, list(shares.FIG4.values()))
        _over_tickets(axes, size)
    legend_above(figure)
    caption = "Fig. 4: throughput of 30 flows over one hop by the tickets issued to them; line: in proportion."
    return picture(figure, "pps-fig4", caption, "Throughput rises with tickets along the expected line.")


def _grouped(axes: Axes, runs: Samples, rates: Rates, flows: int) -> None:
    """Both groups in both schemes, and their expected lines."""
    tickets = [100 * i for i in range(1, flows + 1)]
    for group, colours in GROUPS.items():
        mine = {flow: rate for flow, rate in rates.items() if flow.startswith(group)}
        for scheme, colour in zip(SCHEMES, colours, strict=True):
            look = Look(f"{group}, {LOOKS[scheme].label}", colour, LOOKS[scheme].point)
            _points(axes, look, tickets, Shares.of(runs.at(scheme=scheme), mine).intervals())
        _line(axes, tickets, list(mine.values()), "expected" if group == "A" else None)


def _groups(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.6))
    for axes, size in zip(panels, SIZES, strict=True):
        _grouped(axes, runs.at(size=size), shares.FIG6, 10)
        _over_tickets(axes, size)
    legend_above(figure)
    caption = "Fig. 6: two groups over several hops; A_i expects twice what B_i does."
    return picture(figure, "pps-fig6", caption, "Both groups rise with tickets, A's slope is twice B's.")


def _unused(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.6))
    for axes, size in zip(panels, SIZES, strict=True):
        found = runs.at(size=size)
        _grouped(axes, found, shares.FIG7, 5)
        for group, colours in GROUPS.items():
            limited = dict.fromkeys((f for f in shares.LIMITED if f.startswith(group)), 0.03)
            for scheme, colour in zip(SCHEMES, colours, strict=True):
                look = Look(f"{group}, {LOOKS[scheme].label}", colour, LOOKS[scheme].point)
                tickets = [100 * i + (15 if group == "B" else 0) for i in range(6, 11)]
                _points(axes, look, tickets, Shares.of(found.at(scheme=scheme), limited).intervals())
        axes.plot([600, 1000], [0.03, 0.03], **EXPECTED)
        axes.annotate(
            "limited to 0.03", (800, 0.03), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8
        )
        _over_tickets(axes, size)
    legend_above(figure)
    caption = "Fig. 7: flows 6 to 10 of each group send 0.03 Mbit/s, flows 1 to 5 share what is left."
    return picture(
        figure, "pps-fig7", caption, "Flows 1 to 5 rise along the expected lines, flows 6 to 10 lie at 0.03."
    )


def _over_time(study: str, runs: Samples, size: int) -> Picture:
    figure, panels = canvas(2, (8.6, 3.0))
    before, after = worked.FIG8 if study == "pps-fig8" else worked.FIG9
    for axes, scheme in zip(panels, SCHEMES, strict=True):
        found = runs.at(scheme=scheme, size=size)
        for flow, colour in FLOWS.items():
            seconds = [mbit(found.values(f"{flow}@{t}")) for t in range(1, worked.END + 1)]
            times = [t - 0.5 for t in range(1, worked.END + 1)]
            axes.plot(times, [values[0] for values in seconds], color=colour, linewidth=0.7, alpha=0.45)
            axes.plot(times, [stats.mean(values) for values in seconds], color=colour, linewidth=1.5, label=flow)
            for rates, span in ((before, (0, worked.CHANGE)), (after, (worked.CHANGE, worked.END))):
                if flow in rates:
                    axes.plot(span, [rates[flow]] * 2, **EXPECTED)
        axes.plot([], [], **EXPECTED, label="expected")
        axes.set_title(f"Mbit/s, {LOOKS[scheme].label}, {size} B")
        axes.set_xlabel("time, s")
        axes.set_xlim(0, worked.END)
        axes.set_ylim(0, 1.0)
    legend_above(figure)
    what = "A comes at 100 s" if study == "pps-fig8" else "tickets of A and B change at 100 s"
    number = study.removeprefix("pps-fig")
    caption = f"Fig. {number}: {what}, packets of {size} B. Bins of 1 s: mean over the seeds, thin one run."
    alternative = "Rates of A, B and C over time, at new levels soon after 100 s."
    return picture(figure, f"{study}-{size}", caption, alternative)


def _bars(axes: Axes, look: Look, shift: float, found: list[stats.Interval]) -> None:
    style: dict[str, Any] = {"color": look.colour, "width": 0.26, "label": look.label, "alpha": 0.85}
    places = [i + shift for i in range(len(found))]
    axes.bar(places, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, **style)


def _printed(axes: Axes, x: Sequence[float], y: Sequence[float], label: str | None = "published") -> None:
    axes.plot(x, y, linestyle="", marker="D", markersize=5, mfc="white", mec=PUBLISHED, label=label, zorder=5)


def _domains(study: str, runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.1))
    expected = domains.EXPECTED[study]
    for axes, size in zip(panels, SIZES, strict=True):
        for shift, scheme in zip((-0.15, 0.15), SCHEMES, strict=True):
            _bars(axes, LOOKS[scheme], shift, Shares.of(runs.at(scheme=scheme, size=size), expected).intervals())
            label = "published" if shift < 0 else None
            _printed(axes, [i + shift for i in range(4)], list(domains.PUBLISHED[study, scheme].values()), label)
        for i, rate in enumerate(expected.values()):
            axes.plot([i - 0.4, i + 0.4], [rate, rate], **EXPECTED, label="expected" if i == 0 else None)
        axes.set_xticks(range(4), list(expected))
        axes.grid(visible=False, axis="x")
        axes.set_title(f"Mbit/s, packets of {size} B")
    legend_above(figure)
    roman = {"pps-tab1": "I", "pps-tab2": "II"}[study]
    caption = f"Table {roman}: four flows over two bottlenecks, measured (bars), published and expected."
    return picture(figure, study, caption, "Bars of A, B, C and D next to the printed and the expected rates.")


def _round_trips(runs: Samples, cells: list[Cell]) -> Picture:
    figure, panels = canvas(2, (8.6, 3.4))
    printed = {(c.column, c.row): c.published for c in cells}
    reno = Look("Reno over RED", "#5b6b7a", "^", ":")
    for axes, size in zip(panels, SIZES, strict=True):
        for look, scheme in ((SENDER, "sender"), (RECEIVER, "receiver"), (reno, "reno")):
            found = rtt.ten(runs, "b", scheme, size).intervals()
            curve(axes, look, rtt.ROUND_TRIPS["b"], found)
        for column, shape in (("b sender", "D"), ("b Reno", "^")):
            rates = [printed[column, f"flow {i}"] for i in range(1, 11)]
            name = "PPS" if column == "b sender" else "Reno"
            style: dict[str, Any] = {"linestyle": "", "mfc": "white", "mec": PUBLISHED, "label": f"published, {name}"}
            axes.plot(rtt.ROUND_TRIPS["b"], rates, marker=shape, zorder=5, **style)
        axes.axhline(0.11, **EXPECTED, label="expected")
        axes.set_xlabel("round-trip time, ms")
        axes.set_ylim(0, 0.25)
        axes.set_title(f"case b: Mbit/s, packets of {size} B")
    legend_above(figure)
    caption = "Table III, case b: ten flows with equal tickets and round-trip times of 30 to 300 ms."
    return picture(figure, "pps-tab3", caption, "Reno's rates fall steeply with the round-trip time, PPS's gently.")


def _far(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.4))
    tickets = [100 * i for i in range(1, 11)]
    for axes, size in zip(panels, SIZES, strict=True):
        for case, point in (("X", "o"), ("Y", "s")):
            for scheme in SCHEMES:
                look = Look(
                    f"{case}, {LOOKS[scheme].label}", {"X": "#0072b2", "Y": "#c2410c"}[case], point, LOOKS[scheme].line
                )
                curve(
                    axes, look, tickets, Shares.of(runs.at(case=case, scheme=scheme, size=size), rtt.FIG11).intervals()
                )
        _line(axes, tickets, list(rtt.FIG11.values()))
        _over_tickets(axes, size)
    legend_above(figure)
    caption = "Fig. 11: one flow at 260 ms, the others at 26 ms: flow 1 in X, flow 10 in Y."
    return picture(figure, "pps-fig11", caption, "Flow 10 falls well below the line in Y, flow 1 stays near it in X.")


def _profiles(runs: Samples) -> Picture:
    figure, panels = canvas(3, (9.6, 3.1))
    titles = {
        "below": "profiles 0.15, 0.10, 0.05",
        "matched": "profiles 0.6, 0.4, 0.2",
        "above": "profiles 1.2, 0.8, 0.4",
    }
    looks = (Look("DiffServ", "#8a5a00"), SENDER, RECEIVER)
    size = 1000
    for axes, (profile, title) in zip(panels, titles.items(), strict=True):
        rows = [diffserv.diffserv(runs, profile, size), *(diffserv.pps(runs, scheme=s, size=size) for s in SCHEMES)]
        for look, shift, shares_of in zip(looks, (-0.28, 0.0, 0.28), rows, strict=True):
            _bars(axes, look, shift, shares_of.intervals())
        if profile in diffserv.PUBLISHED:
            _printed(axes, [i - 0.28 for i in range(3)], list(diffserv.PUBLISHED[profile].values()))
        for i, rate in enumerate(diffserv.PROPORTIONAL.values()):
            axes.plot([i - 0.42, i + 0.42], [rate, rate], **EXPECTED, label="in proportion" if i == 0 else None)
        axes.set_xticks(range(3), list(diffserv.PROPORTIONAL))
        axes.set_ylim(0, 0.7)
        axes.grid(visible=False, axis="x")
        axes.set_title(title)
    legend_above(figure)
    caption = "Table IV: DiffServ with profiles below, at and above the link of 1.2 Mbit/s, and PPS; 1000 B, Mbit/s."
    return picture(figure, "pps-tab4", caption, "DiffServ is in proportion only where profiles match; PPS always.")


def _weighted(runs: Samples) -> Picture:
    figure, panels = canvas(2, (8.6, 3.6))
    weights = list(range(1, 31))
    udp = Look("CSFQ, UDP", "#12633b", "^")
    tcp = Look("CSFQ, TCP", "#7c3aed", "s")
    for axes, size in zip(panels, SIZES, strict=True):
        _points(axes, udp, weights, csfq.weighted(runs, "udp", size).intervals())
        _points(axes, tcp, weights, csfq.weighted(runs, "tcp", size).intervals())
        pps = Look("PPS, sender-based", SENDER.colour, SENDER.point)
        _points(axes, pps, weights, csfq.pps(runs, scheme="sender", size=size).intervals())
        _line(axes, weights, list(shares.FIG4.values()))
        axes.set_xlabel("weight, or tickets/s by 100")
        axes.set_title(f"Mbit/s, packets of {size} B")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    legend_above(figure)
    caption = "Fig. 12: weighted CSFQ on the set-up of Fig. 4, with TCP and with UDP sources, and PPS."
    return picture(figure, "pps-fig12", caption, "UDP under CSFQ lies on the line; TCP under CSFQ scatters around it.")


def _widths(runs: Samples) -> Picture:
    figure, panels = canvas(3, (9.6, 3.2))
    places = list(range(len(shares.WIDTHS)))
    for axes, setup in zip(panels, shares.SETUPS, strict=False):
        for size, line in zip(SIZES, ("-", ":"), strict=True):
            for scheme in SCHEMES:
                found = [
                    stats.interval(shares.jain_at_width(runs, setup, w, scheme=scheme, size=size))
                    for w in shares.WIDTHS
                ]
                curve(axes, _look(scheme, size, line), places, found)
        axes.set_xticks(places, [str(w) for w in shares.WIDTHS])
        axes.set_xlabel("bits of a tag")
        axes.set_title(f"jain(y), set-up of Fig. {setup.removeprefix('pps-fig')}")
    for size, line in zip(SIZES, ("-", ":"), strict=True):
        for scheme in SCHEMES:
            found = [stats.interval(shares.jain_of_chain(runs, h, scheme=scheme, size=size)) for h in shares.HOPS]
            curve(panels[2], _look(scheme, size, line), shares.HOPS, found)
    panels[2].set_xlabel("hops with an exchange rate of 1")
    panels[2].set_xticks(shares.HOPS)
    panels[2].set_title("jain(y), chain, 8 bits")
    legend_above(figure)
    caption = "Section III-J: how closely shares are in proportion, by the width of a tag and by the number of hops."
    return picture(figure, "pps-bits", caption, "jain(y) rises up to 8 bits and is flat beyond, and flat over hops.")


def _look(scheme: str, size: int, line: str) -> Look:
    base = LOOKS[scheme]
    return Look(f"{base.label}, {size} B", base.colour, base.point, line)


def _exponents(runs: Samples) -> Picture:
    figure, panels = canvas(3, (9.6, 3.2))
    looks = {
        ("pps-fig4", 1000): Look("Fig. 4, 1000 B", "#0072b2", "o"),
        ("pps-fig4", 500): Look("Fig. 4, 500 B", "#0072b2", "o", ":"),
        ("pps-fig6", 1000): Look("Fig. 6, 1000 B", REFERENCE, "s"),
        ("pps-fig6", 500): Look("Fig. 6, 500 B", REFERENCE, "s", ":"),
    }
    for (setup, size), look in looks.items():
        link = shares.LINKS[setup]
        found = {n: shares.at_exponent(runs, setup, n, size=size) for n in shares.EXPONENTS}
        jain = [stats.interval(Shares.of(s, shares.SETUPS[setup]).jain) for s in found.values()]
        drops = [stats.interval([100 * v for v in s.values(f"{link}.drops")]) for s in found.values()]
        spread = [s.mean(f"{link}.queue_deviation") for s in found.values()]
        for axes, values in zip(panels, (jain, drops, spread), strict=True):
            curve(axes, look, shares.EXPONENTS, values)
    titles = ("jain(y)", "packets dropped, %", "deviation of AvgQLen, packets")
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title)
        axes.set_xlabel("exponent n of TRED")
        axes.set_xticks(shares.EXPONENTS)
        axes.axvline(shares.PUBLISHED_EXPONENT, **EXPECTED)
    legend_above(figure)
    caption = "Section II-C: TRED's exponent, sender-based; dashed: the authors' choice, 3."
    return picture(figure, "pps-n", caption, "jain(y) is lowest at n = 1; drops rise with n.")
