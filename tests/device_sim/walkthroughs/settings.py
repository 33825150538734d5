"""Solutions in Settings, quick settings, the notification shade and the launcher."""

from __future__ import annotations

from agent_eval.actions import Direction
from agent_eval.types import Scalar
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Script, Walk, moment_of

_NETWORK, _WIFI = "Network & internet", "Wi-Fi"
NETWORKS: dict[str, Scalar] = {
    f"wifi/access_point/{number}/{name}": value
    for number, ssid, password in (
        (901, "Quay 1", "rope-and-sail"), (902, "Quay l", "sail-and-rope"), (903, "Quay 11", "oars-and-sail"),
    )
    for name, value in (("ssid", ssid), ("password", password))
}  # fmt: skip


def rows(*labels: str) -> Script:
    """Go through pages of Settings by the labels of their rows, and tap the last one too."""

    def script(hand: Hand) -> None:
        hand.open("Settings")
        for label in labels:
            hand.tap(label)

    return script


def tiles(*labels: str) -> Script:
    """Tap tiles of the notification shade."""

    def script(hand: Hand) -> None:
        hand.swipe("down")
        for label in labels:
            hand.tap(label, starts=True)

    return script


def far_tile(label: str) -> Script:
    """Tap a tile of quick settings."""

    def script(hand: Hand) -> None:
        hand.swipe("down")
        hand.swipe("down")
        hand.tap(label)

    return script


def see(label: str, *, state: str = "", value: str = "", way: tuple[str, ...]) -> Script:
    """See on a page of Settings that nothing is to be done."""

    def script(hand: Hand) -> None:
        rows(*way)(hand)
        found = hand.find(label)
        assert found.value == value or not value
        assert state in found.states or not state

    return script


def slide(direction: Direction) -> Script:
    """Move the slider of the brightness to an end."""

    def script(hand: Hand) -> None:
        hand.swipe("down")
        hand.swipe("down")
        hand.swipe(direction, on="Display brightness")

    return script


def join(ssid: str, password: str) -> Script:
    """Join a network."""

    def script(hand: Hand) -> None:
        rows(_NETWORK, "Internet", ssid)(hand)
        hand.type(password, into="Password")
        hand.tap("Connect")

    return script


def rename(name: str) -> Script:
    """Give the phone a name."""

    def script(hand: Hand) -> None:
        rows("About phone", "Device name")(hand)
        hand.type(name, into=hand.rows("field")[0].label)
        hand.tap("OK")

    return script


def read(label: str, *way: str) -> Script:
    """Read what a row says below its title."""

    def script(hand: Hand) -> str:
        rows(*way)(hand)
        return hand.reach(label).value

    return script


def look_for_nfc(hand: Hand) -> None:
    """See that the page on which NFC would be does not have it."""
    rows("Connected devices", "Connection preferences")(hand)
    assert not any(text.startswith("NFC") for text in hand.texts())


def dismiss(app: str) -> Script:
    """Swipe away a notification."""

    def script(hand: Hand) -> None:
        hand.swipe("down")
        hand.swipe("right", on=app, role="row")

    return script


def tap_icon(app: str) -> Script:
    """Tap the icon of an app."""
    return lambda hand: hand.tap(app, role="button")


def open_and_allow(app: str) -> Script:
    """Open an app and grant what it asks for."""

    def script(hand: Hand) -> None:
        hand.open(app)
        hand.tap("While using the app")

    return script


def copy(text: str) -> Script:
    """Put a text into the clipboard, by way of the field that searches for apps."""

    def script(hand: Hand) -> None:
        hand.swipe("up")
        hand.set_text(text, into="Search apps")
        hand.hold("Search apps")
        hand.tap("Copy")

    return script


def and_open(first: Script, app: str) -> Script:
    """Do something and open an app."""

    def script(hand: Hand) -> None:
        first(hand)
        hand.open(app)

    return script


def setting(name: str, value: Scalar) -> dict[str, Scalar]:
    """Return the path of a setting."""
    return {f"settings/{name}": value}


