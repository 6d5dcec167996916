"""Algorithms of your own: a class with the hooks of an AQM, a conditioner or a congestion law, registered by its name.

What is registered takes part in everything that a built-in algorithm takes part in: scenario files, `check`, sweeps,
captures, results. A file names it and holds no code. An installed package offers its algorithms as entry points of the
group `perhop.algorithms`; they are found by the name that a file gives.

Decision: docs/decisions/122-one-variant-for-what-is-registered.md
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import random
import re
import sys
import types
import typing
import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from perhop import _core
from perhop.texts import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from perhop._core import At, Heard, Packet, Passage, Random, Window

GROUP = "perhop.algorithms"
"""Entry points of installed packages."""
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

Verdict = Literal["pass", "mark", "drop"]
Fate = Literal["queued", "marked", "dropped"]
Colour = Literal["green", "yellow", "red"]


class Quantity(float):
    """A number with a unit in files; without one in Python."""

    _kind: ClassVar[str]
    _ending: ClassVar[str]
    """That of columns which hold such a quantity."""
    _base: ClassVar[str]
    text: str

    def __new__(cls, value: str | float) -> Quantity:
        """From a text as files have it, `"15ms"`, or from a number in the base unit.

        Raises:
            ValueError: for a text that is no such quantity.
        """
        text = value if isinstance(value, str) else f"{value!r}{cls._base}"
        number, ending, *_ = _core.quantity(text) or (0.0, None)
        if ending != cls._ending:
            raise ValueError(f"{value!r}: no {cls.__name__.lower()}, as in {cls.__name__}({EXAMPLES[cls._kind]!r})")
        new = super().__new__(cls, number)
        new.text = text
        return new


EXAMPLES = {"time": "15ms", "rate": "5Mbit/s", "size": "45kB", "packets": "30p"}


class Time(Quantity):
    """A time: `"15ms"` in a file, seconds in Python."""

    _kind, _ending, _base = "time", "s", "s"


class Rate(Quantity):
    """A rate: `"5Mbit/s"` in a file, bit/s in Python."""

    _kind, _ending, _base = "rate", "bit_s", "bit/s"


class Size(Quantity):
    """A size: `"45kB"` in a file, bytes in Python."""

    _kind, _ending, _base = "size", "bytes", "B"


class Packets(Quantity):
    """A number of packets: `"30p"` in a file."""

    _kind, _ending, _base = "packets", "packets", "p"


Probability = Annotated[float, "probability"]
"""A probability: 0.02 in a file and in Python."""


KINDS: Mapping[type, str] = {bool: "bool", int: "integer", float: "number", str: "text"}


class Aqm:
    """An AQM: passes, marks or drops each packet. It owns no queue; the queue drops what finds no room.

    `at` has `now` in s and `backlog`: `packets` and `bytes` that wait, without this packet and without the one in
    transmission; `idle_since`, `room`, `ecn`. `packet` has `size`, `flow`, `colour`, `dscp`, `label`, `ecn` and more.
    """

    name: ClassVar[str]
    """Its name in files; by default that of the class: `Half` is `half`."""

    def on_arrival(self, at: At, packet: Packet, rng: Random) -> Verdict:
        """A packet arrives: "pass"; "mark", a drop where it is not ECN-capable; or "drop"."""
        raise NotImplementedError

    def on_fate(self, at: At, packet: Packet, fate: Fate) -> None:
        """What became of it."""

    def on_departure(self, at: At, packet: Packet, rng: Random) -> Verdict:
        """The packet at the head is about to be sent: as `on_arrival`. `at.sojourn` is how long it has waited, s."""
        return "pass"

    def poll_at(self) -> float | None:
        """When it wants its timer, s; asked after each hook."""
        return None

    def on_timer(self, at: At) -> None:
        """That time has come."""

    def gauges(self) -> dict[str, float]:
        """Values for series, by name."""
        return {}


class Conditioner:
    """A conditioner: colours or drops each packet at the edge, for an aggregate, or each flow, class or pair (`per`).

    `at` has `now` in s and `flow`; with `truth = True`, in the simulator, also `srtt`, `rto` (s) and `cwnd` (segments)
    of the sender.
    """

    name: ClassVar[str]
    truth: ClassVar[bool] = False

    def forward(self, at: Passage, packet: Packet, rng: Random) -> Colour | Literal["pass", "drop"]:
        """A packet on its way to the queue: its colour, "pass" to leave it as it is, or "drop"."""
        raise NotImplementedError

    def reverse(self, at: Passage, packet: Packet, rng: Random) -> None:
        """A packet that comes back over the mate link, as an ACK; `at.flow` is the flow whose other half it is."""

    def departing(self, at: Passage, packet: Packet, rng: Random) -> None:
        """A packet at the start of its transmission."""

    def poll_at(self) -> float | None:
        """When it wants its timer, s; asked after each hook."""
        return None

    def on_timer(self, now: float) -> None:
        """That time has come."""

    def forget(self, flow: int) -> None:
        """The number of this flow will be given to another."""

    def gauges(self) -> dict[str, float]:
        """Values for series, by name."""
        return {}


class CongestionControl:
    """A congestion law: sets `window.cwnd` and `window.ssthresh`, in segments; loss recovery is the transport's.

    `signal` has `now`, `acked`, `marked`, `usable`, `srtt`, `min_rtt`, `sample`; times are in s.
    """

    name: ClassVar[str]

    def on_ack(self, signal: Heard, window: Window) -> None:
        """New data are acknowledged outside loss recovery, or by the ACK that ends it."""
        raise NotImplementedError

    def on_loss(self, signal: Heard, window: Window) -> None:
        """A segment is taken as lost; at most once an episode."""
        raise NotImplementedError

    def on_timeout(self, signal: Heard, window: Window) -> None:
        """The retransmission timer has expired."""
        raise NotImplementedError

    def on_ecn(self, signal: Heard, window: Window) -> None:
        """The receiver echoes a mark; at most once a window of data. By default as a loss."""
        self.on_loss(signal, window)

    def pacing_rate(self, mss: int) -> float | None:
        """Bytes of data a second at which segments go; None: as soon as the window lets them."""
        return None


class Family(NamedTuple):
    """A kind of algorithm: its name in the core, and what a class must define."""

    kind: str
    required: tuple[str, ...]


FAMILIES: Mapping[type, Family] = {
    Aqm: Family("aqm", ("on_arrival",)),
    Conditioner: Family("conditioner", ("forward",)),
    CongestionControl: Family("law", ("on_ack", "on_loss", "on_timeout")),
}

C = TypeVar("C", bound=type)


def register(algorithm: C) -> C:
    """Makes a class known by its name; also as a decorator. Registered again, it takes the place of the one before.

    Parameters are those of `__init__`, with units by annotation: `perhop.Time`, `perhop.Rate`, `perhop.Size`,
    `perhop.Packets`, `perhop.Probability`; `int`, `float`, `bool`, `str` or a `Literal` of texts as they are. A
    parameter `max_p` is the key `max-p`.

    Raises:
        TypeError: for what is no class with these hooks, and a parameter that no key can be.
        ValueError: for a name that is taken, or cannot be one.
    """
    base = next((base for base in FAMILIES if isinstance(algorithm, type) and issubclass(algorithm, base)), None)
    if base is None:
        raise TypeError(f"{algorithm!r}: must be a class from perhop.Aqm, .Conditioner or .CongestionControl")
    family, title = FAMILIES[base], algorithm.__qualname__
    own = [name for name, _ in inspect.getmembers(algorithm, callable) if not name.startswith("_")]
    hooks = [name for name in own if getattr(algorithm, name) is not getattr(base, name, None)]
    known = [name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))]
    for name in set(hooks).difference(known):
        meant = difflib.get_close_matches(name, known, 1, 0.8 if name.startswith("on_") else 0.9)
        if meant:
            raise TypeError(f"{title}.{name} is never called: did you mean {meant[0]}? Else give it another name")
    if missing := [name for name in family.required if name not in hooks]:
        raise TypeError(f"{title} has no {missing[0]}: perhop.{base.__name__} needs {', '.join(family.required)}")
    if "on_timer" in hooks and "poll_at" not in hooks:
        raise TypeError(f"{title} has on_timer and no poll_at, which says when it is called")
    page, written = inspect.cleandoc(algorithm.__doc__ or title), text(algorithm)
    described: _core.Described = {
        "name": name_of(algorithm),
        "summary": page.splitlines()[0],
        "page": page,
        "origin": f"{algorithm.__module__}.{title}",
        "source": written.hash,
        "parameters": list(parameters(algorithm, page)),
        "hooks": hooks,
    }
    _core.register(family.kind, algorithm, described)
    _REGISTERED[described["name"]] = algorithm
    for note in written.notes:
        warnings.warn(
            f"`{described['name']}`: results do not tell when this becomes another: {note}; after a change there, run "
            "with resume=False",
            stacklevel=2,
        )
    return algorithm


_REGISTERED: dict[str, type] = {}


@contextmanager
def in_instances(names: Iterable[str]) -> Iterator[None]:
    """Warns if hooks of these algorithms change what belongs to no instance, and so to all replications."""
    before = [(name, it, source(it)) for name in names if (it := _REGISTERED.get(name))]
    yield
    for name, it, then in before:
        if source(it) != then:
            warnings.warn(
                f"hooks of `{name}` change an attribute of the class, or a global, which the next replication finds "
                "changed: results depend on what ran before, unless no hook reads it; set it in __init__, as self.X",
                stacklevel=4,
            )


def name_of(algorithm: type) -> str:
    """Its name in files.

    Raises:
        ValueError: it cannot be one.
    """
    name = getattr(algorithm, "name", None)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", algorithm.__name__).lower() if name is None else name
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(
            f"name = {name!r} of {algorithm.__qualname__}: letters, digits and single hyphens, as in half-2"
        )
    return name


def source(algorithm: type) -> str:
    """The hash of its text, and of what that uses."""
    return text(algorithm).hash


def parameters(algorithm: type, page: str) -> Iterator[_core.Parameter]:
    """Those of `__init__`; a line `most: ...` of the class's text is what one means.

    Raises:
        TypeError: for one that no key can be.
    """
    if algorithm.__init__ is object.__init__:  # type: ignore[misc]
        return
    hints = typing.get_type_hints(algorithm.__init__, include_extras=True)  # type: ignore[misc]
    for it in list(inspect.signature(algorithm.__init__).parameters.values())[1:]:  # type: ignore[misc]
        of = f"parameter {it.name} of {algorithm.__qualname__}"
        if it.kind in {it.VAR_POSITIONAL, it.VAR_KEYWORD, it.POSITIONAL_ONLY}:
            raise TypeError(f"{of}: must have a name, which is its key in files")
        given = None if it.default is it.empty else it.default
        hint = hints.get(it.name, type(given) if given is not None else None)
        kind, optional, choices = _kind(hint, of)
        meaning = re.search(rf"^\s*`?{it.name}`?: *(.+)$", page, re.MULTILINE)
        default = None if given is None else _default(given, (kind, choices), of)
        key = it.name.replace("_", "-")
        optional = optional or (it.default is None)
        yield {
            "name": key,
            "doc": meaning[1] if meaning else f"{it.name}.",
            "kind": kind,
            "default": default,
            "optional": optional,
            "choices": choices,
        }


def _default(given: Any, of_kind: tuple[str, list[str]], of: str) -> bool | int | float | str:
    """A default as files have it.

    Raises:
        TypeError: it is no value of this kind.
    """
    kind, choices = of_kind
    if kind in EXAMPLES:
        unit = next(it for it in (Time, Rate, Size, Packets) if it._kind == kind)
        if isinstance(given, (unit, str)):
            return given.text if isinstance(given, unit) else unit(given).text
        raise TypeError(f"{of}: its default is {given!r}: write perhop.{unit.__name__}({EXAMPLES[kind]!r})")
    real = isinstance(given, numbers.Real) and not isinstance(given, bool) and math.isfinite(given)
    whole = real and isinstance(given, numbers.Integral) and -(2**63) <= int(given) < 2**63
    fits = {
        "probability": real and 0 <= given <= 1,
        "number": real,
        "integer": whole,
        "bool": isinstance(given, bool),
        "choice": given in choices,
        "text": isinstance(given, str),
    }
    if fits[kind]:
        return (int(given) if whole else float(given)) if real else given
    raise TypeError(f"{of}: its default is {given!r}, which is no {NOUNS.get(kind, kind)}")


NOUNS = {"bool": "True or False", "integer": "whole number", "number": "finite number", "choice": "name that it takes"}


def _kind(hint: Any, of: str) -> tuple[str, bool, list[str]]:
    """The type of a parameter: its kind of value in files, whether it may be left away, and the names that it takes."""
    args = typing.get_args(hint)
    if typing.get_origin(hint) in {typing.Union, types.UnionType} and types.NoneType in args:
        rest = [arg for arg in args if arg is not types.NoneType]
        kind, _, choices = _kind(rest[0] if len(rest) == 1 else None, of)
        return kind, True, choices
    if typing.get_origin(hint) is Literal and all(isinstance(arg, str) for arg in args):
        return "choice", False, list(args)
    if hint == Probability:
        return "probability", False, []
    if isinstance(hint, type) and issubclass(hint, Quantity):
        return hint._kind, False, []
    if hint in KINDS:
        return KINDS[hint], False, []
    known = ", ".join(["bool", "int", "float", "str", "Literal", *(f"perhop.{name}" for name in UNITS)])
    raise TypeError(f"{of}: annotate it as one of {known}")


UNITS = ("Time", "Rate", "Size", "Packets", "Probability")


def renewed(request: str) -> bool:
    """Registers again what a request may need and what uses other constants by now; whether there is something."""
    known = dict(_core.registered())
    stale = [it for name, it in _REGISTERED.items() if _mentions(request, name) and known.get(name) != source(it)]
    return bool([register(it) for it in stale])


def _mentions(request: str, name: str) -> bool:
    """Whether a request has the name of an algorithm, as a whole word."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", request) is not None


