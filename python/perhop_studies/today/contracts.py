"""What follows from the contracts of a scenario file: rates at each port, tickets, classes.

The file says who has which contract where (`conditioner.contract`), where hosts are labelled (`conditioner.label`), and
which class and code point a node's traffic has. A marker of `runs.toml` states the rest, and gets from here

- the committed rate of each port, and a peak rate of one and a half times that where the kind has one;
- PPS: tickets of each labelled host, in proportion to what it is entitled to;
- MSVB and DRR: a class for each code point, with its customers' part of what all are entitled to.

`quic = { ... }` among the settings puts every TCP traffic onto QUIC with these keys: files stay files, transfers become
responses of the same size and frequency, and so does each object of the web, at its mean frequency.
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from perhop_studies.runs import Settings

NAMES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
ENTITLED: dict[str, float] = NAMES["entitled"]
"""What each class of the five scenarios is entitled to, Mbit/s: its contract, or its part of one it shares."""

PEAK = 1.5
TICKETS = 1000
"""For each Mbit/s: a full packet at the contract's rate carries 12."""
ROUND, PACKET = 1500, 1500
"""DRR's quantum for each Mbit/s, and its least: a full packet. B."""
TWO_RATES = ("trtcm", "tsw3cm")


def laid(path: Path, settings: Settings) -> Settings:
    """The settings with what the contracts of the file add."""
    file = _read(path)
    found = dict(settings)
    if marker := found.get("conditioner.contract"):
        found["conditioner.contract"] = {**marker, "at": _rates(file, marker["kind"])}
    if labeller := found.get("conditioner.label"):
        found["conditioner.label"] = {**labeller, "at": _tickets(file)}
    if queue := found.get("queue.link"):
        found["queue.link"] = {**queue, **_classes(file, queue)}
    if quic := found.pop("quic", None):
        found |= {f'traffic."{name}"': {**_quic(one), **quic} for name, one in file["traffic"].items() if "tcp" in one}
    return found


def _quic(traffic: Mapping[str, Any]) -> dict[str, Any]:
    """The same over QUIC."""
    kept = {key: traffic[key] for key in ("to", "dscp", "class", "flows", "size", "gap") if key in traffic}
    sender = traffic["from"]
    found = {"model": "quic", "from": sender if isinstance(sender, str) else sender[0], **kept}
    if traffic["model"] == "web":
        seconds = float(traffic["page-gap"]["mean"].removesuffix("s"))
        found["gap"] = f"{1000 * seconds / traffic['objects']:g}ms"
    return found


@cache
def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _rates(file: Mapping[str, Any], kind: str) -> dict[str, dict[str, str]]:
    """`cir` of each port, and `pir` where the kind has two rates."""
    found = {}
    for port, stated in file["conditioner"]["contract"]["at"].items():
        rate = float(stated["cir"].removesuffix("Mbit/s"))
        peak = {"pir": f"{PEAK * rate:g}Mbit/s"} if kind in TWO_RATES else {}
        found[port] = {"cir": stated["cir"], **peak}
    return found


def _tickets(file: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Of each labelled host, by the class of its traffic."""
    ports = file["conditioner"]["label"]["at"]
    classes = {port: _classes_of(file, port.partition(" -> ")[0]) for port in ports}
    return {port: {"tickets": f"{TICKETS * sum(map(ENTITLED.__getitem__, own)):g}t/s"} for port, own in classes.items()}


def _classes_of(file: Mapping[str, Any], node: str) -> set[str]:
    return {_class(name, one) for name, one in file["traffic"].items() if one["from"] in (node, [node])}


def _class(name: str, traffic: Mapping[str, Any]) -> str:
    return str(traffic.get("class", name))


def _classes(file: Mapping[str, Any], queue: Mapping[str, Any]) -> dict[str, Any]:
    """The classes that a queue needs, by code point."""
    parts = _parts(file)
    if queue.get("scheduler") == "drr":
        quanta = {code: max(PACKET, ROUND * part) for code, part in parts.items()}
        return {"classes": [{"for": code, "quantum": f"{size:g}B", **LEAF} for code, size in quanta.items()]}
    if queue.get("aqm") == "msvb":
        whole = sum(parts.values())
        return {
            "classes": [{"for": code, "share": math.floor(1e4 * part / whole) / 1e4} for code, part in parts.items()]
        }
    return {}


LEAF = {"queue": {"scheduler": "fq-codel"}}


def _parts(file: Mapping[str, Any]) -> dict[str, float]:
    """What the customers behind each code point are entitled to, Mbit/s."""
    classes: defaultdict[str, set[str]] = defaultdict(set)
    for name, one in file["traffic"].items():
        if _class(name, one) in ENTITLED:
            classes[one["dscp"]].add(_class(name, one))
    return {code: sum(map(ENTITLED.__getitem__, own)) for code, own in classes.items()}
