"""Asks the kernel what queueing disciplines have of which as little is said as it takes, one after the other.

DIR/shows.json is a list of lists of commands, each for a new port. DIR/answers.json gets for each
`{"shows", "within"}`: what `tc -d` prints of its queueing disciplines and classes, and the lines of the queues that
classes have by themselves, which it prints only when asked for them.

The port is eth0, which has two queues for `mq`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from network import call

_PORT = "eth0"


def _show(what: str, *more: str) -> str:
    return call("tc", "-d", what, "show", "dev", _PORT, *more)


def answer(commands: list[str]) -> dict[str, str]:
    """What a new port has once these are run."""
    call("ip", "link", "add", _PORT, "numtxqueues", "2", "type", "veth", "peer", "name", "d0")
    for device in (_PORT, "d0"):
        call("ip", "link", "set", device, "up")
    for command in commands:
        call("tc", *command.split())
    qdiscs, classes = _show("qdisc"), _show("class")
    within = [line for line in _show("qdisc", "invisible").splitlines(True) if line not in qdiscs]
    call("ip", "link", "del", _PORT)
    return {"shows": qdiscs + classes, "within": "".join(within)}


def main(folder: Path) -> None:
    """The whole job."""
    jobs = json.loads((folder / "shows.json").read_text())
    (folder / "answers.json").write_text(json.dumps([answer(commands) for commands in jobs]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
