from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops

from agent_eval import device_sim
from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.render import ICONS, typeface
from agent_eval.device_sim.render.canvas import Canvas
from agent_eval.device_sim.render.palette import DARK, LIGHT
from agent_eval.device_sim.ui import View, full_width, inside, text_lines, text_width
from agent_eval.types import Bounds, PhoneSetup, Skin
from tests.device_sim.conftest import Finger

KINDS_WITH_NAMES = frozenset({"app:", "key:", "task:", "chip"})


def differs(one: Image.Image, other: Image.Image, box: Bounds | None = None) -> bool:
    if box is not None:
        one, other = one.crop(box), other.crop(box)
    return ImageChops.difference(one, other).getbbox() is not None


def contrast(picture: Image.Image, box: Bounds) -> int:
    used = [value for value, count in enumerate(picture.crop(box).convert("L").histogram()) if count]
    return used[-1] - used[0]


# ----------------------------------------------------------------------------------------------------------------------
# pictures


def test_equal_states_give_equal_pictures_and_the_caller_owns_them(settings: Finger) -> None:
    one = settings.phone.screenshot()
    one.paste((255, 0, 0), (0, 0, 720, 1280))
    other = settings.phone.screenshot()
    assert differs(one, other)
    assert not differs(other, settings.phone.screenshot())
    assert other.size == (720, 1280)


def test_a_switch_looks_different_when_on(settings: Finger) -> None:
    settings.path("Network & internet")
    box = settings.one(resourceId="android:id/switch_widget").view.bounds
    before = settings.phone.screenshot()
    settings.tap(text="Airplane mode")
    assert differs(before, settings.phone.screenshot(), box)


def test_a_slider_shows_its_position(settings: Finger) -> None:
    settings.path("Sound & vibration")
    bounds = settings.one(description="Media volume").view.bounds
    assert bounds is not None
    settings.phone.tap(bounds.left, bounds.center[1])
    before = settings.phone.screenshot()
    settings.phone.tap(bounds.right - 1, bounds.center[1])
    assert differs(before, settings.phone.screenshot(), bounds)


def test_the_dark_theme_is_dark(settings: Finger) -> None:
    def brightness() -> float:
        grey = settings.phone.screenshot().convert("L").resize((1, 1))
        value = grey.getpixel((0, 0))
        assert isinstance(value, int | float)
        return float(value)

    assert brightness() > 200
    settings.path("Display", "Dark theme")
    assert brightness() < 60


def test_the_keyboard_and_a_dialog_are_drawn_over_a_page_that_darkens(settings: Finger) -> None:
    settings.path("About phone")
    before = settings.phone.screenshot()
    settings.path("Device name")
    settings.tap(className="android.widget.EditText")
    after = settings.phone.screenshot()
    assert differs(before, after, Bounds(0, 768, 720, 1184))
    assert differs(before, after, settings.one(text="OK").view.bounds)
    page_before, page_after = before.getpixel((2, 150)), after.getpixel((2, 150))
    assert isinstance(page_before, tuple)
    assert isinstance(page_after, tuple)
    assert sum(page_after) < sum(page_before) * 0.7


