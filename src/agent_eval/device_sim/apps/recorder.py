"""Recorder: records sound into files, names them and keeps a list (after Audio Recorder). Knows the permissions.

A recording in progress lives in its page; it becomes a file of the shared storage when it is saved. How long it is is
measured by the phone's clock, pauses left out.
"""

from __future__ import annotations

from datetime import timedelta

from agent_eval.device_sim.apps import permission_controller
from agent_eval.device_sim.dialogs import menu, question
from agent_eval.device_sim.file_dialogs import FORBIDDEN
from agent_eval.device_sim.files import SHARED
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    MIDDLE,
    RELATIVE,
    TITLE,
    activity,
    app_bar,
    button,
    cancel_and_ok,
    column,
    dialog,
    edit_text,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
    scroll_column,
)

PACKAGE = "com.dimowner.audiorecorder"
_ID = f"{PACKAGE}:id/"
FOLDER = f"{SHARED}/Recordings"
_SUFFIX = ".m4a"
_LONGEST = 200
"""Bytes of a file that may say how long its recording is; clients can put others there."""
PERMISSION = "RECORD_AUDIO"


def recordings(ui: Ui) -> list[str]:
    """Return the names of the recorded files, the latest first."""
    if not ui.files.is_folder(FOLDER):
        return []
    files = [name for name in ui.files.names(FOLDER) if ui.files.is_file(f"{FOLDER}/{name}")]
    return sorted(files, key=lambda name: (-ui.files.mtime_s(f"{FOLDER}/{name}"), name))


def seconds_of(ui: Ui, name: str) -> int:
    """Return how long a recording is: its file says so."""
    words = ui.files.read(f"{FOLDER}/{name}")[:_LONGEST].decode(errors="replace").split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) < 9 else 0


