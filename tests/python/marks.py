"""Marks of a study's files: which keys the paper prints, and which are assumed.

    limit = "30p"                          # [A: buffer]
    "s1 - E1" = { rate = "10Mbit/s" }      # rate [P: Fig. 4], delay [A: delays]
    [tcp.host]                             # [P: section 5]: of every key of the table without a mark of its own

`[P: place]` is printed there, `[A: reading]` is assumed: `readings.toml` has other answers. `[O: why]` is ours: part of
an experiment that the paper does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TEXT = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'')
_MARK = re.compile(r"\[([PAO]): ([^\]]+)\]")
_HEADER = re.compile(r"\[\[?(.+?)\]\]?$")
_KEY = re.compile(r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)""")
FREE = ("scenario.name", "scenario.sample", "scenario.sample-ports")
"""Keys that say nothing of the network."""


@dataclass(frozen=True)
class Key:
    """A key of a file."""

    path: tuple[str, ...]
    line: int
    text: str
    """Of its value, as far as it is on the key's line."""
    printed: tuple[str, ...]
    """Places, and reasons of what is ours."""
    assumed: tuple[str, ...]
    """Readings."""


def keys(text: str) -> Iterator[Key]:
    """Every key of a TOML text whose values begin on its own line."""
    table: tuple[str, ...] = ()
    of_table, depth = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        code, comment = _split(line)
        if depth == 0 and (header := _HEADER.fullmatch(code.strip())) and "=" not in _TEXT.sub("", code):
            table, of_table = _path(header[1]), comment
        elif depth == 0 and "=" in _TEXT.sub("", code):
            at = next(i for i in range(len(code)) if code[i] == "=" and not _inside(code, i))
            yield _key(
                (*table, *_path(code[:at])), number, code[at + 1 :], comment if _MARK.search(comment) else of_table
            )
            depth += _deeper(code)
        else:
            depth += _deeper(code)


def _key(path: tuple[str, ...], line: int, value: str, marks: str) -> Key:
    found = _MARK.findall(marks)
    printed, assumed = (tuple(of for kind, of in found if kind in wanted) for wanted in ("PO", "A"))
    return Key(path, line, value.strip(), printed, assumed)


def _split(line: str) -> tuple[str, str]:
    """A line's code and its comment."""
    at = next((i for i, c in enumerate(line) if c == "#" and not _inside(line, i)), len(line))
    return line[:at], line[at:]


def _inside(line: str, at: int) -> bool:
    return any(found.start() < at < found.end() for found in _TEXT.finditer(line))


def _deeper(code: str) -> int:
    bare = _TEXT.sub("", code)
    return sum(bare.count(c) for c in "[{") - sum(bare.count(c) for c in "]}")


def _path(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _KEY.findall(text))
