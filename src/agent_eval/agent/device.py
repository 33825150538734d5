"""The agent's hands and eyes on any phone that uiautomator2 drives: simulated or real. Knows nothing of goals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent_eval.actions import (
    Action,
    GiveUp,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TaskComplete,
    TypeText,
    Wait,
)
from agent_eval.agent.prompt import plain
from agent_eval.agent.screen import ScreenWindow, read_screen, read_windows
from agent_eval.errors import DeviceFault
from agent_eval.types import ActionResult, Bounds, Element, Observation

if TYPE_CHECKING:
    import adbutils
    import uiautomator2

APPS: dict[str, tuple[str, ...]] = {
    "Activity Tracker": ("de.dennisguse.opentracks",),
    "Browser": ("com.android.browser", "com.android.chrome"),
    "Calculator": ("com.android.calculator2", "com.google.android.calculator"),
    "Calendar": ("com.android.calendar", "com.google.android.calendar"),
    "Camera": ("com.android.camera2", "com.google.android.GoogleCamera"),
    "Clock": ("com.android.deskclock", "com.google.android.deskclock"),
    "Contacts": ("com.android.contacts", "com.google.android.contacts"),
    "Expenses": ("com.arduia.expense",),
    "Files": ("com.android.documentsui", "com.google.android.documentsui", "com.google.android.apps.nbu.files"),
    "Messages": ("com.android.messaging", "com.google.android.apps.messaging"),
    "Music": ("code.name.monkey.retromusic",),
    "Notes": ("org.fossify.notes",),
    "Phone": ("com.android.dialer", "com.google.android.dialer"),
    "Recipes": ("com.flauschcode.broccoli",),
    "Recorder": ("com.dimowner.audiorecorder", "com.google.android.apps.recorder"),
    "Settings": ("com.android.settings",),
    "Tasks": ("org.tasks", "com.google.android.apps.tasks"),
    "Videos": ("org.videolan.vlc",),
}
"""Name under the icon to the packages that carry it: AOSP's or an open one first, then Google's."""

_LAUNCHERS = ("com.android.launcher3", "com.google.android.apps.nexuslauncher")
_NAMES = {package: name for name, packages in APPS.items() for package in packages}
_NAMES |= {"com.android.systemui": "System"} | dict.fromkeys(_LAUNCHERS, "Launcher")

_SWIPE_SPAN = {"up": (0, -0.25), "down": (0, 0.25), "left": (-0.35, 0), "right": (0.35, 0)}
"""How far the finger moves from the middle of the screen on either side, as shares of width and height."""
_SWIPE_STEPS = 20
_MOST_NAMES = 120
"""Characters of a list of names in a sentence."""
_NOTHING = Observation((), "")
"""What was seen before anything was."""
_WAIT_S = 1.0


def app_name(package: str) -> str:
    """Return the name that people use for a package, or the package itself."""
    return _NAMES.get(package, package)


def connect(serial: str, client: adbutils.AdbClient) -> uiautomator2.Device:
    """Connect to a phone by its serial, through an adb server.

    Raises:
        DeviceFault: there is no such phone, or its uiautomator2 server does not start.
    """
    import uiautomator2

    try:
        return uiautomator2.Device(client.device(serial))
    except _client_errors() as error:
        raise DeviceFault(
            f"cannot drive the phone {serial!r}: {error}", hint="`adb devices` must list it as `device`"
        ) from error


class UiautomatorDevice:
    """Implements ``contracts.Device`` over a ``uiautomator2.Device``.

    Args:
        client: A connected device; the simulator's in-process one or a real one.
    """

    def __init__(self, client: uiautomator2.Device) -> None:
        self._client = client
        # a phone in this process may hand out its windows as they are: the way through XML changes nothing but the time
        self._windows: Callable[[], Sequence[ScreenWindow] | None] = getattr(client, "plain_windows", _no_windows)
        self._seen = _NOTHING
        self._size: tuple[int, int] = (0, 0)

    def observe(self) -> Observation:
        """Read the screen; the numbers of its elements hold until the next call."""
        windows = self._windows()
        observation = read_screen(self._dump(), _NAMES) if windows is None else read_windows(windows, _NAMES)
        self._seen = observation
        return observation

    def perform(self, action: Action) -> ActionResult:
        """Carry out an action on the elements of the last observation."""
        try:
            return self._perform(action)
        except DeviceFault:
            raise
        except _client_errors() as error:
            raise DeviceFault(f"the device failed at {action.name}: {error}", hint="is it still connected?") from error

    def close(self) -> None:
        """Let the device go; uiautomator2 keeps no connection open between calls."""
        self._seen = _NOTHING

    def _dump(self) -> str:
        try:
            return str(self._client.dump_hierarchy())
        except _client_errors() as error:
            raise DeviceFault(f"the device shows no screen: {error}", hint="is it still connected?") from error

    def _perform(self, action: Action) -> ActionResult:
        match action:
            case Tap(index=index) | LongPress(index=index) | TypeText(index=int(index)) | Swipe(index=int(index)):
                if index >= len(self._seen.elements):
                    return ActionResult("rejected", self._no_element(index))
                return self._on_element(action, self._seen.elements[index])
            case TypeText(text=text):
                return self._type_where_the_focus_is(text)
            case Swipe(direction=direction):
                width, height = self._window_size()
                dx, dy = _SWIPE_SPAN[direction]
                x, y = width / 2, height / 2
                self._swipe(x - dx * width, y - dy * height, x + dx * width, y + dy * height)
                return ActionResult("done", f"Swiped {direction}.", f"swipe {direction}")
            case PressKey(key=key):
                self._client.press(key)
                return ActionResult("done", f"Pressed {key}.", f"key {key}")
            case OpenApp(app=name):
                return self._open_app(name)
            case Wait():
                self._client.shell(f"sleep {_WAIT_S:g}")  # on the phone, whose clock may not be this machine's
                return ActionResult("done", "Waited.", "wait")
            case TaskComplete() | GiveUp():
                return ActionResult("done", "Declared.", action.name)

    def _no_element(self, index: int) -> str:
        """Say that no element has a number, and what may have been taken for one."""
        seen = self._seen
        said = f"There is no element {index}; the screen "
        said += f"has 0 to {len(seen.elements) - 1}." if seen.elements else "shows none."
        if seen.behind:
            names = ", ".join(dict.fromkeys(element.label for element in seen.behind))
            said += f" {'The keyboard' if seen.keyboard_open else 'Something'} lies over {plain(names, _MOST_NAMES)}."
        return said

    def _target(self, element: Element) -> str:
        """Name an element by role and label and, of several namesakes, by its place among them."""
        name = f"{element.role} {element.label}"
        before = sum(
            (other.role, other.label) == (element.role, element.label) for other in self._seen.elements[: element.index]
        )
        return f"{name} ({before + 1})" if before else name

    def _on_element(self, action: Tap | LongPress | TypeText | Swipe, element: Element) -> ActionResult:
        target = self._target(element)
        x, y = element.bounds.center
        match action:
            case Tap():
                self._client.click(x, y)
                states = f", which was {' and '.join(element.states)}" if element.states else ""
                return ActionResult("done", f"Tapped {plain(element.label)}{states}.", target)
            case LongPress():
                self._client.long_click(x, y)
                return ActionResult("done", f"Held {plain(element.label)}.", target)
            case TypeText(text=text):
                if element.role != "field":
                    return ActionResult("rejected", f"{plain(element.label)} is no input field.", target)
                self._client.click(x, y)
                return self._type(text, element)
            case Swipe(direction=direction):
                self._swipe(*_across(element.bounds, direction))
                return ActionResult("done", f"Swiped {direction} on {plain(element.label)}.", f"{target} {direction}")

    def _type_where_the_focus_is(self, text: str) -> ActionResult:
        for element in self._seen.elements:
            if element.role == "field" and "focused" in element.states:
                return self._type(text, element)
        return ActionResult("rejected", "No input field has the focus; name one by its number.", "type_text")

    def _type(self, text: str, element: Element) -> ActionResult:
        """Replace what the focused field holds; an element that should have the focus by now is only named."""
        from uiautomator2.exceptions import UiObjectNotFoundError

        target = f"{self._target(element)} {text}"
        try:
            self._client(focused=True).set_text(text, timeout=0)
        except UiObjectNotFoundError:
            # a field of a page in a browser may have the focus without accessibility knowing; the keyboard tells
            if "mInputShown=true" not in str(self._client.shell("dumpsys input_method").output):
                return ActionResult(
                    "rejected", f"{plain(element.label)} did not take the focus; nothing was typed.", target
                )
            self._send_keys(text)
        return ActionResult("done", f"Typed {plain(text)} into {plain(element.label)}.", target)

    def _send_keys(self, text: str) -> None:
        """Type through the clipboard or, failing that, through an input method that is put in for just this."""
        from uiautomator2.exceptions import AdbBroadcastError

        input_method = self._client.current_ime()
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", "set FastInputIME failed")  # uiautomator2 goes on without the text
                self._client.send_keys(text, clear=True)
        except (AdbBroadcastError, Warning) as lost:
            raise DeviceFault(
                "the phone's input method did not take a text", hint="`ime list` must show com.github.uiautomator"
            ) from lost
        finally:
            if self._client.current_ime() != input_method:
                self._client.shell(["ime", "set", input_method])

    def _open_app(self, name: str) -> ActionResult:
        known = {label.casefold(): packages for label, packages in APPS.items()}
        candidates = known.get(name.strip().casefold())
        if candidates is None:
            return ActionResult("rejected", f"There is no app {plain(name)}; the apps are {', '.join(APPS)}.")
        installed = set(self._client.app_list())
        package = next((candidate for candidate in candidates if candidate in installed), None)
        if package is None:
            return ActionResult("rejected", f"The app {plain(name)} is not installed.")
        self._client.app_start(package)
        return ActionResult("done", f"Opened {app_name(package)}.", f"app {package}")

    def _swipe(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self._client.swipe(int(x1), int(y1), int(x2), int(y2), steps=_SWIPE_STEPS)

    def _window_size(self) -> tuple[int, int]:
        if self._size == (0, 0):
            width, height = self._client.window_size()
            self._size = (int(width), int(height))
        return self._size


def _no_windows() -> None:
    """Be a phone that is not in this process."""


def _across(bounds: Bounds, direction: str) -> tuple[int, int, int, int]:
    """Return a finger's way across an element, from one edge to the other, just inside it."""
    x, y = bounds.center
    left, top, right, bottom = bounds.left + 1, bounds.top + 1, bounds.right - 2, bounds.bottom - 2
    return {
        "right": (left, y, right, y),
        "left": (right, y, left, y),
        "down": (x, top, x, bottom),
        "up": (x, bottom, x, top),
    }[direction]


def _client_errors() -> tuple[type[Exception], ...]:
    """Return what uiautomator2 and adbutils raise when a device fails; imported only once a device is in use."""
    import adbutils
    from uiautomator2.exceptions import BaseException as ClientError

    return ClientError, adbutils.AdbError, OSError
