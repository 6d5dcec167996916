"""The paper's figures again, with what it published on them where its text has numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import (
    MUTED,
    PUBLISHED,
    REFERENCE,
    Picture,
    canvas,
    curve,
    halves,
    legend_above,
    picture,
    published_band,
    published_line,
)
from perhop_studies.pam_fsam.ns2 import FIG2_JITTERED, FIG2_STRICT, FIG4, FIG7_TCP, FIG8_UDP
from perhop_studies.pam_fsam.rogue import RATES
from perhop_studies.pam_fsam.terms import EVERY_N, FEW, FSAM, LOOKS, MARKERS, NAMES, PAM, TB, ceiling, gain
from perhop_studies.pam_fsam.tokens import FLOWS, ROWS, Marks
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    "tcp1": "TCP 1",
    "tcp2": "TCP 2",
    "udp": "UDP 2 Mbit/s",
    "udp1": "UDP 1 Mbit/s",
    "udp2": "UDP 4 Mbit/s",
    "udp3": "UDP 2 Mbit/s",
}


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The pictures of one study."""
    by_study: dict[str, Callable[[], list[Picture]]] = {
        "pf-fig2": lambda: _tokens(study, runs, cells),
        "pf-fig3": lambda: _tokens(study, runs, cells),
        "pf-fig4": lambda: [_bulk("pf-fig4", "n bulk TCP flows", runs, 0.10)],
        "pf-fig5": lambda: [_bulk("pf-fig5", "bulk TCP and short transfers", _loop(runs, "open"), None)],
        "pf-fig6": lambda: [_mice(runs)],
        "pf-fig7": lambda: [_protected(runs.at(arrivals="jittered"))],
        "pf-fig8": lambda: [_rogue(runs)],
        "pf-fig9": lambda: [_jain(runs)],
        "pf-udp": lambda: [_growing(runs.at(arrivals="jittered"))],
    }
    return by_study[study]()


def _loop(runs: Samples, loop: str) -> Samples:
    return runs.at(loop=loop)


