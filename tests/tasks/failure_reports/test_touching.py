"""Public reports about fingers, keyboards and dialogs: each symptom again, and the right behaviour."""

from __future__ import annotations

from typing import Any

import pytest
from uiautomator2.exceptions import AdbBroadcastError

from agent_eval.actions import OpenApp, PressKey, Swipe, Tap, TypeText
from agent_eval.agent import UiautomatorDevice
from agent_eval.device_sim import Phone
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.shell.packages import ADB_KEYBOARD_ID
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.device_sim.ui import View, dp, touched
from agent_eval.device_sim.widgets import activity, preference, scroll_column
from agent_eval.tasks import TaskInstance, find_task
from agent_eval.types import Observation, PhoneSetup, Scalar, Skin
from tests.tasks import agents
from tests.tasks.looping import enter, open_app
from tests.tasks.scenes import (
    CALENDAR,
    CONTACTS,
    SETTINGS,
    Stage,
    adds,
    expert,
    facts,
    follows,
    labelled,
    new_records,
    play,
    scene,
    told,
)

FORM = (open_app("Contacts"), "Create new contact")
BACK = PressKey(key="back")


def person(name: str) -> TaskInstance:
    """Make a task of adding somebody to the contacts."""
    return scene(goal=adds("contacts", "name", name), allowed=new_records("contacts"), apps=(CONTACTS,))


# ----------------------------------------------------------------------------------------------------------------------
# the keyboard


def test_the_keyboard_pops_up_over_the_controls() -> None:
    """droidrun/mobilerun#164: what it covers is not among the elements, and comes back once it is closed."""
    task = scene(
        goal=adds("calendar/event", "title", "Gym"),
        allowed=new_records("calendar/event"),
        apps=(CALENDAR,),
        faults=("keyboard_overlay",),
    )
    seen: list[set[str]] = []

    def look(screen: Observation) -> PressKey:
        seen.append({element.label for element in screen.elements})
        seen.append({element.label for element in screen.behind})
        return BACK

    def look_again(screen: Observation) -> Tap:
        seen.append({element.label for element in screen.elements})
        return Tap(index=labelled(screen, "Save").index)

    record = play(task, follows(open_app("Calendar"), "New event", enter("Title", "Gym"), look, look_again))
    assert record.outcome.label == "success", told(record)
    open_, covered, closed = seen
    assert {"Ends", "Reminder", "Attendees"} <= covered
    assert open_ | covered == closed


def test_a_tap_on_a_control_under_the_keyboard_presses_a_key() -> None:
    """agent-device#2589, PR#2602: its number is refused, the answer says what lies over it, and no key is pressed."""
    stage = Stage()
    stage.sim.reset(PhoneSetup(seed=1, faults=("keyboard_overlay",)))
    stage.device.observe()
    for label in ("New event", "Title"):
        stage.device.perform(OpenApp(app="Calendar"))
        stage.device.perform(Tap(index=labelled(stage.device.observe(), label).index))
    number = 15
    assert stage.device.observe().elements[-1].index < number
    before = stage.device.observe()
    result = stage.device.perform(Tap(index=number))
    assert result.status == "rejected"
    assert "The keyboard lies over " in result.message
    assert all(element.label in result.message for element in before.behind)
    assert stage.device.observe() == before


TEXTS = ["Grüße 你好 🙂", "مرحبا", "Ünï\u2011çødé \\ \" ' $(reboot) %s", "  two  spaces "]


@pytest.mark.parametrize("text", TEXTS)
def test_only_english_can_be_typed(text: str) -> None:
    """droidrun/mobilerun-portal#6: any text arrives in the field, on the screen and in what is saved."""
    read: list[str] = []

    def save(screen: Observation) -> Tap:
        read.append(labelled(screen, "First name").value)
        return Tap(index=labelled(screen, "Save").index)

    record = play(person(text.strip()), follows(*FORM, enter("First name", text), save))
    assert read == [text]
    assert record.outcome.label == "success", told(record)


