"""Random gestures: the phone never raises, its dumps always parse, and equal gestures give equal phones."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.types import PhoneSetup

POINT = st.tuples(st.integers(-20, 740), st.integers(-20, 1300))
CLICKABLE = st.integers(0, 60)
GESTURE = st.one_of(
    st.tuples(st.just("tap"), POINT),
    st.tuples(st.just("element"), CLICKABLE),
    st.tuples(st.just("element"), CLICKABLE),
    st.tuples(st.just("element"), CLICKABLE),
    st.tuples(st.just("hold"), CLICKABLE),
    st.tuples(st.just("swipe"), POINT, POINT),
    st.tuples(
        st.just("key"), st.sampled_from(["back", "home", "recent", "enter", "delete", "tab", "volume_up", "power"])
    ),
    st.tuples(st.just("type"), st.text(max_size=6)),
    st.tuples(st.just("app"), st.sampled_from([package for package, app in APPS.items() if app.launchable])),
    st.tuples(st.just("stop"), st.sampled_from(sorted(APPS))),
    st.tuples(st.just("wait"), st.integers(0, 100_000)),
    st.tuples(st.just("schedule"), st.sampled_from(["settings/wifi_on", "settings/airplane_mode_on"]), st.booleans()),
)


def perform(phone: Phone, gesture: tuple[object, ...]) -> None:
    match gesture:
        case ("tap", (int(x), int(y))):
            phone.tap(x, y)
        case ("element" | "hold" as kind, int(number)):
            views = [view for window in phone.windows for view in window.root.visible() if view.clickable]
            if views:
                bounds = views[number % len(views)].bounds
                assert bounds is not None
                (phone.tap if kind == "element" else phone.long_press)(*bounds.center)
        case ("swipe", (int(x1), int(y1)), (int(x2), int(y2))):
            phone.swipe(x1, y1, x2, y2)
        case ("key", str(name)):
            phone.key(name)
        case ("type", str(text)):
            phone.type_text(text)
        case ("app", str(package)):
            phone.open_app(package)
        case ("stop", str(package)):
            phone.force_stop(package)
        case ("wait", int(milliseconds)):
            phone.advance(milliseconds / 1000)
        case ("schedule", str(path), bool(value)):
            phone.schedule(1, {path: value})
        case _:
            raise AssertionError(gesture)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 50), st.lists(GESTURE, max_size=25))
def test_no_gestures_break_the_phone(seed: int, gestures: list[tuple[object, ...]]) -> None:
    phone = Phone(PhoneSetup(seed=seed, keep_alarms=True))
    twin = Phone(PhoneSetup(seed=seed, keep_alarms=True))
    for gesture in gestures:
        perform(phone, gesture)
        root = ElementTree.fromstring(phone.hierarchy_xml().encode())  # noqa: S314
        for node in root.iter("node"):
            left, top, right, bottom = map(int, re.findall(r"\d+", str(node.get("bounds"))))
            assert 0 <= left < right <= 720
            assert 0 <= top < bottom <= 1280
        snapshot = phone.snapshot()
        assert list(snapshot.persisted) == sorted(snapshot.persisted)
    for gesture in gestures:  # the twin is not looked at in between
        perform(twin, gesture)
    assert twin.snapshot() == phone.snapshot()
    assert twin.snapshot().digest == phone.snapshot().digest
    assert twin.hierarchy_xml() == phone.hierarchy_xml()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 50), st.lists(GESTURE, max_size=15))
def test_home_always_leads_to_the_launcher_and_a_reset_to_a_fresh_phone(
    seed: int, gestures: list[tuple[object, ...]]
) -> None:
    phone = Phone(PhoneSetup(seed=seed))
    for gesture in gestures:
        perform(phone, gesture)
    phone.key("wakeup")
    phone.key("home")
    assert phone.front.screen == "launcher/home"
    assert not phone.keyboard_open
    phone.reset(PhoneSetup(seed=seed))
    assert phone.snapshot() == Phone(PhoneSetup(seed=seed)).snapshot()
