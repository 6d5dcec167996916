"""What the studies of MSVB and SIO have in common: schemes, classes, shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perhop import stats
from perhop_studies.drawing import Look
from perhop_studies.samples import Samples

LINK = 10e6
"""Rate of the bottleneck, bit/s."""
CLASSES = tuple(f"class{i}" for i in range(1, 11))
TCP, UDP = CLASSES[:5], CLASSES[5:]
"""In Table 1 and Fig. 4."""
WEIGHTS = dict(zip(CLASSES, (1, 2, 3, 4, 1, 2, 3, 4, 2, 3), strict=True))
"""Table 2 of the paper."""
FLOWS = (50, 100, 150, 200, 250, 300, 250, 200, 150, 100, 50, 50)
"""Fig. 2: flows in each step of 50 s."""
CIRS = {250: ".25", 500: ".5", 1000: "1.0", 2000: "2.0"}
"""Table 1: CIR of each class, kbit/s, as the table heads its columns."""

LOOKS = {
    "red": Look("RED", "#667584", "^", ":"),
    "svb": Look("SVB", "#8a5a00", "v", ":"),
    "fred": Look("FRED", "#12633b", "s", "--"),
    "rio": Look("RIO", "#c2410c", "D", "--"),
    "sio": Look("SIO", "#7c3aed", "P"),
    "msvb": Look("MSVB", "#0072b2", "o"),
}


def percent(values: Iterable[float], whole: float = 1.0) -> list[float]:
    """Of the link, or of packets."""
    return [100 * value / whole for value in values]


def average(runs: Samples, names: Sequence[str], quantity: str) -> list[float]:
    """The mean of `NAME.quantity` over these classes, by replication."""
    columns = [runs.values(f"{name}.{quantity}") for name in names]
    return [stats.mean(row) for row in zip(*columns, strict=True)]
