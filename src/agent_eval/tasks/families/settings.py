"""What is asked of the Settings app. Knows where each answer is kept in the phone's state, and how to word the goal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from agent_eval.device_sim.profile import TIMEOUTS
from agent_eval.tasks import answers
from agent_eval.tasks.families import launcher_expert, settings_expert
from agent_eval.tasks.families.launcher_expert import SYSTEM_UI
from agent_eval.tasks.families.repair import mending, undo
from agent_eval.tasks.families.settings_expert import SETTINGS, Spot
from agent_eval.tasks.families.switches import (
    AIRPLANE_SET,
    BLUETOOTH_SET,
    BLUETOOTH_SET_ALREADY,
    DARK_THEME_SET,
    DO_NOT_DISTURB_SET,
    WIFI_OFF_BLUETOOTH_ON,
    WIFI_SET,
    WIFI_SET_ALREADY,
    Words,
    asking_for,
    draw_world,
)
from agent_eval.tasks.judge import Criteria, Goal, only
from agent_eval.tasks.moves import Move, complete, give_up, go_back, tap
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

# ----------------------------------------------------------------------------------------------------------------------
# brightness

BRIGHTEST = 255
BRIGHTNESS_TOLERANCE = 5
"""Steps of the 0 to 255 brightness that still count as an end: two percent, a finger's width on the slider."""

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
_DE_BRIGHTNESS_CLAUSES = (
    "stelle {x} auf {level}",
    "setze {x} auf {level}",
    "ändere {x} auf {level}",
    "bring {x} auf {level}",
)
_DE_BRIGHTNESS_WORDS = ("die Helligkeit", "die Bildschirmhelligkeit")
_DE_LEVELS = {
    "min": ("das Minimum", "die niedrigste Stufe", "den kleinsten Wert"),
    "max": ("das Maximum", "die höchste Stufe", "den größten Wert"),
}
_ZH_BRIGHTNESS_CLAUSES = ("把{x}调到{level}", "将{x}设为{level}", "把{x}设置成{level}", "将{x}调整到{level}")
_ZH_BRIGHTNESS_WORDS = ("亮度", "屏幕亮度")
_ZH_LEVELS = {"min": ("最低", "最小值", "最低一档"), "max": ("最高", "最大值", "最高一档")}


def brightness_sentences(wanted: str) -> dict[Language, Sequence[str]]:
    """Return every sentence that asks for one end of the brightness, by language."""

    def combined(
        clauses: Sequence[str], frames: Sequence[str], names: Sequence[str], levels: Sequence[str]
    ) -> tuple[str, ...]:
        return tuple(
            sentence
            for name in names
            for level in levels
            for sentence in wordings(clauses, frames, x=name, level=level)
        )

    return {
        "en": combined(
            _BRIGHTNESS_CLAUSES, ("{}.", "Please {}.", "On this phone, {}."), _BRIGHTNESS_WORDS, _LEVELS[wanted]
        ),
        "de": combined(_DE_BRIGHTNESS_CLAUSES, ("{}.", "Bitte {}."), _DE_BRIGHTNESS_WORDS, _DE_LEVELS[wanted]),
        "zh": combined(_ZH_BRIGHTNESS_CLAUSES, ("{}。", "请{}。"), _ZH_BRIGHTNESS_WORDS, _ZH_LEVELS[wanted]),
    }


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
        shown = view.screen in (launcher_expert.QUICK_SETTINGS, settings_expert.BRIGHTNESS_DIALOG)
        slider = settings_expert.slider(view) if shown else None
        done = holds(view.start, view.now)
        if slider is not None and not done:
            return settings_expert.slide(slider, to_the_right=wanted == "max")
        repair = undo(view)
        if repair is not None:
            return repair
        if slider is not None:
            return complete(slider)
        row = view.find("Brightness level", "row") if view.screen == "settings/display" else None
        if row is not None:
            return complete(row) if done else tap(row)
        return launcher_expert.quick_settings(view, "brightness") or view.scroll("brightness")

    return plan


def _compose_brightness(rng: Random) -> Draft:
    wanted = rng.choice(("min", "max"))
    return Draft(
        sentences=brightness_sentences(wanted),
        parameters={"wanted": wanted},
        state=draw_world(rng) | {"settings/brightness": rng.randint(60, 195)},
        criteria=Criteria(
            goal=_brightness_holds(wanted), allowed=only("settings/brightness"), apps=(SETTINGS, SYSTEM_UI)
        ),
        plan=_brightness_plan(wanted),
        oracle_steps=3,
    )


# ----------------------------------------------------------------------------------------------------------------------
# screen timeout

_TIMEOUT_CLAUSES = (
    "set the screen timeout to {t}",
    "change the screen timeout to {t}",
    "let the screen turn off after {t}",
    "make the screen go dark after {t} without a touch",
    "have the display switch itself off after {t} of inactivity",
    "make the screen time out after {t}",
)


def _timeout_words(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} seconds"
    return "1 minute" if seconds == 60 else f"{seconds // 60} minutes"


