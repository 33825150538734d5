"""Several rows of a list chosen by holding one, and the bar that then replaces the toolbar. Knows no app.

The chosen keys live in the page's variable ``picked``, one a line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import GROUP, MIDDLE, image_button, label, row

_SELECT_ALL = "android:id/selectAll"


class Selection:
    """What is chosen on one page.

    Args:
        ui: The page.
        exists: Tells whether there still is a row with a key.
    """

    def __init__(self, ui: Ui, exists: Callable[[str], bool] = bool) -> None:
        self._ui = ui
        self.keys: tuple[str, ...] = tuple(key for key in str(ui.var("picked")).split("\n") if key and exists(key))

    def __bool__(self) -> bool:
        return bool(self.keys)

    def __contains__(self, key: str) -> bool:
        return key in self.keys

    def choose(self, keys: Sequence[str]) -> None:
        """Choose exactly these."""
        self._ui.set("picked", packed(keys))

    def flip(self, key: str) -> Callable[[], object]:
        """Return a callback that chooses a row or no longer does."""
        return lambda: self.choose([k for k in self.keys if k != key] if key in self.keys else [*self.keys, key])

    def bar(self, everything: Sequence[str], actions: Sequence[View], *, says: str = "Done") -> View:
        """Build the bar: how many are chosen, and what can be done with them (abc_action_mode_bar.xml).

        Args:
            everything: What "Select all" chooses; without any, there is no such button.
            actions: Buttons at the right.
            says: Of the button that ends the selection, in English.
        """
        ui = self._ui
        every = image_button("select_all", ui.say("Select all"), lambda: self.choose(everything), id=_SELECT_ALL)
        return row(
            image_button("close", ui.say(says), lambda: self.choose(()), id="android:id/action_mode_close_button"),
            label(
                ui.say("{count} selected", count=len(self.keys)),
                id="android:id/action_bar_title",
                size=dp(18),
                align=MIDDLE,
                weight=1,
                pad=(dp(8), 0, 0, 0),
            ),
            *([every] if everything else []),
            *actions,
            cls=GROUP,
            id="android:id/action_mode_bar",
            height=dp(56),
            pad=(dp(4), 0, dp(4), 0),
            fill="bar",
        )


def packed(keys: Sequence[str]) -> str:
    """Return keys as the variable ``picked`` holds them."""
    return "\n".join(keys)


def leave(ui: Ui) -> bool:
    """Answer the back key: the first one only ends the selection."""
    if not ui.var("picked"):
        return False
    ui.set("picked", "")
    return True
