from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.errors import UnknownName
from agent_eval.reports import evidence_of
from agent_eval.spark_backend.weight_path import EXPECTATIONS, RULES, STANDINGS, STATIC_RULE, select
from agent_eval.types import Evidence, MachineProbe, Priority, Recommendation
from tests.reports.builders import LETTERS, MACHINE, manifest, run

PRIORITIES: tuple[Priority, ...] = ("speed", "fidelity", "agentic")
AMX = replace(MACHINE, cpu_flags=("amx_tile", "avx2", "avx512f"))
AVX2 = replace(MACHINE, cpu_flags=("avx2",))
ARM = replace(MACHINE, arch="aarch64", cpu_flags=("neon",))
UNKNOWN = replace(MACHINE, arch="riscv64", cpu_flags=())
MACHINES = (AMX, MACHINE, AVX2, replace(MACHINE, cpu_flags=()), ARM, UNKNOWN)

FAST = {"bf16": 40.0, "w4a16": 80.0, "w4a8": 120.0}
GOOD = "S" * 45 + "N" * 15
"""60 instances of which bf16 passes 45."""


def evidence(
    letters: Mapping[str, str], speeds: Mapping[str, Sequence[float] | float] | None = None, **options: Any
) -> Evidence:
    tasks = max(len(text) for text in letters.values())
    return evidence_of(manifest(tuple(letters), tasks, **options), run(letters, speeds), run="runs/x")


def advice(priority: Priority, letters: Mapping[str, str], speeds: Any = FAST, **options: Any) -> Recommendation:
    return select(MACHINE, priority, evidence(letters, speeds, **options))


def altered(text: str, **places: str) -> str:
    """Replace the letters at places given as ``at0="R"``."""
    letters = list(text)
    for place, letter in places.items():
        at = int(place.removeprefix("at"))
        letters[at : at + len(letter)] = letter
    return "".join(letters)


WORSE = altered(GOOD, at0="N" * 20)
HARMFUL = "R" * 30 + "S" * 30
UNDECIDED = altered(GOOD, at0="N" * 4)


# --- without evidence


@pytest.mark.parametrize(
    ("probe", "fastest"),
    [(AMX, "w4a8"), (MACHINE, "w4a16"), (AVX2, "w4a16"), (ARM, "w4a16"), (UNKNOWN, "bf16")],
)
def test_without_evidence_speed_is_an_unverified_expectation(probe: MachineProbe, fastest: str) -> None:
    found = select(probe, "speed", None)
    assert (found.build, found.conclusive, found.rule) == (fastest, False, STATIC_RULE)
    assert any("Unverified" in reason for reason in found.reasons)


@pytest.mark.parametrize("priority", ["fidelity", "agentic"])
@pytest.mark.parametrize("probe", MACHINES)
def test_without_evidence_outcomes_keep_the_reference(probe: MachineProbe, priority: Priority) -> None:
    found = select(probe, priority, None)
    assert (found.build, found.conclusive) == ("bf16", False)


@pytest.mark.parametrize("probe", MACHINES)
def test_without_evidence_no_number_is_quoted(probe: MachineProbe) -> None:
    for priority in PRIORITIES:
        text = " ".join(select(probe, priority, None).reasons)
        for name in ("w4a16", "w4a8", "bf16", "x86", "avx512", "avx2", "arm64", "int4", "int8", "4-bit", "8-bit"):
            text = text.replace(name, "")
        assert not re.search(r"\d", text)


def test_every_device_class_has_an_expectation() -> None:
    assert {machine.device_class for machine in MACHINES} == set(EXPECTATIONS)


def test_an_empty_run_is_no_evidence() -> None:
    empty = evidence_of(manifest(), [])
    assert select(MACHINE, "speed", empty) == select(MACHINE, "speed", None)


def test_an_unknown_priority_is_named() -> None:
    with pytest.raises(UnknownName, match=r"'size'.*speed, fidelity, agentic"):
        select(MACHINE, cast("Priority", "size"), None)


# --- the preferred build


def test_speed_takes_the_fastest_of_equal_builds() -> None:
    found = advice("speed", {"bf16": GOOD, "w4a16": GOOD, "w4a8": GOOD})
    assert (found.build, found.conclusive, found.rule) == ("w4a8", True, "preferred-build")
    assert found.pairs_needed == 0


def test_speed_refuses_the_fastest_build_when_it_is_worse() -> None:
    found = advice("speed", {"bf16": GOOD, "w4a16": GOOD, "w4a8": WORSE})
    assert (found.build, found.conclusive) == ("w4a16", True)
    assert any(reason.startswith("w4a8 is worse than bf16") for reason in found.reasons)


