"""Pages that need no network and no script: one look for the report of a run and for that of a reproduction."""

from __future__ import annotations

from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from perhop import __version__
from perhop.plots.dark import css
from perhop.show import printable


def environment(package: str = "perhop") -> jinja2.Environment:
    """Templates of a package, and those that all share; what they print is escaped, control characters too."""
    folders = [str(resources.files(name) / "templates") for name in dict.fromkeys((package, "perhop"))]
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_plain,
    )
    made.globals |= {"version": __version__, "dark_pictures": Markup(css())}
    return made


def _plain(value: Any) -> Any:
    """A text line by line without control characters."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "\n".join(printable(line) for line in value.split("\n"))
    return value
