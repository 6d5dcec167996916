"""Sphinx's settings for the pages that pages.py collects. Decision: docs/decisions/125-the-site-is-sphinx.md."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pygments.lexers.shell import BashLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]

project = "perhop"
author = "the authors of perhop"
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]

extensions = ["myst_parser"]
root_doc = "index"
smartquotes = False

# The pages are GitHub's Markdown. Of MyST's own syntax they have the targets and the trees that pages.py writes.
myst_heading_anchors = 6
myst_disable_syntax = ["myst_role", "myst_line_comment", "myst_block_break", "math_inline", "math_block", "fieldlist"]
# Examples of faults are no TOML; a page may go from its title to a third level.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

html_theme = "furo"
pygments_style = "default"
html_title = f"perhop {version}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_js_files = ["search.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False


TREES: dict[object, str] = {}
"""Navigation that pages share: those of a folder below the same page."""


def short(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Show the first page's list in the navigation: a tree of all pages, drawn for each, takes most of the time."""
    tree, above = context.get("toctree"), context.get("parents")
    if tree is None:
        return
    sharing = (page.rpartition("/")[0], above[0]["link"]) if above else page

    def drawn(**given: Any) -> str:
        if sharing not in TREES:
            TREES[sharing] = tree(**{**given, "collapse": True, "maxdepth": 1})
        return TREES[sharing]

    context["toctree"] = drawn


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the languages of the pages' code, and make the navigation short before furo draws it."""
    app.add_lexer("tc", BashLexer)
    for language in ("ios", "cisco", "plain"):
        app.add_lexer(language, TextLexer)
    app.connect("html-page-context", short, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
