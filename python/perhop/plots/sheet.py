"""How a picture is asked for, and what it leaves out so that it can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shlex import join
from typing import NamedTuple

from perhop.arguments import shown
from perhop.columns import Group, short
from perhop.show import printable

WIDTHS, HEIGHTS = (2.5, 30.0), (1.5, 60.0)
"""Inches: the least and the most."""

NAMED = 8
"""Values that a recommended command names."""

PLURALS = {"class": "classes", "traffic": "traffics", "hop": "ports"}


@dataclass(frozen=True)
class Look:
    """Words and size; what is `None` the picture decides.

    Raises:
        ValueError: for a size that cannot be read or printed.
    """

    title: str | None = None
    """In place of the run's name and of what is shown; an empty one leaves both out."""
    width: float | None = None
    """Inches."""
    height: float | None = None
    """Inches."""
    log_y: bool = False
    """Whether the axis of the quantity is to be logarithmic."""

    def __post_init__(self) -> None:
        for name, value, (least, most) in (("width", self.width, WIDTHS), ("height", self.height, HEIGHTS)):
            if value is not None and not least <= value <= most:
                raise ValueError(f"{name} {shown(value)}: a picture's {name} is {least:g} to {most:g} inches")


NATURAL = Look()


@dataclass(frozen=True)
class PlotRequest:
    """Which plot, of which runs; by words that show the same for some rows."""

    kind: str = "delivered"
    x: str | None = None
    by: Sequence[str] = ()
    directories: Sequence[str] = ()
    """None for runs in memory."""
    where: Sequence[str] = ()
    """`KEY=VALUE[,..]` of what the runs are already."""

    def again(self, where: Mapping[str, Sequence[str]]) -> str:
        """What to type for the rows whose columns or swept keys have these values."""
        if not self.directories:
            return self._python(where)
        options = ["--y" if "." in self.kind else "--kind", self.kind]
        options += ["--x", self.x] if self.x else []
        options += ["--by", ",".join(self.by)] if self.by else []
        names = set(map(short, where))
        texts = [text for text in self.where if short(text.partition("=")[0]) not in names]
        texts += [f"{key}={','.join(values)}" for key, values in where.items()]
        filters = [word for text in texts for word in ("--where", text)]
        return printable(join(["perhop", "plot", *self.directories, *options, *filters]))

    def _python(self, where: Mapping[str, Sequence[str]]) -> str:
        named = {"x": self.x} if self.x else {}
        arguments = [
            repr(self.kind),
            *(f"{k}={v!r}" for k, v in (named | ({"by": [*self.by]} if self.by else {})).items()),
        ]
        filters = {key: [*values] for key, values in where.items()}
        return f"runs.where({filters!r}).plot({', '.join(arguments)})"


class Left(NamedTuple):
    """What a picture shows of the values of a key, and what it leaves out."""

    key: str
    kept: Sequence[str]
    out: Sequence[str]
    rule: str

    @property
    def said(self) -> str:
        """`12 of 40 classes, those that ..`."""
        noun = PLURALS.get(self.key) or (f"values of {short(self.key)}" if "." in self.key else f"{self.key}s")
        return f"{len(self.kept)} of {len(self.kept) + len(self.out)} {noun}, {self.rule}"


class Note(NamedTuple):
    """What a picture shows of more, and a command that shows others."""

    said: str
    command: str

    def __str__(self) -> str:
        return f"shown: {self.said}; others: {self.command}"


Worth = Mapping[Group, float]
"""How telling each row is."""


def telling(worth: Worth, keys: Sequence[str], room: int, rule: str) -> tuple[list[Group], list[Left]]:
    """The rows for which there is room, in their order, and what is left out.

    The key with the most values, `class`, is narrowed to the values of the most telling rows; a value has all its rows,
    of all colours.
    """
    rows, left = list(worth), list[Left]()
    while len(rows) > room:
        many = [len({row[i] for row in rows}) for i in range(len(keys))]
        at = max(range(len(keys)), key=lambda i: (many[i] > 1 and keys[i] != "colour", many[i]))
        names = list(dict.fromkeys(row[at] for row in rows))
        kept = _kept(rows, at, worth, room)
        left.append(Left(keys[at], [n for n in names if n in kept], [n for n in names if n not in kept], rule))
        rows = [row for row in rows if row[at] in kept]
        if not left[-1].out:
            break
    order = [{name: i for i, name in enumerate(dict.fromkeys(row[at] for row in worth))} for at in range(len(keys))]
    rows.sort(key=lambda row: [places[name] for places, name in zip(order, row, strict=True)])
    return rows, [of for of in left if of.out]


def _kept(rows: Sequence[Group], at: int, worth: Worth, room: int) -> set[str]:
    """The values of one key whose rows fit, from the most telling on; one at least."""
    best: dict[str, float] = {}
    for row in rows:
        best[row[at]] = max(worth[row], best.get(row[at], worth[row]))
    kept, taken = set[str](), 0
    for name in sorted(best, key=lambda name: -best[name]):
        taken += sum(row[at] == name for row in rows)
        if kept and taken > room:
            break
        kept.add(name)
    return kept


@dataclass
class Sheet:
    """A picture in the making."""

    look: Look = NATURAL
    asked: PlotRequest = field(default_factory=PlotRequest)
    left: list[Left] = field(default_factory=list)
    beside: float = 0.0
    """Inches that a legend takes beside what is written above the picture."""

    @property
    def notes(self) -> list[Note]:
        """What is left out, and how to see some of that."""
        return [Note(left.said, self.asked.again({left.key: left.out[:NAMED]})) for left in self.left]

    def chosen(self, worth: Worth, keys: Sequence[str], room: int, rule: str) -> list[Group]:
        """The most telling rows, in their order; the picture says what it leaves out."""
        rows, left = telling(worth, keys, room, rule)
        self.left += left
        return rows

    def refuse(self, why: str, left: Sequence[Left]) -> ValueError:
        """An error for an illegible choice, with one that is legible."""
        command = self.asked.again({of.key: of.kept[:NAMED] for of in left})
        return ValueError(f"{why}: choose some of them, as in `{command}`")
