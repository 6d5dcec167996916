"""The Rust side: handles in, columns out; no model lives in Python."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy.typing as npt

__version__: str

class ScenarioError(ValueError):
    """A scenario that cannot run; `str()` is the rendered text, all problems of the file in one pass."""

    diagnostics: list[Diagnostic]

class RunError(RuntimeError):
    """A run that failed: a directory that cannot be written, a full disk, a breach of conservation."""

class Diagnostic(TypedDict):
    severity: str
    code: str
    message: str
    file: str
    line: int | None
    column: int | None
    label: str
    help: str

class PointDict(TypedDict):
    labels: list[tuple[str, str]]
    name: str
    hash: str

class ReplicationDict(TypedDict):
    point: int
    replication: int
    hash: str
    reused: bool
    tables: dict[str, dict[str, npt.NDArray[Any]]]

def check(text: str, file_name: str, overrides: list[str], vary: list[str]) -> list[Diagnostic]: ...
def main(argv: list[str]) -> tuple[int, tuple[str, str] | None]: ...

class Scenario:
    def __new__(cls, text: str, file_name: str, overrides: list[str], vary: list[str]) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def points(self) -> list[PointDict]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    def effective(self) -> str: ...
    def to_toml(self) -> str: ...
    def explain(self) -> str: ...
    def run(
        self,
        replications: tuple[int, int],
        seed: int,
        jobs: int,
        out: str | None,
        resume: bool,
        progress: Callable[[int, int], object] | None,
    ) -> list[ReplicationDict]: ...
