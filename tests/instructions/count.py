"""Instructions of what perhop does, counted by callgrind and compared with the baseline.

    python3 tests/instructions/count.py              # exit code 1 when one is more than 3 % above the baseline
    python3 tests/instructions/count.py --write      # a new baseline: make renew WHAT=instructions
    python3 tests/instructions/count.py --only u,p10 --perhop target/release/perhop
    python3 tests/instructions/count.py --profile p100-bbr      # by function, beside p100

Each is done twice, once with more of it: the difference of the instructions over the difference of the work is what one
packet-hop, flow, replication, packet or decision costs, free of start-up. Workloads of packet-hops are those of
`crates/bench/src/workloads`. Instructions do not depend on what else the machine does, nor on the directory of the
checkout, but on the compiler: with another rustc than the baseline's nothing is compared. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import captures

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORKLOADS = ROOT / "crates/bench/src/workloads"
BASELINE = HERE / "baseline.toml"
PERHOP = ROOT / "target/release/perhop"

MARGIN = 0.03
"""By how much a count may rise; hash maps are seeded at random, which moves counts by less than 0.1 %."""

MOST_TIMES_P100 = 1.5
"""What a variant of P(100) should cost at most, as a multiple of it."""

FEW, MANY = "customers-10", "customers-1000"
MOST_TIMES_FEW = 1.3
"""What a class each for 1000 customers may cost at most, as a multiple of what it costs for 10."""

CAPTURED_FLOWS = 100
"""Flows of the capture that is marked."""

POLICY = """[conditioner.all]
kind = "trtcm"
cir = "400Mbit/s"
cbs = "150kB"
pir = "800Mbit/s"
pbs = "150kB"
green = "mark AF11"
yellow = "mark AF12"
red = "mark AF13"
"""

SHOWN = 16
"""Functions of a profile."""

Command = list[str]
Amount = float
"""How much of it: seconds, flows, replications or packets."""


def simulated(workload: str, seconds: Amount, folder: Path) -> Command:
    """A workload for so many seconds."""
    file = WORKLOADS / f"{workload}.toml"
    return run(file, folder, "--replications", "1", "--duration", f"{seconds}s")


def set_up(flows: Amount, folder: Path) -> Command:
    """P(n) for a microsecond; all its flows start at once."""
    text = (WORKLOADS / "p1000.toml").read_text(encoding="utf-8")
    text = text.replace("{0..999}", f"{{0..{flows - 1}}}").replace("{1*i}ms", "0s")
    file = folder / "set-up.toml"
    file.write_text(text, encoding="utf-8")
    return run(file, folder, "--replications", "1", "--duration", "1us")


def replicated(replications: Amount, folder: Path) -> Command:
    """So many replications of 10 ms of U."""
    return run(WORKLOADS / "u.toml", folder, "--replications", str(replications), "--duration", "10ms")


def run(file: Path, folder: Path, *more: str) -> Command:
    """`perhop run`."""
    return ["run", str(file), *more, "--jobs", "1", "--json", "--out", str(folder / "runs")]


def marked(packets: Amount, folder: Path) -> Command:
    """A capture, marked and written."""
    capture, *policy = captured(packets, folder)
    return ["mark", capture, "-o", str(folder / "out.pcap"), "--force", *policy]


def metered(packets: Amount, folder: Path) -> Command:
    """A capture, metered."""
    return ["meter", *captured(packets, folder)]


def captured(packets: Amount, folder: Path) -> Command:
    """A capture and a policy for it."""
    capture, policy = folder / "in.pcap", folder / "policy.toml"
    captures.write(capture, int(packets), CAPTURED_FLOWS)
    policy.write_text(POLICY, encoding="utf-8")
    return [str(capture), "--policy", str(policy)]


def decided(packets: Amount, folder: Path) -> Command:
    """Loops of all conditioners, AQMs and schedulers: the mean of all. Of `perhop-bench`."""
    del folder
    return ["--only", "decisions", "--packets", str(packets), "--json"]


def packet_hops(said: list[dict[str, object]], amount: Amount) -> float:
    """Packets that left a link, from the lines of `perhop run --json`."""
    del amount
    return sum(float(str(line["packet_hops"])) for line in said if "packet_hops" in line)


def decisions(said: list[dict[str, object]], amount: Amount) -> float:
    """Decisions, by `perhop-bench --json`."""
    del amount
    return float(str(said[-1]["decisions"]))


def itself(said: list[dict[str, object]], amount: Amount) -> float:
    """What was asked for."""
    del said
    return amount


@dataclass(frozen=True)
class Measure:
    """What is done twice."""

    name: str
    unit: str
    amounts: tuple[Amount, Amount]
    command: Callable[[Amount, Path], Command]
    work: Callable[[list[dict[str, object]], Amount], float] = itself
    program: str = "perhop"


def hops(workload: str, short: float, long: float) -> Measure:
    """A workload between two lengths; in the P and D workloads every flow has started by the shorter one."""
    return Measure(
        workload, "packet-hop", (short, long), lambda seconds, out: simulated(workload, seconds, out), packet_hops
    )


MEASURES = (
    hops("u", 0.5, 1.5),
    hops("p10", 2.0, 3.0),
    hops("p100", 2.0, 3.0),
    hops("p1000", 1.1, 1.3),
    hops("d100", 2.0, 3.0),
    hops("p100-shaper", 2.0, 3.0),
    hops("p100-tree", 2.0, 3.0),
    hops("p100-fq-codel", 2.0, 3.0),
    hops("p100-cubic", 2.0, 3.0),
    hops("p100-bbr", 2.0, 3.0),
    hops("p100-formula", 2.0, 3.0),
    hops(FEW, 1.0, 1.2),
    hops(MANY, 1.0, 1.2),
    Measure("set-up-1000", "flow", (10, 1000), set_up),
    Measure("set-up-10000", "flow", (10, 10_000), set_up),
    Measure("sweep", "replication", (20, 40), replicated),
    Measure("mark", "packet", (10_000, 20_000), marked),
    Measure("meter", "packet", (10_000, 20_000), metered),
    Measure("decisions", "decision", (1000, 2000), decided, decisions, program="perhop-bench"),
)


def callgrind(perhop: Path, measure: Measure, amount: Amount, profile: Path = Path("/dev/null")) -> tuple[int, float]:
    """Instructions and work of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        command.append(str(perhop if measure.program == "perhop" else perhop.with_name(measure.program)))
        command += measure.command(amount, Path(folder))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or collected is None:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return int(collected[1]), measure.work(said, amount)


