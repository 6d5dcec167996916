"""Device configurations: `perhop import` from Python, with its account as a table.

Decision: docs/decisions/118-configurations-are-one-neutral-model.md
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from perhop import _core, show
from perhop.arguments import checked, shown
from perhop.frames import Frame
from perhop.scenario import Overrides, Scenario

FORMS = ("scenario", "policy")
"""What `as_` may be."""
VERDICTS = ("taken", "approximated", "not modelled")


@dataclass(frozen=True, repr=False)
class Configuration:
    """A device's configuration as perhop reads it: one port of it."""

    text: str
    """The scenario or the policy that is made of it, as TOML."""
    account: Frame
    """What became of each line that speaks of QoS: `line`, `text`, `verdict`, `notes`."""
    findings: list[dict[str, Any]]
    """What is wrong with it, as `perhop check` finds it: `severity`, `code`, `message`, `line`, `column`, `help`."""
    report: dict[str, Any] = field(compare=False)
    """All of it, as `perhop import --json` prints it."""

    @checked
    def scenario(self, overrides: Overrides = ()) -> Scenario:
        """The scenario, to run or to change.

        Raises:
            ScenarioError: with everything that is wrong in it.
            ValueError: for a policy, which has no network.
        """
        if "policy" in self.report:
            raise ValueError('a policy has no network to run: import_config(..., as_="scenario") makes a scenario')
        name = re.sub(r"\W+", "-", self.report["port"]["interface"]).strip("-") or "port"
        return Scenario(self.text, f"{name}.toml", overrides)

    def __repr__(self) -> str:
        return f"{self._head}\n{self.account!r}" if self.account.rows else self._head

    def _repr_html_(self) -> str:
        return show.note(self._head) + self.account._repr_html_()

    @property
    def _head(self) -> str:
        port, verdicts = self.report["port"], list(self.account.get("verdict", ()))
        counts = [f"{verdicts.count(it)} {it}" for it in VERDICTS if it in verdicts]
        found = show.count(len(self.findings), "finding")
        return f"{self.report['dialect']}, {port['interface']} {port['direction']}: {', '.join([*counts, found])}"


@checked
def import_config(  # noqa: PLR0913
    source: str | os.PathLike[str],
    *,
    from_: str | None = None,
    link: str | None = None,
    framing: str | None = None,
    interface: str | None = None,
    direction: str | None = None,
    platform: str | None = None,
    load: str | os.PathLike[str] | None = None,
    as_: str = "scenario",
) -> Configuration:
    """A Linux or Cisco configuration as a scenario or a policy; as `perhop import`.

    Args:
        source: a file, or the text itself (a text holds a line break, a path does not).
        from_: "tc" or "ios"; guessed without.
        link: the rate of the port's link where the text does not say it, as "100Mbit/s".
        framing: the bytes of a packet that this rate counts: "l3" (as without), "l2", "l2+fcs" or "l1".
        interface: the one that is meant, where the text has several.
        direction: "input" or "output", where the interface has both.
        platform: whose defaults count: "ios", "ios-xe" (as without) or "ncs".
        load: a file with `[traffic]` tables to send in place of the first load.
        as_: "scenario", or "policy" for `mark` and `meter`.

    Raises:
        ValueError: for a text that cannot be read, or that leaves the port open; the message says how to choose.
    """
    if as_ not in FORMS:
        raise ValueError(f"as_ = {shown(as_)}: must be one of {', '.join(FORMS)}{show.near(as_, FORMS)}")
    is_text = isinstance(source, str) and "\n" in source
    configuration = {"from": from_, "link": link, "framing": framing, "interface": interface}
    configuration |= {"direction": direction, "platform": platform}
    request = {
        "file": "text" if is_text else os.fspath(source),
        "configuration": configuration,
        "form": as_,
        "load": None if load is None else os.fspath(load),
    }
    said = _core.imported(json.dumps(request), str(source).encode() if is_text else None)
    report = json.loads(said)
    return Configuration(report[as_], _account(report["account"]), report["findings"], report)


def _account(lines: list[dict[str, Any]]) -> Frame:
    words = {name: np.array([line[name] for line in lines], dtype=object) for name in ("text", "verdict")}
    notes = np.array(["; ".join(line["notes"]) for line in lines], dtype=object)
    return Frame({"line": np.array([line["line"] for line in lines], dtype=np.int64), **words, "notes": notes})
