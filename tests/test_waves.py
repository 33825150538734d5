"""Several episodes in flight: the same records each time, after a kill too, and whatever breaks in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agent_eval.agent import ModelPolicy, NullAgent, tool_schemas
from agent_eval.contracts import Decision, Instance, Policy
from agent_eval.episode import NO_LIMITS
from agent_eval.errors import DeviceFault
from agent_eval.flight import Flight
from agent_eval.matrix import ATTEMPTS, WorkUnit, draw_instances, run_matrix, until, work_units
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import TASKS
from agent_eval.types import ActionResult, Observation, Sampling, TokenGeneration
from agent_eval.waves import WAVE_BLOCKS, Lanes, Watcher, blocks_of, run_waves, waves_of
from agent_eval.wiring import open_sim
from tests.fakes import DrawingModel, FakeParallelEngine, FixedStation, MemorySink, call

BUILDS = ("bf16", "w4a8")
TEXTS = [
    call("open_app", name="Settings"),
    call("tap", index=0),
    call("tap", index=3),
    call("wait"),
    "I do not know.",
    call("swipe", direction="up"),
    call("task_complete"),
]
IN_FLIGHT = 3
INSTANCES = draw_instances([TASKS["WifiSet"], TASKS["AlarmToggle"]], 7, 0)
"""One wave and a part of a second."""
UNITS = list(work_units(BUILDS, INSTANCES))


class Place(FixedStation):
    instances = INSTANCES


@dataclass
class Run:
    """One command: what it opens, and what it was told."""

    in_flight: int = IN_FLIGHT
    units: Sequence[WorkUnit] = field(default_factory=lambda: UNITS)
    fails: Callable[[int], bool] = lambda _: False
    doomed: Instance | None = None
    opened: dict[str, FakeParallelEngine] = field(default_factory=dict)
    told: list[EpisodeRecord] = field(default_factory=list)
    differing: list[tuple[EpisodeRecord, EpisodeRecord]] = field(default_factory=list)

    def go(self, sink: MemorySink, recorded: Sequence[EpisodeRecord] = ()) -> MemorySink:
        watcher = Watcher(self.told.append, lambda before, now: self.differing.append((before, now)))
        builds = tuple(dict.fromkeys(unit.build for unit in self.units))
        run_waves(self.units, builds, recorded, self.lanes, sink, NO_LIMITS, watcher, self.in_flight)
        return sink

    def lanes(self, build: str) -> Lanes:
        assert build not in self.opened
        self.opened[build] = FakeParallelEngine(self.in_flight, self.fails)
        flight = Flight(self.opened[build])
        stations = []
        for engine in flight.lanes:
            sim, phone = open_sim()
            place = Place(ModelPolicy(DrawingModel(engine, TEXTS), tool_schemas(), Sampling()), sim, phone)
            stations.append(place if self.doomed is None else BreakingPlace(place.agent, sim, phone, self.doomed))
        return Lanes(stations, flight)


def contents(records: Sequence[EpisodeRecord]) -> list[dict[str, Any]]:
    """Return what records say, whatever their order and how long they took."""
    return sorted((record.untimed() for record in records), key=lambda told: (told["episode"], told["attempt"]))


def judged(records: Sequence[EpisodeRecord]) -> list[dict[str, Any]]:
    """Return the same of those that the harness did not break, whichever attempt it was."""
    kept = [record.model_copy(update={"attempt": 0}) for record in records if record.outcome.label != "harness_error"]
    return contents(kept)


@pytest.fixture(scope="module")
def whole() -> list[EpisodeRecord]:
    return Run().go(MemorySink()).records


def test_the_same_command_gives_the_same_records_in_the_same_order(whole: list[EpisodeRecord]) -> None:
    again = Run().go(MemorySink()).records
    assert [record.untimed() for record in again] == [record.untimed() for record in whole]
    assert {record.episode for record in whole} == {unit.episode for unit in UNITS}
    assert len(whole) == len(UNITS)


def test_the_lanes_are_full_and_episodes_are_of_many_kinds(whole: list[EpisodeRecord]) -> None:
    run = Run()
    run.go(MemorySink())
    together = Counter(run.opened["bf16"].together)
    assert max(together) == IN_FLIGHT
    assert together[IN_FLIGHT] > sum(together.values()) / 2
    assert len({len(record.steps) for record in whole}) > 3


def test_the_schedule_decides_what_is_recorded(whole: list[EpisodeRecord]) -> None:
    # what makes every other test here able to fail
    other = Run(in_flight=2).go(MemorySink()).records
    assert judged(other) != judged(whole)
    late = replace(UNITS[0], block=UNITS[-1].block)
    assert judged(Run(units=[*UNITS[1:], late]).go(MemorySink()).records) != judged(whole)


def test_waves_are_consecutive_blocks_and_the_builds_take_turns() -> None:
    units = list(work_units(("a", "b", "c"), INSTANCES))
    waves = list(waves_of(units, ("a", "b", "c"), 1))
    assert [wave[0].build for wave in waves] == ["a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"]
    assert [len(wave) for wave in waves] == [WAVE_BLOCKS] * 9 + [2] * 3
    assert [unit.block for unit in waves[3]] == [4, 5, 6, 7]
    assert sorted(unit.episode for wave in waves for unit in wave) == sorted(unit.episode for unit in units)


@pytest.mark.parametrize("room", [1, 12, 17, 27])
def test_a_killed_run_goes_on_to_the_records_of_an_unbroken_one(whole: list[EpisodeRecord], room: int) -> None:
    broken, rest, run = MemorySink(room), MemorySink(), Run()
    with pytest.raises(KeyboardInterrupt):
        Run().go(broken)
    assert len(broken.records) == room
    run.go(rest, broken.records)
    assert contents([*broken.records, *rest.records]) == contents(whole)
    assert run.told == rest.records
    assert run.differing == []


def test_a_run_killed_twice_comes_to_the_same_records(whole: list[EpisodeRecord]) -> None:
    kept: list[EpisodeRecord] = []
    for room in (3, 6, 1000):
        sink = MemorySink(room)
        try:
            Run().go(sink, kept)
        except KeyboardInterrupt:
            assert room < 1000
        kept += sink.records
    assert contents(kept) == contents(whole)


def test_a_finished_run_opens_nothing_and_a_finished_build_is_not_opened(whole: list[EpisodeRecord]) -> None:
    run = Run()
    assert run.go(MemorySink(), whole).records == []
    assert run.opened == {}
    run.go(MemorySink(), [record for record in whole if record.episode != UNITS[0].episode])
    assert set(run.opened) == {UNITS[0].build}


def test_a_record_that_comes_out_otherwise_now_stands_and_is_told(whole: list[EpisodeRecord]) -> None:
    altered = whole[0].model_copy(update={"goal": "another"})
    missing = next(record for record in whole[1:] if record.build == altered.build and record.block < 12)
    recorded = [altered, *(record for record in whole[1:] if record is not missing)]
    run = Run()
    rest = run.go(MemorySink(), recorded).records
    assert [record.untimed() for record in rest] == [missing.untimed()]
    assert [(before, now.untimed()) for before, now in run.differing] == [(altered, whole[0].untimed())]


@pytest.mark.parametrize("step", [0, 7, 40])
def test_a_step_that_fails_once_leaves_the_records_of_a_run_without_it(whole: list[EpisodeRecord], step: int) -> None:
    run = Run(units=[unit for unit in UNITS if unit.build == "bf16"], fails=lambda now: now == step)
    sink = run.go(MemorySink())
    assert judged(sink.records) == judged([record for record in whole if record.build == "bf16"])
    faults = [record for record in sink.records if record.outcome.label == "harness_error"]
    assert 1 <= len(faults) <= IN_FLIGHT
    assert all("the batch is lost" in record.outcome.fault and record.attempt == 0 for record in faults)
    assert {record.episode: record.attempt for record in sink.records}.items() >= {f.episode: 1 for f in faults}.items()
    assert run.differing == []


class Breaking:
    """A policy that asks its model, and breaks."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def begin(self, goal: str) -> None:
        self._policy.begin(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        self._policy.decide(observation, result)
        raise DeviceFault("the cable is loose", hint="hold it")


@dataclass
class BreakingPlace(Place):
    """A place at which one instance breaks whoever plays it."""

    doomed: Instance

    def policy(self, instance: Instance) -> Policy:
        return Breaking(self.agent) if instance is self.doomed else self.agent


def test_a_fault_that_comes_at_every_try_leaves_the_other_episodes_judged() -> None:
    doomed, units = UNITS[4].instance, [unit for unit in UNITS if unit.build == "bf16"]

    def command(recorded: Sequence[EpisodeRecord], room: int = 1000) -> list[EpisodeRecord]:
        sink, run = MemorySink(room), Run(units=units, doomed=doomed)
        try:
            run.go(sink, recorded)
        except KeyboardInterrupt:
            assert room < 1000
        assert run.differing == []
        return sink.records

    first = command(())
    lasting = [record for record in first if record.outcome.label == "harness_error"]
    assert [record.episode for record in lasting] == [f"bf16/{doomed.id}"] * ATTEMPTS
    assert len(judged(first)) == len(units) - 1
    assert contents(command(())) == contents(first)
    next_time = command(first)
    assert [(record.episode, record.attempt) for record in next_time] == [(f"bf16/{doomed.id}", ATTEMPTS)]
    broken = command((), room=6)
    assert judged([*broken, *command(broken)]) == judged(first)


class Alone:
    """An ``Engine`` over one that takes several."""

    def __init__(self, engine: FakeParallelEngine) -> None:
        self._engine = engine

    def begin(self, prefix: Sequence[int] = ()) -> None:
        self._engine.begin(prefix)

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        ticket = self._engine.submit(prompt, stop, sampling)
        while True:
            done = self._engine.step()
            if ticket in done:
                return done[ticket]


def test_one_lane_plays_what_an_engine_alone_plays() -> None:
    alone = MemorySink()

    def station(_: str) -> Place:
        sim, phone = open_sim()
        model = DrawingModel(Alone(FakeParallelEngine(1)), TEXTS)
        return Place(ModelPolicy(model, tool_schemas(), Sampling()), sim, phone)

    run_matrix(UNITS, [], station, alone, NO_LIMITS, lambda _: None)
    assert contents(Run(in_flight=1).go(MemorySink()).records) == contents(alone.records)


def test_a_build_without_a_model_is_played_one_after_another() -> None:
    units = list(work_units(("null", "bf16"), INSTANCES))
    run = Run()

    def lanes(build: str) -> Lanes:
        return Lanes([Place(NullAgent(), *open_sim())]) if build == "null" else run.lanes(build)

    sink = MemorySink()
    run_waves(units, ("null", "bf16"), [], lanes, sink, NO_LIMITS, Watcher(run.told.append, lambda *_: None), IN_FLIGHT)
    assert Counter(record.build for record in sink.records) == {"null": len(INSTANCES), "bf16": len(INSTANCES)}
    assert [record.block for record in sink.records if record.build == "null"] == list(range(len(INSTANCES)))
    assert run.told == sink.records


def test_a_run_that_may_end_early_asks_only_once_a_wave_is_played() -> None:
    sink, known = MemorySink(), []

    def decided(block: int) -> bool:
        known.append((block, len(sink.records)))
        return block > 0

    run = Run()
    watcher = Watcher(run.told.append, lambda *_: None)
    run_waves(until(decided, UNITS, blocks_of(IN_FLIGHT)), BUILDS, [], run.lanes, sink, NO_LIMITS, watcher, IN_FLIGHT)
    first = blocks_of(IN_FLIGHT)
    assert known == [(0, 0), (first, first * len(BUILDS))]
    assert {record.block for record in sink.records} == set(range(first))
