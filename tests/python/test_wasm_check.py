"""`make wasm-check` finds a compiler by the packages that apt has, and says so where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not installed")

PACKAGES = {
    "rustc-web": ["libc6", "libgcc-s1", "libstd-rust-web-dev", "gcc", "<libc-dev>"],
    "libstd-rust-web-dev": ["libstd-rust-web-9.99"],
    "libstd-rust-web-9.99": ["libc6", "libllvm77", "libstdc++6"],
}


def script(name: str, folder: Path, candidate: str) -> subprocess.CompletedProcess[str]:
    """One of the two scripts with an apt that has these packages, and that downloads nothing."""
    tools = folder / "tools"
    tools.mkdir()
    depends = "".join(f"{of}) printf '  Depends: %s\\n' {' '.join(map(repr, on))};;\n" for of, on in PACKAGES.items())
    apt = {
        "apt-cache": f'[ "$1" = depends ] || exec echo "  Candidate: {candidate}"\ncase $2 in\n{depends}esac',
        "apt-get": 'echo "$@"\nexit 7',
    }
    for tool, text in apt.items():
        (tools / tool).write_text(f"#!/bin/sh\n{text}\n")
        (tools / tool).chmod(0o755)
    paths = {"PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder / "cache")}
    command = [ROOT / "scripts" / name]
    return subprocess.run(command, env=os.environ | paths, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [("(none)", "apt has no rustc-web"), ("1.85.0+dfsg3-1", "apt's rustc-web 1.85.0+dfsg3-1 is older than Rust 1.91")],
)
def test_without_a_compiler_it_is_not_run(tmp_path: Path, candidate: str, reason: str) -> None:
    done = script("wasm_check.sh", tmp_path, candidate)
    assert (done.returncode, done.stdout) == (0, f"not run: wasm-check, because {reason}\n")


def test_names_of_packages_follow_from_those_that_rustc_depends_on(tmp_path: Path) -> None:
    done = script("wasm_toolchain.sh", tmp_path, "9.99.0-1")
    names = "rustc-web libstd-rust-web-dev libstd-rust-web-9.99 libllvm77 lld-77 rust-web-src"
    assert done.stderr.split("root ")[1].strip() == names
    assert (done.returncode, done.stdout) == (7, ""), "a failing download is an error"
    assert list((tmp_path / "cache/perhop/wasm").iterdir()) == [], "nothing is left of it"


def test_a_failing_download_fails_the_check(tmp_path: Path) -> None:
    done = script("wasm_check.sh", tmp_path, "9.99.0-1")
    assert (done.returncode, done.stdout) == (1, "")
