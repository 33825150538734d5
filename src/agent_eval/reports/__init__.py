"""From records to evidence: what the records of a run say, with intervals and counts. Only ``tables`` draws."""

from agent_eval.reports.evidence import evidence_of
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
    "RATES",
    "REFERENCE_BUILD",
    "BuildSpeed",
    "BuildSummary",
    "Discordance",
    "Pair",
    "PairSummary",
    "RateName",
    "Report",
    "RunSpeed",
    "RunSummary",
    "SpeedRatio",
    "evidence_of",
    "judged",
    "latest",
    "pairs_of",
    "reference_of",
    "report_of",
    "speed_of",
    "summary_of",
]
