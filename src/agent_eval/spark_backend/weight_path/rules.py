"""The rules: the first that fires gives the advice.

Whatever is not known keeps the safer build and is not conclusive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from agent_eval.errors import UnknownName
from agent_eval.spark_backend.weight_path.candidates import Case, better, faulty, sort_evidence
from agent_eval.spark_backend.weight_path.decisions import REFERENCE, decide
from agent_eval.spark_backend.weight_path.sentences import (
    account,
    cap,
    caveats,
    expectations,
    listed,
    of_device,
    of_pairs,
    of_question,
    of_reference,
    of_row,
    of_run,
    of_standing,
    overlap,
    points,
    row_reasons,
    share,
)
from agent_eval.types import (
    Basis,
    BuildStanding,
    Decision,
    Evidence,
    MachineProbe,
    Priority,
    Reason,
    Recommendation,
    Source,
)


@dataclass(frozen=True)
class Advice:
    """What a rule says, before the sentences on each build are added."""

    build: str | None
    conclusive: bool
    reasons: tuple[Reason, ...]
    pairs_needed: int = 0


@dataclass(frozen=True)
class Rule:
    """When it fires, in words and as a test, and what it then says."""

    name: str
    when: str
    then: str
    """What it advises, in words."""
    fires: Callable[[Case], bool]
    advise: Callable[[Case], Advice]


def _is_kept(build: str | None) -> str:
    return f"{build} is kept" if build is not None else "nothing may be advised"


def _other_arithmetic(case: Case) -> Advice:
    row = decide(case.probe, case.priority)
    build = case.fallback if row.build == case.reference.build else None
    reasons = [
        Reason(
            f"The evidence was computed on {case.evidence.device_class}, and {case.probe.device_class} computes with "
            "other kernels and other rounding, so neither its outcomes nor its speeds decide here.",
            (of_run(case, f"measured on {case.evidence.device_class}", "device_class"), of_device(case.probe)),
        )
    ]
    if build is None and row.build is None:
        what = f"No build of this program runs there: what the decision table has is {row.path}."
        reasons.append(Reason(what, (of_row(row, "path", "build"),)))
    elif build is not None:
        reasons.append(Reason(f"{build} is what the decision table has there.", (of_row(row, "build"),)))
    return Advice(build, False, (*reasons, *row_reasons(row)))


def _reference_failed(case: Case) -> Advice:
    text = (
        f"No episode of {case.reference.build} was judged: the harness failed in all "
        f"{case.reference.harness_errors} of them, so nothing may be advised for this machine."
    )
    return Advice(None, False, (Reason(text, (of_reference(case, "success", "harness_errors"),)),))


def _synthetic(case: Case) -> Advice:
    text = (
        f"The weights of {case.evidence.model!r} are synthetic: its speeds count, its outcomes say nothing, so "
        f"{case.reference.build} is kept."
    )
    model = of_run(case, f"{case.evidence.model_kind} model {case.evidence.model}", "model", "model_kind")
    return Advice(case.reference.build, False, (Reason(text, (model,)),))


def _reference_harmful(case: Case) -> Advice:
    text = (
        f"{case.reference.build} itself does more harm than the cap of {cap(case.harm_cap)} allows, "
        f"{share(case.reference.harm)}, and no other build is eligible and preferred to it, so nothing may be advised."
    )
    needed = max((candidate.needed for candidate in case.open), default=0)
    source = of_reference(case, "harm"), of_standing(case, case.reference.build)
    return Advice(None, False, (Reason(text, source),), needed)


def _nothing_to_compare(case: Case) -> Advice:
    text = f"The run holds no build besides {case.reference.build}, so there is nothing to compare."
    return Advice(case.fallback, False, (Reason(text, (of_run(case, "builds", "builds", "pairs"),)),))


def _reference_faulty(case: Case) -> Advice:
    text = (
        f"Insufficient evidence: the harness failed in {case.reference.harness_errors} episodes of "
        f"{case.reference.build} beside {case.reference.success.n} judged ones; mend that and run them again."
    )
    return Advice(case.fallback, False, (Reason(text, (of_reference(case, "success", "harness_errors"),)),))


def _reference_too_weak(case: Case) -> Advice:
    text = (
        f"Insufficient evidence: {case.reference.build} itself succeeds in {share(case.reference.success)}, whose "
        f"lower bound is not above the margin of {points(case.margin)} points, so no build could be seen to be worse; "
        f"this needs tasks that {case.reference.build} can do, or more of them."
    )
    sources = of_reference(case, "success"), of_pairs(case, case.candidates[0], "margin")
    return Advice(case.fallback, False, (Reason(text, sources),))


def _insufficient(case: Case) -> Advice:
    are = "is" if len(case.open) == 1 else "are"
    needed = max(candidate.needed for candidate in case.open)
    text = (
        f"Insufficient evidence: {listed(case.open)} {are} undecided and might be preferred for priority "
        f"{case.priority}, so {_is_kept(case.kept)}{' until then' if needed else ''}."
    )
    sources = (of_standing(case, candidate.build) for candidate in case.open)
    return Advice(case.kept, False, (Reason(text, (*sources, of_question(case.priority))),), needed)


def _speed_not_measured(case: Case) -> Advice:
    row = decide(case.probe, "speed")
    source: tuple[Source, ...]
    if not case.here:
        lack = "speed was not measured on this class of devices"
        source = (of_run(case, f"measured on {case.evidence.device_class}", "device_class"), of_device(case.probe))
    elif case.evidence.in_flight > 1:
        lack = f"speed was measured with {case.evidence.in_flight} episodes in flight only"
        source = (of_run(case, f"{case.evidence.in_flight} episodes in flight", "in_flight"),)
    else:
        lack = "speed was not measured in enough blocks of this run"
        source = tuple(of_pairs(case, candidate, "speed_verdict") for candidate in case.untimed)
    standings = tuple(of_standing(case, candidate.build) for candidate in case.untimed)
    text = f"The outcomes of {listed(case.untimed)} are no worse, but {lack}"
    if case.pick is None and row.build is not None and row.build in {candidate.build for candidate in case.untimed}:
        return Advice(
            row.build,
            False,
            (
                Reason(f"{text}.", (*standings, *source)),
                Reason(
                    f"{row.build} is only expected to be fastest on {case.probe.device_class}, by the decision table.",
                    (of_row(row, "build", "device_class"),),
                ),
                *row_reasons(row),
            ),
        )
    kept = Reason(f"{text}; {_is_kept(case.kept)} until it is.", (*standings, *source))
    return Advice(case.kept, False, (kept,))


def _reference_undecided(case: Case) -> Advice:
    text = (
        f"Insufficient evidence: no other build is preferred, and {case.reference.build} itself is not known to stay "
        f"under the cap of {cap(case.harm_cap)} on harm, so it is only kept until then."
    )
    sources = of_reference(case, "harm"), of_standing(case, case.reference.build)
    return Advice(case.fallback, False, (Reason(text, sources),), case.reference_needed)


def _preferred(case: Case) -> Advice:
    pick = case.pick
    if pick is None:
        raise ValueError("the rule of the preferred build fired without one")
    reference = pick.pair.reference
    sources: list[Source] = [of_standing(case, pick.build), of_pairs(case, pick)]
    rivals = [c for c in case.of("eligible") if c.faster and c.build != pick.build and overlap(c.ratio, pick.ratio)]
    match case.priority:
        case "speed":
            because = f"{pick.build} is the fastest build whose outcomes are no worse than those of {reference}"
            sources += [of_pairs(case, candidate, "speed_ratio") for candidate in case.candidates if candidate != pick]
            if rivals:
                because += f"; {listed(rivals)} cannot be told from it in speed, and its outcomes are the better ones"
        case "fidelity":
            because = f"{pick.build} succeeds more than {reference}, and its success has the highest lower bound"
            sources.append(of_run(case, "success of every build", *_every_success(case)))
        case "agentic":
            because = (
                f"{pick.build} has better outcomes than {reference}"
                if pick in better(case)
                else f"{pick.build} is level with {reference} in outcomes and harm, and it is faster"
            )
    return Advice(pick.build, True, (Reason(because + ".", (*sources, of_question(case.priority))),))


def _every_success(case: Case) -> tuple[str, ...]:
    return tuple(f"builds[{place}].success" for place in range(len(case.evidence.builds)))


def _keep_reference(case: Case) -> Advice:
    name = case.reference.build
    if not case.of("eligible"):
        because = f"No other build is eligible, so {name} is kept."
    else:
        lack = {
            "speed": f"is measured faster than {name}",
            "fidelity": f"is seen to succeed more than {name}, which has lost nothing",
            "agentic": f"has better outcomes than {name}, or level ones and more speed",
        }
        because = f"No eligible build {lack[case.priority]}, so {name} is kept."
    sources = [of_pairs(case, candidate) for candidate in case.candidates]
    sources += [of_standing(case, candidate.build) for candidate in case.candidates]
    return Advice(name, True, (Reason(because, (*sources, of_question(case.priority))),))


RULES: tuple[Rule, ...] = (
    Rule(
        "other-arithmetic",
        "the device computes on an accelerator, and the evidence was computed on something else",
        "what the decision table has, where it is the reference, else none",
        lambda case: case.probe.computes_on == "accelerator" and not case.here,
        _other_arithmetic,
    ),
    Rule(
        "reference-failed",
        "the reference was never judged, the harness failed",
        "none",
        lambda case: case.reference.success.n == 0,
        _reference_failed,
    ),
    Rule(
        "synthetic-weights",
        "the weights were drawn, not trained",
        "the reference",
        lambda case: case.evidence.model_kind == "synthetic",
        _synthetic,
    ),
    Rule(
        "reference-harmful",
        "the reference does more harm than the cap that was asked for, and no eligible build is preferred to it",
        "none",
        lambda case: case.reference_harmful and case.pick is None,
        _reference_harmful,
    ),
    Rule(
        "nothing-to-compare",
        "only the reference was run",
        "the reference",
        lambda case: not case.candidates,
        _nothing_to_compare,
    ),
    Rule(
        "too-many-faults",
        "the harness failed in more than a tenth of the reference's episodes",
        "the reference",
        lambda case: faulty(case.reference),
        _reference_faulty,
    ),
    Rule(
        "reference-too-weak",
        "the lower bound of the reference's success is not above the margin: no loss could show",
        "the reference",
        lambda case: case.reference.success.low <= case.margin,
        _reference_too_weak,
    ),
    Rule(
        "insufficient-evidence",
        "an undecided build might be preferred",
        "the best build shown to be no worse, else the reference; and the pairs needed",
        lambda case: bool(case.open),
        _insufficient,
    ),
    Rule(
        "speed-not-measured",
        "speed must decide, and was not measured on this class of devices",
        "the eligible build expected to be fastest, unverified, else the reference",
        lambda case: bool(case.untimed),
        _speed_not_measured,
    ),
    Rule(
        "reference-undecided",
        "nothing is preferred to the reference, whose own harm may exceed the cap that was asked for",
        "the reference; and the episodes needed",
        lambda case: case.pick is None and case.cap_asked_for and case.reference.harm.high > case.harm_cap,
        _reference_undecided,
    ),
    Rule("preferred-build", "an eligible build is preferred", "that build", lambda c: c.pick is not None, _preferred),
    Rule("keep-reference", "nothing else", "the reference", lambda _: True, _keep_reference),
)
"""The first rule that fires gives the advice. Without any evidence the advice is ``static-expectation``."""

STATIC_RULE = "static-expectation"
CONCLUSIVE = ("preferred-build", "keep-reference")
"""The only rules whose advice is conclusive."""


def select(
    probe: MachineProbe, priority: Priority, evidence: Evidence | None, *, harm_cap: float | None = None
) -> Recommendation:
    """Recommend a build for a machine and a priority.

    Args:
        probe: The machine that the build is to run on.
        priority: ``speed``: the fastest eligible build. ``fidelity``: of the eligible builds seen to
            succeed more than the reference the one with the highest lower bound of success, else the reference.
            ``agentic``: better outcomes first, then speed.
        evidence: Of a run; None where there is none.
        harm_cap: Share of episodes that the harm of a build must be known to stay under; by default the reference's
            own upper bound plus the margin of the evidence.

    Raises:
        UnknownName: there is no such priority.
        ValueError: the cap is not between 0 and 1.
    """
    if priority not in get_args(Priority):
        raise UnknownName("priority", priority, get_args(Priority))
    if harm_cap is not None and not 0 < harm_cap < 1:
        raise ValueError(f"a cap on harm is a share between 0 and 1, not {harm_cap!r}")
    case = sort_evidence(probe, priority, evidence, harm_cap) if evidence is not None else None
    row = decide(probe, priority)
    if case is None:
        return _without_evidence(probe, priority, row)
    rule = next(rule for rule in RULES if rule.fires(case))
    advice = rule.advise(case)
    accounts = (reason for candidate in case.candidates for reason in account(case, candidate))
    return Recommendation(
        build=advice.build,
        conclusive=advice.conclusive,
        rule=rule.name,
        reasons=(*advice.reasons, *accounts, *caveats(case)),
        pairs_needed=advice.pairs_needed,
        decision=row,
        standings=tuple(_standings(case)),
    )


def _standings(case: Case) -> list[BuildStanding]:
    reference = case.reference.build
    basis = {build: _basis(case, build) for build in (reference, *(each.build for each in case.candidates))}
    return [
        BuildStanding(reference, "reference", basis[reference], case.harm_cap, case.reference_needed),
        *(
            BuildStanding(each.build, each.standing, basis[each.build], each.harm_cap, each.needed)
            for each in case.candidates
        ),
    ]


def _basis(case: Case, build: str) -> Basis:
    """Say what is known of a build on this class of devices."""
    outcome = next(each for each in case.evidence.builds if each.build == build)
    if case.here and outcome.success.n:
        return "measured here"
    rows = [decide(case.probe, priority) for priority in get_args(Priority)]
    studied = any(row.build == build and row.verified for row in rows)
    return "verified by the reference study" if studied else "unverified"


def _without_evidence(probe: MachineProbe, priority: Priority, row: Decision) -> Recommendation:
    return Recommendation(
        build=row.build if priority == "speed" or row.build is None else REFERENCE,
        conclusive=False,
        rule=STATIC_RULE,
        reasons=tuple(expectations(row, probe, priority)),
        decision=row,
    )
