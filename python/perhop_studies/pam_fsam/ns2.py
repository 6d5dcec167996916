"""What ns-2 2.35 gives on its own reading of the paper's set-up, for the baselines that it has.

Its DiffServ module at edge and core: one policy entry for the aggregate, RIO-C 20/40/0.02 and 10/20/0.1, packets of
1000 B with their headers, burst in bits, 20 s of warm-up, 100 s of measurement; means in kbit/s by n.
"""

from perhop_studies.pam_fsam.terms import TB, TSW

FIG4 = {TB: {5: 874.3, 10: 464.3, 20: 244.7, 30: 161.6}, TSW: {5: 857.7, 10: 457.9, 20: 243.9, 30: 161.7}}
FIG7_TCP = {TB: {5: 686.7, 10: 378.2, 20: 198.7, 30: 133.7}, TSW: {5: 684.6, 10: 374.8, 20: 198.1, 30: 133.2}}
FIG8_UDP = {TB: {5: 967.4, 10: 933.3, 20: 879.6, 30: 838.7}, TSW: {5: 959.7, 10: 932.0, 20: 883.0, 30: 837.8}}

_STRICT = (811, 850, 969, 854, 840, 822, 826, 826, 789, 852, 861, 915, 943, 902, 823, 841, 878, 927, 871, 841)
_JITTERED = (877, 883, 874, 872, 878, 875, 874, 887, 859, 870)

FIG2_STRICT = [n / 1000 for n in _STRICT]
"""UDP's share of the IN packets behind TB, one value a seed; strict CBR."""

FIG2_JITTERED = [n / 1000 for n in _JITTERED]
"""The same, jittered."""
