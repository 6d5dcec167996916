"""Commands for tc and what a kernel then shows give the same model: python3 tests/config/tc_show.py.

The configurations of `shown.txt` are set up one after the other in the lab's kernel (lab/README.md), each on a new
interface, and printed as text and as JSON. What is read of the commands must be what is read of the prints, up to
`LOSSES`: what a print rounds, or does not have.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READER = ROOT / "target" / "debug" / "examples" / "account"
SECONDS = 240
# tc prints a policer without its rate as JSON, so it is not modelled.
POLICER = "token-bucket"
# The first process inside: it works through what it is given, and ends.
INIT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t tmpfs run /run
busybox mkdir -p /run/job
busybox mount -t hostfs -o "$JOB" job /run/job
sh /run/job/work.sh
busybox poweroff -f
"""
# How a print may differ: the path of a value, which prints, whether it may be missing in one of them, and why.
LOSSES = [
    (r"burst$", "text json", False, "it is kept in ticks of time and printed as bytes: within 16 B, or one part in 64"),
    (r"\.(rate|ceil)$", "text json", False, "a rate is kept in whole bytes a second"),
    (r"\.mean-packet$", "text json", False, "tc prints no avpkt"),
    (r"\.distribution$", "text json", True, "tc prints no distribution"),
    (r"\.limit$", "text json", False, "of tbf it is printed as a latency, in three digits"),
    (r"\.quantum$", "text json", True, "-d prints what the kernel makes of r2q"),
    (r"\.(peak|peak-burst)$", "json", True, "tc prints no peak rate as JSON"),
    (r"\.(rate|burst|police)$", "json", True, "tc prints a policer without its rate as JSON"),
]


def blocks() -> Iterator[tuple[str, list[str]]]:
    """The configurations: name, commands."""
    for block in (ROOT / "tests" / "config" / "shown.txt").read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith(("#", "!"))]
        if lines:
            yield lines[0], lines[1:]


def script(cases: list[tuple[str, list[str]]]) -> str:
    """What the kernel runs."""
    out = []
    for i, (_, commands) in enumerate(cases):
        out += [f"ip link add eth0 type dummy; ip link set eth0 up; exec >/run/job/{i}.err 2>&1"]
        out += commands
        for name, flags in [("text", "-d"), ("stats", "-s -d"), ("json", "-j -d")]:
            out += [f"exec >/run/job/{i}.{name} 2>/dev/null"]
            shows = ["qdisc show", "class show", "filter show", "filter show ingress", "filter show egress"]
            for show in shows:
                what, _, *where = show.split()
                line = f"tc {flags} {what} show dev eth0 {' '.join(where)}".strip()
                out += [f"echo '$ {line}'", line, "echo"]
        out += ["ip link del eth0"]
    return "\n".join(out) + "\n"


def kernel() -> Path | None:
    """Where the lab's kernel is; None: it is not built."""
    asked = ["sh", "-c", ". lab/where.sh; echo $kernel", "lab/where.sh"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    path = Path(found.stdout.strip() or "/nowhere")
    return path if os.access(path, os.X_OK) else None


def shown(binary: Path, cases: list[tuple[str, list[str]]], folder: Path) -> None:
    """Boots a kernel, which leaves what tc prints in the folder."""
    (folder / "work.sh").write_text(script(cases))
    init = folder / "init.sh"
    init.write_text(INIT)
    init.chmod(0o755)
    words = ["mem=512M", f"uml_dir={folder}/uml/", "time-travel=inf-cpu", "rootfstype=hostfs", "rootflags=/", "ro"]
    words += ["quiet", "panic=-1", f"init={init}", f"JOB={folder}", "con=null", "con0=fd:0,fd:1"]
    null = subprocess.DEVNULL
    subprocess.run([binary, *words], stdin=null, stdout=null, stderr=null, timeout=SECONDS, check=False)


def read(text: str) -> Any:
    run = subprocess.run([READER, "--from", "tc"], input=text.encode(), capture_output=True, check=True)
    return json.loads(run.stdout)


def flat(value: Any, at: str = "") -> dict[str, Any]:
    """Values by their path, without where they come from."""
    if isinstance(value, dict) and set(value) <= {"value", "assumed"} and "value" in value:
        value = value["value"]
    if isinstance(value, dict):
        return {path: one for key, inner in value.items() for path, one in flat(inner, f"{at}.{key}").items()}
    if isinstance(value, list):
        return {path: one for i, inner in enumerate(value) for path, one in flat(inner, f"{at}[{i}]").items()}
    return {at: value}


def near(path: str, ours: Any, theirs: Any, form: str) -> str | None:
    """Why two values may differ; None: they may not."""
    if path.endswith("burst") and ours == "1600B" and number(theirs) > number(ours):
        return "tc adds what the rate sends in a tick of the kernel's timer: 1 ms in the lab, elsewhere 1 ns"
    if path.endswith("shape.burst") and number(ours) < number(theirs) <= number(ours) * 53 / 48 + 53:
        return "of cells tc prints the bytes with their headers"
    for key, forms, missing, why in LOSSES:
        alike = missing if None in (ours, theirs) else close(ours, theirs)
        if form in forms.split() and re.search(key, path) and alike:
            return why
    return None


def number(text: Any) -> float:
    found = re.match(r"([\d.]+)\s*(\D*)", str(text))
    return (float(found[1]) * SCALE.get(found[2], 1)) if found else math.nan


SCALE = {"kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "us": 1e3, "ms": 1e6, "s": 1e9}


def close(ours: Any, theirs: Any) -> bool:
    """Whether two numbers are alike."""
    a, b = number(ours), number(theirs)
    return abs(a - b) <= max(16, 0.016 * max(a, b))


def compared(name: str, form: str, ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[int, int]:
    """Prints what differs; the number of losses, and of faults."""
    losses, faults = 0, 0
    if form == "json" and POLICER in str(ours) and POLICER not in str(theirs):
        return 1, 0
    for path in sorted({*ours, *theirs}):
        mine, its = ours.get(path), theirs.get(path)
        if mine == its:
            continue
        why = near(path, mine, its, form)
        losses += why is not None
        faults += why is None
        if why is None:
            print(f"{name} ({form}): {path}: {mine!r} of the commands, {its!r} as printed")
    return losses, faults


def main() -> int:
    subprocess.run(["cargo", "build", "-q", "-p", "perhop-config", "--example", "account"], cwd=ROOT, check=True)
    binary = kernel()
    if binary is None:
        print("no kernel of the lab: lab/build.sh builds it")
        return 3
    cases = list(blocks())
    folder = Path(tempfile.mkdtemp(prefix="perhop-shown-"))
    shown(binary, cases, folder)
    equal, losses, faults = 0, 0, 0
    for i, (name, commands) in enumerate(cases):
        errors = (folder / f"{i}.err").read_text()
        if "Error" in errors or "Illegal" in errors or "RTNETLINK" in errors:
            print(f"{name}: refused: {errors.strip()}")
            faults += 1
        ours = flat(read("\n".join(commands) + "\n").get("device", {}))
        for form in ["text", "stats", "json"]:
            found = read((folder / f"{i}.{form}").read_text())
            lost, wrong = compared(name, "text" if form == "stats" else form, ours, flat(found.get("device", {})))
            equal, losses, faults = equal + (lost + wrong == 0), losses + lost, faults + wrong
    what = f"{len(cases)} configurations, {3 * len(cases)} prints: {equal} equal"
    print(f"{what}, {losses} values within what a print loses, {faults} wrong")
    if faults == 0:
        shutil.rmtree(folder)
    else:
        print(f"the prints are in {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
