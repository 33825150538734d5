"""The words of the launcher, the system's windows, Settings and the apps that came first, in every language."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from types import ModuleType

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS as INSTALLED
from agent_eval.device_sim.apps import (
    calculator,
    camera,
    contacts,
    deskclock,
    launcher,
    messages,
    settings,
    systemui,
)
from agent_eval.device_sim.apps.deskclock import alarms, app, counting, ringing, world
from agent_eval.device_sim.apps.settings import (
    devices,
    display,
    home,
    installed,
    network,
    power,
    safety,
    sound,
    state,
    system,
)
from agent_eval.types import PhoneSetup, Skin
from tests.device_sim.apps.stroll import untranslated

APPS: Mapping[ModuleType, tuple[ModuleType, ...]] = {
    **{one: (one,) for one in (calculator, camera, contacts, launcher, messages, systemui)},
    deskclock: (alarms, app, counting, ringing, world),
    settings: (devices, display, home, installed, network, power, safety, sound, system),
}
"""App to the modules that its words stand in."""

SAYING: Mapping[str, tuple[int, ...]] = {
    "say": (0,), "link": (1,), "fact": (1,), "action": (1,), "toggle": (1,), "head_switch": (1,), "heading": (1,),
    "note": (1,), "page": (1,), "confirm": (1, 2), "slider": (1,), "_sounds": (0,), "volume": (0,), "Tile": (0,),
}  # fmt: skip
"""Function to the places of its arguments that are English words to be said."""


def said(module: ModuleType) -> Iterator[str]:
    """Yield the English texts in the source of a module that its screens say."""
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name == "page" and any(word.arg == "named" for word in call.keywords):
            continue
        for place in SAYING.get(name, ()):
            if place < len(call.args):
                yield from _texts(call.args[place])
        for word in call.keywords:
            if (name, word.arg) in (("confirm", "title"), ("cancel_and_ok", "ok")):
                yield from _texts(word.value)


def _texts(part: ast.expr) -> Iterator[str]:
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value
    elif isinstance(part, ast.IfExp):
        yield from _texts(part.body)
        yield from _texts(part.orelse)


def name_of(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


@pytest.mark.parametrize("locale", ["de", "zh"])
@pytest.mark.parametrize("app", APPS, ids=name_of)
def test_every_text_in_the_source_of_an_app_is_translated(app: ModuleType, locale: str) -> None:
    words = app.APP.strings[locale]
    missing = {text for module in APPS[app] for text in said(module) if text not in words}
    assert sorted(text for text in missing if any(map(str.isalpha, text))) == []
    assert app.APP.label in words


@pytest.mark.parametrize("app", APPS, ids=name_of)
def test_translations_keep_the_places_for_values(app: ModuleType) -> None:
    for locale, table in app.APP.strings.items():
        for english, text in table.items():
            places = sorted(part.split("}")[0] for part in english.split("{")[1:])
            assert sorted(part.split("}")[0] for part in text.split("{")[1:]) == places, (locale, english)


@pytest.mark.parametrize("locale", ["de", "zh"])
def test_every_app_under_an_icon_has_a_name_in_the_language(locale: str) -> None:
    shown = [app for app in INSTALLED.values() if app.launchable and not app.hidden]
    assert [app.label for app in shown if app.label not in app.strings[locale]] == []


def test_what_a_fresh_phone_tells_is_in_its_language_and_what_people_wrote_is_not() -> None:
    titles = set()
    for seed in range(12):
        phone = Phone(PhoneSetup(seed=seed, skin=Skin(locale="de")))
        phone.open_shade()
        titles |= {view.text for view in phone.active_window.root.visible() if view.id == "android:id/title"}
    assert {"Verpasster Anruf", "Verpasster Wecker", "Systemupdate verf\u00fcgbar", "Dentist"} <= titles
    assert not titles & {"Missed call", "Missed alarm", "System update available", "New message"}


NAMES = {"FCC ID", "A4RSIM01", "SIM", "VPN", "WebView", "WLAN", "NFC", "TalkBack", "{", "Android"}


@pytest.mark.parametrize("app", [one for one in APPS if one is not systemui], ids=name_of)
def test_a_walk_through_an_app_in_chinese_meets_no_english(app: ModuleType) -> None:
    world = Phone(PhoneSetup(seed=3)).world
    names = NAMES | {*state.RINGTONES, *state.NOTIFICATION_SOUNDS, *state.ALARM_SOUNDS}
    for path in ("wifi/nearby", "bluetooth/paired", "bluetooth/nearby"):
        names |= set(str(world[path]).split("|"))
    assert [text for text in untranslated(app.APP.package) if not any(name in text for name in names)] == []


@pytest.mark.parametrize("locale", ["de", "zh"])
@pytest.mark.parametrize("screen", ["systemui/shade", "systemui/quick_settings"])
def test_the_windows_of_the_system_speak_the_language_of_the_phone(locale: str, screen: str) -> None:
    english, other = (Phone(PhoneSetup(seed=1, skin=Skin(locale=name))) for name in ("en", locale))
    network = str(english.state["settings/wifi_network"])
    kept = {"Internet", "Bluetooth", "Hotspot", f"Internet, {network}", *map(str, english.state.values())}
    texts = []
    for phone in (english, other):
        phone.open_shade(settings=screen.endswith("quick_settings"))
        texts.append({view.text or view.desc for window in phone.windows for view in window.root.visible()})
    same = {text for text in texts[0] & texts[1] if any(map(str.isalpha, text))}
    assert same - kept == set()
