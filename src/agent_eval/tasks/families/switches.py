"""What is asked of switches: turn one on or off, wherever it stands. Knows how three languages ask for that.

Where a task has a twin that starts as wanted, it starts the other way round itself; where it has none, the start is
drawn apart from what is wanted. So an agent that always taps fails, and so does one that never does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from agent_eval.tasks.families import settings_expert
from agent_eval.tasks.families.launcher_expert import SYSTEM_UI
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.families.settings_expert import SETTINGS, Toggle
from agent_eval.tasks.judge import Criteria, Goal, every, only
from agent_eval.tasks.moves import Move, complete
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar

RADIOS = ("settings/wifi_on", "settings/bluetooth_on")
"""What airplane mode switches off, and on again."""

Start = Literal["opposite", "wanted", "either"]


# ----------------------------------------------------------------------------------------------------------------------
# sentences


@dataclass(frozen=True)
class Words:
    """What a switch is called within a sentence."""

    en: str
    de: str
    """As the object of a German sentence, with its article."""
    zh: str
    de_subject: str = ""
    """As the subject, where that differs."""


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

_DE_FRAMES = ("{}.", "Bitte {}.", "{}, bitte.", "Auf diesem Telefon: {}.", "Jetzt bitte: {}.")
_DE_ON = (
    "schalte {x} ein",
    "schalte {x} an",
    "mach {x} an",
    "aktiviere {x}",
    "sorge dafür, dass {s} eingeschaltet ist",
)
_DE_OFF = (
    "schalte {x} aus",
    "schalte {x} ab",
    "mach {x} aus",
    "deaktiviere {x}",
    "sorge dafür, dass {s} ausgeschaltet ist",
)
_DE_REQUESTS = ("Kannst du {}?", "Könntest du bitte {}?", "Auf diesem Handy bitte {}.")
_DE_TO = {True: ("{x} einschalten", "{x} aktivieren"), False: ("{x} ausschalten", "{x} deaktivieren")}

_ZH_FRAMES = ("{}。", "请{}。", "帮我{}。", "请在这部手机上{}。", "麻烦{}。")
_ZH_ON = ("打开{x}", "开启{x}", "把{x}打开", "将{x}开启", "启用{x}", "确保{x}处于开启状态")
_ZH_OFF = ("关闭{x}", "关掉{x}", "把{x}关掉", "将{x}关闭", "停用{x}", "确保{x}处于关闭状态")


def toggle_sentences(thing: str, wanted: bool) -> tuple[str, ...]:
    """Return every English sentence that asks for a switch to be on or off."""
    return wordings(_ON if wanted else _OFF, _FRAMES, x=thing)


def asking_for(words: Words, wanted: bool) -> dict[Language, Sequence[str]]:
    """Return every sentence that asks for a switch to be on or off, by language."""
    subject = words.de_subject or words.de
    return {
        "en": toggle_sentences(words.en, wanted),
        "de": (
            *wordings(_DE_ON if wanted else _DE_OFF, _DE_FRAMES, x=words.de, s=subject),
            *wordings(_DE_TO[wanted], _DE_REQUESTS, x=words.de),
        ),
        "zh": wordings(_ZH_ON if wanted else _ZH_OFF, _ZH_FRAMES, x=words.zh),
    }


# ----------------------------------------------------------------------------------------------------------------------
# one switch


def draw_world(rng: Random) -> dict[str, Scalar]:
    """Draw the switches that no task names, so that none of them tells anything about the goal."""
    return {
        "settings/wifi_on": rng.random() < 0.5,
        "settings/bluetooth_on": rng.random() < 0.5,
        "settings/airplane_mode_on": False,
        "settings/dark_theme": rng.random() < 0.5,
        "settings/adaptive_brightness": rng.random() < 0.5,
        "settings/battery_saver": rng.random() < 0.3,
        "settings/do_not_disturb": rng.random() < 0.3,
    }


def on_off(value: bool) -> str:
    """Write a state as a parameter."""
    return "on" if value else "off"


def is_set(toggle: Toggle, wanted: bool) -> Goal:
    """Return the goal that a switch is as wanted."""
    return lambda _start, now: now.get(toggle.path) is wanted


def _toggle_plan(toggle: Toggle, wanted: bool, *, by_tile: bool) -> Plan:
    @mending
    def plan(view: View) -> Move:
        found = settings_expert.set_toggle(view, toggle, wanted, by_tile=by_tile)
        return found if isinstance(found, Move) else complete(found, wanted=wanted)

    return plan


def toggle_task(
    toggle: Toggle, words: Words, steps: int, *, start: Start, also_written: tuple[str, ...] = (), by_tile: bool = False
) -> Callable[[Random], Draft]:
    """Return how to compose a task that wants one switch on or off.

    Args:
        toggle: The switch.
        words: What the sentences call it.
        steps: Actions to the switch and onto it.
        start: How the switch starts.
        also_written: Paths that the phone itself changes along with it.
        by_tile: The shortest way goes through quick settings.
    """

    def compose(rng: Random) -> Draft:
        wanted = rng.random() < 0.5
        first = {"opposite": not wanted, "wanted": wanted, "either": rng.random() < 0.5}[start]
        state = draw_world(rng) | {toggle.path: first}
        if state["settings/airplane_mode_on"]:
            for radio in RADIOS:
                del state[radio]  # the phone switches them off, and remembers what they were
        return Draft(
            sentences=asking_for(words, wanted),
            parameters={"wanted": on_off(wanted), "start": on_off(first)},
            state=state,
            criteria=Criteria(
                goal=is_set(toggle, wanted),
                allowed=only(toggle.path, *also_written),
                apps=(SETTINGS, SYSTEM_UI) if toggle.spot else (SYSTEM_UI,),
            ),
            plan=_toggle_plan(toggle, wanted, by_tile=by_tile),
            oracle_steps=steps - 1 if first is wanted else steps,
        )

    return compose


_WIFI = Words("Wi-Fi", "das WLAN", "WLAN")
_BLUETOOTH = Words("Bluetooth", "Bluetooth", "蓝牙")
_AIRPLANE = Words("airplane mode", "den Flugmodus", "飞行模式", "der Flugmodus")
_DO_NOT_DISTURB = Words(
    "Do Not Disturb", "den Modus „Bitte nicht stören“", "勿扰模式", "der Modus „Bitte nicht stören“"
)
_DARK_THEME = Words("the dark theme", "das dunkle Design", "深色主题")
_TORCH = Words("the flashlight", "die Taschenlampe", "手电筒")

WIFI_SET = Template(
    name="WifiSet",
    summary="turn Wi-Fi on or off",
    tier=1,
    compose=toggle_task(settings_expert.WIFI, _WIFI, 4, start="opposite"),
    version=2,
    android_world=("SystemWifiTurnOff", "SystemWifiTurnOn"),
)
WIFI_SET_ALREADY = Template(
    name="WifiSetAlready",
    summary="turn Wi-Fi on or off where it is so already",
    tier=1,
    traits=("already_true",),
    compose=toggle_task(settings_expert.WIFI, _WIFI, 4, start="wanted"),
    version=2,
    android_world=("SystemWifiTurnOffVerify", "SystemWifiTurnOnVerify"),
)
BLUETOOTH_SET = Template(
    name="BluetoothSet",
    summary="turn Bluetooth on or off",
    tier=1,
    compose=toggle_task(settings_expert.BLUETOOTH, _BLUETOOTH, 4, start="opposite"),
    version=2,
    android_world=("SystemBluetoothTurnOff", "SystemBluetoothTurnOn"),
)
BLUETOOTH_SET_ALREADY = Template(
    name="BluetoothSetAlready",
    summary="turn Bluetooth on or off where it is so already",
    tier=1,
    traits=("already_true",),
    compose=toggle_task(settings_expert.BLUETOOTH, _BLUETOOTH, 4, start="wanted"),
    version=2,
    android_world=("SystemBluetoothTurnOffVerify", "SystemBluetoothTurnOnVerify"),
)
AIRPLANE_SET = Template(
    name="AirplaneSet",
    summary="turn airplane mode on or off, whichever it is; the radios may follow",
    tier=1,
    compose=toggle_task(settings_expert.AIRPLANE, _AIRPLANE, 3, start="either", also_written=RADIOS),
    version=2,
)
DO_NOT_DISTURB_SET = Template(
    name="DoNotDisturbSet",
    summary="turn Do Not Disturb on or off, whichever it is",
    tier=2,
    compose=toggle_task(settings_expert.DO_NOT_DISTURB, _DO_NOT_DISTURB, 4, start="either"),
)
DARK_THEME_SET = Template(
    name="DarkThemeSet",
    summary="turn the dark theme on or off, whichever it is",
    tier=1,
    compose=toggle_task(settings_expert.DARK_THEME, _DARK_THEME, 4, start="either"),
    version=2,
)
TORCH_SET = Template(
    name="TorchSet",
    summary="turn the flashlight on or off, whichever it is",
    tier=1,
    compose=toggle_task(settings_expert.TORCH, _TORCH, 2, start="either", by_tile=True),
)


# ----------------------------------------------------------------------------------------------------------------------
# two switches

_BOTH_FRAMES = ("{}.", "Please {}.", "On this phone, {}.", "I want you to {}.")
_BOTH = (
    "{off} and {on}",
    "{on} and {off}",
    "{off}, then {on}",
    "{on}, then {off}",
    "{off} and also {on}",
    "first {off}, after that {on}",
)
_WIFI_OFF = ("turn off Wi-Fi", "switch Wi-Fi off", "disable Wi-Fi")
_BLUETOOTH_ON = ("turn on Bluetooth", "switch Bluetooth on", "enable Bluetooth")


def _swap_sentences() -> tuple[str, ...]:
    """Return every sentence that asks for Bluetooth in place of Wi-Fi."""
    clauses = [
        clause.format(off=off, on=on)
        for clause in _BOTH
        for off, on in zip(_WIFI_OFF, _BLUETOOTH_ON, strict=True)
    ]  # fmt: skip
    return (
        *wordings(clauses, _BOTH_FRAMES),
        "I need Bluetooth instead of Wi-Fi: turn the one on and the other off.",
        "Wi-Fi should be off and Bluetooth on.",
        "Bluetooth should be on and Wi-Fi off.",
        "Make sure that Wi-Fi is off and that Bluetooth is on.",
    )


@mending
def _swap_plan(view: View) -> Move:
    for toggle, wanted in ((settings_expert.WIFI, False), (settings_expert.BLUETOOTH, True)):
        if view.now.get(toggle.path) is not wanted:
            found = settings_expert.set_toggle(view, toggle, wanted, by_tile=True)
            if isinstance(found, Move):
                return found
    found = settings_expert.set_toggle(view, settings_expert.BLUETOOTH, True, by_tile=True)
    return found if isinstance(found, Move) else complete(found, wanted=True)


def _compose_swap(rng: Random) -> Draft:
    parts: dict[str, Goal] = {
        "wifi_off": is_set(settings_expert.WIFI, False),
        "bluetooth_on": is_set(settings_expert.BLUETOOTH, True),
    }
    return Draft(
        sentences={"en": _swap_sentences()},
        parameters={},
        state=draw_world(rng) | {settings_expert.WIFI.path: True, settings_expert.BLUETOOTH.path: False},
        criteria=Criteria(
            goal=every(parts), allowed=only(*RADIOS), apps=(SETTINGS, SYSTEM_UI), sub_goals=parts
        ),
        plan=_swap_plan,
        oracle_steps=3,
    )  # fmt: skip


WIFI_OFF_BLUETOOTH_ON = Template(
    name="WifiOffBluetoothOn",
    summary="turn Wi-Fi off and Bluetooth on",
    tier=2,
    compose=_compose_swap,
    android_world=("TurnOffWifiAndTurnOnBluetooth",),
)
