"""Phone: favourites, recent calls, people, a keypad, a call, blocked numbers (packages/apps/Dialer).

A call is in the log from the moment it is placed; its length is written when it ends.
Knows the contacts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from agent_eval.device_sim import searching, tabs
from agent_eval.device_sim.apps.contacts import by_name, lookup
from agent_eval.device_sim.dialogs import menu, name_dialog, question
from agent_eval.device_sim.moments import day_of, minutes_of
from agent_eval.device_sim.schema import COUNT, MOMENT, TEXT, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.selection import Selection, leave
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.tabs import Tab
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    FRAME,
    GROUP,
    MIDDLE,
    RELATIVE,
    SMALL,
    TITLE,
    activity,
    app_bar,
    button,
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
    setter,
)

PACKAGE = "com.android.dialer"
_ID = f"{PACKAGE}:id/"
_CONTACTS, _MESSAGES = "com.android.contacts", "com.android.messaging"
CALL, BLOCKED = "phone/call", "phone/blocked"
KINDS = {"incoming": "Incoming call", "outgoing": "Outgoing call", "missed": "Missed call"}
_ICONS = {"incoming": "call_in", "outgoing": "call_out", "missed": "call_missed"}
_TABS = (
    Tab("favorites", "Favorites", "star"), Tab("recents", "Recents", "clock"), Tab("contacts", "Contacts", "person"),
)  # fmt: skip
_KEYS = (("1", ""), ("2", "ABC"), ("3", "DEF"), ("4", "GHI"), ("5", "JKL"), ("6", "MNO"), ("7", "PQRS"), ("8", "TUV"),
         ("9", "WXYZ"), ("*", ""), ("0", "+"), ("#", ""))  # fmt: skip
_RINGS_MS = 3000
"""After which the other side answers."""


def _newest_first(ui: Ui) -> list[int]:
    return sorted(ui.ids(CALL), key=lambda call: (-ui.number(f"{CALL}/{call}/time"), -call))


def _when(ui: Ui, seconds: int) -> str:
    minutes = minutes_of(seconds)
    time = ui.time_of_day(minutes // 60, minutes % 60)
    today = ui.host.local_time.date()
    near = {0: "Today", 1: "Yesterday"}.get((today - day_of(seconds)).days)
    return f"{ui.say(near) if near else ui.date(day_of(seconds))}, {time}"


def length_text(seconds: int) -> str:
    """Write how long a call took."""
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _placer(ui: Ui, number: str) -> Callable[[], object]:
    def place() -> None:
        if not number:
            return
        if ui.flag("settings/airplane_mode_on"):
            ui.host.show_toast(ui.say("To place a call, first turn off Airplane mode."))
            return
        ui.open("dialer/in_call", number=number)

    return place


# ----------------------------------------------------------------------------------------------------------------------
# the main page


def main(ui: Ui) -> View:
    """Build the toolbar, the page of the chosen tab, the keypad's button and the tabs (main_activity.xml)."""
    tab, selection = str(ui.var("tab", "recents")), Selection(ui)
    listed = [str(call) for call in _newest_first(ui)] if tab == "recents" else []
    if selection:
        chosen = "/".join(selection.keys)
        trash = image_button("delete", ui.say("Delete"), opener(ui, "dialer/delete", calls=chosen))
        bar = selection.bar(listed, [trash])
    else:
        bar = row(
            label(ui.say("Phone"), size=dp(20), weight=1, align=MIDDLE),
            image_button("search", ui.say("Search"), opener(ui, "dialer/search"), id=f"{_ID}search"),
            image_button("more", ui.say("More options"), opener(ui, "dialer/menu"), id=f"{_ID}main_options_menu"),
            cls=GROUP, height=dp(56), pad=(dp(16), 0, dp(4), 0),
        )  # fmt: skip
    rows = {"favorites": _favorites, "recents": _recents, "contacts": _people}[tab](ui)
    fab = floating("dialpad", ui.say("Key pad"), opener(ui, "dialer/keypad"), id=f"{_ID}fab")
    body = frame(column(_list(ui, rows, tab), height=MATCH), fab, weight=1, cls=RELATIVE)

    tabs_bar = tabs.bar(ui, _TABS, tab, id=f"{_ID}bottom_nav_bar", tab_id=f"{_ID}{{name}}_tab")
    return activity(ui, bar, body, tabs_bar)


