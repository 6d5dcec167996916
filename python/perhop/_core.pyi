"""The Rust side: handles in, columns out; no model lives in Python."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

import numpy.typing as npt

from perhop.shapes import ContractDict, Diagnostic, OpenedDict, PassedDict, PointDict, ReplicationDict

__all__ = [
    "Loop",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Tables",
    "__version__",
    "answer",
    "bounded",
    "check",
    "columns",
    "damaged",
    "estimate",
    "known",
    "main",
    "opened",
    "quantity",
    "text",
    "tune",
]

__version__: str

class ScenarioError(ValueError):
    """A scenario that cannot run; `str()` is the rendered text, all problems of the file in one pass."""

    diagnostics: list[Diagnostic]

class RunError(RuntimeError):
    """A run that failed: its plan cannot be built, or packets do not add up."""

def check(text: str, file_name: str, overrides: list[str], vary: list[str]) -> list[Diagnostic]: ...
def text(file_name: str, read: bytes) -> str: ...
def tune(args: list[str]) -> tuple[str, str]: ...
def bounded(name: str, number: int) -> int: ...
def quantity(text: str) -> tuple[float, str, str, float] | None: ...
def columns() -> list[dict[str, Any]]: ...
def known(table: str, column: str, values: list[float]) -> tuple[float, list[float]]: ...
def estimate(mean: float, half: float | None = None, cut: list[float] | None = None) -> str: ...
def opened(directory: str) -> OpenedDict: ...
def damaged(directory: str, what: str) -> str: ...
def answer(argv: list[str], given: tuple[str, str, set[tuple[int, int]], float]) -> int: ...
def main(argv: list[str]) -> tuple[int, tuple[str, str] | None]: ...

@final
class Tables(Mapping[str, dict[str, npt.NDArray[Any]]]):
    """The tables of a replication; each becomes NumPy's when it is first looked at."""

    def __getitem__(self, key: str, /) -> dict[str, npt.NDArray[Any]]: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

@final
class Loop:
    def __new__(cls, flows: float, rtt: float, capacity: float) -> Loop: ...
    def equilibrium_p(self) -> float | None: ...
    def critical_threshold(self, alpha: float) -> float | None: ...
    def fluid(self, alpha: float, v0: float, seconds: float) -> tuple[list[float], list[float]] | None: ...

@final
class Scenario:
    def __new__(
        cls,
        text: str,
        file_name: str,
        overrides: list[str],
        vary: list[str],
        keys: list[list[str]] = ...,
        axes: list[str] = ...,
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def points(self) -> list[PointDict]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def recipe(self) -> tuple[str, str, list[str], list[str], list[list[str]], str | None]: ...
    def seeded(self, seed: int) -> Scenario: ...
    def named(self, name: str) -> Scenario: ...
    @property
    def contracts(self) -> list[ContractDict]: ...
    @property
    def passed(self) -> list[PassedDict]: ...
    def effective(self) -> str: ...
    def to_toml(self) -> str: ...
    def explain(self) -> str: ...
    def as_tc(self) -> str: ...
    def run(
        self,
        replications: tuple[int, int],
        jobs: int,
        out: str | None,
        resume: bool,
        progress: Callable[[int, int], object] | None,
        events: bool = ...,
        ef: list[str] = ...,
        points: list[int] | None = ...,
    ) -> list[ReplicationDict]: ...
    def missing(
        self,
        replications: tuple[int, int],
        jobs: int,
        out: str,
        events: bool = ...,
        ef: list[str] = ...,
        points: list[int] | None = ...,
    ) -> list[list[int]]: ...
