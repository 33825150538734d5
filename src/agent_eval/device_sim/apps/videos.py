"""Videos: the video files of the shared storage, folders, and playlists of them (after VLC). Knows no other app.

A playlist is a text with one path per line, in order, below the shared storage: ``VLCVideos/clip_1.mp4``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_eval.device_sim import reordering, tabs
from agent_eval.device_sim.dialogs import menu, question
from agent_eval.device_sim.files import SHARED
from agent_eval.device_sim.schema import FILES, TEXT
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.selection import Selection
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.tabs import Tab
from agent_eval.device_sim.ui import Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    MIDDLE,
    RELATIVE,
    TITLE,
    activity,
    app_bar,
    button,
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
    setter,
)

PACKAGE = "org.videolan.vlc"
_ID = f"{PACKAGE}:id/"
SUFFIXES = (".mp4", ".mkv", ".3gp", ".webm")
"""Ends of the names that VLC takes for videos."""
TABS = (Tab("video", "Video", "video"), Tab("browse", "Browse", "folder"), Tab("playlists", "Playlists", "playlist"))


def is_video(path: str) -> bool:
    """Tell whether a file's name is that of a video."""
    return path.lower().endswith(SUFFIXES)


def videos(ui: Ui) -> list[str]:
    """Return all videos below the shared storage, by name."""
    found = [path[len(FILES) + 1 :] for path in ui.host.state if path.startswith(f"{FILES}/") and is_video(path)]
    return sorted(found, key=lambda path: (_name(path).lower(), path))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


def _count(ui: Ui, paths: Sequence[str]) -> str:
    return ui.say("1 track") if len(paths) == 1 else ui.say("{count} tracks", count=len(paths))


# ----------------------------------------------------------------------------------------------------------------------
# the library


def main(ui: Ui) -> View:
    """Build the library: all videos, the folders or the playlists."""
    tab = str(ui.var("tab", "video"))
    selection = _selection(ui)
    if tab == "video":
        rows = _video_rows(ui, videos(ui), selection)
    elif tab == "browse":
        storage = _folder_row(ui, ui.say("Internal memory"), SHARED)
        rows = [storage] + [
            _folder_row(ui, name, f"{SHARED}/{name}")
            for name in sorted({path.partition("/")[0] for path in videos(ui) if "/" in path})
        ]
    else:
        rows = [_playlist_row(ui, playlist) for playlist in ui.ids("videos/playlists")]
    bar = (
        _picking_bar(ui, selection)
        if selection
        else app_bar(ui, ui.say({one.name: one.title for one in TABS}[tab]), up=False)
    )
    body = scroll_column(ui, rows, name=tab, id=f"{_ID}recycler_view", height=0, weight=1)
    if not rows:
        body = frame(
            label(ui.say("No media found"), id=f"{_ID}no_media", size=TITLE, ink="soft", align=CENTER), weight=1
        )
    tabs_bar = tabs.bar(ui, TABS, tab, id=f"{_ID}navigation", tab_id=f"{_ID}nav_{{name}}")
    return activity(ui, bar, body, tabs_bar)


def _selection(ui: Ui) -> Selection:
    return Selection(ui, lambda path: ui.files.is_file(f"{SHARED}/{path}"))


def _picking_bar(ui: Ui, selection: Selection) -> View:
    def add() -> None:
        selection.choose(())
        ui.open("videos/add", paths="\n".join(selection.keys))

    action = image_button("playlist", ui.say("Add to playlist"), add, id=f"{_ID}action_add_playlist")
    return selection.bar((), (action,), says="Close")


def _video_rows(ui: Ui, paths: list[str], selection: Selection) -> list[View]:
    rows = []
    for path in paths:
        play = opener(ui, "videos/player", path=path, paths="\n".join(paths))
        rows.append(
            _row(
                ui,
                "check" if path in selection else "video",
                _name(path),
                path.rpartition("/")[0],
                selection.flip(path) if selection else play,
                hold=selection.flip(path),
                more=opener(ui, "videos/menu", path=path),
                selected=path in selection,
            )
        )
    return rows