def walks() -> list[Walk]:
    """Return the solutions."""
    wifi = rows(_NETWORK, "Internet", _WIFI)
    wifi_seen = {"on": see(_WIFI, state="on", way=(_NETWORK, "Internet")),
                 "off": see(_WIFI, state="off", way=(_NETWORK, "Internet"))}  # fmt: skip
    bluetooth_seen = {"on": see("Bluetooth", value="On", way=("Connected devices",)),
                      "off": see("Bluetooth", value="Off", way=("Connected devices",))}  # fmt: skip
    bright = {"max": see("Brightness level", value="100%", way=("Display",)),
              "min": see("Brightness level", value="0%", way=("Display",))}  # fmt: skip
    idle = setting("brightness", 100)
    posted = int(moment_of(2).timestamp()) - 90
    news: dict[str, Scalar] = {
        f"notifications/{number}/{name}": value
        for number, package, title in (
            (901, "com.android.calendar", "Regatta"),
            (902, "com.android.dialer", "Missed call"),
        )
        for name, value in (("package", package), ("title", title), ("posted", posted))
    }
    opened = {"ui/package": "com.android.deskclock"}
    both = {**setting("wifi_on", True), **setting("bluetooth_on", False)}
    swapped = {**setting("wifi_on", False), **setting("bluetooth_on", True)}
    found = [
        Walk("10", 7, join("Quay l", "sail-and-rope"), state={**NETWORKS, **setting("wifi_on", True)},
             sets=setting("wifi_network", "Quay l")),
        Walk("11", 3, tiles("Internet", "Bluetooth"), state=both, sets=swapped),
        Walk("12", 7, rename("Harbour phone"), sets=setting("device_name", "Harbour phone")),
        Walk("13", 5, read("Android version", "About phone"), "version", answer="15"),
        Walk("13", 1, read("Battery"), "battery", state={"battery/level": 63}, answer="63%"),
        Walk("14", 3, look_for_nfc),
        Walk("15", 1, tap_icon("Clock"), faults=("lookalike_app",), leaves=opened),
        Walk("17", 2, dismiss("Calendar"), seed=2, state=news, gone=("notifications/901",)),
        Walk("OpenAppTaskEval", 2, open_and_allow("Camera"), faults=("permission_dialog",),
             leaves={"ui/screen": "camera/viewfinder"}),
        Walk("SystemCopyToClipboard", 4, copy("Berth 7, pier 2"), leaves={"clipboard/text": "Berth 7, pier 2"}),
        Walk("SystemBrightnessMax", 3, slide("right"), seed=2, state=idle, sets=setting("brightness", 255)),
        Walk("SystemBrightnessMaxVerify", 3, bright["max"], state=setting("brightness", 255)),
        Walk("SystemBrightnessMin", 3, slide("left"), seed=2, state=idle, sets=setting("brightness", 0)),
        Walk("SystemBrightnessMinVerify", 3, bright["min"], state=setting("brightness", 0)),
        Walk("TurnOffWifiAndTurnOnBluetooth", 3, tiles("Internet", "Bluetooth"), seed=2, state=both, sets=swapped),
        Walk("TurnOnWifiAndOpenApp", 5, and_open(wifi, "Contacts"), state=setting("wifi_on", False),
             sets=setting("wifi_on", True), leaves={"ui/package": "com.android.contacts"}),
    ]  # fmt: skip
    for word, on in (("on", True), ("off", False)):
        found += [
            Walk("1", 4, wifi, word, state=setting("wifi_on", not on), sets=setting("wifi_on", on)),
            Walk("2", 3, wifi_seen[word], word, state=setting("wifi_on", on)),
            Walk("3", 2, tiles("Bluetooth"), word, state=setting("bluetooth_on", not on),
                 sets=setting("bluetooth_on", on)),
            Walk("4", 2, bluetooth_seen[word], word, state=setting("bluetooth_on", on)),
            Walk("5", 3, rows(_NETWORK, "Airplane mode"), word, state=setting("airplane_mode_on", not on),
                 sets=setting("airplane_mode_on", on), may=("settings/wifi_on", "settings/bluetooth_on")),
            Walk("6", 4, rows("Sound & vibration", "Do Not Disturb", "Use Do Not Disturb"), word,
                 state=setting("do_not_disturb", not on), sets=setting("do_not_disturb", on)),
            Walk("7", 3, far_tile("Dark theme"), word, state=setting("dark_theme", not on),
                 sets=setting("dark_theme", on)),
            Walk("16", 2, tiles("Flashlight"), word, state=setting("torch_on", not on), sets=setting("torch_on", on)),
            Walk(f"SystemWifiTurn{word.capitalize()}", 4, wifi, seed=2, state=setting("wifi_on", not on),
                 sets=setting("wifi_on", on)),
            Walk(f"SystemWifiTurn{word.capitalize()}Verify", 3, wifi_seen[word], seed=2, state=setting("wifi_on", on)),
            Walk(f"SystemBluetoothTurn{word.capitalize()}", 4,
                 rows("Connected devices", "Bluetooth", "Use Bluetooth"), seed=2,
                 state=setting("bluetooth_on", not on), sets=setting("bluetooth_on", on)),
            Walk(f"SystemBluetoothTurn{word.capitalize()}Verify", 2, bluetooth_seen[word], seed=2,
                 state=setting("bluetooth_on", on)),
        ]  # fmt: skip
    found += [
        Walk("8", 3, slide("left"), "min", state=idle, sets=setting("brightness", 0)),
        Walk("8", 3, slide("right"), "max", state=idle, sets=setting("brightness", 255)),
    ]
    for seconds, name in ((15, "15 seconds"), (600, "10 minutes")):
        state = setting("screen_timeout_s", 60)
        way = rows("Display", "Screen timeout", name)
        found.append(Walk("9", 5, way, name, state=state, sets=setting("screen_timeout_s", seconds)))
    return found
