"""Every fault shows when it is on and never when it is off, the same each time, and leaves a phone that works."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.faults import FAULTS
from agent_eval.device_sim.faults import screens as fault_screens
from agent_eval.device_sim.faults.writing import WORDS, corrected
from agent_eval.device_sim.trees import walk
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.device_sim.ui import View
from agent_eval.errors import TaskFault
from agent_eval.tasks.loops import PENDING_PREFIX
from agent_eval.types import FiredFault, PhoneSetup, Scalar, Skin
from tests.device_sim.conftest import Finger
from tests.device_sim.test_properties import GESTURE, perform

SETTINGS, CLOCK, MESSAGES = "com.android.settings", "com.android.deskclock", "com.android.messaging"
INTERNET = "com.android.settings.Settings$WifiSettingsActivity"
WIFI = "settings/wifi_on"


ASCII = Skin(wording="ascii")


def finger(*faults: str, seed: int = 1, skin: Skin = ASCII, **state: Scalar) -> Finger:
    wanted: dict[str, Scalar] = {"settings/wifi_on": False, "settings/dark_theme": False, "settings/bluetooth_on": True}
    wanted |= {name.replace("__", "/"): value for name, value in state.items()}
    return Finger(Phone(PhoneSetup(seed=seed, state=wanted, skin=skin, faults=faults)))


def names(fired: tuple[FiredFault, ...]) -> set[str]:
    return {one.fault for one in fired}


def errand(phone: Phone) -> None:
    """Do something of everything: look, tap, flip a switch, type, open apps."""
    hand = Finger(phone)
    phone.hierarchy_xml()
    for package, activity in ((SETTINGS, INTERNET), (CLOCK, None), (MESSAGES, None), (SETTINGS, None)):
        phone.open_app(package, activity)
        phone.hierarchy_xml()
        for x, y in ((360, 500), (600, 300), (360, 900)):
            phone.tap(x, y)
            phone.hierarchy_xml()
            phone.uiautomator_dump()
        phone.open_app(SETTINGS, INTERNET)
        for node in hand.all(className="android.widget.Switch"):
            tappable = node if node.view.clickable else node.parent and node.parent.parent
            if tappable and tappable.view.bounds:
                phone.tap(*tappable.view.bounds.center)
        phone.hierarchy_xml()
        phone.open_app(MESSAGES)
        phone.open_page("messages/new", {})
        for field in hand.all(className="android.widget.EditText"):
            if field.view.bounds:
                phone.tap(*field.view.bounds.center)
                phone.type_text("monday")
                phone.clear_text()
                phone.type_text("some meeting")
                phone.hierarchy_xml()
        phone.key("home")


# ----------------------------------------------------------------------------------------------------------------------
# all of them


def test_the_catalogue_is_f1_to_f20_and_each_says_what_it_does() -> None:
    assert [fault.number for fault in FAULTS.values()] == [f"F{number}" for number in range(1, 21)]
    assert all(fault.summary and fault.name == name for name, fault in FAULTS.items())


def test_a_fault_is_named_by_its_name_or_its_number_and_counts_once() -> None:
    by_number = finger("F9", "f9", "tap_noop")
    by_name = finger("tap_noop")
    errand(by_number.phone)
    errand(by_name.phone)
    assert by_number.phone.fired() == by_name.phone.fired() != ()


def test_an_unknown_fault_is_refused_with_those_that_exist_and_leaves_the_phone_as_it_was() -> None:
    phone = finger().phone
    before = phone.snapshot()
    with pytest.raises(TaskFault, match="no fault 'F21'") as caught:
        phone.reset(PhoneSetup(seed=2, faults=("F21",)))
    assert all(name in caught.value.hint for name in FAULTS)
    assert phone.snapshot() == before


def test_without_faults_nothing_is_fired_and_what_a_client_reads_is_what_there_is() -> None:
    phone = finger().phone
    errand(phone)
    assert phone.fired() == ()
    assert phone.faults.reported(phone.front) == phone.front
    assert not any(app in phone.apps for app in fault_screens.APPS)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_fires_when_it_is_on_is_recorded_in_order_and_fires_the_same_again(name: str) -> None:
    fired = []
    for seed in (1, 2, 3):
        phone, twin = finger(name, seed=seed).phone, finger(name, seed=seed).phone
        errand(phone)
        errand(twin)
        assert phone.fired() == twin.fired()
        assert phone.snapshot() == twin.snapshot()
        fired.append(phone.fired())
    assert names(sum(fired, ())) == {name}
    for some in fired:
        assert [one.at_ms for one in some] == sorted(one.at_ms for one in some)
        assert all(one.at_ms >= 0 and one.what for one in some)


@pytest.mark.parametrize("name", FAULTS)
def test_a_reset_forgets_the_fault(name: str) -> None:
    phone = finger(name).phone
    errand(phone)
    phone.reset(PhoneSetup(seed=1))
    fresh = Phone(PhoneSetup(seed=1))
    assert phone.fired() == ()
    errand(phone)
    errand(fresh)
    assert phone.fired() == ()
    assert phone.snapshot() == fresh.snapshot()


def test_a_fault_keeps_its_own_stream_beside_others() -> None:
    alone, together = finger("tap_noop").phone, finger("tap_noop", "unknown_foreground", "duplicate_labels").phone
    for phone in (alone, together):
        phone.open_app(CLOCK)
        for _ in range(12):
            phone.tap(360, 300)
    assert alone.fired() == tuple(one for one in together.fired() if one.fault == "tap_noop") != ()


def shown(phone: Phone) -> list[View]:
    return [view for window in phone.windows for view in window.root.visible()]


def get_out(phone: Phone, kinds: tuple[str, ...]) -> bool:
    """Answer whatever lies in front, as a patient person does; tell whether anything did."""
    for view in shown(phone):
        if view.clickable and view.bounds and view.id.endswith(kinds):
            phone.tap(*view.bounds.center)
            return True
    return False


IN_THE_WAY = ("aerr_wait", "permission_deny_button", "permission_allow_button", "button1", "closeButton")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", FAULTS)
def test_under_every_fault_a_patient_finger_can_still_switch_bluetooth_off(name: str, seed: int) -> None:
    phone = finger(name, seed=seed, skin=Skin()).phone
    if phone.state["settings/bluetooth_on"] is False:  # already_set has chosen this switch
        return
    phone.open_app(SETTINGS, "com.android.settings.Settings$BluetoothSettingsActivity")
    for _ in range(20):
        phone.hierarchy_xml()
        if not phone.state["settings/bluetooth_on"]:
            return
        if f"{PENDING_PREFIX}settings/bluetooth_on" in phone.world or get_out(phone, IN_THE_WAY):
            continue
        switches = [view for view in shown(phone) if view.checkable and view.cls.endswith("Switch")]
        if switches and switches[0].bounds:
            phone.tap(*switches[0].bounds.center)
        else:
            phone.swipe(360, 900, 360, 400)
    pytest.fail(f"after {phone.fired()} the screen shows {Finger(phone).texts}")


ALL_GESTURES = st.one_of(GESTURE, st.just(("dump",)), st.just(("dump",)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 50), st.sets(st.sampled_from(sorted(FAULTS)), max_size=5), st.lists(ALL_GESTURES, max_size=20))
@example(seed=1, faults=set(FAULTS), gestures=[("dump",), ("element", 3), ("dump",), ("element", 5), ("type", "abcd")])
def test_no_gestures_under_any_faults_break_the_phone_and_they_replay(
    seed: int, faults: set[str], gestures: list[tuple[object, ...]]
) -> None:
    setup = PhoneSetup(seed=seed, state={WIFI: False}, keep_alarms=True, faults=tuple(sorted(faults)))
    phone, twin = Phone(setup), Phone(setup)
    for gesture in gestures:
        for one in (phone, twin):
            if gesture == ("dump",):
                root = ElementTree.fromstring(one.hierarchy_xml().encode())  # noqa: S314
                for node in root.iter("node"):
                    left, top, right, bottom = map(int, re.findall(r"\d+", str(node.get("bounds"))))
                    assert 0 <= left < right <= 720
                    assert 0 <= top < bottom <= 1280
            else:
                perform(one, gesture)
    assert phone.fired() == twin.fired()
    assert names(phone.fired()) <= faults
    assert phone.snapshot() == twin.snapshot()
    assert phone.hierarchy_xml() == twin.hierarchy_xml()


# ----------------------------------------------------------------------------------------------------------------------
# looking


def dumps_until(phone: Phone, wanted: Callable[[str], bool], most: int = 60) -> str:
    for _ in range(most):
        xml = phone.hierarchy_xml()
        if wanted(xml):
            return xml
    pytest.fail("no such dump")


def test_a_stale_tree_is_the_one_from_before_and_the_second_or_third_dump_is_fresh() -> None:
    lengths = set()
    for seed in range(30):
        phone = finger("stale_tree", seed=seed).phone
        before = phone.hierarchy_xml()
        phone.open_app(SETTINGS)
        truth = finger(seed=seed).phone
        truth.open_app(SETTINGS)
        read = [phone.hierarchy_xml() for _ in range(3)]
        fired = len(phone.fired())
        assert read == [before] * fired + [truth.hierarchy_xml()] * (3 - fired)
        lengths.add(fired)
    assert lengths == {0, 1, 2}


def test_an_empty_dump_has_the_form_that_uiautomator2_retries_and_never_comes_three_times_in_a_row() -> None:
    phone = finger("empty_dump").phone
    empty = ['<hierarchy rotation="0" />' in phone.hierarchy_xml() for _ in range(200)]
    assert 40 < sum(empty) < 160
    assert not any(all(empty[i : i + 3]) for i in range(198))
    assert len(phone.fired()) == sum(empty)


def test_the_dump_command_finds_no_window_when_there_is_none() -> None:
    phone = finger("empty_dump").phone
    outputs = {bool(phone.uiautomator_dump()) for _ in range(50)}
    assert outputs == {True, False}


def test_a_partial_dump_is_one_node_and_the_next_is_whole() -> None:
    phone = finger("partial_dump").phone
    phone.open_app(SETTINGS)
    counts = [phone.hierarchy_xml().count("<node ") for _ in range(100)]
    assert counts.count(1) == len(phone.fired()) > 10
    assert not any(one == two == 1 for one, two in itertools.pairwise(counts))
    only = dumps_until(phone, lambda xml: xml.count("<node ") == 1)
    assert f'package="{SETTINGS}"' in only


def test_nobody_knows_the_foreground_but_the_judge_does() -> None:
    phone = finger("unknown_foreground").phone
    phone.open_app(SETTINGS)
    xml = phone.hierarchy_xml()
    assert f'package="{SETTINGS}"' not in xml
    assert 'package="com.android.systemui"' in xml
    assert phone.faults.reported(phone.front) is None
    assert dict(phone.snapshot().transient)["ui/package"] == SETTINGS
    again = len(phone.fired())
    phone.hierarchy_xml()
    assert len(phone.fired()) == again, "one page is noted once"


# ----------------------------------------------------------------------------------------------------------------------
# touching


def test_a_list_moves_down_as_it_is_tapped_and_its_card_can_be_dismissed() -> None:
    for seed in range(10):
        hand = finger("list_shift", seed=seed)
        hand.phone.open_app(SETTINGS)
        top = hand.center(text="Network & internet")
        hand.phone.tap(*top)
        if hand.phone.fired():
            assert hand.phone.front.screen == "settings/home", "the tap met the card that had just come"
            assert hand.sees(text="Suggested for you")
            assert hand.center(text="Network & internet")[1] > top[1]
            hand.tap(description="Dismiss")
            assert hand.center(text="Network & internet") == top
            hand.tap(text="Network & internet")
            assert hand.phone.front.screen == "settings/network", "a page moves once"
            return
    pytest.fail("no list moved for ten seeds")


def test_a_lost_tap_changes_nothing_and_about_a_quarter_are_lost() -> None:
    hand = finger("tap_noop")
    hand.phone.open_app(SETTINGS, INTERNET)
    done = 0
    for _ in range(100):
        before = hand.phone.state[WIFI]
        hand.tap(text="Wi-Fi")
        done += hand.phone.state[WIFI] != before
    assert done == 100 - len(hand.phone.fired())
    assert 10 < len(hand.phone.fired()) < 45


def test_the_navigation_bar_and_the_keyboard_always_answer() -> None:
    hand = finger("tap_noop")
    for _ in range(20):
        hand.phone.open_app(SETTINGS)
        hand.tap(description="Home")
        assert hand.phone.front.screen == "launcher/home"
    assert hand.phone.fired() == ()


@pytest.mark.parametrize(("answer", "screen"), [("aerr_wait", "settings/home"), ("aerr_close", "launcher/home")])
def test_an_app_that_hangs_can_be_waited_for_or_closed(answer: str, screen: str) -> None:
    hand = finger("anr_dialog")
    hand.phone.open_app(SETTINGS)
    for _ in range(5):
        hand.phone.tap(10, 200)
    assert hand.sees(text="Settings isn't responding")
    assert hand.phone.front.package == "android"
    hand.phone.key("back")
    hand.phone.tap(20, 700)
    assert hand.sees(text="Settings isn't responding"), "neither is an answer"
    hand.tap(resourceId=f"android:id/{answer}")
    assert hand.phone.front.screen == screen
    assert (SETTINGS in hand.phone.recents) == (answer == "aerr_wait")


# ----------------------------------------------------------------------------------------------------------------------
# typing


def compose(hand: Finger) -> None:
    hand.phone.open_app(MESSAGES)
    hand.phone.open_page("messages/new", {})
    hand.tap(resourceId="com.android.messaging:id/compose_message_text")


def test_the_keyboard_covers_the_field_at_the_foot_of_a_page_which_keeps_its_place() -> None:
    plain, covered = finger(), finger("keyboard_overlay")
    for hand in (plain, covered):
        hand.phone.open_app(MESSAGES)
        hand.phone.open_page("messages/new", {})
    before = covered.center(resourceId="com.android.messaging:id/compose_message_text")
    compose(plain)
    compose(covered)
    field = {"resourceId": "com.android.messaging:id/compose_message_text"}
    keyboard = covered.one(resourceId="com.android.inputmethod.latin:id/keyboard_view").view.bounds
    assert keyboard is not None
    assert covered.center(**field) == before
    assert covered.center(**field)[1] > keyboard.top > plain.center(**field)[1]
    covered.phone.tap(*covered.center(resourceId="com.android.messaging:id/send_message_button"))
    assert covered.phone.front.screen == "messages/new", "the key above got the tap"
    covered.phone.key("back")
    assert not covered.phone.keyboard_open
    assert [one.what for one in covered.phone.fired()] == ["the keyboard covers messages/new"]


def test_a_mangled_text_is_appended_short_of_a_character_or_corrected_and_then_right() -> None:
    ways: set[str] = set()
    for seed in range(40):
        hand = finger("text_mangled", seed=seed)
        compose(hand)
        hand.phone.type_text("x")  # single characters arrive
        view = hand.phone.focused()
        assert view is not None
        hand.phone.entry.replace_text(view, "meat at noon")
        got = hand.phone.focused()
        assert got is not None
        if hand.phone.fired():
            ways.add(hand.phone.fired()[0].what.split(":")[0])
            assert got.text != "meat at noon"
            hand.phone.entry.replace_text(got, "")
            again = hand.phone.focused()
            assert again is not None
            assert again.text == ""
            hand.phone.entry.replace_text(again, "meat at noon")
            got = hand.phone.focused()
            assert got is not None
        assert got.text == "meat at noon"
    assert ways == {"a text was appended", "a text lost a character", "a text was autocorrected"}


@given(st.text(max_size=30))
def test_the_autocorrection_changes_one_word_into_one_of_its_own(text: str) -> None:
    before, after = text.split(" "), corrected(text).split(" ")
    if len(before) == len(after):
        changed = [new for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) <= 1
        assert all(word.lower() in WORDS for word in changed)


# ----------------------------------------------------------------------------------------------------------------------
# the phone itself


def test_the_switch_that_a_task_asks_for_is_already_where_it_is_wanted() -> None:
    phone = Phone(PhoneSetup(seed=1, state={WIFI: False, "settings/brightness": 9}, faults=("already_set",)))
    assert phone.state[WIFI] is True
    assert phone.state["settings/brightness"] == 9
    assert phone.fired() == (FiredFault(0, "already_set", "settings/wifi_on is on from the start"),)


def test_a_skin_is_drawn_from_the_seed_unless_the_setup_has_one() -> None:
    skins = {Phone(PhoneSetup(seed=seed, faults=("skin",))).skin for seed in range(12)}
    assert len(skins) > 6
    assert {skin.locale for skin in skins} == {"en", "de", "zh"}
    own = Skin(locale="de", density=400)
    assert Phone(PhoneSetup(seed=1, skin=own, faults=("skin",))).skin == own
    themes = {Phone(PhoneSetup(seed=seed, faults=("skin",))).state["settings/dark_theme"] for seed in range(12)}
    assert themes == {True, False}


def test_lookalikes_stand_beside_what_they_look_like_and_change_nothing() -> None:
    hand = finger("lookalike_app")
    icons = str(hand.phone.world["launcher/order"]).split(",")
    for original, app in fault_screens.LOOKALIKES.items():
        assert abs(icons.index(original) - icons.index(app.package)) == 1
    before = dict(hand.phone.state)
    hand.tap(text="Settlngs")
    assert hand.phone.front.package == "com.settlngs.tools"
    hand.tap(text="Bluetooth")
    hand.tap(text="Wi-Fi")
    assert hand.switch_beside("Wi-Fi") is True
    hand.phone.key("home")
    hand.tap(text="Clock+")
    hand.tap(text="Add alarm")
    assert hand.phone.toast == "Subscribe to Premium to use this"
    assert hand.phone.state == before


# ----------------------------------------------------------------------------------------------------------------------
# switches


def pending(phone: Phone) -> dict[str, Scalar]:
    return {path: value for path, value in phone.snapshot().transient if path.startswith(PENDING_PREFIX)}


def test_an_asynchronous_switch_takes_effect_after_two_dumps_that_say_so() -> None:
    hand = finger("async_toggle")
    hand.phone.open_app(SETTINGS, INTERNET)
    hand.tap(text="Wi-Fi")
    for _ in range(2):
        assert "Turning on\u2026" in hand.phone.hierarchy_xml()
        assert pending(hand.phone) == {"pending/settings/wifi_on": True}
        assert hand.phone.state[WIFI] is False
    assert "Turning on\u2026" not in hand.phone.hierarchy_xml()
    assert pending(hand.phone) == {}
    assert hand.phone.state[WIFI] is True


def test_an_asynchronous_switch_takes_effect_after_five_seconds_though_nobody_looks() -> None:
    hand = finger("async_toggle")
    hand.phone.open_app(SETTINGS, INTERNET)
    hand.tap(text="Wi-Fi")
    hand.phone.advance(4.8)
    assert hand.phone.state[WIFI] is False
    hand.phone.advance(0.2)
    assert hand.phone.state[WIFI] is True
    assert pending(hand.phone) == {}


def test_a_second_tap_undoes_the_first_and_a_third_begins_again() -> None:
    hand = finger("async_toggle")
    hand.phone.open_app(SETTINGS, INTERNET)
    hand.tap(text="Wi-Fi")
    hand.tap(text="Wi-Fi")
    hand.phone.advance(20)
    assert hand.phone.state[WIFI] is False
    assert pending(hand.phone) == {}
    hand.tap(text="Wi-Fi")
    hand.phone.advance(4)
    hand.tap(text="Wi-Fi")
    hand.tap(text="Wi-Fi")
    hand.phone.advance(4)
    assert hand.phone.state[WIFI] is False, "the timer of what was undone must not finish what came later"
    hand.phone.advance(1)
    assert hand.phone.state[WIFI] is True
    assert ["undid" in one.what for one in hand.phone.fired()] == [False, True, False, True, False]


def test_what_does_not_come_from_a_finger_is_not_held_back() -> None:
    phone = finger("async_toggle", "confirm_toggle").phone
    phone.put(WIFI, True)
    assert phone.state[WIFI] is True
    phone.schedule(1, {WIFI: False})
    phone.advance(1)
    assert phone.state[WIFI] is False
    assert phone.fired() == ()


@pytest.mark.parametrize(("answer", "after"), [("button1", True), ("button2", False)])
def test_a_switch_asks_back(answer: str, after: bool) -> None:
    hand = finger("confirm_toggle")
    hand.phone.open_app(SETTINGS, INTERNET)
    hand.tap(text="Wi-Fi")
    assert hand.sees(text="Turn on Wi-Fi?")
    assert hand.phone.state[WIFI] is False
    hand.tap(resourceId=f"android:id/{answer}")
    assert hand.phone.state[WIFI] is after
    assert hand.phone.front.screen == "settings/internet"


def test_a_switch_that_asks_back_may_still_come_late() -> None:
    hand = finger("async_toggle", "confirm_toggle")
    hand.phone.open_app(SETTINGS, INTERNET)
    hand.tap(text="Wi-Fi")
    hand.tap(resourceId="android:id/button1")
    assert hand.sees(text="Turning on\u2026")
    assert pending(hand.phone) == {"pending/settings/wifi_on": True}
    assert [one.fault for one in hand.phone.fired()] == ["confirm_toggle", "async_toggle"]


def test_faults_speak_the_language_of_the_phone() -> None:
    hand = finger("async_toggle", "confirm_toggle", skin=Skin(locale="de"))
    hand.phone.open_app(SETTINGS, "com.android.settings.Settings$BluetoothSettingsActivity")
    bounds = hand.one(className="android.widget.Switch").view.bounds
    assert bounds is not None
    hand.phone.tap(*bounds.center)
    assert hand.sees(textContains="ausschalten?")
    hand.tap(text="Ausschalten")
    assert hand.sees(textContains="Wird ausgeschaltet\u2026")


def test_every_text_of_a_fault_is_translated() -> None:
    apps = fault_screens.APPS.values()
    assert {frozenset(app.strings) for app in apps} == {frozenset({"de", "zh"})}
    for app in apps:
        assert set(app.strings["de"]) == set(app.strings["zh"])
    from agent_eval.device_sim.faults.intruding import PROMOTIONS

    known = set(fault_screens.SYSTEM.strings["de"])
    assert {text for promotion in PROMOTIONS for text in promotion} <= known


# ----------------------------------------------------------------------------------------------------------------------
# pages


def test_an_unlabelled_switch_takes_the_tap_and_its_words_do_not() -> None:
    hand = finger("unlabelled_switch")
    hand.phone.open_app(SETTINGS, INTERNET)
    hand.tap(text="Wi-Fi")
    assert hand.phone.state[WIFI] is False
    switch = hand.one(className="android.widget.Switch", clickable=True).view
    assert (switch.text, switch.desc) == ("", "")
    hand.tap(className="android.widget.Switch", clickable=True)
    assert hand.phone.state[WIFI] is True


def test_of_two_rows_with_one_name_the_work_profiles_refuses() -> None:
    hand = finger("duplicate_labels", seed=4)
    hand.phone.open_app(SETTINGS)
    for _ in range(8):
        if hand.sees(text="Work profile"):
            break
        hand.phone.swipe(360, 900, 360, 500)
    note = hand.one(text="Work profile")
    assert note.parent is not None
    title = note.parent.children[0].view.text
    hand.phone.swipe(360, 600, 360, 500)
    assert len(hand.all(text=title)) == 2
    hand.tap(text="Work profile")
    assert hand.phone.front.screen == "settings/home"
    assert hand.phone.toast == "Managed by your organization"
    assert f"{title!r} appears twice on settings/home" in [one.what for one in hand.phone.fired()]


def test_rows_begin_below_the_fold_and_can_be_scrolled_to() -> None:
    hand = finger("below_fold")
    hand.phone.open_app(SETTINGS)
    assert not hand.sees(text="Apps")
    hand.path("Display", "Dark theme")
    assert hand.phone.state["settings/dark_theme"] is True


def test_a_banner_covers_part_of_a_page_until_it_is_dismissed() -> None:
    hand = finger("occluded_element", skin=Skin())
    hand.phone.open_app(CLOCK)
    banner = hand.one(resourceId="android:id/floating_banner").view.bounds
    assert banner is not None
    x, y = banner.center
    covered = [
        view for view in walk(hand.phone.active_window.root)
        if view.clickable and view.bounds and view.bounds.left <= x < view.bounds.right
        and view.bounds.top <= y < view.bounds.bottom
    ]  # fmt: skip
    before = hand.phone.snapshot().persisted
    hand.phone.tap(x, y)
    assert hand.phone.toast == "The store is not available"
    assert hand.phone.snapshot().persisted == before
    hand.tap(description="Dismiss")
    assert not hand.sees(resourceId="android:id/floating_banner")
    assert covered, "it lies on something that could be tapped"


def test_the_first_launch_of_each_app_asks_for_a_permission_once() -> None:
    hand = finger("permission_dialog")
    for package in (SETTINGS, CLOCK):
        hand.phone.open_app(package)
        assert hand.phone.front.package == "com.android.permissioncontroller"
        assert get_out(hand.phone, ("permission_deny_button",))
        assert hand.phone.front.package == package
        hand.phone.key("home")
        hand.phone.open_app(package)
        assert hand.phone.front.package == package
    assert len(hand.phone.fired()) == 2


def test_a_heads_up_notification_covers_the_top_of_the_page_for_five_seconds() -> None:
    hand = finger("heads_up")
    hand.phone.open_app(SETTINGS)
    for _ in range(5):
        hand.phone.hierarchy_xml()
        if hand.phone.fired():
            break
    assert [window.kind for window in hand.phone.windows][-1] == "alert"
    hand.phone.advance(6)
    assert [window.kind for window in hand.phone.windows][-1] != "alert"
    assert hand.phone.front.screen == "settings/home"


def test_faults_leave_the_launcher_usable() -> None:
    hand = finger(*(name for name in FAULTS if name not in ("skin", "tap_noop")))
    assert {app.label for app in APPS.values() if app.home_row} <= set(hand.texts)


def test_the_client_gets_over_empty_dumps_on_the_phones_own_clock() -> None:
    phone = finger("empty_dump").phone
    device = SimDevice(phone)
    before = phone.clock.now_ms
    assert all(device.dump_hierarchy().count("<node ") > 5 for _ in range(30))
    assert phone.clock.now_ms - before == 1000 * len(phone.fired()) > 0


def test_the_server_and_the_client_know_no_app_in_front() -> None:
    phone = finger("unknown_foreground").phone
    phone.open_app(SETTINGS)
    assert SimDevice(phone).info["currentPackageName"] is None


def test_the_documentation_lists_the_catalogue_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "faults.md").read_text("utf-8")
    rows = [f"| {fault.number} | `{name}` | {fault.summary} |" for name, fault in FAULTS.items()]
    assert [line for line in page.splitlines() if line.startswith("| F")] == rows


@pytest.mark.parametrize("name", ["faults", "skins"])
def test_the_examples_of_the_documentation_run(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts" / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), {})  # noqa: S102 - the page is ours
