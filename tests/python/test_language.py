"""What users read avoids phrases that make a reader stop; beside each is what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("crates/*/src", "python", "docs", "examples", "site", "lab")
ENDINGS = {".rs", ".py", ".md", ".toml", ".txt", ".sh", ".yml", ".patch"}

#: Texts that must not change (the criteria were frozen before any result was seen), and lists of what to avoid.
FROZEN = {"criteria.toml", "STYLE.md"}

#: Phrases to avoid, as patterns, and what to write instead.
PHRASES = {
    "where left out": "default, if omitted",
    "may be left out": "is optional",
    "(?:a|the|and|or|of) way out[.,;:`]": "a suggested fix",
    "hardly as": "probably not as intended",
    "(?:for|by) want of": "because the queue is full, for lack of",
    "stands? (?:once|twice|there)": "is listed, appears",
    "what stood": "an existing file",
    "nobody(?: else)?": "no flow, no queue; unspecified",
    "somebody": "a user, a host",
    "(?:is|be|are) told of": "is given, is reported",
    "told of once": "reported once",
    "wants? to be told": "needs, has a timer",
    "heeds?(?: no| nothing)?": "responds to; unresponsive",
    "(?:that|who) does not yield": "unresponsive",
    "hangs on": "depends on",
    r"in sum\b": "sum to",
    "under way": "in flight, in progress",
    "at fault": "invalid, the offending key",
    "the way back to": "the inverse",
    "goes? on (?:as|where|from)": "continues",
    "anew": "again",
    "shall (?:wait|end)": "should wait, the target queue",
    "comes? into being": "is created",
    "were other": "differed",
    "in our days": "today",
    "no mere": "not merely",
    "is no (?:format|error|sample|conflict|capture)": "is not a",
    "of which no": "whose ... not",
    "as meant": "as intended",
    "none but the": "no optional, only the",
    "aloud": "with a message",
    "whatever else comes": "all other packets",
    "in plain words": "with a message",
    "without a word": "silently",
    "of (?:its|their|our) own[.,;:)]": "its own, separate",
    "so many (?:bytes|packets|segments)[.,:;)]": "this many",
    "what there is": "what is available",
}
#: What may stand between two words: a space, or the end of a line of text or comment.
GAP = r"(?:[ ]|\s*\n\s*(?://[/!]?|#|\*)?\s*)"

#: The patterns, to be matched against text in lower case.
PATTERNS = [(re.compile(phrase.replace(" ", GAP)), instead) for phrase, instead in PHRASES.items()]


def texts() -> list[Path]:
    """Every file of what users get whose text may be edited."""
    inside = (path for folder in FOLDERS for path in ROOT.glob(f"{folder}/**/*") if path.suffix in ENDINGS)
    return [p for p in [*ROOT.glob("*.md"), *inside] if p.is_file() and p.name not in FROZEN and not is_generated(p)]


def is_generated(path: Path) -> bool:
    """Whether a build or another program wrote it."""
    return any(part in ("target", "results", "__pycache__") for part in path.relative_to(ROOT).parts)


def phrases_in(text: str) -> list[tuple[int, str, str]]:
    """Each phrase to avoid in a text: its line, the phrase, what to write instead."""
    low = text.lower()
    found = [(match, instead) for pattern, instead in PATTERNS for match in pattern.finditer(low)]
    words = [(m.start(), m.group(), instead) for m, instead in found if not low[: m.start()][-1:].isalpha()]
    return sorted((low.count("\n", 0, at) + 1, phrase, instead) for at, phrase, instead in words)


def test_a_phrase_is_found_across_the_end_of_a_line() -> None:
    found = phrases_in("drop-tail where\n    /// left out, in summer;\nNobody: on its way outside")
    assert [(line, instead) for line, _, instead in found] == [
        (1, PHRASES["where left out"]),
        (3, PHRASES["nobody(?: else)?"]),
    ]


def test_no_text_has_a_phrase_to_avoid() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {phrase!r}: write {instead}"
        for path in texts()
        for line, phrase, instead in phrases_in(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not found, "\n".join(found)
