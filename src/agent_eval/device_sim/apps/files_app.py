"""Files: folders of the shared storage, their files, and what can be done with them (after DocumentsUI).

One page shows one folder after the other; a second one is where copies and moved files go. Knows which app opens what.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from datetime import datetime, timedelta

from agent_eval.device_sim import file_dialogs, searching
from agent_eval.device_sim.dialogs import choice_dialog, menu
from agent_eval.device_sim.files import SHARED, FileProblem, Stat
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.selection import Selection, leave, packed
from agent_eval.device_sim.sharing import SHARE
from agent_eval.device_sim.strings import EVERYWHERE, FILE_WORDS, Words, tables
from agent_eval.device_sim.ui import MATCH, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    GROUP,
    MIDDLE,
    RELATIVE,
    SCROLL,
    SMALL,
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
    preference,
    row,
    scroll_column,
    scroll_row,
    setter,
)

PACKAGE = "com.android.documentsui"
_ID = f"{PACKAGE}:id/"
_NOTES, _BROWSER = "org.fossify.notes", "com.android.browser"
_SORTS = {"name": "By name", "date": "By date modified (newest first)", "size": "By size (largest first)"}
_KINDS = {
    "jpg": "Image", "jpeg": "Image", "png": "Image", "pdf": "PDF document", "txt": "Text", "md": "Text",
    "html": "HTML page", "mp3": "Audio", "m4a": "Audio", "mp4": "Video", "csv": "Table", "zip": "Archive",
}  # fmt: skip


def extension(name: str) -> str:
    """Return the lower-case letters after the last dot of a name."""
    return posixpath.splitext(name)[1][1:].lower()


def size_text(size: int) -> str:
    """Write a size as Android's Formatter does."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.2f} kB" if size < 1_000_000 else f"{size / 1_000_000:.2f} MB"


def free_name(ui: Ui, folder: str, name: str) -> str:
    """Return a path for a name in a folder, numbered like ``name (1).txt`` where that exists already."""
    stem, ending = posixpath.splitext(name)
    path, number = posixpath.join(folder, name), 0
    while ui.files.exists(path):
        number += 1
        path = posixpath.join(folder, f"{stem} ({number}){ending}")
    return path


def sorted_names(ui: Ui, folder: str, sort: str) -> list[str]:
    """Return the names in a folder, folders first."""

    def key(name: str) -> tuple[object, ...]:
        stat = _stat(ui, posixpath.join(folder, name))
        rest = {"date": -stat.mtime_s, "size": -stat.size}.get(sort, 0)
        return (not stat.is_folder, rest, name.lower(), name)

    return sorted(ui.files.names(folder), key=key)


def _stat(ui: Ui, path: str) -> Stat:
    found = ui.files.stat(path)
    assert found is not None
    return found


def _title(ui: Ui, path: str) -> str:
    return ui.say("Internal storage") if path == SHARED else posixpath.basename(path)


# ----------------------------------------------------------------------------------------------------------------------
# a folder


def _row(ui: Ui, path: str, on_tap: Callable[[], object], selection: Selection | None = None) -> View:
    name, stat = posixpath.basename(path), _stat(ui, path)
    kind = ui.say(_KINDS.get(extension(name), "File"))
    details = (
        ui.moment(stat.mtime_s) if stat.is_folder else f"{ui.moment(stat.mtime_s)}, {size_text(stat.size)}, {kind}"
    )
    chosen = selection is not None and name in selection
    icon = "folder" if stat.is_folder else "photo" if kind == ui.say("Image") else "file"
    return row(
        image(icon, id=f"{_ID}icon_mime_lg", size=dp(32), align=MIDDLE),
        column(
            label(name, id="android:id/title", size=TITLE, width=MATCH),
            label(details, id=f"{_ID}details", size=SMALL, ink="soft", width=MATCH),
            cls=RELATIVE,
            weight=1,
            align=MIDDLE,
        ),
        height=dp(72),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(16),
        id=f"{_ID}item_root",
        on_tap=selection.flip(name) if selection else on_tap,
        on_hold=selection.flip(name) if selection is not None else None,
        selected=chosen,
        fill="tonal" if chosen else "",
    )


