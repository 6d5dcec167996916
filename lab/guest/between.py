"""`perhop forward` in the wire behind a port of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import capture
import forward
import network

_NAMESPACE, _NEAR, _FAR = "l", "l0", "l1"


class Between:
    """The forwarder, and what passes on both sides of it."""

    def __init__(self, linux: dict[str, Any], stated: dict[str, Any]) -> None:
        """`linux`: the network of a scenario. `stated`: the port, and the program with its options."""
        self._words = stated["words"]
        port = next(it for it in linux["ports"] if it["name"] == stated["behind"])
        self._near, self._far = port["near"], port["far"]
        #: What makes the network, with the forwarder's interfaces in the wire.
        self.commands = [words for it in linux["commands"] for words in self._spliced(it["argv"])]

    def _spliced(self, words: list[str]) -> Iterator[list[str]]:
        near, far = self._near["device"], self._far["device"]
        if words[:4] == ["ip", "link", "add", near] and far in words:
            behind = words.index("peer")
            yield ["ip", "netns", "add", _NAMESPACE]
            yield [*words[:behind], "peer", "name", _NEAR, "netns", _NAMESPACE]
            yield ["ip", "link", "add", _FAR, "netns", _NAMESPACE, "type", "veth", *words[behind:]]
            inside = ["ip", "netns", "exec", _NAMESPACE]
            for device in (_NEAR, _FAR):
                yield [*inside, "sysctl", "-q", "-w", f"net.ipv6.conf.{device}.disable_ipv6=1"]
                yield ["ip", "-n", _NAMESPACE, "link", "set", device, "up", "gso_max_segs", "1"]
                yield [*inside, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"]
        elif not self._is_queue(words):
            yield words

    def _is_queue(self, words: list[str]) -> bool:
        """Whether a command puts a queue at the near port: the forwarder's takes its place."""
        return words[:3] == ["tc", "-n", self._near["namespace"]] and self._has_device(words) and "clsact" not in words

    def _has_device(self, words: list[str]) -> bool:
        dev = words.index("dev")
        return words[dev + 1] == self._near["device"] and "ingress" not in words

    def begin(self) -> None:
        """Forwards from now on."""
        with network.inside(_NAMESPACE):
            self._before = capture.watch(_NEAR)
        with network.inside(self._far["namespace"]):
            self._behind = capture.watch(self._far["device"])
        self._forwarder = forward.Forwarder(_NAMESPACE, (_NEAR, _FAR), self._words)

    def end(self, zero: int) -> dict[str, Any]:
        """Its counts, and what has passed; times from `zero` on."""
        told = self._forwarder.end()
        sides = {"before": self._before, "behind": self._behind}
        seen = {name: capture.passed(side) for name, side in sides.items()}
        rows = {name: [[it.real_ns - zero, it.tos, it.size, *it.key] for it in side] for name, side in seen.items()}
        return {"forward": told, **rows}
