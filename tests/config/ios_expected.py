"""Compares what genieparser says of an output of `show policy-map` with perhop's model and counters, value by value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Json = Any


@dataclass
class Verdict:
    """What became of a value: equal, different or not compared."""

    path: str
    what: str
    expected: Json = None
    ours: Json = None
    why: str = ""


@dataclass(frozen=True)
class Where:
    """Where a value of genieparser is."""

    interface: str = ""
    way: str = ""
    policy: str = ""
    classes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    # A child policy that stands beside its parent's classes, not in one of them.
    beside: bool = False

    @property
    def path(self) -> str:
        return "/".join((self.interface, self.way, self.policy, *self.classes, *self.keys))


# Keys of genieparser whose keys are names.
POLICIES = {"policy_name", "child_policy_name", "policy_map"}
CLASSES = {"class_map", "class", "class_names"}
WAYS = {"input", "output"}


def leaves(tree: Json, where: Where) -> Iterator[tuple[Where, Json]]:
    """Each value with its place."""
    for key, value in tree.items():
        if not isinstance(value, dict):
            yield replace(where, keys=(*where.keys, str(key))), value
        elif key in POLICIES:
            beside = where.beside or (key == "child_policy_name" and not where.classes)
            for policy, inner in value.items():
                yield from leaves(inner, replace(where, policy=policy, keys=(), beside=beside))
        elif key in CLASSES and "random_detect" not in where.keys:
            for name, inner in value.items():
                yield from leaves(inner, replace(where, classes=(*where.classes, name), keys=()))
        elif key in WAYS and all("class_map" in inner for inner in value.values() if isinstance(inner, dict)):
            for policy, inner in value.items():
                yield from leaves(inner, replace(where, way=key, policy=policy, keys=()))
        elif key in WAYS:
            yield from leaves(value, replace(where, way=key))
        elif key in {"service_policy", "interface"}:
            yield from leaves(value, where)
        elif not where.way and not where.policy and not where.classes and "class" not in key:
            yield from leaves(value, replace(where, interface=where.interface or str(key)))
        else:
            yield from leaves(value, replace(where, keys=(*where.keys, str(key))))


@dataclass
class Ours:
    """perhop's answer, by port."""

    answer: dict[str, Any]
    # What genieparser says of shares and levels: by place, of each class.
    siblings: dict[tuple[Json, ...], dict[tuple[str, ...], float]] = field(default_factory=dict)
    levels: dict[tuple[Json, ...], float] = field(default_factory=dict)
    bursts: dict[tuple[Json, ...], list[float]] = field(default_factory=dict)
    # Names of the classes of each policy, by the classes above it.
    names: dict[tuple[Json, ...], set[str]] = field(default_factory=dict)

    def ports(self, where: Where) -> list[Json]:
        """Ports that may be meant: by interface and direction, or by the policy's name."""
        ports = self.answer["device"]["ports"]
        meant = [port for port in ports if same_interface(port["interface"], where.interface)] or [
            port for port in ports if port["interface"] == where.policy
        ]
        return [port for port in meant or ports if where.way in ("", port["way"])]

    def queue(self, where: Where) -> tuple[Json, Json] | None:
        """The class of a scheduler, and its queue."""
        for port in self.ports(where):
            if port["queue"] and (found := self.down(port["queue"], where, 0)):
                return found
        # genieparser sometimes leaves away the classes above a policy.
        for port in self.ports(where):
            for inner in below(port["queue"]) if port["queue"] else ():
                if inner["name"] == where.policy and (found := self.down(inner, where, 0)):
                    return found
        return None

    def known(self, where: Where, depth: int, last: bool) -> set[str]:
        """Names of the classes that genieparser has at a depth: of the policy, or of those above it."""
        place = (where.interface, where.way, where.classes[:depth])
        lists = [
            names
            for (*at, policy, above), names in self.names.items()
            if (*at, above) == place and (policy == where.policy) == last
        ]
        return set().union(*lists)

    def down(self, queue: Json, where: Where, depth: int) -> tuple[Json, Json] | None:
        """Walks down the tree of queues; the default class may be the queue itself."""
        name, last = where.classes[depth], depth + 1 == len(where.classes)
        known = self.known(where, depth, last)
        entries = {entry["name"]: entry for entry in classes(queue)}
        if known and not set(entries) - {"class-default", "below priority"} <= known:
            entries = {}
        if entry := entries.get(name):
            found = (entry, entry["queue"]) if last else self.down(entry["queue"], where, depth + 1)
            if found:
                return found
        if name != "class-default":
            return None
        return ({}, queue) if last else self.down(queue, where, depth + 1)

    def conditioners(self, where: Where) -> list[Json]:
        """Several if an interface is shown twice."""
        name = "/".join(where.classes)
        known = [conditioner for port in self.ports(where) for conditioner in port["conditioners"]]
        exact = [conditioner for conditioner in known if conditioner["name"] == name]
        ending = [one for one in known if one["name"].endswith(f"/{name}")]
        inner = where.beside or (ending and where.interface == "" and not self.is_port(where.policy))
        return (ending or exact) if inner else (exact or ending)

    def is_port(self, name: str) -> bool:
        return any(port["interface"] == name for port in self.answer["device"]["ports"])

    def conditioner(self, where: Where) -> Json | None:
        return next(iter(self.conditioners(where)), None)

    def count(self, where: Where, kind: str, name: str) -> list[int]:
        """Counters of this name; several if an interface is shown twice."""
        entries = [entry for entry in self.answer["evidence"] if entry["kind"] == kind and name in entry["counts"]]
        of = "/".join(where.classes)
        entries = [
            entry for entry in entries if (entry["of"] == of and not where.beside) or entry["of"].endswith(f"/{of}")
        ]
        entries = [it for it in entries if same_interface(it["interface"], where.interface)] or entries
        return [entry["counts"][name] for entry in entries if where.way in ("", entry["way"])]


