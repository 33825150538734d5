"""A phone of another language, size of text, density, wording or vendor is laid out as well and works as well."""

from __future__ import annotations

import random
from datetime import date
from xml.etree import ElementTree

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.fitting import lay_out_fitting
from agent_eval.device_sim.locales import LOCALES, DateStyle
from agent_eval.device_sim.screen import Page, Ui
from agent_eval.device_sim.skins import REORDERED
from agent_eval.device_sim.trees import first_text, main_list, walk
from agent_eval.device_sim.ui import Display, View, inside, lay_out
from agent_eval.errors import TaskFault
from agent_eval.types import Bounds, PhoneSetup, Skin
from tests.device_sim.conftest import Finger

SKINS = (
    Skin(),
    Skin(font_scale=2.0),
    Skin(density=560),
    Skin(locale="de", font_scale=0.85, density=240),
    Skin(locale="de", font_scale=1.3, density=400, wording="wlan", row_order=3),
    Skin(locale="zh", font_scale=1.3, density=480, row_order=9),
    Skin(locale="zh", font_scale=2.0, density=240),
    Skin(locale="de", font_scale=2.0, density=560),
)
PACKAGES = [package for package, app in APPS.items() if app.launchable and not app.hidden]
STEPS = 40
"""Taps in each app; eight skins and all apps make some thousand screens."""


def a_name(skin: Skin) -> str:
    return f"{skin.locale}-{skin.font_scale}-{skin.density}"


def problems(phone: Phone) -> list[str]:
    """Say what is wrong with the screen as it is."""
    found = []
    panel = phone.display
    for window in phone.windows:
        for view in window.root.visible():
            left, top, right, bottom = view.bounds or Bounds(0, 0, 0, 0)
            if not (0 <= left < right <= panel.width and 0 <= top < bottom <= panel.height):
                found.append(f"{view.id or view.cls} lies at {view.bounds}")
        if window.kind == "keyboard" and window.root.bounds is not None:
            keys = [view.bounds for view in window.root.visible() if view.clickable]
            if (window.root.bounds.left, window.root.bounds.right) != (0, panel.width) or len(keys) < 12:
                found.append(f"the keyboard lies at {window.root.bounds} with {len(keys)} keys")
    content = phone.active_window.root
    if not any(view.text or view.desc or view.hint for view in content.visible()):
        found.append("nothing to read")
    if not phone.keyboard_open:
        found += [f"{name} is out of reach" for name in out_of_reach(content)]
    dump = ElementTree.fromstring(phone.hierarchy_xml().encode())  # noqa: S314
    if len(dump) != len(phone.windows):
        found.append("the dump lacks a window")
    return found


def out_of_reach(view: View, *, scrolls: bool = False) -> list[str]:
    """Name what can be touched, lies beyond the edge, and is in nothing that scrolls."""
    hidden = [view] if view.bounds is not None else list(walk(view))
    beyond = [
        below.id or first_text(below) or below.cls for below in hidden
        if (below.on_tap or below.field) and below.enabled and not inside(below.bounds, *below.rect.center)
    ]  # fmt: skip
    if view.bounds is None or (beyond and not scrolls):
        return [] if scrolls else beyond
    scrolls = scrolls or view.reach > 0
    return [name for child in view.children for name in out_of_reach(child, scrolls=scrolls)]


def an_id(view: View) -> tuple[str, str, str]:
    return view.id, view.desc, first_text(view)


def walk_through(phone: Phone, package: str, rng: random.Random) -> dict[str, list[str]]:
    """Tap through an app, what was not tapped before first; return the problems of each screen met."""
    met: dict[str, list[str]] = {}
    tapped: set[tuple[str, tuple[str, str, str]]] = set()
    phone.open_app(package)
    for _ in range(STEPS):
        screen = phone.front.screen
        if screen == "launcher/home":
            phone.open_app(package)
            continue
        met.setdefault(screen, []).extend(problems(phone))
        views = [view for view in phone.active_window.root.visible() if view.clickable and view.enabled]
        fresh = [view for view in views if (screen, an_id(view)) not in tapped]
        if not fresh:
            phone.key("back")
            continue
        view = rng.choice(fresh)
        tapped.add((screen, an_id(view)))
        assert view.bounds is not None
        phone.tap(*view.bounds.center)
        if phone.keyboard_open and rng.random() < 0.5:
            met.setdefault(phone.front.screen, []).extend(problems(phone))
            phone.key("back")
    return met


@pytest.mark.parametrize("skin", SKINS, ids=a_name)
def test_every_screen_of_every_app_is_whole_and_all_of_it_can_be_reached(skin: Skin) -> None:
    wrong = {}
    screens: set[str] = set()
    for package in PACKAGES:
        phone = Phone(PhoneSetup(seed=2, keep_alarms=True, skin=skin))
        for screen, found in walk_through(phone, package, random.Random(f"{package} {skin}")).items():
            screens.add(screen)
            if found:
                wrong[screen] = sorted(set(found))
    assert wrong == {}
    assert len(screens) > 3 * len(PACKAGES)


