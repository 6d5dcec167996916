"""The figure of make live-lab: what one flow got over time, behind each shaper. `live_figure.py FOLDER FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

SHAPERS = ("tbf", "htb", "perhop")
RATES = (10, 100)
STYLES = ("-", "--", ":")


def series(file: Path) -> tuple[list[float], list[float]]:
    """Ends of intervals, s, and what arrived in them, Mbit/s."""
    found = json.loads(file.read_text(encoding="utf-8"))
    intervals = found.get("server_output_json", found)["intervals"]
    sums = [interval["sum"] for interval in intervals if interval["sum"]["seconds"] > 0.1]
    return [it["end"] for it in sums], [it["bits_per_second"] / 1e6 for it in sums]


def main() -> None:
    """Draw it."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    figure, axes = plt.subplots(1, len(RATES), figsize=(9, 3.2), constrained_layout=True)
    for axis, rate in zip(axes, RATES, strict=True):
        for shaper, style in zip(SHAPERS, STYLES, strict=True):
            axis.plot(*series(folder / f"{shaper}-{rate}.json"), style, label=shaper)
        # of a frame of 1514 bytes 1448 are payload
        axis.axhline(rate * 1448 / 1514, color="grey", linewidth=0.5)
        axis.set(title=f"one CUBIC flow at {rate} Mbit/s", xlabel="s", ylabel="received Mbit/s", ylim=(0, rate * 1.2))
    axes[0].legend(loc="lower left")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    main()
