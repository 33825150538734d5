"""How an expert chooses a file in Files, deletes it, and copies or moves it. Knows no goal."""

from __future__ import annotations

from typing import Literal

from agent_eval.tasks.families.storage import FILES, folder_of, name_of, on_phone
from agent_eval.tasks.moves import Move, go_back, hold, open_app, repairing
from agent_eval.tasks.view import View

DOCUMENTS_UI = "com.android.documentsui"

Verb = Literal["copy", "move"]

_TOP = on_phone(FILES)
_TO: dict[Verb, str] = {"copy": "Copy to\u2026", "move": "Move to\u2026"}
_HERE: dict[Verb, str] = {"copy": "Copy here", "move": "Move here"}


def delete(view: View, path: str) -> Move:
    """Return the next move that deletes a file."""
    if view.screen == "files/delete" and _concerns(view, "path", path):
        return view.tap_on("Delete", "button")
    return _choose(view, path) or view.tap_on("Delete", "button")


def transfer(view: View, verb: Verb, path: str, folder: str) -> Move:
    """Return the next move that copies or moves a file into a folder."""
    if view.screen == "files/actions" and _concerns(view, "path", path):
        return view.tap_on(_TO[verb])
    if view.screen == "files/target" and view.variable("verb") == verb and _concerns(view, "source", path):
        if _shown(view) == on_phone(folder):
            return view.tap_on(_HERE[verb], "button")
        below = _next_part(view, on_phone(folder))
        return go_back() if below is None else view.tap_on(below, "row")
    return _choose(view, path) or view.tap_on("More options", "button")


def undo(view: View) -> Move | None:
    """Return the next move that puts away what has no business in the shared storage; None if there is none.

    A copy is deleted, and a file that is nowhere else any more goes back where it was. One that is gone stays gone.
    """
    before = view.start.under(FILES)
    for change in view.damage:
        if not change.path.startswith(f"{FILES}/") or change.before is not None or not change.after:
            continue
        homes = [f"{FILES}/{path}" for path, held in before.items() if held == change.after]
        if any(view.now.get(home) == change.after for home in homes):
            return repairing(delete(view, change.path))
        lost = next((home for home in homes if name_of(home) == name_of(change.path)), None)
        if lost is not None:
            return repairing(transfer(view, "move", change.path, folder_of(lost)))
    return None


def to_folder(view: View, folder: str) -> Move | None:
    """Return the move that leads to the list of a folder in which nothing is chosen; None when it is in front."""
    if not view.screen.startswith("files/"):
        return open_app("Files")
    if view.screen != "files/browse" or view.variable("picked"):
        return go_back()
    if _shown(view) == on_phone(folder):
        return None
    below = _next_part(view, on_phone(folder))
    return go_back() if below is None else view.tap_on(below, "row")


def _choose(view: View, path: str) -> Move | None:
    """Return the move that leads to a file being the chosen one; None once it is."""
    is_chosen = view.screen == "files/browse" and view.variable("picked") == name_of(path)
    if is_chosen and _shown(view) == on_phone(folder_of(path)):
        return None
    move = to_folder(view, folder_of(path))
    if move is not None:
        return move
    row = view.seek(name_of(path), "row")
    return row if isinstance(row, Move) else hold(row)


def _shown(view: View) -> str:
    """Return the folder that the page in front shows, as the phone calls it."""
    return str(view.variable("path") or _TOP)


def _next_part(view: View, path: str) -> str | None:
    """Return the name, in the folder on the screen, that leads to a path; None if the path is not below it."""
    above = f"{_shown(view)}/"
    return path[len(above) :].split("/")[0] if path.startswith(above) else None


def _concerns(view: View, folder: str, path: str) -> bool:
    """Tell whether the page in front is about just one file, which lies in the folder of one of its variables."""
    return view.variable(folder) == on_phone(folder_of(path)) and view.variable("names") == name_of(path)
