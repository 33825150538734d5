"""What ``recommend`` writes can be read back, and its schema is the published one."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from agent_eval.errors import OperatorError
from agent_eval.reports import evidence_of
from agent_eval.reports.recommendation_record import RecommendationRecord
from agent_eval.spark_backend.weight_path import select
from tests import recommendation_schema
from tests.reports.builders import MACHINE, manifest, run


def recommended() -> RecommendationRecord:
    evidence = evidence_of(manifest(tasks=6), run({"bf16": "SSSSSS", "w4a16": "SSSSSS", "w4a8": "NNNNNN"}))
    return RecommendationRecord(
        agent_eval="1.2.3",
        machine=MACHINE,
        device_class=MACHINE.device_class,
        priority="agentic",
        margin=0.1,
        harm_cap=None,
        recommendation=select(MACHINE, "agentic", evidence),
        evidence=evidence,
    )


def test_a_recommendation_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made, file = recommended(), tmp_path / "recommendation.json"
    made.write(file)
    assert RecommendationRecord.read(file) == made


def test_the_published_schema_is_that_of_the_record() -> None:
    assert recommendation_schema.FILE.read_text(encoding="utf-8") == recommendation_schema.schema()


def test_a_recommendation_without_a_run_is_read_back_too(tmp_path: Path) -> None:
    found, file = select(MACHINE, "speed", None), tmp_path / "recommendation.json"
    made = recommended().model_copy(update={"recommendation": found, "evidence": None, "harm_cap": 0.05})
    made.write(file)
    assert RecommendationRecord.read(file) == made


def test_a_recommendation_of_version_1_is_refused_and_the_version_named(tmp_path: Path) -> None:
    file = tmp_path / "recommendation.json"
    recommended().write(file)
    file.write_text(file.read_text("utf-8").replace('"schema_version": 2', '"schema_version": 1'), "utf-8")
    with pytest.raises(OperatorError, match="with schema_version 2"):
        RecommendationRecord.read(file)


def test_what_is_written_is_what_its_schema_asks_for(tmp_path: Path) -> None:
    file = tmp_path / "recommendation.json"
    recommended().write(file)
    published = json.loads(recommendation_schema.FILE.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.validate(json.loads(file.read_text("utf-8")), published)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema_version": 2}, published)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "recommendation.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(OperatorError, match="is no recommendation"):
        RecommendationRecord.read(file)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot be written"):
        recommended().write(tmp_path / "missing" / "recommendation.json")
