"""Builds the package (PEP 517): maturin's wheel, with the program `perhop` in it, which starts without Python.

`python scripts/backend.py` builds only the program, and puts it where maturin finds it. With `--wheel` the examples are
put there too: a wheel installs them into the package, and a checkout has them at its top.

A wheel needs the glibc of the machine that built it, or a newer one. The setting `glibc=2.17` names another one, and
zig links with that: `pip wheel . -C glibc=2.17`.

Decision: docs/decisions/096-the-program-is-rust.md
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
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
DATA = TARGET / "wheel.data"
PROGRAM = DATA / "scripts/perhop"
PACKAGED = DATA / "platlib"
EXAMPLES = PACKAGED / "perhop/data/examples"
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


def copy_examples() -> None:
    """Puts the examples where an installer makes them files of the package."""
    EXAMPLES.mkdir(parents=True)
    for path in (ROOT / "examples").iterdir():
        if path.is_file():
            shutil.copy2(path, EXAMPLES)


def build_data(glibc: str | None = None, *, examples: bool) -> None:
    """Everything that is in a wheel beside what maturin packages."""
    shutil.rmtree(PACKAGED, ignore_errors=True)
    build_program(glibc)
    if examples:
        copy_examples()


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
    build_data(glibc, examples=True)
    if glibc:
        tag = f"manylinux_{glibc.replace('.', '_')}"
        settings = {"build-args": f"--zig --target {linux()} --compatibility {tag}"}
    name: str = maturin.build_wheel(directory, settings, metadata)
    return name


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """A wheel that leads to this checkout, in `directory`; its name."""
    build_data(examples=False)
    name: str = maturin.build_editable(directory, settings, metadata)
    return name


if __name__ == "__main__":
    build_data(examples="--wheel" in sys.argv)
