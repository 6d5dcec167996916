"""The feature of a text that is the cause of a difference, as far as its shortest form tells.

What is left of a text is needed for the difference. The first of the `KINDS` that it has names it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import answers
from reduced import Case

KIND_WORDS = {"u32", "flower", "fw", "matchall", "basic"}


@dataclass
class Filter:
    """A filter of a text."""

    words: list[str]
    place: tuple[int, int] | str
    target: tuple[int, int] | None

    @property
    def kind(self) -> str:
        """As tc calls it."""
        return next(word for word in self.words if word in KIND_WORDS)

    @property
    def protocol(self) -> str:
        """The packets that it is asked about."""
        return self.words[self.words.index("protocol") + 1]

    def has(self, *words: str) -> bool:
        """Whether it has one of these words, by itself or in a pair of a policer."""
        own = {part for word in self.words for part in word.split("/")}
        return bool(own & set(words))

    @property
    def acts(self) -> bool:
        """Whether it has an action."""
        return self.has("police", "action")


@dataclass
class Facts:
    """What is left of a text."""

    case: Case
    #: The kinds of queueing disciplines by their handles.
    qdiscs: dict[int, str]
    #: Classes, and those above others.
    classes: set[tuple[int, int]]
    inner: set[tuple[int, int]]
    #: What HTB and HFSC do with what no filter names.
    defaults: dict[int, int]
    filters: list[Filter]
    #: The handle of the first queueing discipline.
    root: int = 0


def facts(case: Case) -> Facts:
    """Reads what is left."""
    it = Facts(case, {}, set(), set(), {}, [])
    for command in answers.commands(case.it.text):
        words = command.split()
        what = {"qdisc": _qdisc, "class": _class, "filter": _filter}[words[0]]
        what(it, words)
    return it


def _id(word: str) -> tuple[int, int]:
    major, _, minor = word.partition(":")
    return int(major or "0", 16), int(minor or "0", 16)


def _qdisc(it: Facts, words: list[str]) -> None:
    if "handle" in words:
        at = words.index("handle")
        major, kind = _id(words[at + 1])[0], words[at + 2]
        it.qdiscs[major] = kind
        it.root = major if "root" in words else it.root
        if "default" in words:
            it.defaults[major] = int(words[words.index("default") + 1], 16)


def _class(it: Facts, words: list[str]) -> None:
    it.classes.add(_id(words[words.index("classid") + 1]))
    above = _id(words[words.index("parent") + 1])
    if above[1]:
        it.inner.add(above)


def _filter(it: Facts, words: list[str]) -> None:
    place: tuple[int, int] | str = "egress" if "egress" in words else "ingress"
    if "parent" in words:
        place = _id(words[words.index("parent") + 1])
    target = next((_id(words[i + 1]) for i, word in enumerate(words) if word in {"flowid", "classid"}), None)
    it.filters.append(Filter(words, place, target))


def _any(ask: Callable[[Filter], bool]) -> Callable[[Facts], bool]:
    return lambda it: any(ask(filter_) for filter_ in it.filters)


def _astray(it: Facts, inner: bool) -> bool:
    """A filter leads to a class that is not there, or that has others below it."""

    def wrong(target: tuple[int, int]) -> bool:
        known = it.qdiscs.get(target[0]) == "prio" or target in it.classes
        return target in it.inner if inner else bool(target[1]) and not known

    return any(one.target is not None and wrong(one.target) for one in it.filters)


def _foreign(it: Facts, prio: bool) -> bool:
    """A filter names a class by another major number than that of its place."""
    return any(
        one.target is not None
        and isinstance(one.place, tuple)
        and one.target[0] != one.place[0]
        and (it.qdiscs.get(one.place[0]) == "prio") is prio
        for one in it.filters
    )


def _default(it: Facts, absent: bool) -> bool:
    """The default class is not there, or has others below it."""
    pairs = {(major, minor) for major, minor in it.defaults.items() if minor}
    return bool(pairs - it.classes) if absent else bool(pairs & it.inner)


def _versions(it: Facts, ether: str, protocol: str) -> bool:
    """The packet is of one version of IP, and the filters are of the other."""
    return it.case.it.packets[0][:4] == ether and {one.protocol for one in it.filters} == {protocol}


def _nested(it: Facts) -> bool:
    return any(isinstance(one.place, tuple) and one.place[0] not in {it.root, 0xFFFF} for one in it.filters)


def _twice(it: Facts) -> bool:
    before, behind = ([one for one in it.filters if (one.place == "egress") is so] for so in (True, False))
    return bool(before) and any(one.acts for one in behind)


KINDS: list[tuple[str, Callable[[Facts], bool]]] = [
    ("packet that is not IP", lambda it: is_foreign(it.case)),
    ("packet with a VLAN tag", lambda it: it.case.it.packets[0][:4] == "8100"),
    ("line that the kernel refuses", lambda it: it.case.refused),
    ("handle in hexadecimal", lambda it: " handle 0x" in it.case.it.text or " parent 0x" in it.case.it.text),
    ("filter of an inner class", _any(lambda it: isinstance(it.place, tuple) and it.place[1] != 0)),
    ("filter at egress, then an action at the root", _twice),
    ("filter by a mark", _any(lambda it: it.kind == "fw")),
    ("skbedit priority", _any(lambda it: it.has("priority") and it.has("skbedit"))),
    ("reclassify", _any(lambda it: it.has("reclassify"))),
    ("foreign major in flowid, prio", lambda it: _foreign(it, True)),
    ("foreign major in flowid", lambda it: _foreign(it, False)),
    ("action of a filter to an inner class", lambda it: _astray(it, True) and any(one.acts for one in it.filters)),
    ("action of a filter to an absent class", lambda it: _astray(it, False) and any(one.acts for one in it.filters)),
    ("filter to an inner class", lambda it: _astray(it, True)),
    ("filter to an absent class", lambda it: _astray(it, False)),
    ("filter to the queueing discipline itself", _any(lambda it: it.target is not None and it.target[1] == 0)),
    ("IPv6 packet, filters of protocol ip", lambda it: _versions(it, "86dd", "ip")),
    ("IPv4 packet, filters of protocol ipv6", lambda it: _versions(it, "0800", "ipv6")),
    ("protocol all", _any(lambda it: it.protocol == "all")),
    ("skbedit mark", _any(lambda it: it.has("skbedit"))),
    ("policer and continue", _any(lambda it: it.has("police") and it.has("continue"))),
    ("policer and pipe", _any(lambda it: it.has("police") and it.has("pipe"))),
    ("policer", _any(lambda it: it.has("police"))),
    ("action continue", _any(lambda it: it.has("continue"))),
    ("action pipe", _any(lambda it: it.has("pipe"))),
    ("action drop or pass", _any(lambda it: it.acts)),
    ("filter below a class", _nested),
    ("default at an inner class", lambda it: _default(it, False)),
    ("default at an absent class", lambda it: _default(it, True)),
    ("two filters", lambda it: len(it.filters) > 1),
    ("u32", _any(lambda it: it.kind == "u32")),
    ("flower", _any(lambda it: it.kind == "flower")),
    ("basic", _any(lambda it: it.kind == "basic")),
    ("matchall", _any(lambda it: it.kind == "matchall")),
    ("drr without filter", lambda it: "drr" in it.qdiscs.values()),
    ("priomap", lambda it: "prio" in it.qdiscs.values()),
]


def is_foreign(case: Case) -> bool:
    """Whether the packet is neither IP nor tagged, which is a cause by itself."""
    return case.it.packets[0][:4] == "0806"


def kind_of(case: Case) -> str:
    """In the words of tc."""
    it = facts(case)
    return next((name for name, has in KINDS if has(it)), "other")
