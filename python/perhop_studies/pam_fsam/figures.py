"""The paper's figures again, with what it published on them where its text has numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from perhop import stats
from perhop_studies.criteria import Cell
from perhop_studies.drawing import (
    MUTED,
    Picture,
    canvas,
    curve,
    legend_above,
    picture,
    published_band,
    published_line,
)
from perhop_studies.pam_fsam import figures_tokens
from perhop_studies.pam_fsam.ns2 import FIG4, FIG7_TCP, FIG8_UDP
from perhop_studies.pam_fsam.rogue import RATES
from perhop_studies.pam_fsam.terms import EVERY_N, FEW, LOOKS, MARKERS, ceiling, gain
from perhop_studies.samples import Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(study: str, runs: Samples, cells: list[Cell]) -> list[Picture]:
    """The pictures of one study."""
    if study in ("pf-fig2", "pf-fig3"):
        return figures_tokens.draw(study, runs, cells)
    by_study: dict[str, Callable[[Samples], Picture]] = {
        "pf-fig4": _alone,
        "pf-fig5": _beside_mice,
        "pf-fig6": _mice,
        "pf-fig7": _protected,
        "pf-fig8": _rogue,
        "pf-fig9": _jain,
        "pf-udp": _growing,
    }
    return [by_study[study](runs)] if study in by_study else []


def _levels(axes: Axes, title: str, runs: Samples, quantity: str, scale: float = 1e3) -> None:
    """One curve a marker over n."""
    for marker in MARKERS:
        found = [stats.interval([v / scale for v in runs.values(quantity, marker=marker, n=n)]) for n in EVERY_N]
        curve(axes, LOOKS[marker], EVERY_N, found)
    axes.set_title(title, fontsize=8.5)
    axes.set_xlabel("bulk TCP flows, n")
    axes.set_xticks(EVERY_N)
    axes.set_ylim(bottom=0)


def _gains(axes: Axes, title: str, runs: Samples, points: list[dict[str, int]], over: str) -> None:
    """What TCP gains over the token bucket at these points, with the ceiling."""
    x = [at[over] for at in points]
    for marker in MARKERS[1:]:
        curve(axes, LOOKS[marker], x, [stats.interval([100 * g for g in gain(runs, marker, **at)]) for at in points])
    tops = [100 * ceiling(runs, **at) for at in points]
    axes.plot(x, tops, color=MUTED, linestyle=":", label="1/utilisation - 1")
    axes.axhline(0, color="#334155", linewidth=0.9)
    axes.set_title(title, fontsize=8.5)
    axes.set_xlabel("bulk TCP flows, n" if over == "n" else "UDP rate, Mbit/s")
    axes.set_xticks(x)


def _ns2(axes: Axes, points: dict[str, dict[int, float]]) -> None:
    """What ns-2 2.35 gave on its own reading of the set-up."""
    for marker, values in points.items():
        label = "ns-2 2.35" if marker == MARKERS[0] else ""
        axes.plot([*values], [*values.values()], "x", markersize=6, color=LOOKS[marker].colour, label=label)


def _bulk(study: str, title: str, runs: Samples) -> Picture:
    figure, (left, middle, right) = canvas(3, (9.2, 3.2))
    _levels(left, "mean per flow, kbit/s", runs, "bulk.goodput")
    _levels(middle, "deviation over flows, kbit/s", runs, "bulk.std")
    _gains(right, "gain over TB, %", runs, [{"n": n} for n in EVERY_N], "n")
    if study == "pf-fig4":
        _ns2(left, FIG4)
        published_line(right, 10, "published F-SAM, ~10 %")
        published_band(right, (2, 5), "published PAM, 2-5 %")
    legend_above(figure)
    number = study.removeprefix("pf-fig")
    caption = f"Fig. {number}: {title}. Goodput, spread and gain over the token bucket (95 % intervals)."
    return picture(figure, study, caption, "Curves over n: means nearly equal for all; F-SAM's deviation is lowest.")


def _alone(runs: Samples) -> Picture:
    return _bulk("pf-fig4", "n bulk TCP flows", runs)


def _beside_mice(runs: Samples) -> Picture:
    return _bulk("pf-fig5", "bulk TCP and short transfers", runs.at(loop="open"))


def _mice(runs: Samples) -> Picture:
    figure, axes = canvas(3, (9.2, 3.2))
    for panel, loop in zip(axes, ("open", "closed"), strict=False):
        _levels(panel, f"goodput of a transfer, {loop} loop, kbit/s", runs.at(loop=loop), "mice.transfer")
    _levels(axes[2], "all transfers, closed loop, kbit/s", runs.at(loop="closed"), "mice.total")
    legend_above(figure)
    caption = "Fig. 6: transfers of 20 kB. Published as a plot only: F-SAM best by far, nearly constant; TB above PAM."
    return picture(figure, "pf-fig6", caption, "Goodput of a transfer falls with n for every marker.")


def _protected(runs: Samples) -> Picture:
    runs = runs.at(arrivals="jittered")
    figure, (left, right) = canvas(2)
    _levels(left, "mean TCP goodput, kbit/s", runs, "bulk.goodput")
    _ns2(left, FIG7_TCP)
    _gains(right, "gain over TB, %", runs, [{"n": n} for n in EVERY_N], "n")
    published_line(right, 50, "published F-SAM, ~50 %")
    published_line(right, 30, "published PAM, ~30 %")
    legend_above(figure)
    caption = "Fig. 7: n bulk TCP flows against a jittered UDP flow of 1 Mbit/s; crosses are ns-2's TB and TSW2CM."
    alternative = "Mean TCP goodput is nearly the same with all markers, far from the published gains."
    return picture(figure, "pf-fig7", caption, alternative)


def _rogue(runs: Samples) -> Picture:
    figure, axes = canvas(2)
    for panel, model in zip(axes, ("jittered", "strict"), strict=True):
        _levels(panel, f"UDP goodput, {model} CBR, kbit/s", runs.at(arrivals=model), "rogue.goodput")
        panel.set_ylim(bottom=500)
    _ns2(axes[0], FIG8_UDP)
    legend_above(figure)
    caption = "Fig. 8: what the UDP flow gets. Published as a plot only: F-SAM lowest, PAM below TB; crosses are ns-2."
    return picture(figure, "pf-fig8", caption, "UDP goodput falls with n; F-SAM's curve is lowest.")


def _jain(runs: Samples) -> Picture:
    figure, axes = canvas(2)
    for panel, model in zip(axes, ("jittered", "strict"), strict=True):
        _levels(panel, f"Jain's index over TCP and UDP, {model} CBR", runs.at(arrivals=model), "jain", 1.0)
        panel.set_ylim(0.4, 1.0)
    legend_above(figure)
    caption = "Fig. 9: fairness over all flows. Published as a plot only: F-SAM above all, PAM above TB."
    return picture(figure, "pf-fig9", caption, "Jain's index falls with n; F-SAM's curve is highest.")


def _growing(runs: Samples) -> Picture:
    runs = runs.at(arrivals="jittered")
    figure, axes = canvas(3, (9.2, 3.2))
    for panel, n in zip(axes, FEW, strict=False):
        _gains(panel, f"TCP gain over TB, n = {n}, %", runs, [{"n": n, "rate": r} for r in RATES], "rate")
    for marker in MARKERS:
        curve(axes[2], LOOKS[marker], RATES, [runs.mean("jain", marker=marker, n=10, rate=r) for r in RATES])
    axes[2].set_title("Jain's index, n = 10", fontsize=8.5)
    axes[2].set_xlabel("UDP rate, Mbit/s")
    axes[2].set_xticks(RATES)
    legend_above(figure)
    caption = "Section VI, end: the UDP flow grows from 1 to 5 Mbit/s. Published without figures: the gain persists."
    return picture(figure, "pf-udp", caption, "F-SAM's gain over the token bucket grows with the UDP rate.")
