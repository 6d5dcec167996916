"""Which criteria of the papers tell: breaks each paper's mechanisms, and records which criteria fail.

    python tests/mutants/papers.py               # all papers: PAPER/records/mutants.jsonl of perhop_studies
    python tests/mutants/papers.py redp pps

Settings come first (`perhop reproduce PAPER --mutants`). Then patches, wrong lines of Rust in `PAPER/mutants/*.toml`
(`file`, `old`, `new`): all are compiled into one copy of the tree, as in `run.py`, where an environment variable
selects one. What was recorded and has not changed is not run again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import run
from run import COPY, ROOT, Mutant

PACKAGE = COPY / "python"
STUDIES = ROOT / "python/perhop_studies"
RUN = """
import sys
from pathlib import Path
from perhop.progress import say
from perhop_studies import mutants
from perhop_studies.papers import paper
from perhop_studies.runs import Budget
mutants.run(paper(sys.argv[1]), Budget(), Path(sys.argv[2]), say, sys.argv[3])
"""


@dataclass(frozen=True)
class Patch:
    """A wrong line of Rust for a paper."""

    paper: str
    name: str
    mutant: Mutant


def directory(paper: str) -> Path:
    """Where a paper's files are: `pam_fsam` of `pam-fsam`."""
    return STUDIES / paper.replace("-", "_")


def of(package: Path) -> str:
    """The paper whose package this is."""
    return package.name.replace("_", "-")


def load(papers: Iterable[str]) -> list[Patch]:
    """The patches of these papers."""
    files = [file for paper in papers for file in sorted((directory(paper) / "mutants").glob("*.toml"))]
    return [_patch(number, file) for number, file in enumerate(files, 1)]


def _patch(number: int, file: Path) -> Patch:
    stated = tomllib.loads(file.read_text(encoding="utf-8"))
    return Patch(
        of(file.parents[1]), file.stem, Mutant(number, stated["file"], stated["old"], stated["new"], file.stem)
    )


def build(patches: list[Patch]) -> None:
    """A package whose core has every patch behind its switch."""
    run.copy_tree([patch.mutant for patch in patches])
    command = ["cargo", "build", "--release", "-p", "perhop-py", "--features", "perhop-py/extension-module"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(COPY / "build"), "CARGO_PROFILE_RELEASE_LTO": "off"}
    subprocess.run(command, cwd=COPY / "tree", env=environment, check=True)
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "python/perhop", PACKAGE / "perhop", ignore=shutil.ignore_patterns("*.so"))
    shutil.copy(COPY / "build/release/libperhop_core_py.so", PACKAGE / "perhop/_core.abi3.so")
    (PACKAGE / "perhop_studies").symlink_to(STUDIES)


def tell(paper: str, out: Path, python: Path, patch: Patch | None = None) -> None:
    """Runs a paper's mutants that are settings, or one that is a patch."""
    chosen = {"MUTANT": str(patch.mutant.number)} if patch else {}
    environment = {**os.environ, "PYTHONPATH": str(python), **chosen}
    command = [sys.executable, "-c", RUN, paper, str(out), patch.name if patch else ""]
    subprocess.run(command, env=environment, check=True)


def main() -> int:
    """Carries out the command line."""
    papers = sys.argv[1:] or sorted(of(path.parent) for path in STUDIES.glob("*/mutants.toml"))
    out, patches = COPY / "tells", load(papers)
    for paper in papers:
        tell(paper, out, ROOT / "python")
    if patches:
        build(patches)
    for patch in patches:
        tell(patch.paper, out, PACKAGE, patch)
    for paper in papers:
        shutil.copy(out / f"mutants-{paper}.jsonl", directory(paper) / "records/mutants.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())
