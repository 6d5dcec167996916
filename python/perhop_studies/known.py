"""What is known now: one page for each paper, for a reader who has not read it.

`perhop_studies/<paper>/known.toml` has the text; the report shows it with the maps that it names.

    title = "PAM and F-SAM: markers without state for each flow"
    about = ["..."]                            # what is proposed, a paragraph each
    worth = ["..."]                            # which mechanism to use, and where
    [[holds]]                                  # widely; likewise [[corner]] and [[nowhere]]
    text = "..."
    map = "fsam-gain"                          # the picture behind it, if there is one
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from perhop_studies.criteria import read

FILE = "known.toml"
HEADINGS = {
    "holds": "What holds widely",
    "corner": "What holds in a corner",
    "nowhere": "What holds in no tested region near the paper's point",
    "apart": "What tells the mechanism from its rivals",
}
KEYS = ("title", "about", "worth", *HEADINGS)


class Fact(NamedTuple):
    """One thing that is known."""

    text: str
    map: str = ""
    """The id of the map that shows it."""


class Known(NamedTuple):
    """The page of one paper."""

    title: str
    about: list[str]
    worth: list[str]
    facts: dict[str, list[Fact]]
    """By heading, in the order of `HEADINGS`; headings without a fact are left out."""


def load(path: Path, maps: list[str]) -> Known | None:
    """A paper's page; None without the file.

    Raises:
        ValueError: a key that is none, or a map that the paper does not have.
    """
    if not (stated := read(path)):
        return None
    if wrong := [key for key in stated if key not in KEYS]:
        raise ValueError(f"{path}: no key `{wrong[0]}`: there are {', '.join(KEYS)}")
    facts = {HEADINGS[key]: [Fact(**one) for one in stated[key]] for key in HEADINGS if key in stated}
    named = [fact.map for listed in facts.values() for fact in listed if fact.map]
    if lacking := [name for name in named if name not in maps]:
        raise ValueError(f"{path}: no map `{lacking[0]}`: there are {', '.join(maps)}")
    return Known(stated["title"], stated["about"], stated["worth"], facts)
