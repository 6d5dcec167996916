"""Fig. 5 and 6: classes with weights 1 to 4: who gets how much of the link, and how long packets wait."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from perhop import stats
from perhop_studies import Study
from perhop_studies.criteria import Cell
from perhop_studies.drawing import INK, MUTED, PUBLISHED, Look, Picture, canvas, halves, picture
from perhop_studies.msvb_sio.terms import CLASSES, LOOKS, Division
from perhop_studies.samples import Samples
from perhop_studies.verdict import Value, difference, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

fig5 = Study("msvb-fig5", title="Fig. 5: weighted shares", runs="msvb-fig5")
fig6 = Study("msvb-fig6", title="Fig. 6: share and delay apart", runs="msvb-fig5")
STUDIES = [fig5, fig6]

WEIGHTS = dict(zip(CLASSES, (1, 2, 3, 4, 1, 2, 3, 4, 2, 3), strict=True))
"""Table 2 of the paper."""
ENTITLED = {name: weight / sum(WEIGHTS.values()) for name, weight in WEIGHTS.items()}
"""Each class's part of the link."""
BY_WEIGHT = {weight: [name for name, w in WEIGHTS.items() if w == weight] for weight in (1, 2, 3, 4)}
WRR = Look("WRR", "#12633b", "s", "--")
COMPARED = {"wrr": WRR, **{scheme: LOOKS[scheme] for scheme in ("rio", "sio", "msvb")}}

Rows = list[list[float]]


def division(runs: Samples, scheme: str) -> Division:
    """How a queue divides the link."""
    return Division.of(runs.at(scheme=scheme), ENTITLED)


def _index(scheme: str) -> str:
    return f"jain {COMPARED[scheme].label}"


def normalised(found: Division, weight: int) -> list[float]:
    """What the classes of one weight have by what they are entitled to, their mean."""
    parts = [[x / ENTITLED[name] for x in found.part(name)] for name in BY_WEIGHT[weight]]
    return [stats.mean(row) for row in zip(*parts, strict=True)]


@fig5.measures
def shares_by_weight(runs: Samples) -> Iterator[Value]:
    """WRR and MSVB divide the link by weight, SIO less so, RIO least: it is biased against large targets."""
    jain = {scheme: Value(_index(scheme), division(runs, scheme).jain) for scheme in ("msvb", "wrr", "sio", "rio")}
    yield from (jain["msvb"], jain["wrr"])
    yield from (difference(jain["msvb"], jain["sio"]), difference(jain["sio"], jain["rio"]))
    rio = division(runs, "rio")
    normal = [Value(f"x/phi, weight {weight}", normalised(rio, weight)) for weight in BY_WEIGHT]
    yield from (difference(a, b) for a, b in pairwise(normal))


def waits(runs: Samples, scheme: str, quantity: str) -> Rows:
    """`wait` or `wait_deviation`, ms: a row a replication, a column a class."""
    mine = runs.at(scheme=scheme)
    return [list(row) for row in zip(*(mine.values(f"{name}.{quantity}") for name in CLASSES), strict=True)]


def by_weight(rows: Rows, weight: int) -> list[float]:
    """The mean over the classes of one weight."""
    places = [CLASSES.index(name) for name in BY_WEIGHT[weight]]
    return [stats.mean(row[i] for i in places) for row in rows]


def _spread(rows: Rows) -> list[float]:
    return [max(row) / min(row) for row in rows]


def _falls(name: str, rows: Rows) -> Iterator[Value]:
    found = [Value(f"weight {w}", by_weight(rows, w)) for w in BY_WEIGHT]
    return (difference(a._replace(label=f"{name}, {a.label}"), b) for a, b in pairwise(found))


@fig6.measures
def share_and_delay(runs: Samples) -> Iterator[Value]:
    """In MSVB delay does not depend on weight; in WRR its mean and variance fall as the weight grows."""
    yield Value("mean wait, max/min", _spread(waits(runs, "msvb", "wait")))
    yield Value("sd of wait, max/min", _spread(waits(runs, "msvb", "wait_deviation")))
    mean, deviation = waits(runs, "wrr", "wait"), waits(runs, "wrr", "wait_deviation")
    yield from _falls("mean wait, ms", mean)
    yield from _falls("sd of wait, ms", deviation)
    pairs = zip(by_weight(mean, 1), by_weight(mean, 4), strict=True)
    yield Value("mean wait, weight 1 to weight 4", [a / b for a, b in pairs])


def _bars(axes: Axes, look: Look, found: list[stats.Interval]) -> None:
    style: dict[str, Any] = {"color": look.colour, "ecolor": INK, "capsize": 2, "alpha": 0.85}
    axes.bar(range(1, 11), [f.mean for f in found], 0.72, yerr=halves(found), **style)
    axes.set_xticks(range(1, 11), [f"{i}\n({w})" for i, w in enumerate(WEIGHTS.values(), 1)])
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("class (weight)")


def draw_shares(runs: Samples, _: list[Cell]) -> Picture:
    """Parts of the link by class, each queue in a panel."""
    figure, panels = canvas(4, (11.6, 2.9))
    for axes, (scheme, look) in zip(panels, COMPARED.items(), strict=True):
        found = division(runs, scheme)
        _bars(axes, look, found.intervals())
        for i, part in enumerate(ENTITLED.values(), 1):
            axes.plot([i - 0.45, i + 0.45], [100 * part] * 2, color=PUBLISHED, linewidth=1.4)
        axes.set_title(f"{look.label}: jain {stats.mean(found.jain):.4f}")
        axes.set_ylim(0, 18)
    panels[0].set_ylabel("% of the link")
    caption = "Fig. 5: parts of the link by class, ten classes with weights 1 to 4; lines: what the weights say."
    alternative = "MSVB on the lines; RIO and SIO give small weights too much and large ones too little."
    return picture(figure, "msvb-fig5", caption, alternative)


def _columns(rows: Rows) -> list[float]:
    """Means over the replications, by class."""
    return [stats.mean(column) for column in zip(*rows, strict=True)]


def draw_waits(runs: Samples, _: list[Cell]) -> Picture:
    """Mean wait by class, with the standard deviation of single packets."""
    figure, panels = canvas(2, (9.2, 3.1))
    for axes, scheme in zip(panels, ("wrr", "msvb"), strict=True):
        look = COMPARED[scheme]
        centres, deviations = (_columns(waits(runs, scheme, q)) for q in ("wait", "wait_deviation"))
        _bars(axes, look, [stats.interval([x]) for x in centres])
        style: dict[str, Any] = {"fmt": "none", "ecolor": MUTED, "elinewidth": 1.4, "capsize": 3}
        axes.errorbar(range(1, 11), centres, yerr=deviations, **style)
        spread = number(stats.mean(_spread(waits(runs, scheme, "wait"))))
        axes.set_title(f"{look.label}: largest mean {spread} times the smallest")
        axes.set_ylabel("wait, ms")
        axes.set_ylim(bottom=0)
    caption = "Fig. 6: how long packets wait, by class: mean, and the standard deviation of single packets (whiskers)."
    alternative = "In WRR the wait falls with the weight; in MSVB all classes wait equally long."
    return picture(figure, "msvb-fig6", caption, alternative)


PICTURES = {"msvb-fig5": draw_shares, "msvb-fig6": draw_waits}
