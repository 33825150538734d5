"""Under which conditions a run's phones are: their skin and their faults. Knows not how a phone comes by them.

Tasks prepare a phone without asking; the conditions of the run are added to each setup on its way to the phone, so that
every task can be played under every condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent_eval.contracts import PhoneControl
from agent_eval.errors import OperatorError
from agent_eval.types import FiredFault, PhoneSetup, Scalar, Skin, Snapshot

SKINS: Mapping[str, Skin] = {
    "default": Skin(),
    "german": Skin(locale="de"),
    "chinese": Skin(locale="zh"),
    "large-text": Skin(font_scale=1.3),
    "small-screen": Skin(density=400),
    "wlan": Skin(wording="wlan"),
    "reordered": Skin(row_order=7),
    "vendor": Skin(wording="wlan", row_order=7),
}
"""Skins with a name; ``random`` draws one for each phone from its seed."""
RANDOM_SKIN = "random"


@dataclass(frozen=True)
class Conditions:
    """What every phone of a run has besides what its task asks for."""

    skin: str = "default"
    """A name of ``SKINS``, or ``random``."""
    faults: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.skin != RANDOM_SKIN and self.skin not in SKINS:
            raise OperatorError(
                f"unknown skin {self.skin!r}", hint=f"the skins are {', '.join(SKINS)} and {RANDOM_SKIN}"
            )

    def added_to(self, setup: PhoneSetup) -> PhoneSetup:
        """Return a setup under these conditions; what the setup itself asks for stays."""
        skin = Skin.drawn(setup.seed) if self.skin == RANDOM_SKIN else SKINS[self.skin]
        return replace(
            setup,
            skin=skin if setup.skin == Skin() else setup.skin,
            faults=(*setup.faults, *(name for name in self.faults if name not in setup.faults)),
        )


class ConditionedPhone:
    """Implements ``contracts.PhoneControl`` on another one, adding conditions to each setup.

    Args:
        phone: The phone.
        conditions: What to add.
    """

    def __init__(self, phone: PhoneControl, conditions: Conditions) -> None:
        self._phone = phone
        self._conditions = conditions

    def reset(self, setup: PhoneSetup) -> None:
        """Make the phone a fresh one under the conditions."""
        self._phone.reset(self._conditions.added_to(setup))

    def snapshot(self) -> Snapshot:
        """Return the state as it is now."""
        return self._phone.snapshot()

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Change persisted paths when virtual time has passed."""
        self._phone.schedule(after_s, changes)

    def fired(self) -> tuple[FiredFault, ...]:
        """Return the faults that showed since the last reset."""
        return self._phone.fired()
