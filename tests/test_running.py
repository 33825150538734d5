"""Runs that end when their pairs decide: where they end, and that a killed one ends there too."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent_eval.episode import NO_LIMITS
from agent_eval.matrix import Station, draw_instances, run_matrix, until, work_units
from agent_eval.records import EpisodeRecord
from agent_eval.running import Watched
from agent_eval.tasks import TASKS
from agent_eval.wiring import Place, open_agent, open_sim
from tests.fakes import MemorySink
from tests.reports.builders import manifest

BUILDS = ("bf16", "w4a8")
INSTANCES = draw_instances([TASKS["WifiSet"], TASKS["BluetoothSet"], TASKS["AlarmToggle"]], 5, 0)
MANIFEST = manifest(BUILDS, tasks=3, instances=5, decided_at_margin=0.1)
UNITS = list(work_units(BUILDS, INSTANCES))
LOSSES_THAT_DECIDE = 8


def station(build: str) -> Station:
    """One that passes everything plays the reference, one that declares at once the other build."""
    device, phone = open_sim()
    return Place(open_agent("oracle" if build == "bf16" else "null", phone, 0), device, phone)


def play(sink: MemorySink, recorded: Sequence[EpisodeRecord] = ()) -> list[str]:
    told: list[str] = []
    watched = Watched(sink, recorded)
    units = until(lambda block: watched.decided(MANIFEST, block, told.append), UNITS)
    run_matrix(units, recorded, station, watched, NO_LIMITS, lambda _: None)
    return told


def test_a_run_ends_at_the_block_that_decides_and_says_so() -> None:
    sink = MemorySink()
    assert play(sink) == [f"decided after {LOSSES_THAT_DECIDE} instances: w4a8 is worse"]
    assert len(sink.records) == LOSSES_THAT_DECIDE * len(BUILDS)


@pytest.mark.parametrize("room", [1, 6, 15])
def test_a_killed_run_that_goes_on_ends_where_it_would_have_ended(room: int) -> None:
    whole, broken, rest = MemorySink(), MemorySink(room), MemorySink()
    play(whole)
    with pytest.raises(KeyboardInterrupt):
        play(broken)
    play(rest, broken.records)
    assert [r.untimed() for r in broken.records + rest.records] == [r.untimed() for r in whole.records]


def test_a_decided_run_that_is_repeated_plays_nothing() -> None:
    whole, again = MemorySink(), MemorySink()
    play(whole)
    assert play(again, whole.records) == [f"decided after {LOSSES_THAT_DECIDE} instances: w4a8 is worse"]
    assert again.records == []


def test_each_record_says_what_memory_the_process_had() -> None:
    sink = MemorySink()
    play(sink)
    assert all(record.anonymous_bytes is None or record.anonymous_bytes > 2**20 for record in sink.records)
