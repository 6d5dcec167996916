#!/usr/bin/env python3
"""Property tests with seeds that no run has had: `make free ROUNDS=100`, and `make free SEED=7` for one again.

`make test` has one seed, so that it fails for what changed. A case that fails here becomes a separate test.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-m", "hypothesis", "--hypothesis-profile=free"]


def properties(text: str) -> Iterator[str]:
    """The tests of a Rust file that draw cases: those in `proptest!`, and all of a file with its own runner."""
    blocks = re.findall(r"^( *)proptest! \{\n(.*?)^\1\}", text, re.DOTALL | re.MULTILINE)
    for body in [body for _, body in blocks] + ([text] if "TestRunner::new" in text else []):
        yield from re.findall(r"#\[test\]\s+(?:#\[[^\n]*\]\s+)*fn (\w+)", body)


def files() -> list[Path]:
    """All Rust files of the workspace."""
    listed = subprocess.run(["git", "ls-files", "crates/*.rs"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines()]


def commands(only: list[str]) -> list[list[str]]:
    """What one round runs; cargo's own words restrict it to some tests of Rust, as in `-p perhop-config`."""
    names = sorted({name for file in files() if file.exists() for name in properties(file.read_text())})
    rust = ["cargo", "test", "-q", "--no-fail-fast", *(only or ["--workspace"]), "--", *names]
    return [rust] if only else [rust, PYTEST]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, help="one round with this seed")
    options, only = parser.parse_known_args()
    seeds = [secrets.randbits(32) for _ in range(options.rounds)] if options.seed is None else [options.seed]
    failed = []
    for number, seed in enumerate(seeds, 1):
        print(f"== round {number} of {len(seeds)}: seed {seed}", flush=True)
        environment = os.environ | {"PROPTEST_RNG_SEED": str(seed)}
        for command in commands(only):
            own = [f"--hypothesis-seed={seed}"] if command is PYTEST else []
            if subprocess.run([*command, *own], cwd=ROOT, env=environment, check=False).returncode:
                failed.append(seed)
    again = "".join(f"\n  make free SEED={seed}" for seed in dict.fromkeys(failed))
    print(f"== {len(seeds)} rounds, {len(set(failed))} failed{again}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