def _list(ui: Ui, rows: list[View], name: str) -> View:
    if not rows:
        empty = label(ui.say("Nothing here"), id=f"{_ID}empty_list_view_message", size=TITLE, ink="soft", align=CENTER)
        return frame(empty, weight=1)
    space = View("android.view.View", height=dp(88))
    return scroll_column(ui, [*rows, space], name=name, id=f"{_ID}{name}_list", height=0, weight=1)


def _person(ui: Ui, contact: int) -> View:
    name, number = ui.words(f"contacts/{contact}/name"), ui.words(f"contacts/{contact}/phone")
    return row(
        image("person", size=dp(40), align=MIDDLE, fill="chip"),
        column(
            label(name, id=f"{_ID}contact_name", size=TITLE),
            label(number, id=f"{_ID}contact_number", size=BODY, ink="soft"),
            cls=RELATIVE, weight=1, align=MIDDLE,
        ),
        height=dp(64), pad=(dp(16), 0, dp(8), 0), gap=dp(16), on_tap=_placer(ui, number),
    )  # fmt: skip


def _favorites(ui: Ui) -> list[View]:
    starred = [contact for contact in by_name(ui) if ui.flag(f"contacts/{contact}/starred")]
    return [_person(ui, contact) for contact in starred]


def _people(ui: Ui) -> list[View]:
    new = preference(ui.say("Create new contact"), icon="person_add", on_tap=lambda: _new_contact(ui, ""))
    return [new, *[_person(ui, contact) for contact in by_name(ui)]]


def _recents(ui: Ui) -> list[View]:
    selection = Selection(ui)
    rows = []
    for call in _newest_first(ui):
        path = f"{CALL}/{call}"
        number, kind = ui.words(f"{path}/number"), ui.words(f"{path}/kind")
        chosen = str(call) in selection
        texts = column(
            label(lookup(ui, number), id=f"{_ID}primary_text", size=TITLE, ink="error" if kind == "missed" else "text",
                  width=MATCH),
            label(f"{ui.say(KINDS[kind])}, {_when(ui, ui.number(f'{path}/time'))}", id=f"{_ID}secondary_text",
                  size=BODY, ink="soft", width=MATCH),
            cls=RELATIVE, weight=1, align=MIDDLE,
        )  # fmt: skip
        details = opener(ui, "dialer/details", call=call)
        dial = image_button("call", ui.say("Call {name}", name=lookup(ui, number)), _placer(ui, number),
                            id=f"{_ID}call_button")  # fmt: skip
        rows.append(row(
            image(_ICONS[kind], size=dp(24), align=MIDDLE), texts, dial, height=dp(68), pad=(dp(16), 0, dp(8), 0),
            gap=dp(16), on_tap=selection.flip(str(call)) if selection else details, on_hold=selection.flip(str(call)),
            selected=chosen, fill="tonal" if chosen else "",
        ))  # fmt: skip
    return rows


def main_menu(ui: Ui) -> View:
    """Build the menu of the main page."""
    return menu(
        ui,
        [
            (ui.say("Clear call history"), opener(ui, "dialer/clear")),
            (ui.say("Blocked numbers"), opener(ui, "dialer/blocked")),
        ],
    )


def clear(ui: Ui) -> View:
    """Build the dialog that asks before the log is emptied."""

    def ok() -> None:
        for call in ui.ids(CALL):
            ui.remove(f"{CALL}/{call}")

    return question(ui, ui.say("This will delete all calls from your history."), "Clear", ok,
                    title=ui.say("Clear call history?"))  # fmt: skip


def delete(ui: Ui) -> View:
    """Build the dialog that asks before calls are deleted from the log."""
    calls = str(ui.var("calls")).split("/")

    def ok() -> None:
        for call in calls:
            ui.remove(f"{CALL}/{call}")
        if ui.var("page"):
            ui.close()
        else:
            ui.host.tell_page({"picked": ""})

    one = ui.say("Delete this call?")
    return question(ui, one if len(calls) == 1 else ui.say("Delete {count} calls?", count=len(calls)), "Delete", ok)


