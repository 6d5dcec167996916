"""AIMD as a Python class: with a = 1 and b = 1/2 it is Reno (RFC 5681), segment for segment."""

from typing import Any

import perhop


class Aimd(perhop.CongestionControl):
    """Additive increase, multiplicative decrease.

    increase: segments that the window grows by in a round trip.
    decrease: the part of it that a loss takes.
    """

    def __init__(self, increase: float = 1.0, decrease: perhop.Probability = 0.5) -> None:
        self.increase, self.decrease = increase, decrease

    def on_ack(self, signal: Any, window: Any) -> None:
        """Slow start, then so many segments a round trip."""
        window.cwnd += 1 if window.cwnd < window.ssthresh else self.increase / window.cwnd

    def on_loss(self, signal: Any, window: Any) -> None:
        """What is usable, less its part."""
        window.cwnd = max(1.0, signal.usable * (1 - self.decrease))
        window.ssthresh = float(max(2, int(window.cwnd)))

    def on_timeout(self, signal: Any, window: Any) -> None:
        """Begins again at one segment."""
        window.ssthresh = float(max(2, int(signal.usable * (1 - self.decrease))))
        window.cwnd = 1.0


perhop.register(Aimd)
