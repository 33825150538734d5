"""The published JSON Schema of ``recommendation.json``. To write it anew: ``python -m tests.recommendation_schema``."""

from __future__ import annotations

import json
from pathlib import Path

from agent_eval.reports.recommendation_record import RecommendationRecord

FILE = Path(__file__).parent.parent / "docs" / "reference" / "recommendation.schema.json"


def schema() -> str:
    """Return the schema as the record has it."""
    found = RecommendationRecord.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **found}, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema(), encoding="utf-8")
