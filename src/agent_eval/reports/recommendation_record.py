"""The file that ``recommend`` writes: what was asked, what was advised, and all the evidence that it rests on.

``docs/reference/recommendation.schema.json`` is its JSON Schema. Version 1 had sentences without sources, no row of the
decision table and no standings; nothing reads it any more.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from agent_eval.reports.record_file import FileRecord
from agent_eval.types import Evidence, MachineProbe, Priority, Recommendation

RECOMMENDATION_NAME = "recommendation.json"


class RecommendationRecord(FileRecord):
    """One recommendation."""

    called: ClassVar[str] = "recommendation"
    written_by: ClassVar[str] = "`agent-eval recommend`"

    schema_version: Literal[2] = 2
    agent_eval: str
    """Version of this program."""
    machine: MachineProbe
    """The machine that it is for: the one that asked, or what a profile said."""
    device_class: str
    """Of that machine; speeds of another class do not count."""
    priority: Priority
    margin: float | None
    """Share of success that a build may lose and still be called no worse; None where nothing was compared."""
    harm_cap: float | None
    """Share of episodes that was asked for as the cap on harm; None for the reference's own upper bound plus the
    margin. The cap that each build was held to is in ``recommendation.standings``."""
    recommendation: Recommendation
    evidence: Evidence | None
    """None where no run was named: then the recommendation is what the decision table leads one to expect."""
