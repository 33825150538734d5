"""Notes: text files below Documents/Notes in folders, an editor, check lists (after Markor).

Knows from Files which names are possible.

A note with an item to tick (``- [ ] milk``) is a to-do. The editor writes when somebody saves or goes back.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from datetime import timedelta

from agent_eval.device_sim import file_dialogs, searching
from agent_eval.device_sim.dialogs import choice_dialog, menu, question
from agent_eval.device_sim.file_dialogs import name_problem
from agent_eval.device_sim.files import SHARED, FileProblem
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.selection import Selection, leave
from agent_eval.device_sim.sharing import SHARE
from agent_eval.device_sim.strings import EVERYWHERE, FILE_WORDS, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp, line_height, text_lines
from agent_eval.device_sim.widgets import (
    CENTER,
    CHECK,
    GROUP,
    MIDDLE,
    RELATIVE,
    SCROLL,
    SMALL,
    TITLE,
    activity,
    app_bar,
    button,
    cancel_and_ok,
    choice,
    column,
    dialog,
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

PACKAGE = "org.fossify.notes"
_ID = f"{PACKAGE}:id/"
ROOT = f"{SHARED}/Documents/Notes"
_ITEM = re.compile(r"^(\s*[-*] \[)([ xX])(\] ?)(.*)$")
_SORTS = {"name": "By name", "date": "By date (newest first)"}


def read(ui: Ui, path: str) -> str:
    """Return the text of a note; one that is gone is empty."""
    return ui.files.read(path).decode(errors="replace") if ui.files.is_file(path) else ""


def is_todo(text: str) -> bool:
    """Tell whether a note has items to tick."""
    return any(_ITEM.match(line) for line in text.split("\n"))


def ticked(text: str, number: int) -> str:
    """Return a note with the tick of one of its lines set or taken away."""
    lines = text.split("\n")
    match = _ITEM.match(lines[number])
    if match:
        lines[number] = f"{match[1]}{' ' if match[2] in 'xX' else 'x'}{match[3]}{match[4]}"
    return "\n".join(lines)


def _write(ui: Ui, path: str, text: str) -> None:
    try:
        ui.files.make_folder(posixpath.dirname(path), parents=True)
        ui.files.write(path, text.encode())
    except FileProblem as problem:
        ui.host.show_toast(str(problem))


def _names(ui: Ui, folder: str, sort: str = "name") -> list[str]:
    def key(name: str) -> tuple[object, ...]:
        path = posixpath.join(folder, name)
        return (not ui.files.is_folder(path), -ui.files.mtime_s(path) if sort == "date" else 0, name.lower(), name)

    return sorted(ui.files.names(folder), key=key) if ui.files.is_folder(folder) else []


def _title(ui: Ui, folder: str) -> str:
    return ui.say("Notes") if folder == ROOT else posixpath.basename(folder)


# ----------------------------------------------------------------------------------------------------------------------
# the notes of a folder


def _details(ui: Ui, path: str) -> str:
    when = ui.moment(ui.files.mtime_s(path))
    if ui.files.is_folder(path):
        return ui.say("Folder, {count} items", count=len(ui.files.names(path)))
    items = [match for line in read(ui, path).split("\n") if (match := _ITEM.match(line))]
    if items:
        done = sum(match[2] != " " for match in items)
        return f"{ui.say('To-do, {done} of {count} done', done=done, count=len(items))}, {when}"
    return f"{ui.say('Note')}, {when}"


def _row(ui: Ui, path: str, on_tap: Callable[[], object], selection: Selection | None = None) -> View:
    name = posixpath.basename(path)
    chosen = selection is not None and name in selection
    icon = "folder" if ui.files.is_folder(path) else "todo" if is_todo(read(ui, path)) else "file"
    texts = column(
        label(name, id=f"{_ID}note_title", size=TITLE, width=MATCH),
        label(_details(ui, path), id=f"{_ID}note_description", size=SMALL, ink="soft", width=MATCH),
        cls=RELATIVE, weight=1, align=MIDDLE,
    )  # fmt: skip
    return row(
        image(icon, id=f"{_ID}note_image", size=dp(28), align=MIDDLE), texts, height=dp(68),
        pad=(dp(16), 0, dp(16), 0), gap=dp(16), id=f"{_ID}ui__filesystem_item", fill="tonal" if chosen else "",
        on_tap=selection.flip(name) if selection else on_tap,
        on_hold=selection.flip(name) if selection is not None else None, selected=chosen,
    )  # fmt: skip


def _list(ui: Ui, rows: list[View], name: str) -> View:
    if not rows:
        return frame(
            label(ui.say("Nothing here"), id=f"{_ID}empty_hint", size=TITLE, ink="soft", align=CENTER), weight=1
        )
    space = View("android.view.View", height=dp(88))
    return scroll_column(ui, [*rows, space], name=name, id=f"{_ID}notes_list", height=0, weight=1)


def _opener(ui: Ui, path: str) -> Callable[[], object]:
    def show() -> None:
        if ui.files.is_folder(path):
            ui.set("path", path)
        else:
            ui.open("notes/edit", path=path)

    return show


def notes(ui: Ui) -> View:
    """Build a folder of notes, and what can be done with the chosen ones."""
    folder, sort, selection = file_dialogs.shown_folder(ui, ROOT), str(ui.var("sort", "date")), Selection(ui)
    names = _names(ui, folder, sort)
    chosen = "/".join(selection.keys)
    if selection:
        bar = selection.bar(
            names,
            [
                image_button("delete", ui.say("Delete"), opener(ui, "notes/delete", path=folder, names=chosen)),
                image_button("more", ui.say("More options"), opener(ui, "notes/actions", path=folder, names=chosen)),
            ],
        )
    else:
        bar = row(
            *([image_button("back", ui.say("Navigate up"), lambda: _up(ui))] if folder != ROOT else []),
            label(_title(ui, folder), id=f"{_ID}toolbar_title", size=dp(20), weight=1, align=MIDDLE,
                  pad=(dp(12), 0, 0, 0)),
            image_button("search", ui.say("Search"), opener(ui, "notes/search"), id=f"{_ID}action_search"),
            image_button("sort", ui.say("Sort by"), opener(
                ui, "notes/choice", name="sort", title="Sort by", labels="|".join(_SORTS.values()),
                values="|".join(_SORTS), chosen=sort), id=f"{_ID}action_sort"),
            cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(4), 0),
        )  # fmt: skip
    rows = [_row(ui, path, _opener(ui, path), selection) for path in (posixpath.join(folder, name) for name in names)]
    create = opener(ui, "notes/new", path=folder)
    fab = floating("add", ui.say("Create a new file or folder"), create, id=f"{_ID}fab_add_new_item")
    body = frame(column(_list(ui, rows, folder), height=MATCH), fab, weight=1, cls=RELATIVE)
    return activity(ui, bar, body)


def _up(ui: Ui) -> bool:
    return file_dialogs.go_up(ui, ROOT)


def _notes_back(ui: Ui) -> bool:
    return leave(ui) or _up(ui)


def new(ui: Ui) -> View:
    """Build the dialog that names a new note or folder (new_file_dialog.xml)."""
    folder = str(ui.var("path"))

    def create(name: str, make: Callable[[str], object]) -> None:
        problem = name_problem(ui, folder, name)
        if problem:
            ui.set("problem", problem)
            return
        ui.close()
        make(posixpath.join(folder, name))

    def create_note() -> None:
        def make(path: str) -> None:
            _write(ui, path, "")
            ui.open("notes/edit", path=path)

        name = ui.typed("name").strip()
        ending = ui.typed("ending", ".md").strip()
        create(name if not name or name.endswith(ending) else name + ending, make)

    def create_folder() -> None:
        create(ui.typed("name").strip(), lambda path: ui.files.make_folder(path, parents=True))

    parts = [
        row(
            edit_text(ui, Field("name", max_length=80), id=f"{_ID}new_file_dialog__name", hint=ui.say("Name"),
                      weight=1),
            edit_text(ui, Field("ending", max_length=8, select_on_focus=True), initial=".md", width=dp(72),
                      id=f"{_ID}new_file_dialog__ext", desc=ui.say("Extension")),
            gap=dp(8),
        )
    ]  # fmt: skip
    if ui.var("problem"):
        parts.append(label(str(ui.var("problem")), id="android:id/message", size=SMALL, ink="error"))
    return dialog(
        column(*parts), title=ui.say("Create a new file or folder"),
        buttons=(button(ui.say("Folder"), create_folder, id="android:id/button3"), *cancel_and_ok(ui, create_note)),
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# one note


def _typed(ui: Ui) -> str:
    path = str(ui.var("path"))
    return ui.typed("note", read(ui, path))


def edit(ui: Ui) -> View:
    """Build the editor of a note, or its view with items that can be ticked."""
    path, text, viewing = str(ui.var("path")), _typed(ui), bool(ui.var("viewing", False))

    def save() -> None:
        _save(ui)
        ui.host.show_toast(ui.say("Saved"))

    def flip_mode() -> None:
        _save(ui)
        ui.set("viewing", not viewing)

    def up() -> None:
        _save(ui)
        ui.close()

    bar = row(
        image_button("back", ui.say("Navigate up"), up),
        label(posixpath.basename(path), id=f"{_ID}note__title", size=dp(18), weight=1, align=MIDDLE,
              pad=(dp(4), 0, 0, 0)),
        image_button("check", ui.say("Save"), save, id=f"{_ID}action_save"),
        image_button("edit" if viewing else "eye", ui.say("Edit mode") if viewing else ui.say("View mode"), flip_mode,
                     id=f"{_ID}action_toggle_view"),
        image_button("share", ui.say("Share"), opener(ui, "notes/share", content=text), id=f"{_ID}action_share"),
        image_button("delete", ui.say("Delete"), opener(ui, "notes/delete_open", path=path), id=f"{_ID}action_delete"),
        cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(4), 0),
    )  # fmt: skip
    if viewing:
        return activity(ui, bar, scroll_column(ui, _lines(ui, text), name="view", cls=SCROLL, height=0, weight=1,
                                               pad=(dp(16), dp(8), dp(16), dp(8))))  # fmt: skip
    lines = text_lines(text, TITLE, ui.canvas.right - dp(16))
    entry = edit_text(ui, Field("note", multiline=True), initial=text, id=f"{_ID}document__edit", hint=ui.say("Text"),
                      height=max(len(lines) * line_height(TITLE) + dp(16), dp(160)))  # fmt: skip
    return activity(
        ui, bar, scroll_column(ui, [entry], name="edit", cls=SCROLL, height=0, weight=1), _tools(ui, text)
    )  # fmt: skip


def _tools(ui: Ui, text: str) -> View:
    """Build the row of what the editor does for one."""

    def insert(added: str) -> None:
        place = int(ui.var("cursor", len(text)))
        ui.set("text/note", text[:place] + added + text[place:])
        if "cursor" in ui.page.vars:
            ui.set("cursor", place + len(added))

    def item() -> None:
        place = int(ui.var("cursor", len(text)))
        insert("- [ ] " if not text[:place] or text[place - 1] == "\n" else "\n- [ ] ")

    def jump(place: int | None) -> Callable[[], object]:
        def go() -> None:
            ui.set("focus", "note")
            ui.page.vars.pop("selected", None)
            ui.page.vars.pop("cursor", None)
            if place is not None:
                ui.set("cursor", place)

        return go

    def copy() -> None:
        ui.copy(text)
        ui.host.show_toast(ui.say("Copied"))

    tools = (
        ("top", "Go to start", jump(0)), ("bottom", "Go to end", jump(None)), ("todo", "Insert check box", item),
        ("copy", "Copy all", copy), ("paste", "Paste", lambda: insert(ui.clipboard)),
    )  # fmt: skip
    return row(*[image_button(icon, ui.say(name), tap) for icon, name, tap in tools], height=dp(48), fill="bar",
               id=f"{_ID}document__actions", gap=dp(8), pad=(dp(8), 0, dp(8), 0))  # fmt: skip


def _lines(ui: Ui, text: str) -> list[View]:
    path = str(ui.var("path"))

    def tick(number: int) -> Callable[[], object]:
        def flip() -> None:
            changed = ticked(text, number)
            ui.set("text/note", changed)
            _write(ui, path, changed)

        return flip

    views = []
    for number, line in enumerate(text.split("\n")):
        match = _ITEM.match(line)
        if match:
            views.append(choice(match[4], match[2] != " ", tick(number), cls=CHECK, width=MATCH, id=f"{_ID}item"))
        elif line.strip():
            head = line.startswith("#")
            views.append(label(line.lstrip("# ") if head else line, id=f"{_ID}line", size=dp(20) if head else TITLE,
                               bold=head, width=MATCH, pad=(0, dp(4), 0, dp(4))))  # fmt: skip
    return views


def _save(ui: Ui) -> None:
    path = str(ui.var("path"))
    if "text/note" in ui.page.vars and (_typed(ui) != read(ui, path) or not ui.files.exists(path)):
        _write(ui, path, _typed(ui))


def _edit_back(ui: Ui) -> bool:
    _save(ui)
    return False


def delete_open(ui: Ui) -> View:
    """Build the dialog that asks before the open note is deleted."""
    path = str(ui.var("path"))

    def ok() -> None:
        ui.close()
        if ui.files.exists(path):
            ui.files.remove(path)

    name = posixpath.basename(path)
    return question(ui, ui.say("Delete \u201c{name}\u201d?", name=name), "Delete", ok)


# ----------------------------------------------------------------------------------------------------------------------
# chosen notes


def actions(ui: Ui) -> View:
    """Build the menu of what can be done with the chosen notes."""
    path, names = str(ui.var("path")), str(ui.var("names"))
    content = "\n".join(read(ui, one) for one in file_dialogs.chosen(ui) if ui.files.is_file(one))
    items = [(ui.say("Move to\u2026"), opener(ui, "notes/move", source=path, names=names)),
             (ui.say("Share"), opener(ui, "notes/share", content=content))]  # fmt: skip
    if "/" not in names:
        rename = opener(ui, "notes/rename", path=path, names=names, **{"text/name": names})
        items.append((ui.say("Rename"), rename))
        items.append((ui.say("Info"), opener(ui, "notes/info", path=posixpath.join(path, names))))
    return menu(ui, items)


def info(ui: Ui) -> View:
    """Build the page of what is known about a note, or of how many notes and to-dos a folder has."""
    path = str(ui.var("path"))
    facts = [("Name", posixpath.basename(path)), ("Location", posixpath.dirname(path))]
    if ui.files.is_folder(path):
        files = [one for one in ui.files.walk(path) if ui.files.is_file(one)]
        todos = sum(is_todo(read(ui, one)) for one in files)
        facts += [("Notes", str(len(files) - todos)), ("To-dos", str(todos))]
    else:
        text = read(ui, path)
        facts += [("Type", ui.say("To-do") if is_todo(text) else ui.say("Note")), ("Words", str(len(text.split())))]
    rows = [preference(ui.say(title), value) for title, value in facts]
    return activity(ui, app_bar(ui, ui.say("Info")), scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def move(ui: Ui) -> View:
    """Build the page on which somebody goes to the folder that the chosen notes are moved to."""
    folder, source = file_dialogs.shown_folder(ui, ROOT), str(ui.var("source"))
    chosen = [posixpath.join(source, name) for name in str(ui.var("names")).split("/")]
    fits = folder != source and not any(folder == one or folder.startswith(one + "/") for one in chosen)

    def ok() -> None:
        if any(ui.files.exists(posixpath.join(folder, posixpath.basename(one))) for one in chosen):
            ui.host.show_toast(ui.say("An item with this name already exists"))
            return
        for one in chosen:
            if ui.files.exists(one):
                ui.files.rename(one, posixpath.join(folder, posixpath.basename(one)))
        ui.close(picked="")

    inside = [posixpath.join(folder, name) for name in _names(ui, folder)]
    bar = row(
        image_button("close", ui.say("Cancel"), ui.close),
        label(_title(ui, folder), id=f"{_ID}ui__filesystem_dialog__title", size=dp(20), weight=1, align=MIDDLE),
        image_button("new_folder", ui.say("New folder"), opener(ui, "notes/new_folder", path=folder)),
        height=dp(56), pad=(dp(4), 0, dp(4), 0),
    )  # fmt: skip
    up = [] if folder == ROOT else [button("..", lambda: _up(ui), id=f"{_ID}ui__filesystem_dialog__home")]
    select = button(ui.say("Select this folder"), ok, id=f"{_ID}ui__filesystem_dialog__button_ok", enabled=fits)
    foot = row(*up, View("android.widget.Space", weight=1), select, height=dp(56), pad=(dp(16), dp(4), dp(16), dp(4)))
    rows = [_row(ui, path, setter(ui, "path", path)) for path in inside if ui.files.is_folder(path)]
    return activity(ui, bar, _list(ui, rows, folder), foot)


def search(ui: Ui) -> View:
    """Build the search for notes by name and by what they say."""
    words = ui.typed("query").strip().lower()
    files = [path for path in ui.files.walk(ROOT) if ui.files.is_file(path)] if words else []
    found = [path for path in files if words in f"{posixpath.basename(path)}\n{read(ui, path)}".lower()]
    bar = searching.bar(ui, ui.say("Search"), id=f"{_ID}search_src_text")
    rows = [_row(ui, path, opener(ui, "notes/edit", path=path)) for path in found[:60]]
    return activity(ui, bar, _list(ui, rows, "search"))


# ----------------------------------------------------------------------------------------------------------------------
# what a fresh phone has


_TOPICS = ("Budget", "Kickoff", "Hiring", "Roadmap", "Launch", "Retro", "Support", "Security")
_PEOPLE = ("Ada", "Ben", "Carla", "Dmitri", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kira", "Liam")
_DISHES = ("Lentil soup", "Apple crumble", "Veggie chili", "Pancakes", "Potato gratin", "Tomato risotto")
_STUFF = ("flour", "butter", "sugar", "milk", "onions", "tomatoes", "lentils", "rice", "apples", "potatoes")
_AMOUNTS = ("100 g", "150 g", "200 g", "250 g", "2 cups", "3 tbsp", "1 kg", "500 ml")
_CHORES = ("Buy milk", "Call the plumber", "Return the books", "Water the plants", "Pay the rent", "Book the train",
           "Fix the bike", "Print the tickets", "Clean the windows", "Renew the passport")  # fmt: skip
_THOUGHTS = ("The password hint is the name of the first cat.", "Ideas for the talk: start with the map.",
             "Paint colour for the hall: Sand 12.", "The spare key is with the neighbour.",
             "Bike lock code changed in spring.", "Measure the window before ordering blinds.")  # fmt: skip
_SPENT = ("Taxi", "Lunch", "Train ticket", "Hotel", "Printer paper", "Cinema", "Parking", "Groceries", "Museum")
FOLDERS = ("Work", "Private", "Travel", "Ideas", "House")


def draw(draw: Draw) -> None:
    """Draw meetings, recipes, to-dos and thoughts in folders, each at a moment of its own before the phone's day."""
    rng = draw.rng
    ages = rng.sample(range(30, 120 * 24 * 60), 40)

    def put(name: str, text: str) -> None:
        at = draw.now - timedelta(minutes=ages.pop())
        draw.file(f"Documents/Notes/{name}", text, mtime_s=int(at.timestamp()))

    folders = rng.sample(FOLDERS, 3)
    for topic in rng.sample(_TOPICS, rng.randint(2, 4)):
        people = rng.sample(_PEOPLE, rng.randint(2, 6))
        put(
            f"{rng.choice(('', folders[0] + '/'))}{topic} meeting.md",
            f"# {topic} meeting\n\nAttendees: {', '.join(people)}\n\nNext date in {rng.randint(2, 6)} weeks",
        )
    for dish in rng.sample(_DISHES, rng.randint(2, 3)):
        stuff = "\n".join(f"- {rng.choice(_AMOUNTS)} {name}" for name in rng.sample(_STUFF, rng.randint(3, 5)))
        put(
            f"{dish}.md",
            f"# {dish}\n\nServes {rng.randint(2, 8)}\n\n{stuff}\n\nCook for {rng.randint(15, 50)} minutes.",
        )
    for number, folder in enumerate(folders):
        for _ in range(rng.randint(1, 4)):
            chores = rng.sample(_CHORES, rng.randint(2, 4))
            items = "\n".join(f"- [{rng.choice('x  ')}] {chore}" for chore in chores)
            put(f"{folder}/{chores[0].lower().replace(' ', '_')}_{number}.md", items)
        put(f"{folder}/{folder.lower()}_notes.txt", rng.choice(_THOUGHTS))
    thought = rng.choice(_THOUGHTS)
    name = f"{rng.choice(('ideas', 'draft', 'memo'))}_{rng.randint(1, 99):02d}"
    put(f"{name}.md", thought)
    put(f"{name}_old.md", thought.replace(".", " (old)."))
    spent = rng.sample(_SPENT, 6)
    rows = [
        f"{name} | {rng.randint(300, 9000) / 100:.2f} | {rng.choice(('reimbursable', 'private'))}" for name in spent
    ]
    put("my_expenses.txt", "Name | Amount | Kind\n" + "\n".join(rows))


