"""The simulated phone: one deterministic object, driven by gestures, that answers with screens and snapshots.

Everything a phone does to itself is here: back stacks, windows, focus, the keyboard, timers. What the apps show is in
``apps``; how others reach the phone (RPC, shell) is in ``u2`` and ``shell``. Nothing sleeps or reads the wall clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_eval.device_sim import keyboard, profile
from agent_eval.device_sim.apps import APPS, launcher, systemui
from agent_eval.device_sim.clock import VirtualClock
from agent_eval.device_sim.events import EventLog
from agent_eval.device_sim.faults import Faults
from agent_eval.device_sim.faults.screens import APPS as FAULT_APPS
from agent_eval.device_sim.files import Files
from agent_eval.device_sim.fitting import lay_out_fitting
from agent_eval.device_sim.hierarchy import dump_active_window, dump_all_windows
from agent_eval.device_sim.locales import LOCALES, Locale
from agent_eval.device_sim.paths import Paths
from agent_eval.device_sim.screen import WRITTEN, App, Page, Screen, Ui, last_id_path
from agent_eval.device_sim.skins import arrange_rows
from agent_eval.device_sim.ui import Direction, Display, Field, View, Window, dp, inside, lay_out, touched
from agent_eval.types import Bounds, FiredFault, PhoneSetup, Scalar, Snapshot

if TYPE_CHECKING:
    from PIL import Image

CLICK_MS, STEP_MS, LONG_PRESS_MS = 100, 5, 500
"""How long UiAutomator holds a click, waits per step of a swipe, and Android takes for a long press
(ViewConfiguration.DEFAULT_LONG_PRESS_TIMEOUT is 400 ms; clients hold 500 ms)."""
HEADS_UP_MS = 5000
"""How long a heads-up notification stays (config.xml, heads_up_notification_decay)."""
MOST_MOVES = 2000
"""Raw moves of one finger that are remembered; of more, only the last counts."""
Fingers = tuple[tuple[float, float], tuple[float, float]]
"""Where two fingers are."""
USUAL_DISPLAY = Display()
"""The screen that pages are written for."""
SLOP = dp(8)
"""A finger that moves less has tapped (ViewConfiguration.TOUCH_SLOP)."""

KEY_NAMES: Mapping[int, str] = MappingProxyType({
    3: "home", 4: "back", 19: "up", 20: "down", 21: "left", 22: "right", 23: "center", 24: "volume_up",
    25: "volume_down", 26: "power", 27: "camera", 61: "tab", 62: "space", 66: "enter", 67: "delete", 82: "menu",
    84: "search", 111: "escape", 164: "volume_mute", 122: "move_home",
    123: "move_end", 187: "recent", 223: "sleep", 224: "wakeup", 279: "paste",
})  # fmt: skip
"""Key codes of android.view.KeyEvent that the phone answers to, beside digits (7-16) and letters (29-54)."""
_KEY_ALIASES = {"del": "delete", "app_switch": "recent", "dpad_center": "center", "return": "enter"}


def _strings(locale: str, apps: Mapping[str, App]) -> Mapping[str, Mapping[str, str]]:
    """Return the translations of each app, and of all apps together under an empty name; nothing for English."""
    own = {package: app.strings.get(locale, {}) for package, app in apps.items()}
    if not any(own.values()):
        return {}
    shared: dict[str, str] = {}
    for table in own.values():
        for english, text in table.items():
            shared.setdefault(english, text)
    return {**own, "": shared}


@dataclass(frozen=True, slots=True)
class Front:
    """What is in front."""

    package: str
    activity: str
    screen: str


class Phone:
    """A phone with a virtual clock.

    Args:
        setup: What it is to begin with.
        apps: What is installed, by package; the launcher and the system's windows are apps too.
    """

    state: Paths
    world: Paths

    def __init__(self, setup: PhoneSetup | None = None, apps: Mapping[str, App] = APPS) -> None:
        self.apps = self._factory_apps = apps
        self.schema = profile.schema_of(apps.values())
        self._wake_prefixes = tuple(app.wake.prefix for app in apps.values() if app.wake is not None)
        known = (*self.apps.values(), *FAULT_APPS.values())
        self._screens: dict[str, Screen] = {name: screen for app in known for name, screen in app.screens.items()}
        self._owners = {name: app.package for app in known for name in app.screens}
        self.events = EventLog(lambda: self.clock.now_ms)
        self.reset(setup or PhoneSetup(seed=0))

    # ------------------------------------------------------------------------------------------------------------------
    # the owner's side

    def reset(self, setup: PhoneSetup) -> None:
        """Make the phone a fresh one that shows its launcher.

        Raises:
            TaskFault: a path, value or fault in the setup does not exist on this phone; the phone is as it was.
        """
        faults = Faults(setup)
        setup = faults.prepare(setup)
        fresh = profile.draw(setup, self._factory_apps.values(), self.schema)
        self.faults, self.skin = faults, setup.skin
        self.apps = faults.installed(self._factory_apps)
        self.state, self.world = Paths(fresh.state), Paths(fresh.world)
        self.clock = VirtualClock(fresh.epoch_ms)
        self.files = Files(self.state, lambda: self.clock.now_ms // 1000, self.changed)
        written = {path: int(value) for path, value in fresh.world.items() if path.startswith(WRITTEN)}
        self.files.remember_times({path[len(WRITTEN) :]: seconds for path, seconds in written.items()})
        self._speak()
        self.show_on(self._drawn_display(setup))
        self.boot_ms = fresh.epoch_ms
        self.clipboard = ""
        self._tasks: dict[str, list[Page]] = {launcher.PACKAGE: [Page(launcher.HOME)]}
        self._order: list[str] = []
        self._front = launcher.PACKAGE
        self._shade: Page | None = None
        self._before_recents = launcher.PACKAGE
        self._layer: keyboard.Layer | None = None
        self._toast: tuple[str, int] | None = None
        self.last_toast: str | None = None  # until a reader of accessibility events forgets it; no part of the state
        self._finger: tuple[list[tuple[float, float]], int] | None = None
        self._stale = True
        self._shows_milliseconds = False
        self._windows: tuple[Window, ...] = ()
        self._status: tuple[tuple[object, ...], View] | None = None
        self._status_seen: tuple[int, int, int] = (0, 0, 0)
        self.input_methods = [f"{keyboard.PACKAGE}/.LatinIME"]
        self._heads_up: tuple[int, int] | None = None
        self._armed: dict[str, int | None] = {}
        for app in self.apps.values():
            self._arm(app)
        faults.begin(self)

    def _drawn_display(self, setup: PhoneSetup) -> Display:
        display = Display(density=setup.skin.density, font_scale=setup.skin.font_scale)
        if "settings/density" in setup.state:
            display = replace(display, density=int(setup.state["settings/density"]))
        if "settings/font_percent" in setup.state:
            display = replace(display, font_scale=int(setup.state["settings/font_percent"]) / 100)
        return display

    def _speak(self) -> None:
        """Use the language and the clock that Settings has."""
        locale = LOCALES[str(self.state["settings/locale"])]
        hours = self.state["settings/time_format"]
        self.locale: Locale = locale if hours == "locale" else replace(locale, twelve_hours=hours == "12")
        self._strings = _strings(
            str(self.state["settings/locale"]), {**self.apps, **FAULT_APPS} if self.faults else self.apps
        )
        self._status = None

    def _speak_anew(self) -> None:
        self._speak()
        self.show_on(self.display)  # the navigation bar has words too

    def _arm(self, app: App) -> None:
        """Set the timer of an app that wants to be woken, unless it is set already."""
        wake = app.wake
        due = None if wake is None else wake.due(self)
        if wake is None or due == self._armed.get(app.package):
            return
        self._armed[app.package] = due
        if due is None:
            return

        def fire() -> None:
            if self._armed.get(app.package) == due:
                self._armed[app.package] = None
                wake.ring(self)
                self._arm(app)

        self.clock.at(due, fire)

    def _arm_for(self, path: str) -> None:
        for app in self.apps.values():
            if app.wake is not None and path.startswith(app.wake.prefix):
                self._arm(app)

    def show_on(self, display: Display) -> None:
        """Use another density, size of text or rotation from now on."""
        self.display = display
        canvas = display.canvas
        self._navigation = systemui.navigation_bar(
            self, lambda: self.key("back"), lambda: self.key("home"), lambda: self.key("recent")
        )
        lay_out(
            self._navigation,
            Bounds(0, canvas.bottom - systemui.NAVIGATION_HEIGHT, canvas.right, canvas.bottom),
            replace(display, font_scale=1.0),
        )
        self._keyboards: dict[keyboard.Layer, View] = {}
        self._status = None
        self._stale = True

    def rotate(self, rotation: int) -> None:
        """Hold the phone another way: quarter turns counter-clockwise, 0 to 3."""
        if rotation % 4 != self.display.rotation:
            self.show_on(replace(self.display, rotation=rotation % 4))

    def changed(self) -> None:
        """Know that state which screens may show was changed from outside."""
        self._stale = True

    def snapshot(self) -> Snapshot:
        """Return the state as it is now."""
        _ = self.windows  # normalises scroll positions
        front = self.front
        now: dict[str, Scalar] = {
            "ui/package": front.package,
            "ui/activity": front.activity,
            "ui/screen": front.screen,
            "ui/stack": " > ".join(page.screen for page in self._stack),
            "ui/recents": ",".join(self._order),
            "ui/keyboard": self._layer or "",
            "ui/before_recents": self._before_recents,
            "ui/toast": self.toast or "",
            "clock/now": self.clock.now_ms // 1000,
            "clock/now_ms": self.clock.now_ms % 1000,
            "clock/pending_timers": self.clock.pending,
            "clipboard/text": self.clipboard,
        }
        if self.display.rotation:
            now["ui/rotation"] = self.display.rotation
        for package, pages in self._tasks.items():
            for depth, page in enumerate(pages):
                start = f"ui/task/{package}/{depth}/{page.screen}"
                now[start] = True
                for name, value in page.vars.items():
                    now[f"{start}/{name}"] = value
        if self._shade is not None:
            now["ui/shade"] = True
        transient = sorted([*self.world.sorted_items(), *now.items()])  # no path of the world begins like those above
        return Snapshot(persisted=self.state.sorted_items(), transient=tuple(transient))

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Change persisted paths once, when ``after_s`` seconds of virtual time have passed.

        Raises:
            TaskFault: a path or value does not exist on this phone.
        """
        for path, value in changes.items():
            self.schema.check(path, value)
        wanted = dict(changes)

        def fire() -> None:
            for path, value in wanted.items():
                self.put(path, value)

        self.clock.at(self.clock.now_ms + round(after_s * 1000), fire)

    def fired(self) -> tuple[FiredFault, ...]:
        """Return the faults that showed since the last reset, in order."""
        return tuple(self.faults.fired)

    def after(self, milliseconds: int, action: Callable[[], object]) -> None:
        """Run an action of an app once, when virtual time has passed."""
        self.clock.at(self.clock.now_ms + milliseconds, action)

    def advance(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._pass(round(seconds * 1000))

    def _pass(self, milliseconds: int) -> None:
        second = self.clock.now_ms // 1000
        fired = self.clock.advance(milliseconds)
        if fired or self._shows_milliseconds or self.clock.now_ms // 1000 != second:
            self._stale = True

    # ------------------------------------------------------------------------------------------------------------------
    # state, as apps change it

    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the epoch; a screen that reads them is built anew whenever time passes."""
        self._shows_milliseconds = True
        return self.clock.now_ms

    @property
    def local_time(self) -> datetime:
        """The date and time that the phone shows."""
        return self.clock.local

    def say(self, english: str, screen: str) -> str:
        """Return a text of the app that owns a screen in the phone's language."""
        if not self._strings:
            return english
        own = self._strings.get(self._owners.get(screen, ""), {})
        return own.get(english) or self._strings[""].get(english, english)

    def fresh_record(self, prefix: str, number: int) -> Mapping[str, Scalar]:
        """Return all fields of a new record, by path."""
        return self.schema.fresh_record(prefix, number)

    def put(self, path: str, value: Scalar) -> None:
        """Persist a value, with all that follows from it on a phone.

        Raises:
            TaskFault: the path or value does not exist on this phone.
        """
        self.schema.check(path, value)
        if not (self.faults and self.faults.holds_back(path, value, self.state.get(path))):
            self.settle(path, value)

    def settle(self, path: str, value: Scalar) -> None:
        """Persist a value that fits its path, whatever the phone's faults would have it."""
        self._stale = True
        if path == "battery/level":
            self.world[path] = value
            return
        record = self.schema.record_of(path)
        if record and path not in self.state:
            self.state.update(self.schema.fresh_record(record.prefix, record.number))
            last = last_id_path(record.prefix)
            self.world[last] = max(int(self.world.get(last, 0)), record.number)
        before = self.state.get(path)
        self.state[path] = value
        if value != before:
            follow = self._FOLLOWS.get(path)
            if follow is not None:
                follow(self, value)
            elif path.startswith(self._wake_prefixes):
                self._arm_for(path)

    def _switch_radios(self, *, airplane: bool) -> None:
        for radio in ("wifi_on", "bluetooth_on"):
            path = f"settings/{radio}"
            if airplane:
                self.world[f"radios/{radio}"] = self.state[path]
                self.state[path] = False
            else:
                # what was on before comes back; what was switched on meanwhile stays on
                self.state[path] = bool(self.state[path]) or bool(self.world.pop(f"radios/{radio}", False))

    _FOLLOWS: Mapping[str, Callable[[Phone, Scalar], object]] = MappingProxyType(
        {
            "settings/airplane_mode_on": lambda phone, on: phone._switch_radios(airplane=bool(on)),
            "settings/density": lambda phone, dots: phone.show_on(replace(phone.display, density=int(dots))),
            "settings/font_percent": lambda phone, percent: phone.show_on(
                replace(phone.display, font_scale=int(percent) / 100)
            ),
            "settings/locale": lambda phone, _: phone._speak_anew(),
            "settings/time_format": lambda phone, _: phone._speak_anew(),
        }
    )
    """What else happens when a persisted value changes."""

    def remove(self, prefix: str) -> None:
        """Delete the record stored below a prefix."""
        for path in [path for path in self.state if path.startswith(prefix + "/")]:
            del self.state[path]
        self._stale = True
        if (prefix + "/").startswith(self._wake_prefixes):
            self._arm_for(prefix + "/")

    def clear_data(self, package: str) -> None:
        """Stop an app and delete all that it keeps, as ``pm clear`` does."""
        app = self.apps[package]
        self.dismiss_task(package)
        for prefix in app.records:
            self.remove(prefix)
        for path, kind in app.paths.items():
            self.put(path, kind.start)

    def owner_of(self, screen: str) -> str:
        """Return the package of the app that a screen belongs to."""
        return self._owners.get(screen, systemui.PACKAGE)

    # ------------------------------------------------------------------------------------------------------------------
    # notifications

    def notify(self, package: str, title: str, text: str) -> int:
        """Put a notification into the shade, unless its app may not post any; return its number, or 0."""
        if package in str(self.state["settings/muted_apps"]).split(","):
            return 0
        if self.state.get(f"permissions/{package}/POST_NOTIFICATIONS", "granted") != "granted":
            return 0
        number = int(self.world.get(last_id_path(systemui.NOTICES), 0)) + 1
        fields: dict[str, Scalar] = {
            "package": package, "title": title, "text": text, "posted": self.clock.now_ms // 1000,
        }  # fmt: skip
        for name, value in fields.items():
            self.put(f"{systemui.NOTICES}/{number}/{name}", value)
        return number

    def heads_up(self, package: str, title: str, text: str) -> int:
        """Post a notification and show it at the top of the screen for five seconds; return its number, or 0."""
        number = self.notify(package, title, text)
        if number and not self.state["settings/do_not_disturb"]:
            self._heads_up = (number, self.clock.now_ms + HEADS_UP_MS)
            self.clock.at(self.clock.now_ms + HEADS_UP_MS, self.changed)
        return number

    def hide_heads_up(self) -> None:
        """Take a heads-up notification from the top of the screen; it stays in the shade."""
        self._heads_up = None
        self._stale = True

    @property
    def heads_up_number(self) -> int:
        """Number of the notification at the top of the screen, or 0."""
        return self._heads_up[0] if self._heads_up and self.clock.now_ms < self._heads_up[1] else 0

    def show_toast(self, text: str) -> None:
        """Show a short message for two seconds; it is no window, as on a real phone."""
        self._toast = (text, self.clock.now_ms + 2000)
        self.last_toast = text

    @property
    def toast(self) -> str | None:
        """The short message that is showing."""
        return self._toast[0] if self._toast and self.clock.now_ms < self._toast[1] else None

    def clear_toast(self) -> None:
        """Forget the short message."""
        self._toast = None

    # ------------------------------------------------------------------------------------------------------------------
    # tasks and pages

    @property
    def _stack(self) -> list[Page]:
        return self._tasks[self._front]

    @property
    def _page(self) -> Page:
        return self._shade or self._stack[-1]

    @property
    def front(self) -> Front:
        """The package, activity and screen in front."""
        page = self._stack[-1]
        if self._shade is None and self._screens[page.screen].package:
            screen = self._screens[page.screen]
            return Front(screen.package, screen.activity, page.screen)
        activity = next(
            self._screens[below.screen].activity
            for below in reversed(self._stack)
            if not self._screens[below.screen].dialog
        )
        if self._shade is not None:
            return Front(self._front, activity, self._shade.screen)
        tab = page.vars.get("tab")
        return Front(self._front, activity, f"{page.screen.partition('/')[0]}/{tab}" if tab else page.screen)

    @property
    def reported_front(self) -> Front | None:
        """What system services say is in front; None when they do not know."""
        return self.faults.reported(self.front)

    @property
    def page_in_focus(self) -> Page:
        """The page that takes the input."""
        return self._page

    @property
    def front_package(self) -> str:
        """The package in front."""
        return self.front.package

    @property
    def recents(self) -> tuple[str, ...]:
        """Packages with a task, the latest first."""
        return tuple(reversed(self._order))

    @property
    def running(self) -> tuple[str, ...]:
        """Packages with a process."""
        return (systemui.PACKAGE, *self._tasks)

    def open_app(self, package: str, activity: str | None = None) -> bool:
        """Bring an app to the front, as it was left; with an activity, on the page that it names.

        Returns:
            Whether there is such an app and activity.
        """
        app = self.apps.get(package)
        if app is None or (activity is None and not app.launchable and package != launcher.PACKAGE):
            return False
        if package in str(self.state["settings/disabled_apps"]).split(","):
            return False
        screen = None
        if activity is not None:
            full = package + activity if activity.startswith(".") else activity
            screen = app.actions.get(full) or next(
                (name for name, known in app.screens.items() if known.activity == full and not known.dialog), None
            )
            if screen is None:
                return False
        self._leave()
        if package == launcher.PACKAGE:
            self.go_home()
            return True
        pages = self._tasks.setdefault(package, [Page(app.home)])
        self._front = package
        if package in self._order:
            self._order.remove(package)
        self._order.append(package)
        if screen is not None and screen != app.home:
            pages.append(Page(screen))
        self.faults.launched(package)
        return True

    def force_stop(self, package: str) -> None:
        """End an app: its pages and all that it had not saved are gone."""
        if package == launcher.PACKAGE:
            return
        self.dismiss_task(package)

    def dismiss_task(self, package: str) -> None:
        """Drop the task of an app; from the front, it goes to the home page."""
        if package in self._tasks and package != launcher.PACKAGE:
            if self._front == package:
                self.go_home()
            del self._tasks[package]
            self._order.remove(package)
        self._stale = True

    def go_home(self) -> None:
        """Show the home page."""
        self._leave()
        self._front = launcher.PACKAGE
        self._tasks[launcher.PACKAGE] = [Page(launcher.HOME)]

    def open_page(self, screen: str, variables: Mapping[str, Scalar]) -> None:
        """Put a page on top of the task in front."""
        self._leave()
        page = Page(screen, dict(variables))
        self._stack.append(page)
        on_open = self._screens[screen].on_open
        if on_open is not None:
            on_open(Ui(self, page, self.area, self.display.canvas))

    def close_page(self) -> None:
        """Close the page on top; closing the only one leaves the app, which keeps it."""
        if self._shade is not None:
            self._leave()
            return
        self._leave()
        if len(self._stack) > 1:
            was = self._stack.pop()
            if was.screen == launcher.RECENTS and self._before_recents in self._tasks:
                self._front = self._before_recents
        elif self._front != launcher.PACKAGE:
            self.go_home()

    def tell_page(self, variables: Mapping[str, Scalar]) -> None:
        """Set variables of the page on top."""
        self._page.vars.update(variables)
        self._stale = True

    def hide_keyboard(self) -> None:
        """Close the keyboard and let go of the focus, as an app does once it has what it asked for."""
        self._layer = None
        self._page.vars.pop("focus", None)
        self._stale = True

    def _leave(self) -> None:
        """Let go of what belongs to the page in front: the keyboard, the focus, the shade."""
        self._stale = True
        self._shade = None
        self._layer = None
        self._stack[-1].vars.pop("focus", None)
        self._stack[-1].vars.pop("selected", None)
        self._stack[-1].vars.pop("cursor", None)
        self._stack[-1].vars.pop("toolbar", None)

    def _toggle_recents(self) -> None:
        if self._stack[-1].screen == launcher.RECENTS:
            others = [package for package in self.recents if package != self._before_recents]
            target = (others or list(self.recents) or [launcher.PACKAGE])[0]
            self.open_app(target)
            return
        self._leave()
        self._before_recents = self._front
        self._front = launcher.PACKAGE
        self._tasks[launcher.PACKAGE] = [Page(launcher.HOME), Page(launcher.RECENTS)]

    def open_shade(self, settings: bool = False) -> None:
        """Open the notification shade, as a swipe down from the status bar does, or all of quick settings."""
        self._leave()
        self._heads_up = None
        self._shade = Page(systemui.QUICK_SETTINGS if settings else systemui.SHADE)

    # ------------------------------------------------------------------------------------------------------------------
    # windows

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows that accessibility reports, laid out: status bar, active window, keyboard, navigation bar.

        A dialog hides the window below it from accessibility, as AccessibilityWindowManager does for modal windows.
        """
        if self._stale:
            self._shows_milliseconds = False
            self._windows = self._build()
            self._stale = False
        return self._windows

    @property
    def area(self) -> Bounds:
        """The part of the screen left to pages, in layout pixels."""
        canvas = self.display.canvas
        shrinks = self._layer is not None and not self.faults.keyboard_covers
        bottom = canvas.bottom - systemui.NAVIGATION_HEIGHT - (keyboard.HEIGHT if shrinks else 0)
        return Bounds(0, systemui.STATUS_HEIGHT, canvas.right, bottom)

    def _build(self) -> tuple[Window, ...]:
        seen = (self.state.version, self.world.version, self.clock.now_ms // 60_000)
        if self._status is None or self._status_seen != seen:
            key = systemui.status_key(self)
            if self._status is None or self._status[0] != key:
                bar = systemui.status_bar(self)
                top = Bounds(0, 0, self.display.canvas.right, systemui.STATUS_HEIGHT)
                lay_out(bar, top, replace(self.display, font_scale=1.0))
                self._status = (key, bar)
            self._status_seen = seen
        windows = [Window("status", systemui.PACKAGE, self._status[1]), self.window_of(self._page)]
        if self._layer:
            windows.append(Window("keyboard", keyboard.PACKAGE, self._keyboard(self._layer)))
        windows.append(Window("navigation", systemui.PACKAGE, self._navigation))
        alert = self._alert()
        if alert is not None:
            windows.append(Window("alert", systemui.PACKAGE, alert))
        return tuple(windows)

    def _alert(self) -> View | None:
        """Build what is shown on top of everything: an app that rings, or a notification that just came."""
        if self._shade is not None:
            return None
        alert = systemui.alert(self, self.heads_up_number)
        if alert is not None:
            below = self.display.canvas._replace(top=systemui.STATUS_HEIGHT)
            lay_out(alert, below, self.display)
        return alert

    def window_of(self, page: Page) -> Window:
        """Build and lay out the window of one page."""
        screen = self._screens[page.screen]
        canvas = self.display.canvas
        ui = Ui(self, page, self.area, canvas)

        def build() -> View:
            root = screen.build(ui)
            arrange_rows(page.screen, root, self.skin.row_order)
            self.faults.dress(ui, root)
            return root

        place = self.area if screen.dialog else canvas
        if self.display == USUAL_DISPLAY:
            root = build()
            scrolling = lay_out(root, place, self.display)
        else:
            root, scrolling = lay_out_fitting(build, place, self.display, page.vars)
        for view in scrolling:
            if int(page.vars.get(f"scroll/{view.scroll}", 0)) != view.offset:
                page.vars[f"scroll/{view.scroll}"] = view.offset  # the content became shorter
        if page.vars.get("toolbar"):
            self._add_toolbar(page, root)
        package = screen.package or self._owners[page.screen]
        return Window("dialog" if screen.dialog else "activity", package, root)

    def _add_toolbar(self, page: Page, root: View) -> None:
        """Put the bar with Cut, Copy and Paste over the focused field, or below it where there is no room above."""
        field = next((view for view in root.visible() if view.field and view.focused), None)
        if field is None or field.bounds is None:
            return
        selected = bool(page.vars.get("selected"))
        entries: list[tuple[str, Callable[[], object]]] = []
        if selected and not field.password:
            entries += [("Cut", lambda: self._cut(field)), ("Copy", lambda: self._copy(field))]
        if self.clipboard:
            entries.append(("Paste", lambda: self._paste()))
        if field.text and not selected:
            entries.append(("Select all", lambda: page.vars.update(selected=True)))
        if not entries:
            return
        ui = Ui(self, page, self.area, self.display.canvas)
        bar = systemui.text_toolbar(ui, entries)
        scale = self.display.scale
        room, height = Bounds(*(round(edge / scale) for edge in root.rect)), dp(44)
        left, top = round(field.bounds.left / scale), round(field.bounds.top / scale) - height
        if top < room.top + (0 if self._screens[page.screen].dialog else systemui.STATUS_HEIGHT):
            top = min(round(field.bounds.bottom / scale), room.bottom - height)
        lay_out(bar, Bounds(min(left, room.right - dp(200)), top, room.right, room.bottom), self.display)
        root.children = (*root.children, bar)

    def _copy(self, field: View) -> None:
        self.clipboard = field.text
        self._page.vars.pop("toolbar", None)

    def _cut(self, field: View) -> None:
        self._copy(field)
        self.replace_text(field, "")

    def _paste(self) -> None:
        self.type_text(self.clipboard)

    def pages_in_front(self) -> Iterator[Page]:
        """Yield the pages of the front task that a picture shows, from the lowest to the one on top."""
        start = max(i for i, page in enumerate(self._stack) if not self._screens[page.screen].dialog)
        yield from self._stack[start:]
        if self._shade is not None:
            yield self._shade

    def page_on_top(self, package: str) -> Page | None:
        """Return the page that an app's task shows, dialogs left out."""
        pages = self._tasks.get(package, ())
        return next((page for page in reversed(pages) if not self._screens[page.screen].dialog), None)

    def _keyboard(self, layer: keyboard.Layer) -> View:
        view = self._keyboards.get(layer)
        if view is None:
            view = keyboard.keyboard(layer, self._press_soft_key)
            canvas = self.display.canvas
            bottom = canvas.bottom - systemui.NAVIGATION_HEIGHT
            place = Bounds(0, bottom - keyboard.HEIGHT, canvas.right, bottom)
            lay_out(view, place, replace(self.display, font_scale=1.0))
            self._keyboards[layer] = view
        return view

    def hierarchy_xml(self, *, compressed: bool = False, max_depth: int = 50, active_only: bool = False) -> str:
        """Return the windows as uiautomator2's server dumps them."""
        windows = self._read()
        if active_only and len(windows) > 1:
            windows = (windows[1],)
        rotation = self.display.rotation
        return dump_all_windows(windows, compressed=compressed, max_depth=max_depth, rotation=rotation)

    def uiautomator_dump(self, *, compressed: bool = False) -> str:
        """Return the active window as the command ``uiautomator dump`` writes it; nothing when it finds none."""
        windows = self._read()
        if not windows:
            return ""
        active = windows[min(1, len(windows) - 1)]
        return dump_active_window(active, compressed=compressed, rotation=self.display.rotation)

    def _read(self) -> tuple[Window, ...]:
        """Return the windows as a client gets to see them."""
        if not self.faults:
            return self.windows
        self.faults.before_read()
        return self.faults.read(self.windows)

    @property
    def active_window(self) -> Window:
        """The window that has the input focus."""
        return self.windows[1]

    @property
    def keyboard_open(self) -> bool:
        """Whether the soft keyboard is showing."""
        return self._layer is not None

    def screenshot(self) -> Image.Image:
        """Draw what the screen shows."""
        from agent_eval.device_sim.render import screenshot  # Pillow is loaded only when somebody looks

        return screenshot(self)

    # ------------------------------------------------------------------------------------------------------------------
    # fingers

    def tap(self, x: float, y: float) -> None:
        """Touch a point for 100 ms."""
        self._press(x, y, CLICK_MS)

    def long_press(self, x: float, y: float, duration_s: float = LONG_PRESS_MS / 1000) -> None:
        """Touch a point and hold it."""
        self._press(x, y, round(duration_s * 1000))

    def press(self, x: float, y: float, milliseconds: int) -> None:
        """Touch a point for as long as given; half a second and more is a long press."""
        self._press(x, y, milliseconds)

    def _press(self, x: float, y: float, milliseconds: int) -> None:
        self._pass(milliseconds)
        self._release(x, y, milliseconds)

    def _release(self, x: float, y: float, milliseconds: int) -> None:
        """Lift a finger that was held on a point."""
        if not self.world["screen/on"] or not inside(self.display.bounds, x, y):
            return
        window = self._window_at(x, y)
        if self.faults:
            if not self.faults.lets_touch(window, x, y):
                return
            window = self._window_at(x, y)  # what lies there may have moved
        if window is None:
            if self.active_window.kind == "dialog" and not self._screens[self._page.screen].modal:
                self.close_page()  # a touch outside a dialog cancels it
            return
        view = touched(window.root, x, y, _takes_taps)
        kind = "tap" if milliseconds < LONG_PRESS_MS else "long press"
        self.events.add(kind, f"{x:.0f}, {y:.0f} {_name(view)}")
        if view is None or not view.enabled:
            return
        if self.faults:
            self.faults.touching(window, view, self._page)
        if view.on_slide is not None:
            view.on_slide(_share(view, x))
        elif view.field is not None:
            held = milliseconds >= LONG_PRESS_MS
            self._focus(view, select_all=held and bool(view.text))
            if held:
                self._page.vars["toolbar"] = True
        elif milliseconds >= LONG_PRESS_MS and view.on_hold is not None:
            view.on_hold()
        elif view.on_tap is not None:
            view.on_tap()
        self.faults.let_go()
        self._stale = True

    @property
    def _status_height(self) -> float:
        return systemui.STATUS_HEIGHT * self.display.scale

    def _window_at(self, x: float, y: float) -> Window | None:
        for window in reversed(self.windows):
            if inside(window.root.bounds, x, y):
                if window.kind in ("activity", "dialog") and y < self._status_height:
                    continue  # the status bar lies above the page
                return window
        return None

    def swipe(self, x1: float, y1: float, x2: float, y2: float, duration_s: float = 0.275) -> None:
        """Move a finger in a straight line; the content follows it, without fling."""
        self.swipe_along([(x1, y1), (x2, y2)], round(duration_s * 1000))

    def swipe_along(self, points: list[tuple[float, float]], milliseconds: int) -> None:
        """Move a finger along points."""
        self._pass(milliseconds)
        self._follow(points, milliseconds)

    def _follow(self, points: list[tuple[float, float]], milliseconds: int) -> None:
        """Lift a finger that was moved along points."""
        start = points[0]
        if not self.world["screen/on"] or not inside(self.display.bounds, *start):
            return
        if max(max(abs(x - start[0]), abs(y - start[1])) for x, y in points) < SLOP:
            self._release(*start, milliseconds)
            return
        end = points[-1]
        self.events.add("swipe", f"{start[0]:.0f}, {start[1]:.0f} to {end[0]:.0f}, {end[1]:.0f}")
        window = self._window_at(*start)
        if window is None:
            return
        if window.kind == "status":
            if end[1] - start[1] > self._status_height:
                self.open_shade(settings=self._shade is not None)
            return
        slider = touched(window.root, *start, lambda view: view.on_slide is not None and view.enabled)
        if slider is not None and slider.on_slide is not None:
            for x, _ in points:
                slider.on_slide(_share(slider, x))
            self._stale = True
            return
        dragged = touched(window.root, *start, lambda view: view.on_drop is not None)
        if dragged is not None and dragged.on_drop is not None:
            dragged.on_drop(*end)
            self._stale = True
            return
        vertical = abs(end[1] - start[1]) >= abs(end[0] - start[0])
        direction: Direction = "down" if end[1] > start[1] else "up"
        if not vertical:
            direction = "right" if end[0] > start[0] else "left"
        taken = touched(window.root, *start, lambda view: view.on_swipe is not None and view.on_swipe(direction))
        if taken is not None:
            self._stale = True
            return
        wanted = "column" if vertical else "row"
        area = touched(window.root, *start, lambda view: bool(view.scroll) and view.arrange == wanted)
        if area is not None and self.scroll(area, round(start[1] - end[1] if vertical else start[0] - end[0])):
            return
        if self._shade is not None and start[1] - end[1] > self._status_height:
            self.close_page()

    def scroll(self, view: View, distance: int) -> bool:
        """Move the content of a scrolling view by pixels of the display; tell whether it moved."""
        offset = min(max(view.offset + round(distance / self.display.scale), 0), view.reach)
        moved = offset != view.offset
        self._page.vars[f"scroll/{view.scroll}"] = offset
        self._stale = True
        return moved

    def touch(self, action: int, x: float, y: float) -> None:
        """Take one raw touch event: 0 down, 1 up, 2 move (MotionEvent.ACTION_*); what it does shows at the last one."""
        if action == 0:
            self._finger = ([(x, y)], self.clock.now_ms)
        elif self._finger is not None:
            points, since = self._finger
            if len(points) < MOST_MOVES:
                points.append((x, y))
            else:
                points[-1] = (x, y)
            if action == 1:
                self._finger = None
                held = self.clock.now_ms - since
                if held < STEP_MS:
                    self._pass(STEP_MS - held)
                self._follow(points, held)

    def pinch(self, starts: Fingers, ends: Fingers, milliseconds: int) -> bool:
        """Move two fingers in straight lines; tell whether the screen took them.

        A view between them that zooms is told how far apart they are at the end, relative to the beginning; two
        fingers that keep their distance drag as one does.
        """
        (x1, y1), (x2, y2) = starts
        before, after = math.dist(*starts), math.dist(*ends)
        moved = max(math.dist(start, end) for start, end in zip(starts, ends, strict=True))
        middle = ((x1 + x2) / 2, (y1 + y2) / 2)
        if not self.world["screen/on"] or not all(inside(self.display.bounds, *start) for start in starts):
            self._pass(milliseconds)
            return False
        if abs(after - before) < SLOP and moved >= SLOP:
            self.swipe_along([starts[0], ends[0]], milliseconds)
            return True
        self._pass(milliseconds)
        self.events.add("pinch", f"{middle[0]:.0f}, {middle[1]:.0f} by {after / max(before, 1):.2f}")
        window = self._window_at(*middle)
        view = touched(window.root, *middle, _zooms) if window is not None else None
        if view is not None and view.on_pinch is not None and before > 0:
            view.on_pinch(after / before)
            self._stale = True
        return True

    # ------------------------------------------------------------------------------------------------------------------
    # keys and text

    def key(self, name: str | int) -> bool:
        """Press a key by name or code; tell whether the phone has it."""
        if isinstance(name, int):
            if 7 <= name <= 16:
                self.type_text(chr(ord("0") + name - 7))
                return True
            if 29 <= name <= 54:
                self.type_text(chr(ord("a") + name - 29))
                return True
            found = KEY_NAMES.get(name)
        else:
            found = name.lower().removeprefix("keycode_")
            found = _KEY_ALIASES.get(found, found)
            found = found if found in KEY_NAMES.values() else None
        if found is None:
            return False
        self.events.add("key", found)
        self._pass(STEP_MS)
        if found in ("power", "sleep", "wakeup"):
            self.world["screen/on"] = found == "wakeup" or (found == "power" and not self.world["screen/on"])
            return True
        if self.world["screen/on"]:
            self._KEY_ACTIONS.get(found, _ignore)(self)
        return True

    def _back(self) -> None:
        if self._layer is not None:
            self._layer = None
            self._stale = True
        elif self._shade is not None or not self._answers_back():
            self.close_page()

    def _answers_back(self) -> bool:
        page = self._stack[-1]
        on_back = self._screens[page.screen].on_back
        if on_back is None or not on_back(Ui(self, page, self.area, self.display.canvas)):
            return False
        self._stale = True
        return True

    def _enter(self) -> None:
        """Do what the keyboard's action key does: start a line, submit, or go on as the Tab key does."""
        view = self.focused()
        if view is not None and view.on_submit is not None:
            self._layer = None
            self._stale = True
            view.on_submit()
        elif view is not None and view.field is not None and view.field.multiline:
            self.type_text("\n")
        else:
            self._next_field()

    def _next_field(self) -> None:
        """Go to the next field, or close the keyboard after the last."""
        fields = [view for view in self.active_window.root.visible() if view.field is not None]
        for position, view in enumerate(fields):
            if view.focused:
                if position + 1 < len(fields):
                    self._focus(fields[position + 1])
                else:
                    self._layer = None
                    self._stale = True
                return

    def _volume(self, step: int) -> None:
        level = min(max(int(self.state["settings/volume_media"]) + step, 0), 15)
        self.put("settings/volume_media", level)

    _KEY_ACTIONS: Mapping[str, Callable[[Phone], object]] = MappingProxyType(
        {
            "home": lambda phone: phone.go_home(),
            "back": _back,
            "escape": _back,
            "recent": _toggle_recents,
            "enter": _enter,
            "tab": _next_field,
            "move_home": lambda phone: phone._move_cursor(0),
            "move_end": lambda phone: phone._move_cursor(None),
            "delete": lambda phone: phone.delete_before_cursor(),
            "space": lambda phone: phone.type_text(" "),
            "paste": lambda phone: phone.type_text(phone.clipboard),
            "volume_up": lambda phone: phone._volume(1),
            "volume_down": lambda phone: phone._volume(-1),
            "volume_mute": lambda phone: phone._volume(-15),
        }
    )

    def _press_soft_key(self, name: str) -> None:
        layer = self._layer
        if layer is None:
            return
        if name in keyboard.NEXT_LAYER:
            self._layer = keyboard.NEXT_LAYER[name].get(layer, layer)
        elif name == "Delete":
            self.delete_before_cursor()
        elif name == "Enter":
            self._enter()
        else:
            self.type_text(" " if name == "Space" else name)
            if layer == "capitals":
                self._layer = "letters"
        self._stale = True

    def focused(self) -> View | None:
        """Return the input field that has the focus."""
        return next((view for view in self.active_window.root.visible() if view.field and view.focused), None)

    def _focus(self, view: View, *, select_all: bool = False) -> None:
        field = view.field
        assert field is not None
        variables = self._page.vars
        fresh = variables.get("focus") != field.name
        variables["focus"] = field.name
        variables.pop("cursor", None)
        variables.pop("toolbar", None)
        variables["selected"] = select_all or (fresh and field.select_on_focus and bool(view.text))
        if self._layer is None:
            self.faults.keyboard_opened()
        self._layer = "digits" if field.numeric else (self._layer if self._layer not in (None, "digits") else "letters")
        self._stale = True
        self._reveal(field.name)

    def _reveal(self, name: str) -> None:
        """Scroll the field that has the focus clear of the keyboard, as windows that adjustResize do."""
        way = _way_to(self.active_window.root, name)
        area = next((view for view in way if view.scroll and view.arrange == "column"), None)
        if area is None or area.bounds is None:
            return
        part = way[way.index(area) + 1]
        hidden = min(part.rect.bottom - area.bounds.bottom, part.rect.top - area.bounds.top)
        if hidden > 0:
            self.scroll(area, hidden)

    def type_text(self, text: str) -> bool:
        """Insert text at the cursor of the focused field; tell whether there is one."""
        view = self.focused()
        if view is None or view.field is None:
            return False
        self.events.add("text", "\u2022" * len(text) if view.password else text)
        if self._page.vars.get("selected", False):
            self.replace_text(view, text)
            return True
        place = self._page.vars.get("cursor")
        before = view.text if place is None else view.text[: int(place)]
        after = view.text[len(before) :]
        self.replace_text(view, before + text + after)
        if place is not None:
            self._page.vars["cursor"] = len(before) + len(text)
        return True

    def _move_cursor(self, place: int | None) -> None:
        """Put the cursor of the focused field before a character, or after the last one."""
        self._page.vars.pop("selected", None)
        self._page.vars.pop("cursor", None)
        if place is not None:
            self._page.vars["cursor"] = place
        self._stale = True

    def delete_before_cursor(self) -> bool:
        """Delete the selection, or the character before the cursor."""
        view = self.focused()
        if view is None:
            return False
        if self._page.vars.get("selected", False):
            self.replace_text(view, "")
            return True
        place = int(self._page.vars.get("cursor", len(view.text)))
        if place > 0:
            at_end = "cursor" not in self._page.vars
            self.replace_text(view, view.text[: place - 1] + view.text[place:])
            if not at_end:
                self._page.vars["cursor"] = place - 1
        return True

    def clear_text(self) -> bool:
        """Delete everything in the focused field."""
        view = self.focused()
        if view is None:
            return False
        self.replace_text(view, "")
        return True

    def replace_text(self, view: View, text: str) -> None:
        """Set the text of an input field, within what the field accepts."""
        field: Field | None = view.field
        assert field is not None
        if self.faults:
            text = self.faults.typed(view.text, text, numeric=field.numeric)
        self._page.vars[f"text/{field.name}"] = field.accept(text)
        for name in ("selected", "cursor", "toolbar"):
            self._page.vars.pop(name, None)
        self._stale = True


def _ignore(_: Phone) -> None:
    """Do nothing: a key that no page answers."""


def _name(view: View | None) -> str:
    if view is None:
        return ""
    return next((below.text or below.desc for below in view.visible() if below.text or below.desc), view.id)


def _way_to(view: View, name: str) -> list[View]:
    """Return the views from one down to the input field of a name; nothing if there is none."""
    if view.field is not None and view.field.name == name:
        return [view]
    for child in view.children:
        way = _way_to(child, name)
        if way:
            return [view, *way]
    return []


def _zooms(view: View) -> bool:
    return view.on_pinch is not None


def _takes_taps(view: View) -> bool:
    return view.clickable or view.on_slide is not None or view.on_hold is not None


def _share(view: View, x: float) -> float:
    left, right = view.rect.left + view.slide_inset, view.rect.right - view.slide_inset
    return min(max((x - left) / max(right - left, 1), 0.0), 1.0)
