"""A heat map for each question: markers and queues down, scenarios and transports across, the mean in each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perhop_studies.criteria import Cell
from perhop_studies.drawing import Picture, canvas, picture
from perhop_studies.samples import Samples
from perhop_studies.today.answers import ANSWERS, SCENARIOS
from perhop_studies.today.contracts import NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUEUES, MARKERS, STACKS = (NAMES[axis] for axis in ("queue", "marker", "stack"))
COLOURS = ("rio", "wred", "sio")
"""Queues that read them."""


@dataclass(frozen=True)
class Question:
    """What one heat map shows."""

    id: str
    quantity: str
    caption: str
    poor: float
    good: float
    """Values of the worst shade and of the best."""
    form: str
    log: bool = False
    """Whether shades are even in the value's logarithm."""

    def shade(self, value: float) -> float:
        """From 0, poor, to 1, good; beyond its ends as at them."""
        scale: Callable[[float], float] = (lambda x: math.log(max(x, 1e-9))) if self.log else float
        part = (scale(value) - scale(self.poor)) / (scale(self.good) - scale(self.poor))
        return min(1.0, max(0.0, part))


QUESTIONS = [Question(**one) for one in NAMES["question"]]

POOR, MIDDLE, GOOD = (0xC8, 0x5A, 0x3C), (0xF3, 0xE3, 0xC3), (0x2F, 0x7F, 0x8F)
"""Readable for the colour-blind, and darker on both ends than in the middle."""
DARK, LIGHT = (0x1C, 0x27, 0x34), (0xFD, 0xFD, 0xFD)
"""Of the text: cells keep their shades on a dark page, so it keeps its colour too."""
EMPTY = (0xF6, 0xF7, 0xF8)
LIGHT_FROM = 0.6
"""Distance from the middle, from 0 to 1, from which the text is light."""


def draw(study: str, runs: Samples, _: list[Cell]) -> list[Picture]:
    """The heat maps, all of them with the answers."""
    return [_heat(question, runs) for question in QUESTIONS] if study == ANSWERS.id else []


def rows(runs: Samples) -> list[tuple[str, str]]:
    """Queue and marker of each row: the pairs that were run."""
    run = {(sample.at["queue"], sample.at["marker"]) for sample in runs.all}
    return [(queue, marker) for queue in QUEUES for marker in MARKERS if (queue, marker) in run]


def name(queue: str, marker: str) -> str:
    """How a row is called."""
    if MARKERS[marker]:
        return f"{MARKERS[marker]}, {QUEUES[queue]}"
    return f"{QUEUES[queue]} alone" if queue in COLOURS else QUEUES[queue]


def _heat(question: Question, runs: Samples) -> Picture:
    shown = {
        title: one for set_, title in SCENARIOS.items() if question.quantity in (one := runs.of(set_)).all[0].values
    }
    pairs = rows(runs)
    stacks = [stack for stack in STACKS if stack in runs.grid()["stack"]]
    figure, panels = canvas(len(shown), (2.2 + 0.4 * len(stacks) * len(shown) + 0.1, 1.5 + 0.2 * len(pairs)))
    for axes, (title, one) in zip(panels, shown.items(), strict=True):
        _panel(axes, question, one, pairs, stacks)
        axes.set_title(_wrapped(title), fontsize=8)
    panels[0].set_yticks([i + 0.5 for i in range(len(pairs))], [name(*pair) for pair in pairs], fontsize=7.5)
    said = f"A table of numbers with shades, {len(pairs)} pairs of queue and marker by {len(shown)} scenarios."
    return picture(figure, question.id, question.caption, f"{question.caption} {said}")


def _wrapped(title: str) -> str:
    head, colon, rest = title.partition(": ")
    if colon:
        return f"{head}:\n{rest}"
    words = title.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]) + "\n" + " ".join(words[half:])


def _panel(axes: Axes, question: Question, runs: Samples, pairs: list[tuple[str, str]], stacks: list[str]) -> None:
    from matplotlib.patches import Rectangle

    for i, (queue, marker) in enumerate(pairs):
        for j, stack in enumerate(stacks):
            value = _value(runs, question.quantity, queue=queue, marker=marker, stack=stack)
            shade = None if value is None else question.shade(value)
            colour, ink = _colours(shade)
            axes.add_patch(Rectangle((j, i), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.6))
            text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.3, "color": ink}
            axes.text(j + 0.5, i + 0.53, "" if value is None else _figure(question.form, value), **text)
    axes.set_xlim(0, len(stacks))
    axes.set_ylim(len(pairs), 0)
    axes.set_xticks([j + 0.5 for j in range(len(stacks))], [STACKS[s] for s in stacks], fontsize=6.5, rotation=60)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for i in range(1, len(pairs)):
        if pairs[i][0] != pairs[i - 1][0]:
            axes.axhline(i, color="#444444", linewidth=0.8)


def _value(runs: Samples, quantity: str, **at: str) -> float | None:
    """None where it was not run, or where nothing arrived."""
    try:
        mean = runs.mean(quantity, **at).mean
    except LookupError:
        return None
    return None if math.isnan(mean) else mean


def _figure(form: str, value: float) -> str:
    """`.97` for 0.97: room is short."""
    text = form.format(value)
    return text.removeprefix("0") if text.startswith("0.") else text


def _colours(shade: float | None) -> tuple[str, str]:
    """Of the cell and of its text."""
    if shade is None:
        return _hex(EMPTY), _hex(DARK)
    end, part = (GOOD, 2 * shade - 1) if shade > 0.5 else (POOR, 1 - 2 * shade)
    mixed = [round(m + (e - m) * part) for m, e in zip(MIDDLE, end, strict=True)]
    return _hex(mixed), _hex(LIGHT if part > LIGHT_FROM else DARK)


def _hex(parts: Sequence[int]) -> str:
    return "#" + "".join(f"{x:02x}" for x in parts)
