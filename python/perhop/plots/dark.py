"""SVG in a page: dark where the reader prefers that, ids that do not meet those of other pictures.

Decision: docs/decisions/109-pictures-by-matplotlib.md
"""

from __future__ import annotations

import re
from functools import cache

COLOURS = {
    "#ffffff": "#12181f",
    "#000000": "#f2f4f6",
    "#111111": "#f2f4f6",
    "#1c2733": "#e3e8ed",
    "#56636f": "#a3b0bc",
    "#667584": "#a3b0bc",
    "#b8c2cc": "#55616d",
    "#e6eaee": "#2a343e",
    "#222222": "#d9dee3",
    "#444444": "#b4bcc4",
    "#555555": "#a3b0bc",
    "#666666": "#98a4b0",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#f0853a",
    "#009e73": "#2fc499",
    "#6a3d9a": "#b595e3",
    "#7c3aed": "#b595e3",
    "#2ca02c": "#43b943",
    "#d62728": "#f0595a",
    "#12633b": "#3fb57c",
    "#8a5a00": "#d9a03c",
    "#c2410c": "#f0853a",
    "#b42318": "#f0705f",
    "#a05195": "#cf8ac5",
    "#334155": "#b4bcc4",
    "#46525e": "#a3b0bc",
    "#5b6b7a": "#a3b0bc",
    "#dfe5ea": "#2a343e",
}
"""Colours on white, and what replaces each on a dark page."""


@cache
def css() -> str:
    """Style that replaces the colours of matplotlib's SVG, which are in `style` attributes, on dark screens.

    A selector with an ancestor would not reach what `<use>` repeats: markers.
    """
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in COLOURS.items()
        for kind in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{svg{{fill:{COLOURS['#000000']}}}{rules}}}"


def inline(text: str, name: str) -> str:
    """A file's `<svg>` element for a page, its ids prefixed with `name`."""
    element = text[text.index("<svg") :].strip()
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", element)


def alone(text: str) -> str:
    """The same with the style in it, for a file by itself."""
    end = text.index(">", text.index("<svg")) + 1
    return f"{text[:end]}<style>{css()}</style>{text[end:]}"
