"""What was run: everything that decides what the records of a run say, as names and texts."""

from __future__ import annotations

from agent_eval.records import RunConfiguration, RunManifest
from agent_eval.reports import numbers
from agent_eval.reports.report import Report
from agent_eval.reports.sections.section import Fact, Facts, Section


def identity(report: Report) -> Section:
    """Say which run the report is of, and what was run."""
    manifest = report.manifest
    facts = [Fact("run", report.evidence.run)]
    if report.evidence.run != manifest.created:
        facts.append(Fact("created", manifest.created))
    return Section("Run", (Facts((*facts, *facts_of(manifest))),))


def facts_of(manifest: RunManifest) -> tuple[Fact, ...]:
    """Return the identity of a run; two runs of which these are equal should have the same outcomes."""
    configuration = manifest.configuration
    models = [build for build in configuration.builds if build not in manifest.agents]
    return (
        *_model(manifest, loaded=bool(models)),
        *_phone(configuration),
        Fact("machine", numbers.machine(manifest.machine, threads=manifest.threads)),
        *((Fact("engine", _engine(configuration)),) if models else ()),
        *(Fact(build, _build(manifest, build)) for build in configuration.builds),
        Fact(
            "suite",
            f"{numbers.count(len(configuration.tasks), 'task')} x "
            f"{numbers.count(configuration.instances, 'instance')}, seed {configuration.seed}, "
            f"{numbers.short(configuration.suite_digest)}",
        ),
        Fact("prompts", f"{numbers.short(configuration.prompt_digest)}, of their rendering and the phone's screens"),
        *((Fact("replies", _replies(configuration)),) if models else ()),
        *_limits(configuration),
        Fact("versions", ", ".join(f"{name} {version}" for name, version in manifest.versions.items())),
    )


def in_flight(configuration: RunConfiguration) -> str:
    """Say how many episodes were in flight together, where it was more than one, after whatever that changes."""
    return f", {configuration.concurrency} in flight" if configuration.concurrency > 1 else ""


def _model(manifest: RunManifest, *, loaded: bool) -> tuple[Fact, ...]:
    if not loaded:
        return (Fact("model", "none: reference agents only"),)
    configuration = manifest.configuration
    digest = numbers.short(configuration.model_digest)
    commit = f", commit {numbers.short(manifest.model_revision)}" if manifest.model_revision else ""
    of = ", template included"
    return (Fact("model", f"{configuration.model} ({manifest.model_kind}), {digest}{of}{commit}"),)


def _phone(configuration: RunConfiguration) -> tuple[Fact, ...]:
    facts = [Fact("device", configuration.device)]
    if configuration.language != "en":
        facts.append(Fact("language", configuration.language))
    if configuration.split != "evaluation":
        facts.append(Fact("split", configuration.split))
    if configuration.skin != "default":
        facts.append(Fact("skin", configuration.skin))
    if configuration.faults:
        facts.append(Fact("faults", ", ".join(configuration.faults)))
    return tuple(facts)


def _engine(configuration: RunConfiguration) -> str:
    settings = f" ({', '.join(configuration.engine_settings)})" if configuration.engine_settings else ""
    return f"{configuration.engine}{settings}{in_flight(configuration) or ', one episode at a time'}"


def _build(manifest: RunManifest, build: str) -> str:
    """Say what a build is: what its note says of weights and kernels, and where it comes from if not from the model."""
    configuration = manifest.configuration
    parts = [manifest.build_notes.get(build, "no note")]
    if build in manifest.build_sources:
        digest = numbers.short(configuration.build_digests.get(build, ""))
        parts.append(f"from {manifest.build_sources[build]}, {digest}")
    if build in configuration.scripts:
        parts.append(f"script {numbers.short(configuration.scripts[build])}")
    return "; ".join(parts)


def _replies(configuration: RunConfiguration) -> str:
    """Say how replies are sampled: every run of this program takes the likeliest token (``types.Sampling``)."""
    parts = [
        "greedy",
        f"thinking {'on' if configuration.thinking else 'off'}",
        f"at most {numbers.count(configuration.max_tokens, 'token')}",
    ]
    if configuration.constrained:
        parts.append("replies constrained to calls")
    return ", ".join(parts)


def _limits(configuration: RunConfiguration) -> tuple[Fact, ...]:
    limits = []
    if configuration.stop_on_loop:
        limits.append("stopped on loops")
    if configuration.max_episode_s is not None:
        limits.append(f"{configuration.max_episode_s:g} s an episode")
    if configuration.max_episode_tokens is not None:
        limits.append(f"{configuration.max_episode_tokens:,} tokens an episode")
    return (Fact("limits", ", ".join(limits)),) if limits else ()