class WebField(SimDevice):
    """A client on a phone whose focused field accessibility does not see, as in a page of a browser."""

    def __call__(self, **selector: Any) -> Any:
        return super().__call__(**({"text": "nothing has this text"} if selector == {"focused": True} else selector))


class NoClipboard(WebField):
    """The same on a phone that keeps its clipboard to itself, so that only an input method is left."""

    @property
    def clipboard(self) -> str | None:
        """Read nothing."""
        return None

    @clipboard.setter
    def clipboard(self, text: str) -> None:
        """Write nothing."""


class Deaf(NoClipboard):
    """The same on a phone that loses every broadcast to its input method."""

    def _must_broadcast(self, action: str, extras: Any = None) -> None:
        raise AdbBroadcastError(f"broadcast {action} failed: {extras}")


@pytest.mark.parametrize("client", [WebField, NoClipboard])
def test_chinese_cannot_be_typed(client: type[WebField]) -> None:
    """openatx/uiautomator2#100: where a field cannot be set, text comes by clipboard or, in base64, by broadcast."""
    stage = Stage(client=client)
    record = stage.play(person("王小明 🙂"), follows(*FORM, enter("First name", "王小明 🙂"), "Save"))
    assert record.outcome.label == "success", told(record)
    broadcast = any("ADB_KEYBOARD_INPUT_TEXT" in event.text for event in stage.sim.events.since(0))
    assert broadcast is (client is NoClipboard)


@pytest.mark.parametrize("client", [NoClipboard, Deaf])
def test_the_input_method_is_another_one_after_the_run(client: type[WebField]) -> None:
    """autoglm.js#5: what was put in for one text is taken out again at once, also after a text that was lost."""
    stage = Stage(client=client)
    before = stage.client.current_ime()
    record = stage.play(person("Ada"), follows(*FORM, enter("First name", "Ada"), "Save"))
    assert ADB_KEYBOARD_ID in stage.sim.input_methods
    assert stage.client.current_ime() == before != ADB_KEYBOARD_ID
    assert record.outcome.label == ("success" if client is NoClipboard else "harness_error"), told(record)


def test_a_text_that_was_broadcast_is_lost() -> None:
    """senzhk/ADBKeyBoard#23, #39: a text that cannot arrive is the device's fault and not the agent's, and says so."""
    record = Stage(client=Deaf).play(person("Ada"), follows(*FORM, enter("First name", "Ada"), "Save"))
    assert record.outcome.label == "harness_error"
    assert record.outcome.fault.startswith("DeviceFault: the phone's input method did not take a text")
    assert len(record.steps) == 2


def test_no_keyboard_is_detected_and_nothing_can_be_typed() -> None:
    """X-PLUG/MobileAgent#27: a field that has the focus takes text, whether a keyboard is up or not."""
    keyboards: list[bool] = []

    def write(screen: Observation) -> TypeText:
        keyboards.append(screen.keyboard_open)
        return TypeText(text="Ada")

    record = play(person("Ada"), follows(*FORM, "First name", BACK, write, "Save"))
    assert keyboards == [False]
    assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# what lies over a page, and what lies in one


def test_a_bar_gets_the_tap_on_what_lies_behind_it() -> None:
    """openatx/uiautomator2#1093: what lies behind is no element until the bar is gone: a number means itself."""
    hidden = 0
    for seed in range(6):
        phone = Phone(PhoneSetup(seed=seed, faults=("occluded_element",)))
        device = UiautomatorDevice(SimDevice(phone))
        device.perform(OpenApp(app="Settings"))
        screen = device.observe()
        for element in screen.elements:
            view = touched(phone.active_window.root, *element.bounds.center, lambda view: view.clickable)
            assert element.role == "text" or (view is not None and labels_of(view) & {element.label})
        hidden += len(screen.behind)
        if screen.behind:
            result = device.perform(Tap(index=99))
            assert f"Something lies over {screen.behind[0].label}" in result.message
        device.perform(Tap(index=labelled(screen, "Dismiss").index))
        assert not device.observe().behind
    assert hidden > 3
    instance = find_task("WifiSet+occluded_element").draw(0)
    assert play(instance, expert(instance)).outcome.label == "success"


