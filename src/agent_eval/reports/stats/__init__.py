"""The statistics of a paired evaluation: counts in, intervals and verdicts out. Knows nothing of builds or records.

Every function is pure. With nothing counted there is no estimate: functions raise ``ValueError`` at n = 0 unless they
say what they return instead; none returns NaN. Each module names the sources of its methods.
"""

from agent_eval.reports.stats.clusters import (
    Pairs,
    clustered_difference,
    clustered_pass_hat,
    effective_pairs,
    effective_size,
    intraclass_correlation,
    pass_at,
    pass_hat,
    sign_flip,
)
from agent_eval.reports.stats.means import clustered_mean, clustered_quantiles
from agent_eval.reports.stats.medians import bootstrap_median
from agent_eval.reports.stats.pairs import (
    ASSUMED_DISCORDANCE,
    MOST_PAIRS,
    POWER,
    UNKNOWN_DIFFERENCE,
    bonett_price,
    holm,
    lower_bound,
    mcnemar,
    non_inferiority,
    pairs_needed,
    upper_bound,
)
from agent_eval.reports.stats.power import mcnemar_power, non_inferiority_power, pairs_for_mcnemar
from agent_eval.reports.stats.resampling import CONFIDENCE, RESAMPLES
from agent_eval.reports.stats.sequential import EARLY, sequential_test
from agent_eval.reports.stats.shares import UNKNOWN_SHARE, Count, clustered_share, cost_per_event, wilson

__all__ = [
    "ASSUMED_DISCORDANCE",
    "CONFIDENCE",
    "EARLY",
    "MOST_PAIRS",
    "POWER",
    "RESAMPLES",
    "UNKNOWN_DIFFERENCE",
    "UNKNOWN_SHARE",
    "Count",
    "Pairs",
    "bonett_price",
    "bootstrap_median",
    "clustered_difference",
    "clustered_mean",
    "clustered_pass_hat",
    "clustered_quantiles",
    "clustered_share",
    "cost_per_event",
    "effective_pairs",
    "effective_size",
    "holm",
    "intraclass_correlation",
    "lower_bound",
    "mcnemar",
    "mcnemar_power",
    "non_inferiority",
    "non_inferiority_power",
    "pairs_for_mcnemar",
    "pairs_needed",
    "pass_at",
    "pass_hat",
    "sequential_test",
    "sign_flip",
    "upper_bound",
    "wilson",
]
