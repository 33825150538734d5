"""Camera: a shutter that counts photos, a choice of lens, and the last photo (packages/apps/Camera2)."""

from __future__ import annotations

from agent_eval.device_sim.schema import Kind
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, WRAP, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    TITLE,
    activity,
    app_bar,
    column,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
)

PACKAGE = "com.android.camera2"
_ID = f"{PACKAGE}:id/"


def viewfinder(ui: Ui) -> View:
    """Build the viewfinder (camera.xml)."""
    front = bool(ui.var("front", False))

    def shoot() -> None:
        ui.put("camera/photos", ui.number("camera/photos") + 1)

    controls = row(
        frame(
            image_button(
                "photo",
                "Show last photo",
                opener(ui, "camera/last"),
                id=f"{_ID}rounded_thumbnail_view",
                enabled=ui.number("camera/photos") > 0,
            ),
            weight=1,
            height=dp(96),
        ),
        frame(
            image_button("shutter", "Shutter", shoot, id=f"{_ID}shutter_button", size=dp(80), ink="on_wallpaper"),
            width=dp(96),
            height=dp(96),
        ),
        frame(
            image_button(
                "turn",
                "Switch to back camera" if front else "Switch to front camera",
                lambda: ui.set("front", not front),
                id=f"{_ID}camera_toggle_button",
            ),
            weight=1,
            height=dp(96),
        ),
        height=dp(112),
        pad=(0, dp(8), 0, dp(8)),
        id=f"{_ID}bottom_bar",
    )
    preview = frame(
        label("Front camera" if front else "Back camera", size=TITLE, ink="on_wallpaper", align=CENTER),
        id=f"{_ID}preview_content",
        cls="android.view.TextureView",
        weight=1,
    )
    return activity(ui, preview, controls, fill="viewfinder")


def last(ui: Ui) -> View:
    """Build the page of the last photo."""
    count = ui.number("camera/photos")
    picture = column(
        image("photo", size=dp(120), desc=f"Photo {count}", id=f"{_ID}media_view", fill="chip"),
        label(f"{count} photos", id=f"{_ID}photo_count", size=TITLE, align=CENTER, width=WRAP),
        gap=dp(16),
        align=CENTER,
    )
    return activity(ui, app_bar(ui, "Photos"), frame(picture, weight=1, height=MATCH))


APP = App(
    package=PACKAGE,
    label="Camera",
    home="camera/viewfinder",
    color="#c5221f",
    icon="camera",
    home_row=True,
    paths={"camera/photos": Kind(int, 0, 100_000)},
    screens={
        "camera/viewfinder": Screen(viewfinder, "com.android.camera.CameraLauncher"),
        "camera/last": Screen(last, "com.android.camera.CameraLauncher"),
    },
)
