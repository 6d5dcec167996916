"""A figure that a notebook shows."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DPI = 90
"""Of a picture in a notebook."""


class Picture(Figure):
    """Drawn without pyplot, which alone would teach a notebook to show figures."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=DPI)
        return picture.getvalue()