def _seconds_since(ui: Ui, since_ms: int) -> int:
    """Return how many times the phone's clock has shown another second since a moment."""
    return max(0, int(ui.host.local_time.timestamp()) - since_ms // 1000)


def _clock(seconds: int) -> str:
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _free_name(ui: Ui, wanted: str) -> str:
    """Return a name that no recording has: the wanted one, or with a number behind it."""
    name, count = wanted, 1
    while ui.files.exists(f"{FOLDER}/{name}{_SUFFIX}"):
        count += 1
        name = f"{wanted}-{count}"
    return name


# ----------------------------------------------------------------------------------------------------------------------
# recording


def main(ui: Ui) -> View:
    """Build the page with the record button (activity_main.xml)."""

    def record() -> None:
        permission_controller.ask(ui, PACKAGE, PERMISSION, then="recorder/recording")

    bar = app_bar(
        ui,
        ui.say("Audio Recorder"),
        up=False,
        actions=[image_button("list", ui.say("Recordings"), opener(ui, "recorder/list"), id=f"{_ID}btn_records_list")],
    )
    latest = recordings(ui)[:1]
    shown = latest[0] if latest else ui.say("No recordings")
    return activity(
        ui,
        bar,
        frame(label("00:00", id=f"{_ID}txt_progress", size=dp(56), align=CENTER), weight=1),
        label(shown, id=f"{_ID}txt_name", ink="soft", align=CENTER, size=TITLE),
        _keys(
            image_button(
                "mic", ui.say("Record"), record, id=f"{_ID}btn_record", size=dp(72), fill="accent", ink="on_primary"
            )
        ),
    )


def _keys(*keys: View) -> View:
    return frame(row(*keys, width=-2, gap=dp(32), align=CENTER), height=dp(128))


def elapsed_ms(ui: Ui) -> int:
    """Return how long the page's recording is so far."""
    kept = int(ui.var("kept_ms", 0))
    return kept if ui.var("paused", False) else kept + ui.host.now_ms - int(ui.var("since_ms", ui.host.now_ms))


def recording(ui: Ui) -> View:
    """Build the page of a recording in progress."""
    paused = bool(ui.var("paused", False))

    def pause() -> None:
        ui.set("kept_ms", elapsed_ms(ui))
        ui.set("paused", True)

    def go_on() -> None:
        ui.set("since_ms", ui.host.now_ms)
        ui.set("paused", False)

    def stop() -> None:
        seconds = elapsed_ms(ui) // 1000
        ui.close()
        start = ui.host.local_time - timedelta(seconds=seconds)
        name = _free_name(ui, f"Record {start:%Y-%m-%d %H.%M.%S}")
        ui.open("recorder/save", seconds=seconds, **{"text/name": name})

    # the time shown moves once a second: milliseconds are not asked for while building
    running_s = 0 if paused else _seconds_since(ui, int(ui.var("since_ms", 0)))
    shown = int(ui.var("kept_ms", 0)) // 1000 + running_s
    state = ui.say("Paused" if paused else "Recording\u2026")
    return activity(
        ui,
        app_bar(ui, ui.say("Audio Recorder"), up=False),
        frame(
            column(
                label(_clock(shown), id=f"{_ID}txt_progress", size=dp(56), align=CENTER),
                label(state, id=f"{_ID}txt_state", size=TITLE, ink="error", align=CENTER),
                align=CENTER,
            ),
            weight=1,
        ),
        _keys(
            image_button("delete", ui.say("Discard"), opener(ui, "recorder/discard"), id=f"{_ID}btn_record_delete",
                         size=dp(56)),
            image_button("mic" if paused else "pause", ui.say("Resume" if paused else "Pause"),
                         go_on if paused else pause, id=f"{_ID}btn_record", size=dp(72), fill="accent",
                         ink="on_primary"),
            image_button("stop", ui.say("Stop"), stop, id=f"{_ID}btn_record_stop", size=dp(56)),
        ),
    )  # fmt: skip


def discard(ui: Ui) -> View:
    """Build the dialog that asks before a recording in progress is thrown away."""
    return question(ui, ui.say("Discard this recording?"), "Discard", ui.close)


def save(ui: Ui) -> View:
    """Build the dialog that names a new recording and writes it."""

    def write() -> None:
        name = ui.typed("name").strip()
        if not _may_be(ui, name):
            return
        ui.close()
        ui.files.make_folder(FOLDER, parents=True)
        ui.files.write(f"{FOLDER}/{name}{_SUFFIX}", f"m4a {int(ui.var('seconds'))}".encode())
        ui.host.show_toast(ui.say("Saved {name}", name=name))

    field = edit_text(
        ui, Field("name", max_length=60, select_on_focus=True), id=f"{_ID}input_name", hint=ui.say("File name")
    )
    length = label(_clock(int(ui.var("seconds", 0))), id=f"{_ID}txt_duration", ink="soft")
    return dialog(
        field,
        length,
        title=ui.say("Save recording"),
        buttons=(
            button(ui.say("Don\u2019t save"), ui.close, id="android:id/button2"),
            button(ui.say("Save"), write, id="android:id/button1"),
        ),
    )


def _may_be(ui: Ui, name: str) -> bool:
    """Tell whether a recording may have a name, and say why not."""
    if not name or FORBIDDEN & set(name) or name.startswith("."):
        ui.host.show_toast(ui.say("Enter another name"))
        return False
    if ui.files.exists(f"{FOLDER}/{name}{_SUFFIX}"):
        ui.host.show_toast(ui.say("A recording with this name exists"))
        return False
    return True


# ----------------------------------------------------------------------------------------------------------------------
# the list


def listing(ui: Ui) -> View:
    """Build the list of recordings (fragment_records.xml)."""
    rows = []
    for name in recordings(ui):
        when = ui.moment(ui.files.mtime_s(f"{FOLDER}/{name}"))
        texts = column(
            label(name.removesuffix(_SUFFIX), id=f"{_ID}list_item_name", size=TITLE, width=MATCH),
            label(f"{_clock(seconds_of(ui, name))} \u2022 {when}", id=f"{_ID}list_item_description", ink="soft"),
            cls=RELATIVE,
            weight=1,
            align=MIDDLE,
        )
        rows.append(
            row(
                image("mic", size=dp(40), align=MIDDLE, fill="chip"),
                texts,
                image_button(
                    "more", ui.say("More options"), opener(ui, "recorder/menu", name=name), id=f"{_ID}list_item_more"
                ),
                height=dp(68),
                pad=(dp(16), 0, dp(4), 0),
                gap=dp(16),
                on_tap=opener(ui, "recorder/play", name=name, since_ms=0),
            )
        )
    body = scroll_column(ui, rows, id=f"{_ID}recycler_view", height=0, weight=1)
    if not rows:
        body = frame(
            label(ui.say("No recordings"), id=f"{_ID}txt_empty", size=TITLE, ink="soft", align=CENTER), weight=1
        )
    return activity(ui, app_bar(ui, ui.say("Recordings")), body)


def play(ui: Ui) -> View:
    """Build the player of one recording."""
    name = str(ui.var("name"))
    since, seconds = int(ui.var("since_ms", 0)), seconds_of(ui, name)
    at = min(seconds, _seconds_since(ui, since)) if since else 0
    playing = bool(since) and at < seconds
    key = image_button(
        "pause" if playing else "play",
        ui.say("Stop" if playing else "Play"),
        lambda: ui.set("since_ms", 0 if playing else ui.host.now_ms),
        id=f"{_ID}btn_play",
        size=dp(72),
    )
    times = label(f"{_clock(at)} / {_clock(seconds)}", id=f"{_ID}txt_progress", size=dp(32), align=CENTER)
    return activity(ui, app_bar(ui, name.removesuffix(_SUFFIX)), frame(times, weight=1), _keys(key))


def record_menu(ui: Ui) -> View:
    """Build the menu of one recording."""
    name = str(ui.var("name"))

    def share() -> None:
        ui.copy(f"{FOLDER}/{name}")
        ui.host.show_toast(ui.say("Link copied"))

    return menu(
        ui,
        [
            (ui.say("Share"), share),
            (ui.say("Rename"), opener(ui, "recorder/rename", name=name, **{"text/name": name.removesuffix(_SUFFIX)})),
            (ui.say("Delete"), opener(ui, "recorder/delete", name=name)),
        ],
    )


def rename(ui: Ui) -> View:
    """Build the dialog that renames a recording."""
    old = str(ui.var("name"))

    def ok() -> None:
        name = ui.typed("name").strip()
        if name + _SUFFIX == old:
            ui.close()
        elif _may_be(ui, name):
            ui.close()
            ui.files.rename(f"{FOLDER}/{old}", f"{FOLDER}/{name}{_SUFFIX}")

    field = edit_text(
        ui, Field("name", max_length=60, select_on_focus=True), id=f"{_ID}input_name", hint=ui.say("File name")
    )
    return dialog(field, title=ui.say("Rename"), buttons=cancel_and_ok(ui, ok))


def delete(ui: Ui) -> View:
    """Build the dialog that asks before a recording is deleted."""
    name = str(ui.var("name"))
    message = ui.say("Delete {name}?", name=name.removesuffix(_SUFFIX))
    return question(ui, message, "Delete", lambda: ui.files.remove(f"{FOLDER}/{name}"))


# ----------------------------------------------------------------------------------------------------------------------
# the draw


def draw(draw: Draw) -> None:
    """Draw a few recordings; the permission to record has never been asked for."""
    draw.put(f"permissions/{PACKAGE}/{PERMISSION}", "ask")
    for name in draw.rng.sample(_NAMES, draw.rng.randint(1, 4)):
        draw.file(f"Recordings/{name}{_SUFFIX}", f"m4a {draw.rng.randint(4, 900)}")


_NAMES = (
    "Birdsong", "Guitar idea", "Guitar idea 2", "Interview", "Lecture 3", "Lecture 4", "Memo", "Shopping memo",
    "Standup", "Voice memo",
)  # fmt: skip

_WORDS: Words = {
    "A recording with this name exists": ("Es gibt schon eine Aufnahme mit diesem Namen", "已存在同名录音"),
    "Audio Recorder": ("Audiorekorder", "录音"),
    "Delete {name}?": ("{name} löschen?", "要删除{name}吗？"),
    "Discard this recording?": ("Diese Aufnahme verwerfen?", "要舍弃此录音吗？"),
    "Don\u2019t save": ("Nicht speichern", "不保存"),
    "Enter another name": ("Gib einen anderen Namen ein", "请输入其他名称"),
    "File name": ("Dateiname", "文件名"),
    "Link copied": ("Link kopiert", "链接已复制"),
    "No recordings": ("Keine Aufnahmen", "没有录音"),
    "Paused": ("Angehalten", "已暂停"),
    "Record": ("Aufnehmen", "录制"),
    "Recorder": ("Rekorder", "录音机"),
    "Recordings": ("Aufnahmen", "录音列表"),
    "Recording\u2026": ("Aufnahme läuft\u2026", "正在录音\u2026"),
    "Resume": ("Fortsetzen", "继续"),
    "Save recording": ("Aufnahme speichern", "保存录音"),
    "Saved {name}": ("{name} gespeichert", "已保存{name}"),
    "Stop": ("Stopp", "停止"),
}

_ACTIVITY = f"{PACKAGE}.app.main.MainActivity"
_LIST = f"{PACKAGE}.app.records.RecordsActivity"
APP = App(
    package=PACKAGE,
    label="Recorder",
    home="recorder/main",
    icon="mic",
    color="#d84315",
    permissions=(PERMISSION,),
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "recorder/main": Screen(main, _ACTIVITY),
        "recorder/recording": Screen(recording, _ACTIVITY),
        "recorder/discard": Screen(discard, _ACTIVITY, dialog=True),
        "recorder/save": Screen(save, _ACTIVITY, dialog=True),
        "recorder/list": Screen(listing, _LIST),
        "recorder/play": Screen(play, _LIST),
        "recorder/menu": Screen(record_menu, _LIST, dialog=True),
        "recorder/rename": Screen(rename, _LIST, dialog=True),
        "recorder/delete": Screen(delete, _LIST, dialog=True),
    },
)

__all__ = ["APP", "recordings", "seconds_of"]
