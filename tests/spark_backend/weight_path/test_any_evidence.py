"""Whatever the evidence, the advice is safe: evidence drawn number by number, not from records."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.spark_backend.weight_path import STATIC_RULE, select
from agent_eval.spark_backend.weight_path.candidates import FAULT_LIMIT, NOT_IN_SIGHT
from agent_eval.spark_backend.weight_path.rules import CONCLUSIVE
from agent_eval.types import (
    BuildEvidence,
    Evidence,
    Interval,
    MachineProbe,
    PairedEvidence,
    Priority,
    Recommendation,
    SpeedVerdict,
    Verdict,
)
from tests.spark_backend.weight_path.machines import MACHINES, PRIORITIES, PROCESSORS, texts

BUILDS = ("w4a16", "w4a8", "w3a16")
MARGIN = 0.1


def intervals(low: float, high: float, n: st.SearchStrategy[int]) -> st.SearchStrategy[Interval]:
    ends = st.lists(st.floats(low, high), min_size=3, max_size=3).map(sorted)
    return st.builds(lambda three, n: Interval(three[1], three[0], three[2], n), ends, n)


SHARES = intervals(0.0, 1.0, st.integers(1, 200))
HARMS = intervals(0.0, 0.3, st.integers(1, 200))
DIFFERENCES = intervals(-0.5, 0.5, st.integers(1, 200))
RATIOS = intervals(1.0, 2.0, st.integers(0, 120))


@st.composite
def outcomes(draw: st.DrawFn, build: str, success: st.SearchStrategy[Interval] = SHARES) -> BuildEvidence:
    return BuildEvidence(build, draw(success), draw(HARMS), draw(st.sampled_from([0] * 8 + [1, 50])))


@st.composite
def pairs(draw: st.DrawFn, build: str) -> PairedEvidence:
    verdict: Verdict = draw(st.sampled_from(("no worse", *get_args(Verdict))))
    speed: SpeedVerdict = draw(st.sampled_from(("faster", "faster", *get_args(SpeedVerdict))))
    difference = draw(DIFFERENCES)
    needed = draw(st.integers(1, NOT_IN_SIGHT)) if verdict == "insufficient evidence" else 0
    ratio = None if speed == "not measured" and draw(st.booleans()) else draw(RATIOS)
    lost, gained = draw(st.integers(0, 20)), draw(st.integers(0, 20))
    return PairedEvidence(
        build, "bf16", difference.n, lost, gained, difference, difference.low, 0.5, 0.5, MARGIN, verdict, needed, ratio,
        speed,
    )  # fmt: skip


@st.composite
def anything(draw: st.DrawFn) -> Evidence:
    others = BUILDS[: draw(st.sampled_from((0, 1, 2, 3, 3, 3)))]
    able = intervals(0.11, 1.0, st.integers(1, 200))
    reference = draw(outcomes("bf16", st.one_of(able, able, able, SHARES)))
    return Evidence(
        run="runs/x",
        model="m",
        model_kind=draw(st.sampled_from(["published"] * 6 + ["embedded", "constructed", "synthetic"])),
        device_class=draw(st.sampled_from(["x86-avx512"] * 4 + ["x86-amx", "arm64"])),
        reference="bf16",
        builds=(reference, *(draw(outcomes(build)) for build in others)),
        pairs=tuple(draw(pairs(build)) for build in others),
        in_flight=1,
    )


MANY = settings(max_examples=120, deadline=None)
ANY_PRIORITY: st.SearchStrategy[Priority] = st.sampled_from(PRIORITIES)
CAPS = st.one_of(st.none(), st.floats(0.01, 0.5))


def standing(found: Recommendation, build: str) -> str:
    return next(each.standing for each in found.standings if each.build == build)


@MANY
@given(anything(), ANY_PRIORITY, st.sampled_from(MACHINES), CAPS)
def test_only_a_build_that_is_no_worse_and_under_the_cap_is_advised(
    of: Evidence, priority: Priority, probe: MachineProbe, harm_cap: float | None
) -> None:
    found = select(probe, priority, of, harm_cap=harm_cap)
    outcome = {build.build: build for build in of.builds}
    if found.build is None or found.build == "bf16" or found.rule == STATIC_RULE:
        return
    pair = next(pair for pair in of.pairs if pair.build == found.build)
    harm, cap = outcome[found.build].harm, harm_cap
    assert pair.verdict == "no worse"
    assert harm.high <= (outcome["bf16"].harm.high + MARGIN if cap is None else cap)
    judged, faulted = outcome[found.build].success.n, outcome[found.build].harness_errors
    assert faulted <= FAULT_LIMIT * (judged + faulted)


@MANY
@given(anything(), ANY_PRIORITY, st.sampled_from(MACHINES), st.floats(0.01, 0.5))
def test_a_reference_above_the_cap_that_was_asked_for_is_never_advised(
    of: Evidence, priority: Priority, probe: MachineProbe, harm_cap: float
) -> None:
    found = select(probe, priority, of, harm_cap=harm_cap)
    harm = of.builds[0].harm
    if found.build == "bf16" and of.model_kind != "synthetic":  # of synthetic weights outcomes say nothing
        assert harm.low <= harm_cap
        assert not found.conclusive or harm.high <= harm_cap


@MANY
@given(anything(), ANY_PRIORITY, st.sampled_from(MACHINES), CAPS)
def test_advice_is_conclusive_by_two_rules_only_and_then_needs_no_pairs(
    of: Evidence, priority: Priority, probe: MachineProbe, harm_cap: float | None
) -> None:
    found = select(probe, priority, of, harm_cap=harm_cap)
    assert found.conclusive == (found.rule in CONCLUSIVE)
    assert not (found.conclusive and (found.pairs_needed or found.build is None))
    assert all(text.endswith(".") for text in texts(found))
    assert found == select(probe, priority, of, harm_cap=harm_cap)


def decided(of: Evidence, build: str, cap: float) -> Evidence:
    """Return the evidence as it would be if an undecided build were shown to be no worse and under the cap."""
    pairs = tuple(
        replace(pair, verdict="no worse", pairs_needed=0) if pair.build == build else pair for pair in of.pairs
    )
    builds = tuple(
        replace(each, harness_errors=0, harm=replace(each.harm, high=min(each.harm.high, cap)))
        if each.build == build
        else each
        for each in of.builds
    )
    return replace(of, builds=builds, pairs=pairs)


@MANY
@given(anything(), ANY_PRIORITY, st.sampled_from(PROCESSORS), CAPS)
def test_advice_is_never_conclusive_while_an_undecided_build_could_still_win(
    of: Evidence, priority: Priority, probe: MachineProbe, harm_cap: float | None
) -> None:
    found = select(probe, priority, of, harm_cap=harm_cap)
    if not found.conclusive:
        return
    for pair in of.pairs:
        if standing(found, pair.build) == "undecided":
            then = decided(of, pair.build, of.builds[0].harm.high + MARGIN if harm_cap is None else harm_cap)
            changed = select(probe, priority, then, harm_cap=harm_cap)
            assert standing(changed, pair.build) == "eligible"
            assert changed.build != pair.build


@MANY
@given(anything(), ANY_PRIORITY, st.sampled_from(PROCESSORS), CAPS)
def test_advice_that_waits_for_pairs_says_how_many(
    of: Evidence, priority: Priority, probe: MachineProbe, harm_cap: float | None
) -> None:
    found = select(probe, priority, of, harm_cap=harm_cap)
    needed = {each.build: each.pairs_needed for each in found.standings}
    assert found.pairs_needed in {0, *needed.values()}
    for pair in of.pairs:
        if pair.verdict == "insufficient evidence":
            assert needed[pair.build] >= pair.pairs_needed > 0
    if found.rule == "reference-undecided":
        assert found.pairs_needed > 0
    if found.rule == "insufficient-evidence":
        harness_only = {
            build.build
            for build in of.builds
            if build.harness_errors > FAULT_LIMIT * (build.success.n + build.harness_errors)
        }
        waiting = [each for each in found.standings if each.standing == "undecided" and each.build not in harness_only]
        assert found.pairs_needed > 0 or not waiting or harness_only


@MANY
@given(anything(), ANY_PRIORITY, st.sampled_from(PROCESSORS), st.data())
def test_on_another_class_of_machines_speeds_change_nothing(
    of: Evidence, priority: Priority, probe: MachineProbe, data: st.DataObject
) -> None:
    other = replace(of, device_class="x86-avx512-of-somebody-else")
    timed = replace(
        other,
        pairs=tuple(
            replace(
                pair,
                speed_ratio=data.draw(RATIOS),
                speed_verdict=data.draw(st.sampled_from(get_args(SpeedVerdict))),
            )
            for pair in other.pairs
        ),
    )
    one, two = select(probe, priority, other), select(probe, priority, timed)
    assert (one.build, one.conclusive, one.rule) == (two.build, two.conclusive, two.rule)
    assert not (one.conclusive and priority == "speed" and one.build != "bf16")
    assert not any("tokens per second" in text for text in texts(one))
