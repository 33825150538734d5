from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.types import PhoneSetup, Skin
from tests.device_sim.conftest import Finger

LAUNCHER = "com.android.launcher3:id/"


def open_drawer(finger: Finger) -> None:
    finger.phone.go_home()
    finger.phone.swipe(360, 1000, 360, 400)


def icons(finger: Finger) -> list[str]:
    """Read the drawer from its top to its end."""
    names: list[str] = []
    for _ in range(12):
        shown = [
            node.view.text
            for node in finger.all(className="android.widget.TextView", packageName="com.android.launcher3")
            if node.view.icon.startswith("app:")
        ]
        names += [name for name in shown if name not in names]
        finger.phone.swipe(360, 1000, 360, 700)
    return names


def test_a_swipe_up_on_the_home_page_opens_the_drawer_and_back_closes_it(make: Callable[..., Finger]) -> None:
    finger = make()
    open_drawer(finger)
    assert finger.phone.front.screen == "launcher/drawer"
    for name in ("apps_view", "apps_list_view", "fallback_search_view"):
        assert finger.sees(resourceId=LAUNCHER + name)
    finger.phone.key("back")
    assert finger.phone.front.screen == "launcher/home"


def test_a_swipe_down_at_the_top_of_the_drawer_closes_it_and_further_down_only_scrolls() -> None:
    finger = Finger(Phone(PhoneSetup(seed=1, skin=Skin(density=480))))
    open_drawer(finger)
    finger.phone.swipe(360, 1000, 360, 700)
    finger.phone.swipe(360, 500, 360, 560)
    assert finger.phone.front.screen == "launcher/drawer"
    finger.phone.swipe(360, 500, 360, 1100)
    finger.phone.swipe(360, 500, 360, 1100)
    assert finger.phone.front.screen == "launcher/home"


def test_a_swipe_down_on_the_home_page_opens_the_notification_shade(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.swipe(360, 500, 360, 900)
    assert finger.phone.front.screen == "systemui/shade"


def test_the_drawer_lists_every_app_with_an_icon_by_name(make: Callable[..., Finger]) -> None:
    finger = make()
    open_drawer(finger)
    found = icons(finger)
    assert found == sorted(found, key=str.lower)
    assert set(found) == {app.label for app in APPS.values() if app.launchable and not app.hidden}


def test_searching_the_drawer_leaves_the_apps_that_match_and_opens_one(make: Callable[..., Finger]) -> None:
    finger = make()
    open_drawer(finger)
    finger.tap(resourceId=LAUNCHER + "fallback_search_view")
    finger.phone.type_text("calcul")
    assert not finger.sees(text="Camera")
    finger.tap(text="Calculator")
    assert finger.phone.front.package == "com.android.calculator2"
    open_drawer(finger)
    finger.tap(resourceId=LAUNCHER + "fallback_search_view")
    finger.phone.type_text("zzz")
    assert finger.sees(text="No apps found")


def test_an_icon_is_removed_from_the_home_page_and_added_again_from_the_drawer(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.long_press(*finger.center(text="Camera"))
    finger.tap(text="Remove")
    assert finger.phone.front.screen == "launcher/home"
    assert not finger.sees(text="Camera")
    open_drawer(finger)
    finger.phone.long_press(*finger.center(text="Camera"))
    finger.tap(text="Add to home screen")
    finger.phone.key("home")
    assert finger.sees(text="Camera")


def test_a_disabled_app_has_no_icon_and_does_not_open(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.settings")
    finger.path("Apps", "Recently opened apps", "Calculator", "Disable", "Disable app")
    assert finger.phone.state["settings/disabled_apps"] == "com.android.calculator2"
    assert not finger.phone.open_app("com.android.calculator2")
    open_drawer(finger)
    assert "Calculator" not in icons(finger)
    finger.phone.open_app("com.android.settings")
    finger.path("Enable")
    assert finger.phone.open_app("com.android.calculator2")
