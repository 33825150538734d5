"""Which activity an intent starts, and what is in front, as the system's services tell it. Knows no command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from agent_eval.device_sim.apps import launcher
from agent_eval.device_sim.shell.intents import Intent, short
from agent_eval.device_sim.shell.packages import pid_of

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone
    from agent_eval.device_sim.shell.system import System

MAIN, VIEW = "android.intent.action.MAIN", "android.intent.action.VIEW"
LAUNCHER, HOME = "android.intent.category.LAUNCHER", "android.intent.category.HOME"
_BROWSER, _DIALER, _MESSAGES = "com.android.browser", "com.android.dialer", "com.android.messaging"


def token(text: str) -> str:
    """Return the hexadecimal mark that stands for an object in a dump: the same on every phone."""
    return f"{sum(ord(c) * 131**i for i, c in enumerate(text[:64])) % 16**7:07x}"


class Record(NamedTuple):
    """One activity of a task."""

    package: str
    activity: str
    """Whole name of the class."""
    task: int

    @property
    def name(self) -> str:
        """``package/.Class``."""
        return short(f"{self.package}/{self.activity}")

    def __str__(self) -> str:
        return f"ActivityRecord{{{token(self.name)} u0 {self.name} t{self.task}}}"


def task_of(system: System, package: str) -> int:
    """Return the number of an app's task."""
    if package == launcher.PACKAGE:
        return 1
    names = list(system.phone.apps)
    return 10 + (names.index(package) if package in names else len(names))


def front(system: System) -> Record | None:
    """Return the activity in front, or None when the services do not know."""
    found = system.phone.faults.reported(system.phone.front)
    if found is None:
        return None
    return Record(found.package, found.activity, task_of(system, found.package))


def tasks(system: System) -> Iterator[Record]:
    """Yield the top activity of every task, the one in front first; none when the services do not know that one."""
    first = front(system)
    if first is None:
        return
    yield first
    phone = system.phone
    for package in (*phone.recents, launcher.PACKAGE):
        if package == first.package:
            continue
        page = phone.stacks.on_top_of(package)
        app = phone.apps.get(package)
        if page is not None and app is not None:
            yield Record(package, app.screens[page.screen].activity, task_of(system, package))


def main_activity(phone: Phone, package: str) -> str | None:
    """Return the class that the launcher starts of an app, or None."""
    app = phone.apps.get(package)
    if app is None or not (app.launchable or package == launcher.PACKAGE):
        return None
    return app.screens[app.home].activity


def resolve(system: System, intent: Intent) -> str | None:
    """Return the component that an intent starts, as ``package/whole.Class``, or None when there is none."""
    phone = system.phone
    if intent.component:
        package, _, activity = intent.component.partition("/")
        whole = package + activity if activity.startswith(".") else activity
        app = phone.apps.get(package)
        if app is None or not system.packages.can_open(package):
            return None
        known = whole in app.actions or any(s.activity == whole and not s.dialog for s in app.screens.values())
        return f"{package}/{whole}" if known else None
    for package, app in phone.apps.items():
        if intent.package in ("", package) and intent.action in app.actions and system.packages.can_open(package):
            return f"{package}/{app.screens[app.actions[intent.action]].activity}"
    wanted = _for_data(intent)
    if wanted is None and intent.action == MAIN:
        wanted = launcher.PACKAGE if HOME in intent.categories else intent.package
    if wanted is not None and intent.package in ("", wanted) and system.packages.can_open(wanted):
        main = main_activity(phone, wanted)
        return f"{wanted}/{main}" if main else None
    return None


def is_exported(system: System, component: str) -> bool:
    """Tell whether clients may start an activity, given as ``package/whole.Class``."""
    package, _, activity = component.partition("/")
    app = system.phone.apps[package]
    return activity in app.actions or any(s.activity == activity and s.exported for s in app.screens.values())


def _for_data(intent: Intent) -> str | None:
    if intent.action not in (VIEW, "android.intent.action.SENDTO", "android.intent.action.DIAL",
                             "android.intent.action.CALL", "android.intent.action.SEND"):  # fmt: skip
        return None
    if intent.action == "android.intent.action.SEND":
        return _MESSAGES
    return _SCHEMES.get(intent.data.partition(":")[0].lower())


_SCHEMES: Mapping[str, str] = MappingProxyType(
    {
        "http": _BROWSER,
        "https": _BROWSER,
        "tel": _DIALER,
        "sms": _MESSAGES,
        "smsto": _MESSAGES,
    }
)
"""Scheme of a URI to the app that shows it."""


def start(system: System, intent: Intent, component: str) -> None:
    """Bring an activity to the front and hand it its data."""
    phone = system.phone
    package, _, activity = component.partition("/")
    if intent.component or intent.action in phone.apps[package].actions:
        action = intent.action if not intent.component else activity
        phone.open_app(package, action)
    elif package == launcher.PACKAGE:
        phone.go_home()
    else:
        phone.open_app(package)
    system.memory.log.note("I", "ActivityTaskManager", f"START u0 {intent} with LAUNCH_MULTIPLE from uid 2000")
    system.memory.log.note(
        "I", "ActivityManager", f"Start proc {pid_of(phone, package)}:{package}/u0a for top-activity"
    )
    hand_over = _HANDLERS.get(package)
    if hand_over is not None and (intent.data or intent.extras):
        hand_over(phone, intent)


def _browse(phone: Phone, intent: Intent) -> None:
    if intent.data.lower().startswith(("http://", "https://")):
        phone.tell_page({"goto": intent.data[:2000]})


def _dial(phone: Phone, intent: Intent) -> None:
    number = unquote(intent.data.partition(":")[2])[:30]
    if number:
        phone.open_page("dialer/keypad", {"text/digits": number})


def _message(phone: Phone, intent: Intent) -> None:
    address = unquote(intent.data.partition(":")[2].partition("?")[0])[:40]
    body = intent.extras.get("sms_body") or intent.extras.get("android.intent.extra.TEXT", "")
    if address:
        phone.open_page("messages/thread", {"address": address, "text/body": body[:1000]})
    else:
        phone.open_page("messages/new", {"text/body": body[:1000]})


_HANDLERS: Mapping[str, Callable[[Phone, Intent], None]] = MappingProxyType(
    {_BROWSER: _browse, _DIALER: _dial, _MESSAGES: _message}
)