def generators() -> Any:
    """The state of the generators that all of Python shares: no hook may draw from them."""
    numpy = sys.modules.get("numpy.random")
    state = numpy.get_state() if numpy else ()
    return random.getstate(), [it.tobytes() if hasattr(it, "tobytes") else it for it in state]


def used(request: str) -> tuple[tuple[str, str], ...]:
    """Names of registered algorithms that a request needs, with the hashes of their texts."""
    mentioned = [it for it in sorted(_core.registered()) if _mentions(request, it[0])]
    if not mentioned:
        return ()
    texts = [point["effective"] for point in _core.Scenario.of(request).points]
    return tuple(it for it in mentioned if any(f'source = "{it[1]}"' in text for text in texts))


@cache
def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def resolve(text: str) -> None:
    """Registers the algorithms that a text names and installed packages offer; what cannot be had is known as such."""
    known = dict(_core.registered())
    for name in _installed():
        if name not in known and _mentions(text, name):
            try:
                _find(name)
            except ImportError as error:
                _core.unavailable(name, str(error))


def _find(name: str) -> None:
    """Registers what an installed package offers under this name.

    Raises:
        ImportError: the package cannot be loaded, or what it offers is another algorithm.
    """
    point = _installed()[name]
    whose = f"`{name}`, which the installed package {point.dist.name if point.dist else point.module} offers"
    try:
        found = register(point.load())
    except Exception as error:
        raise ImportError(f"{whose}, cannot be loaded: {type(error).__name__}: {error}") from error
    if name_of(found) != name:
        raise ImportError(f"{whose}, calls itself `{name_of(found)}`")
