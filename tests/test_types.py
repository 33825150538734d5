from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.types import NO_NUMBER, Bounds, Element, Observation, Scalar, Snapshot

PATHS = st.lists(st.sampled_from(["a", "a/b", "a/b/c", "a0", "a-", "ab", "b/", "\u00fc/1", "z"]), max_size=6).map(
    "".join
)
STATES = st.dictionaries(PATHS, st.one_of(st.booleans(), st.integers(), st.text(max_size=3)), max_size=8)


def snapshot(persisted: dict[str, Scalar], transient: dict[str, Scalar]) -> Snapshot:
    return Snapshot(tuple(sorted(persisted.items())), tuple(sorted(transient.items())))


@given(STATES, STATES, PATHS)
def test_a_snapshot_is_read_as_a_dictionary_in_which_what_persists_wins(
    persisted: dict[str, Scalar], transient: dict[str, Scalar], other: str
) -> None:
    now, expected = snapshot(persisted, transient), {**transient, **persisted}
    for path in (*expected, other):
        assert now.get(path, "none") == expected.get(path, "none")
        assert type(now.get(path)) is type(expected.get(path))
    for path, value in expected.items():
        assert now[path] == value


@given(STATES, PATHS)
def test_what_lies_below_a_path_is_found_by_the_rest_of_its_path(persisted: dict[str, Scalar], prefix: str) -> None:
    expected = {path[len(prefix) + 1 :]: value for path, value in persisted.items() if path.startswith(prefix + "/")}
    assert snapshot(persisted, {}).under(prefix) == expected


def test_a_path_that_is_absent_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="settings/nothing"):
        _ = snapshot({"settings/wifi_on": True}, {})["settings/nothing"]


def element(role: str, label: str, *states: str, index: int = 0, value: str = "") -> Element:
    return Element(index, role, label, Bounds(0, 0, 10, 10), states, value)


def outline(*elements: Element, alerts: int = 0, behind: tuple[Element, ...] = ()) -> str:
    return Observation(elements, "Clock", alerts=alerts, behind=behind).outline


@pytest.mark.parametrize(("one", "other"), [("0:07", "0:08"), ("00:03.27", "1:00:00"), ("9:41 AM", "10:02 PM"),
                                            ("\u4e0a\u53489:41", "\u4e0b\u53481:00")])  # fmt: skip
def test_a_text_that_only_tells_a_time_is_the_same_at_all_times(one: str, other: str) -> None:
    assert outline(element("text", one)) == outline(element("text", other))
    assert outline(element("row", one)) != outline(element("row", other))


@pytest.mark.parametrize(("one", "other"), [("00h 00m 01s", "00h 00m 11s"), ("June 2025", "July 2025"), ("5", "55")])
def test_other_texts_make_another_outline(one: str, other: str) -> None:
    assert outline(element("text", one)) != outline(element("text", other))


def test_a_notification_over_a_page_leaves_its_outline_alone() -> None:
    title, row = element("text", "Alarm"), element("row", "7:30 AM")
    alert, covered = element("row", "Ada Novak"), element("text", "Alarm", index=NO_NUMBER)
    assert outline(title, row) == outline(alert, row, alerts=1, behind=(covered,))
    assert outline(title, row) != outline(alert, row, behind=(covered,))


@pytest.mark.parametrize("changed", [element("switch", "Wi-Fi", "on"), element("row", "Wi-Fi", "off"),
                                     element("switch", "Wi-Fi", "off", value="x")])  # fmt: skip
def test_role_state_and_value_make_another_outline(changed: Element) -> None:
    assert outline(changed) != outline(element("switch", "Wi-Fi", "off"))
