from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.actions import Swipe
from agent_eval.outcome import Loop
from agent_eval.tasks.loops import LONGEST_PERIOD, LoopStep, as_loop_steps, find_loop, should_stop
from tests.tasks.traces import CLOCK, SETTINGS, Diary


def steps(text: str) -> list[LoopStep]:
    """Write steps as letters: a dot is passed over, a bar is progress."""
    standings = {".": "passed_over", "|": "progress"}
    return [LoopStep(sign, standings.get(sign, "counts")) for sign in text]  # type: ignore[arg-type]


CASES = [
    # steps, flagged loop, stops
    ("", None, False),
    ("AAA", None, False),
    ("AAAA", Loop(1, 0, True), True),
    ("XAAAA", Loop(1, 1, True), True),
    ("AAAAX", Loop(1, 0, False), False),
    ("ABA", None, False),
    ("ABAB", Loop(2, 0, True), False),
    ("ABABA", Loop(2, 0, True), False),
    ("ABABAB", Loop(2, 0, True), True),
    ("XYABAB", Loop(2, 2, True), False),
    ("ABCABC", Loop(3, 0, True), False),
    ("ABCABCABC", Loop(3, 0, True), True),
    ("ABCDABCD", Loop(4, 0, True), False),
    ("ABCDABCDABCD", Loop(4, 0, True), True),
    ("ABCDEABCDE", None, False),
    ("ABCDEABCDEABCDE", None, False),
    ("ABABX", Loop(2, 0, False), False),
    ("ABABXCCCC", Loop(1, 5, True), True),
    ("AABAAB", Loop(3, 0, True), False),
    ("A.A.A.A", Loop(1, 0, True), True),
    ("AAAA.", Loop(1, 0, True), False),
    ("........", None, False),
    ("AA|AA", None, False),
    ("AB|AB|AB", None, False),
    ("AAAA|", Loop(1, 0, False), False),
    ("|ABAB", Loop(2, 1, True), False),
]


@pytest.mark.parametrize(("text", "loop", "stops"), CASES)
def test_a_cycle_is_flagged_and_stopped_at_its_thresholds(text: str, loop: Loop | None, stops: bool) -> None:
    assert find_loop(steps(text)) == loop
    assert should_stop(steps(text)) is stops


@given(
    prefix=st.lists(st.integers(0, 1000).map(str), unique=True, max_size=12),
    cycle=st.lists(st.sampled_from("ABCDEFGH"), unique=True, min_size=1, max_size=LONGEST_PERIOD),
    extra=st.integers(0, 5),
)
def test_a_planted_cycle_is_found_where_it_begins(prefix: list[str], cycle: list[str], extra: int) -> None:
    rounds = 4 if len(cycle) == 1 else 3
    planted = (cycle * (rounds + extra))[: len(cycle) * rounds + extra]
    sequence = [LoopStep(key) for key in prefix + planted]
    assert find_loop(sequence) == Loop(len(cycle), len(prefix), at_end=True)
    assert should_stop(sequence)
    left = [*sequence, LoopStep("out")]
    assert find_loop(left) == Loop(len(cycle), len(prefix), at_end=False)
    assert not should_stop(left)


@given(st.lists(st.sampled_from("AB.|"), max_size=14))
def test_the_detector_agrees_with_a_search_by_definition(signs: list[str]) -> None:
    """Slow twin: after the last progress, try every period on the letters that count."""
    text = "".join(signs)
    keys = text.rpartition("|")[2].replace(".", "")

    def ends_in_cycle(rounds: int) -> bool:
        needed = [(p, 4 if p == 1 else rounds) for p in range(1, 5)]
        return any(len(keys) >= p * n and keys.endswith(keys[-p:] * n) for p, n in needed if len(keys) >= p)

    found = find_loop(steps(text))
    assert (found is not None and found.at_end) == ends_in_cycle(2)
    assert should_stop(steps(text)) == (ends_in_cycle(3) and text[-1] not in ".|")


@given(st.lists(st.integers(), unique=True, max_size=40))
def test_keys_that_never_repeat_are_no_loop(keys: list[int]) -> None:
    sequence = [LoopStep(str(key)) for key in keys]
    assert find_loop(sequence) is None
    assert not should_stop(sequence)


@given(screens=st.integers(1, 12), back=st.integers(0, 12))
def test_scrolling_through_a_list_and_back_is_no_loop(screens: int, back: int) -> None:
    diary = Diary(SETTINGS)
    for place in range(screens):
        diary.swipes(to=f"page {place}")
    for place in range(min(back, screens)):
        diary.swipes(to=f"page {screens - place - 2}")
    assert find_loop(as_loop_steps(diary.steps)) is None


