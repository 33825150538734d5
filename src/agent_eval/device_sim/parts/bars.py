"""The windows of the system that change rarely: status bar, navigation bar, keyboard; each is built once and kept.

Knows neither pages nor what the keys do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.apps import systemui
from agent_eval.device_sim.ui import Display, View, lay_out
from agent_eval.types import Bounds

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone


class Bars:
    """The system's windows on one display, in the phone's language of the moment. Their text has one size.

    Args:
        phone: The phone.
        display: What they are laid out on.
    """

    def __init__(self, phone: Phone, display: Display) -> None:
        self._phone = phone
        self._display = replace(display, font_scale=1.0)
        self._keyboards: dict[keyboard.Layer, View] = {}
        self._status: tuple[tuple[object, ...], View] | None = None
        self._status_seen: tuple[int, int, int] = (0, 0, 0)
        self.navigation = systemui.navigation_bar(
            phone, lambda: phone.key("back"), lambda: phone.key("home"), lambda: phone.key("recent")
        )
        canvas = display.canvas
        place = Bounds(0, canvas.bottom - systemui.NAVIGATION_HEIGHT, canvas.right, canvas.bottom)
        lay_out(self.navigation, place, self._display)

    def status(self) -> View:
        """Return the status bar as it is now."""
        phone = self._phone
        seen = (phone.state.version, phone.world.version, phone.clock.now_ms // 60_000)
        if self._status is None or self._status_seen != seen:
            key = systemui.status_key(phone)
            if self._status is None or self._status[0] != key:
                bar = systemui.status_bar(phone)
                lay_out(bar, Bounds(0, 0, self._display.canvas.right, systemui.STATUS_HEIGHT), self._display)
                self._status = (key, bar)
            self._status_seen = seen
        return self._status[1]

    def keys(self, layer: keyboard.Layer) -> View:
        """Return the keyboard with one of its layers."""
        view = self._keyboards.get(layer)
        if view is None:
            view = keyboard.keyboard(layer, self._phone.entry.press_soft_key)
            canvas = self._display.canvas
            bottom = canvas.bottom - systemui.NAVIGATION_HEIGHT
            lay_out(view, Bounds(0, bottom - keyboard.HEIGHT, canvas.right, bottom), self._display)
            self._keyboards[layer] = view
        return view
