"""Alarms: an app that wants to be woken gets one timer, set anew when the state that decides the moment changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_eval.device_sim.screen import Wake

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone


class Wakes:
    """The timers of the apps of one phone that want to be woken.

    Args:
        phone: The phone; the timers of its apps are set at once.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._armed: dict[str, int | None] = {}
        self._sleepers = [(app.package, app.wake) for app in phone.apps.values() if app.wake is not None]
        for package, wake in self._sleepers:
            self._arm(package, wake)

    def look_at(self, path: str) -> None:
        """Set the timers that a persisted path decides, which was written or removed."""
        for package, wake in self._sleepers:
            if path.startswith(wake.prefix):
                self._arm(package, wake)

    def _arm(self, package: str, wake: Wake) -> None:
        """Set the timer of an app, unless it is set already."""
        due = wake.due(self._phone)
        if due == self._armed.get(package):
            return
        self._armed[package] = due
        if due is None:
            return

        def fire() -> None:
            if self._armed.get(package) == due:
                self._armed[package] = None
                wake.ring(self._phone)
                self._arm(package, wake)

        self._phone.clock.at(due, fire)
