"""Configurations of tc as a user types them, drawn at random, each with packets that its filters look at.

A configuration is a tree of HTB, HFSC, prio and DRR with at most twelve classes, or a place where packets come in.
Whether a policer lets a packet pass is certain: its bucket holds all packets, or none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from filters import Filters
from headers import Wish, packet

PACKETS = 200
MOST_CLASSES = 12
#: How deep classes of HTB and HFSC are, and queueing disciplines within each other.
LEVELS, WITHIN = 3, 3
#: Queues of leaves, which hold all packets.
LEAVES = ["pfifo limit 1000", "bfifo limit 10mb", "fq_codel"]


@dataclass
class Configuration:
    """A text, the direction of its packets, and those."""

    name: str
    direction: str
    text: str
    packets: list[str]


@dataclass
class Class:
    """A class: its number, the class above it, the classes below it, and whether it has a queueing discipline."""

    minor: int
    above: Class | None = None
    below: list[Class] = field(default_factory=list)
    qdisc: bool = False

    def depth(self) -> int:
        """1 for those at the top."""
        return 1 if self.above is None else 1 + self.above.depth()


class Drawing:
    """A configuration while it is drawn."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.device = draw.choice(["eth0", "eth0", "$DEV"])
        self.hexadecimal = draw.random() < 0.08
        self.majors = draw.sample(range(1, 0x30), 8)
        self.left = draw.randrange(3, MOST_CLASSES + 1)
        self.filters = Filters(draw, self.shown)
        if self.device == "$DEV":
            self.lines += ["#!/bin/sh", "DEV=eth0"]

    def say(self, words: str) -> None:
        """A command."""
        what, verb, rest = words.split(" ", 2)
        self.lines.append(f"tc {what} {verb} dev {self.device} {rest}")

    def shown(self, major: int, minor: int = 0) -> str:
        """A handle or the number of a class, as this text writes them."""
        first, second = (f"0x{it:x}" if self.hexadecimal else f"{it:x}" for it in (major, minor))
        return f"{first}:{second if minor else ''}"

    def output(self) -> None:
        """A tree, and for some texts filters before it."""
        if self.draw.random() < 0.3:
            self.say("qdisc add clsact")
            self.filters.marks = True
            for line in self.filters.at("egress", [], self.draw.randrange(1, 4)):
                self.say(line)
        self.qdisc("root", 0)

    def input(self) -> None:
        """Filters of packets that come in."""
        ingress = self.draw.random() < 0.6
        self.say("qdisc add handle ffff: ingress" if ingress else "qdisc add clsact")
        for line in self.filters.at("parent ffff:" if ingress else "ingress", [], self.draw.randrange(1, 7)):
            self.say(line)

    def qdisc(self, place: str, within: int) -> None:
        """A queueing discipline with classes, what is below its leaves, and its filters."""
        kind, major = self.draw.choice(["htb", "htb", "hfsc", "prio", "drr"]), self.majors.pop()
        if kind == "prio":
            classes, words = self.bands()
        else:
            classes = self.tree(kind)
            words = self.default(kind, classes)
        self.say(f"qdisc add {place} handle {self.shown(major)} {kind}{words}")
        for it in classes if kind != "prio" else []:
            above = self.shown(major, it.above.minor if it.above else 0)
            number = self.shown(major, it.minor)
            self.say(f"class add parent {above} classid {number} {kind}{self.share(kind)}")
        first = self.draw.random() < 0.5
        if first:
            self.ask(major, kind, classes)
        for it in classes:
            if not it.below:
                self.leaf(major, it, within)
        if not first:
            self.ask(major, kind, classes)

    def bands(self) -> tuple[list[Class], str]:
        """The bands of prio."""
        many = min(self.draw.choice([2, 3, 3, 3, 4, 5, 8]), max(self.left, 2))
        self.left -= many
        said = "" if many == 3 and self.draw.random() < 0.7 else f" bands {many}"
        if many < 3 or self.draw.random() < 0.3:
            said += " priomap " + " ".join(str(self.draw.randrange(many)) for _ in range(16))
        return [Class(i + 1) for i in range(many)], said

    def tree(self, kind: str) -> list[Class]:
        """Two classes or more, in the order in which they are made."""
        many = max(2, min(self.draw.randrange(2, 9), self.left))
        self.left -= many
        most = 0x100 if self.draw.random() < 0.8 else 0x10000
        classes: list[Class] = []
        for minor in self.draw.sample(range(1, most), many):
            may = [it for it in classes if it.depth() < LEVELS] if kind != "drr" else []
            above = self.draw.choice(may) if may and self.draw.random() < 0.7 else None
            classes.append(Class(minor, above))
            if above:
                above.below.append(classes[-1])
        return classes

    def default(self, kind: str, classes: list[Class]) -> str:
        """The class of what no filter names: a leaf, an inner one, one that is not there, none."""
        if kind == "drr":
            return ""
        leaves, inner = ([it.minor for it in classes if bool(it.below) is below] for below in (False, True))
        absent = [0xFFFE, max(leaves) + 1 & 0xFFFF or 1, 0]
        pool = self.draw.choices([leaves, inner or leaves, absent, []], [6, 1, 1, 2])[0]
        if not pool:
            return ""
        minor = self.draw.choice(pool)
        return f" default {self.draw.choice(['', '', '0x'])}{minor:x}"

    def share(self, kind: str) -> str:
        """What a class gets."""
        rate, more = f"{self.draw.randrange(1, 60)}mbit", f"{self.draw.randrange(60, 100)}mbit"
        forms = {
            "htb": [
                f" rate {rate}",
                f" rate {rate} ceil {more}",
                f" rate {rate} ceil {more} prio {self.draw.randrange(8)}",
            ],
            "hfsc": [f" sc rate {rate}", f" ls m2 {rate} ul m2 {more}", f" ls rate {rate} ul rate {more}"],
            "drr": ["", f" quantum {self.draw.randrange(1500, 9000)}"],
        }
        return self.draw.choice(forms[kind])

    def leaf(self, major: int, it: Class, within: int) -> None:
        """What a leaf has: nothing, a queue, or another tree."""
        chance, place = self.draw.random(), f"parent {self.shown(major, it.minor)}"
        if chance < 0.2 and self.left >= 2 and within < WITHIN:
            it.qdisc = True
            self.qdisc(place, within + 1)
        elif chance < 0.5:
            self.say(f"qdisc add {place} {self.draw.choice(LEAVES)}")

    def ask(self, major: int, kind: str, classes: list[Class]) -> None:
        """The filters of a queueing discipline, and of some of its inner classes."""
        many = self.draw.choices([0, self.draw.randrange(1, 7)], [1, 9])[0]
        for line in self.filters.at(f"parent {self.shown(major)}", self.targets(major, kind, classes), many):
            self.say(line)
        for it in classes:
            if it.below and self.draw.random() < 0.35:
                own = [(major, below.minor) for below in it.below]
                for line in self.filters.at(f"parent {self.shown(major, it.minor)}", own, self.draw.randrange(1, 3)):
                    self.say(line)

    def targets(self, major: int, kind: str, classes: list[Class]) -> list[tuple[int, int]]:
        """Classes that filters name: leaves for the most part, some inner, absent or of another number."""
        found = []
        for it in classes:
            found += [(major, it.minor)] * (2 if it.below else 8)
        foreign = self.draw.choice([0, self.draw.randrange(1, 0x40)])
        found += [(foreign, self.draw.choice(classes).minor)] * (len(classes) if kind == "prio" else 1)
        return [*found, (major, self.draw.randrange(1, 0x100)), (major, 0)]


def configuration(seed: int, number: int) -> Configuration:
    """The configuration of a number among those of a seed."""
    draw = Random(f"{seed}/{number}")
    drawing, direction = Drawing(draw), draw.choices(["output", "input"], [6, 1])[0]
    getattr(drawing, direction)()
    wishes: list[Wish] = drawing.filters.wishes
    packets = [packet(draw, wishes).hex() for _ in range(PACKETS)]
    return Configuration(f"{seed}-{number}", direction, "\n".join(drawing.lines) + "\n", packets)
