"""Activity tracker: tracks with a category, a start, a duration and a distance (after OpenTracks). Knows no other app.

Weeks begin on Monday. A category is stored by its English name and shown in the phone's language.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from agent_eval.device_sim import draft, searching
from agent_eval.device_sim.dialogs import date_dialog, day_number, menu, numbered_day, one_of, question
from agent_eval.device_sim.schema import MOMENT, TEXT, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    MIDDLE,
    RELATIVE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    button,
    category,
    column,
    edit_text,
    floating,
    frame,
    image,
    image_button,
    label,
    opener,
    preference,
    row,
    scroll_column,
)
from agent_eval.types import Scalar

PACKAGE = "de.dennisguse.opentracks"
_ID = f"{PACKAGE}:id/"
CATEGORIES = ("biking", "climbing", "driving", "hiking", "kayaking", "running", "skiing", "swimming", "trail running",
              "walking")  # fmt: skip
"""Everything that a track can be."""
_TIME = re.compile(r"([01]?[0-9]|2[0-3])[:.]([0-5][0-9])")
_KILOMETRES = re.compile(r"([0-9]{0,4})(?:[.,]([0-9]{0,3}))?")


def metres_of(text: str) -> int | None:
    """Read a distance in kilometres such as ``5``, ``5.2`` or ``5,25``; None for what is none."""
    match = _KILOMETRES.fullmatch(text.strip())
    if match is None or not (match[1] or match[2]):
        return None
    return int(match[1] or 0) * 1000 + int((match[2] or "").ljust(3, "0"))


def time_of(text: str) -> time | None:
    """Read a time of day such as ``7:05``; None for what is none."""
    match = _TIME.fullmatch(text.strip())
    return time(int(match[1]), int(match[2]), tzinfo=UTC) if match else None


def spell_minutes(minutes: int) -> str:
    """Write a duration as hours, minutes and seconds, as OpenTracks does."""
    return f"{minutes // 60}:{minutes % 60:02d}:00" if minutes >= 60 else f"{minutes:02d}:00"


def spell_distance(metres: int) -> str:
    """Write a distance in kilometres, to ten metres."""
    return f"{metres // 1000}.{metres % 1000 // 10:02d} km"


def _start(ui: Ui, track: int) -> datetime:
    return datetime.fromtimestamp(ui.number(f"tracks/{track}/start"), UTC)


def _newest_first(ui: Ui) -> list[int]:
    return sorted(ui.ids("tracks"), key=lambda track: (-ui.number(f"tracks/{track}/start"), -track))


# ----------------------------------------------------------------------------------------------------------------------
# the list


def main(ui: Ui) -> View:
    """Build the list of tracks, all or those that match a search (track_list.xml)."""
    searches, only = bool(ui.var("searching", False)), str(ui.var("only"))
    words = ui.typed("query").strip().lower() if searches else ""
    found = [
        track
        for track in _newest_first(ui)
        if (not only or ui.words(f"tracks/{track}/category") == only) and _matches(ui, track, words)
    ]
    rows = [_entry(ui, track) for track in found]
    rows.append(frame(height=dp(88)))
    body = scroll_column(ui, rows, id=f"{_ID}track_list", cls="android.widget.ListView")
    if not found:
        body = frame(label(ui.say("No tracks"), id=f"{_ID}track_list_empty_view", size=TITLE, ink="soft", align=CENTER),
                     height=MATCH)  # fmt: skip
    fab = floating("add", ui.say("Add track"), opener(ui, "tracks/edit"), id=f"{_ID}track_list_fab_action")
    bar = _search_bar(ui) if searches else _bar(ui, only)
    return activity(ui, bar, frame(body, fab, weight=1, cls=RELATIVE))


def _matches(ui: Ui, track: int, words: str) -> bool:
    path = f"tracks/{track}"
    kind = ui.words(f"{path}/category")
    searched = (ui.words(f"{path}/name"), kind, ui.say(kind), ui.words(f"{path}/notes"))
    return not words or any(words in text.lower() for text in searched)


def _bar(ui: Ui, only: str) -> View:
    return app_bar(
        ui,
        ui.say(only) if only else ui.say("OpenTracks"),
        up=False,
        actions=[
            image_button("search", ui.say("Search"), lambda: searching.begin(ui), id=f"{_ID}track_list_search"),
            image_button(
                "filter", ui.say("Filter"), opener(ui, "tracks/filter", only=only), id=f"{_ID}track_list_filter"
            ),
            image_button("chart", ui.say("Statistics"), opener(ui, "tracks/statistics"), id=f"{_ID}track_list_stats"),
        ],
    )


def _search_bar(ui: Ui) -> View:
    hint = ui.say("Search tracks")
    return searching.bar(ui, hint, id=f"{_ID}search_src_text", on_back=lambda: searching.end(ui), says="Collapse")


def _entry(ui: Ui, track: int) -> View:
    path = f"tracks/{track}"
    start = _start(ui, track)
    numbers = f"{spell_minutes(ui.number(f'{path}/minutes'))}   {spell_distance(ui.number(f'{path}/metres'))}"
    texts = column(
        label(ui.words(f"{path}/name"), id=f"{_ID}track_list_item_name", size=TITLE, width=MATCH),
        label(numbers, id=f"{_ID}track_list_item_time_distance", ink="soft"),
        cls=RELATIVE,
        weight=1,
        align=MIDDLE,
    )
    when = column(
        label(ui.date(start), id=f"{_ID}track_list_item_date", ink="soft"),
        label(ui.time_of_day(start.hour, start.minute), id=f"{_ID}track_list_item_time", ink="soft", align=(1.0, 0.0)),
        width=-2,
        align=MIDDLE,
    )
    icon = image("run", desc=ui.say(ui.words(f"{path}/category")), id=f"{_ID}track_list_item_icon", size=dp(40),
                 fill="chip", align=MIDDLE)  # fmt: skip
    return row(
        icon, texts, when, height=dp(72), pad=(dp(16), 0, dp(16), 0), gap=dp(12),
        on_tap=opener(ui, "tracks/details", track=track),
        on_hold=opener(ui, "tracks/menu", track=track),
    )  # fmt: skip


def filter_menu(ui: Ui) -> View:
    """Build the dialog that limits the list to one category."""
    options = {"": ui.say("All activities")} | {name: ui.say(name) for name in CATEGORIES}
    return one_of(ui, ui.say("Filter"), options, str(ui.var("only")), "only", **{"scroll/list": 0})


def track_menu(ui: Ui) -> View:
    """Build the menu of one track."""
    track = int(ui.var("track"))
    return menu(
        ui,
        [
            (ui.say("Edit"), lambda: _edit(ui, track)),
            (ui.say("Delete"), opener(ui, "tracks/delete", track=track)),
        ],
    )


# ----------------------------------------------------------------------------------------------------------------------
# one track


def details(ui: Ui) -> View:
    """Build everything about one track (track_detail_activity.xml, its statistics tab)."""
    track = int(ui.var("track"))
    path = f"tracks/{track}"
    start, minutes, metres = _start(ui, track), ui.number(f"{path}/minutes"), ui.number(f"{path}/metres")
    end = start + timedelta(minutes=minutes)
    speed = metres * 60 / minutes / 1000 if minutes else 0.0
    facts = [
        ("Activity type", ui.say(ui.words(f"{path}/category"))),
        ("Date", ui.date(start, "long")),
        ("Start time", ui.time_of_day(start.hour, start.minute)),
        ("End time", ui.time_of_day(end.hour, end.minute)),
        ("Total time", spell_minutes(minutes)),
        ("Distance", spell_distance(metres)),
        ("Average speed", f"{speed:.1f} km/h"),
    ]
    if ui.words(f"{path}/notes"):
        facts.append(("Notes", ui.words(f"{path}/notes")))
    rows = [
        column(
            label(ui.say(name), id=f"{_ID}stats_description_main", ink="soft"),
            label(value, id=f"{_ID}stats_value", size=dp(20), width=MATCH),
            pad=(dp(24), dp(8), dp(24), dp(8)),
        )
        for name, value in facts
    ]
    actions = [
        image_button("edit", ui.say("Edit"), lambda: _edit(ui, track), id=f"{_ID}track_detail_edit"),
        image_button("delete", ui.say("Delete"), opener(ui, "tracks/delete", track=track, within=True),
                     id=f"{_ID}track_detail_delete"),
    ]  # fmt: skip
    bar = app_bar(ui, ui.words(f"{path}/name"), actions=actions)
    return activity(ui, bar, scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def delete(ui: Ui) -> View:
    """Build the dialog that asks before a track is deleted."""
    track = int(ui.var("track"))

    def ok() -> None:
        if ui.var("within"):
            ui.close()
        ui.remove(f"tracks/{track}")

    message = ui.say("{name} will be deleted for good.", name=ui.words(f"tracks/{track}/name"))
    return question(ui, message, "Delete", ok, title=ui.say("Delete track?"))


# ----------------------------------------------------------------------------------------------------------------------
# statistics


def statistics(ui: Ui) -> View:
    """Build the totals of one week, by category and altogether (aggregated statistics)."""
    now = ui.host.local_time.date()
    monday = date.fromisoformat(str(ui.var("monday", (now - timedelta(days=now.weekday())).isoformat())))
    sunday = monday + timedelta(days=6)
    week = [track for track in ui.ids("tracks") if monday <= _start(ui, track).date() <= sunday]

    def turn(days: int) -> None:
        ui.set("monday", (monday + timedelta(days=days)).isoformat())

    head = row(
        image_button("left", ui.say("Previous week"), lambda: turn(-7), id=f"{_ID}previous_week"),
        label(f"{ui.date(monday)} \u2013 {ui.date(sunday)}", id=f"{_ID}week", weight=1, justify=0.5, align=MIDDLE),
        image_button("right", ui.say("Next week"), lambda: turn(7), id=f"{_ID}next_week"),
    )
    rows: list[View] = []
    for name in CATEGORIES:
        found = [track for track in week if ui.words(f"tracks/{track}/category") == name]
        if found:
            rows += _totals(ui, ui.say(name), found)
    if week:
        rows += _totals(ui, ui.say("All activities"), week)
    else:
        rows.append(frame(label(ui.say("No tracks this week"), ink="soft", size=TITLE), pad=(dp(24), dp(24), 0, 0)))
    return activity(ui, app_bar(ui, ui.say("Statistics")), head, scroll_column(ui, rows, height=0, weight=1))


def _totals(ui: Ui, name: str, tracks: list[int]) -> list[View]:
    minutes = sum(ui.number(f"tracks/{track}/minutes") for track in tracks)
    metres = sum(ui.number(f"tracks/{track}/metres") for track in tracks)
    return [
        category(f"{name} ({len(tracks)})"),
        preference(ui.say("Total time"), spell_minutes(minutes)),
        preference(ui.say("Distance"), spell_distance(metres)),
    ]


# ----------------------------------------------------------------------------------------------------------------------
# the form


def _texts(ui: Ui, track: int) -> dict[str, str]:
    """Return what the fields of the form begin with."""
    if not track:
        return dict.fromkeys(("name", "start", "minutes", "distance", "notes"), "")
    path = f"tracks/{track}"
    metres = ui.number(f"{path}/metres")
    return {
        "name": ui.words(f"{path}/name"),
        "start": f"{_start(ui, track):%H:%M}",
        "minutes": str(ui.number(f"{path}/minutes")),
        "distance": f"{metres // 1000}.{metres % 1000:03d}".rstrip("0").rstrip("."),
        "notes": ui.words(f"{path}/notes"),
    }


def changed(ui: Ui) -> bool:
    """Tell whether the form's fields differ from the track."""
    return any(ui.typed(name) != text for name, text in _texts(ui, int(ui.var("track", 0))).items())