def _tokens(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    return [_shares(study, runs, cells), _phases(study, runs)]


def _shares(study: str, runs: Samples, cells: list[Cell]) -> Picture:
    """Share of all IN packets, flow by flow, and the IN fraction of each flow."""
    arrivals = next(c.at["arrivals"] for c in cells)
    figure, (left, right) = canvas(2)
    for i, marker in enumerate((TB, PAM, FSAM)):
        marks = Marks(runs, arrivals, marker)
        printed = _printed(cells, marker)
        x = [j + 0.27 * (i - 1) for j in range(len(marks.flows))]
        shares = [[n / sum(row) for n in row] for row in marks.ins]
        totals = sum(p[0] for p in printed)
        for axes, rows, dots in (
            (left, shares, [p[0] / totals for p in printed]),
            (right, marks.f, [p[0] / sum(p) for p in printed]),
        ):
            found = [stats.interval(column) for column in zip(*rows, strict=True)]
            bars: dict[str, Any] = {"color": LOOKS[marker].colour, "width": 0.24, "label": NAMES[marker], "alpha": 0.85}
            axes.bar(x, [f.mean for f in found], yerr=halves(found), capsize=2, ecolor=MUTED, **bars)
            label = "published" if i == 0 else None
            axes.plot(x, dots, linestyle="", marker="D", markersize=5.5, mfc="white", mec=PUBLISHED, label=label)
    for axes, title in ((left, "share of all IN packets"), (right, "IN packets / packets of the flow (f)")):
        axes.set_xticks(range(3), [TITLES[f] for f in FLOWS[study]])
        axes.set_title(title)
        axes.grid(visible=False, axis="x")
        axes.set_ylim(bottom=0)
    legend_above(figure)
    number = study.removeprefix("pf-fig")
    return picture(
        figure,
        f"{study}-shares",
        f"Fig. {number}: who gets the tokens ({arrivals} arrivals; bars with 95 % intervals, diamonds as published).",
        "Bars: the token bucket gives one flow nearly all tokens, PAM by rate, F-SAM equally to all.",
    )


def _printed(cells: list[Cell], marker: str) -> list[tuple[float, float]]:
    values = [c.published for c in cells if ROWS[c.row] == marker]
    return list(zip(values[::2], values[1::2], strict=True))


def _phases(study: str, runs: Samples) -> Picture:
    """The token bucket over phases and arrival models."""
    figure, [axes] = canvas(1, (7.6, 2.3))
    models = ("strict", "jittered", "poisson")
    for y, model in enumerate(models):
        values = Marks(runs, model, TB).udp_share if study == "pf-fig2" else _largest_share(Marks(runs, model, TB))
        spread = [y + 0.28 * ((i * 0.618) % 1 - 0.5) for i in range(len(values))]
        axes.plot(values, spread, linestyle="", marker="o", markersize=4, alpha=0.55, color=LOOKS[TB].colour)
    if study == "pf-fig2":
        axes.axvline(2423 / 2566, color=PUBLISHED, linestyle=(0, (5, 3)), label="published")
        for y, shares in enumerate((FIG2_STRICT, FIG2_JITTERED)):
            label = "ns-2 2.35 (CBS 12.5 kB)" if y == 0 else None
            axes.plot(shares, [y] * len(shares), linestyle="", marker="|", markersize=16, color=REFERENCE, label=label)
    else:
        axes.axvline(805 / 1205, color=PUBLISHED, linestyle=(0, (5, 3)), label="published (one draw)")
    axes.set_yticks(range(3), [f"{m} arrivals" for m in models])
    axes.set_ylim(2.5, -0.5)
    axes.set_xlim(0, 1.02)
    what = "UDP's share of IN packets" if study == "pf-fig2" else "largest flow's share of IN packets"
    axes.set_title(f"token bucket: {what}, one dot a run")
    axes.legend(loc="lower left")
    number = study.removeprefix("pf-fig")
    caption = f"Fig. {number}, token bucket: strictly periodic sources lock in phase with the tokens; jitter undoes it."
    return picture(
        figure, f"{study}-phases", caption, "Dots of single runs by arrival model; strict runs spread far more."
    )


def _largest_share(marks: Marks) -> list[float]:
    return [max(row) / sum(row) for row in marks.ins]


def _levels(axes: Axes, runs: Samples, quantity: str, scale: float = 1e3) -> None:
    """One curve a marker over n."""
    for marker in MARKERS:
        found = [stats.interval([v / scale for v in runs.values(quantity, marker=marker, n=n)]) for n in EVERY_N]
        curve(axes, LOOKS[marker], EVERY_N, found)
    axes.set_xlabel("bulk TCP flows, n")
    axes.set_xticks(EVERY_N)
    axes.set_ylim(bottom=0)


def _gains(axes: Axes, runs: Samples) -> None:
    """G by n with the ceiling."""
    for marker in MARKERS[1:]:
        found = [stats.interval([100 * g for g in gain(runs, marker, n=n)]) for n in EVERY_N]
        curve(axes, LOOKS[marker], EVERY_N, found)
    tops = [100 * ceiling(runs, n=n) for n in EVERY_N]
    axes.plot(EVERY_N, tops, color=MUTED, linestyle=":", label="1/utilisation - 1")
    axes.axhline(0, color="#334155", linewidth=0.9)
    axes.set_xlabel("bulk TCP flows, n")
    axes.set_xticks(EVERY_N)


def _ns2(axes: Axes, points: dict[str, dict[int, float]]) -> None:
    """What ns-2 2.35 gave on its own reading of the set-up."""
    for i, (marker, values) in enumerate(points.items()):
        label = "ns-2 2.35" if i == 0 else None
        shape: dict[str, Any] = {
            "marker": "x",
            "markersize": 6,
            "linestyle": "",
            "color": LOOKS[marker].colour,
            "label": label,
        }
        axes.plot(list(values), list(values.values()), **shape)


def _bulk(study: str, title: str, runs: Samples, published: float | None) -> Picture:
    figure, (left, middle, right) = canvas(3, (9.2, 3.2))
    _levels(left, runs, "bulk.goodput")
    left.set_title("mean per flow, kbit/s")
    if study == "pf-fig4":
        _ns2(left, FIG4)
    _levels(middle, runs, "bulk.std")
    middle.set_title("deviation over flows, kbit/s")
    _gains(right, runs)
    right.set_title("gain over TB, %")
    if published is not None:
        published_line(right, 100 * published, "published F-SAM, ~10 %")
        published_band(right, (2, 5), "published PAM, 2-5 %")
    legend_above(figure)
    number = study.removeprefix("pf-fig")
    caption = f"Fig. {number}: {title}. Goodput, spread and gain over the token bucket (95 % intervals)."
    return picture(
        figure, study, caption, "Curves over n: means nearly equal for all markers; F-SAM's deviation is lowest."
    )


def _mice(runs: Samples) -> Picture:
    figure, axes = canvas(3, (9.2, 3.2))
    for panel, loop in zip(axes, ("open", "closed"), strict=False):
        _levels(panel, _loop(runs, loop), "mice.transfer")
        panel.set_title(f"goodput of a transfer, {loop} loop, kbit/s")
        panel.title.set_fontsize(8.5)
    _levels(axes[2], _loop(runs, "closed"), "mice.total")
    axes[2].set_title("all transfers, closed loop, kbit/s")
    axes[2].title.set_fontsize(8.5)
    legend_above(figure)
    caption = (
        "Fig. 6: short transfers of 20 kB. Published as a plot only: F-SAM best by far, nearly constant; TB above PAM."
    )
    return picture(figure, "pf-fig6", caption, "Goodput of a transfer falls with n for every marker.")


def _protected(runs: Samples) -> Picture:
    figure, (left, right) = canvas(2)
    _levels(left, runs, "bulk.goodput")
    _ns2(left, FIG7_TCP)
    left.set_title("mean TCP goodput, kbit/s")
    _gains(right, runs)
    published_line(right, 50, "published F-SAM, ~50 %")
    published_line(right, 30, "published PAM, ~30 %")
    right.set_title("gain over TB, %")
    legend_above(figure)
    caption = "Fig. 7: n bulk TCP flows against a jittered UDP flow of 1 Mbit/s; crosses are ns-2's TB and TSW2CM."
    return picture(
        figure,
        "pf-fig7",
        caption,
        "Mean TCP goodput is nearly the same with all markers, far from the published gains.",
    )


def _rogue(runs: Samples) -> Picture:
    figure, axes = canvas(2)
    for panel, model in zip(axes, ("jittered", "strict"), strict=True):
        _levels(panel, runs.at(arrivals=model), "rogue.goodput")
        panel.set_title(f"UDP goodput, {model} CBR, kbit/s")
        panel.set_ylim(bottom=500)
    _ns2(axes[0], FIG8_UDP)
    legend_above(figure)
    caption = "Fig. 8: what the UDP flow gets. Published as a plot only: F-SAM lowest, PAM below TB; crosses are ns-2."
    return picture(figure, "pf-fig8", caption, "UDP goodput falls with n; F-SAM's curve is lowest.")


def _jain(runs: Samples) -> Picture:
    figure, axes = canvas(2)
    for panel, model in zip(axes, ("jittered", "strict"), strict=True):
        _levels(panel, runs.at(arrivals=model), "jain", 1.0)
        panel.set_title(f"Jain's index over TCP and UDP, {model} CBR")
        panel.set_ylim(0.4, 1.0)
    legend_above(figure)
    caption = "Fig. 9: fairness over all flows. Published as a plot only: F-SAM above all, PAM above TB."
    return picture(figure, "pf-fig9", caption, "Jain's index falls with n; F-SAM's curve is highest.")


def _growing(runs: Samples) -> Picture:
    figure, axes = canvas(3, (9.2, 3.2))
    for panel, n in zip(axes, FEW, strict=False):
        for marker in MARKERS[1:]:
            found = [stats.interval([100 * g for g in gain(runs, marker, n=n, rate=r)]) for r in RATES]
            curve(panel, LOOKS[marker], RATES, found)
        tops = [100 * ceiling(runs, n=n, rate=r) for r in RATES]
        panel.plot(RATES, tops, color=MUTED, linestyle=":", label="1/utilisation - 1")
        panel.axhline(0, color="#334155", linewidth=0.9)
        panel.set_title(f"TCP gain over TB, n = {n}, %")
    for marker in MARKERS:
        found = [runs.mean("jain", marker=marker, n=10, rate=r) for r in RATES]
        curve(axes[2], LOOKS[marker], RATES, found)
    axes[2].set_title("Jain's index, n = 10")
    _rates(axes)
    legend_above(figure)
    caption = "Section VI, end: the UDP flow grows from 1 to 5 Mbit/s. Published without figures: the gain persists."
    return picture(figure, "pf-udp", caption, "F-SAM's gain over the token bucket grows with the UDP rate.")


def _rates(axes: Sequence[Axes]) -> None:
    for panel in axes:
        panel.set_xlabel("UDP rate, Mbit/s")
        panel.set_xticks(RATES)
