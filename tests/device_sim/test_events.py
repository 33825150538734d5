from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.events import LONGEST, EventLog
from agent_eval.device_sim.tally import LONGEST_NAME
from tests.device_sim.conftest import Finger


@given(st.lists(st.text(max_size=3), max_size=30), st.integers(1, 10), st.integers(0, 35))
def test_a_reader_gets_what_is_new_in_order_and_nothing_twice(texts: list[str], limit: int, since: int) -> None:
    log = EventLog(lambda: 7, limit)
    for text in texts:
        log.add("kind", text)
    expected = [(number, text) for number, text in enumerate(texts, 1)][-limit:]
    assert [(event.number, event.text) for event in log.since(since)] == [pair for pair in expected if pair[0] > since]
    assert log.last == len(texts)


def test_long_texts_are_cut_and_gaps_are_counted_beyond_the_log() -> None:
    log = EventLog(lambda: 0, 2)
    for _ in range(5):
        log.add_gap("x" * 1000)
    assert len(log.since(0)) == 2
    assert len(log.since(0)[0].text) == LONGEST
    assert log.gaps == {"x" * LONGEST_NAME: 5}


def test_the_phone_notes_touches_keys_and_text_with_its_own_time(make: Callable[..., Finger]) -> None:
    finger = make()
    phone = finger.phone
    start = phone.clock.now_ms
    finger.tap(text="Settings")
    phone.swipe(360, 900, 360, 500, 0.5)
    phone.long_press(360, 640)
    phone.key("home")
    kinds = [event.kind for event in phone.events.since(0)]
    assert kinds == ["tap", "swipe", "long press", "key"]
    assert phone.events.since(0)[0].text.endswith("Settings")
    assert [event.at_ms - start for event in phone.events.since(0)] == [100, 600, 1100, 1100]


def test_a_password_is_noted_as_dots(make: Callable[..., Finger]) -> None:
    phone = make().phone
    phone.open_app("com.android.settings")
    phone.open_page("settings/wifi_password", {"ssid": "Harbour Cafe"})
    field = next(view for view in phone.active_window.root.visible() if view.password)
    assert field.bounds is not None
    phone.tap(*field.bounds.center)
    assert phone.type_text("secret")
    assert phone.events.since(0)[-1].text == "\u2022" * 6
    assert "secret" not in str(phone.events.since(0))


def test_the_log_is_no_part_of_the_phones_state(make: Callable[..., Finger]) -> None:
    one, other = make().phone, make().phone
    one.events.add("rpc", "deviceInfo")
    assert one.snapshot() == other.snapshot()
