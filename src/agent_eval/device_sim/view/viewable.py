"""What the page needs of a phone, and a phone as such a thing. Knows no HTTP."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from agent_eval.device_sim.events import Event
from agent_eval.device_sim.phone import Phone
from agent_eval.types import Snapshot

T = TypeVar("T")


class Size(NamedTuple):
    """Pixels of a screen as it is held."""

    width: int
    height: int


class Viewable(Protocol):
    """A phone that a person looks into. No method raises for coordinates or texts of any kind."""

    @property
    def version(self) -> str:
        """Something that differs whenever the screen may look different."""
        ...

    @property
    def size(self) -> Size: ...
    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the epoch."""
        ...

    @property
    def title(self) -> str:
        """What is in front, in words."""
        ...

    def screenshot_png(self) -> bytes: ...
    def tree(self) -> str:
        """Return the element tree as XML, as clients get it."""
        ...

    def events(self, since: int) -> tuple[Event, ...]:
        """Return the events after the one with this number, oldest first."""
        ...

    def gaps(self) -> Mapping[str, int]:
        """Return what was asked for that this phone does not have, and how often."""
        ...

    def tap(self, x: float, y: float) -> None: ...
    def long_press(self, x: float, y: float) -> None: ...
    def swipe(self, x1: float, y1: float, x2: float, y2: float, milliseconds: int) -> None: ...
    def key(self, name: str) -> bool:
        """Press a key; tell whether the phone has it."""
        ...

    def text(self, text: str) -> bool:
        """Type into the focused field; tell whether there is one."""
        ...


class PhoneView:
    """A simulated phone to look into.

    Args:
        phone: Touched only from the caller's thread.
        settle: Called before every look and every touch, so that a phone in real time catches up first.
        touched: Called after every touch, so that whoever waits for the phone can look again.
    """

    def __init__(
        self,
        phone: Phone,
        *,
        settle: Callable[[], object] | None = None,
        touched: Callable[[], object] | None = None,
    ) -> None:
        self._phone = phone
        self._settle = settle
        self._touched = touched
        self._png = ("", b"")

    @property
    def version(self) -> str:
        """Digest of what is shown, and of all state but the clock, which may move without anything to see."""
        self._catch_up()
        snapshot = self._phone.snapshot()
        still = tuple(pair for pair in snapshot.transient if not pair[0].startswith("clock/"))
        seen = hashlib.sha256(self._phone.hierarchy_xml().encode())
        seen.update(Snapshot(snapshot.persisted, still).digest.encode())
        seen.update(repr(self._phone.display).encode())
        return seen.hexdigest()[:16]

    @property
    def size(self) -> Size:
        """Pixels of the screen as it is held."""
        return Size(self._phone.display.width, self._phone.display.height)

    @property
    def now_ms(self) -> int:
        """Virtual milliseconds since the epoch."""
        return self._phone.clock.now_ms

    @property
    def title(self) -> str:
        """Activity and page in front."""
        front = self._phone.front
        return f"{front.package}/{front.activity}"

    def screenshot_png(self) -> bytes:
        """Return the screen as a PNG; the latest one is kept."""
        version = self.version
        if self._png[0] != version:
            target = io.BytesIO()
            self._phone.screenshot().save(target, "PNG", compress_level=1)
            self._png = (version, target.getvalue())
        return self._png[1]

    def tree(self) -> str:
        """Return the element tree as uiautomator2's server dumps it."""
        self._catch_up()
        return self._phone.hierarchy_xml()

    def events(self, since: int) -> tuple[Event, ...]:
        """Return the events after one, oldest first."""
        return self._phone.events.since(since)

    def gaps(self) -> Mapping[str, int]:
        """Return what was asked for in vain."""
        return self._phone.events.gaps

    def tap(self, x: float, y: float) -> None:
        """Touch a point."""
        self._touch(lambda: self._phone.tap(x, y))

    def long_press(self, x: float, y: float) -> None:
        """Touch a point and hold it."""
        self._touch(lambda: self._phone.long_press(x, y))

    def swipe(self, x1: float, y1: float, x2: float, y2: float, milliseconds: int) -> None:
        """Move a finger."""
        self._touch(lambda: self._phone.swipe(x1, y1, x2, y2, milliseconds / 1000))

    def key(self, name: str) -> bool:
        """Press a key."""
        return self._touch(lambda: self._phone.key(name))

    def text(self, text: str) -> bool:
        """Type into the focused field."""
        return self._touch(lambda: self._phone.type_text(text))

    def _catch_up(self) -> None:
        if self._settle is not None:
            self._settle()

    def _touch(self, act: Callable[[], T]) -> T:
        self._catch_up()
        result = act()
        if self._touched is not None:
            self._touched()
        return result