def labels_of(view: View) -> set[str]:
    """Return what a view and those in it say."""
    return {text for one in (view, *view.visible()) for text in (one.text, one.desc)}


WIFI_OFF: dict[str, Scalar] = {"settings/wifi_on": False}
GRANT = ("Allow", "While using the app")
RELABELLED = ("Zulassen", "Bei Nutzung der App zulassen", "允许", "仅在使用中允许", "仅在使用该应用时允许")


def wifi_on(locale: str = "en") -> TaskInstance:
    """Make a task of turning Wi-Fi on, on a phone whose apps ask for permissions first."""
    return scene(
        goal=lambda _start, now: now["settings/wifi_on"] is True,
        allowed=lambda _start, _now: ("settings/wifi_on", "settings/wifi_network"),
        state=WIFI_OFF,
        faults=("permission_dialog",),
        skin=Skin(locale=locale, wording="ascii"),
    )


WAY = ("Network & internet", "Internet", "Netzwerk & Internet", "网络和互联网", "互联网")


def test_nobody_answers_the_dialog_that_asks_for_a_permission() -> None:
    """openatx/uiautomator2#420, #452, PR#977: answering it is work and no damage; ignoring it leads nowhere."""
    agent = agents.switches_by_the_screen("Wi-Fi", *WAY, wanted="on")
    answering = play(wifi_on(), agents.answers(agent, *GRANT))
    assert answering.outcome.label == "success", told(answering)
    assert [fault.fault for fault in answering.faults] == ["permission_dialog"]
    ignoring = play(wifi_on(), agent)
    assert (ignoring.outcome.label, facts(ignoring).in_wrong_app) == ("looping", False)
    assert {step.package for step in ignoring.steps} == {"com.android.permissioncontroller"}


@pytest.mark.parametrize("locale", ["de", "zh"])
def test_an_agent_stands_before_a_permission_dialog_whose_buttons_have_other_words(locale: str) -> None:
    """appium/appium#12320: the dialog is read in its own words, and standing before it is no wrong app."""
    agent = agents.switches_by_the_screen({"de": "WLAN", "zh": "WLAN"}[locale], *WAY, wanted="on")
    by_english_words = play(wifi_on(locale), agents.answers(agent, *GRANT))
    assert (by_english_words.outcome.label, facts(by_english_words).in_wrong_app) == ("looping", False)
    by_its_own = play(wifi_on(locale), agents.answers(agent, *RELABELLED))
    assert facts(by_its_own).apps_visited[-1] == SETTINGS


def two_lists(ui: Ui) -> View:
    """Build a page that scrolls, with a list in it that scrolls as well."""
    inner = [preference(f"Inner {number}", on_tap=lambda: None) for number in range(12)]
    outer = [preference(f"Outer {number}", on_tap=lambda: None) for number in range(12)]
    rows = (scroll_column(ui, inner, name="inner", height=dp(220)), *outer)
    return activity(ui, scroll_column(ui, rows, name="outer", height=0, weight=1))


LISTS = App(
    "com.example.lists",
    "Lists",
    "lists/page",
    {"lists/page": Screen(two_lists, "com.example.lists.MainActivity")},
    home_row=True,
)


def test_a_swipe_scrolls_the_page_instead_of_the_list_in_it() -> None:
    """auto-mobile#225: a swipe that names an element moves what that element is in; one that names none, the page."""
    stage = Stage(LISTS)
    stage.sim.open_app(LISTS.package)
    start = stage.device.observe()
    stage.device.perform(Swipe(direction="up", index=labelled(start, "Inner 1").index))
    inside = stage.device.observe()
    assert firsts(inside) == ("Inner 1", "Outer 0")
    stage.device.perform(Swipe(direction="up"))
    assert firsts(stage.device.observe())[1] != "Outer 0"


def firsts(screen: Observation) -> tuple[str, str]:
    """Return the first row of each list that is on the screen."""
    labels = [element.label for element in screen.elements]
    return tuple(next((one for one in labels if one.startswith(kind)), "") for kind in ("Inner", "Outer"))  # type: ignore[return-value]
