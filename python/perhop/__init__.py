"""perhop: traffic conditioners at the edge, queue management in the core.

Names are imported when first used: `perhop --version` and `perhop check` need neither NumPy nor matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from perhop._core import RunError, ScenarioError, __version__
except ImportError as error:
    from perhop.built import misfit

    if told := misfit():
        raise ImportError(told) from error
    raise

if TYPE_CHECKING:
    from perhop.builder import Builder
    from perhop.captures import Metered, mark, meter
    from perhop.columns import Point, Replication
    from perhop.frames import Frame
    from perhop.own import Aqm, Conditioner, CongestionControl, Packets, Probability, Rate, Size, Time, register
    from perhop.runs import Runs
    from perhop.scenario import Scenario
    from perhop.stats import Interval
    from perhop.tuning import Tuned, tune

_HOME = {
    "Aqm": "perhop.own",
    "Builder": "perhop.builder",
    "Conditioner": "perhop.own",
    "CongestionControl": "perhop.own",
    "Frame": "perhop.frames",
    "Interval": "perhop.stats",
    "Metered": "perhop.captures",
    "Packets": "perhop.own",
    "Point": "perhop.columns",
    "Probability": "perhop.own",
    "Rate": "perhop.own",
    "Replication": "perhop.columns",
    "Runs": "perhop.runs",
    "Scenario": "perhop.scenario",
    "Size": "perhop.own",
    "Time": "perhop.own",
    "Tuned": "perhop.tuning",
    "mark": "perhop.captures",
    "meter": "perhop.captures",
    "register": "perhop.own",
    "tune": "perhop.tuning",
}

__all__ = [
    "Aqm",
    "Builder",
    "Conditioner",
    "CongestionControl",
    "Frame",
    "Interval",
    "Metered",
    "Packets",
    "Point",
    "Probability",
    "Rate",
    "Replication",
    "RunError",
    "Runs",
    "Scenario",
    "ScenarioError",
    "Size",
    "Time",
    "Tuned",
    "__version__",
    "mark",
    "meter",
    "register",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'perhop' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