def _crumbs(ui: Ui, path: str) -> View:
    """Build the line of folders above the list; each leads there."""
    parts = [SHARED]
    for name in path[len(SHARED) :].split("/"):
        if name:
            parts.append(posixpath.join(parts[-1], name))
    views = [
        label(f"{_title(ui, part)}  \u203a" if part != path else _title(ui, part), id=f"{_ID}breadcrumb_text",
              size=BODY, height=dp(40), pad=(dp(4), dp(10), dp(4), 0), ink="text" if part == path else "primary",
              on_tap=setter(ui, "path", part))
        for part in parts
    ]  # fmt: skip
    name = f"{_ID}horizontal_breadcrumb"
    return scroll_row(ui, views, name="crumbs", id=name, pad=(dp(12), 0, dp(12), 0), height=dp(40))


def browse(ui: Ui) -> View:
    """Build one folder with its toolbar, and what can be done with the chosen files."""
    path, sort = file_dialogs.shown_folder(ui, SHARED), str(ui.var("sort", "name"))
    names, selection = sorted_names(ui, path, sort), Selection(ui)
    if selection:
        chosen = "/".join(selection.keys)
        bar = selection.bar(
            names,
            [
                image_button("delete", ui.say("Delete"), opener(ui, "files/delete", path=path, names=chosen),
                             id=f"{_ID}delete"),
                image_button("more", ui.say("More options"), opener(ui, "files/actions", path=path, names=chosen)),
            ],
        )  # fmt: skip
    else:
        bar = row(
            *([image_button("back", ui.say("Navigate up"), lambda: _up(ui))] if path != SHARED else []),
            label(_title(ui, path), id=f"{_ID}toolbar_title", size=dp(20), weight=1, align=MIDDLE,
                  pad=(dp(12), 0, 0, 0)),
            image_button("search", ui.say("Search"), opener(ui, "files/search", path=path),
                         id=f"{_ID}option_menu_search"),
            image_button("more", ui.say("More options"), opener(ui, "files/menu", path=path, sort=sort)),
            cls=GROUP,
            height=dp(56),
            pad=(dp(4), 0, dp(4), 0),
        )  # fmt: skip
    rows = [
        _row(ui, posixpath.join(path, name), lambda name=name: _open(ui, posixpath.join(path, name)), selection)  # type: ignore[misc]
        for name in names
    ]
    return activity(ui, bar, _crumbs(ui, path), _list(ui, rows, path))


def _list(ui: Ui, rows: list[View], name: str) -> View:
    if not rows:
        empty = label(ui.say("No items"), id=f"{_ID}message", size=TITLE, ink="soft", align=CENTER)
        return frame(empty, weight=1)
    return scroll_column(ui, rows, name=name, id=f"{_ID}dir_list", height=0, weight=1)


def _up(ui: Ui) -> bool:
    return file_dialogs.go_up(ui, SHARED)


def _back(ui: Ui) -> bool:
    return leave(ui) or _up(ui)


def _open(ui: Ui, path: str) -> None:
    """Open a folder here, and a file in the app for its kind."""
    if ui.files.is_folder(path):
        ui.set("path", path)
        return
    match extension(path):
        case "txt" | "md" | "csv":
            ui.host.open_app(_NOTES)
            ui.host.open_page("notes/edit", {"path": path})
        case "html":
            ui.open("files/open_with", path=path)
        case "jpg" | "jpeg" | "png" | "pdf":
            ui.open("files/viewer", path=path)
        case _:
            ui.host.show_toast(ui.say("No app can open this file"))


def open_with(ui: Ui) -> View:
    """Build the dialog that asks which app opens an HTML page."""
    path = str(ui.var("path"))

    def show() -> None:
        ui.host.open_app(_BROWSER)
        ui.host.open_page("browser/main", {"url": f"file://{path}"})

    def edit() -> None:
        ui.host.open_app(_NOTES)
        ui.host.open_page("notes/edit", {"path": path})

    return menu(ui, [(ui.say("Open with Browser"), show), (ui.say("Open with Notes"), edit)])


