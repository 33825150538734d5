"""Builds x instances: which episodes a run has, in which order, and which are still to do. Knows no names of builds.

Episodes come in blocks of one instance each, and the order of the builds rotates from block to block, so that outcome
pairs share everything and speed is measured interleaved.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_eval.contracts import Device, Instance, PhoneControl, Policy, Sink, Task
from agent_eval.episode import EpisodeKey, EpisodeLimits, run_episode
from agent_eval.records import EpisodeRecord

ATTEMPTS = 3
"""How often an episode is tried within one command when the harness fails; a model's failure is never retried."""


@dataclass(frozen=True)
class WorkUnit:
    """One episode to run."""

    block: int
    build: str
    instance: Instance

    @property
    def episode(self) -> str:
        """The record's name: ``build/task/seed``."""
        return f"{self.build}/{self.instance.id}"


class Station(Protocol):
    """Where episodes of one build are played."""

    def policy(self, instance: Instance) -> Policy:
        """Return who plays an instance; a model plays all of them."""
        ...

    @property
    def device(self) -> Device: ...

    @property
    def phone(self) -> PhoneControl: ...


def draw_instances(
    tasks: Sequence[Task], count: int, seed: int, language: str = "en", split: str = "evaluation"
) -> tuple[Instance, ...]:
    """Draw ``count`` instances of each task and shuffle them by the seed, fixed before the run begins."""
    instances = [task.draw(seed + offset, split, language) for offset in range(count) for task in tasks]
    random.Random(f"order/{seed}").shuffle(instances)
    return tuple(instances)


def work_units(builds: Sequence[str], instances: Sequence[Instance]) -> Iterator[WorkUnit]:
    """Yield every episode of a run in its order: one block per instance, the builds rotating."""
    for block, instance in enumerate(instances):
        turn = block % len(builds)
        for build in (*builds[turn:], *builds[:turn]):
            yield WorkUnit(block, build, instance)


def until(decided: Callable[[int], bool], units: Iterable[WorkUnit], every: int = 1) -> Iterator[WorkUnit]:
    """Yield units until all that a run is for is decided.

    Args:
        decided: Given a block, tells whether the blocks before it decide; asked before the block is played.
        units: The whole run, in order.
        every: Ask before every so many blocks, where that many are played together.
    """
    block = -1
    for unit in units:
        if unit.block != block:
            block = unit.block
            if block % every == 0 and decided(block):
                return
        yield unit


def run_matrix(
    units: Iterable[WorkUnit],
    recorded: Sequence[EpisodeRecord],
    station: Callable[[str], Station],
    sink: Sink,
    limits: EpisodeLimits,
    on_record: Callable[[EpisodeRecord], None],
) -> None:
    """Run the units that have no judged record yet, and append a record for each.

    Args:
        units: The whole run, in order.
        recorded: What earlier commands recorded; judged episodes are not run again, faults are.
        station: Opens what a build needs; called once per build, when its first episode comes.
        sink: Where records go, each before the next episode begins.
        limits: What ends an episode early.
        on_record: Told of each new record, for progress.
    """
    last = {record.episode: record for record in recorded}
    stations: dict[str, Station] = {}
    for unit in units:
        before = last.get(unit.episode)
        if before is not None and before.outcome.label != "harness_error":
            continue
        if unit.build not in stations:
            stations[unit.build] = station(unit.build)
        place = stations[unit.build]
        first = before.attempt + 1 if before is not None else 0
        for attempt in range(first, max(ATTEMPTS, first + 1)):
            key = EpisodeKey(unit.build, unit.block, attempt)
            record = run_episode(unit.instance, place.policy(unit.instance), place.device, place.phone, key, limits)
            sink.append(record)
            on_record(record)
            if record.outcome.label != "harness_error":
                break
