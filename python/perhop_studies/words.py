"""The words of a report, each said in one line at one place: `words.toml`."""

from __future__ import annotations

import tomllib
from importlib.resources import files

_STATED = files("perhop_studies").joinpath("words.toml").read_text(encoding="utf-8")
WORDS: dict[str, str] = {word: stated["says"] for word, stated in tomllib.loads(_STATED).items()}
