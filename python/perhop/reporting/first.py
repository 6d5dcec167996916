"""The first screen of a report: what each class was promised, offered, and got."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from perhop import _core, units
from perhop.answer import Answer, Between
from perhop.columns import short
from perhop.reporting.tables import written
from perhop.results import Results
from perhop.stats import Interval

GREEN = "of it green"
"""The column of what was delivered in contract."""

RATES = ("offered", "delivered", GREEN)
"""The columns of rates, in bytes as `accounting` counts them."""

MANY = 8
"""With more rows than this, the sources of contracts are below the table."""

MOST_TOLD = 24
"""Classes and points that a picture's description lists."""


@dataclass(frozen=True)
class Rate:
    """A contract as the page shows it."""

    rate: str
    what: str


@dataclass(frozen=True)
class AnswerRow:
    """A class at a point."""

    names: list[str]
    contracts: list[Rate]
    numbers: list[str]
    losses: str
    """By colour, below the loss of the class; empty if it has one alone."""


@dataclass(frozen=True)
class AnswerTable:
    """The table of the first screen; its first columns are names."""

    headings: list[str]
    rows: list[AnswerRow]
    names: int
    lost: int
    """Which of the numbers are losses."""
    contracts: bool
    """Whether a class has any."""


def table(runs: Results, found: Sequence[Answer]) -> AnswerTable:
    """Contract, offered, delivered, lost and delay, by class at each point."""
    scales, rate = _scales(found), scale_of(found)
    rows = [
        AnswerRow(
            [*runs.points[a.point].labels.values(), a.name],
            [_rate(a.name, contract, rate, len(found)) for contract in a.contracts],
            [_text(_numbers(a)[name], scale) for name, scale in scales.items()],
            _losses(a),
        )
        for a in found
    ]
    rates = {name: units.named(runs.points, name) for name in ("contract", *RATES)}
    named = (f"{rates.get(name, name)}, {scale.unit}" for name, scale in scales.items())
    contracts = any(a.contracts for a in found)
    headings = [*([f"{rates['contract']}, {rate.unit}"] if contracts else []), *named]
    keys = [*map(short, runs.keys), "class"]
    lost = list(scales).index("lost") if scales else 0
    return AnswerTable([*keys, *headings], rows, len(keys), lost, contracts)


def _losses(a: Answer) -> str:
    """`green 0, red 43.2`."""
    return ", ".join(f"{of} {_digits(lost.mean)}" for of, lost in a.losses.items()) if len(a.losses) > 1 else ""


def _numbers(a: Answer) -> dict[str, Interval | Between | None]:
    """By the names of their columns."""
    rates = dict(zip(RATES, (a.offered, a.delivered, a.green), strict=True))
    return rates | {"lost": a.lost, "delay p50": a.p50, "delay p99": a.p99}


def _scales(found: Sequence[Answer]) -> dict[str, units.Scale]:
    """Of each column: one unit for all rates, one for both delays. What is in contract only where something is."""
    rows = list(map(_numbers, found))
    names = [name for name in (rows[0] if rows else ()) if name != GREEN or any(a.green for a in found)]
    delay = _delay(found)
    scales = {"lost": units.Scale(*units.LOST.usual), "delay p50": delay, "delay p99": delay}
    return {name: scales.get(name, scale_of(found)) for name in names}


def _delay(found: Sequence[Answer]) -> units.Scale:
    """The unit of the largest delay, or ms where that leaves the smallest below a tenth, as a call beside a backup."""
    scale = units.DELAY.scaled(max((a.p99.high.mean for a in found if a.p99), default=0.0))
    least = min((a.p50.low.mean for a in found if a.p50), default=math.inf)
    return scale if least * scale.factor >= 0.1 else units.Scale(*units.DELAY.usual)


def scale_of(found: Sequence[Answer]) -> units.Scale:
    """One unit for all rates."""
    return units.DELIVERED.scaled(max((max(a.offered.mean, a.delivered.mean) for a in found), default=0.0))


