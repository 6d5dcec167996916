"""The Rust side: handles in, columns out; no model lives in Python."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, final, type_check_only

import numpy.typing as npt

__all__ = [
    "MOST_TEXT",
    "At",
    "Backlog",
    "Cut",
    "Heard",
    "Loop",
    "Packet",
    "Passage",
    "Random",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Session",
    "Snapshot",
    "Tables",
    "Window",
    "__version__",
    "answer",
    "bounded",
    "called",
    "carry_out",
    "check",
    "columns",
    "damaged",
    "estimate",
    "imported",
    "known",
    "marked_capture",
    "metered_captures",
    "opened",
    "quantity",
    "refuse",
    "register",
    "registered",
    "tc_stats",
    "text",
    "tune",
    "unavailable",
    "utf8",
    "where",
    "where_left_nothing",
]

__version__: str

AboutClass = TypedDict("AboutClass", {"class": str | None})
"""What a problem of a class in a list of classes is about, as its message calls it: "class 2 (`voice`)"."""

@type_check_only
class Diagnostic(AboutClass):
    """One problem of a file; unknown values are `None`."""

    severity: str
    code: str
    message: str
    file: str
    line: int | None
    column: int | None
    label: str
    help: str
    path: str | None
    """The dotted key, of a scenario that is not from a file."""

@type_check_only
class PointDict(TypedDict):
    """One point of a sweep; `name` is its directory's."""

    labels: list[tuple[str, str]]
    name: str
    hash: str
    effective: str
    settings: NotRequired[dict[str, Any]]
    """Not of one that was found on disk."""
    origin: NotRequired[tuple[str, list[str], bool]]
    """Of that one: the scenario's file, the overrides of its run, and whether it was recorded between interfaces."""

@type_check_only
class ReplicationDict(TypedDict):
    """One replication; `note` says why an existing one was made again."""

    point: int
    replication: int
    hash: str
    reused: bool
    note: str | None
    directory: str | None
    tables: Mapping[str, dict[str, npt.NDArray[Any]]]
    """Each becomes NumPy's when it is first looked at."""

@type_check_only
class OpenedDict(TypedDict):
    """A run that was found on disk; `notes` says what was skipped, `unread` why a point has no table `classes`."""

    settings: dict[str, Any]
    points: list[PointDict]
    replications: list[ReplicationDict]
    notes: list[str]
    unread: str | None

@type_check_only
class ContractDict(TypedDict):
    """The rate that a conditioner commits to at one port."""

    conditioner: str
    hop: str
    rate_bit_s: int
    per: str
    """`aggregate` for all that it takes there; or `flow`, `pair`, `class`."""
    classes: list[str]
    """Those whose data it may take."""

PassedDict = TypedDict("PassedDict", {"class": str, "hop": str, "entry": bool, "acks": bool})
"""A port that data of a class passes; whether some enters there, and whether ACKs of the class pass it too."""

@type_check_only
class Parameter(TypedDict):
    """A parameter of an algorithm's `__init__`."""

    name: str
    doc: str
    kind: str
    default: bool | float | str | None
    optional: bool
    choices: list[str]

@type_check_only
class Described(TypedDict):
    """A class that is registered."""

    name: str
    summary: str
    page: str
    origin: str
    source: str
    parameters: list[Parameter]
    hooks: list[str]

class ScenarioError(ValueError):
    """A scenario that cannot run; `str()` is the rendered text, all problems of the file in one pass."""

    diagnostics: list[Diagnostic]

class RunError(RuntimeError):
    """A run that failed: its plan cannot be built, or packets do not add up."""

def check(text: str, file_name: str, overrides: list[str], vary: list[str]) -> list[Diagnostic]: ...

MOST_TEXT: int

def text(file_name: str, read: bytes) -> str: ...
def refuse(output: os.PathLike[str], inputs: list[Path]) -> None: ...
def utf8(path: str | os.PathLike[str]) -> str: ...
def tune(request: str) -> tuple[str, str]: ...
def bounded(name: str, number: int) -> int: ...
def quantity(text: str) -> tuple[float, str, str, float] | None: ...
def columns() -> list[dict[str, Any]]: ...
def known(table: str, column: str, values: list[float]) -> tuple[float, list[float]]: ...
def estimate(mean: float, half: float | None = None, cut: list[float] | None = None) -> str: ...
def where(texts: list[str], swept: dict[str, list[str]], rows: dict[str, list[str] | None]) -> dict[str, list[str]]: ...
def where_left_nothing(texts: list[str]) -> str: ...
def opened(directory: str) -> OpenedDict: ...
def damaged(directory: str, what: str) -> str: ...
def tc_stats(rows: list[tuple[Any, ...]]) -> str: ...
def marked_capture(request: str) -> tuple[list[tuple[str, Tables]], list[str]]: ...
def metered_captures(request: str) -> tuple[list[tuple[str, Tables]], list[str]]: ...
def imported(request: str, text: bytes | None) -> str: ...
def answer(request: str, place: str, replications: set[tuple[int, int]], seconds: float) -> int: ...
def register(kind: str, algorithm: type, described: Described) -> None: ...
def called(function: Callable[[], object], times: int) -> None: ...
def registered() -> list[tuple[str, str]]: ...
def unavailable(name: str, why: str) -> None: ...
def carry_out(request: str) -> tuple[int, tuple[str, str] | None]: ...

