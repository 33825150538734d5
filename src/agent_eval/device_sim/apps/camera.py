"""Camera: photos and videos by either lens, and a viewer of what was taken (packages/apps/Camera2).

Each shot is a record below ``camera/shot`` and a file in ``DCIM/Camera``; ``camera/photos`` counts all photos that the
phone has. While a video is being recorded, ``camera/recording`` says so. The camera opens with the lens that was used
last (``camera/lens``). Knows no other app.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_eval.device_sim.apps.permission_controller import ask, granted
from agent_eval.device_sim.dialogs import question
from agent_eval.device_sim.schema import COUNT, MOMENT, TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Notice, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, WRAP, Direction, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    TITLE,
    activity,
    app_bar,
    button,
    column,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
)

PACKAGE = "com.android.camera2"
FOLDER = "/sdcard/DCIM/Camera"
SHOT = "camera/shot"
_ID = f"{PACKAGE}:id/"
_SINCE = "camera/recording_since_ms"


def viewfinder(ui: Ui) -> View:
    """Build the viewfinder (camera.xml)."""
    front, video = _lens(ui) == "front", bool(ui.var("video", False))
    recording = ui.flag("camera/recording")

    def press() -> None:
        if not granted(ui.host, PACKAGE, "CAMERA"):
            ask(ui, PACKAGE, "CAMERA")
        elif not ui.flag("settings/camera_access"):
            ui.host.show_toast(ui.say("Camera access is off"))
        elif recording:
            stop_recording(ui)
        elif video:
            ui.keep(_SINCE, ui.host.now_ms)
            ui.keep("camera/recording_lens", _lens(ui))
            ui.put("camera/recording", True)
        else:
            take_photo(ui)

    if recording:
        icon, says = "stop", ui.say("Stop recording")
    elif video:
        icon, says = "record", ui.say("Start recording")
    else:
        icon, says = "shutter", ui.say("Shutter")
    controls = row(
        frame(
            image_button(
                "photo",
                ui.say("Show last photo"),
                opener(ui, "camera/last"),
                id=f"{_ID}rounded_thumbnail_view",
                enabled=not recording and (ui.number("camera/photos") > 0 or bool(ui.ids(SHOT))),
            ),
            weight=1,
            height=dp(96),
        ),
        frame(
            image_button(icon, says, press, id=f"{_ID}shutter_button", size=dp(80), ink="on_wallpaper"),
            width=dp(96),
            height=dp(96),
        ),
        frame(
            image_button(
                "turn",
                ui.say("Switch to back camera") if front else ui.say("Switch to front camera"),
                lambda: ui.put("camera/lens", "back" if front else "front"),
                id=f"{_ID}camera_toggle_button",
                enabled=not recording,
            ),
            weight=1,
            height=dp(96),
        ),
        height=dp(112),
        pad=(0, dp(8), 0, dp(8)),
        id=f"{_ID}bottom_bar",
    )
    preview = frame(
        label(ui.say("Front camera") if front else ui.say("Back camera"), size=TITLE, ink="on_wallpaper", align=CENTER),
        *([_clock(ui)] if recording else []),
        id=f"{_ID}preview_content",
        cls="android.view.TextureView",
        weight=1,
    )
    return activity(ui, preview, _modes(ui, video=video, enabled=not recording), controls, fill="viewfinder")


def _clock(ui: Ui) -> View:
    return label(
        _length(_recorded_s(ui)),
        id=f"{_ID}recording_time",
        size=dp(20),
        ink="on_wallpaper",
        align=(0.5, 0.05),
        desc=ui.say("Recording"),
    )


def _modes(ui: Ui, *, video: bool, enabled: bool) -> View:
    def mode(text: str, name: str, *, chosen: bool) -> View:
        view = button(
            ui.say(text),
            lambda: ui.set("video", name == "video"),
            id=f"{_ID}mode_{name}",
            ink="on_wallpaper",
            enabled=enabled,
            weight=1,
            desc=ui.say("Switch to Video Camera") if name == "video" else ui.say("Switch to Camera Mode"),
        )
        view.selected = chosen
        view.bold = chosen
        return view

    return row(
        mode("Photo", "photo", chosen=not video),
        mode("Video", "video", chosen=video),
        id=f"{_ID}mode_bar",
        height=dp(48),
        pad=(dp(64), 0, dp(64), 0),
    )


def _lens(ui: Ui) -> str:
    return ui.words("camera/lens")


def take_photo(ui: Ui) -> None:
    """Take a photo with the lens that is chosen."""
    ui.put("camera/photos", ui.number("camera/photos") + 1)
    _keep_shot(ui, "photo", _lens(ui), 0)


def stop_recording(ui: Ui) -> None:
    """Stop the video that is being recorded, and keep it."""
    seconds = _recorded_s(ui)
    lens = str(ui.known("camera/recording_lens")) or "back"
    ui.put("camera/recording", False)
    _keep_shot(ui, "video", lens, seconds)


def _recorded_s(ui: Ui) -> int:
    return max(0, ui.host.now_ms - int(ui.known(_SINCE) or ui.host.now_ms)) // 1000


def _keep_shot(ui: Ui, kind: str, lens: str, seconds: int) -> None:
    now = ui.host.local_time
    start, end = ("IMG", "jpg") if kind == "photo" else ("VID", "mp4")
    ui.files.make_folder(FOLDER, parents=True)
    name, copy = f"{start}_{now:%Y%m%d_%H%M%S}", 0
    while ui.files.exists(f"{FOLDER}/{name}.{end}"):
        copy += 1
        name = f"{start}_{now:%Y%m%d_%H%M%S}_{copy}"
    file = f"{name}.{end}"
    ui.files.write(f"{FOLDER}/{file}", f"{kind}, {lens} camera, {now:%Y-%m-%d %H:%M:%S}, {seconds} s\n".encode())
    ui.add(SHOT, kind=kind, lens=lens, seconds=seconds, taken=int(now.timestamp()), file=file)


def _length(seconds: int) -> str:
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _shots(ui: Ui) -> list[int]:
    return [shot for shot in reversed(ui.ids(SHOT)) if ui.files.exists(f"{FOLDER}/{ui.words(f'{SHOT}/{shot}/file')}")]


def last(ui: Ui) -> View:
    """Build the viewer: the latest shot first, a sideways swipe shows the others (filmstrip)."""
    count = ui.number("camera/photos")
    shots = _shots(ui)
    here = min(int(ui.var("place", 0)), max(len(shots) - 1, 0))
    if not shots:
        content = [
            image(
                "photo", size=dp(120), desc=ui.say("Photo {number}", number=count), id=f"{_ID}media_view", fill="chip"
            ),
            _counter(ui, count),
        ]
        picture = column(*content, gap=dp(16), align=CENTER)
        return activity(ui, app_bar(ui, ui.say("Photos")), frame(picture, weight=1, height=MATCH))
    path = f"{SHOT}/{shots[here]}"
    name, kind = ui.words(f"{path}/file"), ui.words(f"{path}/kind")
    lens = ui.say("Front camera") if ui.words(f"{path}/lens") == "front" else ui.say("Back camera")
    facts = [ui.moment(ui.number(f"{path}/taken")), lens]
    if kind == "video":
        facts.append(_length(ui.number(f"{path}/seconds")))
    picture = column(
        image("video" if kind == "video" else "photo", size=dp(160), desc=name, id=f"{_ID}media_view", fill="chip"),
        label(name, id=f"{_ID}media_name", size=TITLE, align=CENTER),
        label(" \u00b7 ".join(facts), id=f"{_ID}media_details", size=BODY, ink="soft", align=CENTER),
        _counter(ui, count),
        gap=dp(16),
        align=CENTER,
    )

    def swipe(direction: Direction) -> bool:
        if direction in ("up", "down"):
            return False
        ui.set("place", min(max(here + (1 if direction == "left" else -1), 0), len(shots) - 1))
        return True

    bar = app_bar(
        ui,
        ui.say("Photos"),
        actions=[
            image_button(
                "delete", ui.say("Delete"), opener(ui, "camera/delete", shot=shots[here]), id=f"{_ID}filmstrip_delete"
            )
        ],
    )
    page = activity(ui, bar, frame(picture, weight=1, height=MATCH))
    page.on_swipe = swipe
    return page


def _counter(ui: Ui, count: int) -> View:
    text = ui.say("{count} photos", count=count)
    return label(text, id=f"{_ID}photo_count", size=TITLE, align=CENTER, width=WRAP)


def delete(ui: Ui) -> View:
    """Build the dialog that asks before a shot is deleted."""
    path = f"{SHOT}/{int(ui.var('shot'))}"

    def ok() -> None:
        ui.files.remove(f"{FOLDER}/{ui.words(f'{path}/file')}")
        if ui.words(f"{path}/kind") == "photo":
            ui.put("camera/photos", max(ui.number("camera/photos") - 1, 0))
        ui.remove(path)

    return question(ui, ui.say("Delete this item?"), "Delete", ok)


def ongoing(ui: Ui) -> Sequence[Notice]:
    """Return the notification of a video that is being recorded."""
    if not ui.flag("camera/recording"):
        return ()
    show: Callable[[], object] = lambda: ui.host.open_app(PACKAGE)  # noqa: E731
    return (Notice(ui.say("Recording"), ui.say("Video"), show, ((ui.say("Stop"), lambda: stop_recording(ui)),)),)


def draw_idle(draw: Draw) -> None:
    """A fresh phone records nothing, and looks out of its back."""
    draw.put("camera/recording", False)
    draw.put("camera/lens", "back")


STRINGS: Words = {
    "Back camera": ("Rückkamera", "后置摄像头"),
    "Camera": ("Kamera", "相机"),
    "Camera access is off": ("Kamerazugriff ist deaktiviert", "摄像头使用权限已关闭"),
    "Delete this item?": ("Dieses Element löschen?", "要删除此项吗？"),
    "Front camera": ("Frontkamera", "前置摄像头"),
    "Photo": ("Foto", "照片"),
    "Photo {number}": ("Foto {number}", "照片 {number}"),
    "Photos": ("Fotos", "照片"),
    "Recording": ("Aufnahme läuft", "正在录制"),
    "Show last photo": ("Letztes Foto anzeigen", "显示最近的照片"),
    "Shutter": ("Auslöser", "快门"),
    "Start recording": ("Aufnahme starten", "开始录制"),
    "Stop": ("Stoppen", "停止"),
    "Stop recording": ("Aufnahme beenden", "停止录制"),
    "Switch to Camera Mode": ("In den Kameramodus wechseln", "切换到拍照模式"),
    "Switch to Video Camera": ("Zur Videokamera wechseln", "切换到摄像机"),
    "Switch to back camera": ("Zur Rückkamera wechseln", "切换到后置摄像头"),
    "Switch to front camera": ("Zur Frontkamera wechseln", "切换到前置摄像头"),
    "Video": ("Video", "视频"),
    "{count} photos": ("{count} Fotos", "{count} 张照片"),
}

_ACTIVITY = "com.android.camera.CameraLauncher"

APP = App(
    package=PACKAGE,
    label="Camera",
    home="camera/viewfinder",
    color="#c5221f",
    icon="camera",
    home_row=True,
    permissions=("CAMERA",),
    paths={
        "camera/photos": Kind(int, 0, 100_000),
        "camera/recording": YES_NO,
        "camera/lens": Kind(str, among=("back", "front")),
    },
    records={
        SHOT: {
            "kind": Kind(str, among=("photo", "video")),
            "lens": Kind(str, among=("back", "front")),
            "seconds": COUNT,
            "taken": MOMENT,
            "file": TEXT,
        }
    },
    draw=draw_idle,
    ongoing=ongoing,
    strings=tables(EVERYWHERE, STRINGS),
    screens={
        "camera/viewfinder": Screen(viewfinder, _ACTIVITY),
        "camera/last": Screen(last, _ACTIVITY),
        "camera/delete": Screen(delete, _ACTIVITY, dialog=True),
    },
    actions={"android.media.action.STILL_IMAGE_CAMERA": "camera/viewfinder"},
)
