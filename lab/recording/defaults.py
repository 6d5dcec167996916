"""Records what a kernel has of queueing disciplines where nothing is said, and says what differs from the record.

python3 lab/recording/defaults.py [--write]: with --write, lab/records/defaults.toml is written again, which a test of
perhop-config replays.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from answers import MORE
from cells import LAB, RECORDS
from record import versions

FILE = RECORDS / "defaults.toml"
HEAD = """\
# What a kernel has of queueing disciplines where as little is said as it takes. Written by defaults.py.
# Of each: the commands, what `tc -d qdisc show` and `tc -d class show` print, and `within` the queues that its classes
# have by themselves. The interface is a veth with two queues, an MTU of 1500 and a txqueuelen of 1000.
"""
#: A queueing discipline behind `tc qdisc add dev eth0`; its classes behind `tc class add dev eth0 parent 1: classid`.
#: No command makes a `noop`, and `dualpi2` is newer than the lab's kernel.
QDISCS = {
    "pfifo": ["root handle 1: pfifo"],
    "bfifo": ["root handle 1: bfifo"],
    "pfifo_head_drop": ["root handle 1: pfifo_head_drop"],
    "pfifo_fast": ["root handle 1: pfifo_fast"],
    "noqueue": ["root handle 1: noqueue"],
    "mq": ["root handle 1: mq"],
    "ingress": ["ingress"],
    "clsact": ["clsact"],
    "codel": ["root handle 1: codel"],
    "pie": ["root handle 1: pie"],
    "red": ["root handle 1: red limit 120k avpkt 1000"],
    "choke": ["root handle 1: choke limit 1000 bandwidth 10mbit"],
    "fq_codel": ["root handle 1: fq_codel"],
    "fq_pie": ["root handle 1: fq_pie"],
    "fq": ["root handle 1: fq"],
    "sfq": ["root handle 1: sfq"],
    "cake": ["root handle 1: cake"],
    "cake-bandwidth": ["root handle 1: cake bandwidth 20mbit"],
    "tbf": ["root handle 1: tbf rate 1mbit burst 10k limit 100k"],
    "tbf-latency": ["root handle 1: tbf rate 1mbit burst 10k latency 50ms"],
    "prio": ["root handle 1: prio"],
    "ets": ["root handle 1: ets bands 3"],
    "ets-strict": ["root handle 1: ets bands 3 strict 1"],
    "drr": ["root handle 1: drr", "1:1 drr"],
    "htb": ["root handle 1: htb", "1:1 htb rate 6mbit", "1:2 htb rate 3mbit ceil 4mbit"],
    "htb-default": ["root handle 1: htb default 1", "1:1 htb rate 1gbit"],
    "htb-nested": ["root handle 1: htb default 2", "1:1 htb rate 10gbit", "1:2 htb rate 100kbit ceil 9gbit"],
    "hfsc": ["root handle 1: hfsc default 1", "1:1 hfsc sc rate 1mbit"],
    "hfsc-shared": ["root handle 1: hfsc default 1", "1:1 hfsc ls rate 1mbit", "1:2 hfsc ls rate 2mbit ul rate 3mbit"],
    "netem": ["root handle 1: netem"],
    "netem-delay": ["root handle 1: netem delay 10ms"],
    "netem-rate": ["root handle 1: netem rate 10mbit"],
}


def commands(words: list[str]) -> list[str]:
    """Those of a queueing discipline, and of its classes if it has some."""
    qdisc, *classes = words
    return [f"qdisc add dev eth0 {qdisc}", *(f"class add dev eth0 parent 1: classid {it}" for it in classes)]


def entry(name: str, shows: dict[str, str]) -> str:
    """A table of the record."""
    table = {"commands": [f"tc {command}" for command in commands(QDISCS[name])]}
    table |= {key: text.splitlines() for key, text in shows.items()}
    text = f"\n[{name}]\n"
    for key, lines in table.items():
        if lines:
            text += f"{key} = [\n" + "".join(f"  {json.dumps(line)},\n" for line in lines) + "]\n"
    return text


def record(kernel: Path) -> str:
    """The text of the record."""
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = Path(made)
        (folder / "shows.json").write_text(json.dumps([commands(words) for words in QDISCS.values()]))
        subprocess.run([LAB / "run", folder], env=MORE, check=True)
        answers = json.loads((folder / "answers.json").read_text())
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in versions(kernel).items())
    return HEAD + head + "".join(entry(name, shows) for name, shows in zip(QDISCS, answers, strict=True))


def main() -> int:
    """Builds the kernel if needed, records, compares."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--write", action="store_true", help="replace the record")
    asked = reader.parse_args()
    built = subprocess.run([LAB / "build.sh"], stdout=subprocess.PIPE, text=True, env=MORE, check=False)
    if built.returncode:
        return built.returncode
    old = FILE.read_text() if FILE.exists() else ""
    new = record(Path(built.stdout.strip()))
    changed = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "recorded", "now", lineterm=""))
    print(*changed, f"lab: {len(QDISCS)} configurations, {'changed' if changed else 'as recorded'}", sep="\n")
    if asked.write:
        FILE.write_text(new)
    return 1 if changed and not asked.write else 0


if __name__ == "__main__":
    sys.exit(main())