def test_speed_refuses_a_build_that_passes_as_much_and_harms_more() -> None:
    # all 30 that it does not pass are reversals; the reference passes the other half
    found = advice("speed", {"bf16": "N" * 30 + "S" * 30, "w4a8": HARMFUL})
    assert (found.build, found.conclusive, found.rule) == ("bf16", True, "keep-reference")
    assert any("more harm than the cap" in reason for reason in found.reasons)


def test_speed_keeps_the_reference_where_no_difference_is_measured() -> None:
    speeds = {"bf16": 40.0, "w4a16": 41.0, "w4a8": 42.0}
    found = advice("speed", {"bf16": GOOD, "w4a16": GOOD, "w4a8": GOOD}, speeds)
    assert (found.build, found.conclusive, found.rule) == ("bf16", True, "keep-reference")


def test_builds_that_cannot_be_told_apart_in_speed_are_ordered_by_outcomes() -> None:
    noisy = {
        "bf16": 40.0,
        "w4a16": [80.0 + 15 * (block % 2) for block in range(60)],
        "w4a8": [82.0 + 15 * (block % 2) for block in range(60)],
    }
    better = altered(GOOD, at45="SS")
    found = advice("speed", {"bf16": GOOD, "w4a16": better, "w4a8": GOOD}, noisy)
    assert (found.build, found.conclusive) == ("w4a16", True)
    assert "cannot be told from it in speed" in found.reasons[0]


def test_fidelity_takes_the_highest_lower_bound_of_success_whatever_the_speed() -> None:
    better, best = altered(GOOD, at45="S" * 8), altered(GOOD, at45="S" * 12)
    found = advice("fidelity", {"bf16": GOOD, "w4a16": best, "w4a8": better})
    assert (found.build, found.conclusive, found.rule) == ("w4a16", True, "preferred-build")


def test_fidelity_keeps_the_reference_where_a_build_cannot_be_told_from_it() -> None:
    for gained in ("", "S", "SS"):
        found = advice("fidelity", {"bf16": GOOD, "w4a16": altered(GOOD, at45=gained), "w4a8": GOOD})
        assert (found.build, found.conclusive, found.rule) == ("bf16", True, "keep-reference")


def test_fidelity_keeps_the_reference_when_the_others_lose_within_the_margin() -> None:
    long = "S" * 180 + "N" * 60
    found = advice("fidelity", {"bf16": long, "w4a16": altered(long, at0="NNNN")})
    assert (found.build, found.conclusive, found.rule) == ("bf16", True, "keep-reference")


def test_agentic_prefers_better_outcomes_to_more_speed() -> None:
    weak, strong = "S" * 30 + "N" * 30, "S" * 50 + "N" * 10
    found = advice("agentic", {"bf16": weak, "w4a16": strong, "w4a8": weak})
    assert (found.build, found.conclusive) == ("w4a16", True)
    assert "better outcomes" in found.reasons[0]


def test_agentic_lets_speed_break_a_tie() -> None:
    found = advice("agentic", {"bf16": GOOD, "w4a16": GOOD, "w4a8": GOOD})
    assert (found.build, found.conclusive) == ("w4a8", True)
    assert "level with bf16" in found.reasons[0]


def test_agentic_keeps_the_reference_before_a_faster_build_that_is_behind_within_the_margin() -> None:
    long = "S" * 360 + "N" * 120
    behind = altered(long, at0="N" * 20)
    letters, speeds = {"bf16": long, "w4a8": behind}, {"bf16": 40.0, "w4a8": 120.0}
    assert evidence(letters).pairs[0].verdict == "no worse"
    assert advice("agentic", letters, speeds).build == "bf16"
    assert advice("speed", letters, speeds).build == "w4a8"


def test_agentic_keeps_the_reference_before_a_faster_build_that_harms_more_within_the_cap() -> None:
    long = "S" * 360 + "N" * 120
    letters = {"bf16": long, "w4a8": altered(long, at360="R" * 24)}
    speeds = {"bf16": 40.0, "w4a8": 120.0}
    assert advice("agentic", letters, speeds).build == "bf16"
    assert advice("speed", letters, speeds).build == "w4a8"


# --- abstaining


@pytest.mark.parametrize("priority", PRIORITIES)
def test_an_undecided_build_keeps_the_reference_and_names_the_pairs(priority: Priority) -> None:
    letters = {"bf16": GOOD, "w4a8": altered(UNDECIDED, at45="SS")}
    found = advice(priority, letters)
    needed = evidence(letters).pairs[0].pairs_needed
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "insufficient-evidence")
    assert found.pairs_needed == needed > 0
    assert any(f"about {needed} further pairs" in reason for reason in found.reasons)


