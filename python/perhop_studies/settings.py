"""What a paper leaves open, with its answers, and its named settings: an answer to every question each.

`perhop_studies/<paper>/readings.toml` has the questions: each answer as keys to lay over the scenario files, and which
one is frozen. `settings.toml` states what differs from the frozen answers:

    [era]
    about = "..."                                  # one sentence, for the report
    release = "ns-2 2.1b8 (June 2001)"             # whose defaults hold where the paper is silent
    answers.a12 = { value = "ns-2 2.1b8", why = "..." }

`frozen` lays nothing over the scenario files, and is what a report shows first. `kindest` is the one with the most
claims, which was chosen by verdicts. Criteria are the same in each.

Decision: docs/decisions/101-the-kindest-reading-is-not-frozen.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from perhop.unknown import UnknownError
from perhop_studies.criteria import Criterion, read
from perhop_studies.runs import RunSet, Settings

FROZEN, ERA, LEMMA, KINDEST = "frozen", "era", "lemma", "kindest"
NAMES = (FROZEN, ERA, LEMMA, KINDEST)
ABOUT_FROZEN = "The specification's answers. Where it left a choice a rule decided, for some by runs of a figure."


@dataclass(frozen=True)
class Reading:
    """One question the paper leaves open, with its answers."""

    id: str
    question: str
    decided_by: str
    frozen: str
    values: dict[str, dict[str, Any]]
    chosen_on: list[str]
    """Claims on the runs that chose the answer, as patterns of `study/claim`; empty if no run had a say."""
    concerns: list[str] | None = None
    """The swept values it concerns, for instance kinds of marker; None means all."""

    def settings(self, value: str, group: str) -> dict[str, Any]:
        """The settings that this answer lays over the files of a group of studies."""
        stated = self.values[value]
        return {**stated.get("all", {}), **stated.get(group, {})}

    def is_about(self, at: Mapping[str, Any]) -> bool:
        """Whether it concerns this part of the grid."""
        return self.concerns is None or any(value in self.concerns for value in at.values())

    @property
    def others(self) -> list[str]:
        """The answers that are not frozen."""
        return [value for value in self.values if value != self.frozen]


Readings = dict[str, Reading]
"""Those of a paper, by id."""
Lay = Callable[[Reading, str, RunSet], Settings]
"""What an answer to a reading lays over a run set."""


def readings(path: Path) -> Readings:
    """A paper's readings; without the file it leaves nothing open.

    Raises:
        ValueError: a reading without `chosen-on`, or a frozen answer that is not one of the values.
    """
    entries = read(path).get("reading", [])
    if silent := [one["id"] for one in entries if "chosen-on" not in one]:
        raise ValueError(
            f"{path}: {silent[0]}: `chosen-on` is missing: the claims on the runs that chose the answer, [] if none did"
        )
    found = [Reading(**{key.replace("-", "_"): x for key, x in one.items()}) for one in entries]
    if wrong := [one for one in found if one.frozen not in one.values]:
        raise ValueError(f"{path}: {wrong[0].id} is frozen at {wrong[0].frozen!r}, which is not one of its values")
    return {one.id: one for one in found}


def in_sample(found: Readings, criterion: Criterion) -> list[str]:
    """The readings whose answer was chosen on runs that the criterion judges: for these it is a fit, no prediction."""
    return [one.id for one in found.values() if criterion.fits(one.chosen_on)]


class Answer(NamedTuple):
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

    def over(self, sets: Iterable[RunSet], found: Readings, lay: Lay) -> list[RunSet]:
        """Run sets with it laid over them."""
        return [replace(one, settings={**one.settings, **self.laid(one, found, lay)}, given=self.given) for one in sets]

    def laid(self, of: RunSet, found: Readings, lay: Lay) -> Settings:
        """What it lays over a run set."""
        layers = (lay(found[name], self.answers[name].value, of) for name in self.changed)
        return {key: value for layer in layers for key, value in layer.items()}


def load(path: Path, found: Readings) -> dict[str, Setting]:
    """A paper's settings by name, `frozen` first; without the file that is the only one.

    Raises:
        ValueError: a setting or reading of another name, or an answer that is not one of the reading's values.
    """
    stated = read(path)
    if unknown := [name for name in stated if name not in NAMES]:
        raise ValueError(f"{path}: no setting is called {unknown[0]!r}: {', '.join(NAMES)}")
    entries = {FROZEN: {"about": ABOUT_FROZEN}, **stated}
    return {name: _setting(name, entry, found, f"{path}: {name}") for name, entry in entries.items()}


def _setting(name: str, entry: Mapping[str, Any], found: Readings, where: str) -> Setting:
    answers = {one.id: Answer(one.frozen, one.decided_by) for one in found.values()}
    for reading, given in entry.get("answers", {}).items():
        if reading not in found:
            raise ValueError(f"{where}: no reading is called {reading!r}: {', '.join(found)}")
        if given["value"] not in found[reading].values:
            values = ", ".join(map(repr, found[reading].values))
            raise ValueError(f"{where}: {reading} is {given['value']!r}, which is not one of {values}")
        answers[reading] = Answer(**given)
    changed = [one for one, answer in answers.items() if answer.value != found[one].frozen]
    return Setting(name, entry["about"], answers, changed)


def chosen(settings: Mapping[str, Setting], asked: str) -> list[Setting]:
    """The settings that `--setting` asks for.

    Raises:
        UnknownError: the paper has no such setting.
    """
    if asked not in (*settings, "all"):
        raise UnknownError(f"no setting `{asked}`: {', '.join([*settings, 'all'])}")
    return [one for one in settings.values() if asked in (one.name, "all")]
