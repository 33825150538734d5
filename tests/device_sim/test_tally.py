from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.events import EventLog
from agent_eval.device_sim.tally import LONGEST_NAME, MOST_NAMES, OTHERS, Tally


@given(st.lists(st.sampled_from(["ls", "frob", "x" * LONGEST_NAME, "x" * (LONGEST_NAME + 1)])))
def test_names_are_counted_by_what_is_kept_of_them(names: list[str]) -> None:
    tally = Tally()
    for name in names:
        tally.note(name)
    assert tally == Counter(name[:LONGEST_NAME] for name in names)


def test_whatever_names_come_only_so_many_are_kept_and_none_is_lost() -> None:
    tally = Tally()
    for number in range(3 * MOST_NAMES):
        tally.note(f"name {number}")
    tally.note("name 0")
    assert len(tally) == MOST_NAMES + 1
    assert tally["name 0"] == 2
    assert tally[OTHERS] == 2 * MOST_NAMES


def test_a_client_that_keeps_asking_for_other_things_does_not_fill_the_log() -> None:
    log = EventLog(lambda: 0)
    for number in range(2 * MOST_NAMES):
        log.add_gap(f"rpc {number} {'x' * 5000}")
    assert len(log.gaps) == MOST_NAMES + 1
    assert max(map(len, log.gaps)) == LONGEST_NAME
