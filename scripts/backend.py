"""Builds the package (PEP 517): maturin's wheel, with the program `perhop` in it, which starts without Python.

`python scripts/backend.py` builds only the program, and puts it where maturin finds it.

A wheel needs the glibc of the machine that built it, or a newer one. The setting `glibc=2.17` names another one, and
zig links with that: `pip wheel . -C glibc=2.17`.

Decision: docs/decisions/096-the-program-is-rust.md
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
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
TARGET = ROOT / "target"
PROGRAM = TARGET / "wheel.data/scripts/perhop"
ZIG = ["ziglang", "cargo-zigbuild"]

# maturin asks for it before anything is built, and for an sdist too.
PROGRAM.parent.mkdir(parents=True, exist_ok=True)


def build_program(glibc: str | None = None) -> None:
    """Compiles the program and puts it where `tool.maturin.data` of pyproject.toml says.

    The module's package is named beside the program's, though only the program is built: dependencies then have the
    features that maturin's build of the module needs, and are not compiled a second time for it.
    """
    how = ["zigbuild", "--target", f"{linux()}.{glibc}"] if glibc else ["build"]
    what = ["--release", "-p", "perhop", "-p", "perhop-py", "--bin", "perhop", "--target-dir", str(TARGET)]
    subprocess.run(["cargo", *how, *what], cwd=ROOT, check=True)
    shutil.copy2(TARGET / (linux() if glibc else "") / "release/perhop", PROGRAM)


def linux() -> str:
    """This machine as a target of Rust."""
    return f"{platform.machine()}-unknown-linux-gnu"


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """What `build_wheel` needs besides maturin."""
    required: list[str] = maturin.get_requires_for_build_wheel(settings)
    return [*required, *(ZIG if settings and "glibc" in settings else [])]


def build_wheel(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel in `directory`; its name."""
    glibc = (settings or {}).get("glibc")
    build_program(glibc)
    if glibc:
        tag = f"manylinux_{glibc.replace('.', '_')}"
        settings = {"build-args": f"--zig --target {linux()} --compatibility {tag}"}
    name: str = maturin.build_wheel(directory, settings, metadata)
    return name


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel that leads to this checkout, in `directory`; its name."""
    build_program()
    name: str = maturin.build_editable(directory, settings, metadata)
    return name


if __name__ == "__main__":
    build_program()
