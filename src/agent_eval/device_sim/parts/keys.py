"""Hardware keys: their names and codes, and what each does. Knows neither the soft keyboard nor fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_eval.device_sim.parts.fingers import STEP_MS

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

KEY_NAMES: Mapping[int, str] = MappingProxyType({
    3: "home", 4: "back", 19: "up", 20: "down", 21: "left", 22: "right", 23: "center", 24: "volume_up",
    25: "volume_down", 26: "power", 27: "camera", 61: "tab", 62: "space", 66: "enter", 67: "delete", 82: "menu",
    84: "search", 111: "escape", 164: "volume_mute", 122: "move_home",
    123: "move_end", 187: "recent", 223: "sleep", 224: "wakeup", 279: "paste",
})  # fmt: skip
"""Key codes of android.view.KeyEvent that the phone answers to, beside digits (7-16) and letters (29-54)."""
_NAMES = frozenset(KEY_NAMES.values())
_ALIASES = {"del": "delete", "app_switch": "recent", "dpad_center": "center", "return": "enter"}
_LOUDEST = 15


def press_key(phone: Phone, name: str | int) -> bool:
    """Press a key by name or code; tell whether the phone has it."""
    if isinstance(name, int):
        if 7 <= name <= 16 or 29 <= name <= 54:
            phone.type_text(chr(ord("0") + name - 7) if name <= 16 else chr(ord("a") + name - 29))
            return True
        found = KEY_NAMES.get(name, "")
    else:
        found = name.lower().removeprefix("keycode_")
        found = _ALIASES.get(found, found)
    if found not in _NAMES:
        return False
    phone.events.add("key", found)
    phone.pass_time(STEP_MS)
    if found in ("power", "sleep", "wakeup"):
        phone.world["screen/on"] = found == "wakeup" or (found == "power" and not phone.world["screen/on"])
    elif phone.world["screen/on"] and found in _ACTIONS:
        _ACTIONS[found](phone)
    return True


def _back(phone: Phone) -> None:
    if phone.keyboard_open:
        phone.entry.close_keyboard()
    else:
        phone.stacks.go_back()


def _volume(phone: Phone, step: int) -> None:
    level = min(max(int(phone.state["settings/volume_media"]) + step, 0), _LOUDEST)
    phone.put("settings/volume_media", level)


_ACTIONS: Mapping[str, Callable[[Phone], object]] = MappingProxyType({
    "home": lambda phone: phone.go_home(),
    "back": _back,
    "escape": _back,
    "recent": lambda phone: phone.stacks.toggle_recents(),
    "enter": lambda phone: phone.entry.enter(),
    "tab": lambda phone: phone.entry.next_field(),
    "move_home": lambda phone: phone.entry.move_cursor(0),
    "move_end": lambda phone: phone.entry.move_cursor(None),
    "delete": lambda phone: phone.entry.delete_before_cursor(),
    "space": lambda phone: phone.type_text(" "),
    "paste": lambda phone: phone.type_text(phone.clipboard),
    "volume_up": lambda phone: _volume(phone, 1),
    "volume_down": lambda phone: _volume(phone, -1),
    "volume_mute": lambda phone: _volume(phone, -_LOUDEST),
})  # fmt: skip
"""What the keys do that no page answers; the others do nothing."""