def test_a_build_shown_to_be_no_worse_is_kept_while_a_faster_one_is_undecided() -> None:
    found = advice("speed", {"bf16": GOOD, "w4a16": GOOD, "w4a8": UNDECIDED})
    assert (found.build, found.conclusive, found.rule) == ("w4a16", False, "insufficient-evidence")


def test_an_undecided_build_that_is_not_faster_does_not_hold_up_speed() -> None:
    found = advice("speed", {"bf16": GOOD, "w4a16": UNDECIDED, "w4a8": GOOD}, {**FAST, "w4a16": 40.0})
    assert (found.build, found.conclusive) == ("w4a8", True)


def test_harm_that_straddles_the_cap_is_undecided_even_if_success_is_not() -> None:
    # as many passed as by the reference, and 9 reversals where the reference merely stops
    letters = {"bf16": "S" * 45 + "N" * 15, "w4a8": "S" * 45 + "R" * 9 + "N" * 6}
    assert evidence(letters).pairs[0].verdict == "no worse"
    found = advice("speed", letters)
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "insufficient-evidence")
    assert found.pairs_needed > 0


def test_harm_above_what_the_cap_can_ever_allow_is_said_to_be_out_of_sight() -> None:
    found = advice("speed", {"bf16": "S" * 45 + "N" * 15, "w4a8": "S" * 45 + "R" * 12 + "N" * 3})
    assert found.conclusive is False
    assert any("no number of pairs worth running" in reason for reason in found.reasons)


@pytest.mark.parametrize("priority", PRIORITIES)
def test_a_reference_that_can_do_nothing_cannot_show_a_loss(priority: Priority) -> None:
    found = advice(priority, {"bf16": "N" * 60, "w4a16": "N" * 60, "w4a8": "N" * 60})
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "reference-too-weak")


@pytest.mark.parametrize("priority", PRIORITIES)
def test_a_reference_that_never_ran_leaves_nothing_to_advise(priority: Priority) -> None:
    found = advice(priority, {"bf16": "E" * 10, "w4a8": GOOD})
    assert (found.build, found.conclusive, found.rule) == (None, False, "reference-failed")


def test_many_faults_of_the_reference_hold_up_any_advice() -> None:
    found = advice("speed", {"bf16": "E" * 8 + GOOD[8:], "w4a8": GOOD})
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "too-many-faults")


def test_a_build_that_lost_many_episodes_to_the_harness_is_undecided() -> None:
    long = "S" * 180 + "N" * 60
    found = advice("speed", {"bf16": long, "w4a8": "E" * 40 + long[40:]})
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "insufficient-evidence")
    assert any("harness failed in 40" in reason for reason in found.reasons)


def test_a_run_of_the_reference_alone_compares_nothing() -> None:
    found = advice("speed", {"bf16": GOOD})
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "nothing-to-compare")


# --- where the evidence comes from


def test_speed_measured_on_another_class_of_machines_does_not_count() -> None:
    found = select(AMX, "speed", evidence({"bf16": GOOD, "w4a16": GOOD, "w4a8": GOOD}, FAST))
    assert (found.build, found.conclusive, found.rule) == ("w4a8", False, "speed-not-measured")
    assert any("measured on x86-avx512, this machine is x86-amx" in reason for reason in found.reasons)
    assert not any("tokens per second" in reason for reason in found.reasons)


def test_outcomes_measured_on_another_class_of_machines_count() -> None:
    letters = {"bf16": GOOD, "w4a16": altered(GOOD, at45="S" * 10), "w4a8": WORSE}
    assert select(AMX, "fidelity", evidence(letters, FAST)).build == "w4a16"
    assert select(AMX, "speed", evidence(letters, FAST)).build == "bf16"


def test_too_few_blocks_are_no_measurement_of_speed() -> None:
    records = run({"bf16": GOOD, "w4a8": GOOD})
    timed = run({"bf16": "SSSS", "w4a8": "SSSS"}, FAST)
    joined = evidence_of(manifest(("bf16", "w4a8"), 60), [*timed, *records[8:]])
    found = select(MACHINE, "speed", joined)
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "speed-not-measured")
    assert any("too few blocks" in reason for reason in found.reasons)


def test_speed_measured_with_several_episodes_in_flight_does_not_count_and_what_to_run_is_said() -> None:
    letters = {"bf16": GOOD, "w4a16": GOOD, "w4a8": WORSE}
    assert (advice("speed", letters).build, advice("speed", letters).conclusive) == ("w4a16", True)
    found = advice("speed", letters, concurrency=4)
    assert (found.build, found.conclusive, found.rule) == ("w4a16", False, "speed-not-measured")
    assert "speed was measured with 4 episodes in flight only" in found.reasons[0]
    assert "only expected to be fastest" in found.reasons[0]
    assert any("says nothing of one at a time. Run the same builds with --concurrency 1" in r for r in found.reasons)
    assert not any("tokens per second" in reason for reason in found.reasons)
    assert not any("concurrency" in reason for reason in advice("speed", letters).reasons)


