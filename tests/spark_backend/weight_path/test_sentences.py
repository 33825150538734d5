"""Every sentence of a recommendation cites what it rests on, and every number in it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agent_eval.reports.recommendation_record import RecommendationRecord
from agent_eval.spark_backend.weight_path import RULES, STATIC_RULE, select
from agent_eval.types import Evidence, MachineProbe, Priority, Reason, Recommendation, SequentialVerdict
from tests.reports.builders import MACHINE
from tests.spark_backend.weight_path.citations import as_json, numbers_in, renderings, told_by
from tests.spark_backend.weight_path.machines import AMX, AVX2, BESIDE, GPU, MACHINES, NPU, PRIORITIES, evidence

ROOT = Path(__file__).parent.parent.parent.parent
GOOD = "S" * 45 + "N" * 15
WORSE = "N" * 20 + "S" * 25 + "N" * 15
UNDECIDED = "N" * 4 + "S" * 43 + "N" * 13
BETTER = "S" * 57 + "N" * 3
SOME_HARM = "S" * 45 + "R" * 3 + "N" * 12
FAST = {"bf16": 40.0, "w4a16": 80.0, "w4a8": 120.0}


@dataclass(frozen=True)
class Question:
    """One question whose answer says something that others do not."""

    rule: str
    letters: Mapping[str, str]
    priority: Priority = "speed"
    speeds: Mapping[str, float] | None = field(default_factory=lambda: FAST)
    probe: MachineProbe = MACHINE
    harm_cap: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def evidence(self) -> Evidence:
        return evidence(self.letters, self.speeds, **self.options)


EQUAL = {"bf16": GOOD, "w4a16": GOOD, "w4a8": GOOD}

QUESTIONS = (
    Question("other-arithmetic", EQUAL, probe=NPU),
    Question("other-arithmetic", EQUAL, "agentic", probe=GPU),
    Question("reference-failed", {"bf16": "E" * 60, "w4a8": GOOD}),
    Question("synthetic-weights", EQUAL, options={"model_kind": "synthetic"}),
    Question("reference-harmful", {"bf16": "S" * 45 + "R" * 15, "w4a8": WORSE}, harm_cap=0.05),
    Question("nothing-to-compare", {"bf16": GOOD}),
    Question("too-many-faults", {"bf16": "E" * 8 + GOOD[8:], "w4a8": GOOD}),
    Question("reference-too-weak", {"bf16": "N" * 58 + "SS", "w4a8": "N" * 60}),
    Question("insufficient-evidence", {"bf16": GOOD, "w4a16": UNDECIDED, "w4a8": UNDECIDED}),
    Question("insufficient-evidence", {"bf16": GOOD, "w4a16": UNDECIDED, "w4a8": BETTER}, "fidelity"),
    Question("insufficient-evidence", {"bf16": GOOD, "w4a8": SOME_HARM}, harm_cap=0.125),
    Question("insufficient-evidence", {"bf16": "S" * 180 + "N" * 60, "w4a8": "E" * 40 + "S" * 140 + "N" * 60}),
    Question("insufficient-evidence", {"bf16": GOOD, "w4a8": "." * 60}, speeds=None),
    Question("speed-not-measured", EQUAL, probe=AMX),
    Question("speed-not-measured", EQUAL, probe=AVX2),
    Question("speed-not-measured", EQUAL, speeds=None),
    Question("speed-not-measured", EQUAL, options={"concurrency": 4}),
    Question("reference-undecided", {"bf16": SOME_HARM, "w4a8": WORSE}, harm_cap=0.1),
    Question("preferred-build", EQUAL),
    Question("preferred-build", {"bf16": GOOD, "w4a16": BETTER, "w4a8": WORSE}, "fidelity"),
    Question("preferred-build", {"bf16": GOOD, "w4a16": BETTER, "w4a8": WORSE}, "agentic", options={"engine": "vllm"}),
    Question("preferred-build", EQUAL, "agentic", options={"model_kind": "constructed"}),
    Question("keep-reference", {"bf16": GOOD, "w4a16": WORSE, "w4a8": "R" * 30 + "S" * 30}),
    Question("keep-reference", EQUAL, speeds=dict.fromkeys(EQUAL, 40.0)),
    Question("keep-reference", EQUAL, "fidelity"),
)


def answered(question: Question) -> tuple[Recommendation, RecommendationRecord]:
    of = question.evidence
    return recorded(question.probe, question.priority, of, question.harm_cap)


def recorded(
    probe: MachineProbe, priority: Priority, of: Evidence | None, harm_cap: float | None = None
) -> tuple[Recommendation, RecommendationRecord]:
    found = select(probe, priority, of, harm_cap=harm_cap)
    record = RecommendationRecord(
        agent_eval="1.2.3",
        machine=probe,
        device_class=probe.device_class,
        priority=priority,
        margin=0.1,
        harm_cap=harm_cap,
        recommendation=found,
        evidence=of,
    )
    return found, record


def unsupported(reason: Reason, record: dict[str, Any]) -> set[str]:
    """Return the numbers of a sentence that no place it cites holds."""
    told = [value for source in reason.sources for value in told_by(source, record, ROOT)]
    return numbers_in(reason.text) - set().union(*(renderings(value) for value in told))


def check(found: Recommendation, record: RecommendationRecord) -> None:
    plain = as_json(record.model_dump_json())
    for reason in found.reasons:
        assert reason.sources, reason.text
        assert all(source.where and (source.fields or source.kind == "document") for source in reason.sources)
        assert reason.text.endswith(".")
        assert ". " not in reason.text, f"two sentences: {reason.text}"
        assert unsupported(reason, plain) == set(), reason


def test_the_questions_make_every_rule_fire() -> None:
    assert {question.rule for question in QUESTIONS} == {rule.name for rule in RULES}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question.rule}-{question.priority}")
def test_every_sentence_has_a_source_that_holds_its_numbers(question: Question) -> None:
    found, record = answered(question)
    assert found.rule == question.rule
    check(found, record)


@pytest.mark.parametrize("probe", MACHINES)
@pytest.mark.parametrize("priority", PRIORITIES)
def test_without_evidence_every_sentence_cites_the_table_or_the_question(
    probe: MachineProbe, priority: Priority
) -> None:
    found, record = recorded(probe, priority, None)
    assert found.rule == STATIC_RULE
    assert not any(source.kind == "run" for reason in found.reasons for source in reason.sources)
    check(found, record)


@pytest.mark.parametrize("probe", BESIDE)
def test_what_is_said_of_an_accelerator_that_is_not_used_is_in_the_record(probe: MachineProbe) -> None:
    found, record = recorded(probe, "agentic", evidence(EQUAL, FAST, machine=probe))
    check(found, record)


def test_pairs_that_are_worth_less_than_they_are_and_that_decided_in_order_are_told() -> None:
    of = evidence(EQUAL, FAST)
    pair = replace(of.pairs[0], worth=37.4, sequential=SequentialVerdict("no worse", 41, 2, 3, -3.0, 2.9))
    found, record = recorded(MACHINE, "speed", replace(of, pairs=(pair, *of.pairs[1:])))
    text = " ".join(reason.text for reason in found.reasons)
    assert "worth 37 independent ones" in text
    assert "decided in their order, after 41 of them: 2 lost, 3 gained." in text
    check(found, record)


def test_a_number_that_no_cited_place_holds_is_noticed() -> None:
    found, record = answered(QUESTIONS[-1])
    reason = found.reasons[1]
    plain = as_json(record.model_dump_json())
    assert unsupported(reason, plain) == set()
    assert unsupported(replace(reason, text=reason.text.replace("60 pairs", "61 pairs")), plain) == {"61"}
    assert unsupported(replace(reason, sources=reason.sources[1:]), plain) != set()


def test_a_sentence_on_a_build_is_told_apart_from_one_on_the_run() -> None:
    found, _ = answered(QUESTIONS[-1])
    assert {reason.about for reason in found.reasons} == {"", "w4a16", "w4a8"}