def _row(
    ui: Ui,
    icon: str,
    title: str,
    details: str,
    on_tap: Callable[[], object],
    *,
    hold: Callable[[], object] | None = None,
    more: Callable[[], object] | None = None,
    selected: bool = False,
) -> View:
    texts = column(
        label(title, id=f"{_ID}title", size=TITLE, width=-1),
        label(details, id=f"{_ID}subtitle", ink="soft", width=-1),
        cls=RELATIVE,
        weight=1,
        align=MIDDLE,
    )
    parts = [image(icon, id=f"{_ID}media_cover", size=dp(40), align=MIDDLE, fill="chip"), texts]
    if more is not None:
        parts.append(image_button("more", ui.say("More actions"), more, id=f"{_ID}item_more"))
    return row(
        *parts,
        height=dp(68),
        pad=(dp(16), 0, dp(4), 0),
        gap=dp(16),
        on_tap=on_tap,
        on_hold=hold,
        selected=selected,
        fill="tonal" if selected else "",
    )


def _folder_row(ui: Ui, title: str, path: str) -> View:
    below = path[len(SHARED) + 1 :] or SHARED
    return _row(ui, "folder", title, below, opener(ui, "videos/folder", path=path))


def folder(ui: Ui) -> View:
    """Build one folder: the folders in it, then its videos."""
    path = str(ui.var("path"))
    names = ui.files.names(path) if ui.files.is_folder(path) else []
    rows = [_folder_row(ui, name, f"{path}/{name}") for name in names if ui.files.is_folder(f"{path}/{name}")]
    inside = [f"{path}/{name}"[len(SHARED) + 1 :] for name in names if is_video(name)]
    selection = _selection(ui)
    rows += _video_rows(ui, inside, selection)
    title = ui.say("Internal memory") if path == SHARED else _name(path)
    body = scroll_column(ui, rows, id=f"{_ID}network_list", height=0, weight=1)
    if not rows:
        body = frame(
            label(ui.say("No media found"), id=f"{_ID}no_media", size=TITLE, ink="soft", align=CENTER), weight=1
        )
    return activity(ui, _picking_bar(ui, selection) if selection else app_bar(ui, title), body)


def video_menu(ui: Ui) -> View:
    """Build the menu of one video."""
    path = str(ui.var("path"))
    return menu(
        ui,
        [
            (ui.say("Play"), opener(ui, "videos/player", path=path, paths=path)),
            (ui.say("Add to playlist"), opener(ui, "videos/add", paths=path)),
            (ui.say("Information"), opener(ui, "videos/information", path=path)),
        ],
    )


def information(ui: Ui) -> View:
    """Build the dialog that says where a video lies."""
    path = f"{SHARED}/{ui.var('path')}"
    size = len(ui.files.read(path)) if ui.files.is_file(path) else 0
    return dialog(
        title=_name(path),
        message=f"{path}\n{size} B",
        buttons=(button(ui.say("OK"), ui.close, id="android:id/button1"),),
    )


def player(ui: Ui) -> View:
    """Build the page on which a video plays; its list says what comes next."""
    path, paths = str(ui.var("path")), _lines(str(ui.var("paths")))
    paused = bool(ui.var("paused", False))

    def skip(by: int) -> None:
        place = paths.index(path) + by if path in paths else 0
        if 0 <= place < len(paths):
            ui.set("path", paths[place])
            ui.set("paused", False)

    keys = row(
        image_button("previous", ui.say("Previous"), lambda: skip(-1), id=f"{_ID}playlist_previous"),
        image_button(
            "play" if paused else "pause",
            ui.say("Play" if paused else "Pause"),
            setter(ui, "paused", not paused),
            id=f"{_ID}player_overlay_play",
            size=dp(64),
        ),
        image_button("next", ui.say("Next"), lambda: skip(1), id=f"{_ID}playlist_next"),
        width=-2,
        align=CENTER,
        gap=dp(16),
    )
    picture = View("android.view.SurfaceView", id=f"{_ID}player_surface", icon="video", weight=1, fill="viewfinder")
    title = label(_name(path), id=f"{_ID}player_overlay_title", size=TITLE, align=CENTER)
    return activity(ui, app_bar(ui, _name(path)), picture, title, frame(keys, height=dp(88)))


# ----------------------------------------------------------------------------------------------------------------------
# playlists