@pytest.mark.parametrize("skin", SKINS, ids=a_name)
def test_the_answer_of_a_dialog_can_be_scrolled_to_and_tapped(skin: Skin) -> None:
    phone = Phone(PhoneSetup(seed=2, skin=skin))
    phone.open_app("com.android.settings")
    phone.open_page("settings/rename", {"text/name": "Old phone"})
    tap_by_id(phone, "android:id/edit")
    phone.clear_text()
    phone.type_text("New phone")
    phone.key("back")
    tap_by_id(phone, "android:id/button1")
    assert phone.state["settings/device_name"] == "New phone"


@pytest.mark.parametrize("skin", SKINS, ids=a_name)
def test_an_alarm_can_be_set_in_every_skin(skin: Skin) -> None:
    phone = Phone(PhoneSetup(seed=2, skin=skin))
    phone.open_app("com.android.deskclock")
    tap_by_id(phone, "com.android.deskclock:id/fab")
    twelve = phone.locale.twelve_hours
    for name, text in (("hour", "6" if twelve else "18"), ("minute", "05")):
        tap_by_id(phone, f"android:id/input_{name}")
        phone.clear_text()
        phone.type_text(text)
        phone.key("back")
    if twelve:
        tap_by_id(phone, "android:id/pm_label")
    else:
        assert not Finger(phone).sees(resourceId="android:id/pm_label")
    tap_by_id(phone, "android:id/button1")
    assert (phone.state["clock/alarm/1/hour"], phone.state["clock/alarm/1/minute"]) == (18, 5)
    assert Finger(phone).sees(text=phone.locale.time_of_day(18, 5))


