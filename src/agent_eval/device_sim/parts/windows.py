"""The windows that are on the screen: built from the pages in front, laid out, and kept until something changes.

Knows what stands where on the display, and not what a touch of it does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.apps import systemui
from agent_eval.device_sim.fitting import lay_out_fitting
from agent_eval.device_sim.hierarchy import dump_active_window, dump_all_windows
from agent_eval.device_sim.parts.bars import Bars
from agent_eval.device_sim.screen import Page, Ui
from agent_eval.device_sim.skins import arrange_rows
from agent_eval.device_sim.ui import Display, View, Window, inside, lay_out
from agent_eval.types import Bounds, PhoneSetup

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

USUAL_DISPLAY = Display()
"""The screen that pages are written for."""


def display_of(setup: PhoneSetup) -> Display:
    """Return the display that a phone begins with: its skin's, unless Settings is to say otherwise."""
    display = Display(density=setup.skin.density, font_scale=setup.skin.font_scale)
    if "settings/density" in setup.state:
        display = replace(display, density=int(setup.state["settings/density"]))
    if "settings/font_percent" in setup.state:
        display = replace(display, font_scale=int(setup.state["settings/font_percent"]) / 100)
    return display


class Windows:
    """The windows of one phone.

    Args:
        phone: The phone.
        display: What they are laid out on.
    """

    def __init__(self, phone: Phone, display: Display) -> None:
        self._phone = phone
        self._windows: tuple[Window, ...] = ()
        self.follow_milliseconds = False
        """Whether what is shown changes with every millisecond."""
        self.stale = True
        """Whether something changed since the windows were built."""
        self.show_on(display)

    def show_on(self, display: Display) -> None:
        """Build for another display, or in another language, from now on."""
        self.display = display
        self._bars = Bars(self._phone, display)
        self.stale = True

    # ------------------------------------------------------------------ what is there
    def current(self) -> tuple[Window, ...]:
        """Return the windows as they are now; see ``Phone.windows``."""
        if self.stale:
            self.follow_milliseconds = False
            self._windows = self._build()
            self.stale = False
        return self._windows

    def read(self) -> tuple[Window, ...]:
        """Return the windows as a client gets to see them, whatever the phone's faults make of that."""
        faults = self._phone.faults
        if not faults:
            return self.current()
        faults.before_read()
        return faults.read(self.current())

    def dump(self, *, compressed: bool, max_depth: int, active_only: bool) -> str:
        """Return the windows, or the active one, as uiautomator2's server dumps them."""
        windows = self.read()
        if active_only and len(windows) > 1:
            windows = (windows[1],)
        rotation = self.display.rotation
        return dump_all_windows(windows, compressed=compressed, max_depth=max_depth, rotation=rotation)

    def dump_active(self, *, compressed: bool) -> str:
        """Return the active window as the command ``uiautomator dump`` writes it; nothing when it finds none."""
        windows = self.read()
        if not windows:
            return ""
        active = windows[min(1, len(windows) - 1)]
        return dump_active_window(active, compressed=compressed, rotation=self.display.rotation)

    def at(self, x: float, y: float) -> Window | None:
        """Return the window that a finger at a point touches."""
        for window in reversed(self.current()):
            if inside(window.root.bounds, x, y):
                if window.kind in ("activity", "dialog") and y < self.status_height:
                    continue  # the status bar lies above the page
                return window
        return None

    @property
    def status_height(self) -> float:
        """Pixels of the display that the status bar is high."""
        return systemui.STATUS_HEIGHT * self.display.scale

    @property
    def area(self) -> Bounds:
        """The part of the screen left to pages, in layout pixels."""
        canvas = self.display.canvas
        shrinks = self._phone.entry.layer is not None and not self._phone.faults.keyboard_covers
        bottom = canvas.bottom - systemui.NAVIGATION_HEIGHT - (keyboard.HEIGHT if shrinks else 0)
        return Bounds(0, systemui.STATUS_HEIGHT, canvas.right, bottom)

    # ------------------------------------------------------------------ building
    def ui_of(self, page: Page) -> Ui:
        """Return what a page sees of the phone."""
        return Ui(self._phone, page, self.area, self.display.canvas)

    def _build(self) -> tuple[Window, ...]:
        phone = self._phone
        windows = [
            Window("status", systemui.PACKAGE, self._bars.status()),
            self.window_of(phone.stacks.in_focus),
        ]
        layer = phone.entry.layer
        if layer is not None:
            windows.append(Window("keyboard", keyboard.PACKAGE, self._bars.keys(layer)))
        windows.append(Window("navigation", systemui.PACKAGE, self._bars.navigation))
        alert = self._alert()
        if alert is not None:
            windows.append(Window("alert", systemui.PACKAGE, alert))
        return tuple(windows)

    def _alert(self) -> View | None:
        """Build what is shown on top of everything: an app that rings, or a notification that just came."""
        if self._phone.stacks.shade is not None:
            return None
        alert = systemui.alert(self._phone, self._phone.notices.heads_up_number)
        if alert is not None:
            lay_out(alert, self.display.canvas._replace(top=systemui.STATUS_HEIGHT), self.display)
        return alert

    def window_of(self, page: Page) -> Window:
        """Build and lay out the window of one page."""
        phone, display = self._phone, self.display
        screen = phone.screens[page.screen]
        ui = self.ui_of(page)

        def build() -> View:
            root = screen.build(ui)
            arrange_rows(page.screen, root, phone.skin.row_order)
            phone.faults.dress(ui, root)
            return root

        place = ui.area if screen.dialog else ui.canvas
        if display == USUAL_DISPLAY:
            root = build()
            scrolling = lay_out(root, place, display)
        else:
            root, scrolling = lay_out_fitting(build, place, display, page.vars)
        for view in scrolling:
            if int(page.vars.get(f"scroll/{view.scroll}", 0)) != view.offset:
                page.vars[f"scroll/{view.scroll}"] = view.offset  # the content became shorter
        phone.entry.add_toolbar(ui, root)
        return Window("dialog" if screen.dialog else "activity", screen.package or phone.owner_of(page.screen), root)