_WORDS: Words = {
    "By date (newest first)": ("Nach Datum (neueste zuerst)", "按日期（最新优先）"),
    "Copy all": ("Alles kopieren", "复制全部"),
    "Create a new file or folder": ("Neue Datei oder neuen Ordner anlegen", "新建文件或文件夹"),
    "Edit mode": ("Bearbeitungsmodus", "编辑模式"),
    "Extension": ("Endung", "扩展名"),
    "Folder, {count} items": ("Ordner, {count} Elemente", "文件夹，{count} 项"),
    "Go to end": ("Zum Ende", "转到末尾"),
    "Go to start": ("Zum Anfang", "转到开头"),
    "Insert check box": ("Kästchen einfügen", "插入复选框"),
    "Note": ("Notiz", "便签"),
    "Notes": ("Notizen", "便签"),
    "Paste": ("Einfügen", "粘贴"),
    "Select this folder": ("Diesen Ordner wählen", "选择此文件夹"),
    "To-do": ("Aufgabe", "待办"),
    "To-do, {done} of {count} done": ("Aufgabe, {done} von {count} erledigt", "待办，已完成 {done}/{count}"),
    "To-dos": ("Aufgaben", "待办"),
    "View mode": ("Ansichtsmodus", "查看模式"),
    "Words": ("Wörter", "字数"),
}

