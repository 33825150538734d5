"""How a locale writes times and dates. Knows no screens and no translations of labels: apps carry their own strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Literal

DateStyle = Literal["short", "long", "weekday", "month", "day"]


@dataclass(frozen=True)
class Locale:
    """The forms of one locale (CLDR's gregorian calendar data)."""

    tag: str
    """As ``persist.sys.locale`` has it."""
    name: str
    """What the language calls itself."""
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    """Monday first."""
    dates: Mapping[DateStyle, str]
    """Pattern of each style, with ``{day} {month} {mon} {number} {year} {weekday} {wd}``."""
    short_weekdays: tuple[str, ...]
    short_months: tuple[str, ...]
    first_weekday: int = 6
    """Day that a week begins with; Monday is 0 (CLDR's weekData)."""
    twelve_hours: bool = False
    halves: tuple[str, str] = ("AM", "PM")
    """What the halves of the day are called where a clock has twelve hours."""
    with_half: str = "{face} {half}"
    wifi: str = ""
    """The language's own word for Wi-Fi, where it has one (wifi_settings_title in AOSP's translations)."""

    def time_of_day(self, hour: int, minute: int) -> str:
        """Format a time of day."""
        face = self.face(hour, minute)
        return self.with_half.format(face=face, half=self.halves[hour >= 12]) if self.twelve_hours else face

    def face(self, hour: int, minute: int) -> str:
        """Format a time of day as the status bar does, which leaves out the half of the day."""
        return f"{hour % 12 or 12}:{minute:02d}" if self.twelve_hours else f"{hour:02d}:{minute:02d}"

    def week(self) -> tuple[str, ...]:
        """Return the short names of a week's days, in the order in which calendars show them."""
        return self.short_weekdays[self.first_weekday :] + self.short_weekdays[: self.first_weekday]

    def date(self, day: date, style: DateStyle) -> str:
        """Format a date."""
        return self.dates[style].format(
            day=day.day, month=self.months[day.month - 1], mon=self.short_months[day.month - 1], number=day.month,
            year=day.year, weekday=self.weekdays[day.weekday()], wd=self.short_weekdays[day.weekday()],
        )  # fmt: skip


_ENGLISH_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                   "November", "December")  # fmt: skip
_ENGLISH_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CHINESE_MONTHS = tuple(f"{number}月" for number in range(1, 13))

LOCALES: Mapping[str, Locale] = MappingProxyType({
    "en": Locale(
        "en-US", "English", _ENGLISH_MONTHS, _ENGLISH_DAYS,
        {"short": "{mon} {day}, {year}", "long": "{weekday}, {month} {day}, {year}",
         "weekday": "{weekday}, {mon} {day}", "month": "{month} {year}", "day": "{month} {day}"},
        tuple(name[:3] for name in _ENGLISH_DAYS), tuple(name[:3] for name in _ENGLISH_MONTHS), twelve_hours=True,
    ),
    "de": Locale(
        "de-DE", "Deutsch",
        ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
         "Dezember"),
        ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
        {"short": "{day:02d}.{number:02d}.{year}", "long": "{weekday}, {day}. {month} {year}",
         "weekday": "{weekday}, {day}. {mon}", "month": "{month} {year}", "day": "{day}. {month}"},
        ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"),
        ("Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."),
        first_weekday=0, wifi="WLAN",
    ),
    "zh": Locale(
        "zh-CN", "中文（简体）", _CHINESE_MONTHS,
        ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
        {"short": "{year}年{number}月{day}日", "long": "{year}年{number}月{day}日{weekday}",
         "weekday": "{number}月{day}日{weekday}", "month": "{year}年{number}月", "day": "{number}月{day}日"},
        ("周一", "周二", "周三", "周四", "周五", "周六", "周日"), _CHINESE_MONTHS,
        halves=("上午", "下午"), with_half="{half}{face}", wifi="WLAN",
    ),
})  # fmt: skip
"""Every locale that the phone can be set to."""
