"""Named settings of a paper: an answer to every reading each, with the reason for every one.

`perhop_studies/<paper>/settings.toml` states what differs from the frozen answers, whose reasons are in
`readings.toml`.

    [era]
    about = "..."                                  # one sentence, for the report
    release = "ns-2 2.1b8 (June 2001)"             # whose defaults hold where the paper is silent
    answers.a12 = { value = "ns-2 2.1b8", why = "..." }

`frozen` lays nothing over the scenario files, and is what a report shows first. `kindest` is the one with the most
claims, which was chosen by verdicts. Criteria are the same in each.

Decision: docs/decisions/101-the-kindest-reading-is-not-frozen.md
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perhop.unknown import UnknownError
from perhop_studies.readings import Reading, Readings
from perhop_studies.runs import RunSet, Settings

FROZEN, ERA, LEMMA, KINDEST = "frozen", "era", "lemma", "kindest"
NAMES = (FROZEN, ERA, LEMMA, KINDEST)
ABOUT_FROZEN = "The specification's answers. Where it left a choice a rule decided, for some by runs of a figure."

Lay = Callable[[Reading, str, RunSet], Settings]
"""What an answer to a reading lays over a run set."""


@dataclass(frozen=True)
class Answer:
    """One reading's value in a setting."""

    value: str
    why: str


@dataclass(frozen=True)
class Setting:
    """An answer to every reading."""

    name: str
    about: str
    answers: dict[str, Answer]
    """By reading, all of them."""
    changed: list[str]
    """Readings whose value is not the frozen one."""
    given: tuple[str, ...] = ()
    """What the command line lays over it: an idea that is tried, `KEY=VALUE`."""

    @property
    def frozen(self) -> bool:
        """Whether a report shows it first."""
        return self.name == FROZEN

    @property
    def title(self) -> str:
        """Its name, with what is laid over it."""
        return " ".join([self.name, *(f"-s {given}" for given in self.given)])

    def over(self, sets: Iterable[RunSet], readings: Readings, lay: Lay) -> list[RunSet]:
        """Run sets with it laid over them."""
        return [
            replace(one, settings={**one.settings, **self.laid(one, readings, lay)}, given=self.given) for one in sets
        ]

    def laid(self, of: RunSet, readings: Readings, lay: Lay) -> Settings:
        """What it lays over a run set."""
        merged: dict[str, Any] = {}
        for name in self.changed:
            merged |= lay(readings[name], self.answers[name].value, of)
        return merged


def load(path: Path, readings: Readings) -> dict[str, Setting]:
    """A paper's settings by name, `frozen` first; without the file that is the only one.

    Raises:
        ValueError: a setting or reading of another name, or an answer that is not one of the reading's values.
    """
    stated = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if unknown := [name for name in stated if name not in NAMES]:
        raise ValueError(f"{path}: no setting is called {unknown[0]!r}: {', '.join(NAMES)}")
    entries = {FROZEN: {"about": ABOUT_FROZEN}, **stated}
    return {name: _setting(name, entry, readings, path) for name, entry in entries.items()}


def _setting(name: str, entry: Mapping[str, Any], readings: Readings, path: Path) -> Setting:
    answers = {one.id: Answer(one.frozen, one.decided_by) for one in readings.values()}
    for reading, given in entry.get("answers", {}).items():
        if reading not in answers:
            raise ValueError(f"{path}: {name}: no reading is called {reading!r}: {', '.join(answers)}")
        if given["value"] not in readings[reading].values:
            values = ", ".join(map(repr, readings[reading].values))
            raise ValueError(f"{path}: {name}: {reading} is {given['value']!r}, which is not one of {values}")
        answers[reading] = Answer(given["value"], given["why"])
    changed = [one for one, answer in answers.items() if answer.value != readings[one].frozen]
    return Setting(name, entry["about"], answers, changed)


def chosen(settings: Mapping[str, Setting], asked: str) -> list[Setting]:
    """The settings that `--setting` asks for.

    Raises:
        UnknownError: the paper has no such setting.
    """
    if asked not in (*settings, "all"):
        raise UnknownError(f"no setting `{asked}`: {', '.join([*settings, 'all'])}")
    return [one for one in settings.values() if asked in (one.name, "all")]
