"""Names short enough for an axis or a legend, and still different from each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count

from perhop.show import printable

LONGEST = 28
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

MEASURED = r"(?:[+-]?\d[\d.]*\s+(?=[^\s\d,:]))?"
"""A number before a space and its unit, which are one word: `5 kB`."""


def shortened(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Without the words that all have at the beginning or at the end; what is still too long loses its middle."""
    names = [printable(name) for name in names]
    different = list(dict.fromkeys(names))
    inner = _without_end(_without_start(different)) if len(different) > 1 else different
    told_apart = inner if all(inner) and len(set(inner)) == len(inner) else different
    by_name: dict[str, str] = {}
    for name, short in zip(different, told_apart, strict=True):
        by_name[name] = _unlike(_cut(short, longest), by_name.values())
    return [by_name[name] for name in names]


def _without_start(names: Sequence[str]) -> list[str]:
    """Without the first words that all share; parts of a path are words, those of numbers and of `1:10` are not."""
    words = [re.findall(MEASURED + r"(?:[^\s/,:.]|[/.:](?=\d))+[\s/,:.]*", name) for name in names]
    shared = _shared(words)
    return ["".join(of[shared:]) for of in words]


def _without_end(names: Sequence[str]) -> list[str]:
    """Without the last words that all share; a unit, `Mbit/s`, is part of its number's word."""
    words = [re.findall(MEASURED + r"(?:[^\s,:]|:(?=\d))+[\s,:]*", name) for name in names]
    shared = _shared([of[::-1] for of in words])
    return ["".join(of[: len(of) - shared]).rstrip(" ,:") for of in words]


def _shared(words: Sequence[Sequence[str]]) -> int:
    """How many first words all share; each keeps at least one."""
    shared = 0
    for column in zip(*(of[:-1] for of in words), strict=False):
        if len({word.rstrip(" /,:.") for word in column}) > 1:
            break
        shared += 1
    return shared


def _cut(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    head = (longest - 1) // 2
    return name[:head].rstrip() + ELLIPSIS + name[head + 1 - longest :].lstrip()


def _unlike(name: str, taken: Iterable[str]) -> str:
    """With a number if another has this name."""
    used = set(taken)
    numbered = (f"{name} ({i})" for i in count(2))
    return name if name not in used else next(other for other in numbered if other not in used)
