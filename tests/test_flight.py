"""Episodes in lockstep: one thread at a time, lanes in their order, and nobody left behind whatever breaks."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.contracts import Engine
from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.flight import Flight
from agent_eval.types import Sampling
from tests.fakes import FakeParallelEngine

STOP = frozenset(range(0, 320, 3))


@pytest.fixture(autouse=True)
def nobody_left_behind() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def ask(engine: Engine, *prompt: int) -> tuple[int, ...]:
    return engine.generate(prompt, STOP, Sampling(max_tokens=6)).ids


def talk(flight: Flight, name: int, turns: int) -> Callable[[int], list[object]]:
    """Return an episode of some turns, each of which builds on the one before."""

    def play(lane: int) -> list[object]:
        engine = flight.lanes[lane]
        engine.begin((7, 7))
        prompt = [name]
        for _ in range(turns):
            prompt += ask(engine, *prompt)
        return [name, lane, prompt]

    return play


def played(engine: FakeParallelEngine, turns: Sequence[int]) -> list[list[object]]:
    flight, landed = Flight(engine), list[list[object]]()
    flight.play([talk(flight, name, count) for name, count in enumerate(turns)], landed.append)
    return landed


def test_every_episode_lands_and_the_same_ones_land_the_same_way() -> None:
    turns = (3, 1, 4, 1, 5, 9, 2, 6)
    first = played(FakeParallelEngine(3), turns)
    assert sorted(str(name) for name, _, _ in first) == [str(name) for name in range(8)]
    assert {lane for _, lane, _ in first} == {0, 1, 2}
    assert played(FakeParallelEngine(3), turns) == first


def test_what_comes_out_depends_on_what_is_in_flight_together() -> None:
    alone = {str(name): prompt for name, _, prompt in played(FakeParallelEngine(1), (3, 3, 3))}
    together = {str(name): prompt for name, _, prompt in played(FakeParallelEngine(3), (3, 3, 3))}
    assert all(alone[name] != together[name] for name in alone)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=9), st.integers(1, 4))
def test_no_lane_stands_empty_while_an_episode_is_to_come(turns: list[int], lanes: int) -> None:
    engine = FakeParallelEngine(lanes)
    flight = Flight(engine)
    asking = sum(count > 0 for count in turns)
    landed: list[tuple[int, int]] = []  # steps so far, and whether it had asked for anything
    flight.play(
        [talk(flight, name, count) for name, count in enumerate(turns)],
        lambda result: landed.append((len(engine.together), turns[int(str(result[0]))])),
    )
    assert len(landed) == len(turns)
    for step, together in enumerate(engine.together):
        gone = sum(count > 0 and steps <= step for steps, count in landed)
        assert together == min(lanes, asking - gone)


def test_only_one_thread_runs_at_a_time_and_the_lanes_take_turns_by_number() -> None:
    flight = Flight(FakeParallelEngine(3))
    running, most, order = 0, 0, list[int]()

    def play(lane: int) -> int:
        nonlocal running, most
        for turn in range(4):
            running += 1
            most = max(most, running)
            threading.Event().wait(0.001)  # whoever else may run now does
            order.append(lane)
            running -= 1
            flight.lanes[lane].generate((lane, turn), frozenset(), Sampling(max_tokens=2))
        return lane

    flight.play([play] * 3, lambda _: None)
    assert most == 1
    assert order == [0, 1, 2] * 4


def test_the_engine_is_used_by_one_thread_only() -> None:
    class Watched(FakeParallelEngine):
        def submit(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> int:
            assert threading.current_thread() is threading.main_thread()
            return super().submit(prompt, stop, sampling)

        def begin(self, prefix: Sequence[int] = ()) -> None:
            assert threading.current_thread() is threading.main_thread()
            super().begin(prefix)

    assert len(played(Watched(2), (2, 2, 2))) == 3


def test_the_engine_begins_with_the_flight_and_not_while_episodes_go_on() -> None:
    engine = FakeParallelEngine(2)
    assert len(played(engine, (2, 9, 2, 2))) == 4
    assert engine.prefixes == [(7, 7)]
    played(engine, (2,))
    assert engine.prefixes == [(7, 7)] * 2


def test_one_lane_begins_the_engine_with_each_episode() -> None:
    engine = FakeParallelEngine(1)
    played(engine, (2, 3, 1))
    assert engine.prefixes == [(7, 7)] * 3


def test_an_episode_that_names_no_beginning_gets_an_engine_that_has_begun() -> None:
    engine = FakeParallelEngine(1)
    flight = Flight(engine)
    for _ in range(2):
        flight.play([lambda lane: ask(flight.lanes[lane], 1)], lambda _: None)
    assert engine.prefixes == [(), ()]


def test_a_failed_step_is_a_fault_of_every_episode_that_waits_and_of_no_other() -> None:
    flight = Flight(FakeParallelEngine(2, lambda step: step == 0))
    faults: list[EngineFault] = []

    def play(lane: int) -> str:
        try:
            ask(flight.lanes[lane], lane)
        except EngineFault as fault:
            faults.append(fault)
            return "fault"
        return "done"

    landed: list[str] = []
    flight.play([play] * 4, landed.append)
    assert landed == ["fault", "fault", "done", "done"]
    assert [fault.message for fault in faults] == ["the batch is lost"] * 2
    assert faults[0] is not faults[1]


def test_a_prompt_that_does_not_fit_stops_its_own_episode_alone() -> None:
    engine = FakeParallelEngine(2)
    flight = Flight(engine)

    def play(lane: int) -> str:
        try:
            ask(flight.lanes[lane], *([1] * (engine.context if lane else 3)))
        except ContextOverflow:
            return "overflow"
        return "done"

    landed: list[str] = []
    flight.play([play] * 2, landed.append)
    assert sorted(landed) == ["done", "overflow"]


def test_what_is_raised_out_of_an_episode_is_raised_by_the_flight() -> None:
    flight = Flight(FakeParallelEngine(3))

    def play(lane: int) -> None:
        ask(flight.lanes[lane], lane)
        if lane == 1:
            raise ZeroDivisionError("lane 1")
        ask(flight.lanes[lane], lane)

    with pytest.raises(ZeroDivisionError, match="lane 1"):
        flight.play([play] * 3, lambda _: None)


def test_an_interrupt_while_a_result_is_handed_out_ends_every_episode() -> None:
    flight = Flight(FakeParallelEngine(3))
    landed: list[object] = []

    def interrupted(result: object) -> None:
        landed.append(result)
        if len(landed) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flight.play([talk(flight, name, 3) for name in range(7)], interrupted)
    assert len(landed) == 2


@pytest.mark.parametrize("turn", [0, 1])
def test_an_interrupt_while_an_episode_runs_ends_every_episode(turn: int) -> None:
    flight = Flight(FakeParallelEngine(3))
    main = threading.main_thread().ident
    assert main is not None
    ended: list[int] = []

    def play(lane: int) -> None:
        try:
            for now in range(3):
                if lane == 1 and now == turn:
                    signal.pthread_kill(main, signal.SIGINT)
                    threading.Event().wait(0.05)  # it goes on for a while, as one that talks to a phone
                try:
                    ask(flight.lanes[lane], lane, now)
                except Exception:  # noqa: BLE001  as an episode takes whatever breaks for a fault
                    ended.append(-1)
        finally:
            ended.append(lane)

    with pytest.raises(KeyboardInterrupt):
        flight.play([play] * 3, lambda _: None)
    assert sorted(ended) == ([0, 1] if turn == 0 else [0, 1, 2])


def test_a_flight_can_be_flown_again_after_an_interrupt_of_its_episodes() -> None:
    engine = FakeParallelEngine(2)
    flight = Flight(engine)

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flight.play([lambda _: 1], stop)
    landed: list[list[object]] = []
    flight.play([talk(flight, 0, 2)], landed.append)
    assert len(landed) == 1


def test_a_lane_outside_of_a_flight_is_a_fault() -> None:
    with pytest.raises(EngineFault, match="lane 1 was asked for a generation outside of a flight"):
        ask(Flight(FakeParallelEngine(2)).lanes[1], 1)


def test_nothing_to_play_is_played_at_once() -> None:
    engine = FakeParallelEngine(2)
    landed: list[object] = []
    Flight(engine).play([], landed.append)
    Flight(engine).play([lambda lane: lane] * 3, landed.append)
    assert (landed, engine.together) == ([0, 0, 0], [])
