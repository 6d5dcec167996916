"""Settings key by key: a scenario as lines of `key = value`, and what differs between two."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

NAMING = ("for", "name", "class", "at")
"""Keys whose value, or its first, names an item of a list: `queue.af.profiles.AF31.min`; others are numbered from 1."""

Path = tuple[str, ...]

MOST = 10_000_000
"""Items of a list: a range of more would take all memory."""


class Setting(NamedTuple):
    """A key that differs: its values, `None` where a scenario does not have it."""

    key: str
    a: str | None
    b: str | None


def settings(effective: str) -> dict[str, str]:
    """Every value in force by its dotted key, from a scenario's effective TOML."""
    found = leaves(tomllib.loads(effective), items=True)
    return {dotted(path): value if isinstance(value, str) else toml(value) for path, value in found}


def differing(a: str, b: str) -> list[Setting]:
    """What differs between two effective scenarios, in the order of the first; its name is not a setting."""
    ours, theirs = settings(a), settings(b)
    keys = [key for key in dict.fromkeys([*ours, *theirs]) if key != "scenario.name"]
    return [Setting(key, ours.get(key), theirs.get(key)) for key in keys if ours.get(key) != theirs.get(key)]


def lines(tree: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """A tree as TOML with one value on each line, and the parts of the key of each line.

    Raises:
        TypeError: for a key or a value that a scenario cannot hold.
    """
    found = [([part(key, path[:i]) for i, key in enumerate(path)], toml(value, path)) for path, value in leaves(tree)]
    return "".join(f"{'.'.join(parts)} = {value}\n" for parts, value in found), [parts for parts, _ in found]


def leaves(value: Any, path: Path = (), *, items: bool = False) -> Iterator[tuple[Path, Any]]:
    """Every value with its path; with `items` also those in a list of tables."""
    if isinstance(value, Mapping) and (value or not path):
        parts = list(value.items())
    elif items and isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        parts = [(_named(item, i, value), item) for i, item in enumerate(value, 1)]
    else:
        yield path, value
        return
    for key, inner in parts:
        yield from leaves(inner, (*path, key), items=items)


def _named(item: Mapping[str, Any], number: int, items: Sequence[Mapping[str, Any]]) -> str:
    name = _called(item)
    return name if name and [_called(other) for other in items].count(name) == 1 else str(number)


def _called(item: Mapping[str, Any]) -> str:
    stated = next((item[key] for key in NAMING if key in item), "")
    return str(next(iter(stated), "") if isinstance(stated, list) else stated)


def toml(value: object, path: Path = ()) -> str:
    """A value as TOML; `path` says where it is, for messages.

    Raises:
        TypeError: for a value that is not a text, a number, a boolean, a list or a table.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        inner = [f"{part(key, path)} = {toml(item, (*path, str(key)))}" for key, item in value.items()]
        return "{ " + ", ".join(inner) + " }" if inner else "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes) and not _is_endless(value):
        return "[" + ", ".join(toml(item, path) for item in value) + "]"
    if isinstance(value, Integral):
        try:
            return str(int(value))
        except ValueError:
            raise ValueError(f"{dotted(path)}: a value of thousands of digits") from None
    if isinstance(value, Real):
        return repr(float(value))
    hint = "leave the key out for its default" if value is None else "write a text, number, boolean, list or table"
    raise TypeError(f"{dotted(path)}{' = ' if path else ''}{value!r} cannot be in a scenario: {hint}")


def _is_endless(value: Sequence[object]) -> bool:
    return isinstance(value, range) and (value.stop - value.start) // value.step > MOST


def dotted(path: Sequence[str]) -> str:
    """A path as a dotted key."""
    return ".".join(part(str(key)) for key in path)


def part(key: object, path: Path = ()) -> str:
    """One part of a dotted key, quoted if TOML requires it.

    Raises:
        TypeError: when it is not a text.
    """
    if not isinstance(key, str):
        raise TypeError(f"{key!r} in {dotted(path) or 'a scenario'} is not a key: keys are texts")
    bare = key.isascii() and key.replace("-", "a").replace("_", "a").isalnum()
    return key if bare else quoted(key)


def quoted(text: str) -> str:
    """A basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(c):04X}" if ord(c) < 32 or ord(c) == 127 else c for c in escaped) + '"'
