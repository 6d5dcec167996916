"""The queue at CR1, sampled each 10 ms.

| quantity  | unit    | is                                                                    |
|-----------|---------|-----------------------------------------------------------------------|
| `queue`   | packets | mean of those that wait                                               |
| `cov`     | -       | their standard deviation by their mean                                |
| `peak`    | -       | largest autocorrelation at lags from 0.2 to 5 s                       |
| `lag`     | s       | where it is                                                           |
| `echo`    | -       | largest autocorrelation beyond its first zero: how periodic the queue is |
| `acf@t`   | -       | autocorrelation at a lag of t ms, every 50 ms                         |
| `queue@t` | packets | at t ms, every 40 ms from 60 to 80 s                                  |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

HOP = "CR1 -> CR2"
SAMPLE = 10
"""ms."""
LAGS = (200, 5000)
"""First and last, ms."""
SHOWN_LAG, SHOWN = 50, range(60_000, 80_000, 40)
"""What is kept for the picture, ms."""


def measured(series: Mapping[str, Any], seconds: float) -> dict[str, float]:
    """All of the above in the last so many seconds; nothing where the queue is not sampled as often."""
    mine = (series["hop"] == HOP) & (series["quantity"] == "queue_packets")
    t, waiting = series["t_s"][mine], series["value"][mine]
    if len(t) < 2 or not math.isclose(t[1] - t[0], SAMPLE / 1000):
        return {}
    at = np.rint(t * 1000).astype(int)
    late = np.rint(waiting[at >= at[-1] - round(1000 * seconds)]).astype(np.int64)
    found, again = _moments(late), autocorrelation(late, LAGS[1] // SAMPLE)
    lags = range(LAGS[0] // SAMPLE, LAGS[1] // SAMPLE + 1)
    top = max(lags, key=lambda k: again[k])
    zero = next((k for k in lags if again[k] <= 0), lags[-1])
    found |= {"peak": again[top], "lag": top * SAMPLE / 1000, "echo": max(again[zero : lags[-1] + 1])}
    found |= {f"acf@{k * SAMPLE}": again[k] for k in lags if k * SAMPLE % SHOWN_LAG == 0}
    shown = (at >= SHOWN.start) & (at < SHOWN.stop) & (at % SHOWN.step == 0)
    return {**found, **{f"queue@{ms}": float(q) for ms, q in zip(at[shown], waiting[shown], strict=True)}}


def _moments(waiting: Any) -> dict[str, float]:
    n, total, squares = len(waiting), int(waiting.sum()), int((waiting**2).sum())
    variance = (n * squares - total**2) / n**2
    return {"queue": total / n, "cov": math.sqrt(variance) * n / total if total else math.nan}


def autocorrelation(counts: Any, most: int) -> list[float]:
    """Of whole numbers at lags 0 to `most`: covariance over all n, by the variance.

    All sums are of integers, and so exact: the same on any machine.
    """
    n = len(counts)
    size = 1 << (n + most).bit_length()
    spectrum = np.fft.rfft(counts, size)
    products = [int(x) for x in np.rint(np.fft.irfft(abs(spectrum) ** 2, size)[: most + 1])]
    total = int(counts.sum())
    head, tail = np.cumsum(counts), np.cumsum(counts[::-1])
    # n^2 times the covariance: sum (x_i - m)(x_(i+k) - m) = s_k - m (first n-k + last n-k) + (n-k) m^2
    scaled = []
    for k, product in enumerate(products):
        ends = int(head[n - k - 1]) + int(tail[n - k - 1])
        scaled.append(n * n * product - n * total * ends + (n - k) * total * total)
    return [value / scaled[0] for value in scaled] if scaled[0] else [math.nan] * len(scaled)
