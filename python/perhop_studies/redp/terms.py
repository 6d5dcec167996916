"""What the studies of REDP have in common: flows, plain REDP against the dropper, and their colours in figures."""

from __future__ import annotations

from perhop_studies.drawing import Look

TCP = tuple(f"tcp{i}" for i in range(1, 5))
UDP = tuple(f"udp{i}" for i in range(1, 5))
IDEAL = {"green": 175.0, "yellow": 125.0, "total": 300.0}
"""A flow's fair part, kbit/s."""

PLAIN, DROPPER = 0, 2
"""P_drop in hundredths: REDP, and REDP with the combined dropper as the paper sets it."""
PHASE = 30
"""Buffer of the regime of phase effects, packets."""

LOOKS = {PLAIN: Look("REDP", "#c2410c", "s"), DROPPER: Look("REDP with dropper", "#0072b2", "o")}