@given(st.integers(1, 9))
def test_adding_alarms_one_after_another_is_no_loop(count: int) -> None:
    diary = Diary(CLOCK)
    for number in range(count):
        diary.does("button Add alarm", to="picker")
        diary.does("field hour 7", to="picker with hour")
        diary.does("button OK", to="alarms", writes={f"clock/alarm/{number}/hour": 7})
    assert find_loop(as_loop_steps(diary.steps)) is None
    assert not should_stop(as_loop_steps(diary.steps))


def test_swiping_at_the_end_of_a_list_is_a_loop() -> None:
    diary = Diary(SETTINGS)
    for _ in range(4):
        diary.swipes()
    assert find_loop(as_loop_steps(diary.steps)) == Loop(1, 0, at_end=True)


def test_swipes_that_move_a_list_to_and_fro_are_passed_over_and_what_is_repeated_between_them_is_not() -> None:
    looking, tapping = Diary(SETTINGS), Diary(SETTINGS)
    for _ in range(5):
        for place in ("top", "foot"):
            looking.swipes(to=place)
            tapping.swipes(to=place).does("row Battery")
    assert find_loop(as_loop_steps(looking.steps)) is None
    assert find_loop(as_loop_steps(tapping.steps)) == Loop(2, 1, at_end=True)


def test_a_swipe_that_changes_the_phone_is_no_look_at_a_list() -> None:
    diary = Diary(SETTINGS, settings__volume_media=4)
    for _ in range(3):
        for direction, volume in (("right", 15), ("left", 0)):
            diary.does(
                f"slider {direction}",
                to=f"volume {volume}",
                writes={"settings/volume_media": volume},
                action=Swipe.model_validate({"direction": direction}),
                scrolled=True,
            )
    assert find_loop(as_loop_steps(diary.steps)) == Loop(2, 2, at_end=True)


def test_a_notification_that_goes_is_progress_and_one_that_comes_is_not() -> None:
    shade, page = Diary(SETTINGS), Diary(SETTINGS)
    for number in range(8):
        shade.state[f"notifications/{number}/title"] = "Hello"
    for number in range(8):
        shade.does("row Messages", writes={f"notifications/{number}/title": None})
        page.does("row Battery", writes={f"notifications/{number}/title": "Hello"})
    assert find_loop(as_loop_steps(shade.steps)) is None
    assert find_loop(as_loop_steps(page.steps)) == Loop(1, 0, at_end=True)


def test_the_outline_of_a_page_counts_where_it_is_known() -> None:
    diary = Diary(CLOCK)
    for second in range(5):
        diary.does("row Stopwatch", to=f"stopwatch at {second}")
    assert find_loop(as_loop_steps(diary.steps)) is None
    ticking = [replace(step, outline="stopwatch") for step in diary.steps]
    assert find_loop(as_loop_steps(ticking)) == Loop(1, 0, at_end=True)


def test_waiting_is_a_loop_only_when_nothing_is_pending() -> None:
    idle = Diary(SETTINGS)
    for _ in range(4):
        idle.waits()
    assert find_loop(as_loop_steps(idle.steps)) == Loop(1, 0, at_end=True)
    busy = Diary(SETTINGS, settings__wifi_on=False)
    busy.does("switch Wi-Fi", becomes={"pending/wifi_on": True})
    for _ in range(6):
        busy.waits()
    assert find_loop(as_loop_steps(busy.steps)) is None


def test_the_first_flip_of_a_switch_is_progress_and_flipping_on_is_a_loop_of_two() -> None:
    diary = Diary(SETTINGS, settings__wifi_on=False)
    for _ in range(7):
        diary.flips("settings/wifi_on")
    reduced = as_loop_steps(diary.steps)
    assert [step.standing for step in reduced] == ["progress", *["counts"] * 6]
    assert find_loop(reduced) == Loop(2, 1, at_end=True)
    assert should_stop(reduced)
    assert not should_stop(reduced[:6])


def test_an_action_is_the_same_whatever_number_its_target_has_on_the_screen() -> None:
    diary = Diary(SETTINGS)
    for _ in range(4):
        diary.does("row Wi-Fi")  # the diary taps a different index each time
    assert find_loop(as_loop_steps(diary.steps)) == Loop(1, 0, at_end=True)


def test_other_targets_on_the_same_screen_are_other_actions() -> None:
    diary = Diary(SETTINGS)
    for place in range(8):
        diary.does(f"row {place}")
    assert find_loop(as_loop_steps(diary.steps)) is None


def test_the_same_call_on_a_state_that_changed_is_no_repetition() -> None:
    diary = Diary(CLOCK)
    for number in range(6):
        diary.does("button Delete", writes={f"clock/alarm/{number}/enabled": True})
    assert find_loop(as_loop_steps(diary.steps)) is None
