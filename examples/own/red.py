"""RED as a Python class: `aqm = "red"` with `spacing = "bernoulli"`, on a link that is never idle."""

from typing import Any

import perhop
from perhop.own import Verdict


class EarlyDrop(perhop.Aqm):
    """RED: drops with a probability that rises with the average queue. The average moves at arrivals alone.

    low: the average from which packets are dropped.
    high: the average from which all are.
    max_p: the probability just below that.
    wq: weight of one sample of the queue.
    """

    def __init__(
        self, low: perhop.Packets, high: perhop.Packets, max_p: perhop.Probability = 0.1, wq: float = 0.002
    ) -> None:
        self.low, self.high, self.max_p, self.wq, self.average = low, high, max_p, wq, 0.0

    def on_arrival(self, at: Any, packet: Any, rng: Any) -> Verdict:
        """Samples the queue, then draws."""
        self.average += self.wq * (at.backlog.packets - self.average)
        if self.average < self.low:
            return "pass"
        if self.average >= self.high:
            return "drop"
        p = self.max_p * (self.average - self.low) / (self.high - self.low)
        return "drop" if rng.random() < p else "pass"

    def gauges(self) -> dict[str, float]:
        """The average is a series."""
        return {"avg_queue_packets": self.average}


perhop.register(EarlyDrop)
