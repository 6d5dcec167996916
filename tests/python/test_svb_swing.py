"""How much SVB's queue swings before TCP with ECN: perhop against an independent simulation, and what it depends on.

50 flows, 120 ms, 10 Mbit/s, 100 packets of 1000 B, alpha 0.05. Six runs of 90 s gave 19.5 to 21.3 packets at V0 = 300
(3 % of standard deviation) and 27.7 to 28.0 at 40. So a mean of three less a mean of two has an error of
3 % sqrt(1/3 + 1/2) = 2.7 %; three of those are 8 %, and 15 % leaves as much for what the two simulations do not have in
common: the hosts' links, SYNs, the retransmission timer.
"""

from __future__ import annotations

import pytest

import perhop
from fifo import Fifo

SCENARIO = """
[scenario]
duration = "100s"
sample = "50ms"
replications = 3

[links]
"S{1..10} - E1" = { rate = "100Mbit/s", delay = "{24.5+0.1*i}ms" }
"E1 - C" = { rate = "100Mbit/s", delay = "5ms" }
"C - E2" = { rate = "10Mbit/s", delay = "5ms", queue = "bottleneck" }
"E2 - D" = { rate = "100Mbit/s", delay = "25ms" }

[queue.bottleneck]
aqm = "svb"
limit = "100p"
alpha = 0.05
ecn = true

[tcp.host]
window = 64
ecn = true
segment = "960B"

["traffic"."f{1..10}"]
model = "ftp"
flows = 5
from = "S{i}"
to = "D"
tcp = "host"
"""


def measured(v0: int, floor: int) -> float:
    keys = {"queue.bottleneck.v0": f"{v0}p", "queue.bottleneck.floor": f"{floor}p"}
    runs = perhop.Scenario.from_toml(SCENARIO, keys).run()
    rows = runs.sql(
        "select stddev_pop(value) as sd from series where hop = 'C -> E2' and quantity = 'queue_packets' and t_s >= 10 "
        "group by replication"
    )
    each = [float(value) for value in rows["sd"]]
    return sum(each) / len(each)


def slow(v0: int, floor: int, **tcp: bool) -> float:
    return sum(Fifo(v0, floor, seed, **tcp).deviation() for seed in (1, 2)) / 2


@pytest.mark.slow
@pytest.mark.parametrize(("v0", "floor"), [(40, 0), (300, 260)])
def test_the_queue_swings_as_in_an_independent_simulation(v0: int, floor: int) -> None:
    assert measured(v0, floor) == pytest.approx(slow(v0, floor), rel=0.15)


@pytest.mark.slow
def test_without_rfc_3168s_two_rules_it_would_not() -> None:
    """Without either rule, the deviation at V0 = 300 is about half: the comparison above can distinguish them."""
    both = slow(300, 260)
    assert slow(300, 260, latch=False) < 0.7 * both
    assert slow(300, 260, still=False) < 0.7 * both