def details(ui: Ui) -> View:
    """Build the page of one call (call_details_activity.xml)."""
    call = int(ui.var("call"))
    path = f"{CALL}/{call}"
    number, kind = ui.words(f"{path}/number"), ui.words(f"{path}/kind") or "outgoing"
    blocked = next((n for n in ui.ids(BLOCKED) if ui.words(f"{BLOCKED}/{n}/number") == number), 0)
    known = lookup(ui, number) != number

    def block() -> None:
        if blocked:
            ui.remove(f"{BLOCKED}/{blocked}")
        else:
            ui.add(BLOCKED, number=number)

    def message() -> None:
        ui.host.open_app(_MESSAGES)
        ui.host.open_page("messages/thread", {"address": number})

    facts = f"{_when(ui, ui.number(f'{path}/time'))}, {length_text(ui.number(f'{path}/seconds'))}"
    rows = [
        row(
            image("person", size=dp(48), align=MIDDLE, fill="chip"),
            column(
                label(lookup(ui, number), id=f"{_ID}contact_name", size=dp(20)),
                label(number, id=f"{_ID}phone_number", size=BODY, ink="soft"),
                cls=RELATIVE, weight=1, align=MIDDLE,
            ),
            image_button("call", ui.say("Call {name}", name=lookup(ui, number)), _placer(ui, number),
                         id=f"{_ID}call_back_button"),
            height=dp(88), pad=(dp(16), 0, dp(8), 0), gap=dp(16),
        ),
        preference(ui.say(KINDS[kind]), facts, icon=_ICONS[kind]),
        preference(ui.say("Send a message"), icon="message", on_tap=message),
        *([] if known else [preference(ui.say("Add to contacts"), icon="person_add",
                                       on_tap=lambda: _new_contact(ui, number))]),
        preference(ui.say("Unblock number") if blocked else ui.say("Block number"), icon="block", on_tap=block),
    ]  # fmt: skip
    trash = image_button("delete", ui.say("Delete"), opener(ui, "dialer/delete", calls=str(call), page=True))
    return activity(ui, app_bar(ui, ui.say("Call details"), actions=[trash]), _list(ui, rows, "details"))


def _new_contact(ui: Ui, number: str) -> None:
    ui.host.open_app(_CONTACTS)
    ui.host.open_page("contacts/edit", {"contact": 0, "text/phone": number})


# ----------------------------------------------------------------------------------------------------------------------
# placing a call


def keypad(ui: Ui) -> View:
    """Build the keypad (dialpad_view.xml); holding 0 writes +."""
    digits = ui.typed("digits")

    def press(sign: str) -> Callable[[], object]:
        return lambda: ui.set("text/digits", digits + sign)

    def key(sign: str, letters: str) -> View:
        return View(
            FRAME, (label(sign, id=f"{_ID}dialpad_key_number", size=dp(26), align=(0.5, 0.3)),
                    label(letters or " ", id=f"{_ID}dialpad_key_letters", size=SMALL, ink="soft", align=(0.5, 0.9))),
            desc=f"{sign} {letters}".strip(), weight=1, height=dp(64), clickable=True, focusable=True,
            on_tap=press(sign), on_hold=press("+") if sign == "0" else None, long_clickable=sign == "0",
        )  # fmt: skip

    found = [contact for contact in by_name(ui) if len(digits) > 2 and digits in ui.words(f"contacts/{contact}/phone")]
    offers = [_person(ui, contact) for contact in found[:3]]
    if digits and not found:
        offers = [preference(ui.say("Create new contact"), icon="person_add", on_tap=lambda: _new_contact(ui, digits))]
    line = row(
        edit_text(ui, Field("digits", max_length=30), id=f"{_ID}digits", size=dp(28), justify=0.5, weight=1,
                  desc=ui.say("Number")),
        image_button("erase", ui.say("Backspace"), setter(ui, "text/digits", digits[:-1]), id=f"{_ID}deleteButton",
                     enabled=bool(digits)),
        height=dp(64), pad=(dp(16), 0, dp(8), 0),
    )  # fmt: skip
    rows = [row(*[key(*one) for one in _KEYS[start : start + 3]], height=dp(64)) for start in range(0, 12, 3)]
    dial = image_button("call", ui.say("dial"), _placer(ui, digits), id=f"{_ID}dialpad_floating_action_button",
                        size=dp(56), fill="accent", ink="on_primary", align=CENTER)  # fmt: skip
    return activity(
        ui, app_bar(ui, ui.say("Key pad")), scroll_column(ui, offers, height=0, weight=1, id=f"{_ID}offers"), line,
        *rows, frame(dial, height=dp(80)),
    )  # fmt: skip


