"""`perhop mark` and `perhop meter` on each capture, under each policy: packets written and numbers reported."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .record import ROOT, Table, digest

POLICIES = ("examples/mark-af.toml", "examples/mark-labels.toml")
REPORT = ("--json", "--flows", "1000", "--seed", "1")


def names() -> list[str]:
    """The captures."""
    return sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("tests/captures/*.pcap*"))


def tables(name: str) -> dict[str, Table]:
    """For each policy what `mark` writes and reports, and what `meter` reports of round-trip times."""
    found = {}
    for policy in POLICIES:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            reported = _perhop("mark", name, "-o", str(out), "--policy", policy, *REPORT)
            found[f"mark {policy}"] = {"packets": digest(out.read_bytes()), **_hashes(reported)}
        metered = _perhop("meter", name, "--policy", policy, "--rtt", "--samples", *REPORT)
        found[f"meter {policy}"] = _hashes(metered)
    return found


def _perhop(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "perhop", *arguments], cwd=ROOT, capture_output=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _hashes(report: dict[str, Any]) -> Table:
    """Of warnings and of what passed unchanged the numbers count, not the words; names of input and output do not."""
    counted = {"warnings": len(report["warnings"]), "unchanged": [it["packets"] for it in report["unchanged"]]}
    found = {**report, **counted}
    for place in ("file", "output"):
        found.pop(place, None)
    return {key: digest(json.dumps(value, sort_keys=True).encode()) for key, value in found.items()}
