"""`perhop lab`: a scenario in a real Linux kernel in virtual time, beside the simulator."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perhop import _core, files
from perhop.progress import told
from perhop.scenario import Scenario
from perhop_lab import boot
from perhop_lab.compared import Both
from perhop_lab.job import connections_of, job, packets_of, sendable


def lab(arguments: Mapping[str, Any]) -> int:
    """Carries out `perhop lab`.

    Raises:
        ValueError: what Linux's tools cannot say; traffic that the lab cannot send; no kernel; nothing to send.
    """
    scenario = _read(arguments["file"], arguments["settings"])
    with boot.ended_by_signals(), tempfile.TemporaryDirectory(prefix="perhop-lab-") as temporary:
        folder = files.directory(Path(arguments["keep"] or temporary)).resolve()
        both = _both(scenario, folder)
    print(json.dumps(both.to_json())) if arguments["json"] else both.show()
    return 0


def _read(file: str, settings: Sequence[str]) -> Scenario:
    """The scenario of a file; of standard input if that is `-`."""
    if file == "-":
        return Scenario(_core.text("stdin", sys.stdin.buffer.read(_core.MOST_TEXT + 1)), "stdin", settings)
    return Scenario.from_toml(Path(file), settings)


def _both(scenario: Scenario, folder: Path) -> Both:
    """Runs both worlds in a folder."""
    linux = scenario.as_tc()
    sendable(linux)
    for note in linux["notes"]:
        print(f"note: {note}", file=sys.stderr)
    with told("its kernel"):
        boot.build()
    runs = scenario.run(replications=1, out=folder / "runs", events=True)
    packets, connections = packets_of(runs, linux), connections_of(runs, linux)
    if not packets and not connections:
        raise ValueError("nothing was run: no traffic sends anything before the end of the run")
    (folder / "scenario.json").write_text(json.dumps(job(linux, packets, connections)))
    with told("in the kernel"):
        boot.run(folder)
    found = json.loads((folder / "scenario.out.json").read_text())
    return Both.of(packets, found, runs)
