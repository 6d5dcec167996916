"""Records what the kernel does in every cell and says what differs from the vectors that are checked in: `make lab`.

python3 lab/recording/record.py [--write] [PORT | PORT/PATTERN ...]: with --write the vectors are replaced.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import cells
from cells import LAB, RECORDS, Cell, Row

#: The unit of user mode's clock as shipped; here it counts nanoseconds, and two recordings differ by few of them.
CLOCK_NS = 256


def chosen(names: list[str]) -> list[Cell]:
    """The cells that are named by port or in full; all without names."""
    found = [cell for cell in cells.all_cells() if not names or cell.port in names or cell.name in names]
    known = {name for cell in found for name in (cell.port, cell.name)}
    if missing := set(names) - known:
        raise SystemExit(f"lab: no cell {', '.join(sorted(missing))} in lab/cells/cells.toml")
    return found


def job(which: list[Cell], folder: Path) -> None:
    """The files that lab/guest/inside.py works from."""
    sent = cells.all_patterns()
    for pattern in {cell.pattern for cell in which}:
        (folder / f"{pattern}.packets.json").write_text(json.dumps(sent[pattern]))
    shown = [
        ["qdisc", "show", "dev", cells.LEAVING],
        ["class", "show", "dev", cells.LEAVING],
        ["filter", "show", "dev", cells.COMING, "ingress"],
    ]
    jobs = [
        {
            "name": cell.name.replace("/", "."),
            "up": cell.commands(),
            "adaptive": cell.text.get("adaptive", []),
            "down": cell.undone(),
            "show": shown,
            "packets": f"{cell.pattern}.packets.json",
        }
        for cell in which
    ]
    (folder / "job.json").write_text(json.dumps(jobs))


def rows(file: Path) -> list[Row]:
    """What the kernel did in a cell."""
    return [
        Row(arrival, size, tos >> 2, tos & 3, port, departure, None if out is None else out & 3)
        for arrival, size, tos, port, departure, out in json.loads(file.read_text())
    ]


def changes(old: list[Row], new: list[Row]) -> str:
    """How a recording differs from another of the same cell; empty if by no more than the clock's unit."""
    if len(old) != len(new):
        return f"{len(old)} packets before, {len(new)} now"
    pairs = list(zip(old, new, strict=True))
    fates = sum((a.departure is None) != (b.departure is None) for a, b in pairs)
    marks = sum(a.ecn_out != b.ecn_out for a, b in pairs if None not in (a.ecn_out, b.ecn_out))
    times = [abs(a.arrival - b.arrival) for a, b in pairs]
    times += [abs(a.departure - b.departure) for a, b in pairs if a.departure is not None and b.departure is not None]
    late = sum(time > CLOCK_NS for time in times)
    if not (fates or marks or late):
        return ""
    moved = f"{late} times moved, by at most {max(times)} ns"
    return f"of {len(old)} packets {fates} have another fate, {marks} another mark; {moved}"


def versions(kernel: Path) -> dict[str, str]:
    """What the vectors were recorded with."""
    release = (kernel.parent / "release").read_text().strip()
    tc = subprocess.run(["tc", "-V"], capture_output=True, text=True, check=True).stdout
    return {
        "kernel": release,
        "iproute2": tc.split("iproute2-")[1].split(",")[0],
        "configuration": kernel.parent.name.split("-")[1],
    }


def describe(kernel: Path) -> None:
    """kernel.toml: versions, and each port's commands as they were run."""
    lines = ["# What the vectors were recorded with, and the commands of each port. Written by record.py."]
    lines += [f"{key} = {json.dumps(value)}" for key, value in versions(kernel).items()]
    lines += ["", "[commands]"]
    for cell in {cell.port: cell for cell in cells.all_cells()}.values():
        lines += [f"{cell.port} = [", *(f"  {json.dumps('tc ' + command)}," for command in cell.commands()), "]"]
    (RECORDS / "kernel.toml").write_text("\n".join(lines) + "\n")


def compare(which: list[Cell], folder: Path, write: bool) -> bool:
    """Whether every recording agrees with what is checked in; says where not."""
    counts = {"same": 0, "random": 0, "changed": 0, "added": 0}
    for cell in which:
        new = rows(folder / f"{cell.name.replace('/', '.')}.rows.json")
        if not cell.file.exists():
            counts["added"] += 1
        elif not (said := changes(cells.read(cell.file), new)):
            counts["same"] += 1
        elif cell.text["kind"] == "random":
            counts["random"] += 1
        else:
            counts["changed"] += 1
            print(f"{cell.name}: {said}")
        if write:
            cells.write(cell.file, new)
    print(
        f"lab: {len(which)} cells: {counts['same']} as recorded (times within {CLOCK_NS} ns), "
        f"{counts['changed']} changed, "
        f"{counts['random']} with random draws recorded again, {counts['added']} without a vector"
    )
    return not counts["changed"] and (write or not counts["added"])


def main() -> int:
    """Builds the kernel if needed, records, compares."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--write", action="store_true", help="replace the vectors")
    reader.add_argument("--keep", type=Path, help="leave the kernel's raw records in this folder")
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    built = subprocess.run([LAB / "build.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode:
        return built.returncode
    kernel, which = Path(built.stdout.strip()), chosen(asked.names)
    with tempfile.TemporaryDirectory(prefix="perhop-lab-") as made:
        folder = asked.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        job(which, folder)
        if status := subprocess.run([LAB / "run", folder], check=False).returncode:
            return status
        if asked.write:
            describe(kernel)
        elif (recorded := tomllib.loads((RECORDS / "kernel.toml").read_text())) and (
            differ := [f"{k} {recorded.get(k)} -> {v}" for k, v in versions(kernel).items() if recorded.get(k) != v]
        ):
            print("lab: recorded with another " + ", ".join(differ))
        return 0 if compare(which, folder, asked.write) else 1


if __name__ == "__main__":
    sys.exit(main())