def _playlist_row(ui: Ui, playlist: int) -> View:
    path = f"videos/playlists/{playlist}"
    return _row(
        ui,
        "playlist",
        ui.words(f"{path}/name"),
        _count(ui, _lines(ui.words(f"{path}/paths"))),
        opener(ui, "videos/playlist", playlist=playlist),
        more=opener(ui, "videos/playlist_menu", playlist=playlist),
    )


def playlist(ui: Ui) -> View:
    """Build one playlist, in order."""
    number = int(ui.var("playlist"))
    paths = _lines(ui.words(f"videos/playlists/{number}/paths"))
    rows = [
        _row(
            ui,
            "video",
            _name(path),
            path.rpartition("/")[0],
            opener(ui, "videos/player", path=path, paths="\n".join(paths)),
            more=opener(ui, "videos/entry_menu", playlist=number, place=place),
        )
        for place, path in enumerate(paths)
    ]
    body = scroll_column(ui, rows, id=f"{_ID}songs", height=0, weight=1)
    if not rows:
        body = frame(
            label(ui.say("No media found"), id=f"{_ID}no_media", size=TITLE, ink="soft", align=CENTER), weight=1
        )
    return activity(ui, app_bar(ui, ui.words(f"videos/playlists/{number}/name")), body)


def playlist_menu(ui: Ui) -> View:
    """Build the menu of one playlist."""
    playlist = int(ui.var("playlist"))
    paths = _lines(ui.words(f"videos/playlists/{playlist}/paths"))

    def play() -> None:
        if paths:
            ui.open("videos/player", path=paths[0], paths="\n".join(paths))

    return menu(ui, [(ui.say("Play"), play), (ui.say("Delete"), opener(ui, "videos/delete", playlist=playlist))])


def delete(ui: Ui) -> View:
    """Build the dialog that asks before a playlist is deleted; its files stay."""
    path = f"videos/playlists/{int(ui.var('playlist'))}"
    message = ui.say("Delete the playlist {name}?", name=ui.words(f"{path}/name"))
    return question(ui, message, "Delete", lambda: ui.remove(path))


def entry_menu(ui: Ui) -> View:
    """Build the menu of one entry of a playlist."""
    path, place = f"videos/playlists/{int(ui.var('playlist'))}/paths", int(ui.var("place"))
    paths = _lines(ui.words(path))
    remove = ui.say("Remove from playlist")
    return reordering.entry_menu(ui, paths, place, lambda changed: ui.put(path, "\n".join(changed)), remove=remove)


def add_to_playlist(ui: Ui) -> View:
    """Build the sheet that adds videos to a playlist that exists, or to a new one (dialog_playlist.xml)."""
    paths = _lines(str(ui.var("paths")))
    name = ui.typed("name").strip()

    def add(number: int) -> Callable[[], object]:
        def do() -> None:
            ui.close()
            where = f"videos/playlists/{number}"
            ui.put(f"{where}/paths", "\n".join([*_lines(ui.words(f"{where}/paths")), *paths]))
            ui.host.show_toast(ui.say("{count} added to playlist", count=_count(ui, paths)))

        return do

    existing = [number for number in ui.ids("videos/playlists") if ui.words(f"videos/playlists/{number}/name") == name]

    def save() -> None:
        if not name:
            ui.host.show_toast(ui.say("Enter a name"))
        elif existing:
            add(existing[0])()
        else:
            ui.close()
            ui.add("videos/playlists", name=name, paths="\n".join(paths))
            ui.host.show_toast(ui.say("{count} added to playlist", count=_count(ui, paths)))

    field = edit_text(
        ui, Field("name", max_length=60), id=f"{_ID}dialog_playlist_name", hint=ui.say("Create new playlist")
    )
    rows = [_row(ui, "playlist", ui.words(f"videos/playlists/{number}/name"), "", add(number))
            for number in ui.ids("videos/playlists")]  # fmt: skip
    known = scroll_column(ui, rows, id=f"{_ID}dialog_playlist_list", height=dp(68 * min(len(rows), 3)))
    return dialog(
        column(label(_count(ui, paths), ink="soft"), field, known, gap=dp(8)),
        title=ui.say("Add to playlist"),
        buttons=(
            button(ui.say("Cancel"), ui.close, id="android:id/button2"),
            button(ui.say("Save"), save, id=f"{_ID}dialog_playlist_save"),
        ),
    )


