"""Records the kernel's counters at the cells of counters.toml: records/counters.csv.

python3 lab/recording/counters.py [--keep DIR]: a line for each counter, `cell, run, from_ns, to_ns, of, counter,
value`, read between these times. `of` is the queueing discipline `qdisc 1:`, the class `class 1:11`, the tin
`qdisc 1: tin 0` or the policer `police 1`; names are those of tc's JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cells
import record
from cells import LAB, RECORDS, STATED, Cell

FILE = RECORDS / "counters.csv"
HEAD = "cell,run,from_ns,to_ns,of,counter,value"
#: Runs of a port that draws.
RUNS = 10
#: What is no counter of an object: its place and its options.
STATED_KEYS = (
    "handle",
    "parent",
    "leaf",
    "prio",
    "rate",
    "ceil",
    "burst",
    "cburst",
    "quantum",
    "level",
    "refcnt",
    "root",
    "options",
)

#: What the text of a class has, and the counters that it says.
CLASS = (
    (r"Sent (\d+) bytes (\d+) pkt \(dropped (\d+), overlimits (\d+)", ("bytes", "packets", "drops", "overlimits")),
    (r"backlog (\S+) (\d+)p", ("backlog", "qlen")),
    (r"lended: (\d+) borrowed: (\d+) giants: (\d+)", ("lended", "borrowed", "giants")),
    (r"\stokens: (-?\d+) ctokens: (-?\d+)", ("tokens", "ctokens")),
    (r"deficit (\S+)", ("deficit",)),
)

Line = tuple[str, str, float]


def asked() -> dict[str, tuple[list[int], int]]:
    """The times in milliseconds and the number of runs of each cell."""
    text = tomllib.loads((STATED / "counters.toml").read_text())
    exact = {name: (at, 1) for name, at in text["exact"].items()}
    return exact | {name: (at, RUNS) for name, at in text["random"].items()}


def jobs(which: list[Cell], folder: Path) -> None:
    """The job of the cells, each as often as it is run."""
    record.job(which, folder)
    once = json.loads((folder / "job.json").read_text())
    wanted = asked()
    all_runs = []
    for cell, job in zip(which, once, strict=True):
        at, runs = wanted[cell.name]
        all_runs += [{**job, "name": f"{job['name']}.{run}", "read": at} for run in range(runs)]
    (folder / "job.json").write_text(json.dumps(all_runs))


def numbers(of: str, shown: dict[str, Any]) -> Iterator[Line]:
    """The counters of an object, those of `stats` among them."""
    for key, value in shown.items():
        if isinstance(value, bool | int | float):
            yield of, key, float(value)
    yield from numbers(of, shown["stats"]) if "stats" in shown else ()


def class_lines(text: str) -> Iterator[Line]:
    """What `class show` says in its text: this tc has no JSON for it."""
    for it in re.split(r"^class ", text, flags=re.MULTILINE)[1:]:
        of = f"class {it.split()[1]}"
        for pattern, counters in CLASS:
            if found := re.search(pattern, it):
                yield from ((of, counter, size(value)) for counter, value in zip(counters, found.groups(), strict=True))


def size(text: str) -> float:
    """A number as tc writes it: `12Kb` is 12288, where that is within 16 bytes."""
    number = re.match(r"-?[0-9.]+", text)
    assert number, text
    return float(number[0]) * {"Kb": 1024, "Mb": 1024 * 1024}.get(text[number.end() :], 1)


def qdisc_lines(text: str) -> Iterator[Line]:
    """What `qdisc show` says."""
    for it in json.loads(text):
        own = {key: value for key, value in it.items() if key not in STATED_KEYS}
        of = f"qdisc {it['handle']}"
        yield from numbers(of, own)
        if direct := it.get("options", {}).get("direct_packets_stat"):
            yield of, "direct_packets_stat", float(direct)
        for tin, counts in enumerate(it.get("tins", [])):
            yield from numbers(f"{of} tin {tin}", counts)


def filter_lines(text: str) -> Iterator[Line]:
    """What `filter show` says of policers."""
    actions = [action for it in json.loads(text or "[]") for action in it.get("options", {}).get("actions", [])]
    for number, action in enumerate(actions, 1):
        yield from numbers(f"police {number}", {"stats": action["stats"]})


SAYS = {"qdisc": qdisc_lines, "class": class_lines, "filter": filter_lines}


def lines(which: list[Cell], folder: Path) -> Iterator[str]:
    """Of every cell, run and time."""
    for cell in which:
        for run in range(asked()[cell.name][1]):
            file = folder / f"{cell.name.replace('/', '.')}.{run}.counters.json"
            for reading in json.loads(file.read_text()):
                for of, counter, value in SAYS[reading["what"]](reading["text"]):
                    times = f"{reading['from_ns']},{reading['to_ns']}"
                    yield f"{cell.name},{run},{times},{of},{counter},{value:.12g}"


def main() -> None:
    """Builds the kernel if needed, records, writes."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--keep", type=Path, help="leave the kernel's raw records in this folder")
    kept = reader.parse_args().keep
    subprocess.run([LAB / "build.sh"], stdout=subprocess.DEVNULL, check=True)
    which = [cell for cell in cells.all_cells() if cell.name in asked()]
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = kept or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        jobs(which, folder)
        subprocess.run([LAB / "run", folder, "1800"], check=True)
        FILE.write_text("\n".join([HEAD, *lines(which, folder)]) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