def slope(little: tuple[int, float], much: tuple[int, float]) -> float:
    """Instructions of one of it."""
    return (much[0] - little[0]) / (much[1] - little[1])


def measured(perhop: Path, measures: Iterable[Measure]) -> dict[str, float]:
    """Instructions of each, two runs at a time; the longest first."""
    chosen = sorted(measures, key=lambda it: it.name != "set-up-10000")
    runs = [(perhop, measure, amount) for measure in chosen for amount in reversed(measure.amounts)]
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda run: callgrind(*run), runs))
    found = {it.name: slope(little, much) for it, much, little in zip(chosen, counts[::2], counts[1::2], strict=True)}
    return {it.name: found[it.name] for it in MEASURES if it.name in found}


def by_function(perhop: Path, measure: Measure) -> dict[str, float]:
    """Instructions of one of it, function by function."""
    parts: list[Counter[str]] = []
    works: list[float] = []
    for amount in measure.amounts:
        with tempfile.NamedTemporaryFile() as profile:
            works.append(callgrind(perhop, measure, amount, Path(profile.name))[1])
            annotate = ["callgrind_annotate", "--threshold=100", "--auto=no", profile.name]
            text = subprocess.run(annotate, capture_output=True, text=True, check=True).stdout
        parts.append(functions(text))
    little, much = parts
    return {name: (count - little[name]) / (works[1] - works[0]) for name, count in much.items()}


def functions(annotated: str) -> Counter[str]:
    """Instructions of each function itself, from what callgrind_annotate prints."""
    found: Counter[str] = Counter()
    for line in annotated.splitlines():
        row = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+(\S.*?)(?: \[[^\]]*\])?$", line)
        if row and "PROGRAM TOTALS" not in row[2]:
            name = re.sub(r"^\S*?(?<!:):(?!:)", "", row[2])
            found[re.sub(r"::h[0-9a-f]{16}$", "", name)] += int(row[1].replace(",", ""))
    return found


