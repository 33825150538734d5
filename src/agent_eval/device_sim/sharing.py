"""The sheet that shares a text: by text message, or into the clipboard (com.android.intentresolver). Knows Messages."""

from __future__ import annotations

from agent_eval.device_sim.screen import Screen, Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import MIDDLE, TITLE, dialog, image, label, row

PACKAGE = "com.android.intentresolver"
_MESSAGES = "com.android.messaging"


def share_sheet(ui: Ui) -> View:
    """Build the sheet; the variable ``content`` holds the text."""
    content = str(ui.var("content"))

    def message() -> None:
        ui.close()
        ui.host.open_app(_MESSAGES)
        ui.host.open_page("messages/new", {"text/body": content})

    def copy() -> None:
        ui.copy(content)
        ui.close()
        ui.host.show_toast(ui.say("Copied"))

    rows = [
        row(
            image(icon, align=MIDDLE),
            label(ui.say(name), id="android:id/text1", size=TITLE, weight=1, align=MIDDLE),
            height=dp(56),
            gap=dp(16),
            on_tap=action,
        )
        for name, icon, action in (("Messages", "message", message), ("Copy", "copy", copy))
    ]
    return dialog(*rows, title=ui.say("Share with"))


SHARE = Screen(share_sheet, f"{PACKAGE}.ChooserActivity", dialog=True, package=PACKAGE)
"""To be named among an app's screens."""
