"""JUnit XML: every episode is a case, a label a failure that says what happened, and nothing breaks the document."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from agent_eval.reports.exports.junit import COMPARISONS, junit_xml
from tests.reports.builders import episode, manifest, run


def document(letters: dict[str, str], **options: Any) -> Any:
    tasks = max(map(len, letters.values()))
    return etree.fromstring(junit_xml(manifest(tuple(letters), tasks=tasks), run(letters, **options)))


def suite(root: Any, name: str) -> Any:
    (found,) = (suite for suite in root if suite.get("name") == name)
    return found


def test_every_episode_is_a_case_and_the_sums_are_those_of_the_cases() -> None:
    root = document({"bf16": "SSNE", "w4a8": "SRSS"})
    assert {name: suite(root, "bf16").get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("9", "2", "1")
    assert suite(root, "bf16").get("time") == "8.000"


def test_a_failure_has_the_label_as_its_type_and_the_steps_as_its_text() -> None:
    (failure,) = suite(document({"bf16": "SR"}), "bf16").iter("failure")
    assert failure.get("type") == "reversal"
    assert failure.text is not None
    assert "1. " in failure.text


def test_a_lost_episode_is_an_error_with_the_fault() -> None:
    (error,) = suite(document({"bf16": "E"}, fault="EngineFault: out of memory"), "bf16").iter("error")
    assert error.get("message") == "EngineFault: out of memory"


def test_a_build_is_a_case_that_passes_fails_or_waits_for_evidence() -> None:
    root = document({"bf16": "S" * 60, "w4a16": "S" * 60, "w4a8": "N" * 30 + "S" * 30, "w3a16": "N" * 6 + "S" * 54})
    compared = suite(root, COMPARISONS)
    kinds = {str(case.get("name")).split()[0]: [element.tag for element in case] for case in compared.iter("testcase")}
    assert kinds == {"w4a16": ["system-out"], "w4a8": ["failure"], "w3a16": ["skipped"]}
    (skipped,) = compared.iter("skipped")
    assert "more pairs are needed" in str(skipped.get("message"))


def test_a_build_alone_is_compared_with_nothing() -> None:
    assert [suite.get("name") for suite in document({"bf16": "S"})] == ["bf16"]


@given(st.text())
def test_whatever_a_model_or_a_phone_wrote_the_document_can_be_read(text: str) -> None:
    record = episode("harness_error", goal=text, fault=text or "fault")
    root = etree.fromstring(junit_xml(manifest(("bf16",), tasks=1), [record], run=text))
    assert root.get("errors") == "1"
