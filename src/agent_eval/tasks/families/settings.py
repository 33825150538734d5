"""What is asked of the Settings app. Knows where each answer is kept in the phone's state, and how to word the goal.

A switch that a task sets starts the other way round; its ``Already`` twin starts as wanted, with the same sentences, so
an agent that always taps fails the twin.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from agent_eval.tasks import answers
from agent_eval.tasks.families import settings_expert
from agent_eval.tasks.families.repair import undo
from agent_eval.tasks.families.settings_expert import SETTINGS, SYSTEM_UI, Spot, Toggle
from agent_eval.tasks.judge import Criteria, Goal, only
from agent_eval.tasks.moves import Move, complete, tap
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

BRIGHTEST = 255
BRIGHTNESS_TOLERANCE = 5
"""Steps of the 0 to 255 brightness that still count as an end: two percent, a finger's width on the slider."""

_RADIOS = ("settings/wifi_on", "settings/bluetooth_on")

_FRAMES = ("{}.", "Please {}.", "On this phone, {}.", "I want you to {}.", "Now {}.")
_ON = (
    "turn on {x}",
    "turn {x} on",
    "switch on {x}",
    "switch {x} on",
    "enable {x}",
    "make sure {x} is on",
    "set {x} to on",
)
_OFF = (
    "turn off {x}",
    "turn {x} off",
    "switch off {x}",
    "switch {x} off",
    "disable {x}",
    "make sure {x} is off",
    "set {x} to off",
)


def toggle_sentences(thing: str, wanted: bool) -> tuple[str, ...]:
    """Return every sentence that asks for a switch to be on or off."""
    return wordings(_ON if wanted else _OFF, _FRAMES, x=thing)


def _world(rng: Random) -> dict[str, Scalar]:
    """Draw the switches that no task names, so that none of them tells anything about the goal."""
    return {
        "settings/wifi_on": rng.random() < 0.5,
        "settings/bluetooth_on": rng.random() < 0.5,
        "settings/airplane_mode_on": False,
        "settings/dark_theme": rng.random() < 0.5,
        "settings/adaptive_brightness": rng.random() < 0.5,
        "settings/battery_saver": rng.random() < 0.3,
    }


def _toggle_plan(toggle: Toggle, wanted: bool) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view)
        if repair is not None:
            return repair
        found = settings_expert.set_toggle(view, toggle, wanted)
        return found if isinstance(found, Move) else complete(found, wanted=wanted)

    return plan


def _toggle_task(
    toggle: Toggle, thing: str, steps: int, *, already: bool, also_written: tuple[str, ...] = ()
) -> Callable[[Random], Draft]:
    """Return how to compose a task that wants one switch on or off.

    Args:
        toggle: The switch.
        thing: What the sentences call it.
        steps: Actions to the switch and onto it.
        already: The switch starts as wanted.
        also_written: Paths that the phone itself changes along with it.
    """

    def compose(rng: Random) -> Draft:
        wanted = rng.random() < 0.5
        state = _world(rng)
        state[toggle.path] = wanted if already else not wanted
        if state["settings/airplane_mode_on"]:
            for radio in _RADIOS:
                del state[radio]  # the phone switches them off, and remembers what they were
        return Draft(
            sentences={"en": toggle_sentences(thing, wanted)},
            parameters={"wanted": "on" if wanted else "off"},
            state=state,
            criteria=Criteria(
                goal=lambda _start, now: now.get(toggle.path) is wanted,
                allowed=only(toggle.path, *also_written),
                apps=(SETTINGS,),
            ),
            plan=_toggle_plan(toggle, wanted),
            oracle_steps=steps - 1 if already else steps,
        )

    return compose


_BRIGHTNESS_CLAUSES = (
    "set {x} to {level}",
    "bring {x} to {level}",
    "change {x} to {level}",
    "put {x} at {level}",
    "move {x} to {level}",
    "adjust {x} to {level}",
)
_BRIGHTNESS_WORDS = ("the brightness", "the screen brightness")
_LEVELS = {
    "min": ("the minimum", "its lowest level", "the lowest value"),
    "max": ("the maximum", "its highest level", "the highest value"),
}


def brightness_sentences(wanted: str) -> tuple[str, ...]:
    """Return every sentence that asks for one end of the brightness."""
    return tuple(
        sentence
        for word in _BRIGHTNESS_WORDS
        for level in _LEVELS[wanted]
        for sentence in wordings(_BRIGHTNESS_CLAUSES, ("{}.", "Please {}.", "On this phone, {}."), x=word, level=level)
    )


def _brightness_holds(wanted: str) -> Goal:
    def holds(_start: Snapshot, now: Snapshot) -> bool:
        value = now.get("settings/brightness")
        if not isinstance(value, int):
            return False
        return value <= BRIGHTNESS_TOLERANCE if wanted == "min" else value >= BRIGHTEST - BRIGHTNESS_TOLERANCE

    return holds


def _brightness_plan(wanted: str) -> Plan:
    holds = _brightness_holds(wanted)

    def plan(view: View) -> Move:
        slider = settings_expert.slider(view)
        if view.package == SYSTEM_UI and slider is not None and not holds(view.start, view.now):
            return settings_expert.slide(slider, to_the_right=wanted == "max")
        repair = undo(view)
        if repair is not None:
            return repair
        if view.package == SYSTEM_UI and slider is not None:
            return complete(slider)
        found = settings_expert.locate(view, settings_expert.BRIGHTNESS)
        if isinstance(found, Move):
            return found
        return complete(found) if holds(view.start, view.now) else tap(found)

    return plan


