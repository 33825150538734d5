"""Writing persisted values, with all that follows from one on a phone. Knows no screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_eval.device_sim.screen import last_id_path
from agent_eval.types import Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

BATTERY = "battery/level"
"""What is written as a persisted value is, and is none: a task may set it, and no judge looks at it."""


def put(phone: Phone, path: str, value: Scalar) -> None:
    """Persist a value; see ``Phone.put``."""
    phone.schema.check(path, value)
    if not (phone.faults and phone.faults.holds_back(path, value, phone.state.get(path))):
        settle(phone, path, value)


def settle(phone: Phone, path: str, value: Scalar) -> None:
    """Persist a value that fits its path, whatever the phone's faults would have it."""
    phone.changed()
    if path == BATTERY:
        phone.world[path] = value
        return
    state = phone.state
    record = phone.schema.record_of(path)
    if record and path not in state:
        state.update(phone.schema.fresh_record(record.prefix, record.number))
        last = last_id_path(record.prefix)
        phone.world[last] = max(int(phone.world.get(last, 0)), record.number)
    before = state.get(path)
    state[path] = value
    if value != before:
        follow = _FOLLOWS.get(path)
        if follow is not None:
            follow(phone, value)
        else:
            phone.wakes.look_at(path)


def schedule(phone: Phone, milliseconds: int, changes: Mapping[str, Scalar]) -> None:
    """Persist several values once, when virtual time has passed.

    Raises:
        TaskFault: a path or value does not exist on this phone; it is told at once.
    """
    wanted = dict(changes)
    for path, value in wanted.items():
        phone.schema.check(path, value)

    def fire() -> None:
        for path, value in wanted.items():
            phone.put(path, value)

    phone.after(milliseconds, fire)


def remove(phone: Phone, prefix: str) -> None:
    """Delete the record stored below a prefix."""
    start = prefix + "/"
    for path in [path for path in phone.state if path.startswith(start)]:
        del phone.state[path]
    phone.changed()
    phone.wakes.look_at(start)


def clear_data(phone: Phone, package: str) -> None:
    """Stop an app and delete all that it keeps."""
    app = phone.apps[package]
    phone.dismiss_task(package)
    for prefix in app.records:
        remove(phone, prefix)
    for path, kind in app.paths.items():
        put(phone, path, kind.start)


def _switch_radios(phone: Phone, *, airplane: bool) -> None:
    for radio in ("wifi_on", "bluetooth_on"):
        path, kept = f"settings/{radio}", f"radios/{radio}"
        if airplane:
            phone.world[kept] = phone.state[path]
            phone.state[path] = False
        else:
            # what was on before comes back; what was switched on meanwhile stays on
            phone.state[path] = bool(phone.state[path]) or bool(phone.world.pop(kept, False))


_FOLLOWS: Mapping[str, Callable[[Phone, Scalar], object]] = MappingProxyType({
    "settings/airplane_mode_on": lambda phone, on: _switch_radios(phone, airplane=bool(on)),
    "settings/density": lambda phone, dots: phone.show_on(replace(phone.display, density=int(dots))),
    "settings/font_percent": lambda phone, percent: phone.show_on(
        replace(phone.display, font_scale=int(percent) / 100)
    ),
    "settings/locale": lambda phone, _: phone.speak_anew(),
    "settings/time_format": lambda phone, _: phone.speak_anew(),
})  # fmt: skip
"""What else happens when a persisted value changes."""
