"""The decision table: its rows are complete, its bits are those of the formats, its claims are where it says."""

from __future__ import annotations

import math
import re
from itertools import product
from pathlib import Path

import pytest

from agent_eval.command_line import command_line
from agent_eval.spark_backend.quant.formats import Awq, CpuInt4, Gptq
from agent_eval.spark_backend.quant.formats.format import Format
from agent_eval.spark_backend.quant.name import parse_build
from agent_eval.spark_backend.weight_path import DECISIONS, decide
from agent_eval.spark_backend.weight_path.decisions import (
    CPU_INT4_G128,
    GPTQ_G128,
    PHONE_STUDY,
    STUDY,
    STUDY_TABLE,
    Packing,
)
from agent_eval.types import Claim, Decision, MachineProbe
from tests import decision_page
from tests.spark_backend.weight_path.citations import numbers_in, section
from tests.spark_backend.weight_path.machines import (
    ACCELERATORS,
    AMX,
    ARM,
    AVX2,
    AVX512,
    GPU,
    JETSON,
    MACHINES,
    NPU,
    OLD_GPU,
    OLD_JETSON,
    PRIORITIES,
    UNKNOWN,
    X86,
)

ROOT = Path(__file__).parent.parent.parent.parent
by_row = pytest.mark.parametrize("row", DECISIONS, ids=lambda row: row.name)


def claims(row: Decision) -> tuple[Claim, ...]:
    return (row.why, *row.notes, *row.measured)


def test_there_is_a_row_for_every_class_and_priority() -> None:
    classes = {machine.device_class for machine in MACHINES}
    assert {(row.device_class, row.priority) for row in DECISIONS} == set(product(classes, PRIORITIES))
    assert len({row.name for row in DECISIONS}) == len(DECISIONS)


@pytest.mark.parametrize(
    ("machine", "speed", "fidelity", "verified"),
    [
        (AMX, "w4a8-amx", "w4a16-tinygemm", True),
        (AVX512, "w4a16-tinygemm", "w4a16-tinygemm", True),
        (AVX2, "w4a16-tinygemm", "w4a16-tinygemm", True),
        (X86, "w4a16-tinygemm", "w4a16-tinygemm", False),
        (ARM, "w4a16-tinygemm", "w4a16-tinygemm", False),
        (GPU, "bf16", "bf16", True),
        (OLD_GPU, "fp16", "fp16", True),
        (JETSON, "bf16", "bf16", False),
        (OLD_JETSON, "fp16", "fp16", False),
        (NPU, "export-qnn-w8a16", "export-qnn-w8a16", True),
        (UNKNOWN, "bf16", "bf16", False),
    ],
)
def test_the_rows_are_those_of_the_study(machine: MachineProbe, speed: str, fidelity: str, verified: bool) -> None:
    rows = {priority: decide(machine, priority) for priority in PRIORITIES}
    assert (rows["speed"].path, rows["fidelity"].path, rows["agentic"].path) == (speed, fidelity, fidelity)
    assert {row.verified for row in rows.values()} == {verified}
    assert {row.device_class for row in rows.values()} == {machine.device_class}


def test_a_gpu_of_which_nothing_is_known_is_taken_to_have_bfloat16() -> None:
    assert (GPU.bf16, decide(GPU, "speed").path) == (None, "bf16")
    assert (OLD_GPU.bf16, JETSON.bf16, OLD_JETSON.bf16) == (False, True, False)


@pytest.mark.parametrize(
    ("packing", "layout", "bits", "arithmetic"),
    [
        (GPTQ_G128, Gptq(128), 4.15625, "4 + 16/128 + 4/128"),
        (GPTQ_G128, Awq(128), 4.15625, "4 + 16/128 + 4/128"),
        (CPU_INT4_G128, CpuInt4(128), 4.25, "4 + 16/128 + 16/128"),
    ],
)
def test_the_bits_of_a_weight_are_those_of_the_tensors(
    packing: Packing, layout: Format, bits: float, arithmetic: str
) -> None:
    rows, width = 2048, 6656
    stored = layout.layout(rows, width)
    order = stored.pop("g_idx", None)  # says nothing that the group size does not: 32/N of a bit
    total = sum(plan.dtype.itemsize * 8 * math.prod(plan.shape) for plan in stored.values())
    assert total / (rows * width) == packing.bits_per_weight == bits
    assert packing.arithmetic == arithmetic
    assert order is None or order.shape == (width,)


@by_row
def test_the_bits_of_a_row_are_its_arithmetic(row: Decision) -> None:
    parts = [part.split("/") for part in row.arithmetic.split(" + ")]
    assert sum(int(part[0]) / int(part[1] if len(part) == 2 else 1) for part in parts) == row.bits_per_weight
    assert all(int(part[1]) == row.group for part in parts if len(part) == 2)
    shown = {"gptq": "4.156", "cpu_int4": "4.25", None: f"{row.bits_per_weight:g}"}[row.quantization]
    assert f"{row.bits_per_weight:.4g}" == shown


@by_row
def test_a_row_can_be_built_and_given_to_vllm(row: Decision) -> None:
    if row.build is not None:
        assert str(parse_build(row.build)) == row.build
    if row.build_with.startswith("agent-eval "):
        asked = command_line().parse_args(row.build_with.split()[1:])
        assert (asked.to, asked.group) == (row.build, row.group)
    given = {} if row.quantization is None or not row.runs_in_vllm else {"quantization": row.quantization}
    assert row.vllm_kwargs == given
    assert row.fused_cpu_norms is False


@by_row
def test_every_claim_of_a_row_is_a_sentence_that_names_its_source(row: Decision) -> None:
    assert claims(row)
    for claim in claims(row):
        assert re.fullmatch(r"[^\n]+\.", claim.text)
        assert ". " not in claim.text.replace("e.g. ", "")
        assert claim.source in (STUDY, STUDY_TABLE, PHONE_STUDY) or claim.source.startswith(("docs/", "IEEE "))


@by_row
def test_what_this_project_measured_stands_in_the_section_that_is_cited(row: Decision) -> None:
    for claim in claims(row):
        if claim.source.startswith("docs/"):
            assert numbers_in(claim.text) <= numbers_in(section(ROOT, claim.source)), claim


def test_a_cited_section_that_is_not_there_is_noticed() -> None:
    with pytest.raises(LookupError):
        section(ROOT, "docs/measurements.md#no-such-section")


@pytest.mark.parametrize("machine", ACCELERATORS)
def test_no_row_of_an_accelerator_claims_a_measurement_of_this_program(machine: MachineProbe) -> None:
    assert all(decide(machine, priority).measured == () for priority in PRIORITIES)


def test_where_the_study_and_this_project_disagree_both_are_said() -> None:
    for machine in (AVX512, AVX2):
        row = decide(machine, "speed")
        assert row.build == "w4a16"
        assert row.measured[0].text.startswith("Against this row")


def test_an_npu_must_be_calibrated_and_no_outcome_is_known_there() -> None:
    notes = " ".join(note.text for note in decide(NPU, "speed").notes)
    for said in ("Calibrate with real activations", "save memory there and no time", "no outcome of a task is known"):
        assert said in notes


def test_the_published_page_is_that_of_the_table() -> None:
    assert decision_page.PAGE.read_text(encoding="utf-8") == decision_page.page()
