"""The bounds beside a criterion's text in `criteria.toml`, and what they say about measured values.

    holds = ["F1 in [1.8, 2.8]", "F2/F1 >= 2.5"]
    of = { marker = "basic", n = 200 }                  # the runs in question, in addition to the criterion's own point

A hold is a label and a bound:

| bound                                   | the mean is                                                       |
|-----------------------------------------|-------------------------------------------------------------------|
| `>= 2`, `<= 2`, `> 2`, `< 0.97 * 2`     | on that side of it                                                |
| `in [1.8, 2.8]`                         | in the band, its ends included                                    |
| `within 35 of 175`, `within 3 % of 1`   | no further from it                                                |
| `surely > 0`, `surely < 1`              | on that side with its whole interval: a comparison                |
| `not surely < 0`                        | not below it with its whole interval                              |
| `median <= 20`, `median >= 20`          | (the median, not the mean) on that side of it                     |
| `smallest >= 20`                        | (every single value, not the mean) on that side of it             |

A label names what the criterion's claim in Python measured; `*` in it matches any text. Where there is no such claim,
the label is an expression of quantities, or a name that `measures` gives to one:

    measures = { "CIR .25: In-Dp" = "100 * 'in.drops'(cir=250)" }   # or, for several criteria, in the file's [measures]

Several labels of `measures` may fit a hold with a star: each is held against it. A report may have a table in place of
bounds, a row for each point of `over`:

    table = { over = { meter = ["window", "rate"] }, columns = { "drops at ER1" = "'ER1.dropped_early'" }, note = ".." }

Expressions may use numbers, quantities (in quotes unless they are plain names), `+ - * /`, parentheses, the runs of
another part of the grid (`F1(marker="basic")`; `runs` is the run set) and `abs`, `min`, `max`, `mean`, `sum` and
`jain`, replication by replication.

Decision: docs/decisions/105-bounds-are-beside-their-sentence.md
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from perhop import stats
from perhop_studies import measures
from perhop_studies.samples import Samples
from perhop_studies.verdict import BOUNDS, Finding, Part, Value, Values, never_below, within

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
PRODUCT = rf"{NUMBER}(?: \* {NUMBER})?"
SIDES = "not surely <|surely >|surely <|median >=|median <=|smallest >=|>=|<=|>|<"
HOLD = re.compile(
    rf"(?P<label>.+?) (?:(?P<op>{SIDES}) (?P<bound>{PRODUCT})"
    rf"|in \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\]"
    rf"|within (?P<off>{NUMBER})(?P<percent> %)? of (?P<centre>{NUMBER}))"
)
FORM = (
    'a hold is "LABEL >= 2" (or <=, >, <, surely >, surely <, median >=, median <=), "LABEL in [1, 2]" '
    'or "LABEL within 3 % of 1"'
)

OPERATORS: dict[str, Callable[[str, Values, float], Part]] = {**BOUNDS, "smallest >=": never_below}


class Measured(NamedTuple):
    """Everything a claim measured; conditions that need no number are included unchanged."""

    values: Sequence[Value | Part]
    note: str = ""


@dataclass(frozen=True)
class Hold:
    """One bound."""

    label: str
    op: str
    numbers: tuple[float, ...]
    """The bound, a band's ends, or a distance and its centre."""
    text: str = field(default="", compare=False)
    """As written in the file."""

    @classmethod
    def parse(cls, text: str) -> Hold:
        """Reads one.

        Raises:
            ValueError: it is not in this form.
        """
        found = HOLD.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"`{text}`: {FORM}")
        if found["op"]:
            return cls(found["label"], found["op"], (_product(found["bound"]),), text)
        if found["low"]:
            return cls(found["label"], "in", (float(found["low"]), float(found["high"])), text)
        op = "within %" if found["percent"] else "within"
        return cls(found["label"], op, (float(found["off"]), float(found["centre"])), text)

    def fits(self, label: str) -> bool:
        """Whether it bounds the value with this label."""
        return re.fullmatch(".*".join(map(re.escape, self.label.split("*"))), label) is not None

    def judge(self, label: str, values: Values) -> Part:
        """The condition on these values."""
        if self.op in OPERATORS:
            return OPERATORS[self.op](label, values, self.numbers[0])
        return within(label, values, self.band)

    @property
    def band(self) -> tuple[float, float]:
        """Its ends."""
        if self.op == "in":
            return self.numbers[0], self.numbers[1]
        off, centre = self.numbers
        off = off / 100 * centre if self.op == "within %" else off
        return round(centre - off, 12), round(centre + off, 12)


