"""The shortest texts that still show a difference: lines go while both sides say of a packet what they said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from answers import Answer
from drawn import Configuration

#: Asks both sides: the kernel's answers, and perhop's.
Ask = Callable[[list[Configuration]], tuple[list[Answer], list[Answer]]]
LARGEST = 8


@dataclass
class Case:
    """A configuration with one packet, and the fates that differ."""

    it: Configuration
    kernel: str
    perhop: str
    #: Whether it is a line that the kernel refuses which makes the difference.
    refused: bool = False
    #: Lines that may go together, once those of a round are known.
    removable: list[list[int]] = field(default_factory=list)

    def without(self, lines: list[int]) -> Configuration:
        """The same without these lines."""
        kept = [line for i, line in enumerate(self.it.text.splitlines()) if i not in set(lines)]
        return replace(self.it, text="\n".join(kept) + "\n")

    def chunks(self, size: int) -> list[list[int]]:
        """Its lines with commands, so many at a time, the last first."""
        own = [i for i, line in enumerate(self.it.text.splitlines()) if line.startswith("tc ")]
        return [own[max(at - size, 0) : at] for at in range(len(own), 0, -size)]


def reduce(cases: list[Case], ask: Ask) -> None:
    """Shortens all of them, the kernel taking each line."""
    for case, same in zip(cases, _same([(case, []) for case in cases], ask), strict=True):
        case.refused = not same
    cases = [case for case in cases if not case.refused]
    size = LARGEST
    while True:
        moved = _round(cases, size, ask)
        if size == 1 and not moved:
            return
        size = max(size // 2, 1)


def _round(cases: list[Case], size: int, ask: Ask) -> bool:
    """Takes chunks of one size away; whether any could go."""
    tried = [(case, chunk) for case in cases for chunk in case.chunks(size)]
    for case in cases:
        case.removable = []
    for (case, chunk), same in zip(tried, _same(tried, ask), strict=True):
        if same:
            case.removable.append(chunk)
    unions = [
        (case, [line for chunk in case.removable[:many] for line in chunk])
        for case in cases
        for many in _parts(len(case.removable))
    ]
    done: set[int] = set()
    for (case, lines), same in zip(unions, _same(unions, ask), strict=True):
        if same and id(case) not in done:
            done.add(id(case))
            case.it = case.without(lines)
    return bool(done)


def _parts(many: int) -> list[int]:
    """How many of the chunks are tried together: all, half of them, one."""
    return sorted({many, many // 2, min(many, 1)} - {0}, reverse=True)


def _same(tried: list[tuple[Case, list[int]]], ask: Ask) -> list[bool]:
    """Whether both sides still say the same of the packet."""
    if not tried:
        return []
    kernel, perhop = ask([case.without(lines) for case, lines in tried])
    return [
        one.fates == [case.kernel] and other.fates == [case.perhop]
        for (case, _), one, other in zip(tried, kernel, perhop, strict=True)
    ]