def in_call(ui: Ui) -> View:
    """Build the page of a call that is going on; its variables are ``number``, and where it stands in the log."""
    number = str(ui.var("number"))
    call = int(ui.var("call", 0))
    since = ui.number(f"{CALL}/{call}/time") * 1000 + _RINGS_MS
    talked = max(0, ui.host.now_ms - since) // 1000
    answered = ui.host.now_ms >= since

    def end() -> None:
        if f"{CALL}/{call}/seconds" in ui.host.state:
            ui.put(f"{CALL}/{call}/seconds", talked if answered else 0)
        ui.close()

    def flip(name: str, icon: str, says: str) -> View:
        on = bool(ui.var(name))
        view = image_button(icon, ui.say(says), setter(ui, name, not on), id=f"{_ID}incall_{name}_button", size=dp(64),
                            cls="android.widget.ToggleButton", fill="tonal" if on else "")  # fmt: skip
        view.checkable, view.checked = True, on
        return view

    toggles = row(flip("mute", "mic_off", "Mute"), flip("speaker", "sound", "Speaker"), flip("hold", "pause", "Hold"),
                  gap=dp(24), width=dp(240), align=CENTER)  # fmt: skip
    state = ui.say("On hold") if ui.var("hold") else length_text(talked) if answered else ui.say("Calling\u2026")
    return activity(
        ui,
        column(
            image("person", size=dp(96), align=CENTER, fill="chip"),
            label(lookup(ui, number), id=f"{_ID}contactgrid_contact_name", size=dp(28), align=CENTER),
            label(state, id=f"{_ID}contactgrid_bottom_text", size=TITLE, ink="soft", align=CENTER),
            View("android.widget.Space", weight=1),
            toggles,
            image_button("call_end", ui.say("End call"), end, id=f"{_ID}incall_end_call", size=dp(72), fill="error",
                         ink="on_primary"),
            height=MATCH, pad=(0, dp(64), 0, dp(48)), gap=dp(16),
        ),
    )  # fmt: skip


def _log(ui: Ui) -> None:
    """Write the call that is being placed into the log."""
    now = int(ui.host.local_time.timestamp())
    ui.set("call", ui.add(CALL, number=str(ui.var("number")), kind="outgoing", time=now))


def _call_back(ui: Ui) -> bool:
    """Leave the page of a call; the call goes on."""
    ui.host.go_home()
    return True


# ----------------------------------------------------------------------------------------------------------------------
# search, blocked numbers


def search(ui: Ui) -> View:
    """Build the search for people by name and number."""
    words = ui.typed("query").strip().lower()
    found = [
        contact for contact in by_name(ui)
        if words and words in f"{ui.words(f'contacts/{contact}/name')} {ui.words(f'contacts/{contact}/phone')}".lower()
    ]  # fmt: skip
    bar = searching.bar(ui, ui.say("Search contacts"), id=f"{_ID}search_view")
    return activity(ui, bar, _list(ui, [_person(ui, contact) for contact in found], "search"))


def blocked(ui: Ui) -> View:
    """Build the list of blocked numbers."""
    rows = []
    for number in ui.ids(BLOCKED):
        digits = ui.words(f"{BLOCKED}/{number}/number")
        drop = image_button("close", ui.say("Unblock {number}", number=digits), _unblocker(ui, number))
        rows.append(
            row(label(digits, size=TITLE, weight=1, align=MIDDLE), drop, height=dp(56), pad=(dp(16), 0, dp(8), 0))
        )
    add = button(ui.say("Add a number"), opener(ui, "dialer/block"), id=f"{_ID}add_number", width=MATCH)
    return activity(ui, app_bar(ui, ui.say("Blocked numbers")), add, _list(ui, rows, "blocked"))


def _unblocker(ui: Ui, number: int) -> Callable[[], object]:
    return lambda: ui.remove(f"{BLOCKED}/{number}")


def block(ui: Ui) -> View:
    """Build the dialog that blocks a number."""

    def ok(text: str) -> str:
        digits = "".join(sign for sign in text if sign.isdigit() or sign == "+")
        if len(digits) < 3:
            return ui.say("This is not a phone number")
        ui.add(BLOCKED, number=digits)
        return ""

    return name_dialog(ui, ui.say("Block a number"), ui.say("Phone number"), ok)


# ----------------------------------------------------------------------------------------------------------------------
# what a fresh phone has


def draw(draw: Draw) -> None:
    """Draw a log of calls with people and strangers over the last days, and perhaps a blocked number."""
    rng = draw.rng
    numbers = [str(value) for path, value in sorted(draw.state.items()) if path.startswith("contacts/")
               and path.endswith("/phone")]  # fmt: skip
    numbers += [f"+1555{rng.randrange(10**7):07d}" for _ in range(3)]
    times = sorted(rng.sample(range(20, 12 * 24 * 60), rng.randint(6, 12)), reverse=True)
    for minutes in times:
        kind = rng.choice(tuple(KINDS))
        at = draw.now - timedelta(minutes=minutes)
        draw.record(CALL, number=rng.choice(numbers), kind=kind, time=int(at.timestamp()),
                    seconds=0 if kind == "missed" else rng.randint(5, 1500))  # fmt: skip
    if rng.random() < 0.5:
        draw.record(BLOCKED, number=f"+1555{rng.randrange(10**7):07d}")


