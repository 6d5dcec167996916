"""`perhop compare`: paired differences of two runs, or of the values of a swept key, on common random numbers."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from perhop import in_force, paired, show, units
from perhop.columns import Point, short
from perhop.paired import Difference
from perhop.results import Results, opened
from perhop.stats import Interval

MOST = 40
"""Settings that differ, as printed; `--json` has all."""

MEANS = "mean ± half of the 95 % t-interval"
NO_PAIRS = f"recorded between interfaces: no pairs, so a difference has no interval; {MEANS}"

ALGORITHMS = ("aqm", "scheduler", "kind", "model")
"""Keys that name an algorithm. Where two sides have different ones, their parameters are not compared one by one."""

Settings = Mapping[in_force.Setting, list[str]]


@dataclass(frozen=True)
class Compared:
    """Two sides of a comparison, as they are printed."""

    names: tuple[str, str]
    sides: tuple[Results, Results]
    found: list[Difference]
    by: dict[str, list[str]] = field(default_factory=dict)
    """The swept key that they differ in, with both values."""

    @property
    def settings(self) -> Settings:
        """What the sides differ in."""
        return paired.settings(*self.sides)


def compare(arguments: dict[str, Any]) -> int:
    """The verb."""
    every = _by_key(arguments) if arguments["b"] is None else [_two_runs(arguments)]
    if arguments["json"]:
        print(json.dumps([_by(of) | _record(d, of.settings) for of in every for d in of.found], indent=1))
    else:
        _print(every)
    return 0


def _note(*sides: Results) -> None:
    """Which of several runs was taken, before an error that may come of it."""
    for note in dict.fromkeys(note for side in sides for note in side.notes):
        print(f"note: {note}", file=sys.stderr)


def _two_runs(arguments: dict[str, Any]) -> Compared:
    a, b = (opened([arguments[side]], arguments["where"]) for side in ("a", "b"))
    _note(a, b)
    found = paired.differences(a, b, arguments["metric"] or paired.METRICS)
    return Compared((arguments["a"], arguments["b"]), (a, b), found)


def _by_key(arguments: dict[str, Any]) -> list[Compared]:
    """Each other value of the key against the base."""
    runs, by = opened([arguments["a"]], arguments["where"]), arguments["by"]
    _note(runs)
    if by is None:
        keys = ", ".join(map(short, runs.keys)) or "nothing"
        raise ValueError(f"one run: name another, or --by KEY; swept in {arguments['a']} is {keys}")
    sides = paired.sides(runs, by, arguments["base"])
    key, metrics = short(sides.key), arguments["metric"] or paired.METRICS
    return [
        Compared(
            (f"{key} {sides.base}", f"{key} {value}"),
            (a, b),
            sides.found(value, metrics),
            {sides.key: [sides.base, value]},
        )
        for value, a, b in sides.pairs()
    ]


def _by(of: Compared) -> dict[str, Any]:
    return {"by": of.by} if of.by else {}


def _record(d: Difference, differs: Settings) -> dict[str, Any]:
    def plain(value: Interval | None) -> dict[str, Any] | None:
        if value is None:
            return None
        bounds = None if math.isnan(value.low) else [value.low, value.high]
        return {"mean": value.mean, "ci95": bounds, "n": value.n}

    p = None if math.isnan(d.p) else d.p
    sides = {"a": plain(d.a), "b": plain(d.b), "difference": plain(d.difference)}
    between = {setting.key: [setting.a, setting.b] for setting, points in differs.items() if d.point in points}
    return {"metric": d.metric, "point": d.point, "row": d.row} | sides | {"p": p, "differs": between}


def _print(every: Sequence[Compared]) -> None:
    console, marks = _console(), iter(paired.marks([d for of in every for d in of.found]))
    with console.capture() as text:
        for i, of in enumerate(every):
            if i:
                console.print()
            _print_one(console, of, list(islice(marks, len(of.found))))
        stars = "\n* the interval leaves zero out; ** so does it after Holm's correction for all rows"
        console.print(stars, highlight=False)
    print(text.get(), end="")


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 200)


def _print_one(console: Console, of: Compared, marks: Sequence[str]) -> None:
    console.print(*(_plain(f"{side} {name}") for side, name in zip("AB", of.names, strict=True)), "", sep="\n")
    _print_settings(console, of)
    runs = of.sides[0]
    pairs = f"seed {runs.seed}, {show.count(len(runs), 'pair')}; {MEANS}"
    console.print(NO_PAIRS if paired.is_recorded(*of.sides) else pairs, "", sep="\n", highlight=False)
    console.print(_table(of.found, marks, runs.points), highlight=False)


def _print_settings(console: Console, of: Compared) -> None:
    """What differs: keys with both values, or that nothing does."""
    differs, table = of.settings, _grid("setting that differs", "A", "B")
    if not differs:
        console.print("the same settings are in force in both\n", highlight=False)
        return
    others = _of_others(differs)
    told = {setting: points for setting, points in differs.items() if setting not in others}
    for setting, points in islice(told.items(), MOST):
        where = "" if len(points) == len(of.sides[0].points) else f" at {'; '.join(points)}"
        table.add_row(*map(_plain, (setting.key + where, setting.a or "-", setting.b or "-")))
    parameters = [f"{show.count(len(others), 'parameter')} of an algorithm that one side lacks"] if others else []
    more = [f"{len(told) - MOST} more"] if len(told) > MOST else []
    rest = " and ".join([*more, *parameters])
    console.print(table, f"and {rest}, see --json\n" if rest else "", highlight=False)


def _of_others(differs: Settings) -> set[in_force.Setting]:
    """The parameters of algorithms that only one side has."""
    split = {setting: setting.key.rpartition(".") for setting in differs}
    sections = {section for section, _, key in split.values() if key in ALGORITHMS}
    below = tuple(f"{section}." for section in sections)
    return {
        setting
        for setting, (_, _, key) in split.items()
        if None in (setting.a, setting.b) and setting.key.startswith(below) and key not in ALGORITHMS
    }


def _table(found: Sequence[Difference], marks: Sequence[str], points: Sequence[Point]) -> Table:
    swept = len(points) > 1
    table = _grid("quantity", *(["point"] if swept else []), "row")
    for heading in ("A", "B", "B - A", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for d, mark in zip(found, marks, strict=True):
        column = units.column(*d.metric.split(".", 1))
        unit, factor = column.usual
        cells = ["-" if side is None else str(side.scaled(factor)) for side in (d.a, d.b, d.difference)]
        where = map(_plain, [d.point, d.row] if swept else [d.row])
        table.add_row(units.headed(points, column, unit), *where, *cells, mark)
    return table


def _plain(text: str) -> Text:
    """As it is written: no markup, no control characters."""
    return Text(show.printable(text))


def _grid(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=not sys.stdout.isatty())
    return table
