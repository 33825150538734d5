"""A run with several episodes of a build in flight: what is played together, and what of it is recorded.

The numbers of a batch depend on what is computed together, so an episode cannot be played again by itself. A run is cut
into waves of consecutive blocks, the builds taking turns within each. A wave always begins from the same state of the
engine and with the same episodes, and is therefore played again whole where a record of it is missing: after a killed
run, and after a fault of the harness. A fault alters what is in flight after it, and so what comes out: what ends after
one is recorded only at the last try, when the fault is taken to belong to the wave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeGuard

from agent_eval.contracts import Sink
from agent_eval.episode import EpisodeKey, EpisodeLimits, run_episode
from agent_eval.flight import Flight
from agent_eval.matrix import ATTEMPTS, Station, WorkUnit, run_matrix
from agent_eval.records import EpisodeRecord

WAVE_BLOCKS = 4
"""Blocks of a wave for each episode in flight: with fewer, lanes stand empty at the end of each wave for longer; with
more, a resumed run plays more again, and a build's turns are further apart."""


@dataclass(frozen=True)
class Lanes:
    """Where the episodes of one build are played."""

    stations: Sequence[Station]
    """One for each lane of the flight, with a phone of its own."""
    flight: Flight | None = None
    """What keeps the lanes in step; None where no model is asked: then the first station plays one after another."""


@dataclass(frozen=True)
class Watcher:
    """Who is told what happens."""

    recorded: Callable[[EpisodeRecord], None]
    """Told of each new record."""
    differs: Callable[[EpisodeRecord, EpisodeRecord], None]
    """Told of a record of before, and of what the same episode gave now, where they differ in more than time."""


def run_waves(
    units: Iterable[WorkUnit],
    builds: Sequence[str],
    recorded: Sequence[EpisodeRecord],
    lanes: Callable[[str], Lanes],
    sink: Sink,
    limits: EpisodeLimits,
    watcher: Watcher,
    in_flight: int,
) -> None:
    """Run the waves that lack a judged record, and append the records that are missing.

    A fault is tried again as in ``run_matrix``, with its wave. Records of before stand, whatever comes out now.

    Args:
        units: The whole run, in order; a wave is taken when the one before has been played.
        builds: The builds of every block.
        recorded: What earlier commands recorded.
        lanes: Opens what a build needs; called once per build, when its first wave comes.
        sink: Where records go, each when its episode ends.
        limits: What ends an episode early.
        watcher: Told of new records, and of those that differ from what was recorded.
        in_flight: Most episodes of a build at a time.
    """
    last = {record.episode: record for record in recorded}
    opened: dict[str, Lanes] = {}
    for wave in waves_of(units, builds, in_flight):
        build = wave[0].build
        if all(_judged(last.get(unit.episode)) for unit in wave):
            continue
        if build not in opened:
            opened[build] = lanes(build)
        place = opened[build]
        if place.flight is None:
            run_matrix(wave, recorded, lambda build: opened[build].stations[0], sink, limits, watcher.recorded)
        else:
            _Wave(wave, last, place.stations, place.flight, sink, limits, watcher).run()


def blocks_of(in_flight: int) -> int:
    """Return how many blocks a wave has."""
    return WAVE_BLOCKS * in_flight


def waves_of(units: Iterable[WorkUnit], builds: Sequence[str], in_flight: int) -> Iterator[tuple[WorkUnit, ...]]:
    """Yield the units of each wave and build in the order in which they are played; takes one wave at a time."""
    left = iter(units)
    turn = 0
    while wave := list(islice(left, blocks_of(in_flight) * len(builds))):
        for build in (*builds[turn:], *builds[:turn]):
            of_build = tuple(unit for unit in wave if unit.build == build)
            if of_build:
                yield of_build
        turn = (turn + 1) % len(builds)


class _Wave:
    """One wave of one build, played until every episode has its record or has used up its tries."""

    def __init__(
        self,
        units: Sequence[WorkUnit],
        last: dict[str, EpisodeRecord],
        stations: Sequence[Station],
        flight: Flight,
        sink: Sink,
        limits: EpisodeLimits,
        watcher: Watcher,
    ) -> None:
        self._units, self._last = units, last
        self._stations, self._flight = stations, flight
        self._sink, self._limits, self._watcher = sink, limits, watcher
        self._most = {unit.episode: max(ATTEMPTS, self._attempt(unit) + 1) for unit in units}
        self._disturbed = False  # by a fault, in the try under way
        self._final = False

    def run(self) -> None:
        for tries_left in reversed(range(ATTEMPTS)):
            if not any(map(self._owed, self._units)):
                return
            self._disturbed, self._final = False, tries_left == 0
            self._flight.play([partial(self._play, unit) for unit in self._units], self._land)

    def _play(self, unit: WorkUnit, lane: int) -> EpisodeRecord:
        station = self._stations[lane]
        key = EpisodeKey(unit.build, unit.block, self._attempt(unit))
        policy = station.policy(unit.instance)
        return run_episode(unit.instance, policy, station.device, station.phone, key, self._limits)

    def _land(self, record: EpisodeRecord) -> None:
        before = self._last.get(record.episode)
        if not _judged(record):
            self._disturbed = True
        elif self._disturbed and not self._final:
            return
        if _judged(before):
            if _judged(record) and before.untimed() != record.untimed():
                self._watcher.differs(before, record)
        elif record.attempt < self._most[record.episode]:
            self._last[record.episode] = record
            self._sink.append(record)
            self._watcher.recorded(record)

    def _attempt(self, unit: WorkUnit) -> int:
        """Return the attempt that comes now: the recorded one again where it was judged."""
        before = self._last.get(unit.episode)
        if before is None:
            return 0
        return before.attempt if _judged(before) else before.attempt + 1

    def _owed(self, unit: WorkUnit) -> bool:
        return not _judged(self._last.get(unit.episode)) and self._attempt(unit) < self._most[unit.episode]


def _judged(record: EpisodeRecord | None) -> TypeGuard[EpisodeRecord]:
    return record is not None and record.outcome.label != "harness_error"
