"""What comes up by itself: notifications in the shade, the one at the top of the screen, and short messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_eval.device_sim.apps import systemui
from agent_eval.device_sim.screen import last_id_path
from agent_eval.types import Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

HEADS_UP_MS = 5000
"""How long a heads-up notification stays (config.xml, heads_up_notification_decay)."""
TOAST_MS = 2000
"""How long a short message stays (NotificationManagerService.SHORT_DELAY)."""


class Notices:
    """The notifications and short messages of one phone; what is in the shade is state like any other.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._heads_up: tuple[int, int] | None = None
        self._toast: tuple[str, int] | None = None
        self.last_toast: str | None = None
        """The latest short message, until a reader of accessibility events forgets it; no part of the state."""

    def notify(self, package: str, title: str, text: str) -> int:
        """Put a notification into the shade, unless its app may not post any; return its number, or 0."""
        phone = self._phone
        if package in str(phone.state["settings/muted_apps"]).split(","):
            return 0
        if phone.state.get(f"permissions/{package}/POST_NOTIFICATIONS", "granted") != "granted":
            return 0
        number = int(phone.world.get(last_id_path(systemui.NOTICES), 0)) + 1
        fields: dict[str, Scalar] = {
            "package": package, "title": title, "text": text, "posted": phone.clock.now_ms // 1000,
        }  # fmt: skip
        for name, value in fields.items():
            phone.put(f"{systemui.NOTICES}/{number}/{name}", value)
        return number

    # ------------------------------------------------------------------ at the top of the screen
    def heads_up(self, package: str, title: str, text: str) -> int:
        """Post a notification and show it at the top of the screen for a while; return its number, or 0."""
        number = self.notify(package, title, text)
        if number and not self._phone.state["settings/do_not_disturb"]:
            until = self._phone.clock.now_ms + HEADS_UP_MS
            self._heads_up = (number, until)
            self._phone.clock.at(until, self._phone.changed)
        return number

    def hide_heads_up(self) -> None:
        """Take a notification from the top of the screen; it stays in the shade."""
        self._heads_up = None
        self._phone.changed()

    @property
    def heads_up_number(self) -> int:
        """Number of the notification at the top of the screen, or 0."""
        return self._heads_up[0] if self._heads_up and self._phone.clock.now_ms < self._heads_up[1] else 0

    # ------------------------------------------------------------------ short messages
    def show_toast(self, text: str) -> None:
        """Show a short message; it is no window, as on a real phone."""
        self._toast = (text, self._phone.clock.now_ms + TOAST_MS)
        self.last_toast = text

    @property
    def toast(self) -> str | None:
        """The short message that is showing."""
        return self._toast[0] if self._toast and self._phone.clock.now_ms < self._toast[1] else None