def _product(text: str) -> float:
    """`0.97 * 1.2`."""
    return round(math.prod(map(float, text.split(" * "))), 12)


@dataclass(frozen=True)
class Bounds:
    """Everything beside a criterion's text."""

    holds: tuple[Hold, ...] = ()
    measures: Mapping[str, str] = field(default_factory=dict)
    """Expressions by label."""
    of: Mapping[str, Any] = field(default_factory=dict)
    """The runs in question; `{axis}` in a text is the criterion's own value."""
    table: Mapping[str, Any] = field(default_factory=dict)
    """A report's rows: `over`, `columns`, `note`."""

    @classmethod
    def read(
        cls, entry: Mapping[str, Any], shared: Mapping[str, str], beside: Mapping[str, Any] | None = None
    ) -> Bounds:
        """Those of a record of `criteria.toml`, with the measures that the file gives for all, and of `claims.toml`.

        Raises:
            ValueError: a hold that is none.
        """
        stated = beside or {}
        holds = tuple(map(Hold.parse, (*entry.get("holds", ()), *stated.get("holds", ()))))
        measures = {**shared, **entry.get("measures", {}), **stated.get("measures", {})}
        return cls(holds, measures, {**entry.get("of", {}), **stated.get("of", {})}, stated.get("table", {}))

    def judge(self, claim: str, measured: Measured) -> Finding:
        """Every measured value by its bound, in the order measured.

        Raises:
            ValueError: a value without a bound, with several, or a bound of nothing that was measured.
        """
        bounds = {x.label: self._of(claim, x.label) for x in measured.values if isinstance(x, Value)}
        if unused := [hold.label for hold in self.holds if hold not in bounds.values()]:
            raise ValueError(f"{claim}: nothing measured is called `{unused[0]}`: {', '.join(bounds)}")
        parts = [bounds[x.label].judge(*x) if isinstance(x, Value) else x for x in measured.values]
        return Finding(parts, measured.note)

    @property
    def are_of_quantities(self) -> bool:
        """Whether the file itself says which quantities they are of."""
        return bool(self.of or self.table) or any(self._labels(hold) for hold in self.holds)

    def _labels(self, hold: Hold) -> list[str]:
        """What a hold bounds among the measures: its own label, or all that fit its stars."""
        return [hold.label] if hold.label in self.measures else [x for x in self.measures if hold.fits(x)]

    def among(self, measured: Iterable[Value]) -> Measured:
        """The values of a study that it bounds."""
        return Measured([value for value in measured if any(hold.fits(value.label) for hold in self.holds)])

    def _of(self, claim: str, label: str) -> Hold:
        """The hold of a label: its own, or the only one whose stars fit."""
        fitting = [h for h in self.holds if h.label == label] or [h for h in self.holds if h.fits(label)]
        if len(fitting) != 1:
            many = f"{len(fitting)} bounds" if fitting else "no bound"
            near = difflib.get_close_matches(label, [hold.label for hold in self.holds], 1, 0.5)
            raise ValueError(f"{claim}: `{label}` has {many} in `holds`" + "".join(f"; near: `{n}`" for n in near))
        return fitting[0]

    def of_quantities(self, claim: str, runs: Samples, at: Mapping[str, Any]) -> Finding:
        """Bounds on expressions, at a point of the criterion's grid.

        Raises:
            ValueError: an expression that is none.
        """
        grid = runs.grid()
        place = {key: value for key, value in at.items() if key in grid}
        place |= {key: value.format(**at) if isinstance(value, str) else value for key, value in self.of.items()}
        if self.table:
            return self._table(claim, runs, place)
        bounded = [(hold, label) for hold in self.holds for label in self._labels(hold) or [hold.label]]
        texts = [self.measures.get(label, label) for _, label in bounded]
        values = [Expression(claim, text).values(runs, place) for text in texts]
        return Finding([hold.judge(label, x) for (hold, label), x in zip(bounded, values, strict=True)])

    def _table(self, claim: str, runs: Samples, place: Mapping[str, Any]) -> Finding:
        """A row for each point: means over the seeds."""
        over: Mapping[str, Sequence[Any]] = self.table.get("over", {})
        rows, seeds = [], []
        for point in (dict(zip(over, values, strict=True)) for values in product(*over.values())):
            found = {
                name: stats.interval(Expression(claim, text).values(runs, {**place, **point}))
                for name, text in self.table["columns"].items()
            }
            rows.append({**point, **{name: value.mean for name, value in found.items()}})
            seeds += [value.n for value in found.values()]
        return Finding([], self.table.get("note", ""), rows, seeds=min(seeds))


FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "min": lambda *row: min(row),
    "max": lambda *row: max(row),
    "mean": lambda *row: stats.mean(row),
    "sum": lambda *row: stats.total(row),
    "jain": lambda *row: measures.jain(row),
}

ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b if b else math.nan,
}


@dataclass(frozen=True)
class Expression:
    """An expression of quantities, of a claim."""

    claim: str
    text: str

    def values(self, runs: Samples, at: Mapping[str, Any]) -> list[float]:
        """Its value in each replication.

        Raises:
            ValueError: it is no expression, or asks for a quantity that is not there; both with the place.
        """
        try:
            tree = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise self._wrong(f"{error.msg} at column {error.offset}") from None
        found = self._value(tree, runs, at)
        if isinstance(found, float):
            raise self._wrong("a number alone measures nothing")
        return found

    def _value(self, node: ast.expr, runs: Samples, at: Mapping[str, Any]) -> list[float] | float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                sides = [self._value(side, runs, at) for side in (node.left, node.right)]
                return self._each(ARITHMETIC[type(node.op)], sides)
            case ast.UnaryOp(op=ast.USub()):
                return self._each(lambda x: -x, [self._value(node.operand, runs, at)])
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS and not node.keywords:
                return self._each(FUNCTIONS[name], [self._value(one, runs, at) for one in node.args])
            case ast.Call(args=[]):
                return self._quantity(node.func, runs, {**at, **self._place(node)})
        return self._quantity(node, runs, at)

    def _each(self, function: Callable[..., float], sides: list[list[float] | float]) -> list[float] | float:
        rows = [side for side in sides if isinstance(side, list)]
        if not rows:
            return function(*sides)
        columns = [side if isinstance(side, list) else [side] * len(rows[0]) for side in sides]
        return [function(*row) for row in zip(*columns, strict=True)]

    def _place(self, node: ast.Call) -> dict[str, Any]:
        """`(marker="basic", n=200)`."""
        place = {}
        for given in node.keywords:
            if given.arg is None or not isinstance(given.value, ast.Constant):
                raise self._wrong(f"runs are named as in (n=200) at column {node.col_offset + 1}")
            place[given.arg] = given.value.value
        return place

    def _quantity(self, node: ast.expr, runs: Samples, at: Mapping[str, Any]) -> list[float]:
        name, at = self._name(node), dict(at)
        runs = runs.of(at.pop("runs")) if "runs" in at else runs
        try:
            return runs.values(name, **at)
        except KeyError:
            known = runs.all[0].values
            near = difflib.get_close_matches(name, known, 1, 0.5)
            did = f": did you mean `{near[0]}`?" if near else f": there are {', '.join(list(known)[:20])}"
            raise self._wrong(f"no quantity `{name}` at column {node.col_offset + 1}{did}") from None

    def _name(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str() as name) | ast.Name(id=name):
                return name
            case ast.Attribute(value=below, attr=last):
                return f"{self._name(below)}.{last}"
        raise self._wrong(f"neither a number nor a quantity at column {node.col_offset + 1}")

    def _wrong(self, why: str) -> ValueError:
        return ValueError(f"{self.claim}: `{self.text}`: {why}")
