"""Fig. 4 and 5: bulk TCP flows alone, and with short transfers."""

from __future__ import annotations

from perhop import stats
from perhop_studies import Study
from perhop_studies.bounds import Measured
from perhop_studies.pam_fsam.terms import FEW, FSAM, MANY, PAM, TB, TSW, ceiling, ceilings, gain, over, pooled, ratio
from perhop_studies.samples import Samples
from perhop_studies.verdict import Finding, Part, Value, greater, positive

fig4 = Study("pf-fig4", title="Fig. 4: n bulk TCP flows", runs="pf-fig4")
fig5 = Study("pf-fig5", title="Fig. 5: n bulk TCP flows and short transfers", runs="pf-fig6")
STUDIES = [fig4, fig5]


def _gain_at_few(runs: Samples, marker: str) -> list[float]:
    return pooled([gain(runs, marker, n=n) for n in FEW])


def _spread(runs: Samples, marker: str) -> list[float]:
    return over(runs, "bulk.std", marker)


def _open_loop(runs: Samples) -> Samples:
    return runs.at(loop="open")


@fig4.claim("fsam-gain", "fsam-gain-amount")
def fsam_is_better_than_the_bucket(runs: Samples) -> Measured:
    """F-SAM is around 10 % better than TB."""
    return Measured([Value("g(F-SAM), n <= 10", _gain_at_few(runs, FSAM))], ceilings(runs, FEW))


@fig4.claim("pam-gain", "pam-gain-amount")
def pam_is_better_than_the_bucket(runs: Samples) -> Measured:
    """PAM also performs better than TB, by 2 to 5 %."""
    return Measured([Value("g(PAM), n <= 10", _gain_at_few(runs, PAM))], ceilings(runs, FEW))


@fig4.claim("spread-order")
def the_flows_are_more_alike(runs: Samples) -> Finding:
    """F-SAM has a much lower deviation over the flows than PAM, PAM a lower one than TB (bit/s)."""
    bucket, pam, fsam = (_spread(runs, m) for m in (TB, PAM, FSAM))
    return Finding(
        [
            greater(Value("std(PAM)", pam), Value("std(F-SAM)", fsam)),
            greater(Value("std(TB)", bucket), Value("std(PAM)", pam)),
        ]
    )


@fig4.claim("tsw2cm-worse-than-bucket")
def tsw2cm_is_worse_than_the_bucket(runs: Samples) -> Measured:
    """TSW2CM performs worse than TB (bit/s)."""
    bucket, sliding = (over(runs, "bulk.goodput", m, FEW) for m in (TB, TSW))
    return Measured([Value("TB - TSW2CM, n <= 10", stats.differences(sliding, bucket))])


@fig4.claim("losses-apart")
def two_losses_of_one_flow_are_rarer(runs: Samples) -> Measured:
    """With both a flow is less likely to lose two packets at once (packets by cut of a window)."""
    bucket, pam, fsam = (over(runs, "bulk.lost_per_cut", m) for m in (TB, PAM, FSAM))
    return Measured(
        [Value(f"TB - {name}", stats.differences(x, bucket)) for name, x in (("PAM", pam), ("F-SAM", fsam))]
    )


@fig4.claim("gains-and-ceilings")
def gains_at_many_flows(runs: Samples) -> Finding:
    """What is gained where the link is nearly full, and whether TSW2CM is worse than TB."""
    rows = []
    for n in (*FEW, *MANY):
        bucket, sliding = (runs.values("bulk.goodput", marker=m, n=n) for m in (TB, TSW))
        rows.append(
            {
                "n": n,
                "g(F-SAM)": stats.mean(gain(runs, FSAM, n=n)),
                "g(PAM)": stats.mean(gain(runs, PAM, n=n)),
                "ceiling": ceiling(runs, n=n),
                "TSW2CM - TB, kbit/s": stats.paired(bucket, sliding).mean / 1e3,
            }
        )
    below = sum(row["TSW2CM - TB, kbit/s"] < 0 for row in rows)
    seeds = len(runs.values("bulk.goodput", marker=TB, n=FEW[0]))
    return Finding([], f"TSW2CM is below TB at {below} of {len(rows)} n (published: below).", rows, seeds)


@fig5.claim("bulk-gain")
def bulk_flows_gain_beside_mice(runs: Samples) -> Finding:
    """The average per-flow throughput of long flows is higher with PAM and F-SAM."""
    runs = _open_loop(runs)
    parts = [positive(f"g({name}), n <= 10", _gain_at_few(runs, m)) for name, m in (("F-SAM", FSAM), ("PAM", PAM))]
    return Finding(parts, ceilings(runs, FEW))


@fig5.claim("spread")
def bulk_flows_are_more_alike(runs: Samples) -> Measured:
    """The deviation is lower with PAM, and almost half of TB's with F-SAM (bit/s)."""
    runs = _open_loop(runs)
    bucket, pam, fsam = (_spread(runs, m) for m in (TB, PAM, FSAM))
    parts: list[Value | Part] = [
        greater(Value("std(TB)", bucket), Value("std(PAM)", pam)),
        Value("std(F-SAM)/std(TB)", ratio(fsam, bucket)),
    ]
    return Measured(parts)