def test_the_focused_field_has_a_cursor_after_its_text(settings: Finger) -> None:
    settings.path("About phone", "Device name")
    settings.tap(className="android.widget.EditText")
    box = settings.one(className="android.widget.EditText").view.bounds
    empty = settings.phone.clear_text() and settings.phone.screenshot()
    assert isinstance(empty, Image.Image)
    settings.phone.type_text("iiii")
    typed = settings.phone.screenshot()
    change = ImageChops.difference(empty.crop(box), typed.crop(box)).getbbox()
    assert change is not None
    primary = tuple(int(LIGHT["primary"][place : place + 2], 16) for place in (1, 3, 5))
    cursor = [x for x in range(*change[::2]) if typed.crop(box).getpixel((x, (change[1] + change[3]) // 2)) == primary]
    assert cursor
    assert max(cursor) >= change[2] - 6


def test_a_dark_screen_is_black(settings: Finger) -> None:
    settings.phone.key("power")
    assert settings.phone.screenshot().getextrema() == ((0, 0), (0, 0), (0, 0))


def test_a_toast_is_on_the_picture_until_it_is_over(settings: Finger) -> None:
    before = settings.phone.screenshot()
    settings.phone.show_toast("Copied to clipboard \u2013 in die Zwischenablage kopiert " * 3)
    assert differs(before, settings.phone.screenshot(), Bounds(0, 1000, 720, 1180))
    settings.phone.advance(2.5)
    assert not differs(before, settings.phone.screenshot(), Bounds(0, 60, 720, 1280))


@pytest.mark.parametrize(
    ("skin", "rotation"),
    [
        (Skin(density=240), 0),
        (Skin(density=480), 0),
        (Skin(font_scale=2.0), 0),
        (Skin(locale="zh"), 0),
        (Skin(locale="de", density=400), 1),
    ],
)
def test_pictures_have_the_size_of_the_display_and_differ_by_how_it_is_looked_at(skin: Skin, rotation: int) -> None:
    state = {"settings/dark_theme": False}
    plain, other = Phone(PhoneSetup(seed=1, state=state)), Phone(PhoneSetup(seed=1, state=state, skin=skin))
    for phone in (plain, other):
        phone.open_app("com.android.deskclock")
    other.rotate(rotation)
    picture = other.screenshot()
    assert picture.size == (other.display.width, other.display.height)
    assert picture.size != plain.screenshot().size or differs(plain.screenshot(), picture)


def test_another_density_of_the_same_phone_is_another_picture(settings: Finger) -> None:
    before = settings.phone.screenshot()
    settings.phone.show_on(replace(settings.phone.display, density=400))
    assert differs(before, settings.phone.screenshot())


@pytest.mark.parametrize("locale", sorted(LOCALES))
@pytest.mark.parametrize("package", sorted(package for package, app in APPS.items() if app.launchable))
def test_every_visible_text_and_symbol_leaves_a_trace(package: str, locale: str) -> None:
    phone = Phone(PhoneSetup(seed=1, state={"settings/dark_theme": False}, skin=Skin(locale=locale)))
    finger = Finger(phone)
    phone.open_app(package)
    picture = phone.screenshot()
    for node in finger.all(packageName=package):
        view: View = node.view
        if not view.bounds or not inside(view.bounds, *view.rect.center):
            continue  # what a list cuts off shows nothing of its middle
        if view.bounds.bottom - view.bounds.top < 24 or view.bounds.right - view.bounds.left < 12:
            continue
        if view.text.strip() or view.icon:
            assert contrast(picture, view.bounds), (view.text, view.icon)


# ----------------------------------------------------------------------------------------------------------------------
# symbols


def _named_in(path: Path) -> Iterator[str]:
    """Yield the symbols that a module names in a call of a widget, in a keyword, or in an assignment to ``icon``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            places = [node.args[0]] if name in ("image", "image_button") and node.args else []
            places += [keyword.value for keyword in node.keywords if keyword.arg == "icon"]
            for place in places:
                for part in ast.walk(place):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                        yield part.value


def test_every_symbol_that_an_app_names_is_drawn() -> None:
    folder = Path(device_sim.__file__).parent
    modules = [path for path in folder.rglob("*.py") if "render" not in path.parts]
    named = {name for path in modules for name in _named_in(path)} | {app.icon for app in APPS.values() if app.icon}
    assert len(named) > 40
    assert named - KINDS_WITH_NAMES <= set(ICONS)


@pytest.mark.parametrize("package", sorted(package for package, app in APPS.items() if app.launchable))
def test_every_symbol_on_an_apps_first_screens_can_be_drawn(package: str) -> None:
    phone = Phone(PhoneSetup(seed=2, keep_alarms=True))
    begin(phone, package)
    things = len(touchable(phone))
    assert things
    used: set[str] = set()
    for place in range(-1, things):
        begin(phone, package)
        if place >= 0 and (view := touchable(phone)[place]).bounds is not None:
            phone.tap(*view.bounds.center)
        used |= {view.icon for window in phone.windows for view in window.root.visible()}
    assert {icon for icon in used if icon and ":" not in icon and icon != "chip"} <= set(ICONS)


def begin(phone: Phone, package: str) -> None:
    phone.reset(PhoneSetup(seed=2, keep_alarms=True))
    phone.open_app(package)


def touchable(phone: Phone) -> list[View]:
    return [view for view in phone.active_window.root.visible() if view.clickable and view.enabled]


@pytest.mark.parametrize("name", sorted(ICONS))
def test_a_symbol_is_drawn_within_its_square(name: str) -> None:
    canvas = Canvas(120, 120, "#000000")
    assert canvas.symbol(name, 60, 60, 2, "#ffffff", 50)
    box = canvas.picture.getbbox()
    assert box is not None
    assert box[0] > 24
    assert box[1] > 24
    assert box[2] < 96
    assert box[3] < 96
    assert max(box[2] - box[0], box[3] - box[1]) > 20


def test_a_battery_shows_its_level() -> None:
    amounts = []
    for level in (5, 50, 100):
        canvas = Canvas(60, 60, "#000000")
        canvas.symbol("battery", 30, 30, 2, "#ffffff", level)
        amounts.append(sum(canvas.picture.convert("L").histogram()[128:]))
    assert amounts == sorted(set(amounts))


def test_no_two_apps_have_the_same_icon() -> None:
    looks = [(app.icon or app.label[:1], app.color) for app in APPS.values() if app.launchable and not app.hidden]
    assert len(set(looks)) == len(looks)


def test_an_unknown_symbol_is_no_failure() -> None:
    assert not Canvas(10, 10, "#000000").symbol("no such symbol", 5, 5, 1, "#ffffff")


# ----------------------------------------------------------------------------------------------------------------------
# text


def test_every_character_of_every_language_is_readable() -> None:
    texts = [text for app in APPS.values() for table in app.strings.values() for text in table.values()]
    texts += [app.label for app in APPS.values()]
    texts += [word for locale in LOCALES.values() for word in (*locale.months, *locale.weekdays, locale.name)]
    characters = {character for text in texts for character in text if not character.isspace()}
    assert len(characters) > 100
    assert not {character for character in characters if typeface.face_of(character) == "box"}


@pytest.mark.parametrize(
    ("text", "faces"),
    [
        ("Wi\u2011Fi \u00dcber \u20ac 5\u00b0", ["latin"]),
        ("WLAN \u8bbe\u7f6e", ["latin", "chinese"]),
        ("ok \U0001f600\u2764\ufe0f", ["latin", "emoji"]),
        ("\U0001f44d\U0001f3fd", ["emoji"]),
        ("a\uffffb", ["latin", "box", "latin"]),
        ("a\ud83d\x07", ["latin", "box"]),
        ("", []),
    ],
)
def test_each_character_gets_the_face_that_has_it(text: str, faces: list[str]) -> None:
    assert [run.face for run in typeface.runs_of(text)] == faces


@given(st.text(max_size=60), st.integers(1, 400), st.integers(8, 60))
def test_a_fitted_line_fits_or_is_a_single_sign(text: str, room: int, size: int) -> None:
    line = typeface.fitted(text.replace("\n", " "), size, room)
    assert line.width <= room or len(line.text) <= 2
    assert line.size <= size


def test_a_line_is_made_smaller_only_where_that_shows_all_of_it() -> None:
    whole = typeface.length("Energiesparmodus", 28)
    assert typeface.fitted("Energiesparmodus", 28, int(whole * 0.9)).text == "Energiesparmodus"
    cut = typeface.fitted("Energiesparmodus", 28, int(whole * 0.5))
    assert cut.text.endswith("\u2026")
    assert cut.size == 28


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_can_be_drawn(text: str) -> None:
    Canvas(300, 60, "#ffffff").line(text, 5, 30, 24, "#000000", typeface.MEDIUM)


def test_letters_that_no_typeface_has_show_as_boxes_and_do_not_stop_the_picture(make: Callable[..., Finger]) -> None:
    finger = make(settings__device_name="\u540d \u0141\u00f3d\u017a \U0001f600 \U000f0000")
    finger.phone.open_app("com.android.settings")
    finger.path("About phone")
    box = finger.one(textContains="\U000f0000").view.bounds
    assert box is not None
    assert contrast(finger.phone.screenshot(), box) > 50
    assert typeface.face_of("\U000f0000") == "box"


def test_without_the_packages_plain_text_is_drawn_and_the_rest_shows_as_boxes() -> None:
    script = """
import sys
sys.modules["fontpkg"] = sys.modules["pylopdf_fonts_zh_cn"] = None
from agent_eval.device_sim import Phone
from agent_eval.device_sim.render import typeface
from agent_eval.types import PhoneSetup, Skin
print([typeface.face_of(sign) for sign in "a\u00fc\u8bbe"])
print(Phone(PhoneSetup(seed=1, skin=Skin(locale="zh"))).screenshot().size)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["['latin', 'box', 'box']", "(720, 1280)"], done.stderr


@given(st.text(alphabet=st.characters(max_codepoint=0x7F, exclude_characters="\n"), max_size=80), st.integers(40, 600))
def test_plain_words_break_at_spaces_only(text: str, width: int) -> None:
    expected: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, 28) > width:
            expected.append(line)
            line = word
        else:
            line = longer
    assert list(text_lines(text, 28, width)) == [*expected, line]


def test_chinese_is_as_wide_as_high_and_breaks_anywhere_but_before_a_full_stop() -> None:
    assert text_width("\u8bbe\u7f6e", 28) == 56
    assert full_width("\U0001f600")
    lines = text_lines("\u8bbe\u7f6e\u7f51\u7edc\u3002\u6253\u5f00 Wi-Fi", 20, 84)
    assert lines == ("\u8bbe\u7f6e\u7f51", "\u7edc\u3002\u6253\u5f00", "Wi-Fi")


def test_both_themes_have_the_same_colours_by_name() -> None:
    assert LIGHT.keys() == DARK.keys()
