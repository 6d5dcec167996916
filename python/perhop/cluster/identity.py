"""Which perhop a process runs: results of several versions are not mixed.

Decision: docs/decisions/094-tasks-of-a-chunk.md
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import perhop
from perhop.cluster.errors import ClusterError, listed

if TYPE_CHECKING:
    from distributed import Client


class Identity(NamedTuple):
    """What has to be the same in all processes."""

    version: str
    build: str
    """Of all files of the package that run."""
    python: str

    def __str__(self) -> str:
        return f"perhop {self.version} (build {self.build}), Python {self.python}"


def identity() -> Identity:
    """Of this process."""
    return Identity(perhop.__version__, _build(), ".".join(platform.python_version_tuple()[:2]))


@lru_cache(1)
def _build() -> str:
    package = Path(perhop.__file__).parent
    found = hashlib.blake2b(digest_size=4)
    for path in sorted(path for ending in ("py", "so", "pyd") for path in package.rglob(f"*.{ending}")):
        found.update(path.relative_to(package).as_posix().encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def check(client: Client) -> None:
    """Compares the versions of all workers with the client's.

    Raises:
        ClusterError: naming those that differ, or have no perhop.
    """
    mine = identity()
    bare = {address: said for address, said in _without(client).items() if said}
    asked: Mapping[str, Any] = {}
    if not bare:
        asked = client.run(identity, on_error="return")
    differ = bare | {address: _said(it) for address, it in asked.items() if it != mine}
    if differ:
        raise ClusterError(mixture(mine, differ))


def _said(answer: Identity | Exception) -> str:
    return str(answer) if isinstance(answer, Identity) else f"no perhop that it can use: {answer}"


def _without(client: Client) -> dict[str, str]:
    """What is wrong with workers that our code cannot ask: no perhop, or another Python."""
    found = client.get_versions(packages=["perhop"])
    return {address: _wrong(found["client"], told) for address, told in found["workers"].items()}


def _wrong(client: Mapping[str, Any], worker: Mapping[str, Any]) -> str:
    mine, python = (it["host"]["python"].split(".")[:2] for it in (client, worker))
    version = worker["packages"].get("perhop")
    if version is None:
        return "no perhop"
    if python != mine or version != client["packages"]["perhop"]:
        return f"perhop {version}, Python {'.'.join(python)}"
    return ""


def mixture(mine: Identity, differ: Mapping[str, str]) -> str:
    """The message that refuses it."""
    return "\n".join(
        [
            f"the cluster's workers do not run what this client runs, {mine}; nothing was run:",
            *listed([f"{address}: {what}" for address, what in sorted(differ.items())]),
            "   help: the same wheel and the same Python on every worker and here; then start the workers again",
        ]
    )
