"""Text entry: the field that has the focus, its cursor and selection, the soft keyboard, and the bar that Cut is on.

What a field holds, and whether it has the focus, are variables of its page. Knows neither fingers nor hardware keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.apps import systemui
from agent_eval.device_sim.screen import Page, Ui
from agent_eval.device_sim.ui import View, dp, lay_out
from agent_eval.types import Bounds, Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

_BAR_HEIGHT, _BAR_WIDTH = dp(44), dp(200)
"""Of the bar with Cut, Copy and Paste: how high it is, and how much room it wants."""


class TextEntry:
    """Text entry on one phone.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self.layer: keyboard.Layer | None = None
        """What the soft keyboard shows, where it is open."""

    # ------------------------------------------------------------------ focus
    def focused(self) -> View | None:
        """Return the input field that has the focus."""
        return next((view for view in self._phone.active_window.root.visible() if view.field and view.focused), None)

    def focus(self, view: View, *, held: bool = False) -> None:
        """Give a field the focus; a finger that is held on it selects its text and brings up the bar."""
        field = view.field
        assert field is not None
        variables = self._variables
        fresh = variables.get("focus") != field.name
        variables["focus"] = field.name
        variables.pop("cursor", None)
        variables.pop("toolbar", None)
        variables["selected"] = bool(view.text) and (held or (fresh and field.select_on_focus))
        if held:
            variables["toolbar"] = True
        if self.layer is None:
            self._phone.faults.keyboard_opened()
        self.layer = "digits" if field.numeric else (self.layer if self.layer not in (None, "digits") else "letters")
        self._phone.changed()
        self._reveal(field.name)

    def _reveal(self, name: str) -> None:
        """Scroll the field that has the focus clear of the keyboard, as windows that adjustResize do."""
        way = _way_to(self._phone.active_window.root, name)
        area = next((view for view in way if view.scroll and view.arrange == "column"), None)
        if area is None or area.bounds is None:
            return
        part = way[way.index(area) + 1]
        hidden = min(part.rect.bottom - area.bounds.bottom, part.rect.top - area.bounds.top)
        if hidden > 0:
            self._phone.fingers.scroll(area, hidden)

    def enter(self) -> None:
        """Do what the keyboard's action key does: start a line, submit, or go on as the Tab key does."""
        view = self.focused()
        if view is not None and view.on_submit is not None:
            self.close_keyboard()
            view.on_submit()
        elif view is not None and view.field is not None and view.field.multiline:
            self.type_text("\n")
        else:
            self.next_field()

    def next_field(self) -> None:
        """Go to the next field, or close the keyboard after the last."""
        fields = [view for view in self._phone.active_window.root.visible() if view.field is not None]
        for position, view in enumerate(fields):
            if view.focused:
                if position + 1 < len(fields):
                    self.focus(fields[position + 1])
                else:
                    self.close_keyboard()
                return

    # ------------------------------------------------------------------ the soft keyboard
    def press_soft_key(self, name: str) -> None:
        """Press a key of the soft keyboard: a character or the name of a key."""
        layer = self.layer
        if layer is None:
            return
        if name in keyboard.NEXT_LAYER:
            self.layer = keyboard.NEXT_LAYER[name].get(layer, layer)
        elif name == "Delete":
            self.delete_before_cursor()
        elif name == "Enter":
            self.enter()
        else:
            self.type_text(" " if name == "Space" else name)
            if layer == "capitals":
                self.layer = "letters"
        self._phone.changed()

    def close_keyboard(self) -> None:
        """Close the keyboard; the field keeps the focus."""
        self.layer = None
        self._phone.changed()

    def let_go(self) -> None:
        """Close the keyboard and let go of the focus."""
        self._variables.pop("focus", None)
        self.close_keyboard()

    def leave(self, page: Page) -> None:
        """Let go of all that belongs to a page: something else comes to the front."""
        self.layer = None
        for name in ("focus", "selected", "cursor", "toolbar"):
            page.vars.pop(name, None)

    # ------------------------------------------------------------------ text
    def type_text(self, text: str) -> bool:
        """Insert text at the cursor of the focused field; tell whether there is one."""
        view = self.focused()
        if view is None or view.field is None:
            return False
        self._phone.events.add("text", "\u2022" * len(text) if view.password else text)
        variables = self._variables
        if variables.get("selected", False):
            self.replace_text(view, text)
            return True
        place = variables.get("cursor")
        before = view.text if place is None else view.text[: int(place)]
        after = view.text[len(before) :]
        self.replace_text(view, before + text + after)
        if place is not None:
            variables["cursor"] = len(before) + len(text)
        return True

    def move_cursor(self, place: int | None) -> None:
        """Put the cursor of the focused field before a character, or after the last one."""
        variables = self._variables
        variables.pop("selected", None)
        variables.pop("cursor", None)
        if place is not None:
            variables["cursor"] = place
        self._phone.changed()

    def delete_before_cursor(self) -> bool:
        """Delete the selection, or the character before the cursor; tell whether a field has the focus."""
        view = self.focused()
        if view is None:
            return False
        variables = self._variables
        if variables.get("selected", False):
            self.replace_text(view, "")
            return True
        place = int(variables.get("cursor", len(view.text)))
        if place > 0:
            at_end = "cursor" not in variables
            self.replace_text(view, view.text[: place - 1] + view.text[place:])
            if not at_end:
                variables["cursor"] = place - 1
        return True

    def clear_text(self) -> bool:
        """Delete everything in the focused field; tell whether there is one."""
        view = self.focused()
        if view is None:
            return False
        self.replace_text(view, "")
        return True

    def replace_text(self, view: View, text: str) -> None:
        """Set the text of an input field, within what the field accepts."""
        field = view.field
        assert field is not None
        faults, variables = self._phone.faults, self._variables
        if faults:
            text = faults.typed(view.text, text, numeric=field.numeric)
        variables[f"text/{field.name}"] = field.accept(text)
        for name in ("selected", "cursor", "toolbar"):
            variables.pop(name, None)
        self._phone.changed()

    # ------------------------------------------------------------------ cut, copy and paste
    def add_toolbar(self, ui: Ui, root: View) -> None:
        """Put the bar with Cut, Copy and Paste over the focused field of a page that has it open.

        Args:
            ui: The page.
            root: Its views, laid out. The bar goes below the field where there is no room above.
        """
        if not ui.page.vars.get("toolbar"):
            return
        field = next((view for view in root.visible() if view.field and view.focused), None)
        if field is None or field.bounds is None:
            return
        entries = self._entries(ui.page, field)
        if not entries:
            return
        display, dialog = self._phone.display, self._phone.screens[ui.page.screen].dialog
        bar = systemui.text_toolbar(ui, entries)
        room = Bounds(*(round(edge / display.scale) for edge in root.rect))
        left, top = round(field.bounds.left / display.scale), round(field.bounds.top / display.scale) - _BAR_HEIGHT
        if top < room.top + (0 if dialog else systemui.STATUS_HEIGHT):
            top = min(round(field.bounds.bottom / display.scale), room.bottom - _BAR_HEIGHT)
        lay_out(bar, Bounds(min(left, room.right - _BAR_WIDTH), top, room.right, room.bottom), display)
        root.children = (*root.children, bar)

    def _entries(self, page: Page, field: View) -> list[tuple[str, Callable[[], object]]]:
        """Return what the bar offers for a field."""
        selected = bool(page.vars.get("selected"))
        entries: list[tuple[str, Callable[[], object]]] = []
        if selected and not field.password:
            entries += [("Cut", lambda: self._cut(field)), ("Copy", lambda: self._copy(field))]
        if self._phone.clipboard:
            entries.append(("Paste", lambda: self.type_text(self._phone.clipboard)))
        if field.text and not selected:
            entries.append(("Select all", lambda: page.vars.update(selected=True)))
        return entries

    def _copy(self, field: View) -> None:
        self._phone.clipboard = field.text
        self._variables.pop("toolbar", None)

    def _cut(self, field: View) -> None:
        self._copy(field)
        self.replace_text(field, "")

    @property
    def _variables(self) -> dict[str, Scalar]:
        return self._phone.stacks.in_focus.vars


def _way_to(view: View, name: str) -> list[View]:
    """Return the views from one down to the input field of a name; nothing if there is none."""
    if view.field is not None and view.field.name == name:
        return [view]
    for child in view.children:
        way = _way_to(child, name)
        if way:
            return [view, *way]
    return []