def test_outcomes_measured_with_several_episodes_in_flight_count() -> None:
    letters = {"bf16": GOOD, "w4a16": altered(GOOD, at45="S" * 10), "w4a8": WORSE}
    for priority in ("fidelity", "agentic"):
        found = advice(priority, letters, concurrency=4)
        assert (found.build, found.conclusive) == ("w4a16", True)


@pytest.mark.parametrize(("engine", "said"), [("vllm", True), ("torch", False)])
def test_what_was_measured_in_vllm_advises_a_build_for_vllm(engine: str, said: bool) -> None:
    found = advice("agentic", {"bf16": GOOD, "w4a8": GOOD}, engine=engine)
    assert any("to be served with vLLM" in reason for reason in found.reasons) is said


@pytest.mark.parametrize(("kind", "said"), [("embedded", True), ("published", False)])
def test_what_the_embedded_model_shows_is_said_to_be_of_that_model(kind: str, said: bool) -> None:
    found = advice("speed", {"bf16": GOOD, "w4a8": GOOD}, model_kind=kind)
    assert any("measurement of nano" in reason for reason in found.reasons) is said
    assert found.conclusive


def test_what_a_constructed_model_shows_is_said_to_be_of_a_test() -> None:
    for kind in ("embedded", "published", "constructed"):
        found = advice("speed", {"bf16": GOOD, "w4a8": GOOD}, model_kind=kind)
        assert any("CONSTRUCTED" in reason for reason in found.reasons) is (kind == "constructed")


@pytest.mark.parametrize("priority", PRIORITIES)
def test_synthetic_weights_decide_nothing(priority: Priority) -> None:
    found = advice(priority, {"bf16": GOOD, "w4a8": GOOD}, model_kind="synthetic")
    assert (found.build, found.conclusive, found.rule) == ("bf16", False, "synthetic-weights")


def test_reasons_cite_the_numbers_of_the_evidence() -> None:
    letters = {"bf16": GOOD, "w4a8": altered(UNDECIDED, at45="SS")}
    found, of = advice("speed", letters), evidence(letters, FAST)
    pair = of.pairs[0]
    text = " ".join(found.reasons)
    low, high = round(100 * pair.difference.low), round(100 * pair.difference.high)
    assert f"differs by -3 [{low:+d}, {high:+d}] points over 60 pairs (4 lost, 2 gained" in text
    assert "3.00 times the tokens per second [3.00, 3.00], 59 blocks" in text
    assert "bf16 succeeds in 75 % [63, 84] of 60 episodes" in text


# --- all of it


def test_the_tables_are_readable() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))
    assert STATIC_RULE not in names
    assert all(rule.when for rule in RULES)
    assert tuple(STANDINGS)[-1] == "eligible"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(*[st.text([*LETTERS, "S", "S", "S", "S", "."], min_size=n, max_size=n) for _ in range(3)])
    ),
    st.sampled_from(PRIORITIES),
    st.sampled_from(MACHINES),
    st.sampled_from([None, FAST, {"bf16": 40.0, "w4a16": 39.0, "w4a8": 10.0}]),
    st.sampled_from(["embedded", "published", "synthetic", "constructed"]),
)
def test_whatever_the_run_advice_is_safe(
    outcomes: tuple[str, str, str], priority: Priority, probe: MachineProbe, speeds: Any, kind: str
) -> None:
    letters = dict(zip(("bf16", "w4a16", "w4a8"), outcomes, strict=True))
    of = evidence(letters, speeds, model_kind=kind)
    found = select(probe, priority, of)
    assert found == select(probe, priority, of)
    assert found.reasons
    assert all(reason.endswith(".") and "nan" not in reason.split() for reason in found.reasons)
    if found.conclusive:
        assert found.pairs_needed == 0
        assert kind != "synthetic"
    pair = next((pair for pair in of.pairs if pair.build == found.build), None)
    if pair is not None and found.rule != STATIC_RULE:
        assert pair.verdict == "no worse"
        harm = {build.build: build.harm for build in of.builds}
        assert harm[pair.build].high <= harm["bf16"].high + pair.margin


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 45), st.sampled_from(PRIORITIES))
def test_losing_more_never_turns_a_refusal_into_advice(lost: int, priority: Priority) -> None:
    def advised(count: int) -> bool:
        letters = {"bf16": GOOD, "w4a8": altered(GOOD, at0="N" * count) if count else GOOD}
        return advice(priority, letters).build == "w4a8"

    if lost and advised(lost):
        assert advised(lost - 1)