_WORDS: Words = {
    "Add a number": ("Nummer hinzufügen", "添加号码"),
    "Add to contacts": ("Zu Kontakten hinzufügen", "添加到通讯录"),
    "Backspace": ("Rücktaste", "退格"),
    "Block a number": ("Nummer blockieren", "屏蔽号码"),
    "Block number": ("Nummer blockieren", "屏蔽号码"),
    "Blocked numbers": ("Blockierte Nummern", "已屏蔽的号码"),
    "Call details": ("Anrufdetails", "通话详情"),
    "Call {name}": ("{name} anrufen", "致电 {name}"),
    "Calling\u2026": ("Wird angerufen\u2026", "正在呼叫\u2026"),
    "Clear call history": ("Anrufliste löschen", "清除通话记录"),
    "Clear call history?": ("Anrufliste löschen?", "要清除通话记录吗？"),
    "Contacts": ("Kontakte", "通讯录"),
    "Create new contact": ("Neuen Kontakt anlegen", "新建联系人"),
    "Delete this call?": ("Diesen Anruf löschen?", "要删除此通话吗？"),
    "Delete {count} calls?": ("{count} Anrufe löschen?", "要删除 {count} 条通话吗？"),
    "End call": ("Auflegen", "结束通话"),
    "Favorites": ("Favoriten", "收藏"),
    "Hold": ("Halten", "保持"),
    "Incoming call": ("Eingehender Anruf", "来电"),
    "Key pad": ("Wähltasten", "拨号键盘"),
    "Missed call": ("Verpasster Anruf", "未接来电"),
    "Mute": ("Stumm", "静音"),
    "Number": ("Nummer", "号码"),
    "On hold": ("Gehalten", "保持中"),
    "Outgoing call": ("Ausgehender Anruf", "去电"),
    "Phone": ("Telefon", "电话"),
    "Phone number": ("Telefonnummer", "电话号码"),
    "Recents": ("Letzte", "最近"),
    "Search contacts": ("Kontakte suchen", "搜索联系人"),
    "Send a message": ("Nachricht senden", "发送短信"),
    "Speaker": ("Lautsprecher", "扬声器"),
    "This is not a phone number": ("Das ist keine Telefonnummer", "这不是电话号码"),
    "This will delete all calls from your history.": (
        "Alle Anrufe werden aus der Liste gelöscht.", "这将删除所有通话记录。"),
    "To place a call, first turn off Airplane mode.": (
        "Schalte zum Telefonieren den Flugmodus aus.", "如需拨打电话，请先关闭飞行模式。"),
    "Unblock number": ("Blockierung aufheben", "取消屏蔽"),
    "Unblock {number}": ("{number} nicht mehr blockieren", "取消屏蔽 {number}"),
    "dial": ("wählen", "拨号"),
}  # fmt: skip

_MAIN, _BLOCKED = f"{PACKAGE}.main.impl.MainActivity", f"{PACKAGE}.app.filterednumber.BlockedNumbersSettingsActivity"

APP = App(
    package=PACKAGE,
    label="Phone",
    home="dialer/main",
    color="#1a73e8",
    icon="call",
    actions={"android.intent.action.DIAL": "dialer/keypad"},
    records={
        CALL: {"number": TEXT, "kind": Kind(str, among=tuple(KINDS)), "time": MOMENT, "seconds": COUNT},
        BLOCKED: {"number": TEXT},
    },
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "dialer/main": Screen(main, _MAIN, on_back=leave),
        "dialer/menu": Screen(main_menu, _MAIN, dialog=True),
        "dialer/keypad": Screen(keypad, f"{PACKAGE}.app.DialtactsActivity"),
        "dialer/in_call": Screen(in_call, "com.android.incallui.InCallActivity", on_open=_log, on_back=_call_back),
        "dialer/details": Screen(details, "com.android.dialer.calldetails.CallDetailsActivity", private=True),
        "dialer/delete": Screen(delete, _MAIN, dialog=True),
        "dialer/clear": Screen(clear, _MAIN, dialog=True),
        "dialer/search": Screen(search, _MAIN),
        "dialer/blocked": Screen(blocked, _BLOCKED),
        "dialer/block": Screen(block, _BLOCKED, dialog=True),
    },
)