def _compose_brightness(rng: Random) -> Draft:
    wanted = rng.choice(("min", "max"))
    return Draft(
        sentences={"en": brightness_sentences(wanted)},
        parameters={"wanted": wanted},
        state=_world(rng) | {"settings/brightness": rng.randint(60, 195)},
        criteria=Criteria(
            goal=_brightness_holds(wanted), allowed=only("settings/brightness"), apps=(SETTINGS, SYSTEM_UI)
        ),
        plan=_brightness_plan(wanted),
        oracle_steps=5,
    )


_INFO_SPOTS = {
    "android_version": Spot("settings/about", "Android version"),
    "battery_level": Spot(settings_expert.HOME, "Battery"),
}
_INFO_NAMES = {
    "android_version": ("the Android version", "the version of Android"),
    "battery_level": ("the battery level", "the battery percentage"),
}
_INFO_CLAUSES = (
    "tell me {x} of this phone",
    "look up {x} in the settings",
    "find out {x} of this phone",
    "check {x} and tell me",
    "report {x}",
    "give me {x}",
)
_INFO_QUESTIONS = {
    "android_version": (
        "Which Android version does this phone run?",
        "Which Android version is installed here?",
        "What version of Android is this?",
        "What is the Android version of this phone?",
    ),
    "battery_level": (
        "What is the battery level?",
        "How full is the battery?",
        "How much battery is left?",
        "What percentage is the battery at?",
    ),
}
_ANDROID_VERSIONS = ("11", "12", "13", "14", "15", "16")


def info_sentences(wanted: str) -> tuple[str, ...]:
    """Return every sentence that asks for one figure."""
    asked = (
        sentence for name in _INFO_NAMES[wanted] for sentence in wordings(_INFO_CLAUSES, ("{}.", "Please {}."), x=name)
    )
    return (*asked, *_INFO_QUESTIONS[wanted])


def _info_plan(wanted: str) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view)
        if repair is not None:
            return repair
        found = settings_expert.locate(view, _INFO_SPOTS[wanted])
        return found if isinstance(found, Move) else complete(found, answer=found.value)

    return plan


def _compose_info(rng: Random) -> Draft:
    wanted = rng.choice(("android_version", "battery_level"))
    version = rng.choice(_ANDROID_VERSIONS)
    level = rng.randint(5, 100)
    right = version if wanted == "android_version" else str(level)
    accepts = answers.number(right)
    return Draft(
        sentences={"en": info_sentences(wanted)},
        parameters={"asked": wanted, "answer": right},
        state=_world(rng) | {"about/android_version": version, "battery/level": level},
        criteria=Criteria(goal=None, allowed=only(), apps=(SETTINGS,), answer=lambda _start, answer: accepts(answer)),
        plan=_info_plan(wanted),
        oracle_steps=5 if wanted == "android_version" else 1,
        split_keys=(f"battery {level}",) if wanted == "battery_level" else (),
    )


WIFI_SET = Template(
    name="WifiSet",
    summary="turn Wi-Fi on or off",
    tier=1,
    compose=_toggle_task(settings_expert.WIFI, "Wi-Fi", 4, already=False),
)
WIFI_SET_ALREADY = Template(
    name="WifiSetAlready",
    summary="turn Wi-Fi on or off where it is so already",
    tier=1,
    traits=("already_true",),
    compose=_toggle_task(settings_expert.WIFI, "Wi-Fi", 4, already=True),
)
BLUETOOTH_SET = Template(
    name="BluetoothSet",
    summary="turn Bluetooth on or off",
    tier=1,
    compose=_toggle_task(settings_expert.BLUETOOTH, "Bluetooth", 4, already=False),
)
BLUETOOTH_SET_ALREADY = Template(
    name="BluetoothSetAlready",
    summary="turn Bluetooth on or off where it is so already",
    tier=1,
    traits=("already_true",),
    compose=_toggle_task(settings_expert.BLUETOOTH, "Bluetooth", 4, already=True),
)
AIRPLANE_SET = Template(
    name="AirplaneSet",
    summary="turn airplane mode on or off; the radios may follow",
    tier=1,
    compose=_toggle_task(settings_expert.AIRPLANE, "airplane mode", 3, already=False, also_written=_RADIOS),
)
DARK_THEME_SET = Template(
    name="DarkThemeSet",
    summary="turn the dark theme on or off",
    tier=1,
    compose=_toggle_task(settings_expert.DARK_THEME, "the dark theme", 4, already=False),
)
BRIGHTNESS_SET = Template(
    name="BrightnessSet",
    summary="set the brightness to its minimum or maximum",
    tier=2,
    compose=_compose_brightness,
)
DEVICE_INFO = Template(
    name="DeviceInfo",
    summary="answer which Android version runs or how full the battery is",
    tier=2,
    traits=("answer",),
    compose=_compose_info,
)

TEMPLATES = (
    WIFI_SET,
    WIFI_SET_ALREADY,
    BLUETOOTH_SET,
    BLUETOOTH_SET_ALREADY,
    AIRPLANE_SET,
    DARK_THEME_SET,
    BRIGHTNESS_SET,
    DEVICE_INFO,
)
