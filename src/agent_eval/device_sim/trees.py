"""Finding and copying parts of a page that is built and not yet laid out. Knows no page, fault or skin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent_eval.device_sim.ui import View


def walk(view: View) -> Iterator[View]:
    """Yield a view and all below it, in document order."""
    yield view
    for child in view.children:
        yield from walk(child)


def first_text(view: View) -> str:
    """Return the first text of a view or below it."""
    return next((below.text for below in walk(view) if below.text), "")


def name_of(root: View, view: View) -> str:
    """Return the text that names a view: its own or one below it, else that of the nearest group around it."""
    for around in reversed(path_to(root, view)):
        found = first_text(around)
        if found:
            return found
    return ""


def path_to(root: View, view: View) -> list[View]:
    """Return the views from the root down to a view, both included; nothing when it is not below the root."""
    if root is view:
        return [root]
    for child in root.children:
        found = path_to(child, view)
        if found:
            return [root, *found]
    return []


def main_list(root: View) -> View | None:
    """Return the first list of a page that scrolls downwards and has content."""
    return next((view for view in walk(root) if view.scroll and view.arrange == "column" and view.children), None)


def holds_switch(view: View) -> bool:
    """Tell whether a view is or holds a switch."""
    return any(below.checkable and below.cls.endswith("Switch") for below in walk(view))


def add_text(row: View, text: View, after: str) -> None:
    """Put a text below the one that names a row, or in place of the second one."""
    for group in walk(row):
        for place, child in enumerate(group.children):
            if child.text != after:
                continue
            if group.arrange != "column":
                child.text = text.text
                return
            rest = list(group.children[place + 1 :])
            if rest and rest[0].text:
                rest[0].text = text.text
            else:
                rest.insert(0, text)
            group.children = (*group.children[: place + 1], *rest)
            return


def copy(view: View) -> View:
    """Return a copy of a tree that was not laid out."""
    return replace(view, children=tuple(copy(child) for child in view.children))
