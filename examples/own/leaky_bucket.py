"""A leaky bucket as a Python class: as a meter (ITU-T I.371) it colours as `kind = "token-bucket"` does."""

from typing import Any

import perhop
from perhop.own import Colour


class LeakyBucket(perhop.Conditioner):
    """A bucket that leaks: green is what still fits.

    rate: what leaks.
    depth: what it holds.
    """

    def __init__(self, rate: perhop.Rate, depth: perhop.Size) -> None:
        self.leak, self.depth, self.level, self.last = rate / 8, depth, 0.0, 0.0

    def forward(self, at: Any, packet: Any, rng: Any) -> Colour:
        """Lets the bucket leak, then pours the packet in."""
        now = at.now
        self.level = max(0.0, self.level - (now - self.last) * self.leak)
        self.last = now
        if self.level + packet.size > self.depth:
            return "red"
        self.level += packet.size
        return "green"


perhop.register(LeakyBucket)
