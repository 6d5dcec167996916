"""`perhop lab`: a scenario in a real Linux kernel in virtual time, beside the simulator."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perhop.kernel import compared
from perhop.kernel.job import connections_of, job, packets_of, sendable
from perhop.scenario import Scenario

SCRIPTS = Path(__file__).parent / "data" / "lab"
#: Exit status of lab/build.sh where a kernel can neither be found nor built.
CANNOT = 3


def lab(arguments: Mapping[str, Any]) -> int:
    """Carries out `perhop lab`.

    Raises:
        ValueError: what Linux's tools cannot say; traffic that the lab cannot send.
    """
    scenario = Scenario.from_toml(Path(arguments["file"]), arguments["settings"])
    linux = scenario.as_tc()
    sendable(scenario)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments["keep"] or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        runs = scenario.run(replications=1, out=folder / "runs", events=True)
        packets = packets_of(runs, scenario)
        work = job(scenario, linux, packets, connections_of(runs, linux))
        (folder / "scenario.json").write_text(json.dumps(work))
        if reason := _boot(folder):
            print(f"lab: {reason}")
            return 0
        found = json.loads((folder / "scenario.out.json").read_text())
    compared.show(compared.compared(packets, found["left"]), found, scenario, runs)
    return 0


def _boot(folder: Path) -> str:
    """Runs the job in the kernel; why it cannot, if so."""
    built = subprocess.run([SCRIPTS / "build.sh"], capture_output=True, text=True, check=False)
    if built.returncode == CANNOT:
        return (built.stderr or built.stdout).strip().removeprefix("lab: ")
    if built.returncode:
        raise ValueError(built.stderr.strip())
    done = subprocess.run([SCRIPTS / "run", folder, "3600"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return ""
