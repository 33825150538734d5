"""A finger for the tests: finds what it touches by what the screen says, and touches its middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2.selectors import FIELDS, Node, find, nodes_of
from agent_eval.types import PhoneSetup, Scalar


class Finger:
    def __init__(self, phone: Phone) -> None:
        self.phone = phone

    def all(self, **fields: Any) -> list[Node]:
        mask = sum(FIELDS[name][0] for name in fields)
        return find(nodes_of(self.phone.windows), {"mask": mask, **fields})

    def sees(self, **fields: Any) -> bool:
        return bool(self.all(**fields))

    def one(self, **fields: Any) -> Node:
        found = self.all(**fields)
        assert found, f"{fields} is not among {self.texts}"
        return found[0]

    @property
    def texts(self) -> list[str]:
        return [node.view.text or node.view.desc for node in self.all() if node.view.text or node.view.desc]

    def center(self, **fields: Any) -> tuple[int, int]:
        bounds = self.one(**fields).view.bounds
        assert bounds is not None
        return bounds.center

    def tap(self, **fields: Any) -> None:
        self.phone.tap(*self.center(**fields))

    def path(self, *texts: str) -> None:
        """Tap one text after the other, scrolling down to those below the fold."""
        for text in texts:
            for _ in range(10):
                if self.sees(text=text):
                    break
                self.phone.swipe(360, 900, 360, 500)
            self.tap(text=text)

    def switch_beside(self, title: str) -> bool:
        """Tell the state of the switch in the row that holds a title."""
        row = self.one(text=title)
        while row.parent is not None and not row.view.clickable:
            row = row.parent
        switch = next(node for node in row.below() if node.view.checkable)
        return switch.view.checked


@pytest.fixture
def make() -> Callable[..., Finger]:
    def build(seed: int = 1, *, keep_alarms: bool = False, **state: Scalar) -> Finger:
        wanted = {name.replace("__", "/"): value for name, value in state.items()}
        return Finger(Phone(PhoneSetup(seed=seed, state=wanted, keep_alarms=keep_alarms)))

    return build


@pytest.fixture
def settings(make: Callable[..., Finger]) -> Finger:
    finger = make(
        settings__wifi_on=False, settings__bluetooth_on=True, settings__dark_theme=False, settings__brightness=100
    )
    finger.phone.world["skin/ascii_hyphen"] = False
    finger.phone.open_app("com.android.settings")
    return finger


@pytest.fixture
def clock(make: Callable[..., Finger]) -> Finger:
    state: dict[str, Scalar] = {
        "clock__alarm__1__hour": 7, "clock__alarm__1__minute": 30, "clock__alarm__1__enabled": False,
        "clock__alarm__2__hour": 18, "clock__alarm__2__minute": 5, "clock__alarm__2__label": "Gym",
    }  # fmt: skip
    finger = make(**state)
    finger.phone.open_app("com.android.deskclock")
    return finger
