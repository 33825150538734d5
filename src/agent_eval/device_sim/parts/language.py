"""The phone's language: how it writes times and dates, and what its apps' texts are called in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent_eval.device_sim.locales import LOCALES, Locale
from agent_eval.device_sim.screen import App
from agent_eval.types import Scalar


class Language:
    """The language and the clock that Settings has.

    Args:
        state: Persisted paths.
        apps: Those whose texts the phone may show, by package.
    """

    def __init__(self, state: Mapping[str, Scalar], apps: Mapping[str, App]) -> None:
        name, hours = str(state["settings/locale"]), state["settings/time_format"]
        locale = LOCALES[name]
        self.locale: Locale = locale if hours == "locale" else replace(locale, twelve_hours=hours == "12")
        self._texts = {package: app.strings.get(name, {}) for package, app in apps.items()}
        self._shared: dict[str, str] = {}
        for texts in self._texts.values():
            for english, text in texts.items():
                self._shared.setdefault(english, text)
        self.translates = bool(self._shared)
        """Whether any text is another than the English one."""

    def say(self, english: str, package: str) -> str:
        """Return a text of an app; where the app has none, what another app calls it, else the English one."""
        return self._texts.get(package, {}).get(english) or self._shared.get(english, english)
