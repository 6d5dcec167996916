"""Arguments of public functions, held against their annotations: a wrong one is refused by its name, before any work.

How large a whole number may be is the core's to say, for the command line and for Python alike: `bounded`.
"""

from __future__ import annotations

import builtins
import math
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar

from perhop import _core

P = ParamSpec("P")
R = TypeVar("R")

WORDS: dict[Any, str] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    range: "a range",
    str: "a text",
    NoneType: "None",
    os.PathLike: "a path",
    Callable: "a function",
    Iterable: "a list",
    Mapping: "a dictionary",
    Sequence: "a list",
}
"""What types are called in messages; others by their names."""
SEVERAL: dict[Any, str] = {float: " of numbers", str: " of texts"}
MOST = 10_000_000
"""Items of a list: a range of more would take all memory."""
LONGEST = 60
"""Characters of a value in a message."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuses arguments that are not of the types which the function states: a `TypeError` that names the first."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if refusal := _refusal(function, args, kwargs):
            raise refusal
        return function(*args, **kwargs)

    return call


def checked_late(function: Callable[P, R]) -> Callable[P, R]:
    """The same for a function that the core refuses before it has done anything: its arguments are looked at only then.

    Steps of a session cost microseconds, and loops make thousands of them.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            if refusal := _refusal(function, args, kwargs):
                raise refusal from None
            raise

    return call


def _refusal(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> TypeError | ValueError | None:
    positional, hints = _stated(function)
    for name, value in [*zip(positional, args, strict=False), *kwargs.items()]:
        hint = hints.get(name, Any)
        if not fits(value, hint):
            return TypeError(f"{name} = {shown(value)}: must be {words(hint)}")
        if isinstance(value, str) and _takes_path(hint) and not _is_path(value):
            return ValueError(f"{name} = {shown(value)}: must be a path")
    return None


@cache
def _stated(function: Callable[..., Any]) -> tuple[list[str], dict[str, Any]]:
    """Names of what may be given by position, and the types of all; a name for type checkers alone is any."""
    hints = typing.get_type_hints(function, localns=_Names(function.__globals__))
    kinds = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
    parameters = signature(function).parameters.values()
    named = {p.name: hints[p.name] for p in parameters if p.name in hints and p.kind != Parameter.VAR_KEYWORD}
    return [p.name for p in parameters if p.kind in kinds], named


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Any)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type. True is no number, and a text no list; NumPy's numbers are numbers."""
    kind, of = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in {typing.Union, UnionType}:
        return any(fits(value, one) for one in of)
    if kind in {int, float}:
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if kind in {str, os.PathLike}:
        return isinstance(value, str | kind) and (kind is not str or _is_unicode(value))
    if kind in {Sequence, Iterable, tuple}:
        return _is_listed(value, kind) and all(fits(item, one) for item, one in _items(value, of))
    if kind is Mapping:
        keys = [(key, of[0]) for key in value] if isinstance(value, Mapping) and of else []
        return isinstance(value, Mapping) and all(fits(key, one) for key, one in keys)
    return isinstance(value, kind) if isinstance(kind, type) and kind is not Any else True


def _takes_path(hint: Any) -> bool:
    return any(typing.get_origin(one) is os.PathLike for one in typing.get_args(hint))


def _is_path(text: str) -> bool:
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _is_unicode(text: str) -> bool:
    """Without halves of pairs: a name of a file may hold them, a text that the core reads may not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_listed(value: Any, kind: Any) -> bool:
    """Something to go through; a sequence is also of known length, as an array of NumPy is."""
    if kind is tuple:
        return isinstance(value, tuple)
    one = isinstance(value, str | bytes | Mapping)
    return (
        isinstance(value, Iterable) and not one and (_is_short(value) if isinstance(value, Sized) else kind is Iterable)
    )


def _is_short(value: Sized) -> bool:
    try:
        return len(value) <= MOST
    except OverflowError:
        return False


def _items(value: Any, of: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """What is in it and of which type, if that can be looked at without using it up."""
    return ((item, of[0]) for item in (typing.cast("Iterable[Any]", value) if of and isinstance(value, Sized) else ()))


def words(hint: Any) -> str:
    """What a type is called."""
    kind, of = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in {typing.Union, UnionType}:
        *first, last = dict.fromkeys(words(one) for one in of)
        return f"{', '.join(first)} or {last}" if first else last
    name = WORDS.get(kind) or f"a {getattr(kind, '__name__', kind)}"
    return name + (SEVERAL.get(of[0], "") if kind in {Sequence, Iterable} and of else "")


def shown(value: object) -> str:
    """A value in a message."""
    try:
        text = repr(value)
    except Exception:  # whoever wrote its class may raise anything; integers of thousands of digits do
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def bounded(name: str, number: int) -> int:
    """A whole number within the core's bounds of this name.

    Raises:
        ValueError: it is not.
    """
    return _core.bounded(name, int(number))


def positive(name: str, number: float) -> float:
    """A finite number above 0.

    Raises:
        ValueError: it is not.
    """
    try:
        converted = float(number)
    except OverflowError:
        converted = math.inf
    if not (math.isfinite(converted) and converted > 0):
        raise ValueError(f"{name} = {shown(number)}: above 0, and finite")
    return converted
