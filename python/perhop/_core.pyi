"""The Rust side: handles in, columns out; no model lives in Python."""

from collections.abc import Callable
from typing import Any, final

from perhop.shapes import Diagnostic, PointDict, ReplicationDict

__all__ = ["Loop", "RunError", "Scenario", "ScenarioError", "__version__", "check", "main"]

__version__: str

class ScenarioError(ValueError):
    """A scenario that cannot run; `str()` is the rendered text, all problems of the file in one pass."""

    diagnostics: list[Diagnostic]

class RunError(RuntimeError):
    """A run that failed: its plan cannot be built, or packets do not add up."""

def check(text: str, file_name: str, overrides: list[str], vary: list[str]) -> list[Diagnostic]: ...
def main(argv: list[str]) -> tuple[int, tuple[str, str] | None]: ...

@final
class Loop:
    def __new__(cls, flows: float, rtt: float, capacity: float) -> Loop: ...
    def equilibrium_p(self) -> float | None: ...
    def critical_threshold(self, alpha: float) -> float | None: ...
    def fluid(self, alpha: float, v0: float, seconds: float) -> tuple[list[float], list[float]] | None: ...

@final
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
