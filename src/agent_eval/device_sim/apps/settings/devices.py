"""Settings, "Connected devices": Bluetooth, and the other ways to connect (connected_devices.xml).

This phone has no NFC: nothing here switches it.
"""

from __future__ import annotations

import zlib

from agent_eval.device_sim.apps.settings.page import (
    Tap,
    ask,
    fact,
    head_switch,
    heading,
    keep_names,
    link,
    names,
    note,
    on_off,
    page,
    sub,
)
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import Field, View
from agent_eval.device_sim.widgets import cancel_and_ok, dialog, edit_text, opener, preference


def connected_devices(ui: Ui) -> View:
    """Build "Connected devices" (connected_devices.xml)."""
    rows = [
        link(ui, "Bluetooth", "settings/bluetooth", on_off(ui, "bluetooth_on"), icon="bluetooth"),
        link(ui, "Pair new device", "settings/pair", icon="add"),
    ]
    if ui.flag("settings/bluetooth_on"):
        rows.append(heading(ui, "Saved devices"))
        rows += [_device(ui, name) for name in names(ui, "bluetooth/paired")]
    rows.append(
        link(
            ui,
            "Connection preferences",
            "settings/connection_preferences",
            ui.say("Bluetooth, Cast, NFC"),
            icon="devices",
        )
    )
    return page(ui, "Connected devices", *rows)


def _device(ui: Ui, name: str) -> View:
    here = name in names(ui, "bluetooth/connected")
    summary = ui.say("Connected") if here else ui.say("Saved")
    return preference(name, summary, icon="headset", on_tap=opener(ui, "settings/device", name=name))


def name_row(ui: Ui) -> View:
    """Show the row with the phone's name, which opens the dialog that changes it."""
    name = ui.words("settings/device_name")
    return preference(ui.say("Device name"), name, on_tap=opener(ui, "settings/rename", **{"text/name": name}))


def bluetooth(ui: Ui) -> View:
    """Build "Bluetooth" (bluetooth_screen.xml): the main switch, and what is paired when it is on."""
    rows = [head_switch(ui, "Use Bluetooth", "bluetooth_on")]
    if ui.flag("settings/bluetooth_on"):
        rows.append(name_row(ui))
        rows.append(link(ui, "Pair new device", "settings/pair", icon="add"))
        rows.append(heading(ui, "Saved devices"))
        rows += [_device(ui, name) for name in names(ui, "bluetooth/paired")]
    else:
        rows.append(
            note(ui, "When Bluetooth is turned on, your device can communicate with other nearby Bluetooth devices")
        )
    return page(ui, "Bluetooth", *rows)


def pair(ui: Ui) -> View:
    """Build "Pair new device"; opening it needs Bluetooth, which AOSP switches on by itself; here the page asks."""
    if not ui.flag("settings/bluetooth_on"):
        return page(ui, "Pair new device", note(ui, "Turn on Bluetooth to pair a device"))
    paired = names(ui, "bluetooth/paired")
    found = [name for name in names(ui, "bluetooth/nearby") if name not in paired]
    rows = [preference(name, icon="headset", on_tap=opener(ui, "settings/pair_with", name=name)) for name in found]
    return page(
        ui,
        "Pair new device",
        fact(ui, "Device name", ui.words("settings/device_name")),
        heading(ui, "Available devices"),
        *rows,
        note(ui, "Searching for devices\u2026"),
    )


def pair_with(ui: Ui) -> View:
    """Build the dialog that pairs with a device (bluetooth_pin_confirm.xml)."""
    name = str(ui.var("name"))
    code = zlib.crc32(name.encode()) % 1_000_000

    def ok() -> None:
        ui.close()
        keep_names(ui, "bluetooth/paired", [*names(ui, "bluetooth/paired"), name])
        keep_names(ui, "bluetooth/connected", [*names(ui, "bluetooth/connected"), name])

    return dialog(
        title=ui.say("Pair with {name}?", name=name),
        message=f"{ui.say('Bluetooth pairing code')}\n{code:06d}",
        buttons=cancel_and_ok(ui, ok, ok="Pair"),
    )


def device(ui: Ui) -> View:
    """Build the page of a paired device."""
    name = str(ui.var("name"))
    connected = names(ui, "bluetooth/connected")
    here = name in connected

    def forget() -> None:
        for path in ("bluetooth/paired", "bluetooth/connected"):
            keep_names(ui, path, [other for other in names(ui, path) if other != name])
        ui.close()

    def join() -> None:
        others = [other for other in connected if other != name]
        keep_names(ui, "bluetooth/connected", others if here else [*connected, name])

    return page(
        ui,
        "Device details",
        preference(name, ui.say("Connected") if here else ui.say("Saved"), icon="headset"),
        preference(ui.say("Forget"), icon="delete", on_tap=forget),
        preference(
            ui.say("Disconnect") if here else ui.say("Connect"),
            icon="bluetooth",
            on_tap=join,
            enabled=ui.flag("settings/bluetooth_on"),
        ),
        *([_use(ui, name, kind) for kind in ("Phone calls", "Media audio")] if here else []),
    )


def _use(ui: Ui, name: str, kind: str) -> View:
    path = f"bluetooth/use/{name}/{kind}"
    on = bool(ui.host.world.get(path, True))
    tap: Tap = lambda: ui.keep(path, not on)  # noqa: E731
    return preference(ui.say(kind), checked=on, on_tap=tap)


def connection_preferences(ui: Ui) -> View:
    """Build "Connection preferences" (connected_devices_advanced.xml)."""
    return page(
        ui,
        "Connection preferences",
        link(ui, "Bluetooth", "settings/bluetooth", on_off(ui, "bluetooth_on"), icon="bluetooth"),
        link(ui, "Cast", "settings/cast", icon="devices"),
        link(ui, "Printing", "settings/printing", ui.say("Off"), icon="devices"),
    )


def cast(ui: Ui) -> View:
    """Build "Cast": the screens in reach."""
    text = "Searching for devices\u2026" if ui.flag("settings/wifi_on") else "Turn on {wifi} to cast to a screen"
    return page(ui, "Cast", note(ui, text, wifi=ui.wifi))


def printing(ui: Ui) -> View:
    """Build "Printing": the print services."""
    return page(ui, "Printing", note(ui, "No print services installed"))


def rename(ui: Ui) -> View:
    """Build the dialog that changes the device's name."""
    name = ui.typed("name")

    def ok() -> None:
        ui.put("settings/device_name", name.strip())
        ui.close()

    return dialog(
        edit_text(ui, Field("name", max_length=32), id="android:id/edit"),
        title=ui.say("Device name"),
        buttons=cancel_and_ok(ui, ok, enabled=bool(name.strip())),
    )


SCREENS = {
    "settings/connected": sub(connected_devices),
    "settings/bluetooth": sub(bluetooth),
    "settings/pair": sub(pair),
    "settings/pair_with": ask(pair_with),
    "settings/device": sub(device),
    "settings/connection_preferences": sub(connection_preferences),
    "settings/cast": sub(cast),
    "settings/printing": sub(printing),
    "settings/rename": ask(rename),
}
