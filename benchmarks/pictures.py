"""Write the pictures of the phone that the docs show: ``python benchmarks/pictures.py docs/images``."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_eval.device_sim import Phone
from agent_eval.device_sim.ui import View
from agent_eval.types import PhoneSetup, Skin


def touch(phone: Phone, *, text: str = "", field: bool = False) -> None:
    """Tap the first element that shows a text, or the first input field."""

    def wanted(view: View) -> bool:
        return view.field is not None if field else text in (view.text, view.desc)

    view = next(view for view in phone.active_window.root.visible() if wanted(view))
    assert view.bounds is not None
    phone.tap(*view.bounds.center)


def home() -> Phone:
    """Return a phone that shows its launcher."""
    return Phone(PhoneSetup(seed=4, state={"settings/dark_theme": False}))


def settings() -> Phone:
    """Return a phone in German, in the dark, that shows its settings."""
    phone = Phone(PhoneSetup(seed=4, state={"settings/dark_theme": True}, skin=Skin(locale="de", wording="wlan")))
    phone.open_app("com.android.settings")
    return phone


def dialog() -> Phone:
    """Return a phone in Chinese with a dialog and the keyboard."""
    phone = Phone(PhoneSetup(seed=4, state={"settings/dark_theme": False}, skin=Skin(locale="zh"), keep_alarms=True))
    phone.open_app("com.android.contacts")
    phone.open_app("com.android.settings")
    phone.open_page("settings/about", {})
    touch(phone, text=str(phone.state["settings/device_name"]))
    touch(phone, field=True)
    return phone


PICTURES = {"phone-home.png": home, "phone-settings-german.png": settings, "phone-dialog-chinese.png": dialog}


def main() -> None:
    folder = Path(sys.argv[1])
    for name, make in PICTURES.items():
        make().screenshot().save(folder / name, optimize=True)
        print(f"{folder / name}: {(folder / name).stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