# ----------------------------------------------------------------------------------------------------------------------
# the draw


def draw(draw: Draw) -> None:
    """Draw videos with look-alike names in a folder of their own, and on some phones a playlist."""
    rng = draw.rng
    names = []
    for stem in rng.sample(_STEMS, rng.randint(7, 10)):
        suffix = rng.choice(("", "_2", "_final", "_HD", "_old"))
        names.append(f"{stem}{suffix}.mp4")
    names += [f"{name[:-4]}_copy.mp4" for name in rng.sample(names, rng.randint(1, 2))]
    for name in names:
        draw.file(f"VLCVideos/{name}", f"mp4 {name} {rng.randint(10, 900)}")
    for name in rng.sample(_STEMS, rng.randint(1, 2)):
        draw.file(f"Movies/{name}_trailer.mp4", f"mp4 {rng.randint(10, 900)}")
    if rng.random() < 0.5:
        paths = [f"VLCVideos/{name}" for name in rng.sample(names, rng.randint(2, 3))]
        draw.record("videos/playlists", name=rng.choice(_PLAYLISTS), paths="\n".join(paths))


_STEMS = (
    "beach_sunset", "birthday_party", "city_walk", "concert_clip", "cooking_lesson", "dance_practice", "family_dinner",
    "first_steps", "garden_tour", "holiday_recap", "interview_take", "lake_swim", "mountain_view", "school_play",
    "skate_tricks", "train_ride", "travel_diary", "wedding_speech",
)  # fmt: skip
_PLAYLISTS = ("Watch later", "Family", "Favourites", "Holidays")

_WORDS: Words = {
    "1 track": ("1 Titel", "1 个视频"),
    "Add to playlist": ("Zur Wiedergabeliste hinzufügen", "添加到播放列表"),
    "Browse": ("Durchsuchen", "浏览"),
    "Create new playlist": ("Neue Wiedergabeliste erstellen", "新建播放列表"),
    "Delete the playlist {name}?": ("Die Wiedergabeliste {name} löschen?", "要删除播放列表{name}吗？"),
    "Enter a name": ("Gib einen Namen ein", "请输入名称"),
    "Information": ("Informationen", "信息"),
    "Internal memory": ("Interner Speicher", "内部存储"),
    "More actions": ("Weitere Aktionen", "更多操作"),
    "Move down": ("Nach unten", "下移"),
    "Move up": ("Nach oben", "上移"),
    "Next": ("Weiter", "下一个"),
    "No media found": ("Keine Medien gefunden", "未找到媒体"),
    "Playlists": ("Wiedergabelisten", "播放列表"),
    "Previous": ("Zurück", "上一个"),
    "Remove from playlist": ("Aus der Wiedergabeliste entfernen", "从播放列表移除"),
    "Video": ("Video", "视频"),
    "Videos": ("Videos", "视频库"),
    "{count} added to playlist": ("{count} hinzugefügt", "已添加{count}"),
    "{count} tracks": ("{count} Titel", "{count} 个视频"),
}

_ACTIVITY = f"{PACKAGE}.gui.MainActivity"
APP = App(
    package=PACKAGE,
    label="Videos",
    home="videos/main",
    icon="video",
    color="#ef6c00",
    records={"videos/playlists": {"name": TEXT, "paths": TEXT}},
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "videos/main": Screen(main, _ACTIVITY),
        "videos/folder": Screen(folder, _ACTIVITY),
        "videos/menu": Screen(video_menu, _ACTIVITY, dialog=True),
        "videos/information": Screen(information, _ACTIVITY, dialog=True),
        "videos/add": Screen(add_to_playlist, _ACTIVITY, dialog=True),
        "videos/playlist": Screen(playlist, f"{PACKAGE}.gui.HeaderMediaListActivity", private=True),
        "videos/playlist_menu": Screen(playlist_menu, _ACTIVITY, dialog=True),
        "videos/entry_menu": Screen(entry_menu, f"{PACKAGE}.gui.HeaderMediaListActivity", dialog=True),
        "videos/delete": Screen(delete, _ACTIVITY, dialog=True),
        "videos/player": Screen(player, f"{PACKAGE}.gui.video.VideoPlayerActivity"),
    },
)

__all__ = ["APP", "is_video", "videos"]
