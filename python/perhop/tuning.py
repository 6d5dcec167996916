"""Parameters of SVB and MSVB from a link and its TCP flows: the numbers of `perhop tune`, computed by the core."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, cast

from perhop import _core, files
from perhop.arguments import checked, shown
from perhop.plots import stability, style
from perhop.plots.style import Figure
from perhop.scenario import Overrides, assignments

Class = str | Mapping[str, object]
"""`"rtt=120ms,flows=5..50,share=0.1"`, or `{"rtt": "120ms", "flows": (5, 50), "share": 0.1, "for": ["AF11"]}`."""


class Tuned:
    """Loops and settings of a queue: thresholds in packets, times in seconds."""

    def __init__(
        self, numbers: dict[str, Any], picture: dict[str, Any], file: str | os.PathLike[str] | None = None
    ) -> None:
        """From the core's answer about a file, or about what was stated."""
        self.numbers = numbers
        self._picture = picture
        self._file = file

    @property
    def loops(self) -> list[dict[str, Any]]:
        """Each class, then all together: `equilibrium_p`, `crossover_rad_s`, `critical_threshold_packets` and so on."""
        return list(self.numbers["loops"])

    @property
    def settings(self) -> list[dict[str, Any]]:
        """What was given, if anything, then what the rule recommends, with the stability of every loop."""
        return list(self.numbers["settings"])

    @property
    def recommended(self) -> dict[str, Any]:
        """What the rule gives: `v0_packets`, `floor_packets`, `alpha` of each class with TCP flows."""
        return self.settings[-1]

    @property
    def toml(self) -> str:
        """The recommended setting as the lines of a `[queue]`."""
        return str(self.numbers["toml"])

    def figure(self) -> Figure:
        """Critical V0 over flows, and the fluid model on both sides of the boundary."""
        return stability.figure(self._picture)

    @checked
    def plot(self, path: str | os.PathLike[str]) -> None:
        """Writes that plot: .png, .svg or .pdf.

        Raises:
            ValueError: for another ending, and where the plot would replace the file that was tuned.
        """
        files.refuse(Path(path), [] if self._file is None else [self._file])
        style.save(self.figure(), Path(path))

    def __repr__(self) -> str:
        best = self.recommended
        return f"Tuned({self.numbers['aqm']}, v0={best['v0_packets']:.0f}p, floor={best['floor_packets']:.0f}p)"


@checked
def tune(  # noqa: PLR0913
    aqm: str,
    file: str | os.PathLike[str] | None = None,
    *,
    queue: str | None = None,
    overrides: Overrides = (),
    classes: Iterable[Class] = (),
    rate: str | None = None,
    packet: str | None = None,
    limit: str | None = None,
    reference: str | None = None,
    v0: str | None = None,
    floor: str | None = None,
    alpha: float | Sequence[float] | None = None,
) -> Tuned:
    """Parameters of `aqm`, "svb" or "msvb", for a queue of a scenario file or for a rate and classes.

    The arguments are the options of `perhop tune`, in its units: `rate="10Mbit/s"`, `v0="300p"`.

    Raises:
        ValueError: when an argument makes no sense, or the rule does not apply.
    """
    alphas = [alpha] if isinstance(alpha, Real) else list(cast("Sequence[float]", () if alpha is None else alpha))
    by_hand = {"class": [_words(one) for one in classes], "rate": rate, "packet": packet, "limit": limit}
    stated = {"reference": reference, "v0": v0, "floor": floor}
    request = {
        "aqm": aqm,
        "file": None if file is None else os.fspath(file),
        "queue": queue,
        "set": assignments(overrides),
        "by_hand": {name: value for name, value in by_hand.items() if value is not None},
        "alpha": [_alpha(one) for one in alphas],
        **{name: value for name, value in stated.items() if value is not None},
    }
    numbers, picture = _core.tune(json.dumps(request))
    return Tuned(json.loads(numbers), json.loads(picture), file)


def _alpha(value: object) -> float:
    """A number that JSON can have.

    Raises:
        ValueError: it is none, or below 0.
    """
    try:
        number = float(cast("float", value))
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"alpha = {shown(value)}: must be a number of at least 0")
    return number


def _words(one: Class) -> str:
    if isinstance(one, str):
        return one
    joined = {"flows": "..", "for": "+"}
    return ",".join(f"{key}={_value(value, joined.get(key, '+'))}" for key, value in one.items())


def _value(value: object, joint: str) -> str:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return str(value)
    return joint.join(map(str, value))
