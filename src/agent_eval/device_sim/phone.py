"""The simulated phone: one deterministic object, driven by gestures, that answers with screens and snapshots.

Everything a phone does to itself is here: back stacks, windows, focus, the keyboard, timers. What the apps show is in
``apps``; how others reach the phone (RPC, shell) is in ``u2`` and ``shell``. Nothing sleeps or reads the wall clock.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_eval.device_sim import keyboard, profile
from agent_eval.device_sim.apps import APPS, launcher, systemui
from agent_eval.device_sim.clock import VirtualClock
from agent_eval.device_sim.files import Files
from agent_eval.device_sim.hierarchy import dump_active_window, dump_all_windows
from agent_eval.device_sim.locales import LOCALES, Locale
from agent_eval.device_sim.screen import App, Page, Screen, Ui, last_id_path
from agent_eval.device_sim.ui import Display, Field, View, Window, dp, inside, lay_out, touched
from agent_eval.types import Bounds, PhoneSetup, Scalar, Snapshot

if TYPE_CHECKING:
    from PIL import Image

CLICK_MS, STEP_MS, LONG_PRESS_MS = 100, 5, 500
"""How long UiAutomator holds a click, waits per step of a swipe, and Android takes for a long press
(ViewConfiguration.DEFAULT_LONG_PRESS_TIMEOUT is 400 ms; clients hold 500 ms)."""
SLOP = dp(8)
"""A finger that moves less has tapped (ViewConfiguration.TOUCH_SLOP)."""

KEY_NAMES: Mapping[int, str] = MappingProxyType({
    3: "home", 4: "back", 19: "up", 20: "down", 21: "left", 22: "right", 23: "center", 24: "volume_up",
    25: "volume_down", 26: "power", 27: "camera", 61: "tab", 62: "space", 66: "enter", 67: "delete", 82: "menu",
    84: "search", 111: "escape", 164: "volume_mute", 187: "recent", 223: "sleep", 224: "wakeup", 279: "paste",
})  # fmt: skip
"""Key codes of android.view.KeyEvent that the phone answers to, beside digits (7-16) and letters (29-54)."""
_KEY_ALIASES = {"del": "delete", "app_switch": "recent", "dpad_center": "center", "return": "enter"}


SCHEMA = profile.schema_of(APPS.values())
"""Every persisted path of this phone."""


@functools.lru_cache(maxsize=8)
def _strings(locale: str) -> Mapping[str, Mapping[str, str]]:
    """Return the translations of each app, and of all apps together under an empty name; nothing for English."""
    own = {app.package: app.strings.get(locale, {}) for app in APPS.values()}
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
    """

    state: dict[str, Scalar]
    world: dict[str, Scalar]

    def __init__(self, setup: PhoneSetup | None = None) -> None:
        self._screens: dict[str, Screen] = {
            name: screen for app in APPS.values() for name, screen in app.screens.items()
        }
        self._owners = {name: app.package for app in APPS.values() for name in app.screens}
        self.reset(setup or PhoneSetup(seed=0))

    # ------------------------------------------------------------------------------------------------------------------
    # the owner's side

    def reset(self, setup: PhoneSetup) -> None:
        """Make the phone a fresh one that shows its launcher.

        Raises:
            TaskFault: a path or value in the setup does not exist on this phone; the phone is as it was.
        """
        fresh = profile.draw(setup, APPS.values(), SCHEMA)
        self.state, self.world = fresh.state, fresh.world
        self.clock = VirtualClock(fresh.epoch_ms)
        self.files = Files(self.state, lambda: self.clock.now_ms // 1000, self.changed)
        self.locale: Locale = LOCALES[setup.skin.locale]
        self._strings = _strings(setup.skin.locale)
        self.show_on(Display(density=setup.skin.density, font_scale=setup.skin.font_scale))
        self.boot_ms = fresh.epoch_ms
        self.clipboard = ""
        self._tasks: dict[str, list[Page]] = {launcher.PACKAGE: [Page(launcher.HOME)]}
        self._order: list[str] = []
        self._front = launcher.PACKAGE
        self._shade: Page | None = None
        self._before_recents = launcher.PACKAGE
        self._layer: keyboard.Layer | None = None
        self._toast: tuple[str, int] | None = None
        self._finger: tuple[float, float, int] | None = None
        self._stale = True
        self._shows_milliseconds = False
        self._windows: tuple[Window, ...] = ()
        self._status: tuple[tuple[object, ...], View] | None = None
        self.input_methods = [f"{keyboard.PACKAGE}/.LatinIME"]

    def show_on(self, display: Display) -> None:
        """Use another density, size of text or rotation from now on."""
        self.display = display
        canvas = display.canvas
        self._navigation = systemui.navigation_bar(
            lambda: self.key("back"), lambda: self.key("home"), lambda: self.key("recent")
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
            **self.world,
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
        return Snapshot(persisted=tuple(sorted(self.state.items())), transient=tuple(sorted(now.items())))

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Change persisted paths once, when ``after_s`` seconds of virtual time have passed.

        Raises:
            TaskFault: a path or value does not exist on this phone.
        """
        for path, value in changes.items():
            SCHEMA.check(path, value)
        wanted = dict(changes)

        def fire() -> None:
            for path, value in wanted.items():
                self.put(path, value)

        self.clock.at(self.clock.now_ms + round(after_s * 1000), fire)

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

    @property
    def apps(self) -> Mapping[str, App]:
        """Installed apps by package."""
        return APPS

    def say(self, english: str, screen: str) -> str:
        """Return a text of the app that owns a screen in the phone's language."""
        if not self._strings:
            return english
        own = self._strings.get(self._owners.get(screen, ""), {})
        return own.get(english) or self._strings[""].get(english, english)

    def fresh_record(self, prefix: str, number: int) -> Mapping[str, Scalar]:
        """Return all fields of a new record, by path."""
        return SCHEMA.fresh_record(prefix, number)

    def put(self, path: str, value: Scalar) -> None:
        """Persist a value, with all that follows from it on a phone.

        Raises:
            TaskFault: the path or value does not exist on this phone.
        """
        SCHEMA.check(path, value)
        self._stale = True
        if path == "battery/level":
            self.world[path] = value
            return
        record = SCHEMA.record_of(path)
        if record and path not in self.state:
            self.state.update(SCHEMA.fresh_record(record.prefix, record.number))
            last = last_id_path(record.prefix)
            self.world[last] = max(int(self.world.get(last, 0)), record.number)
        before = self.state.get(path)
        self.state[path] = value
        if path == "settings/airplane_mode_on" and value != before:
            self._switch_radios(airplane=bool(value))

    def _switch_radios(self, *, airplane: bool) -> None:
        for radio in ("wifi_on", "bluetooth_on"):
            path = f"settings/{radio}"
            if airplane:
                self.world[f"radios/{radio}"] = self.state[path]
                self.state[path] = False
            else:
                # what was on before comes back; what was switched on meanwhile stays on
                self.state[path] = bool(self.state[path]) or bool(self.world.pop(f"radios/{radio}", False))

    def remove(self, prefix: str) -> None:
        """Delete the record stored below a prefix."""
        for path in [path for path in self.state if path.startswith(prefix + "/")]:
            del self.state[path]
        self._stale = True

    def show_toast(self, text: str) -> None:
        """Show a short message for two seconds; it is no window, as on a real phone."""
        self._toast = (text, self.clock.now_ms + 2000)

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
        app = APPS.get(package)
        if app is None or (activity is None and not app.launchable and package != launcher.PACKAGE):
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
        self._stack.append(Page(screen, dict(variables)))

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

    def _leave(self) -> None:
        """Let go of what belongs to the page in front: the keyboard, the focus, the shade."""
        self._stale = True
        self._shade = None
        self._layer = None
        self._stack[-1].vars.pop("focus", None)
        self._stack[-1].vars.pop("selected", None)

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

    def open_shade(self) -> None:
        """Open quick settings, as a swipe down from the status bar does."""
        self._leave()
        self._shade = Page(systemui.APP.home)

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
        bottom = canvas.bottom - systemui.NAVIGATION_HEIGHT - (keyboard.HEIGHT if self._layer else 0)
        return Bounds(0, systemui.STATUS_HEIGHT, canvas.right, bottom)

    def _build(self) -> tuple[Window, ...]:
        key = systemui.status_key(self)
        if self._status is None or self._status[0] != key:
            bar = systemui.status_bar(self)
            top = Bounds(0, 0, self.display.canvas.right, systemui.STATUS_HEIGHT)
            lay_out(bar, top, replace(self.display, font_scale=1.0))
            self._status = (key, bar)
        windows = [Window("status", systemui.PACKAGE, self._status[1]), self.window_of(self._page)]
        if self._layer:
            windows.append(Window("keyboard", keyboard.PACKAGE, self._keyboard(self._layer)))
        windows.append(Window("navigation", systemui.PACKAGE, self._navigation))
        return tuple(windows)

    def window_of(self, page: Page) -> Window:
        """Build and lay out the window of one page."""
        screen = self._screens[page.screen]
        canvas = self.display.canvas
        root = screen.build(Ui(self, page, self.area, canvas))
        for view in lay_out(root, self.area if screen.dialog else canvas, self.display):
            if int(page.vars.get(f"scroll/{view.scroll}", 0)) != view.offset:
                page.vars[f"scroll/{view.scroll}"] = view.offset  # the content became shorter
        package = screen.package or self._owners[page.screen]
        return Window("dialog" if screen.dialog else "activity", package, root)

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
        windows = (self.active_window,) if active_only else self.windows
        return dump_all_windows(windows, compressed=compressed, max_depth=max_depth)

    def uiautomator_dump(self, *, compressed: bool = False) -> str:
        """Return the active window as the command ``uiautomator dump`` writes it."""
        return dump_active_window(self.active_window, compressed=compressed)

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
        if not self.world["screen/on"] or not inside(self.display.bounds, x, y):
            return
        window = self._window_at(x, y)
        if window is None:
            if self.active_window.kind == "dialog":
                self.close_page()  # a touch outside a dialog cancels it
            return
        view = touched(window.root, x, y, _takes_taps)
        if view is None or not view.enabled:
            return
        if view.on_slide is not None:
            view.on_slide(_share(view, x))
        elif view.field is not None:
            self._focus(view, select_all=milliseconds >= LONG_PRESS_MS and bool(view.text))
        elif milliseconds >= LONG_PRESS_MS and view.on_hold is not None:
            view.on_hold()
        elif view.on_tap is not None:
            view.on_tap()
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
        start = points[0]
        if not self.world["screen/on"] or not inside(self.display.bounds, *start):
            return
        if max(max(abs(x - start[0]), abs(y - start[1])) for x, y in points) < SLOP:
            self._press(*start, 0 if milliseconds < LONG_PRESS_MS else milliseconds)
            return
        end = points[-1]
        window = self._window_at(*start)
        if window is None:
            return
        if window.kind == "status":
            if end[1] - start[1] > self._status_height:
                self.open_shade()
            return
        slider = touched(window.root, *start, lambda view: view.on_slide is not None and view.enabled)
        if slider is not None and slider.on_slide is not None:
            for x, _ in points:
                slider.on_slide(_share(slider, x))
            self._stale = True
            return
        if self._shade is not None and start[1] - end[1] > self._status_height:
            self.close_page()
            return
        vertical = abs(end[1] - start[1]) >= abs(end[0] - start[0])
        wanted = "column" if vertical else "row"
        area = touched(window.root, *start, lambda view: bool(view.scroll) and view.arrange == wanted)
        if area is not None:
            self.scroll(area, round(start[1] - end[1] if vertical else start[0] - end[0]))

    def scroll(self, view: View, distance: int) -> bool:
        """Move the content of a scrolling view by pixels of the display; tell whether it moved."""
        offset = min(max(view.offset + round(distance / self.display.scale), 0), view.reach)
        moved = offset != view.offset
        self._page.vars[f"scroll/{view.scroll}"] = offset
        self._stale = True
        return moved

    def touch(self, action: int, x: float, y: float) -> None:
        """Take one raw touch event: 0 down, 1 up, 2 move (MotionEvent.ACTION_*)."""
        if action == 0:
            self._finger = (x, y, self.clock.now_ms)
        elif action == 1 and self._finger is not None:
            down_x, down_y, since = self._finger
            self._finger = None
            if max(abs(x - down_x), abs(y - down_y)) < SLOP:
                self._press(down_x, down_y, max(self.clock.now_ms - since, STEP_MS))
            else:
                self.swipe_along([(down_x, down_y), (x, y)], STEP_MS)

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
        else:
            self.close_page()

    def _enter(self) -> None:
        """Do what the keyboard's action key does: go to the next field, or close the keyboard after the last."""
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
            "tab": _enter,
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
        variables["selected"] = select_all or (fresh and field.select_on_focus and bool(view.text))
        self._layer = "digits" if field.numeric else (self._layer if self._layer not in (None, "digits") else "letters")
        self._stale = True

    def type_text(self, text: str) -> bool:
        """Insert text at the cursor of the focused field; tell whether there is one."""
        view = self.focused()
        if view is None or view.field is None:
            return False
        selected = self._page.vars.get("selected", False)
        self.replace_text(view, ("" if selected else view.text) + text)
        return True

    def delete_before_cursor(self) -> bool:
        """Delete the selection, or the character before the cursor."""
        view = self.focused()
        if view is None:
            return False
        self.replace_text(view, "" if self._page.vars.get("selected", False) else view.text[:-1])
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
        self._page.vars[f"text/{field.name}"] = field.accept(text)
        self._page.vars.pop("selected", None)
        self._stale = True


def _ignore(_: Phone) -> None:
    """Do nothing: a key that no page answers."""


def _takes_taps(view: View) -> bool:
    return view.clickable or view.on_slide is not None


def _share(view: View, x: float) -> float:
    left, right = view.rect.left + view.slide_inset, view.rect.right - view.slide_inset
    return min(max((x - left) / max(right - left, 1), 0.0), 1.0)
