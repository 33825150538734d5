"""What the words that a plan looks for are called on the phone in front. Knows no plan.

Plans name elements in English. On a phone in another language, or with another word for Wi-Fi, the same row has another
name; how each app calls things is asked of the simulated phone's own apps. A real phone is taken to speak English.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime

from agent_eval.device_sim import profile
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.faults.screens import APPS as FAULT_APPS
from agent_eval.device_sim.locales import LOCALES, DateStyle, Locale
from agent_eval.device_sim.parts.language import Language
from agent_eval.device_sim.screen import wifi_word
from agent_eval.types import PhoneSetup, Scalar, Snapshot


class Speech:
    """One phone's way to say things.

    Args:
        locale: Name of the locale, such as ``de``.
        time_format: ``12``, ``24``, or ``locale``.
        wording: The skin's word for Wi-Fi, as the phone keeps it.
        ascii_hyphen: The skin writes Wi-Fi with a plain hyphen.
    """

    def __init__(self, locale: str, time_format: str, wording: str, *, ascii_hyphen: bool) -> None:
        language = Language({"settings/locale": locale, "settings/time_format": time_format}, {**APPS, **FAULT_APPS})
        self._say = language.say
        self.locale: Locale = language.locale
        self.wifi = wifi_word({"skin/wording": wording, "skin/ascii_hyphen": ascii_hyphen}, self.locale.wifi)

    def say(self, english: str, package: str, values: Mapping[str, Scalar]) -> str:
        """Return a text of an app as this phone has it; ``{name}`` stands for a value."""
        if english == "Wi-Fi":
            return self.wifi
        text = self._say(english, package)
        return text.format(**values) if values else text

    def time_of_day(self, hour: int, minute: int) -> str:
        """Format a time of day."""
        return self.locale.time_of_day(hour, minute)

    def date(self, day: date, style: DateStyle = "short") -> str:
        """Format a date."""
        return self.locale.date(day, style)


@functools.lru_cache(maxsize=256)
def _speech(locale: str, time_format: str, wording: str, ascii_hyphen: bool) -> Speech:
    return Speech(locale, time_format, wording, ascii_hyphen=ascii_hyphen)


def speech_of(snapshot: Snapshot) -> Speech:
    """Return the way in which the phone of a snapshot says things."""
    locale = str(snapshot.get("settings/locale", "en"))
    return _speech(
        locale if locale in LOCALES else "en",
        str(snapshot.get("settings/time_format", "locale")),
        str(snapshot.get("skin/wording", "")),
        snapshot.get("skin/ascii_hyphen", False) is True,
    )


_BARE_APPS = tuple(replace(app, draw=None) for app in APPS.values())
"""The apps without what they draw for themselves, which comes after the moment and costs most of a phone's drawing."""
_BARE_SCHEMA = profile.schema_of(_BARE_APPS)


@functools.lru_cache(maxsize=4096)
def moment_of(phone_seed: int) -> datetime:
    """Return the moment at which the simulated phone of a seed starts, so that a task can name days near it."""
    fresh = profile.draw(PhoneSetup(phone_seed), _BARE_APPS, _BARE_SCHEMA)
    return datetime.fromtimestamp(fresh.epoch_ms // 1000, UTC)
