"""Faults of the phone as it starts: already so, of another look, with apps that mimic others (F10, F18, F19)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent_eval.device_sim.faults.fault import Fault
from agent_eval.device_sim.faults.screens import LOOKALIKES
from agent_eval.device_sim.screen import App
from agent_eval.types import PhoneSetup, Skin


class AlreadySet(Fault):
    """What is asked for is already so (StaR, 2509.13615)."""

    name = "already_set"
    number = "F10"
    summary = "one switch that the task sets up is turned over: already where it is wanted"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._flipped = ""

    def prepare(self, setup: PhoneSetup) -> PhoneSetup:
        """Turn one switch of the setup over."""
        switches = sorted(path for path, value in setup.state.items() if type(value) is bool)
        if not switches:
            return setup
        self._flipped = self.rng.choice(switches)
        return replace(setup, state={**setup.state, self._flipped: not setup.state[self._flipped]})

    def begin(self) -> None:
        """Note what was turned over."""
        if self._flipped:
            self.fire(f"{self._flipped} is {'on' if self.phone.state[self._flipped] else 'off'} from the start")


class RandomSkin(Fault):
    """The phone is not the one that its users' manual shows."""

    name = "skin"
    number = "F18"
    summary = "language, text size, density, wording, row order and theme are drawn, unless set"

    def prepare(self, setup: PhoneSetup) -> PhoneSetup:
        """Draw the skin."""
        dark = self.rng.random() < 0.5
        state = {"settings/dark_theme": dark, **setup.state}
        skin = Skin.drawn(self.rng.randrange(1 << 30)) if setup.skin == Skin() else setup.skin
        return replace(setup, state=state, skin=skin)

    def begin(self) -> None:
        """Note what was drawn."""
        skin = self.phone.skin
        dark = "dark" if self.phone.state["settings/dark_theme"] else "light"
        self.fire(
            f"{skin.locale}, text {skin.font_scale:g}, {skin.density} dpi, {skin.wording or 'usual'} wording, "
            f"row order {skin.row_order}, {dark} theme"
        )


class LookalikeApp(Fault):
    """An app calls itself almost as another does."""

    name = "lookalike_app"
    number = "F19"
    summary = '"Settlngs" and "Clock+" stand beside the apps that they mimic, and change nothing'

    def installed(self, apps: Mapping[str, App]) -> Mapping[str, App]:
        """Install them."""
        return {**apps, **{app.package: app for original, app in LOOKALIKES.items() if original in apps}}

    def begin(self) -> None:
        """Put each beside the one that it looks like, on the side that the seed says."""
        order = str(self.phone.world["launcher/order"]).split(",")
        for original, app in LOOKALIKES.items():
            if original in order:
                order.insert(order.index(original) + self.rng.randrange(2), app.package)
                self.fire(f"{app.label} stands beside {self.phone.apps[original].label}")
        self.phone.world["launcher/order"] = ",".join(order)
