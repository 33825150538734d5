"""The simulated phone: one deterministic object, driven by gestures, that answers with screens and snapshots.

``Phone`` is all that others see; what it does is in ``parts``, one idea a module, and each part holds its own state.
What the apps show is in ``apps``; how others reach the phone (RPC, shell) is in ``u2`` and ``shell``. Nothing sleeps or
reads the wall clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agent_eval.device_sim import keyboard, profile
from agent_eval.device_sim.apps import APPS, systemui
from agent_eval.device_sim.clock import VirtualClock
from agent_eval.device_sim.events import EventLog
from agent_eval.device_sim.faults import Faults
from agent_eval.device_sim.faults.screens import APPS as FAULT_APPS
from agent_eval.device_sim.files import Files
from agent_eval.device_sim.locales import Locale
from agent_eval.device_sim.parts import values
from agent_eval.device_sim.parts.fingers import CLICK_MS, LONG_PRESS_MS, Fingers
from agent_eval.device_sim.parts.keys import press_key
from agent_eval.device_sim.parts.language import Language
from agent_eval.device_sim.parts.notices import Notices
from agent_eval.device_sim.parts.snapshot import snapshot_of
from agent_eval.device_sim.parts.stacks import Front, Stacks
from agent_eval.device_sim.parts.text_entry import TextEntry
from agent_eval.device_sim.parts.wakes import Wakes
from agent_eval.device_sim.parts.windows import Windows, display_of
from agent_eval.device_sim.paths import Paths
from agent_eval.device_sim.screen import WRITTEN, App, Screen
from agent_eval.device_sim.ui import Display, View, Window
from agent_eval.types import FiredFault, PhoneSetup, Scalar, Snapshot

if TYPE_CHECKING:
    from PIL import Image


class Phone:
    """A phone with a virtual clock.

    Args:
        setup: What it is to begin with.
        apps: What is installed, by package; the launcher and the system's windows are apps too.
    """

    state: Paths
    """What is persisted, by path."""
    world: Paths
    """What else the phone as a whole remembers, by path."""
    clipboard: str
    language: Language
    stacks: Stacks
    entry: TextEntry
    notices: Notices
    fingers: Fingers
    shown: Windows
    wakes: Wakes

    def __init__(self, setup: PhoneSetup | None = None, apps: Mapping[str, App] = APPS) -> None:
        self.apps = self._factory_apps = apps
        self.schema = profile.schema_of(apps.values())
        known = (*apps.values(), *FAULT_APPS.values())
        self.screens: dict[str, Screen] = {name: screen for app in known for name, screen in app.screens.items()}
        self._owners = {name: app.package for app in known for name in app.screens}
        self.events = EventLog(lambda: self.clock.now_ms)
        self.reset(setup or PhoneSetup(seed=0))

    # ------------------------------------------------------------------ the owner's side
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
        self.clock, self.boot_ms = VirtualClock(fresh.epoch_ms), fresh.epoch_ms
        self.files = Files(self.state, lambda: self.clock.now_ms // 1000, self.changed)
        written = {path: int(value) for path, value in fresh.world.items() if path.startswith(WRITTEN)}
        self.files.remember_times({path[len(WRITTEN) :]: seconds for path, seconds in written.items()})
        self.clipboard = ""
        self.input_methods = [f"{keyboard.PACKAGE}/.LatinIME"]

        self.language = self._spoken()
        self.stacks = Stacks(self)
        self.entry = TextEntry(self)
        self.notices = Notices(self)
        self.fingers = Fingers(self)
        self.shown = Windows(self, display_of(setup))
        self.wakes = Wakes(self)
        faults.begin(self)

    def snapshot(self) -> Snapshot:
        """Return the state as it is now."""
        return snapshot_of(self)

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Change persisted paths once, when ``after_s`` seconds of virtual time have passed.

        Raises:
            TaskFault: a path or value does not exist on this phone.
        """
        values.schedule(self, round(after_s * 1000), changes)

    def fired(self) -> tuple[FiredFault, ...]:
        """Return the faults that showed since the last reset, in order."""
        return tuple(self.faults.fired)

    # ------------------------------------------------------------------ time
    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the epoch; a screen that reads them is built anew whenever time passes."""
        self.shown.follow_milliseconds = True
        return self.clock.now_ms

    @property
    def local_time(self) -> datetime:
        """The date and time that the phone shows."""
        return self.clock.local

    def after(self, milliseconds: int, action: Callable[[], object]) -> None:
        """Run an action once, when virtual time has passed."""
        self.clock.at(self.clock.now_ms + milliseconds, action)

    def advance(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.pass_time(round(seconds * 1000))

    def pass_time(self, milliseconds: int) -> None:
        """Let milliseconds of virtual time pass."""
        second = self.clock.now_ms // 1000
        fired = self.clock.advance(milliseconds)
        if fired or self.shown.follow_milliseconds or self.clock.now_ms // 1000 != second:
            self.changed()

    # ------------------------------------------------------------------ values: parts/values.py, parts/wakes.py
    def changed(self) -> None:
        """Know that something which screens may show is not as it was."""
        self.shown.stale = True

    def put(self, path: str, value: Scalar) -> None:
        """Persist a value, with all that follows from it on a phone.

        Raises:
            TaskFault: the path or value does not exist on this phone.
        """
        values.put(self, path, value)

    def remove(self, prefix: str) -> None:
        """Delete the record stored below a prefix."""
        values.remove(self, prefix)

    def clear_data(self, package: str) -> None:
        """Stop an app and delete all that it keeps, as ``pm clear`` does."""
        values.clear_data(self, package)

    # ------------------------------------------------------------------ language: parts/language.py
    @property
    def locale(self) -> Locale:
        """How the phone writes times and dates."""
        return self.language.locale

    def say(self, english: str, screen: str) -> str:
        """Return a text of the app that owns a screen in the phone's language."""
        if not self.language.translates:  # most phones are English, and every text of every screen comes by here
            return english
        return self.language.say(english, self._owners.get(screen, ""))

    def _spoken(self) -> Language:
        return Language(self.state, {**self.apps, **FAULT_APPS} if self.faults else self.apps)

    def speak_anew(self) -> None:
        """Use the language and the clock that Settings has by now."""
        self.language = self._spoken()
        self.show_on(self.display)  # the navigation bar has words too

    # ------------------------------------------------------------------ notices: parts/notices.py
    def notify(self, package: str, title: str, text: str) -> int:
        """Put a notification into the shade, unless its app may not post any; return its number, or 0."""
        return self.notices.notify(package, title, text)

    def heads_up(self, package: str, title: str, text: str) -> int:
        """Post a notification and show it at the top of the screen for five seconds; return its number, or 0."""
        return self.notices.heads_up(package, title, text)

    def hide_heads_up(self) -> None:
        """Take a heads-up notification from the top of the screen; it stays in the shade."""
        self.notices.hide_heads_up()

    def show_toast(self, text: str) -> None:
        """Show a short message for two seconds."""
        self.notices.show_toast(text)

    @property
    def toast(self) -> str | None:
        """The short message that is showing."""
        return self.notices.toast

    # ------------------------------------------------------------------ tasks and pages: parts/stacks.py
    def owner_of(self, screen: str) -> str:
        """Return the package of the app that a screen belongs to."""
        return self._owners.get(screen, systemui.PACKAGE)

    @property
    def front(self) -> Front:
        """The package, activity and screen in front."""
        return self.stacks.front

    @property
    def front_package(self) -> str:
        """The package in front."""
        return self.stacks.front.package

    @property
    def recents(self) -> tuple[str, ...]:
        """Packages with a task, the latest first."""
        return tuple(reversed(self.stacks.used))

    @property
    def running(self) -> tuple[str, ...]:
        """Packages with a process."""
        return (systemui.PACKAGE, *self.stacks.tasks)

    def restarts(self, package: str) -> int:
        """Return how often the process of a package has ended since the phone was made."""
        return self.stacks.endings[package]

    def open_app(self, package: str, activity: str | None = None) -> bool:
        """Bring an app to the front, as it was left or on the page that an activity names; tell whether it is there."""
        return self.stacks.open_app(package, activity)

    def force_stop(self, package: str) -> None:
        """End an app: its pages and all that it had not saved are gone."""
        self.stacks.dismiss(package)

    def dismiss_task(self, package: str) -> None:
        """Drop the task of an app; from the front, it goes to the home page."""
        self.stacks.dismiss(package)

    def go_home(self) -> None:
        """Show the home page."""
        self.stacks.go_home()

    def open_page(self, screen: str, variables: Mapping[str, Scalar]) -> None:
        """Put a page on top of the task in front."""
        self.stacks.open_page(screen, variables)

    def close_page(self) -> None:
        """Close the page on top; closing the only one leaves the app, which keeps it."""
        self.stacks.close_page()

    def tell_page(self, variables: Mapping[str, Scalar]) -> None:
        """Set variables of the page on top."""
        self.stacks.in_focus.vars.update(variables)
        self.changed()

    def open_shade(self, settings: bool = False) -> None:
        """Open the notification shade, as a swipe down from the status bar does, or all of quick settings."""
        self.stacks.open_shade(settings=settings)

    # ------------------------------------------------------------------ what is on the screen: parts/windows.py
    @property
    def display(self) -> Display:
        """The screen's density, size of text and rotation."""
        return self.shown.display

    def show_on(self, display: Display) -> None:
        """Use another density, size of text or rotation from now on."""
        self.shown.show_on(display)

    def rotate(self, rotation: int) -> None:
        """Hold the phone another way: quarter turns counter-clockwise, 0 to 3."""
        if rotation % 4 != self.display.rotation:
            self.show_on(replace(self.display, rotation=rotation % 4))

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows that accessibility reports, laid out: status bar, active window, keyboard, navigation bar.

        A dialog hides the window below it from accessibility, as AccessibilityWindowManager does for modal windows.
        """
        return self.shown.current()

    @property
    def active_window(self) -> Window:
        """The window that has the input focus."""
        return self.windows[1]

    def hierarchy_xml(self, *, compressed: bool = False, max_depth: int = 50, active_only: bool = False) -> str:
        """Return the windows as uiautomator2's server dumps them."""
        return self.shown.dump(compressed=compressed, max_depth=max_depth, active_only=active_only)

    def uiautomator_dump(self, *, compressed: bool = False) -> str:
        """Return the active window as the command ``uiautomator dump`` writes it; nothing when it finds none."""
        return self.shown.dump_active(compressed=compressed)

    def screenshot(self) -> Image.Image:
        """Draw what the screen shows."""
        from agent_eval.device_sim.render import screenshot  # Pillow is loaded only when somebody looks

        return screenshot(self)

    # ------------------------------------------------------------------ fingers: parts/fingers.py
    def tap(self, x: float, y: float) -> None:
        """Touch a point for 100 ms."""
        self.fingers.press(x, y, CLICK_MS)

    def long_press(self, x: float, y: float, duration_s: float = LONG_PRESS_MS / 1000) -> None:
        """Touch a point and hold it."""
        self.fingers.press(x, y, round(duration_s * 1000))

    def swipe(self, x1: float, y1: float, x2: float, y2: float, duration_s: float = 0.275) -> None:
        """Move a finger in a straight line; the content follows it, without fling."""
        self.fingers.swipe_along([(x1, y1), (x2, y2)], round(duration_s * 1000))

    # ------------------------------------------------------------------ text: parts/keys.py, parts/text_entry.py
    def key(self, name: str | int) -> bool:
        """Press a key by name or code; tell whether the phone has it."""
        return press_key(self, name)

    @property
    def keyboard_open(self) -> bool:
        """Whether the soft keyboard is showing."""
        return self.entry.layer is not None

    def hide_keyboard(self) -> None:
        """Close the keyboard and let go of the focus, as an app does once it has what it asked for."""
        self.entry.let_go()

    def focused(self) -> View | None:
        """Return the input field that has the focus."""
        return self.entry.focused()

    def type_text(self, text: str) -> bool:
        """Insert text at the cursor of the focused field; tell whether there is one."""
        return self.entry.type_text(text)

    def clear_text(self) -> bool:
        """Delete everything in the focused field; tell whether there is one."""
        return self.entry.clear_text()