def _edit(ui: Ui, track: int) -> None:
    ui.open(
        "tracks/edit",
        track=track,
        category=ui.words(f"tracks/{track}/category"),
        day=day_number(_start(ui, track).date()),
        **{f"text/{name}": text for name, text in _texts(ui, track).items()},
    )


def edit(ui: Ui) -> View:
    """Build the form of a new or existing track (track_edit.xml)."""
    track = int(ui.var("track", 0))
    kind, day = (
        str(ui.var("category", "running")),
        numbered_day(int(ui.var("day", day_number(ui.host.local_time.date())))),
    )

    def save() -> None:
        start, metres = time_of(ui.typed("start")), metres_of(ui.typed("distance") or "0")
        if start is None or metres is None or not ui.typed("minutes"):
            ui.host.show_toast(ui.say("Enter a start time, a duration and a distance"))
            return
        fields: dict[str, Scalar] = {
            "name": ui.typed("name").strip() or ui.say(kind),
            "category": kind,
            "start": int(datetime.combine(day, start).timestamp()),
            "minutes": int(ui.typed("minutes")),
            "metres": metres,
            "notes": ui.typed("notes").strip(),
        }
        ui.close()
        if track:
            for name, value in fields.items():
                ui.put(f"tracks/{track}/{name}", value)
        else:
            ui.add("tracks", **fields)

    def line(name: str, hint: str, *, numeric: bool = False, most: int = 60) -> View:
        field = Field(name, numeric=numeric, max_length=most)
        text = label(hint, id=f"{_ID}hint_{name}", ink="soft")
        return column(text, edit_text(ui, field, id=f"{_ID}track_edit_{name}", hint=hint))

    rows = [
        line("name", ui.say("Name")),
        preference(ui.say("Activity type"), ui.say(kind), icon="run",
                   on_tap=opener(ui, "tracks/category", category=kind)),
        preference(ui.say("Date"), ui.date(day, "weekday"), icon="calendar",
                   on_tap=opener(ui, "tracks/date", name="day", day=day_number(day))),
        line("start", ui.say("Start time (hh:mm)"), most=5),
        line("minutes", ui.say("Duration (minutes)"), numeric=True, most=4),
        line("distance", ui.say("Distance (km)"), most=8),
        line("notes", ui.say("Notes"), most=200),
    ]  # fmt: skip
    save_button = button(ui.say("Save"), save, id=f"{_ID}track_edit_save")
    title = ui.say("Edit track" if track else "New track")
    bar = draft.form_bar(ui, title, changed, "tracks/discard", save_button)
    pad = (dp(16), dp(8), dp(16), dp(16))
    return activity(ui, bar, scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, gap=dp(8), pad=pad))


