"""A kernel of the lab that is none: it takes the place of user-mode Linux, finds its job as that does, and answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

LAB = Path(__file__).resolve().parents[2] / "lab"
#: In the job's folder: what a stub that never ends is.
PID = "kernel.pid"


def install(cache: Path, *, ends: bool = True) -> dict[str, str]:
    """Puts it where lab/where.sh looks; the environment for that."""
    where = f'. "{LAB}/where.sh" && echo "$kernel"'
    environment = os.environ | {"PERHOP_LAB": str(cache)}
    script = ["sh", "-c", where, f"{LAB}/run"]
    kernel = Path(subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    kernel.parent.mkdir(parents=True)
    verb = "answer" if ends else "stay"
    kernel.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" {verb} "$@"\n')
    kernel.chmod(0o755)
    return environment


def answer(job: Path) -> None:
    """Every datagram left every port at once; every connection got a byte."""
    work = json.loads((job / "scenario.json").read_text())
    linux = work["linux"]
    left = {port["name"]: [[it[6], it[0], it[5]] for it in work["datagrams"]] for port in linux["ports"]}
    made = [
        {"traffic": it["traffic"], "flow": it["flow"], "received": 1, "retransmitted": 0} for it in work["connections"]
    ]
    queues = {it["name"]: [0, 0] for it in linux["ports"]}
    looks = [{"ns": linux["duration_ns"], "queues": queues, "senders": [[10, 10, 10, 10, 0] for _ in made]}]
    (job / "scenario.out.json").write_text(json.dumps({"left": left, "connections": made, "looks": looks}))
    (job / "done").write_text("ok\n")


def main(verb: str, words: list[str]) -> None:
    """As the kernel: its own words are cut at blanks, and the last LAB_JOB counts."""
    line = " ".join(words).split()
    job = Path(next(it.partition("=")[2] for it in reversed(line) if it.startswith("LAB_JOB=")))
    if verb == "answer":
        answer(job)
        return
    (job / PID).write_text(str(os.getpid()))
    while True:
        time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
