"""Joins outcomes and speed into the evidence that the selector reads. Computes verdicts; advises nothing."""

from __future__ import annotations

from collections.abc import Sequence

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.selection import models_of, pairs_of, reference_of
from agent_eval.reports.speed import RunSpeed, SpeedRatio, speed_of
from agent_eval.reports.stats import (
    UNKNOWN_DIFFERENCE,
    UNKNOWN_SHARE,
    bonett_price,
    holm,
    lower_bound,
    mcnemar,
    non_inferiority,
    pairs_needed,
    sequential_test,
)
from agent_eval.reports.summary import PairOutcome, PairSummary, RunSummary, outcomes_of, summary_of
from agent_eval.types import BuildEvidence, Evidence, PairedEvidence, SequentialVerdict

MARGIN = 0.10
"""Default non-inferiority margin: a build may lose up to ten points of success."""


def evidence_of(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, margin: float | None = None, run: str = ""
) -> Evidence:
    """Compute the evidence of a run.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share; the one that the run was to end by, or ``MARGIN``, if None.
        run: Name of the run in sentences; when it was created, by default.

    Raises:
        ValueError: the margin is not between 0 and 1.
    """
    return join(manifest, summary_of(manifest, records), speed_of(manifest, records), margin=margin, run=run)


def join(
    manifest: RunManifest, summary: RunSummary, speed: RunSpeed, *, margin: float | None = None, run: str = ""
) -> Evidence:
    """Join a summary and its speeds, computed from the same records.

    Speeds of episodes that were in flight together are left out: they say nothing of one episode at a time, which is
    how a device is used.
    """
    in_flight = manifest.configuration.concurrency
    speeds = {build.build: build for build in speed.builds if in_flight == 1}
    ratios = {ratio.build: ratio for ratio in speed.ratios if in_flight == 1}
    p_values = [mcnemar(pair.lost, pair.gained) for pair in summary.pairs]
    settled = manifest.configuration.decided_at_margin
    adaptive = settled is not None
    if margin is None:
        margin = MARGIN if settled is None else settled
    return Evidence(
        run=run or manifest.created,
        model=manifest.configuration.model,
        model_kind=manifest.model_kind,
        device_class=manifest.machine.device_class,
        reference=summary.reference,
        builds=tuple(
            BuildEvidence(
                build=build.build,
                success=build.rates["success"] or UNKNOWN_SHARE,
                harm=build.rates["harm"] or UNKNOWN_SHARE,
                harness_errors=len(build.harness_errors),
                decode_tokens_per_s=speeds[build.build].decode if build.build in speeds else None,
                prefill_tokens_per_s=speeds[build.build].prefill if build.build in speeds else None,
            )
            for build in summary.builds
            if build.build not in manifest.agents
        ),
        pairs=tuple(
            _paired(pair, p_value, p_adjusted, margin, ratios.get(pair.build), summary.planned, adaptive=adaptive)
            for pair, p_value, p_adjusted in zip(summary.pairs, p_values, holm(p_values), strict=True)
        ),
        in_flight=in_flight,
        engine=manifest.configuration.engine,
    )


def _paired(
    pair: PairSummary,
    p_value: float,
    p_adjusted: float,
    margin: float,
    ratio: SpeedRatio | None,
    planned: int,
    *,
    adaptive: bool,
) -> PairedEvidence:
    lost, gained, pairs, worth = pair.lost, pair.gained, pair.pairs, pair.worth
    sequential = _in_order(pair.in_order, margin) if adaptive else None
    verdict = non_inferiority(lost, gained, pairs, margin, worth=worth)
    needed = pairs_needed(lost, gained, pairs, margin, worth=worth)
    if sequential is not None and (sequential.decided or pairs < planned):
        verdict = sequential.verdict  # at the cap, what the pairs in their order leave open is asked of all of them
        needed = 0 if sequential.decided else max(1, min(needed, planned - pairs) or planned - pairs)
    return PairedEvidence(
        build=pair.build,
        reference=pair.reference,
        pairs=pairs,
        lost=lost,
        gained=gained,
        difference=bonett_price(lost, gained, pairs, worth=worth) if pairs else UNKNOWN_DIFFERENCE,
        lower_bound=lower_bound(lost, gained, pairs, worth=worth),
        p_value=p_value,
        p_adjusted=p_adjusted,
        margin=margin,
        verdict=verdict,
        pairs_needed=needed,
        speed_ratio=ratio.decode if ratio else None,
        speed_verdict=ratio.decode_verdict if ratio else "not measured",
        worth=worth,
        sequential=sequential,
    )


def verdicts_in_order(
    manifest: RunManifest, records: Sequence[EpisodeRecord], margin: float
) -> dict[str, SequentialVerdict]:
    """Return where the pairs of each build with the reference, in the order of blocks, decide at a margin."""
    models = models_of(manifest, records)
    reference = reference_of(models)
    others = [build for build in models if build != reference]
    return {build: _in_order(outcomes_of(pairs_of(records, reference, build)), margin) for build in others}


def is_decided(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> bool:
    """Return whether a run was to end when its comparisons are decided, and they are."""
    margin = manifest.configuration.decided_at_margin
    if margin is None:
        return False
    verdicts = verdicts_in_order(manifest, records, margin).values()
    return bool(verdicts) and all(verdict.decided for verdict in verdicts)


def _in_order(outcomes: Sequence[PairOutcome], margin: float) -> SequentialVerdict:
    passed = [(each.reference_passed, each.build_passed) for each in outcomes]
    return sequential_test(passed, margin, [each.task for each in outcomes])