def viewer(ui: Ui) -> View:
    """Build the page that shows a picture or a document."""
    path = str(ui.var("path"))
    name = posixpath.basename(path)
    if extension(name) == "pdf":
        text = ui.files.read(path).decode(errors="replace") if ui.files.is_file(path) else ""
        page = label(text, id=f"{_ID}pdf_text", size=TITLE, pad=(dp(24), dp(24), dp(24), dp(24)))
        body = scroll_column(ui, [page], cls=SCROLL, height=0, weight=1)
    else:
        body = frame(image("photo", size=dp(160), desc=name, id=f"{_ID}picture", fill="chip", align=CENTER), weight=1)
    return activity(ui, app_bar(ui, name), body)


def folder_menu(ui: Ui) -> View:
    """Build the menu of a folder."""
    path, sort = str(ui.var("path")), str(ui.var("sort"))
    sorts = opener(ui, "files/choice", name="sort", title="Sort by", labels="|".join(_SORTS.values()),
                   values="|".join(_SORTS), chosen=sort)  # fmt: skip
    return menu(
        ui,
        [
            (ui.say("New folder"), opener(ui, "files/new_folder", path=path)),
            (ui.say("Sort by"), sorts),
            (ui.say("Select all"), lambda: ui.host.tell_page({"picked": packed(ui.files.names(path))})),
        ],
    )


# ----------------------------------------------------------------------------------------------------------------------
# chosen files


def _share(ui: Ui, path: str, names: tuple[str, ...]) -> None:
    parts = []
    for name in names:
        whole = posixpath.join(path, name)
        is_text = ui.files.is_file(whole) and extension(name) in ("txt", "md", "csv")
        parts.append(ui.files.read(whole).decode(errors="replace") if is_text else name)
    ui.open("files/share", content="\n".join(parts))


def actions(ui: Ui) -> View:
    """Build the menu of what can be done with the chosen files."""
    path, names = str(ui.var("path")), str(ui.var("names"))

    def target(verb: str) -> Callable[[], object]:
        return opener(ui, "files/target", verb=verb, source=path, names=names)

    items = [(ui.say("Copy to\u2026"), target("copy")), (ui.say("Move to\u2026"), target("move"))]
    items.append((ui.say("Share"), lambda: _share(ui, path, tuple(names.split("/")))))
    if "/" not in names:
        items.append((ui.say("Rename"), opener(ui, "files/rename", path=path, names=names,
                                               **{"text/name": names})))  # fmt: skip
        items.append((ui.say("Get info"), opener(ui, "files/info", path=path, names=names)))
    return menu(ui, items)


