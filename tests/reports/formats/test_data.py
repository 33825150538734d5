from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from agent_eval.records import RunManifest
from agent_eval.reports.formats import FORMATS, Showing
from agent_eval.reports.formats.data import SCHEMA_VERSION
from agent_eval.reports.formats.tidy import measures_of
from agent_eval.reports.report import Report
from tests.reports.formats.showings import HOSTILE, compared, empty, hostile, whole

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "report-formats.md"
OF_RUNS = {"runs", "differences", "same_builds", "shared_instances", "pairs_that_began_otherwise"}


def written(showing: Showing) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    document: dict[str, Any] = json.loads(FORMATS["json"](showing), parse_constant=refuse)
    return document


@pytest.mark.parametrize("make", [whole, compared, hostile, empty])
def test_it_is_json_with_a_version_and_the_measures_of_the_table(make: Any) -> None:
    showing = make()
    document = written(showing)
    assert document["schema_version"] == SCHEMA_VERSION
    measures = measures_of(showing.report, showing.run_of)
    assert document["measures"] == [measure._asdict() for measure in measures]


def test_a_report_has_every_field_that_was_computed() -> None:
    document = written(whole())
    assert set(document) == {"schema_version", "agent_eval", "measures", *(field.name for field in fields(Report))}
    assert RunManifest.model_validate(document["manifest"]) == whole().report.manifest
    build = document["summary"]["builds"][2]
    assert (build["build"], build["judged"], build["labels"]["reversal"]) == ("w4a8", 15, 2)
    assert (build["rates"]["success"]["n"], build["rates"]["false_toggle"]) == (15, None)


def test_migration_is_a_list_and_episodes_are_named_and_not_repeated() -> None:
    pair = written(whole())["summary"]["pairs"][1]
    assert {"reference": "success", "build": "wrong_app", "pairs": 1} in pair["migration"]
    assert sum(move["pairs"] for move in pair["migration"]) == pair["pairs"] == 15
    lost = pair["discordant"][0]["build"]
    assert (lost["episode"], lost["label"], lost["goal"]) == ("w4a8/Task01/0", "reversal", "Turn on Wi-Fi.")
    assert "steps" not in lost
    error = written(whole())["summary"]["builds"][2]["harness_errors"][0]
    assert error["fault"] == "EngineFault: out of memory"


def test_nothing_that_was_not_counted_has_a_number() -> None:
    document = written(empty())
    assert document["summary"]["builds"][0]["rates"]["success"] is None
    assert document["evidence"]["builds"][0]["success"] is None
    assert document["evidence"]["pairs"][0]["difference"] is None


def test_hostile_texts_come_back_as_they_were() -> None:
    assert written(hostile())["evidence"]["run"] == HOSTILE
    assert written(hostile())["summary"]["builds"][1]["harness_errors"][0]["fault"] == HOSTILE


def test_a_comparison_names_its_runs_and_has_no_manifest_of_its_own() -> None:
    document = written(compared())
    assert set(document) >= OF_RUNS
    assert {"manifest", "speed", "validity"}.isdisjoint(document)
    assert [run["builds"] for run in document["runs"]] == [
        {"bf16": "bf16@one", "w4a8": "w4a8"},
        {"bf16": "bf16@two", "w4a16": "w4a16"},
    ]
    assert document["same_builds"] == [
        {"build": "bf16@two", "reference": "bf16@one", "pairs": 4, "flipped": 1, "relabelled": 1, "otherwise": 0}
    ]
    assert {each["name"] for each in document["differences"]} == {"w4a8", "w4a16"}


def test_the_reference_page_describes_every_key() -> None:
    described = {line.split("`")[1] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")}
    assert set(written(whole())) | OF_RUNS <= described