@final
class Tables(Mapping[str, dict[str, npt.NDArray[Any]]]):
    """The tables of a replication or of a capture; each becomes NumPy's when it is first looked at."""

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
class Cut:
    @property
    def left(self) -> int: ...
    def learn(self, seconds: float, replications: int) -> None: ...
    def next(self, chunk_s: float, workers: int) -> tuple[list[int], tuple[int, int]] | None: ...

@final
class Scenario:
    def __new__(cls, text: str, file_name: str, overrides: list[str], vary: list[str]) -> Scenario: ...
    @staticmethod
    def of(request: str) -> Scenario: ...
    @property
    def request(self) -> str: ...
    def asking(self, changes: str) -> Scenario: ...
    def seeded(self, seed: int) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def points(self) -> list[PointDict]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def recorded_warnings(self) -> list[Diagnostic]: ...
    @property
    def contracts(self) -> list[ContractDict]: ...
    @property
    def passed(self) -> list[PassedDict]: ...
    def effective(self) -> str: ...
    def to_toml(self) -> str: ...
    def explain(self) -> str: ...
    def as_tc(self, port: str | None, dev: str | None) -> str: ...
    def run(self, progress: Callable[[int, int], object] | None) -> list[ReplicationDict]: ...
    def cut(self) -> Cut: ...

@final
class Backlog:
    @property
    def packets(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def idle_since(self) -> float | None: ...
    @property
    def room(self) -> bool: ...
    @property
    def ecn(self) -> bool: ...

@final
class At:
    """An arrival at a queue, a departure from it, or the time of a timer; times in s."""

    @property
    def now(self) -> float: ...
    @property
    def arrived(self) -> float: ...
    @property
    def sojourn(self) -> float: ...
    @property
    def backlog(self) -> Backlog: ...

@final
class Passage:
    """A packet's passage by a conditioner; times in s."""

    @property
    def now(self) -> float: ...
    @property
    def flow(self) -> int: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def rto(self) -> float | None: ...
    @property
    def cwnd(self) -> float | None: ...

@final
class Packet:
    """A packet, while a hook runs."""

    colour: str
    dscp: int
    @property
    def label(self) -> float | None: ...
    @label.setter
    def label(self, label: float, /) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def flow(self) -> int: ...
    @property
    def payload(self) -> int: ...
    @property
    def seq_end(self) -> int: ...
    @property
    def ack(self) -> int: ...
    @property
    def pure_ack(self) -> bool: ...
    @property
    def ecn(self) -> bool: ...

@final
class Random:
    """The random stream of an algorithm, while a hook runs."""

    def random(self) -> float: ...
    def exponential(self, mean: float) -> float: ...

@final
class Heard:
    """What a sender has heard of the network; times in s, the rest in segments."""

    @property
    def now(self) -> float: ...
    @property
    def acked(self) -> int: ...
    @property
    def marked(self) -> int: ...
    @property
    def usable(self) -> float: ...
    @property
    def srtt(self) -> float | None: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def sample(self) -> float | None: ...

@final
class Window:
    """The window of a sender, segments."""

    cwnd: float
    ssthresh: float

@final
class Session:
    def __new__(cls, of: Scenario) -> Session: ...
    @property
    def now(self) -> float: ...
    @property
    def ports(self) -> list[str]: ...
    def until(self, time: str) -> None: ...
    def step(self, time: str) -> None: ...
    def set(self, text: str) -> list[Diagnostic]: ...
    def port_counters(self, port: int, table: str) -> dict[str, npt.NDArray[Any]]: ...
    def port_gauges(self, port: int) -> dict[str, npt.NDArray[Any]]: ...
    def port_gauge(self, port: int, quantity: str, conditioner: str | None) -> float | None: ...
    def flow_counters(self) -> dict[str, npt.NDArray[Any]]: ...
    def flow_gauges(self) -> dict[str, npt.NDArray[Any]]: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...
    def finish(self) -> tuple[PointDict, ReplicationDict]: ...

@final
class Snapshot: ...