_MAIN, _DOCUMENT = f"{PACKAGE}.activities.MainActivity", f"{PACKAGE}.activities.DocumentActivity"

APP = App(
    package=PACKAGE,
    label="Notes",
    home="notes/notes",
    color="#f9ab00",
    icon="edit",
    draw=draw,
    strings=tables(EVERYWHERE, FILE_WORDS, _WORDS),
    screens={
        "notes/notes": Screen(notes, _MAIN, on_back=_notes_back),
        "notes/new": Screen(new, _MAIN, dialog=True),
        "notes/edit": Screen(edit, _DOCUMENT, on_back=_edit_back),
        "notes/delete_open": Screen(delete_open, _DOCUMENT, dialog=True),
        "notes/actions": Screen(actions, _MAIN, dialog=True),
        "notes/delete": Screen(file_dialogs.delete, _MAIN, dialog=True),
        "notes/rename": Screen(file_dialogs.rename, _MAIN, dialog=True),
        "notes/new_folder": Screen(file_dialogs.new_folder, _MAIN, dialog=True),
        "notes/choice": Screen(choice_dialog, _MAIN, dialog=True),
        "notes/info": Screen(info, _MAIN),
        "notes/move": Screen(move, _MAIN, on_back=_up),
        "notes/search": Screen(search, _MAIN),
        "notes/share": SHARE,
    },
)
