"""The sentences of a recommendation: what is said of each build and of the evidence, each with what it rests on.

Every number in a sentence is in a place that its sources name, or is one of those as a percentage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_eval.spark_backend.weight_path.candidates import NOT_IN_SIGHT, Candidate, Case, faulty
from agent_eval.spark_backend.weight_path.decisions import REFERENCE, decide
from agent_eval.types import Claim, Decision, Interval, MachineProbe, Priority, Reason, Source

# ----------------------------------------------------------------------------------------------------------------------
# sources


def of_run(case: Case, count: str, *fields: str) -> Source:
    """Cite places in the evidence; ``fields`` are below ``evidence``."""
    return Source("run", case.evidence.run, tuple(f"evidence.{field}" for field in fields), count)


def of_episodes(case: Case, build: str, place: int, *fields: str) -> Source:
    """Cite the episodes of one build."""
    outcome = case.evidence.builds[place]
    count = f"{outcome.success.n} episodes of {build}"
    return of_run(case, count, *(f"builds[{place}].{field}" for field in fields))


def of_reference(case: Case, *fields: str) -> Source:
    """Cite the episodes of the reference."""
    return of_episodes(case, case.reference.build, case.reference_at, *fields)


def of_pairs(case: Case, candidate: Candidate, *fields: str) -> Source:
    """Cite the pairs of one build with the reference."""
    pair = candidate.pair
    places = tuple(f"pairs[{candidate.pair_at}].{field}" for field in fields) or (f"pairs[{candidate.pair_at}]",)
    return of_run(case, f"{pair.pairs} pairs {pair.reference}/{pair.build}", *places)


def of_blocks(case: Case, candidate: Candidate) -> Source:
    """Cite the timed blocks of one build and the reference."""
    pair = candidate.pair
    blocks = pair.speed_ratio.n if pair.speed_ratio is not None else 0
    place = f"pairs[{candidate.pair_at}]"
    fields = (f"{place}.speed_ratio", f"{place}.speed_verdict")
    return of_run(case, f"{blocks} blocks {pair.reference}/{pair.build}", *fields)


def of_standing(case: Case, build: str) -> Source:
    """Cite what the selector made of a build: its cap and the pairs that it needs."""
    names = [case.reference.build, *(candidate.build for candidate in case.candidates)]
    place = f"recommendation.standings[{names.index(build)}]"
    return Source("run", case.evidence.run, (place,), f"standing of {build}")


def of_machine(probe: MachineProbe, *fields: str) -> Source:
    """Cite the machine that was asked for."""
    return Source("machine", probe.device_class, tuple(f"machine.{field}" for field in fields))


def of_question(priority: Priority) -> Source:
    """Cite what was asked."""
    return Source("question", f"priority {priority}", ("priority",))


def of_row(row: Decision, *fields: str) -> Source:
    """Cite a row of the decision table; ``fields`` are its own."""
    return Source("table", row.name, fields)


def of_claim(row: Decision, claim: Claim, field: str) -> tuple[Source, ...]:
    """Cite a claim of a row: the row, and the page that it names where that is one of this project."""
    table = of_row(row, field)
    return (table, Source("document", claim.source)) if claim.source.startswith("docs/") else (table,)


# ----------------------------------------------------------------------------------------------------------------------
# one build


def account(case: Case, candidate: Candidate) -> Iterator[Reason]:
    """Say how one build stands, and on what numbers."""
    for text, *sources in _account(case, candidate):
        yield Reason(text, tuple(sources), candidate.build)


def _account(case: Case, candidate: Candidate) -> Iterator[tuple[str, *tuple[Source, ...]]]:
    pair, outcome, build = candidate.pair, candidate.outcome, candidate.build
    if pair.pairs == 0:
        yield (
            f"{build} has no pair with {pair.reference}: {outcome.success.n} of its episodes were judged, and the "
            f"harness failed in {outcome.harness_errors}.",
            of_pairs(case, candidate),
            of_episodes(case, build, candidate.outcome_at, "success", "harness_errors"),
        )
        return
    stands = {
        "worse": f"is worse than {pair.reference} by more than the margin of {points(pair.margin)} points",
        "harmful": "does more harm than the cap allows",
        "undecided": "is undecided",
        "eligible": f"is no worse than {pair.reference} at the margin of {points(pair.margin)} points",
    }[candidate.standing]
    yield (
        f"{build} {stands}: its success differs by {_difference(pair.difference)} points over {pair.pairs} pairs "
        f"({pair.lost} lost, {pair.gained} gained{_worth(candidate)}; one-sided lower bound "
        f"{_signed(pair.lower_bound)}), with harm {share(outcome.harm)}, cap {cap(candidate.harm_cap)}.",
        of_pairs(case, candidate),
        of_episodes(case, build, candidate.outcome_at, "harm"),
        of_standing(case, build),
    )
    if pair.sequential is not None and pair.sequential.decided:
        yield (
            f"Its pairs decided in their order, after {pair.sequential.pairs} of them: {pair.sequential.lost} lost, "
            f"{pair.sequential.gained} gained.",
            of_pairs(case, candidate, "sequential"),
        )
    if candidate.standing == "undecided":
        yield _what_is_missing(candidate), of_standing(case, build)
    if faulty(outcome):
        yield (
            f"The harness failed in {outcome.harness_errors} of its episodes, too many to leave out.",
            of_episodes(case, build, candidate.outcome_at, "success", "harness_errors"),
        )
    yield _speed(candidate), *_speed_sources(case, candidate)


def _worth(candidate: Candidate) -> str:
    """Say how many independent pairs the pairs are worth, where they are worth less than they are."""
    pair = candidate.pair
    if pair.worth is None or round(pair.worth) >= pair.pairs:
        return ""
    return f", worth {pair.worth:.0f} independent ones"


def _what_is_missing(candidate: Candidate) -> str:
    if candidate.needed == 0:
        return "More pairs are not what it lacks."
    if candidate.needed >= NOT_IN_SIGHT:
        return "At the rates seen, no number of pairs worth running would decide it."
    return f"At the rates seen, it needs about {candidate.needed} further pairs."


def _speed(candidate: Candidate) -> str:
    pair, ratio = candidate.pair, candidate.pair.speed_ratio
    if not candidate.speed_counts:
        return "Its speed on this class of devices was not measured."
    if ratio is None:
        return f"Its speed {'one episode at a time ' if candidate.in_flight > 1 else ''}was not measured."
    figures = f"{ratio.estimate:.2f} times the tokens per second [{ratio.low:.2f}, {ratio.high:.2f}], {ratio.n} blocks"
    match pair.speed_verdict:
        case "faster" | "slower":
            return f"It decodes {pair.speed_verdict} than {pair.reference}: {figures}."
        case "no measured difference":
            return f"Its speed shows no measured difference from {pair.reference}: {figures}."
        case "not measured":
            return f"Its speed was timed in too few blocks for a verdict: {figures}."


def _speed_sources(case: Case, candidate: Candidate) -> tuple[Source, ...]:
    if not candidate.speed_counts:
        return of_run(case, f"measured on {case.evidence.device_class}", "device_class"), of_device(case.probe)
    return (of_blocks(case, candidate),)


def of_device(probe: MachineProbe) -> Source:
    """Cite what the machine computes on."""
    return of_machine(probe, "arch", "cpu_flags", "computes_on", "accelerator")


# ----------------------------------------------------------------------------------------------------------------------
# the evidence as a whole


def caveats(case: Case) -> Iterator[Reason]:
    """Say what the reference did, and what the evidence may not be taken for."""
    for text, *sources in _caveats(case):
        yield Reason(text, tuple(sources))
    yield from unused_accelerator(case.probe, case.priority)


def _caveats(case: Case) -> Iterator[tuple[str, *tuple[Source, ...]]]:
    evidence = case.evidence
    yield (
        f"The reference {evidence.reference} succeeds in {share(case.reference.success)}, with harm in "
        f"{share(case.reference.harm)}.",
        of_reference(case, "success", "harm"),
    )
    if case.cap_asked_for and not case.reference_harmful and case.reference.harm.high > case.harm_cap:
        yield (
            f"Its own harm may exceed the cap of {cap(case.harm_cap)}.",
            of_reference(case, "harm"),
            of_standing(case, evidence.reference),
        )
    if not case.here and case.probe.computes_on == "cpu":
        yield (
            f"The evidence was measured on {evidence.device_class}, this machine is {case.probe.device_class}: "
            "its outcomes count, its speeds do not.",
            of_run(case, f"measured on {evidence.device_class}", "device_class"),
            of_device(case.probe),
        )
    model = f"{evidence.model_kind} model {evidence.model}"
    if evidence.engine == "vllm":
        measured = of_run(case, "measured in vLLM", "engine")
        yield (
            "All of it was measured in vLLM, whose kernels and rounding are its own: it advises a build to be served "
            "with vLLM.",
            measured,
        )
        yield "For other ways to run the builds, measure them with --engine torch.", measured
    if evidence.in_flight > 1:
        flight = of_run(case, f"{evidence.in_flight} episodes in flight", "in_flight")
        yield (
            f"Speed was measured with {evidence.in_flight} episodes in flight; it says nothing of one at a time.",
            flight,
        )
        yield "Run the same builds with --concurrency 1 in a new run folder to measure that.", flight
    if evidence.model_kind == "embedded":
        yield (
            f"This is a measurement of {evidence.model}, the small embedded model, and of no other: for another "
            "checkpoint, run its own builds.",
            of_run(case, model, "model", "model_kind"),
        )
    if evidence.model_kind == "constructed":
        yield (
            f"{evidence.model} is CONSTRUCTED to be hard to quantise, for tests: for another checkpoint, run its own "
            "builds.",
            of_run(case, model, "model", "model_kind"),
        )


def unused_accelerator(probe: MachineProbe, priority: Priority) -> Iterator[Reason]:
    """Say that there is an accelerator which this advice is not for."""
    if probe.computes_on == "accelerator" or probe.accelerator == "none":
        return
    name = f" ({probe.gpu_name})" if probe.gpu_name and not probe.accelerator.startswith("npu:") else ""
    yield Reason(
        f"This machine also has the accelerator {probe.accelerator}{name}, which this program does not compute on: the "
        f"advice is for its processor, {probe.cpu_class}.",
        (of_machine(probe, "accelerator", "gpu_name", "computes_on", "arch", "cpu_flags"),),
    )
    row = decide(replace(probe, computes_on="accelerator"), priority)
    yield Reason(
        f"For {row.device_class} the decision table has {row.path}; a profile that computes on the accelerator asks "
        "for it.",
        (of_row(row, "path", "device_class"),),
    )


# ----------------------------------------------------------------------------------------------------------------------
# without evidence


def expectations(row: Decision, probe: MachineProbe, priority: Priority) -> Iterator[Reason]:
    """Say what the decision table leads one to expect, and that nothing of it was measured on this device."""
    asked = of_question(priority)
    if row.build is None:
        yield Reason(
            f"No build of this program runs on {row.device_class}: what the decision table has there is {row.path}.",
            (of_row(row, "device_class", "path", "build"), of_device(probe)),
        )
    elif priority == "speed" and row.build != REFERENCE:
        yield Reason(
            f"{row.build} is expected to decode fastest on {row.device_class}.",
            (of_row(row, "build", "device_class"), asked),
        )
    else:
        yield Reason(f"{REFERENCE} is kept: no other build has been shown to do the tasks no worse.", (asked,))
        if row.build != REFERENCE:
            yield Reason(
                f"The decision table would take {row.build} here, of which no outcome is known.",
                (of_row(row, "build"),),
            )
    yield from row_reasons(row)
    yield Reason(
        "Unverified here: no run is given, only what the decision table leads one to expect of this class of devices.",
        (of_row(row, "verified"),),
    )
    if probe.computes_on == "cpu":
        yield Reason(
            "Run the builds on such a machine to know: agent-eval run --builds bf16,w4a16,w4a8.", (of_device(probe),)
        )
    yield from unused_accelerator(probe, priority)


def row_reasons(row: Decision) -> Iterator[Reason]:
    """Say why the row is as it is, who has run it, and what this project measured of it."""
    yield Reason(row.why.text, of_claim(row, row.why, "why"))
    yield Reason(standing_of_row(row), (of_row(row, "verified"),))
    for claim in row.measured:
        yield Reason(claim.text, of_claim(row, claim, "measured"))


def standing_of_row(row: Decision) -> str:
    """Say in a sentence who has run a row."""
    if row.verified:
        return f"The reference study has run {row.path} and calls it verified."
    return f"The reference study has not run {row.path} on {row.device_class}."


# ----------------------------------------------------------------------------------------------------------------------
# words and numbers


def overlap(one: Interval, other: Interval) -> bool:
    """Tell whether two intervals overlap."""
    return one.low <= other.high and other.low <= one.high


def listed(candidates: Sequence[Candidate]) -> str:
    """Return the names of builds as a person lists them."""
    names = [candidate.build for candidate in candidates]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def points(value: float) -> str:
    """Return a share in whole points, with a digit behind the point where it has one."""
    return f"{100 * value:.1f}".removesuffix(".0")


def percent(value: float) -> str:
    """Return a share in per cent, at most 100."""
    return f"{100 * min(value, 1.0):.0f} %"


def cap(value: float) -> str:
    """Return a cap on harm in per cent, at most 100."""
    return f"{points(min(value, 1.0))} %"


def share(interval: Interval) -> str:
    """Return a share with its interval and its count."""
    if interval.n == 0:
        return "unknown (no episode)"
    counts = f"{round(interval.estimate * interval.n)} of {interval.n} episodes"
    return f"{percent(interval.estimate)} [{_whole(interval.low)}, {_whole(interval.high)}] ({counts})"


def _whole(value: float) -> str:
    return f"{100 * value:.0f}"


def _signed(value: float) -> str:
    rounded = round(100 * value)
    return f"{rounded:+d}" if rounded else "0"


def _difference(interval: Interval) -> str:
    return f"{_signed(interval.estimate)} [{_signed(interval.low)}, {_signed(interval.high)}]"
