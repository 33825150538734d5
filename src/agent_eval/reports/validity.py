"""Whether a run can be trusted at all, before anything is read from it: what must hold whatever the builds are worth.

The reference must end every instance as it did before (A/A); an agent that does nothing must pass nothing but what was
already so; one that acts at random next to nothing; one that sees the phone's state everything; and no episode may be
lost to the harness. What a run did not play cannot be checked, and is said to be open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.noise import NoiseBand, noise_band_of
from agent_eval.reports.selection import builds_of, facts_of, faulted, judged, latest, passed
from agent_eval.reports.stats import wilson
from agent_eval.types import Interval

RANDOM_PASSES = 0.05
"""Share of episodes that may succeed by acting at random, those left out whose goal held from the start."""

Holds = Literal["holds", "broken", "open"]


@dataclass(frozen=True)
class AgentCheck:
    """A reference agent, and what it must do."""

    agent: str
    passes: str
    """What it may or must pass, in words."""
    share: Interval | None
    """What it passed of the episodes that tell; Wilson 95 %. None where it was not played."""
    holds: Holds


@dataclass(frozen=True)
class Validity:
    """What was checked of a run."""

    noise: NoiseBand | None
    """None where the reference ran once."""
    agents: tuple[AgentCheck, ...]
    recorded: int
    """Episodes with a record, of all builds and agents."""
    lost: int
    """Of those, the ones that the harness lost, and so left out of every rate."""
    retried: int
    """Records beside the last of their episode: attempts that the harness lost and that were made good."""
    phone_faults: Mapping[str, int]
    """Faults of the phone that were asked for, and how often each showed."""

    @property
    def same_again(self) -> Holds:
        """Whether the reference ended every instance twice in the same way, to the last byte but time and memory."""
        if self.noise is None or self.noise.pairs == 0:
            return "open"
        return "broken" if self.noise.differing else "holds"

    @property
    def harness(self) -> Holds:
        """Whether every episode was judged."""
        return "broken" if self.lost else "holds"


def validity_of(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> Validity:
    """Check a run."""
    counted = latest(records)
    showed = Counter(fault.fault for record in counted for fault in record.faults)
    builds = builds_of(manifest, records)

    def of(agent: str) -> list[EpisodeRecord]:
        return [record for record in judged(counted) if record.build == agent]

    return Validity(
        noise=noise_band_of(manifest, records),
        agents=(
            _check("null", "none but what was so already", _untouched(of("null")), 0.0),
            _check(
                "random",
                f"at most {100 * RANDOM_PASSES:.0f} % of what was not so already",
                _untouched(of("random")),
                RANDOM_PASSES,
            ),
            _check_oracle(of("oracle")),
        ),
        recorded=sum(record.build in builds for record in counted),
        lost=len(faulted(counted)),
        retried=len(records) - len(counted),
        phone_faults={name: showed[name] for name in manifest.configuration.faults},
    )


def _untouched(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Leave out episodes whose goal held before the first step: there, to declare at once is right."""
    return [record for record in records if facts_of(record).first_reach != 0]


def _check(agent: str, passes: str, records: Sequence[EpisodeRecord], most: float) -> AgentCheck:
    share = _share(records)
    holds: Holds = "open" if share is None else "holds" if share.estimate <= most else "broken"
    return AgentCheck(agent, passes, share, holds)


def _check_oracle(records: Sequence[EpisodeRecord]) -> AgentCheck:
    share = _share(records)
    holds: Holds = "open" if share is None else "holds" if share.estimate == 1 else "broken"
    return AgentCheck("oracle", "all", share, holds)


def _share(records: Sequence[EpisodeRecord]) -> Interval | None:
    return wilson(sum(map(passed, records)), len(records)) if records else None
