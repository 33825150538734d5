"""How an expert finds, writes, adds and deletes notes in Notes, and where the state keeps them. Knows no goal."""

from __future__ import annotations

import posixpath

from agent_eval.tasks.families.storage import FILES, folder_of, name_of, on_phone
from agent_eval.tasks.moves import Move, go_back, hold, open_app, repairing, tap, type_into
from agent_eval.tasks.view import View
from agent_eval.types import Element, Snapshot

NOTES = "org.fossify.notes"
ROOT = f"{FILES}/Documents/Notes"
"""The folder of all notes."""


def notes_of(snapshot: Snapshot) -> dict[str, str]:
    """Return all notes and what they say, by their paths in the state."""
    return {f"{ROOT}/{path}": str(text) for path, text in snapshot.under(ROOT).items() if not path.endswith("/")}


def edits(view: View, path: str) -> bool:
    """Tell whether the editor of a note is in front."""
    return view.screen == "notes/edit" and view.variable("path") == on_phone(path)


def shares(view: View, text: str) -> bool:
    """Tell whether the sheet that shares just this text of a note is in front."""
    contents = (value for path, value in view.now.transient if path.endswith("/notes/share/content"))
    return view.screen == "notes/share" and text in contents


def write(view: View, path: str, text: str) -> Move:
    """Return the next move that gives a note another text and looks at it, which saves it and shows that it is saved.

    The button that only saves leaves a screen on which nothing has changed.
    """
    if not edits(view, path):
        return find(view, path, hold_it=False)
    if view.variable("viewing"):
        return view.tap_on("Edit mode", "button")
    return view.fill({"Text": text}) or view.tap_on("View mode", "button")


def create(view: View, path: str, text: str) -> Move:
    """Return the next move that adds a note, writes it and saves it."""
    if path in notes_of(view.now):
        return write(view, path, text)
    if view.screen == "notes/new" and view.variable("path") == on_phone(folder_of(path)):
        return _name(view, path) or view.tap_on("OK", "button")
    return to_folder(view, folder_of(path)) or view.tap_on("Create a new file or folder", "button")


def delete(view: View, path: str) -> Move:
    """Return the next move that deletes a note or a folder."""
    asks_about_open = view.screen == "notes/delete_open" and view.variable("path") == on_phone(path)
    if asks_about_open or edits(view, path) or (view.screen == "notes/delete" and concerns(view, path)):
        return view.tap_on("Delete", "button")
    return choose(view, path) or view.tap_on("Delete", "button")


def choose(view: View, path: str) -> Move | None:
    """Return the move that leads to a note or a folder being the chosen one; None once it is."""
    if view.screen == "notes/notes" and _shows(view, folder_of(path)) and view.variable("picked") == name_of(path):
        return None
    return find(view, path, hold_it=True)


def concerns(view: View, path: str) -> bool:
    """Tell whether the page in front is about just one chosen note or folder."""
    return view.variable("path") == on_phone(folder_of(path)) and view.variable("names") == name_of(path)


def find(view: View, path: str, *, hold_it: bool) -> Move:
    """Return the next move that leads to a row of the list, and taps or holds it."""
    move = to_folder(view, folder_of(path))
    if move is not None:
        return move
    row = view.seek(name_of(path), "row")
    if isinstance(row, Move):
        return row
    return hold(row) if hold_it else tap(row)


def to_folder(view: View, folder: str) -> Move | None:
    """Return the move that leads to the list of a folder in which nothing is chosen; None when it is in front."""
    if not view.screen.startswith("notes/"):
        return open_app("Notes")
    if view.screen == "notes/edit":
        return _leave(view)
    if view.screen != "notes/notes" or view.variable("picked"):
        return go_back()
    if _shows(view, folder):
        return None
    return view.tap_on(name_of(folder), "row") if _shows(view, folder_of(folder)) else go_back()


def undo(view: View) -> Move | None:
    """Return the next move that puts the notes back with which the task has no business; None if there is none."""
    damage = [change for change in view.damage if change.path.startswith(f"{ROOT}/")]
    for path, before, _ in damage:
        if before and not path.endswith("/"):
            return repairing(create(view, path, str(before)))
    return next((repairing(delete(view, path.rstrip("/"))) for path, before, _ in damage if before is None), None)


def _shows(view: View, folder: str) -> bool:
    return (view.variable("path") or on_phone(ROOT)) == on_phone(folder)


def _name(view: View, path: str) -> Move | None:
    """Return the move that names a new note; None once it has its name and ending."""
    whole = name_of(path)
    stem, ending = posixpath.splitext(whole)
    entry = view.seek("Name", "field")
    if isinstance(entry, Element) and entry.value in (stem, whole):
        return view.fill({"Extension": ending})
    return type_into(entry, whole) if isinstance(entry, Element) else entry


def _leave(view: View) -> Move:
    """Leave the editor of a note that is not meant; going back would save what was typed there, so it is taken back."""
    path = next((one for one in notes_of(view.now) if on_phone(one) == view.variable("path")), None)
    entry, text = view.find("Text", "field"), "" if path is None else str(view.now[path])
    if entry is not None and entry.value != text:
        return repairing(type_into(entry, text))
    return go_back()
