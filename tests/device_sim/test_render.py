from __future__ import annotations

from collections.abc import Callable

import pytest
from PIL import Image, ImageChops

from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.render import _ICONS
from agent_eval.device_sim.ui import View
from agent_eval.types import Bounds
from tests.device_sim.conftest import Finger


def differs(one: Image.Image, other: Image.Image, box: Bounds | None = None) -> bool:
    if box is not None:
        one, other = one.crop(box), other.crop(box)
    return ImageChops.difference(one, other).getbbox() is not None


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


def test_the_keyboard_and_a_dialog_are_drawn_over_the_page(settings: Finger) -> None:
    settings.path("About phone")
    before = settings.phone.screenshot()
    settings.path("Device name")
    settings.tap(className="android.widget.EditText")
    after = settings.phone.screenshot()
    assert differs(before, after, Bounds(0, 768, 720, 1184))
    assert differs(before, after, settings.one(text="OK").view.bounds)


def test_a_dark_screen_is_black(settings: Finger) -> None:
    settings.phone.key("power")
    assert settings.phone.screenshot().getextrema() == ((0, 0), (0, 0), (0, 0))


@pytest.mark.parametrize("package", sorted(package for package, app in APPS.items() if app.launchable))
def test_every_visible_text_and_symbol_leaves_a_trace(make: Callable[..., Finger], package: str) -> None:
    finger = make(settings__dark_theme=False, camera__photos=3)
    finger.phone.open_app(package)
    picture = finger.phone.screenshot()
    for node in finger.all(packageName=package):
        view: View = node.view
        if not view.bounds or view.bounds.bottom - view.bounds.top < 24:
            continue
        if view.text or view.icon:
            extremes = picture.crop(view.bounds).convert("L").getextrema()
            assert extremes[0] != extremes[1], (view.text, view.icon)


def test_every_symbol_that_a_screen_uses_can_be_drawn(make: Callable[..., Finger]) -> None:
    used: set[str] = set()
    for package, app in APPS.items():
        used.add(app.icon)
        finger = make(settings__wifi_on=True, settings__bluetooth_on=True, settings__airplane_mode_on=True)
        finger.phone.open_app(package)
        used |= {node.view.icon for node in finger.all()}
    plain = {icon for icon in used if icon and ":" not in icon and icon != "chip"}
    assert plain <= set(_ICONS)


def test_letters_that_the_typeface_lacks_do_not_stop_the_picture(make: Callable[..., Finger]) -> None:
    finger = make(settings__device_name="\u540d \u0141\u00f3d\u017a \U0001f600")
    finger.phone.open_app("com.android.settings")
    finger.path("About phone")
    finger.phone.screenshot()
