"""The back stacks: which apps have a task, the pages of each, the one in front, and the shade above them all.

Knows what a page is and not what it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_eval.device_sim.apps import launcher, systemui
from agent_eval.device_sim.screen import App, Page
from agent_eval.types import Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone


@dataclass(frozen=True, slots=True)
class Front:
    """What is in front."""

    package: str
    activity: str
    screen: str


class Stacks:
    """The back stacks of one phone that shows its launcher.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self.tasks: dict[str, list[Page]] = {launcher.PACKAGE: [Page(launcher.HOME)]}
        """Package to its pages, the one on top last."""
        self.used: list[str] = []
        """Packages with a task, the latest last."""
        self.shade: Page | None = None
        """The notification shade, where it is open."""
        self.endings: Counter[str] = Counter()
        """How often the process of a package has ended; the next one has another number."""
        self.before_recents = launcher.PACKAGE
        """The package that the list of recent apps was opened from."""
        self._task = launcher.PACKAGE

    # ------------------------------------------------------------------ what is in front
    @property
    def pages(self) -> list[Page]:
        """The pages of the task in front, the one on top last."""
        return self.tasks[self._task]

    @property
    def in_focus(self) -> Page:
        """The page that takes the input."""
        return self.shade or self.pages[-1]

    @property
    def front(self) -> Front:
        """The package, activity and screen in front."""
        screens, page = self._phone.screens, self.pages[-1]
        screen = screens[page.screen]
        if self.shade is None and screen.package:
            return Front(screen.package, screen.activity, page.screen)
        activity = next(
            screens[below.screen].activity for below in reversed(self.pages) if not screens[below.screen].dialog
        )
        if self.shade is not None:
            return Front(self._task, activity, self.shade.screen)
        tab = page.vars.get("tab")
        return Front(self._task, activity, f"{page.screen.partition('/')[0]}/{tab}" if tab else page.screen)

    def pictured(self) -> Iterator[Page]:
        """Yield the pages that a picture shows, from the lowest to the one on top."""
        screens = self._phone.screens
        start = max(place for place, page in enumerate(self.pages) if not screens[page.screen].dialog)
        yield from self.pages[start:]
        if self.shade is not None:
            yield self.shade

    def on_top_of(self, package: str) -> Page | None:
        """Return the page that an app's task shows, dialogs left out."""
        screens, pages = self._phone.screens, self.tasks.get(package, ())
        return next((page for page in reversed(pages) if not screens[page.screen].dialog), None)

    # ------------------------------------------------------------------ tasks
    def open_app(self, package: str, activity: str | None) -> bool:
        """Bring an app to the front; see ``Phone.open_app``."""
        phone = self._phone
        app = phone.apps.get(package)
        if app is None or (activity is None and not app.launchable and package != launcher.PACKAGE):
            return False
        if package in str(phone.state["settings/disabled_apps"]).split(","):
            return False
        screen = None if activity is None else _screen_of(app, activity)
        if activity is not None and screen is None:
            return False
        self._leave()
        if package == launcher.PACKAGE:
            self.go_home()
            return True
        pages = self.tasks.setdefault(package, [Page(app.home)])
        self._task = package
        if package in self.used:
            self.used.remove(package)
        self.used.append(package)
        if screen is not None and screen != app.home:
            pages.append(Page(screen))
        phone.faults.launched(package)
        return True

    def dismiss(self, package: str) -> None:
        """Drop the task of an app; from the front, it goes to the home page."""
        if package in self.tasks and package != launcher.PACKAGE:
            if self._task == package:
                self.go_home()
            del self.tasks[package]
            self.endings[package] += 1
            self.used.remove(package)
        self._phone.changed()

    def go_home(self) -> None:
        """Show the home page."""
        self._leave()
        self._task = launcher.PACKAGE
        self.tasks[launcher.PACKAGE] = [Page(launcher.HOME)]

    def toggle_recents(self) -> None:
        """Show the list of recent apps; from there, go to the app used before the one it was opened from."""
        if self.pages[-1].screen == launcher.RECENTS:
            recents = self.used[::-1]
            others = [package for package in recents if package != self.before_recents]
            self.open_app((others or recents or [launcher.PACKAGE])[0], None)
            return
        self._leave()
        self.before_recents = self._task
        self._task = launcher.PACKAGE
        self.tasks[launcher.PACKAGE] = [Page(launcher.HOME), Page(launcher.RECENTS)]

    # ------------------------------------------------------------------ pages
    def open_page(self, screen: str, variables: Mapping[str, Scalar]) -> None:
        """Put a page on top of the task in front."""
        self._leave()
        page = Page(screen, dict(variables))
        self.pages.append(page)
        on_open = self._phone.screens[screen].on_open
        if on_open is not None:
            on_open(self._phone.shown.ui_of(page))

    def close_page(self) -> None:
        """Close the shade, or the page on top; closing the only one leaves the app, which keeps it."""
        had_shade = self.shade is not None
        self._leave()
        if had_shade:
            return
        if len(self.pages) > 1:
            was = self.pages.pop()
            if was.screen == launcher.RECENTS and self.before_recents in self.tasks:
                self._task = self.before_recents
        elif self._task != launcher.PACKAGE:
            self.go_home()

    def go_back(self) -> None:
        """Let the page on top answer the back key, or close it."""
        if self.shade is None:
            page = self.pages[-1]
            on_back = self._phone.screens[page.screen].on_back
            if on_back is not None and on_back(self._phone.shown.ui_of(page)):
                self._phone.changed()
                return
        self.close_page()

    def open_shade(self, *, settings: bool) -> None:
        """Open the notification shade, or all of quick settings."""
        self._leave()
        self._phone.notices.hide_heads_up()
        self.shade = Page(systemui.QUICK_SETTINGS if settings else systemui.SHADE)

    def _leave(self) -> None:
        """Let go of what belongs to the page in front: the keyboard, the focus, the shade."""
        self.shade = None
        self._phone.entry.leave(self.pages[-1])
        self._phone.changed()


def _screen_of(app: App, activity: str) -> str | None:
    """Return the screen that an intent action or the name of an activity opens."""
    full = app.package + activity if activity.startswith(".") else activity
    named = (name for name, screen in app.screens.items() if screen.activity == full and screen.exported)
    return app.actions.get(full) or next(named, None)