def print_profile(perhop: Path, name: str) -> None:
    """The functions that cost most, beside P(100)."""
    own, plain = (by_function(perhop, it) for it in (named(name), named("p100")))
    print(f"{name}: {sum(own.values()):.0f} instructions a {named(name).unit}, p100: {sum(plain.values()):.0f}")
    for function, count in sorted(own.items(), key=lambda it: -it[1])[:SHOWN]:
        print(f"{count:8.1f} {plain.get(function, 0.0):8.1f}  {function}")


def named(name: str) -> Measure:
    """The measure of a name."""
    found = next((it for it in MEASURES if it.name == name), None)
    return found or sys.exit(f"nothing is called `{name}`; there are {', '.join(it.name for it in MEASURES)}")


def rustc() -> str:
    """The compiler, as it names itself."""
    return subprocess.run(["rustc", "-V"], capture_output=True, text=True, check=True).stdout.strip()


def baseline_text(found: dict[str, float], compiler: str) -> str:
    """A baseline, by unit."""
    text = f'# Instructions, release build; written by count.py --write.\nrustc = "{compiler}"\n'
    for unit in dict.fromkeys(it.unit for it in MEASURES):
        own = [it.name for it in MEASURES if it.unit == unit and it.name in found]
        text += f"\n[{unit}]\n" + "".join(f"{name} = {found[name]:.1f}\n" for name in own)
    return text


def counts_in(baseline: dict[str, object]) -> dict[str, float]:
    """All counts of a baseline."""
    tables = [table for table in baseline.values() if isinstance(table, dict)]
    return {name: float(count) for table in tables for name, count in table.items()}


def compare(found: dict[str, float], before: dict[str, float]) -> list[str]:
    """Prints each beside its baseline; the names of those that are too far above it."""
    for name, value in found.items():
        line = f"{name:14} {value:11.1f} instructions per {named(name).unit}"
        line += (
            f", baseline {before[name]:11.1f}: {value / before[name] - 1:+.2%}" if name in before else ", no baseline"
        )
        print(line + times_p100(name, found))
    above = [name for name, value in found.items() if name in before and value > before[name] * (1 + MARGIN)]
    if FEW in found and MANY in found:
        times = found[MANY] / found[FEW]
        print(f"{MANY} is {times:.2f} times {FEW}, at most {MOST_TIMES_FEW}")
        above += [MANY] * (times > MOST_TIMES_FEW)
    return above


def times_p100(name: str, found: dict[str, float]) -> str:
    """How much more a variant of P(100) costs."""
    if not name.startswith("p100-") or "p100" not in found:
        return ""
    times = found[name] / found["p100"]
    return f"; {times:.2f} times p100" + (f", more than {MOST_TIMES_P100}" if times > MOST_TIMES_P100 else "")


def skip(baseline: dict[str, object]) -> str | None:
    """Why nothing can be compared here."""
    if shutil.which("valgrind") is None:
        return "instructions not counted: valgrind is not installed"
    if rustc() != baseline["rustc"]:
        return f"instructions not compared: the baseline is of {baseline['rustc']}, this is {rustc()}"
    return None


def main() -> int:
    """Carries out the command line."""
    parser = argparse.ArgumentParser(description="instructions, against the baseline")
    parser.add_argument("--write", action="store_true", help="write a new baseline")
    parser.add_argument("--only", help="names, separated by commas; default: all")
    parser.add_argument("--profile", help="functions of one workload, beside p100")
    parser.add_argument("--perhop", type=Path, default=PERHOP, help="the binary to count; perhop-bench is beside it")
    chosen = parser.parse_args()
    if chosen.profile:
        print_profile(chosen.perhop, chosen.profile)
        return 0
    measures = [named(name) for name in chosen.only.split(",")] if chosen.only else list(MEASURES)
    baseline = tomllib.loads(BASELINE.read_text(encoding="utf-8"))
    if chosen.write:
        found = counts_in(baseline) | measured(chosen.perhop, measures)
        BASELINE.write_text(baseline_text(found, rustc()), encoding="utf-8")
        return 0
    why = skip(baseline)
    if why:
        print(why)
        return 0
    above = compare(measured(chosen.perhop, measures), counts_in(baseline))
    if above:
        print(f"above the bound, {MARGIN:.0%} over the baseline: {', '.join(above)}")
        print("if that is worth it: make renew WHAT=instructions")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
