"""A program of androidviewclient: opens Settings, touches views by their text, and prints what it sees, as JSON.

Run as a program of its own, because the library ends the interpreter where it gives up.
"""

from __future__ import annotations

import json
import sys

from com.dtmilano.android.viewclient import ViewClient


def main(serial: str) -> None:
    """Print what the library makes of the phone."""
    device, serial = ViewClient.connectToDeviceOrExit(serialno=serial)
    out: dict[str, object] = {
        "model": device.getProperty("ro.product.model"),
        "display": [device.display[name] for name in ("width", "height", "orientation")],
        "on": device.isScreenOn(),
        "locked": device.isLocked(),
    }
    device.startActivity("com.android.settings/.Settings")
    views = ViewClient(device, serial, useuiautomatorhelper=False)
    views.findViewWithTextOrRaise("Network & internet").touch()
    views.dump(window="-1")
    out["texts"] = [view.getText() for view in views.getViewsById().values()]
    views.findViewWithTextOrRaise("Airplane mode").touch()
    out["activity"] = device.getTopActivityName()
    out["picture"] = device.takeSnapshot(reconnect=True).size
    out["keyboard"] = device.isKeyboardShown()
    out["windows"] = len(device.getWindows())
    sys.stdout.write(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
