"""Which episodes a run has, in which order, and which it still owes."""

from __future__ import annotations

from collections import Counter

import pytest

from agent_eval.agent import ModelPolicy, tool_schemas
from agent_eval.contracts import Device
from agent_eval.episode import NO_LIMITS
from agent_eval.matrix import ATTEMPTS, WorkUnit, draw_instances, run_matrix, until, work_units
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import TASKS
from agent_eval.types import Sampling
from agent_eval.wiring import open_sim
from tests.fakes import BreakingDevice, FixedStation, MemorySink, ScriptedModel, call

BUILDS = ("bf16", "w4a16", "w4a8")
INSTANCES = draw_instances([TASKS["WifiSet"], TASKS["AlarmToggle"]], 2, 0)


class Place(FixedStation):
    instances = INSTANCES


def run(sink: MemorySink, recorded: list[EpisodeRecord], device: Device | None = None) -> list[str]:
    opened: list[str] = []
    sim, phone = open_sim()

    def place(build: str) -> Place:
        opened.append(build)
        texts = [call("open_app", name="Settings"), call("task_complete")]
        return Place(ModelPolicy(ScriptedModel(texts), tool_schemas(), Sampling()), device or sim, phone)

    run_matrix(UNITS, recorded, place, sink, NO_LIMITS, lambda _: None)
    return opened


UNITS = list(work_units(BUILDS, INSTANCES))


def test_every_build_meets_every_instance_once() -> None:
    assert Counter(unit.episode for unit in UNITS) == Counter(
        f"{build}/{instance.id}" for build in BUILDS for instance in INSTANCES
    )


def test_a_block_is_one_instance_and_the_builds_take_turns_at_being_first() -> None:
    blocks: dict[int, list[WorkUnit]] = {}
    for unit in UNITS:
        blocks.setdefault(unit.block, []).append(unit)
    assert all(len({unit.instance.id for unit in block}) == 1 for block in blocks.values())
    assert [block[0].build for block in blocks.values()] == ["bf16", "w4a16", "w4a8", "bf16"]


def test_the_order_of_instances_comes_from_the_seed_alone() -> None:
    tasks = list(TASKS.values())
    ids = [instance.id for instance in draw_instances(tasks, 2, 5)]
    assert ids == [instance.id for instance in draw_instances(tasks, 2, 5)]
    assert ids != [instance.id for instance in draw_instances(tasks, 2, 6)]
    assert sorted(ids) == sorted(f"{task.name}/{seed}" for task in tasks for seed in (5, 6))


@pytest.mark.parametrize("room", range(0, 12, 3))
def test_an_interrupted_run_goes_on_to_the_records_of_an_unbroken_one(room: int) -> None:
    whole, broken, rest = MemorySink(), MemorySink(room), MemorySink()
    run(whole, [])
    with pytest.raises(KeyboardInterrupt):
        run(broken, [])
    run(rest, broken.records)
    assert [r.untimed() for r in broken.records + rest.records] == [r.untimed() for r in whole.records]


def test_a_finished_run_opens_nothing() -> None:
    whole, again = MemorySink(), MemorySink()
    run(whole, [])
    assert run(again, whole.records) == []
    assert again.records == []


def test_a_fault_is_tried_again_and_every_attempt_is_kept() -> None:
    sink = MemorySink()
    sim, phone = open_sim()
    breaking = BreakingDevice(sim, lambda number: number == 0)
    texts = [call("open_app", name="Settings"), call("task_complete")]
    place = Place(ModelPolicy(ScriptedModel(texts), tool_schemas(), Sampling()), breaking, phone)
    run_matrix(UNITS[:1], [], lambda _: place, sink, NO_LIMITS, lambda _: None)
    assert [(r.attempt, r.outcome.label == "harness_error") for r in sink.records] == [(0, True), (1, False)]


def test_a_lasting_fault_is_given_up_and_taken_up_by_the_next_command() -> None:
    sim, _ = open_sim()
    sink = MemorySink()
    run(sink, [], BreakingDevice(sim, lambda _: True))
    assert Counter(record.episode for record in sink.records) == dict.fromkeys((u.episode for u in UNITS), ATTEMPTS)
    again = MemorySink()
    run(again, sink.records)
    assert {record.attempt for record in again.records} == {ATTEMPTS}


def test_a_run_ends_before_the_first_block_that_is_not_needed() -> None:
    asked: list[int] = []

    def decided(block: int) -> bool:
        asked.append(block)
        return block == 2

    assert list(until(decided, UNITS)) == [unit for unit in UNITS if unit.block < 2]
    assert asked == [0, 1, 2]


def test_blocks_that_are_played_together_end_together() -> None:
    asked: list[int] = []

    def decided(block: int) -> bool:
        asked.append(block)
        return block > 0

    assert list(until(decided, UNITS, every=3)) == [unit for unit in UNITS if unit.block < 3]
    assert asked == [0, 3]


def test_nothing_is_asked_of_a_block_before_the_one_before_it_was_taken() -> None:
    asked: list[int] = []

    def decided(block: int) -> bool:
        asked.append(block)
        return False

    units = until(decided, UNITS)
    taken = [next(units) for _ in range(len(BUILDS))]
    assert {unit.block for unit in taken} == {0}
    assert asked == [0]
