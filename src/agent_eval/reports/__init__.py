"""From records to evidence: what the records of a run say, with intervals and counts.

Only ``tables`` and ``explained`` draw.
"""

from agent_eval.reports.compare import ComparedRun, Comparison, comparison_of
from agent_eval.reports.conventions import CONVENTIONS, BuildConventions, Convention, Score, conventions_of
from agent_eval.reports.evidence import evidence_of
from agent_eval.reports.explain import Explanation
from agent_eval.reports.report import Report, report_of
from agent_eval.reports.selection import REFERENCE_BUILD, Pair, judged, latest, pairs_of, reference_of
from agent_eval.reports.speed import BuildSpeed, RunSpeed, SpeedRatio, speed_of
from agent_eval.reports.summary import (
    RATES,
    BuildSummary,
    Discordance,
    PairSummary,
    RateName,
    RunSummary,
    summary_of,
)

__all__ = [
    "CONVENTIONS",
    "RATES",
    "REFERENCE_BUILD",
    "BuildConventions",
    "BuildSpeed",
    "BuildSummary",
    "ComparedRun",
    "Comparison",
    "Convention",
    "Discordance",
    "Explanation",
    "Pair",
    "PairSummary",
    "RateName",
    "Report",
    "RunSpeed",
    "RunSummary",
    "Score",
    "SpeedRatio",
    "comparison_of",
    "conventions_of",
    "evidence_of",
    "judged",
    "latest",
    "pairs_of",
    "reference_of",
    "report_of",
    "speed_of",
    "summary_of",
]