def _rate(name: str, contract: _core.ContractDict, scale: units.Scale, rows: int) -> Rate:
    rate = f"{contract['rate_bit_s'] * scale.factor:.4g}"
    return Rate(rate, _source(name, contract) if rows <= MANY else "")


def _source(name: str, contract: _core.ContractDict) -> str:
    """`each flow: gold at E -> R, with home`."""
    each = "" if contract["per"] == "aggregate" else f"each {contract['per']}: "
    others = [other for other in contract["classes"] if other != name]
    shared = f", with {', '.join(others)}" if others else ""
    return f"{each}{contract['conditioner']} at {contract['hop']}{shared}"


def _text(value: Interval | Between | None, scale: units.Scale) -> str:
    """The one value if its colours agree to three digits, else from the lowest to the highest."""
    if not isinstance(value, Between):
        return written(value, scale)
    low, high = (_digits(end.mean * scale.factor) for end in (value.low, value.high))
    return written(value.high, scale) if low == high else f"{low} to {high}"


def _digits(value: float) -> str:
    """Three of them."""
    return f"{value:#.3g}".rstrip(".") if value else "0"


def explained(found: Sequence[Answer], *, changing: bool) -> list[str]:
    """What the columns mean, as far as these answers need it."""
    out = [
        "Offered is the traffic that arrived at the first port on its path. Lost is dropped / (dropped + delivered) "
        "over the whole path, in per cent."
    ]
    if any(len(a.losses) > 1 for a in found):
        out.append(
            "Below the loss of a class are those of its colours. Delivered packets have the colour of the end of their "
            "path, dropped ones that of the port."
        )
    if any(a.contracts for a in found):
        out.append(
            "A contract is the cir of a conditioner that may take the class's data"
            + (", at the start: the scenario has timed changes" if changing else "")
            + (f" ({_sources(found)})." if len(found) > MANY else ".")
        )
        if any(a.green for a in found):
            out.append("Green is the part delivered in contract: its packets are green at the end of their path.")
    else:
        out.append("No conditioner with a cir takes any of this traffic, so there is no contract to compare with.")
    if any(" to " in _text(_numbers(a)[name], scale) for a in found for name, scale in _scales(found).items()):
        out.append("A delay with two values is that of the class's colours; that of the class lies between them.")
    mixed = [a.name for a in found if a.mixed]
    if mixed:
        names = ", ".join(dict.fromkeys(mixed))
        out.append(
            f"ACKs of {names} pass the same ports as its data. Offered counts them, delivered does not. Drops of ACKs "
            "and of data are not distinguished there, so the loss is unknown where both share a port."
        )
    return out


def _sources(found: Sequence[Answer]) -> str:
    return "; ".join(dict.fromkeys(f"{a.name}: {_source(a.name, c)}" for a in found for c in a.contracts))


def told(runs: Results, found: Sequence[Answer]) -> str:
    """The picture in words."""
    scale = scale_of(found)
    if len(found) > MOST_TOLD:
        return f"The rates of {len(found)} classes and points by colour; the table has the numbers."
    return "; ".join(_told(runs, answer, scale) for answer in found)


def _told(runs: Results, answer: Answer, scale: units.Scale) -> str:
    where = ", ".join([*filter(None, [runs.points[answer.point].title]), answer.name])
    parts = ", ".join(f"{colour} {mean.mean * scale.factor:.3g}" for colour, mean in answer.colours.items())
    contract = "" if answer.contract_bit_s is None else f", contract {answer.contract_bit_s * scale.factor:.3g}"
    numbers = f"{answer.delivered.mean * scale.factor:.3g} of {answer.offered.mean * scale.factor:.3g} {scale.unit}"
    return f"{where}: {units.named(runs.points, 'delivered')} {numbers}{f' ({parts})' if parts else ''}{contract}"