def info(ui: Ui) -> View:
    """Build the page of what is known about a file."""
    path = file_dialogs.chosen(ui)[0]
    name = posixpath.basename(path)
    if not ui.files.exists(path):
        return activity(ui, app_bar(ui, ui.say("Info")), _list(ui, [], "info"))
    stat = _stat(ui, path)
    kind = "Folder" if stat.is_folder else _KINDS.get(extension(name), "File")
    facts = [
        ("Name", name),
        ("Type", ui.say(kind)),
        ("Modified", ui.moment(stat.mtime_s)),
        ("Location", posixpath.dirname(path)),
    ]
    if stat.is_folder:
        facts.append(("Items", str(len(ui.files.names(path)))))
    else:
        facts.append(("Size", size_text(stat.size)))
    rows = [preference(ui.say(title), value) for title, value in facts]
    return activity(ui, app_bar(ui, ui.say("Info")), scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def target(ui: Ui) -> View:
    """Build the page on which somebody goes to where the chosen files shall be copied or moved."""
    path, verb, source = file_dialogs.shown_folder(ui, SHARED), str(ui.var("verb")), str(ui.var("source"))
    chosen = [posixpath.join(source, name) for name in str(ui.var("names")).split("/")]
    inside = any(path == one or path.startswith(one + "/") for one in chosen)
    stays = verb == "move" and path == source

    def ok() -> None:
        ui.close(picked="")
        done = 0
        for one in chosen:
            goal = free_name(ui, path, posixpath.basename(one))
            try:
                (ui.files.rename if verb == "move" else ui.files.copy)(one, goal)
                done += 1
            except FileProblem as problem:
                ui.host.show_toast(str(problem))
        if done:
            says = "{count} items moved" if verb == "move" else "{count} items copied"
            ui.host.show_toast(ui.say(says, count=done))

    folders = [name for name in sorted_names(ui, path, "name") if ui.files.is_folder(posixpath.join(path, name))]
    rows = [
        _row(ui, posixpath.join(path, name), setter(ui, "path", posixpath.join(path, name)))
        for name in folders
    ]  # fmt: skip
    bar = row(
        image_button("close", ui.say("Cancel"), ui.close),
        label(ui.say("Move to\u2026" if verb == "move" else "Copy to\u2026"), size=dp(20), weight=1, align=MIDDLE),
        image_button("new_folder", ui.say("New folder"), opener(ui, "files/new_folder", path=path),
                     id=f"{_ID}option_menu_create_dir"),
        height=dp(56),
        pad=(dp(4), 0, dp(4), 0),
    )  # fmt: skip
    save = row(
        button(ui.say("Cancel"), ui.close, id=f"{_ID}button_cancel"),
        View("android.widget.Space", weight=1),
        button(ui.say("Move here" if verb == "move" else "Copy here"), ok, id="android:id/button1",
               enabled=not inside and not stays),
        height=dp(56),
        pad=(dp(16), dp(4), dp(16), dp(4)),
        fill="bar",
    )  # fmt: skip
    return activity(ui, bar, _crumbs(ui, path), _list(ui, rows, path), save)


def search(ui: Ui) -> View:
    """Build the search below a folder by name."""
    words, top = ui.typed("query").strip().lower(), str(ui.var("path"))
    found = (
        [path for path in ui.files.walk(top) if path != top and words in posixpath.basename(path).lower()]
        if words
        else []
    )

    def show(path: str) -> Callable[[], object]:
        def go() -> None:
            if ui.files.is_folder(path):
                ui.close(path=path)
            else:
                _open(ui, path)

        return go

    rows = [_row(ui, path, show(path)) for path in found[:60]]
    bar = searching.bar(ui, ui.say("Search"), id=f"{_ID}search_src_text")
    return activity(ui, bar, _list(ui, rows, "search"))


# ----------------------------------------------------------------------------------------------------------------------
# what a fresh phone has


_SHOPS = ("Harbour Books", "City Market", "Cafe Luna", "North Pharmacy", "Rail Tickets", "Green Grocer")
_REPORTS = ("annual_report", "budget", "contract", "invoice", "itinerary", "manual", "minutes", "thesis_draft")
_PICTURES = ("beach", "birthday", "cat", "garden", "harbour", "mountain", "receipt", "whiteboard")


def draw(draw: Draw) -> None:
    """Draw photos, receipts and documents, many of them with look-alike names, all older than the phone's day."""
    rng = draw.rng

    def past(most_days: int = 200) -> datetime:
        return draw.now - timedelta(minutes=rng.randrange(60, most_days * 24 * 60))

    def put(path: str, text: str, at: datetime | None = None) -> None:
        draw.file(path, text, mtime_s=int((at or past()).timestamp()))

    for _ in range(rng.randint(5, 8)):
        taken = past()
        put(f"DCIM/Camera/IMG_{taken:%Y%m%d_%H%M%S}.jpg", f"JPEG 4032x3024 {rng.randrange(10**6)}", taken)
    shop = rng.choice(_SHOPS)
    for number in rng.sample(range(1, 40), 3):
        lines = "\n".join(
            f"{rng.randint(1, 3)} x item {rng.randint(10, 99)}  {rng.randint(100, 3000) / 100:.2f}" for _ in range(3)
        )
        put(f"DCIM/receipt_{number:02d}.jpg", f"{shop}\n{lines}")
    for name in rng.sample(_REPORTS, 4):
        year = rng.randint(2021, 2025)
        put(f"Documents/{name}_{year}.pdf", f"{name.replace('_', ' ').title()} {year}\nPage 1 of {rng.randint(2, 40)}")
        if rng.random() < 0.5:
            put(f"Download/{name}_{year} (1).pdf", f"{name.replace('_', ' ').title()} {year}\nCopy")
    for name in rng.sample(_REPORTS, 2):
        put(f"Download/{name}.pdf", f"{name.replace('_', ' ').title()}\nDraft {rng.randint(2, 9)}")
        put(f"Download/{name}_final.pdf", f"{name.replace('_', ' ').title()}\nFinal")
    put("Download/readme.txt", f"Router password on the label. Serial {rng.randrange(10**6):06d}.")
    put(
        "Download/contacts.csv",
        "name,number\n" + "\n".join(f"Guest {n},+1555{rng.randrange(10**7):07d}" for n in (1, 2)),
    )
    for name in rng.sample(_PICTURES, 4):
        put(f"Pictures/{name}.png", f"PNG {rng.randrange(10**6)}")
    put(f"Pictures/Screenshots/Screenshot_{past():%Y%m%d-%H%M%S}.png", f"PNG {rng.randrange(10**6)}")
    for name in ("Alarms", "Movies", "Music", "Podcasts", "Ringtones"):
        draw.folder(name)


_WORDS: Words = {
    "Archive": ("Archiv", "归档"),
    "Audio": ("Audio", "音频"),
    "By date modified (newest first)": ("Nach Änderungsdatum (neueste zuerst)", "按修改日期（最新优先）"),
    "By size (largest first)": ("Nach Größe (größte zuerst)", "按大小（最大优先）"),
    "Copy here": ("Hierher kopieren", "复制到此处"),
    "Copy to\u2026": ("Kopieren nach\u2026", "复制到\u2026"),
    "File": ("Datei", "文件"),
    "Get info": ("Informationen", "查看信息"),
    "HTML page": ("HTML-Seite", "网页"),
    "Image": ("Bild", "图片"),
    "Internal storage": ("Interner Speicher", "内部存储空间"),
    "Items": ("Elemente", "项目数"),
    "Modified": ("Geändert", "修改时间"),
    "Move here": ("Hierher verschieben", "移动到此处"),
    "No app can open this file": ("Keine App kann diese Datei öffnen", "没有可打开此文件的应用"),
    "No items": ("Keine Elemente", "无任何内容"),
    "Open with Browser": ("Mit Browser öffnen", "用浏览器打开"),
    "Files": ("Dateien", "文件"),
    "Open with Notes": ("Mit Notizen öffnen", "用便签打开"),
    "PDF document": ("PDF-Dokument", "PDF 文档"),
    "Size": ("Größe", "大小"),
    "Table": ("Tabelle", "表格"),
    "Video": ("Video", "视频"),
    "{count} items copied": ("{count} Elemente kopiert", "已复制 {count} 项"),
    "{count} items moved": ("{count} Elemente verschoben", "已移动 {count} 项"),
}

_FILES, _PICK = f"{PACKAGE}.files.FilesActivity", f"{PACKAGE}.picker.PickActivity"

APP = App(
    package=PACKAGE,
    label="Files",
    home="files/browse",
    color="#1a73e8",
    icon="folder",
    draw=draw,
    strings=tables(EVERYWHERE, FILE_WORDS, _WORDS),
    screens={
        "files/browse": Screen(browse, _FILES, on_back=_back),
        "files/menu": Screen(folder_menu, _FILES, dialog=True),
        "files/actions": Screen(actions, _FILES, dialog=True),
        "files/choice": Screen(choice_dialog, _FILES, dialog=True),
        "files/new_folder": Screen(file_dialogs.new_folder, _FILES, dialog=True),
        "files/delete": Screen(file_dialogs.delete, _FILES, dialog=True),
        "files/rename": Screen(file_dialogs.rename, _FILES, dialog=True),
        "files/open_with": Screen(open_with, "com.android.intentresolver.ChooserActivity", dialog=True),
        "files/info": Screen(info, f"{PACKAGE}.inspector.InspectorActivity"),
        "files/viewer": Screen(viewer, f"{PACKAGE}.ViewerActivity"),
        "files/search": Screen(search, _FILES),
        "files/target": Screen(target, _PICK, on_back=_up),
        "files/share": SHARE,
    },
)
