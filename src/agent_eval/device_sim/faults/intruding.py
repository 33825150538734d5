"""Faults of others: something of theirs lies in front of what was opened (F5, F12)."""

from __future__ import annotations

from agent_eval.device_sim.apps import launcher, permission_controller, systemui
from agent_eval.device_sim.faults.fault import Fault
from agent_eval.device_sim.faults.screens import NOT_RESPONDING

_ADVERTISERS = ("com.android.settings", "com.android.deskclock", "com.android.messaging", "com.android.calculator2")
PROMOTIONS = (
    ("Weekend offer", "Upgrade today and save 30%"),
    ("Update available", "Tap to see what's new"),
    ("Rate your experience", "It only takes a minute"),
    ("You have 1 new reward", "Claim it before midnight"),
    ("Storage tip", "Free up space with one tap"),
)


class PermissionDialog(Fault):
    """An app asks for a permission at once (uiautomator2#420, appium#12320)."""

    name = "permission_dialog"
    number = "F5"
    summary = "the first launch of each app asks for a permission"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._launched: set[str] = set()

    def launched(self, package: str) -> None:
        """Ask, the first time."""
        if package in self._launched or package in (launcher.PACKAGE, systemui.PACKAGE, permission_controller.PACKAGE):
            return
        self._launched.add(package)
        declared = self.phone.apps[package].permissions or ("POST_NOTIFICATIONS",)
        permission = self.of_page(package).choice(sorted(declared))
        permission_controller.open_dialog(self.phone, package, permission)
        self.fire(f"{package} asks for {permission}")


class HeadsUp(Fault):
    """A promotion covers the top of the screen for a few seconds."""

    name = "heads_up"
    number = "F12"
    summary = "every few dumps a notification takes the taps at the top of the page"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._left = self.rng.randint(2, 4)

    def before_read(self) -> None:
        """Pop up, when it is time."""
        self._left -= 1
        if self._left > 0:
            return
        self._left = self.rng.randint(6, 10)
        package = self.rng.choice([package for package in _ADVERTISERS if package in self.phone.apps])
        title, text = (self.phone.say(english, NOT_RESPONDING) for english in self.rng.choice(PROMOTIONS))
        if self.phone.heads_up(package, title, text) and self.phone.notices.heads_up_number:
            self.fire(f"{title!r} covers the top of the screen")
