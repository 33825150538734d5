"""Joins outcomes and speed into the evidence that the selector reads. Computes verdicts; advises nothing."""

from __future__ import annotations

from collections.abc import Sequence

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.speed import RunSpeed, speed_of
from agent_eval.reports.stats import (
    UNKNOWN_DIFFERENCE,
    UNKNOWN_SHARE,
    bonett_price,
    holm,
    lower_bound,
    mcnemar,
    non_inferiority,
    pairs_needed,
)
from agent_eval.reports.summary import RunSummary, summary_of
from agent_eval.types import BuildEvidence, Evidence, PairedEvidence

MARGIN = 0.10
"""Default non-inferiority margin: a build may lose up to ten points of success."""


def evidence_of(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, margin: float = MARGIN, run: str = ""
) -> Evidence:
    """Compute the evidence of a run.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share.
        run: Name of the run in sentences; when it was created, by default.

    Raises:
        ValueError: the margin is not between 0 and 1.
    """
    return join(manifest, summary_of(manifest, records), speed_of(manifest, records), margin=margin, run=run)


def join(
    manifest: RunManifest, summary: RunSummary, speed: RunSpeed, *, margin: float = MARGIN, run: str = ""
) -> Evidence:
    """Join a summary and its speeds, computed from the same records.

    Speeds of episodes that were in flight together are left out: they say nothing of one episode at a time, which is
    how a device is used.
    """
    in_flight = manifest.configuration.concurrency
    speeds = {build.build: build for build in speed.builds if in_flight == 1}
    ratios = {ratio.build: ratio for ratio in speed.ratios if in_flight == 1}
    p_values = [mcnemar(pair.lost, pair.gained) for pair in summary.pairs]
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
            PairedEvidence(
                build=pair.build,
                reference=pair.reference,
                pairs=pair.pairs,
                lost=pair.lost,
                gained=pair.gained,
                difference=bonett_price(pair.lost, pair.gained, pair.pairs) if pair.pairs else UNKNOWN_DIFFERENCE,
                lower_bound=lower_bound(pair.lost, pair.gained, pair.pairs),
                p_value=p_value,
                p_adjusted=p_adjusted,
                margin=margin,
                verdict=non_inferiority(pair.lost, pair.gained, pair.pairs, margin),
                pairs_needed=pairs_needed(pair.lost, pair.gained, pair.pairs, margin),
                speed_ratio=ratios[pair.build].decode if pair.build in ratios else None,
                speed_verdict=ratios[pair.build].decode_verdict if pair.build in ratios else "not measured",
            )
            for pair, p_value, p_adjusted in zip(summary.pairs, p_values, holm(p_values), strict=True)
        ),
        in_flight=in_flight,
        engine=manifest.configuration.engine,
    )
