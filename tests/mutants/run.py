"""Tries each mutant of a fixed list against the tests of perhop-core, and reports which of them a test notices.

    python3 tests/mutants/run.py             # exit code 1 if one that was killed before survives
    python3 tests/mutants/run.py --write     # records which are killed now
    python3 tests/mutants/run.py --only 3,17

`mutants.toml` gives for each a text of a file and its replacement. Both are expressions, so all mutants can be compiled
into one copy of the tree (`target/mutants`), where an environment variable selects one. (A replacement with `CHOSEN` in
it, which says whether it is selected, stands as it is: it need be no expression.) Each text must occur once in its
file: when code moves, its entry moves with it. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIST = HERE / "mutants.toml"
COPY = ROOT / "target/mutants"
CHOOSER = """
/// The selected mutant.
pub mod mutant {
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var("MUTANT").map_or(0, |text| text.parse().expect("a number"))
    });
    /// Whether it is this one.
    #[inline]
    pub fn is(number: u32) -> bool {
        *CHOSEN == number
    }
}
"""
CHOSEN = "CHOSEN"
PATIENCE = 6.0
"""A run that takes this many times as long as the unchanged tests counts as killed: the mutant does not end."""


@dataclass(frozen=True)
class Mutant:
    """One change."""

    number: int
    file: str
    old: str
    new: str
    by: str
    """The test that noticed it when the list was last recorded; empty if none did."""

    @property
    def hints(self) -> list[str]:
        """Names of tests to try before all others: the one that noticed it, then those named like its file."""
        named = [part for part in Path(self.file).with_suffix("").parts[-3:][::-1] if part != "mod"]
        return [self.by] * bool(self.by) + named[:2]

    @property
    def title(self) -> str:
        """As printed."""
        return f"{self.number:2} {self.file.removeprefix('crates/core/src/')}: {self.old} -> {self.new}"


def load() -> list[Mutant]:
    """The list, numbered from 1."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(i, e["file"], e["old"], e["new"], e.get("killed-by", "")) for i, e in enumerate(entries, 1)]


def copy_tree(mutants: list[Mutant]) -> None:
    """Copies the tracked files, every mutant behind its switch; files that have not changed keep their times."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in tracked.splitlines():
        source, target = ROOT / name, COPY / "tree" / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(target, _changed(name, source.read_bytes(), mutants))
    shutil.rmtree(COPY / "tree/python/perhop/data", ignore_errors=True)


def _put(target: Path, data: bytes) -> None:
    if not target.is_file() or target.read_bytes() != data:
        target.write_bytes(data)


def _changed(name: str, data: bytes, mutants: list[Mutant]) -> bytes:
    if name == "crates/core/src/lib.rs":
        return data + CHOOSER.encode()
    for mutant in (m for m in mutants if m.file == name):
        old = mutant.old.encode()
        if data.count(old) != 1:
            sys.exit(f"{LIST.name}: {mutant.title}\n  the text occurs {data.count(old)} times in {name}, not once")
        chosen = f"crate::mutant::is({mutant.number})"
        switch = f"(if {chosen} {{ {mutant.new} }} else {{ {mutant.old} }})"
        if CHOSEN in mutant.new:
            switch = mutant.new.replace(CHOSEN, chosen)
        data = data.replace(old, switch.encode())
    return data


def build() -> list[Path]:
    """The test binaries of perhop-core."""
    command = ["cargo", "test", "-p", "perhop-core", "--no-run", "--message-format=json-render-diagnostics"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(COPY / "build")}
    done = subprocess.run(command, cwd=COPY / "tree", env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found = [json.loads(line).get("executable") for line in done.stdout.splitlines() if line.startswith("{")]
    return [Path(path) for path in found if path]


def seconds(binary: Path) -> float:
    """How long the unchanged tests of a binary take; they must pass."""
    began = time.monotonic()
    if noticed_by(binary, 0, None):
        sys.exit(f"{binary.name} fails without any mutant")
    return time.monotonic() - began


def noticed_by(binary: Path, number: int, limit: float | None, names: str = "") -> str | None:
    """The first test of a binary, of those whose names hold `names`, that fails under a mutant."""
    environment = {**os.environ, "MUTANT": str(number), "PROPTEST_FAILURE_PERSISTENCE": "off"}
    home = COPY / "tree/crates/core"
    command = [str(binary), *([names] if names else [])]
    try:
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    failed = re.search(r"^test (\S+)(?: - should panic)? \.\.\. FAILED", done.stdout, re.MULTILINE)
    return None if done.returncode == 0 else (failed[1] if failed else binary.name)


def try_all(mutants: list[Mutant], binaries: list[Path], jobs: int, quick: bool) -> dict[int, str | None]:
    """For each mutant, the test that kills it."""
    times = {binary: seconds(binary) for binary in binaries}
    order = sorted(binaries, key=lambda binary: times[binary])

    def tried(mutant: Mutant) -> str | None:
        steps = [(binary, names) for names in [*mutant.hints, *[""] * (not quick)] for binary in order]
        found = (noticed_by(binary, mutant.number, PATIENCE * times[binary] + 30, names) for binary, names in steps)
        killer = next((name for name in found if name), None)
        print(f"{'killed' if killer else 'ALIVE '} {mutant.title}" + (f"  ({killer})" if killer else ""), flush=True)
        return killer

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip((m.number for m in mutants), pool.map(tried, mutants), strict=True))


def write(mutants: list[Mutant], killers: dict[int, str | None]) -> None:
    """Records which mutants are killed; one that was not tried stays as it was."""
    head = LIST.read_text(encoding="utf-8").partition("[[mutant]]")[0]
    entries = [
        f"[[mutant]]\nfile = {json.dumps(m.file)}\nold = {json.dumps(m.old)}\nnew = {json.dumps(m.new)}\n"
        f"killed-by = {json.dumps(killers.get(m.number, m.by) or '')}\n"
        for m in mutants
    ]
    LIST.write_text(head + "\n".join(entries), encoding="utf-8")


def main() -> int:
    """Carries out the command line."""
    parser = argparse.ArgumentParser(description="mutants of perhop-core against its tests")
    parser.add_argument("--write", action="store_true", help="record which mutants are killed")
    parser.add_argument("--only", help="the numbers of the mutants to try, separated by commas (default: all)")
    parser.add_argument("--quick", action="store_true", help="only the tests named like the mutant's file or folder")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    chosen = parser.parse_args()
    mutants = load()
    copy_tree(mutants)
    numbers = [int(n) for n in chosen.only.split(",")] if chosen.only else [m.number for m in mutants]
    taken = [m for m in mutants if m.number in numbers]
    killers = try_all(taken, build(), chosen.jobs, chosen.quick)
    print(f"{sum(k is not None for k in killers.values())} of {len(taken)} killed")
    if chosen.write:
        write(mutants, killers)
        return 0
    worse = [m.title for m in taken if m.by and killers[m.number] is None]
    for title in worse:
        print(f"killed before, survives now: {title}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
