"""What the tests share: a small scenario, the command line, and skips that fail where CI=1."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pluggy
import pytest

from perhop import Runs, Scenario
from waits import WAIT_S

if TYPE_CHECKING:
    from perhop_studies import Paper

ROOT = Path(__file__).resolve().parents[2]

#: Files that take long; each runs on one worker.
LONGEST = ("test_walkthroughs", "test_kernel_tcp", "test_notebooks")

SCENARIO = """
[scenario]
name = "small"
duration = "6s"
warmup = "1s"
replications = 3

[dumbbell]
flows = 4
bottleneck = "2Mbit/s"
rtt = "40ms"
queue = "rio"
marker = { kind = "token-bucket", cir = "500kbit/s", cbs = "20000B" }

[queue.rio]
aqm = "rio"
limit = "40p"
in = { min = "15p", max = "30p", max-p = 0.02 }
out = { min = "5p", max = "15p", max-p = 0.2 }
"""

SWEPT = """
[sweep]
"dumbbell.flows" = [2, 10]
"dumbbell.marker" = [
  { kind = "token-bucket", cir = "500kbit/s", cbs = "20000B" },
  { kind = "pam", cir = "500kbit/s", cbs = "20000B" },
]
"""

# The same cases in each run, so that a run fails for what changed; `make free` chooses the other profile.
CI = hypothesis.settings.get_profile("ci")
hypothesis.settings.register_profile("free", CI, derandomize=False, max_examples=1000)
hypothesis.settings.load_profile("ci")

Command = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files begin first, so that no processor waits for them at the end."""
    items.sort(key=lambda it: LONGEST.index(it.path.stem) if it.path.stem in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def small() -> Scenario:
    return Scenario.from_toml(SCENARIO)


@pytest.fixture(scope="session")
def runs(small: Scenario) -> Runs:
    return small.run()


@pytest.fixture(scope="session")
def swept() -> Runs:
    return Scenario.from_toml(SCENARIO + SWEPT).run(2)


@pytest.fixture(params=["pam-fsam", "pps", "msvb-sio", "redp", "rtt-rto"])
def each_paper(request: pytest.FixtureRequest) -> Paper:
    """The papers, one after the other."""
    from perhop_studies.papers import paper

    return paper(request.param)


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def perhop(tmp_path: Path) -> Command:
    """The command line, run in its own directory."""
    return command_line(tmp_path, "-m", "perhop")


def command_line(directory: Path, *python: str) -> Command:
    """The command line as these words of Python's run it, in a directory."""

    def run(*arguments: object, cwd: Path = directory) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *python, *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=WAIT_S, check=False)

    return run


def files(directory: Path) -> dict[str, bytes]:
    """All files below a directory, without wall times."""
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*.parquet"))}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
    """Where CI=1, what a machine lacks is a failure."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"CI must not skip {item.nodeid}: {report.longrepr}"
