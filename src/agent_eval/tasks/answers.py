"""When a declared answer is right: tolerant of how people put things, exact about what they say. Knows no task.

Each function here returns a test of an answer. What none of them minds: width and case of the signs, white space, the
words around the asked-for thing, quotation marks, a closing full stop. What all of them mind: an answer that names
another thing as well, so that listing guesses never passes. ``docs/concepts/answers.md`` shows both with examples.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from datetime import datetime
from fractions import Fraction
from typing import NamedTuple

from agent_eval.device_sim.locales import LOCALES

Accepts = Callable[[str], bool]

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_WORDS = re.compile(r"\w+(?:[.,:'’-]\w+)*")
_BEFORE, _AFTER = r"(?<![^\W_\u2e80-\u9fff])", r"(?![^\W_\u2e80-\u9fff])"
"""Edges of a word: no letter or digit beside it; Chinese is written without spaces, so its signs may stand there."""
_WORD_NUMBERS = {
    word: number
    for words in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "二 三 四 五 六 七 八 九 十 十一 十二",
    )
    for number, word in enumerate(words.split(), start=2)
} | {"两": 2, "zero": 0, "null": 0, "零": 0}
_NUMBER_WORD = re.compile(f"{_BEFORE}(?:{'|'.join(sorted(_WORD_NUMBERS, key=len, reverse=True))}){_AFTER}")
_ONE = re.compile(f"{_BEFORE}(?:one|eins?|eine|einen|一){_AFTER}")


def folded(text: str) -> str:
    """Return a text without differences of width, case, white space and typographic signs (Unicode TR 15, NFKC)."""
    signs = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"'})
    return " ".join(unicodedata.normalize("NFKC", text).translate(signs).casefold().split())


def number(right: str) -> Accepts:
    """Accept an answer that names exactly one number, and the right one.

    Leading zeros and a fraction of zero do not matter: ``15``, ``Android 15.`` and ``It is at 82 %`` are answers.
    Numbers up to twelve may be words, in English, German or Chinese: ``three``, ``drei``, ``三``.
    """
    return lambda answer: _numbers(folded(answer)) == {_bare(right)}


def _numbers(text: str) -> set[str]:
    """Return the numbers in a text; the word for one counts only alone, as it mostly says something else."""
    words = (str(_WORD_NUMBERS[word]) for word in _NUMBER_WORD.findall(text))
    found = {*map(_bare, _NUMBER.findall(text)), *words}
    return found or ({"1"} if _ONE.search(text) else set())


def _bare(text: str) -> str:
    parts = [str(int(part)) for part in text.split(".")]
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return ".".join(parts)


# ----------------------------------------------------------------------------------------------------------------------
# titles


def title(right: str, others: Collection[str] = ()) -> Accepts:
    """Accept an answer that names a title as it is written, and none of the others.

    Width, case, white space and quotation marks do not matter, nor do words around it.

    Args:
        right: The title.
        others: Titles that a wrong answer may name; one that holds the right one as a part counts as the longer one.
    """
    names = sorted({folded(name) for name in (right, *others)}, key=len, reverse=True)

    def accepts(answer: str) -> bool:
        text, found = folded(answer), set()
        for name in names:
            text, count = re.subn(_BEFORE + re.escape(name) + _AFTER, "|", text)
            if count:
                found.add(name)
        return found == {folded(right)}

    return accepts


# ----------------------------------------------------------------------------------------------------------------------
# quantities


_UNITS: dict[str, tuple[str, Fraction, tuple[str, ...]]] = {
    "g": ("mass", Fraction(1), ("g", "gr", "gram", "grams", "gramm", "gramme", "克", "公克")),
    "kg": ("mass", Fraction(1000), ("kg", "kilo", "kilos", "kilogram", "kilograms", "kilogramm", "千克", "公斤")),
    "ml": ("volume", Fraction(1), ("ml", "milliliter", "milliliters", "millilitre", "millilitres", "毫升")),
    "l": ("volume", Fraction(1000), ("l", "liter", "liters", "litre", "litres", "升", "公升")),
    "tbsp": ("tbsp", Fraction(1), ("tbsp", "tablespoon", "tablespoons", "el", "esslöffel", "汤匙", "大勺")),
    "tsp": ("tsp", Fraction(1), ("tsp", "teaspoon", "teaspoons", "tl", "teelöffel", "茶匙", "小勺")),
    "cups": ("cups", Fraction(1), ("cup", "cups", "tasse", "tassen", "杯")),
}
"""Unit to what it measures, its size, and what people call it in English, German and Chinese."""
_UNIT_OF = {folded(alias): (kind, size) for kind, size, aliases in _UNITS.values() for alias in aliases}
_AMOUNT = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)?(?:/\d+)?)(?:\s*(?P<unit>"
    + "|".join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))
    + rf"){_AFTER})?"
)


def quantity(right: str) -> Accepts:
    """Accept an answer that names exactly one amount, and the right one, such as ``200 g``.

    The unit may be written out or be another one of the same kind, such as ``0.2 kg``; a bare number is not enough.
    """
    wanted = _amounts(right)
    return lambda answer: _amounts(answer) == wanted


def _amounts(text: str) -> set[tuple[str, Fraction]]:
    """Return the amounts in a text by what they measure; a number without a unit measures nothing."""
    found = set()
    for match in _AMOUNT.finditer(folded(text).replace("⁄", "/")):
        over, _, under = match["number"].replace(",", ".").partition("/")
        kind, size = _UNIT_OF[match["unit"]] if match["unit"] else ("", Fraction(1))
        found.add((kind, Fraction(over) / (int(under or 1) or 1) * size))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# days and times


_MONTHS = {
    folded(name).rstrip("."): number
    for locale in (LOCALES["en"], LOCALES["de"])
    for names in (locale.months, locale.short_months)
    for number, name in enumerate(names, start=1)
} | {"sept": 9, "mär": 3, "mrz": 3, "okt": 10, "dez": 12}
_WEEKDAYS = {
    folded(name): number
    for locale in LOCALES.values()
    for names in (locale.weekdays, locale.short_weekdays)[: 1 if locale is LOCALES["de"] else 2]
    for number, name in enumerate(names)
}
"""Without the German short names, two of which are English words."""
_MONTH = "(?P<name>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + rf"){_AFTER}\.?"
_YEAR = r"(?:,?\s*(?P<year>\d{4})(?!\d|:\d))?"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
        r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号]?",
        rf"(?<![\d:.])(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s*(?:of\s+)?{_BEFORE}{_MONTH}{_YEAR}",
        rf"{_BEFORE}{_MONTH}\s*(?:the\s+)?(?P<day>\d{{1,2}})(?!\d|:\d)(?:st|nd|rd|th)?{_YEAR}",
        r"(?<![\d.])(?<!um )(?P<day>\d{1,2})\.\s?(?P<month>0?[1-9]|1[0-2])\.(?:\s?(?P<year>\d{4})(?!\d))?",
        r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}))?(?![\d/])",
    )
)
"""How people write a day, most telling form first; numbers with slashes are month, day and year, as in English."""
_AFTERNOON, _MORNING = ("pm", "p.m.", "下午", "晚上", "中午"), ("am", "a.m.", "上午", "早上", "凌晨")
_LEADING_HALF = "(?P<early>上午|早上|凌晨|中午|下午|晚上)"
_HALF = r"(?P<late>[ap]m(?![^\W_])|[ap]\.m\.)"
_TIMES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_LEADING_HALF}?\s*(?P<hour>\d{{1,2}})\s*[点时](?:(?P<thirty>半)|\s*(?P<minute>\d{{1,2}})\s*分?|整)?",
        rf"{_LEADING_HALF}?\s*(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?::00)?(?!\d)\s*{_HALF}?(?:\s*(?:uhr|h\b))?",
        rf"(?P<hour>\d{{1,2}})\s*{_HALF}",
        r"(?P<hour>\d{1,2})\s*(?:uhr|h\b)(?:\s*(?P<minute>\d\d)(?!\d))?",
    )
)
_DAY_NAMES = re.compile(
    r"(?:星期|周|礼拜)[一二三四五六日天]|"
    + "|".join(rf"{_BEFORE}{name}{_AFTER}" for name in sorted(_WEEKDAYS, key=len, reverse=True) if name.isascii())
)


class _Said(NamedTuple):
    """What an answer says about days and times."""

    days: set[tuple[int, int]]
    """Month and day."""
    years: set[int]
    weekdays: set[int]
    minutes: list[int]
    """Times of day in minutes, in the order of the answer."""
    more: bool
    """It holds numbers that are neither."""


def moment(right: datetime, until: datetime | None = None) -> Accepts:
    """Accept an answer that names one day and one time of day, and the right ones.

    The year and the weekday may be left out, but must be right where they are named.

    Args:
        right: What is asked for.
        until: When that ends, which may be named after it.
    """
    day = (right.month, right.day)
    start = right.hour * 60 + right.minute
    ends = {start} if until is None else {start, until.hour * 60 + until.minute}

    def accepts(answer: str) -> bool:
        said = _said(folded(answer))
        return (
            not said.more
            and said.days == {day}
            and said.years <= {right.year}
            and said.weekdays <= {right.weekday()}
            and said.minutes[:1] == [start]
            and set(said.minutes) <= ends
        )

    return accepts


def _said(text: str) -> _Said:
    days, years = set(), set()
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            named = parts.get("name")
            days.add((_MONTHS[named] if named else int(parts["month"] or 0), int(match["day"])))
            years |= {int(parts["year"])} if parts["year"] else set()
        text = pattern.sub("|", text)
    timed: list[tuple[int, int]] = []
    for pattern in _TIMES:
        timed += [(match.start(), _minute_of(match)) for match in pattern.finditer(text)]
        text = pattern.sub(lambda match: "|" * len(match[0]), text)
    weekdays = {_weekday_of(name) for name in _DAY_NAMES.findall(text)}
    more = any(sign.isdecimal() for sign in text)
    return _Said(days, years, weekdays, [minute for _, minute in sorted(timed)], more)


def _minute_of(match: re.Match[str]) -> int:
    """Return the minute of the day that a time names."""
    parts = match.groupdict()
    half = parts.get("early") or parts.get("late")
    hour = int(match["hour"])
    if half in _AFTERNOON:
        hour = hour % 12 + 12
    elif half in _MORNING and hour <= 12:
        hour %= 12
    return hour * 60 + (30 if parts.get("thirty") else int(parts.get("minute") or 0))


def _weekday_of(name: str) -> int:
    return _WEEKDAYS[name] if name.isascii() else "一二三四五六日".index(name[-1].replace("天", "日"))


_PHONE = re.compile(r"\+?\(?[0-9](?:[ ()./-]*[0-9])*")
_COUNTRY = re.compile(r"\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[0-9]{3})")
"""A country code with its plus sign (ITU-T E.164, list of assigned codes)."""


def phone(right: str) -> Accepts:
    """Accept an answer that names exactly one phone number, and the right one.

    How its digits are grouped does not matter, and its country code may be left out: ``+1 (555) 770-1234`` and
    ``555 770 1234`` both name ``+15557701234``.
    """
    whole, within_country = _digits(right), _digits(_COUNTRY.sub("", folded(right), count=1))

    def accepts(answer: str) -> bool:
        found = _PHONE.findall(folded(answer))
        return bool(found) and all(
            _digits(one) == whole or (not one.startswith("+") and _digits(one) == within_country) for one in found
        )

    return accepts


def _digits(text: str) -> str:
    return re.sub(r"[^0-9]", "", text)


# ----------------------------------------------------------------------------------------------------------------------
# yes or no


_STANDS = r"(?:^|(?:\bis|\bare|\bit's|\bturned|\bswitched|:) )"
_ENDS = r"(?=$|[.,;!]| for )"
_YES = re.compile(rf"{_BEFORE}(?:yes|true|ja){_AFTER}|{_STANDS}on{_ENDS}")
_NO = re.compile(rf"{_BEFORE}(?:no|not|false|nein|nicht|keine?){_AFTER}|n't{_AFTER}|{_STANDS}off{_ENDS}")
_DENIED = re.compile(rf"{_BEFORE}not (?:true|on){_AFTER}")
_CHINESE = re.compile(r"[\u4e00-\u9fff]+")
_EITHER = re.compile("是否|是不是|会不会|有没有")
_CHINESE_YES, _CHINESE_NO = re.compile("^[是对](?:的.*)?$|会(?!议)|有(?!时)"), re.compile("[不没否]")


def yes_no(right: bool) -> Accepts:
    """Accept an answer that says yes or no, whichever is right, in English, German or Chinese.

    An answer that says both, or neither, is never right.
    """
    return lambda answer: _verdicts(folded(answer)) == {right}


def _verdicts(text: str) -> set[bool]:
    text = _DENIED.sub("not", text)
    found = {verdict for verdict, said in ((True, _YES), (False, _NO)) if said.search(text)}
    for clause in _CHINESE.findall(_EITHER.sub("", text).replace("或", " ")):
        if _CHINESE_NO.search(clause):
            found.add(False)
        elif _CHINESE_YES.search(clause):
            found.add(True)
    return found
