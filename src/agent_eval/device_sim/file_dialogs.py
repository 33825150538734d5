"""What many apps that list files offer: the folder above, a new folder, another name, deletion. Knows no app.

A page that lists a folder keeps it in its variable ``path``. The dialogs are named among an app's screens and opened
with the variables ``path``, the folder, and ``names``, those in it that were chosen, joined by ``/``.
"""

from __future__ import annotations

import posixpath

from agent_eval.device_sim.dialogs import name_dialog, question
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View

FORBIDDEN = frozenset('/\\:*?"<>|\x00')
"""Characters that Android's file managers do not take in a name."""


def shown_folder(ui: Ui, top: str) -> str:
    """Return the folder that a page lists: its own, or the nearest one above that still exists, at most the top."""
    path = str(ui.var("path", top))
    while path != top and not ui.files.is_folder(path):
        path = posixpath.dirname(path)
    return path


def go_up(ui: Ui, top: str) -> bool:
    """List the folder above; tell whether there is one, as the answer to the back key."""
    path = shown_folder(ui, top)
    if path == top:
        return False
    ui.set("path", posixpath.dirname(path))
    return True


def chosen(ui: Ui) -> list[str]:
    """Return the paths that a dialog is about."""
    return [posixpath.join(str(ui.var("path")), name) for name in str(ui.var("names")).split("/")]


def name_problem(ui: Ui, folder: str, name: str) -> str:
    """Say why nothing in a folder can get a name, or return nothing."""
    if not name or name in (".", "..") or FORBIDDEN & set(name):
        return ui.say("This name is not possible")
    if ui.files.exists(posixpath.join(folder, name)):
        return ui.say("An item with this name already exists")
    return ""


def new_folder(ui: Ui) -> View:
    """Build the dialog that names a new folder."""
    folder = str(ui.var("path"))

    def ok(name: str) -> str:
        problem = name_problem(ui, folder, name)
        if not problem:
            ui.files.make_folder(posixpath.join(folder, name), parents=True)
        return problem

    return name_dialog(ui, ui.say("New folder"), ui.say("Name"), ok)


def rename(ui: Ui) -> View:
    """Build the dialog that renames a file or folder."""
    path = chosen(ui)[0]
    folder = posixpath.dirname(path)

    def ok(name: str) -> str:
        problem = "" if name == posixpath.basename(path) else name_problem(ui, folder, name)
        if not problem:
            ui.files.rename(path, posixpath.join(folder, name))
        return problem

    return name_dialog(ui, ui.say("Rename"), ui.say("Name"), ok, answers={"picked": ""})


def delete(ui: Ui) -> View:
    """Build the dialog that asks before files and folders are deleted."""
    paths = chosen(ui)

    def ok() -> None:
        for path in paths:
            if ui.files.exists(path):
                ui.files.remove(path, whole_tree=True)
        ui.host.tell_page({"picked": ""})

    one = ui.say("Delete \u201c{name}\u201d?", name=posixpath.basename(paths[0]))
    return question(ui, one if len(paths) == 1 else ui.say("Delete {count} items?", count=len(paths)), "Delete", ok)
