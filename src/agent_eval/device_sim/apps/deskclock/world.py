"""The clock face and the cities of the world clock. Summer time is not known here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType

from agent_eval.device_sim.apps.deskclock.names import ID
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.strings import Words
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    CHECK,
    MIDDLE,
    RELATIVE,
    TITLE,
    activity,
    app_bar,
    choice,
    column,
    edit_text,
    frame,
    image_button,
    label,
    opener,
    row,
    scroll_column,
)


def clock_tab(ui: Ui) -> View:
    """Build the clock face."""
    now = ui.host.local_time
    date = f"{now:%a}, {now:%b} {now.day}" if ui.host.locale.tag == "en-US" else ui.date(now, "weekday")
    face = column(
        label(ui.time_of_day(now.hour, now.minute), id=f"{ID}digital_clock", size=dp(52), align=CENTER),
        label(date, id=f"{ID}date", size=TITLE, ink="soft", align=CENTER),
        pad=(0, dp(64), 0, dp(24)),
        gap=dp(8),
    )
    rows = [_city(ui, name) for name in _cities(ui)]
    fab = image_button(
        "globe", ui.say("Cities"), opener(ui, "clock/cities"), id=f"{ID}fab", size=dp(56), fill="accent",
        ink="on_primary", align=CENTER,
    )  # fmt: skip
    holder = frame(fab, align=(0.5, 1.0), width=dp(88), height=dp(88))
    listed = scroll_column(ui, [face, *rows, View("android.view.View", height=dp(88))], name="cities", id=f"{ID}cities")
    return frame(listed, holder, height=MATCH, cls=RELATIVE)


CITIES: Mapping[str, int] = MappingProxyType({
    "Auckland": 12, "Bangkok": 7, "Berlin": 1, "Buenos Aires": -3, "Cairo": 2, "Chicago": -6, "Delhi": 5, "Denver": -7,
    "Dubai": 4, "Hong Kong": 8, "Honolulu": -10, "Istanbul": 3, "Jakarta": 7, "Lagos": 1, "Lima": -5, "London": 0,
    "Los Angeles": -8, "Madrid": 1, "Mexico City": -6, "Moscow": 3, "Nairobi": 3, "New York": -5, "Paris": 1,
    "Rome": 1, "Santiago": -4, "Seoul": 9, "Shanghai": 8, "Singapore": 8, "Sydney": 10, "S\u00e3o Paulo": -3,
    "Tokyo": 9, "Toronto": -5, "Vienna": 1, "Zurich": 1,
})  # fmt: skip
"""Cities of the world clock to the hours that they are ahead of UTC in winter."""


CITY_WORDS: Words = {
    "Auckland": ("Auckland", "奥克兰"), "Bangkok": ("Bangkok", "曼谷"), "Berlin": ("Berlin", "柏林"),
    "Buenos Aires": ("Buenos Aires", "布宜诺斯艾利斯"), "Cairo": ("Kairo", "开罗"), "Chicago": ("Chicago", "芝加哥"),
    "Delhi": ("Delhi", "德里"), "Denver": ("Denver", "丹佛"), "Dubai": ("Dubai", "迪拜"),
    "Hong Kong": ("Hongkong", "香港"), "Honolulu": ("Honolulu", "檀香山"), "Istanbul": ("Istanbul", "伊斯坦布尔"),
    "Jakarta": ("Jakarta", "雅加达"), "Lagos": ("Lagos", "拉各斯"), "Lima": ("Lima", "利马"),
    "London": ("London", "伦敦"), "Los Angeles": ("Los Angeles", "洛杉矶"), "Madrid": ("Madrid", "马德里"),
    "Mexico City": ("Mexiko-Stadt", "墨西哥城"), "Moscow": ("Moskau", "莫斯科"), "Nairobi": ("Nairobi", "内罗毕"),
    "New York": ("New York", "纽约"), "Paris": ("Paris", "巴黎"), "Rome": ("Rom", "罗马"),
    "Santiago": ("Santiago", "圣地亚哥"), "Seoul": ("Seoul", "首尔"), "Shanghai": ("Shanghai", "上海"),
    "Singapore": ("Singapur", "新加坡"), "Sydney": ("Sydney", "悉尼"), "S\u00e3o Paulo": ("S\u00e3o Paulo", "圣保罗"),
    "Tokyo": ("Tokio", "东京"), "Toronto": ("Toronto", "多伦多"), "Vienna": ("Wien", "维也纳"),
    "Zurich": ("Z\u00fcrich", "苏黎世"),
}  # fmt: skip


def _cities(ui: Ui) -> list[str]:
    return [name for name in ui.words("clock/cities").split("|") if name in CITIES]


def _city(ui: Ui, name: str) -> View:
    there = ui.host.local_time + timedelta(hours=CITIES[name])
    days = there.date().toordinal() - ui.host.local_time.date().toordinal()
    words = ("Yesterday", "Today", "Tomorrow")[days + 1]
    return row(
        column(
            label(ui.say(name), id=f"{ID}city_name", size=TITLE),
            label(ui.say(words), id=f"{ID}city_day", ink="soft"),
            weight=1,
            align=MIDDLE,
        ),
        label(ui.time_of_day(there.hour, there.minute), id=f"{ID}digital_clock", size=dp(28), align=MIDDLE),
        height=dp(72),
        pad=(dp(24), 0, dp(24), 0),
    )


def cities(ui: Ui) -> View:
    """Build the list that chooses the cities of the world clock (cities_activity.xml)."""
    words = ui.typed("query").lower()
    chosen = _cities(ui)

    def flip(name: str) -> Callable[[], object]:
        kept = [other for other in chosen if other != name] if name in chosen else [*chosen, name]
        return lambda: ui.put("clock/cities", "|".join(sorted(kept)))

    rows = [
        choice(ui.say(name), name in chosen, flip(name), id=f"{ID}city_onoff", cls=CHECK, width=MATCH)
        for name in CITIES
        if words in ui.say(name).lower()
    ]
    field = edit_text(ui, Field("query", max_length=30), id=f"{ID}search_src_text", hint=ui.say("Search for a city"))
    return activity(
        ui,
        app_bar(ui, ui.say("Cities")),
        frame(field, pad=(dp(16), 0, dp(16), 0)),
        scroll_column(ui, rows, name="choices", id=f"{ID}cities_list", pad=(dp(16), 0, dp(16), 0), weight=1, height=0),
    )