def _timeout_plan(seconds: int) -> Plan:
    @mending
    def plan(view: View) -> Move:
        found = settings_expert.choose_timeout(view, seconds)
        return found if isinstance(found, Move) else complete(found)

    return plan


def _compose_timeout(rng: Random) -> Draft:
    seconds, first = rng.sample(TIMEOUTS, 2)
    words = _timeout_words(seconds)
    path = settings_expert.TIMEOUT
    return Draft(
        sentences={"en": wordings(_TIMEOUT_CLAUSES, ("{}.", "Please {}.", "On this phone, {}."), t=words)},
        parameters={"timeout": words},
        state=draw_world(rng) | {path: first},
        criteria=Criteria(
            goal=lambda _start, now: now.get(path) == seconds, allowed=only(path), apps=(SETTINGS,)
        ),
        plan=_timeout_plan(seconds),
        oracle_steps=5,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# a network

_JOIN_CLAUSES = (
    'connect to the Wi-Fi network "{ssid}"; the password is "{password}"',
    'join the Wi-Fi network "{ssid}" with the password "{password}"',
    'use the password "{password}" to get onto the Wi-Fi "{ssid}"',
    'put this phone on the "{ssid}" Wi-Fi, whose password is "{password}"',
    'log in to the wireless network "{ssid}" using "{password}" as the password',
)
_PLACES = (
    "Anchor", "Birch", "Canal", "Dune", "Elm", "Ferry", "Gable", "Hollow", "Inlet", "Jetty", "Kelp", "Lilac", "Mill",
    "Ridge", "Sail", "Tulip",
)  # fmt: skip
_ROOMS = ("Lodge", "Loft", "Hall", "Villa", "Cellar", "Atelier")
_SECRETS = ("amber", "basil", "cobalt", "delta", "ember", "fennel", "garnet", "hazel", "indigo", "juniper")


def _draw_network(rng: Random) -> str:
    return f"{rng.choice(_PLACES)} {rng.choice(_ROOMS)} {rng.randint(1, 9)}"


def _networks_like(ssid: str, rng: Random) -> list[str]:
    """Return names that are easily taken for a network's, in random order."""
    place, room, number = ssid.split(" ")
    near = [
        f"{place} {room} {int(number) % 9 + 1}",
        f"{place} {room} {number}{number}",
        f"{place} {room.lower()} {number}",
        f"{place} {room.replace('l', '1', 1)} {number}",
        f"{place}-{room} {number}",
        f"{place} {room} {number} 5G",
    ]
    rng.shuffle(near)
    return near


def _draw_password(rng: Random) -> str:
    return f"{rng.choice(_SECRETS)}-{rng.choice(_SECRETS)}-{rng.randint(10, 99)}"


def _join_writes(start: Snapshot, _end: Snapshot) -> tuple[str, ...]:
    """Allow the network, and Wi-Fi where the phone has it off."""
    off = start.get(settings_expert.WIFI.path) is False
    return (settings_expert.NETWORK, settings_expert.WIFI.path) if off else (settings_expert.NETWORK,)


def _join_plan(ssid: str, password: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        found = settings_expert.join(view, ssid, password)
        return found if isinstance(found, Move) else complete(found)

    return plan


def _compose_join(rng: Random) -> Draft:
    ssid, password = _draw_network(rng), _draw_password(rng)
    near = [name for name in dict.fromkeys(_networks_like(ssid, rng)) if name != ssid][:2]
    # one of the look-alikes lets everybody in, so that it can be joined by mistake
    found = [(ssid, password), (near[0], ""), (near[1], _draw_password(rng))]
    rng.shuffle(found)
    state: dict[str, Scalar] = draw_world(rng) | {"settings/wifi_on": True}
    for number, (name, secret) in enumerate(found, start=901):
        state |= {f"wifi/access_point/{number}/ssid": name, f"wifi/access_point/{number}/password": secret}
    path = settings_expert.NETWORK
    return Draft(
        sentences={"en": wordings(_JOIN_CLAUSES, ("{}.", "Please {}."), ssid=ssid, password=password)},
        parameters={"ssid": ssid, "password": password},
        state=state,
        criteria=Criteria(goal=lambda _start, now: now.get(path) == ssid, allowed=_join_writes, apps=(SETTINGS,)),
        plan=_join_plan(ssid, password),
        oracle_steps=8,
        split_keys=(f"network {ssid}",),
    )


# ----------------------------------------------------------------------------------------------------------------------
# the phone's name

_RENAME_CLAUSES = (
    'rename this phone to "{name}"',
    'change the device name to "{name}"',
    'give this phone the name "{name}"',
    'make "{name}" the name of this device',
    'set the name that this phone shows to others to "{name}"',
    'call this device "{name}" from now on',
)
_FIRST_WORDS = (
    "Amber", "Brisk", "Copper", "Dapper", "Early", "Frosty", "Gentle", "Hidden", "Ivory", "Jolly", "Keen", "Lucky",
    "Mellow", "Nimble", "Olive", "Plucky",
)  # fmt: skip
_LAST_WORDS = (
    "Badger", "Comet", "Drum", "Falcon", "Gecko", "Heron", "Kestrel", "Lantern", "Marten", "Otter", "Pebble", "Robin",
    "Sparrow", "Teapot", "Walnut", "Yak",
)  # fmt: skip


def _rename_plan(name: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        found = settings_expert.rename(view, name)
        return found if isinstance(found, Move) else complete(found)

    return plan


def _compose_rename(rng: Random) -> Draft:
    first, last = rng.choice(_FIRST_WORDS), rng.choice(_LAST_WORDS)
    name = f"{first} {last}"
    # what it is called now, and what its hotspot is called, are nearly right already
    near = [f"{first}{last}", f"{name}s", f"{name} 2", f"{first} {last[:-1]}", f"{last} {first}", name.lower()]
    now, hotspot = rng.sample(near, 2)
    path = settings_expert.DEVICE_NAME
    return Draft(
        sentences={"en": wordings(_RENAME_CLAUSES, ("{}.", "Please {}."), name=name)},
        parameters={"name": name},
        state=draw_world(rng) | {path: now, "settings/hotspot_name": hotspot},
        criteria=Criteria(goal=lambda _start, end: end.get(path) == name, allowed=only(path), apps=(SETTINGS,)),
        plan=_rename_plan(name),
        oracle_steps=7,
        split_keys=(f"device name {name}",),
    )


# ----------------------------------------------------------------------------------------------------------------------
# answers

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
    @mending
    def plan(view: View) -> Move:
        found = settings_expert.locate(view, _INFO_SPOTS[wanted])
        if isinstance(found, Move):
            return found
        # a row at the edge of the screen may show its title and not what stands below it
        return complete(found, answer=found.value) if found.value else view.scroll(found.label)

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
        state=draw_world(rng) | {"about/android_version": version, "battery/level": level},
        criteria=Criteria(goal=None, allowed=only(), apps=(SETTINGS,), answer=lambda _start, answer: accepts(answer)),
        plan=_info_plan(wanted),
        oracle_steps=5 if wanted == "android_version" else 1,
        split_keys=(f"battery {level}",) if wanted == "battery_level" else (),
    )


# ----------------------------------------------------------------------------------------------------------------------
# what this phone does not have

_NFC_PAGE = "settings/connection_preferences"


@mending
def _nfc_plan(view: View) -> Move:
    nothing_found = view.screen == "settings/search" and view.find("No results") is not None
    if view.screen == _NFC_PAGE or (nothing_found and "nfc" in str(view.variable("text/query")).casefold()):
        return give_up("no NFC on this phone")
    return settings_expert.to_page(view, _NFC_PAGE) or go_back()


def _compose_nfc(rng: Random) -> Draft:
    return Draft(
        sentences=asking_for(Words("NFC", "NFC", "NFC"), True),
        parameters={},
        state=draw_world(rng),
        criteria=Criteria(goal=None, allowed=only(), apps=(SETTINGS,), infeasible=True),
        plan=_nfc_plan,
        oracle_steps=3,
        needs=("nfc/absent",),
    )


BRIGHTNESS_SET = Template(
    name="BrightnessSet",
    summary="set the brightness to its minimum or maximum",
    tier=1,
    compose=_compose_brightness,
    version=2,
    android_world=("SystemBrightnessMax", "SystemBrightnessMin"),
)
SCREEN_TIMEOUT_SET = Template(
    name="ScreenTimeoutSet",
    summary="choose after how long the screen turns off",
    tier=2,
    compose=_compose_timeout,
)
WIFI_JOIN = Template(
    name="WifiJoin",
    summary="join a network with its password, among networks with nearly the same name",
    tier=2,
    compose=_compose_join,
)
DEVICE_NAME_SET = Template(
    name="DeviceNameSet",
    summary="give the phone another name",
    tier=2,
    compose=_compose_rename,
)
DEVICE_INFO = Template(
    name="DeviceInfo",
    summary="answer which Android version runs or how full the battery is",
    tier=2,
    traits=("answer",),
    compose=_compose_info,
    version=2,
)
NFC_ON = Template(
    name="NfcOn",
    summary="turn on NFC, which this phone does not have",
    tier=1,
    traits=("infeasible",),
    compose=_compose_nfc,
)

TEMPLATES = (
    WIFI_SET,
    WIFI_SET_ALREADY,
    BLUETOOTH_SET,
    BLUETOOTH_SET_ALREADY,
    AIRPLANE_SET,
    DO_NOT_DISTURB_SET,
    DARK_THEME_SET,
    BRIGHTNESS_SET,
    SCREEN_TIMEOUT_SET,
    WIFI_JOIN,
    WIFI_OFF_BLUETOOTH_ON,
    DEVICE_NAME_SET,
    DEVICE_INFO,
    NFC_ON,
)