def category_menu(ui: Ui) -> View:
    """Build the dialog that chooses what a track is."""
    options = {name: ui.say(name) for name in CATEGORIES}
    return one_of(ui, ui.say("Activity type"), options, str(ui.var("category")), "category")


# ----------------------------------------------------------------------------------------------------------------------
# the draw


def draw(draw: Draw) -> None:
    """Draw five weeks of tracks, some of them in the week of the phone's date, some days with two."""
    rng = draw.rng
    kinds = rng.sample(CATEGORIES, rng.randint(4, 6))
    week_start = (draw.now - timedelta(days=draw.now.weekday())).replace(hour=0, minute=0, second=0)
    this_week = max(int((draw.now - week_start).total_seconds()) // 3600, 1)
    hours = [rng.randrange(this_week) for _ in range(rng.randint(2, 5))]  # hours before now, in this week
    hours += [this_week + rng.randrange(28 * 24) for _ in range(rng.randint(9, 13))]
    starts = sorted(draw.now - timedelta(hours=back, minutes=rng.randrange(60)) for back in hours)
    for start in starts:
        kind = rng.choice(kinds)
        minutes = rng.randint(12, 150)
        pace = _PACES[kind]
        draw.record(
            "tracks",
            name=f"{rng.choice(_WHEN)} {rng.choice(_NAMES[kind])}",
            category=kind,
            start=int((start - timedelta(minutes=minutes)).timestamp()),
            minutes=minutes,
            metres=minutes * rng.randint(pace * 7, pace * 12) // 10 // 10 * 10,
            notes=rng.choice(_NOTES),
        )


_PACES = {"biking": 330, "climbing": 8, "driving": 900, "hiking": 70, "kayaking": 90, "running": 170, "skiing": 250,
          "swimming": 40, "trail running": 130, "walking": 80}  # fmt: skip
"""Metres a minute, more or less."""
_NAMES = {
    "biking": ("ride", "bike tour"), "climbing": ("climb", "boulders"), "driving": ("drive",),
    "hiking": ("hike", "hill walk"), "kayaking": ("paddle",), "running": ("run", "intervals"), "skiing": ("ski tour",),
    "swimming": ("swim", "laps"), "trail running": ("trail run",), "walking": ("walk", "stroll"),
}  # fmt: skip
_WHEN = ("Early", "Morning", "Lunch", "Afternoon", "Evening", "Long", "Short", "Lake", "Forest")
_NOTES = ("", "", "", "Windy", "With Ben", "Felt good", "Rain at the end", "New shoes")

_WORDS: Words = {
    "Activity Tracker": ("Aktivitäten", "运动记录"),
    "Activity type": ("Aktivitätstyp", "活动类型"),
    "Add track": ("Track hinzufügen", "添加轨迹"),
    "All activities": ("Alle Aktivitäten", "所有活动"),
    "Average speed": ("Durchschnittsgeschwindigkeit", "平均速度"),
    "Collapse": ("Schließen", "收起"),
    "Delete track?": ("Track löschen?", "要删除轨迹吗？"),
    "Distance": ("Distanz", "距离"),
    "Distance (km)": ("Distanz (km)", "距离（公里）"),
    "Duration (minutes)": ("Dauer (Minuten)", "时长（分钟）"),
    "Edit track": ("Track bearbeiten", "修改轨迹"),
    "End time": ("Endzeit", "结束时间"),
    "Enter a start time, a duration and a distance": (
        "Gib eine Startzeit, eine Dauer und eine Distanz ein",
        "请输入开始时间、时长和距离",
    ),
    "Filter": ("Filtern", "过滤"),
    "Name": ("Bezeichnung", "名称"),
    "New track": ("Neuer Track", "新轨迹"),
    "Next week": ("Nächste Woche", "下一周"),
    "No tracks": ("Keine Tracks", "没有轨迹"),
    "No tracks this week": ("Keine Tracks in dieser Woche", "本周没有轨迹"),
    "Notes": ("Notizen", "备注"),
    "OpenTracks": ("OpenTracks", "运动轨迹"),
    "Previous week": ("Vorherige Woche", "上一周"),
    "Search tracks": ("Tracks suchen", "搜索轨迹"),
    "Start time": ("Startzeit", "开始时间"),
    "Start time (hh:mm)": ("Startzeit (hh:mm)", "开始时间（时:分）"),
    "Statistics": ("Statistik", "统计"),
    "Total time": ("Gesamtzeit", "总时间"),
    "biking": ("Radfahren", "骑行"),
    "climbing": ("Klettern", "攀岩"),
    "driving": ("Autofahren", "驾车"),
    "hiking": ("Wandern", "徒步"),
    "kayaking": ("Kajakfahren", "皮划艇"),
    "running": ("Laufen", "跑步"),
    "skiing": ("Skifahren", "滑雪"),
    "swimming": ("Schwimmen", "游泳"),
    "trail running": ("Geländelauf", "越野跑"),
    "walking": ("Gehen", "步行"),
    "{name} will be deleted for good.": ("{name} wird endgültig gelöscht.", "{name}将被永久删除。"),
}

_ACTIVITY = f"{PACKAGE}.TrackListActivity"
APP = App(
    package=PACKAGE,
    label="Activity Tracker",
    home="tracks/main",
    icon="run",
    color="#00838f",
    permissions=("ACCESS_FINE_LOCATION",),
    records={
        "tracks": {
            "name": TEXT,
            "category": Kind(str, among=CATEGORIES),
            "start": MOMENT,
            "minutes": Kind(int, 0, 9999),
            "metres": Kind(int, 0, 9_999_999),
            "notes": TEXT,
        }
    },
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "tracks/main": Screen(main, _ACTIVITY),
        "tracks/filter": Screen(filter_menu, _ACTIVITY, dialog=True),
        "tracks/menu": Screen(track_menu, _ACTIVITY, dialog=True),
        "tracks/details": Screen(details, f"{PACKAGE}.TrackRecordedActivity", private=True),
        "tracks/delete": Screen(delete, f"{PACKAGE}.TrackRecordedActivity", dialog=True),
        "tracks/statistics": Screen(statistics, f"{PACKAGE}.ui.aggregatedStatistics.AggregatedStatisticsActivity"),
        "tracks/edit": Screen(edit, f"{PACKAGE}.TrackEditActivity", on_back=draft.leave(changed, "tracks/discard")),
        "tracks/discard": Screen(draft.discard, f"{PACKAGE}.TrackEditActivity", dialog=True),
        "tracks/category": Screen(category_menu, f"{PACKAGE}.TrackEditActivity", dialog=True),
        "tracks/date": Screen(date_dialog, f"{PACKAGE}.TrackEditActivity", dialog=True),
    },
)

__all__ = ["APP", "CATEGORIES", "metres_of", "spell_distance", "spell_minutes", "time_of"]