def tap_by_id(phone: Phone, name: str) -> None:
    """Tap a view, scrolling all that scrolls until it can be seen."""
    for _ in range(12):
        for view in phone.active_window.root.visible():
            if view.id == name and view.bounds is not None:
                phone.tap(*view.bounds.center)
                return
        for view in list(phone.active_window.root.visible()):
            if view.reach:
                phone.fingers.scroll(view, view.reach * phone.display.density // 320 // 3 + 1)
    pytest.fail(f"{name} is not among {[view.id for view in phone.active_window.root.visible()]}")


@pytest.mark.parametrize("package", PACKAGES)
def test_on_the_usual_screen_nothing_is_made_to_scroll(package: str) -> None:
    phone = Phone(PhoneSetup(seed=3))
    screen = APPS[package].screens[APPS[package].home]

    def build() -> View:
        return screen.build(Ui(phone, Page(APPS[package].home), phone.shown.area, phone.display.canvas))

    plain = build()
    lay_out(plain, phone.display.canvas, Display())
    fitted, _ = lay_out_fitting(build, phone.display.canvas, Display(), {})
    assert [(view.id, view.rect, view.bounds) for view in walk(plain)] == [
        (view.id, view.rect, view.bounds) for view in walk(fitted)
    ]


def test_what_is_made_to_scroll_follows_the_finger() -> None:
    rows = [View("android.widget.Button", text=f"Row {number}", height=200, on_tap=print) for number in range(6)]

    def build() -> View:
        views = [View(row.cls, text=row.text, height=row.height, on_tap=row.on_tap) for row in rows]
        return View("android.widget.LinearLayout", views, arrange="column", height=-1)

    room = Bounds(0, 0, 720, 700)
    root, scrolling = lay_out_fitting(build, room, Display(density=400), {})
    assert [view.reach for view in scrolling] == [500]
    assert root.children[5].bounds is None
    moved, _ = lay_out_fitting(build, room, Display(density=400), {f"scroll/{root.scroll}": 500})
    assert moved.children[5].bounds is not None
    assert inside(moved.children[5].bounds, *moved.children[5].bounds.center)


# ----------------------------------------------------------------------------------------------------------------------
# order of rows


def row_titles(phone: Phone, screen: str) -> list[str]:
    phone.open_app("com.android.settings")
    if screen != "settings/home":
        phone.open_page(screen, {})
    listed = main_list(phone.active_window.root)
    assert listed is not None
    return [first_text(row) for row in listed.children]


@pytest.mark.parametrize("screen", sorted(REORDERED))
def test_a_vendor_has_an_order_of_its_own_and_keeps_every_row(screen: str) -> None:
    usual = row_titles(Phone(PhoneSetup(seed=1)), screen)
    orders = [row_titles(Phone(PhoneSetup(seed=1, skin=Skin(row_order=number))), screen) for number in range(1, 6)]
    assert all(sorted(order) == sorted(usual) for order in orders)
    assert sum(order != usual for order in orders) >= 4
    assert len({tuple(order) for order in orders}) >= 4
    again = row_titles(Phone(PhoneSetup(seed=77, skin=Skin(row_order=1))), screen)
    assert again == orders[0], "the order is the vendor's, not the phone's"


def test_rows_stay_below_their_heading() -> None:
    usual = row_titles(Phone(PhoneSetup(seed=1)), "settings/display")
    order = row_titles(Phone(PhoneSetup(seed=1, skin=Skin(row_order=2))), "settings/display")
    assert set(usual[1:3]) == {"Brightness level", "Adaptive brightness"}
    heading = order.index("Brightness")
    assert set(order[heading + 1 : heading + 3]) == set(usual[1:3])


def test_pages_on_which_vendors_agree_keep_their_order() -> None:
    for screen in ("settings/internet", "settings/sound", "settings/about"):
        plain, other = Phone(PhoneSetup(seed=1)), Phone(PhoneSetup(seed=1, skin=Skin(row_order=5)))
        assert row_titles(plain, screen) == row_titles(other, screen)


# ----------------------------------------------------------------------------------------------------------------------
# words, times, dates

NIGHT = date(2025, 3, 3)
FORMS: tuple[tuple[str, DateStyle, str], ...] = (
    ("en", "short", "Mar 3, 2025"),
    ("en", "long", "Monday, March 3, 2025"),
    ("en", "weekday", "Monday, Mar 3"),
    ("en", "month", "March 2025"),
    ("de", "short", "03.03.2025"),
    ("de", "long", "Montag, 3. März 2025"),
    ("de", "weekday", "Montag, 3. März"),
    ("de", "month", "März 2025"),
    ("zh", "short", "2025年3月3日"),
    ("zh", "long", "2025年3月3日星期一"),
    ("zh", "weekday", "3月3日星期一"),
    ("zh", "month", "2025年3月"),
)


@pytest.mark.parametrize(("locale", "style", "text"), FORMS)
def test_dates_are_written_as_the_locale_does(locale: str, style: DateStyle, text: str) -> None:
    assert LOCALES[locale].date(NIGHT, style) == text


@pytest.mark.parametrize(
    ("locale", "hour", "minute", "text"),
    [("en", 0, 5, "12:05 AM"), ("en", 12, 0, "12:00 PM"), ("en", 18, 5, "6:05 PM"),
     ("de", 0, 5, "00:05"), ("de", 18, 5, "18:05"), ("zh", 6, 30, "06:30"), ("zh", 23, 59, "23:59")],
)  # fmt: skip
def test_times_are_written_as_the_locale_does(locale: str, hour: int, minute: int, text: str) -> None:
    assert LOCALES[locale].time_of_day(hour, minute) == text


@pytest.mark.parametrize(("locale", "clock", "described"), [("en", "6:05", "6:05 PM"), ("zh", "6:05", "下午6:05")])
def test_twelve_hours_name_their_half_as_the_language_does(locale: str, clock: str, described: str) -> None:
    phone = Phone(PhoneSetup(seed=1, skin=Skin(locale=locale), state={"settings/time_format": "12"}))
    wait = (18 * 60 + 5 - phone.local_time.hour * 60 - phone.local_time.minute) % (24 * 60)
    phone.advance(wait * 60)
    face = Finger(phone).one(resourceId="com.android.systemui:id/clock").view
    assert (face.text, face.desc) == (clock, described)


@pytest.mark.parametrize(
    ("skin", "word"),
    [(Skin(wording="wlan"), "WLAN"), (Skin(wording="ascii"), "Wi-Fi"), (Skin(wording="typographic"), "Wi\u2011Fi"),
     (Skin(locale="de"), "WLAN"), (Skin(locale="zh"), "WLAN"), (Skin(locale="de", wording="ascii"), "Wi-Fi")],
)  # fmt: skip
def test_the_word_for_wifi_is_the_skins_or_the_languages(skin: Skin, word: str) -> None:
    phone = Phone(PhoneSetup(seed=1, skin=skin))
    phone.open_app("com.android.settings", "com.android.settings.Settings$WifiSettingsActivity")
    assert Finger(phone).sees(text=word)


def test_a_seed_spells_wifi_in_one_of_two_ways() -> None:
    words = set()
    for seed in range(20):
        phone = Phone(PhoneSetup(seed=seed))
        phone.open_app("com.android.settings", "com.android.settings.Settings$WifiSettingsActivity")
        words |= {text for text in Finger(phone).texts if text in ("Wi-Fi", "Wi\u2011Fi", "WLAN")}
    assert words == {"Wi-Fi", "Wi\u2011Fi"}


@pytest.mark.parametrize("skin", [Skin(locale="fr"), Skin(font_scale=2.5), Skin(font_scale=0.5), Skin(density=120)])
def test_a_skin_that_does_not_exist_is_refused(skin: Skin) -> None:
    with pytest.raises(TaskFault):
        Phone(PhoneSetup(seed=1, skin=skin))


def test_a_skin_changes_how_the_phone_looks_and_nothing_that_it_holds() -> None:
    plain = dict(Phone(PhoneSetup(seed=5)).state)
    other = dict(Phone(PhoneSetup(seed=5, skin=Skin("de", 1.3, 400, "wlan", 4))).state)
    differing = {path for path in plain if plain[path] != other.get(path)}
    assert differing <= {"settings/locale", "settings/font_percent", "settings/density"}
    assert set(plain) == set(other)