def same_interface(name: str, asked: str) -> bool:
    """`Hu2/0/5` is `HundredGigE2/0/5`."""
    kind, number = re.match(r"([A-Za-z -]*)(.*)", name).groups()  # type: ignore[union-attr]
    asked_kind, asked_number = re.match(r"([A-Za-z -]*)(.*)", asked).groups()  # type: ignore[union-attr]
    return number == asked_number and asked_kind != "" and kind.lower().startswith(asked_kind.lower())


def below(queue: Json) -> Iterator[Json]:
    for entry in queue["classes"]:
        yield entry["queue"]
        yield from below(entry["queue"])


def classes(queue: Json) -> Iterator[Json]:
    """Classes of a policy: those below priority are in a separate queue."""
    for entry in queue["classes"]:
        yield entry
        if entry["rest"] and entry["name"] != "class-default":
            yield from classes(entry["queue"])


def amount(setting: Json) -> float | None:
    """A value of a setting, in its base unit."""
    if setting is None:
        return None
    value = setting["value"] if isinstance(setting, dict) and "value" in setting else setting
    if isinstance(value, (int, float)):
        return float(value)
    match = re.fullmatch(r"([0-9.]+) ?([a-zA-Z/%]+)", value)
    if not match:
        return None
    scales = {"%": 1, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    scales |= {
        "p": 1,
        "p/s": 1,
        "kp/s": 1e3,
        "Mp/s": 1e6,
        "ns": 1e-6,
        "us": 1e-3,
        "ms": 1,
        "s": 1e3,
        "KiB": 1024,
        "MiB": 1048576,
    }
    return float(match[1]) * scales[match[2]]


def number(value: Json) -> float | None:
    try:
        return float(str(value).split()[0].rstrip("%"))
    except (ValueError, IndexError):
        return None


def is_close(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


Rule = Callable[[Ours, Where, Json], Verdict]


def said(where: Where, value: Json, ours: Json, equal: bool) -> Verdict:
    return Verdict(where.path, "equal" if equal else "different", value, ours)


def not_compared(why: str) -> Rule:
    return lambda _ours, where, value: Verdict(where.path, "not compared", value, why=why)


def counted(kind: str, name: str, scale: dict[str, int] | None = None) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        counts = []
        for known, times in (scale or {name: 1}).items():
            counts += [count * times for count in ours.count(where, kind, known)]
        return said(where, value, counts, number(value) in counts)

    return rule


def interval(ours: Ours, where: Where, value: Json) -> Verdict:
    """In seconds, but of `show policy-map multipoint` in minutes."""
    minutes, seconds = ours.count(where, "class", "interval_min"), ours.count(where, "class", "interval_s")
    known = [count * 60 for count in minutes] + seconds + minutes * (number(value) in minutes)
    return said(where, value, known, number(value) in known)


def shape_percent(ours: Ours, where: Where, value: Json) -> Verdict:
    found = ours.queue(where)
    rate = amount(found[1]["shape"].get("rate")) if found and found[1] else None
    return said(where, value, rate, is_close(rate, (number(value) or 0) * 1e7))


def ecn(ours: Ours, where: Where, value: Json) -> Verdict:
    found = ours.queue(where)
    ours_is = bool(found and found[1] and amount(found[1]["settings"].get("ecn")))
    return said(where, value, ours_is, ours_is is value)


def target(ours: Ours, where: Where, value: Json) -> Verdict:
    """What the shaper sends at; the reader says so where it is not the rate."""
    notes = [
        note
        for entry in ours.answer["account"].values()
        if entry["text"].endswith(f"rate {value}")
        for note in entry["notes"]
    ]
    if any("from which this differs" in note for note in notes):
        return Verdict(
            where.path, "not compared", value, why="a target that is not the rate of the shaper, which the account says"
        )
    return in_shape(ours, where, value)


def in_shape(ours: Ours, where: Where, value: Json) -> Verdict:
    found = ours.queue(where)
    rate = amount(found[1]["shape"].get("rate")) if found and found[1] else None
    return said(where, value, rate, is_close(rate, number(value)))


def shape_burst(ours: Ours, where: Where, value: Json) -> Verdict:
    """Bc and Be are bits, and one burst in bytes here: their sum is compared."""
    found = ours.queue(where)
    burst = amount(found[1]["shape"].get("burst")) if found and found[1] else None
    bits = ours.bursts[where.interface, where.way, where.policy, where.classes]
    # Where only Bc is printed, Be is as large.
    bits = bits * 2 if len(bits) == 1 else bits
    return said(where, value, burst, is_close(burst, float(int(sum(bits)) // 8)))


def policer(ours: Ours, where: Where) -> Json:
    """Keys of the policer; one that is the limit of a priority class has them there."""
    settings = (ours.conditioner(where) or {}).get("settings", {})
    if not settings and (found := ours.queue(where)):
        limits = found[0].get("settings", {})
        settings = {"cir": limits.get("rate"), "cbs": limits.get("burst")}
    return settings


def meter(*keys: str) -> Rule:
    """A key of the policer."""

    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        settings = policer(ours, where)
        values = [amount(settings.get(key)) for key in keys]
        if values == [None] and keys[0] in ("ebs", "pbs") and "pir" not in settings:
            return Verdict(
                where.path, "not compared", value, why="a second bucket without effect: no action of its own"
            )
        return said(where, value, values, any(is_close(one, number(value)) for one in values))

    return rule


def meter_time(rate: str, burst: str) -> Rule:
    """A burst as a time: as it is, or in bytes at the rate."""

    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        settings = policer(ours, where)
        ours_is = amount(settings.get(burst))
        if ours_is is None and number(value) == 0:
            return Verdict(
                where.path, "not compared", value, why="a second bucket without effect: no action of its own"
            )
        in_bytes = (amount(settings.get(rate)) or 0) / 8e3 * (number(value) or 0)
        return said(where, value, ours_is, is_close(ours_is, number(value)) or is_close(ours_is, in_bytes))

    return rule


def percent_of_link(key: str) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        rate = amount(policer(ours, where).get(key))
        return said(where, value, rate, is_close(rate, (number(value) or 0) * 1e7))

    return rule


def limit(unit: str) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        found = ours.queue(where)
        setting = found[1]["settings"].get("limit") if found and found[1] else None
        if setting is None:
            return unqueued(ours, where, value)
        right = setting["value"].endswith("p") == (unit == "p")
        return said(where, value, setting, right and is_close(amount(setting), number(value)))

    return rule


def unqueued(ours: Ours, where: Where, value: Json) -> Verdict:
    if any(port["way"] == "input" for port in ours.ports(where)):
        return Verdict(where.path, "not compared", value, why="packets that come in do not wait")
    if "child_policy_name" in where.path or ours.queue(where):
        return Verdict(where.path, "not compared", value, why="the queue is that of the classes below it")
    return Verdict(where.path, "not compared", value, why="nothing waits in a queue of its own in this policy")


COLOURS = {"conformed": "green", "exceeded": "yellow", "violated": "red"}


def actions_of(ours: Ours, where: Where, colour: str) -> list[str] | None:
    conditioner = ours.conditioner(where)
    if conditioner is None:
        found = ours.queue(where)
        if found and found[0].get("settings", {}).get("police", {}).get("value") == "always":
            return ["transmit"] if colour == "conformed" else ["drop"]
        return None
    name = COLOURS[colour]
    if conditioner["kind"] == "token-bucket" and colour == "exceeded":
        name = "red"
    actions = conditioner["actions"].get(name)
    return None if actions is None else list(actions)


def action(ours: Ours, where: Where, value: Json) -> Verdict:
    """`actions: {transmit: True}`, `actions: {set_dscp_transmit: "af31"}`."""
    ours_are = actions_of(ours, where, where.keys[1])
    return one_action(where, where.keys[-1].replace("_", "-"), value, ours_are)


def one_action(where: Where, name: str, value: Json, ours_are: list[str] | None) -> Verdict:
    if ours_are is None:
        return Verdict(where.path, "different", value, None)
    passes = "drop" not in ours_are
    if name == "drop":
        return said(where, value, ours_are, not passes)
    if name.startswith("set-dscp") and "table" not in str(value):
        return said(where, value, ours_are, any(f"mark {str(value).upper()}" == one for one in ours_are))
    if name.startswith("set-prec") and "table" not in str(value):
        marks = {"mark BE" if number(value) == 0 else f"mark CS{value}"}
        return said(where, value, ours_are, bool(marks & set(ours_are)))
    return said(where, value, ours_are, passes)


def action_list(colour: str) -> Rule:
    """`conform_action: ["set-prec-transmit 4", "set-frde-transmit"]`."""

    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        ours_are = actions_of(ours, where, colour)
        verdicts = [one_action(where, *([*one.split(" ", 1), ""])[:2], ours_are) for one in value]
        return said(where, value, ours_are, all(verdict.what == "equal" for verdict in verdicts))

    return rule


def profile(ours: Ours, where: Where) -> Json | None:
    found = ours.queue(where)
    if not found or not found[1]:
        return None
    table = next((name for name in ("class", "classes", "class_val") if name in where.keys), "")
    key = where.keys[where.keys.index(table) + 1]
    names = names_of(key)
    for entry in (found[1]["settings"].get("profiles") or {"value": []})["value"]:
        listed = entry.get("for")
        listed = [listed] if isinstance(listed, str) else listed
        colour = {"0": "green", "1": "yellow", "2": "red"}.get(key)
        if listed is None or any(name in listed for name in [*names, colour]):
            return entry
    return None


def names_of(key: str) -> list[str]:
    if key.startswith("default"):
        return ["BE"]
    if key.isdigit() and int(key) < 8:
        return ["BE" if key == "0" else f"CS{key}"]
    return ["BE"] if key == "default" else [key.upper()]


def unread(ours: Ours, where: Where, value: Json) -> Verdict | None:
    """Profiles that the account says have no packets."""
    rows = [entry for entry in ours.answer["account"].values() if entry["text"].split()[:1] == list(where.keys[-2:-1])]
    if any("discard classes above 2" in note for entry in rows for note in entry["notes"]):
        return Verdict(where.path, "not compared", value, why="discard classes above 2 are red, which the account says")
    return None


def threshold(name: str) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        if verdict := unread(ours, where, value):
            return verdict
        if value == "-":
            return Verdict(where.path, "not compared", value, why="a threshold that the device does not say")
        if "rsvp" in where.keys:
            return Verdict(where.path, "not compared", value, why="packets of reservations are not told from others")
        entry = profile(ours, where)
        found = amount(entry[name]) if entry else None
        return said(where, value, found, is_close(found, number(value)))

    return rule


def probability(ours: Ours, where: Where, value: Json) -> Verdict:
    if verdict := unread(ours, where, value):
        return verdict
    if "rsvp" in where.keys:
        return Verdict(where.path, "not compared", value, why="packets of reservations are not told from others")
    entry = profile(ours, where)
    if entry is None or "max-p" not in entry:
        return Verdict(where.path, "not compared", value, why="a profile without packets here")
    wanted = 1 / int(str(value).split("/")[1])
    return said(where, value, entry and entry["max-p"], bool(entry) and is_close(entry["max-p"], wanted))


def weight(ours: Ours, where: Where, value: Json) -> Verdict:
    found = ours.queue(where)
    ours_is = amount(found[1]["settings"].get("weight")) if found and found[1] else None
    return said(where, value, ours_is, is_close(ours_is, number(value)))


def by_random_detect(name: str, half: int | None = None) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        key = where.keys[2]
        value = value if half is None else str(value).split("/")[half]
        counts = ours.count(where, f"random-detect {key}", name)
        return said(where, value, counts, number(value) in counts)

    return rule


def pair(name: str) -> Rule:
    """`transmitted: "1300/650000"`."""

    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        both = [
            by_random_detect(f"{name}_{unit}", i)(ours, where, value) for i, unit in enumerate(("packets", "bytes"))
        ]
        return said(where, value, [one.ours for one in both], all(one.what == "equal" for one in both))

    return rule


# Code points by number, and what has two names.
NUMBERS = {"default": "BE", "0": "BE", "1": "LE", "8": "CS1", "10": "AF11", "46": "EF", "48": "CS6"}


def dscps(texts: list[str]) -> set[str] | None:
    """Code points that `match` lines name; `None` if one names something else."""
    names: set[str] = set()
    for text in texts:
        words = [word for word in text.replace("ip ", "").split() if not re.fullmatch(r"\([0-9]+\)", word)]
        if words[:1] == ["dscp"]:
            names |= {NUMBERS.get(word, word.upper()) for word in words[1:]}
        elif words[:1] == ["precedence"]:
            names |= {"BE" if word == "0" else f"CS{word}" for word in words[1:]}
        else:
            return None
    return names


def matches(ours: Ours, where: Where, value: Json) -> Verdict:
    names = dscps([value] if isinstance(value, str) else value)
    if names is None:
        return Verdict(where.path, "not compared", value, why="a `match` of other fields than code points")
    found = ours.queue(where)
    takes = (ours.conditioner(where) or {}).get("takes") or (found[0].get("takes") if found else None)
    if not takes:
        return Verdict(where.path, "not compared", value, why="a class without an action: it is not in the model")
    if any(entry["match"].get("conditioner") for entry in takes):
        takes = next(
            (
                it["takes"]
                for port in ours.ports(where)
                for it in port["conditioners"]
                if it["name"] == "/".join(where.classes)
            ),
            [],
        )
    listed = {name for entry in takes for name in entry["match"].get("dscp", [])}
    return said(where, value, sorted(listed), names <= listed)


def beside(where: Where) -> tuple[Json, ...]:
    """The classes of a policy that have the same key."""
    return (where.interface, where.way, where.policy, where.classes[:-1], where.keys)


def of_class(where: Where, name: str) -> tuple[Json, ...]:
    return (where.interface, where.way, where.policy, (*where.classes[:-1], name))


def shares(ours: Ours, where: Where, value: Json) -> Verdict:
    """A share is a ratio to those of the siblings: `siblings` has what genieparser says of them."""
    siblings = ours.siblings.get(beside(where), {})
    if where.keys[-1] == "bandwidth_kbps" and where.classes in ours.siblings.get(
        beside(replace(where, keys=("bandwidth_percent",))), {}
    ):
        return Verdict(where.path, "not compared", value, why="said in percent, too")
    mine = quantum(ours, where)
    for other, share in siblings.items():
        if other == where.classes:
            continue
        theirs = quantum(ours, replace(where, classes=other))
        if mine is None or theirs is None:
            return Verdict(where.path, "different", value, [mine, theirs])
        off = abs(mine * share - theirs * (number(value) or 0)) > (share + (number(value) or 0)) * 0.5
        if off:
            return Verdict(where.path, "different", value, [mine, theirs])
    if len(siblings) < 2:
        if any(port["way"] == "input" for port in ours.ports(where)):
            return Verdict(where.path, "not compared", value, why="packets that come in do not wait")
        return Verdict(where.path, "not compared", value, why="a share without another to compare it with")
    return Verdict(where.path, "equal", value, mine)


def quantum(ours: Ours, where: Where) -> float | None:
    found = ours.queue(where)
    return amount(found[0].get("settings", {}).get("quantum")) if found else None


def priority_rate(scale: float) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        found = ours.queue(where)
        rate = amount(found[0].get("settings", {}).get("rate")) if found else None
        if rate is None and any(port["way"] == "input" for port in ours.ports(where)):
            return Verdict(where.path, "not compared", value, why="packets that come in do not wait")
        return said(where, value, rate, is_close(rate, (number(value) or 0) * scale))

    return rule


def priority_burst(ours: Ours, where: Where, value: Json) -> Verdict:
    found = ours.queue(where)
    burst = amount(found[0].get("settings", {}).get("burst")) if found else None
    return said(where, value, burst, is_close(burst, number(value)))


def level(ours: Ours, where: Where, value: Json) -> Verdict:
    """The first of the list is the most urgent: no class before this one may have a higher number."""
    for port in ours.ports(where):
        names = [entry["name"] for entry in classes(port["queue"])] if port["queue"] else []
        if where.classes[-1] in names:
            before = names[: names.index(where.classes[-1])]
            levels = [ours.levels.get(of_class(where, name), 0) for name in before]
            return said(where, value, before, all(one <= (number(value) or 0) for one in levels))
    return said(where, value, None, False)


def marks(ours: Ours, where: Where, value: Json) -> Verdict:
    """`qos_set: {dscp: {ef: {marker_statistics: Disabled}}}`, `qos_set: {cos: {5: {packets_marked: 0}}}`."""
    keys = where.keys[1:]
    keys = tuple(key for key in keys if key != "stats")
    if keys[-1] == "packets_marked":
        counts = ours.count(where, f"set {' '.join(keys[:-1])}", "packets_marked")
        return said(where, value, counts, number(value) in counts)
    field_name, what = (keys[0], keys[1]) if len(keys) > 1 else (keys[0], str(value))
    if field_name not in ("dscp", "ip dscp", "precedence", "ip precedence") or "table" in what:
        return Verdict(where.path, "not compared", value, why="`set` of a field that no packet here has")
    wanted = f"mark {'BE' if what in ('default', '0') else what.upper()}"
    wanted = f"mark CS{what}" if "precedence" in field_name and what != "0" else wanted
    acts = [act for one in ours.conditioners(where) for acts in one["actions"].values() for act in acts]
    return said(where, value, acts, wanted in acts)


def queue_stats(name: str) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        label = where.keys[2]
        above = "".join(f"{one}/" for one in where.classes)
        of = f"{above}priority" if label == "default" else f"{above}priority level {label}"
        evidence = [it for it in ours.answer["evidence"] if it["of"] == of or it["of"].endswith(f"/{of}")]
        counts = [it["counts"][name] for it in evidence if name in it["counts"]]
        return said(where, value, counts, number(value) in counts)

    return rule


# Rules by the last key, or by what comes before it.
RULES: dict[str, Rule] = {
    "packets": counted("class", "packets"),
    "bytes": counted("class", "bytes"),
    "rate/interval": interval,
    "rate/interval_minutes": counted("class", "interval_min"),
    "rate/offered_rate_bps": counted("class", "offered_bps"),
    "rate/offered_bps": counted("class", "offered_bps"),
    "rate/drop_rate_bps": counted("class", "drop_bps"),
    "rate/drop_bps": counted("class", "drop_bps"),
    "match": matches,
    "match_evaluation": not_compared("all or any: resolved into the class's filters"),
    "match_mode": not_compared("all or any: resolved into the class's filters"),
    "queueing": not_compared("a heading"),
    "average_rate_traffic_shaping": not_compared("a heading"),
    "police": not_compared("a heading"),
    "queue_depth": counted("queue", "queue_depth"),
    "total_drops": counted("queue", "total_drops"),
    "no_buffer_drops": counted("queue", "no_buffer_drops"),
    "flowdrops": counted("queue", "flowdrops"),
    "pkts_output": counted("queue", "pkts_output"),
    "bytes_output": counted("queue", "bytes_output"),
    "output_packets": counted("queue", "pkts_output"),
    "output_bytes": counted("queue", "bytes_output"),
    "pkts_queued": counted("queue", "pkts_queued"),
    "bytes_queued": counted("queue", "bytes_queued"),
    "pkts_matched": counted("queue", "pkts_matched"),
    "bytes_matched": counted("queue", "bytes_matched"),
    "queue_counters/queue_depth": counted("queue", "queue_depth"),
    "queue_counters/total_drops": counted("queue", "total_drops"),
    "queue_counters/no_buffer_drops": counted("queue", "no_buffer_drops"),
    "queue_limit_packets": limit("p"),
    "queue_limit_bytes": limit("B"),
    "queue_limit/packets": limit("p"),
    "queue_limit/bytes": limit("B"),
    "queue_limit/ms": not_compared("a time that is said in bytes, too"),
    "queue_limit_us": not_compared("a time that is said in bytes, too"),
    "queue_limit_ms": not_compared("a time that is said in bytes, too"),
    "bandwidth_percent": shares,
    "bandwidth_kbps": shares,
    "bandwidth_remaining_percent": shares,
    "bandwidth_remaining_ratio": shares,
    "weighted_fair_queueing/bandwidth_percent": shares,
    "bandwidth": shares,
    "priority_levels": level,
    "shape_average_min": not_compared("a rate in another unit"),
    "set": not_compared("`set` of a field that no packet here has"),
    "police/rate": meter("cir"),
    "police/conform_color": not_compared("a class of colours: the code point's colour here"),
    "police/service_policy": not_compared("a name: the queue or the conditioners below"),
    "service_policy": not_compared("a name: the queue or the conditioners below"),
    "overhead_accounting": not_compared("a heading"),
    "match_evaluated": not_compared("all or any: resolved into the class's filters"),
    "shape_cir_bps": in_shape,
    "shape/cir_bps": in_shape,
    "cir_bps": in_shape,
    "target_shape_rate": target,
    "shape/target_rate_bps": target,
    "cir_percent": shape_percent,
    "weighted_fair_queueing/explicit_congestion_notification": ecn,
    "shape_type": not_compared("follows from the rate"),
    "shape/type": not_compared("follows from the rate"),
    "police/cir_bps": meter("cir"),
    "police/rate_bps": meter("cir"),
    "police/rate_pps": meter("cir"),
    "police/police_bps": meter("cir"),
    "police/pir_bps": meter("pir"),
    "police/pir": meter("pir"),
    "police/cir_bc_bytes": meter("cbs"),
    "police/burst_bytes": meter("cbs"),
    "police/burst_pkt": meter("cbs"),
    "police/police_limit": meter("cbs"),
    "police/bc_ms": meter_time("cir", "cbs"),
    "police/be_ms": meter_time("pir", "pbs"),
    "police/cir_be_bytes": meter("ebs"),
    "police/pir_be_bytes": meter("pbs"),
    # The excess burst of a policer with one rate, by another name.
    "police/pir_bc_bytes": meter("ebs", "cbs"),
    "police/extended_limit": meter("ebs"),
    "police/cir_percent": percent_of_link("cir"),
    "police/rate_percent": percent_of_link("cir"),
    "police/pir_percent": percent_of_link("pir"),
    "police/conform_action": action_list("conformed"),
    "police/exceed_action": action_list("exceeded"),
    "police/violate_action": action_list("violated"),
    "priority": not_compared("a heading"),
    "priority/type": not_compared("a heading"),
    "priority/percent": not_compared("said as a rate, too"),
    "priority/kbps": priority_rate(1e3),
    "priority_kbps": priority_rate(1e3),
    "priority_percent": priority_rate(1e7),
    "priority/burst_bytes": priority_burst,
    "priority/exceed_drops": counted("priority", "exceed_drops"),
    "priority_level": level,
    "random_detect/exp_weight_constant": weight,
    "random_detect/exponential_weight": weight,
    "random_detect/exp_weight_constant_fraction": not_compared("follows from the exponent"),
    "random_detect/mean_queue_depth": counted(
        "random-detect", "", {"mean_queue_depth": 1, "mean_queue_depth_packets": 1, "mean_queue_depth_bytes": 1}
    ),
    "random_detect/wred_type": not_compared("a unit"),
    "weighted_fair_queueing/exponential_weight": weight,
    "service_group": not_compared("the group of the interface"),
    "output_queue": not_compared("a number of the device's own"),
    "fair_queue_limit_per_flow": not_compared("FQ-CoDel has a limit for all flows together"),
}

BURSTS = {"shape_bc_bps", "shape_be_bps", "shape/bc_bytes", "shape/be_bytes", "bc_bits", "be_bits"}
SHARES = {
    "bandwidth_percent",
    "bandwidth_kbps",
    "bandwidth_remaining_percent",
    "bandwidth_remaining_ratio",
    "bandwidth",
}


def rule_of(where: Where) -> Rule:
    keys = "/".join(where.keys)
    if keys in BURSTS:
        return shape_burst
    if keys in RULES:
        return RULES[keys]
    last = where.keys[-1]
    if where.keys[0] == "queue_stats_for_all_priority_classes":
        if last.startswith("queue_limit"):
            return not_compared("a limit of the queue that priority classes share: each has it here")
        return not_compared("a heading") if last == "queueing" else queue_stats(last)
    if keys.startswith("priority_level/") and last == "kbps":
        return priority_rate(1e3)
    if where.keys[0] == "afd_wred_stats":
        return afd(where)
    if where.keys[0] == "qos_set":
        return marks
    if where.keys[0] == "police" and where.keys[-2] == "actions":
        return action
    if where.keys[0] == "police" and where.keys[1] in COLOURS:
        return counted("police", f"{where.keys[1]}_{last}")
    if where.keys[0] == "match":
        return not_compared("counters of a `match`: by its place here")
    if where.keys[0] == "match_stats":
        names = {"packets": "packets", "bytes": "bytes", "offered_rate_bps": "offered_bps"}
        return counted("match 1", names[last]) if last in names else not_compared("the interval of the class")
    if where.keys[0] == "random_detect" and last in ("precedence", "bytes1", "bytes2", "bytes3"):
        return not_compared("thresholds as typed, which the table shows, too")
    if where.keys[0] == "random_detect" or "class_val" in where.keys:
        return in_random_detect(where)
    return lambda _ours, where, value: Verdict(where.path, "not compared", value, why=f"no rule for `{keys}`")


def afd(where: Where) -> Rule:
    """`virtual_class: {0: {min: 10, max: 20, dscp: 1, transmit_bytes: ..}}`."""
    last = where.keys[-1]
    if last in ("total_drops_bytes", "total_drops_packets"):
        return counted("afd", last)
    if last in ("min", "max"):
        return virtual_class(last)
    if last in ("afd_weight", "dscp"):
        return not_compared(
            "the weight of a virtual class" if last == "afd_weight" else "whose thresholds are compared"
        )
    return counted(f"afd {where.keys[2]}", last)


def virtual_class(name: str) -> Rule:
    def rule(ours: Ours, where: Where, value: Json) -> Verdict:
        found = ours.queue(where)
        profiles = found[1]["settings"]["profiles"]["value"] if found and found[1] else []
        ours_is = profiles[int(where.keys[2])][name] if int(where.keys[2]) < len(profiles) else None
        return said(where, value, ours_is, ours_is == f"{value}%")

    return rule


def in_random_detect(where: Where) -> Rule:
    rules: dict[str, Rule] = {
        "minimum_thresh": threshold("min"),
        "min_threshold": threshold("min"),
        "maximum_thresh": threshold("max"),
        "max_threshold": threshold("max"),
        "mark_prob": probability,
        "mark_probability": probability,
        "transmitted": pair("transmitted"),
        "random_drop": pair("random_drop"),
        "tail_drop": pair("tail_drop"),
    }
    last, before = where.keys[-1], where.keys[-2]
    if last in rules:
        return rules[last]
    if before in ("transmitted", "random_drop", "tail_drop"):
        return by_random_detect(f"{before}_{'packets' if last == 'pkts' else last}")
    if before in ("minimum_threshold", "maximum_threshold"):
        if last not in {"bytes", "packets"}:
            return not_compared("a time that is said in bytes, too")
        return threshold("min" if before.startswith("min") else "max")
    if before == "mean_queue_depth":
        return counted("random-detect", f"mean_queue_depth_{last}")
    if last.split("_")[-1] in ("packets", "bytes"):
        return by_random_detect(last)
    return not_compared(f"no rule for `{last}` of WRED")


def verdicts(expected: dict[str, Any], answer: dict[str, Any]) -> Iterator[Verdict]:
    """What became of each value."""
    ours = Ours(answer)
    all_of_them = list(leaves(expected, Where()))
    for where, value in all_of_them:
        keys = "/".join(where.keys)
        if keys in SHARES and where.classes:
            ours.siblings.setdefault(beside(where), {})[where.classes] = number(value) or 0
        if keys == "priority_level" and where.classes:
            ours.levels[of_class(where, where.classes[-1])] = number(value) or 0
        if keys in BURSTS:
            place = (where.interface, where.way, where.policy, where.classes)
            ours.bursts.setdefault(place, []).append(number(value) or 0)
        if where.classes:
            ours.names.setdefault((where.interface, where.way, where.policy, where.classes[:-1]), set()).add(
                where.classes[-1]
            )
    for where, value in all_of_them:
        yield rule_of(where)(ours, where, value)
