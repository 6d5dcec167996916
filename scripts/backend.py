"""Builds the package (PEP 517): maturin's wheel, with the program `perhop` in it, which starts without Python.

`python scripts/backend.py` builds only the program, and puts it where maturin finds it.

Decision: docs/decisions/096-the-program-is-rust.md
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "target/wheel.data/scripts/perhop"


def build_program() -> None:
    """Compiles the program and puts it where `tool.maturin.data` of pyproject.toml says."""
    target = ROOT / "target"
    subprocess.run(["cargo", "build", "--release", "-p", "perhop", "--target-dir", str(target)], cwd=ROOT, check=True)
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(target / "release/perhop", PROGRAM)


def build_wheel(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel in `directory`; its name."""
    build_program()
    name: str = maturin.build_wheel(directory, settings, metadata)
    return name


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel that leads to this checkout, in `directory`; its name."""
    build_program()
    name: str = maturin.build_editable(directory, settings, metadata)
    return name


if __name__ == "__main__":
    build_program()
