"""From the windows of a phone to a numbered list of elements. Knows nothing of prompts, models or devices.

The windows come as a uiautomator dump, or as they are from a phone in this process; both are read the same way.

Android screens put the words in children that cannot be tapped and the state on a switch that cannot be tapped either;
the row around them takes the tap. As a screen reader does, an actionable node speaks for the silent nodes that it
groups: its first text is the label, the others the value, and a switch inside lends its role and state.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lxml import etree

from agent_eval.errors import DeviceFault
from agent_eval.types import NO_NUMBER, Bounds, Element, Observation

_ROLES = {
    "EditText": "field",
    "AutoCompleteTextView": "field",
    "SeekBar": "slider",
    "Switch": "switch",
    "SwitchCompat": "switch",
    "ToggleButton": "switch",
    "CheckBox": "checkbox",
    "RadioButton": "radio",
    "CheckedTextView": "radio",
    "Button": "button",
    "ImageButton": "button",
    "TextView": "button",
    "ImageView": "button",
    "View": "button",
}
"""Short class name of an actionable node to role; any other class is a ``row``."""

_ACTIONABLE_CLASSES = frozenset({"EditText", "AutoCompleteTextView", "SeekBar"})
_STATEFUL = {"switch": ("off", "on"), "checkbox": ("unchecked", "checked"), "radio": ("unchecked", "checked")}
_CHROME_HEIGHT = 0.15
"""A window of the system UI at an edge and lower than this share of the screen is a bar, not content."""
_LEAST_PART = 0.2
"""Share of a part that must be left beside what lies over it, to be touched there."""
_KEYBOARD = re.compile(r"inputmethod|keyboard", re.IGNORECASE)
_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold; a dump has dots instead (AccessibilityNodeInfoDumper#stripInvalidXMLChars)."""


class ScreenNode(Protocol):
    """One node of a window, as accessibility reports it."""

    @property
    def cls(self) -> str: ...
    @property
    def children(self) -> Sequence[ScreenNode]: ...
    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def desc(self) -> str: ...
    @property
    def hint(self) -> str: ...
    @property
    def clickable(self) -> bool: ...
    @property
    def long_clickable(self) -> bool: ...
    @property
    def checkable(self) -> bool: ...
    @property
    def checked(self) -> bool: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def focused(self) -> bool: ...
    @property
    def selected(self) -> bool: ...
    @property
    def password(self) -> bool: ...
    @property
    def scrollable(self) -> bool: ...
    @property
    def bounds(self) -> Bounds | None:
        """What of it can be seen; None for nothing, here and below."""
        ...


class ScreenWindow(Protocol):
    """One window."""

    @property
    def package(self) -> str: ...
    @property
    def root(self) -> ScreenNode: ...


def read_screen(xml: str, app_names: Mapping[str, str]) -> Observation:
    """Turn a window dump into an observation of the window that takes the input.

    Args:
        xml: What ``dumpWindowHierarchy`` returned: one root per window.
        app_names: Package to the name that people use for it.

    Raises:
        DeviceFault: the dump is not XML or shows no window with content.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        hierarchy = etree.fromstring(xml.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        raise DeviceFault(
            f"the window dump is not XML: {error}", hint="is uiautomator running on the device?"
        ) from error
    windows = [_DumpedWindow(root.get("package", ""), _dumped(root)) for root in hierarchy if isinstance(root.tag, str)]
    return read_windows(windows, app_names)


def read_windows(windows: Iterable[ScreenWindow], app_names: Mapping[str, str]) -> Observation:
    """Turn windows into an observation of the one that takes the input, and of the alerts that lie over it.

    Args:
        windows: As ``dumpWindowHierarchy`` lists them.
        app_names: Package to the name that people use for it.

    Raises:
        DeviceFault: there is no window with content.
    """
    shown = [(window, bounds) for window in windows if (bounds := window.root.bounds) is not None]
    height = max((bounds.bottom for _, bounds in shown), default=0)
    keyboards = [bounds for window, bounds in shown if _is_keyboard(window.package)]
    contents = [
        window
        for window, bounds in shown
        if not _is_keyboard(window.package) and not _is_chrome(window.package, bounds, height)
    ]
    if not contents:
        raise DeviceFault("the window dump shows no window with content", hint="is the screen on and unlocked?")
    window = contents[0]  # android.app.UiAutomation#getWindows: in descending order of their layer
    alerts = [other for other in contents[1:] if "systemui" in other.package]  # a notification over the page
    reader = _Reader(keyboards[0].top if keyboards else height)
    for alert in alerts:
        reader.read(alert.root)
    in_alerts = len(reader.found)
    reader.covering = tuple(bounds for alert in alerts if (bounds := alert.root.bounds) is not None)
    reader.read(window.root)
    return Observation(
        elements=tuple(reader.found),
        app=app_names.get(window.package, window.package),
        package=window.package,
        keyboard_open=bool(keyboards),
        scrollable=reader.scrollable,
        alerts=in_alerts,
        behind=tuple(reader.behind),
    )


@dataclass(slots=True)
class _Found:
    """What can be acted on or read, before it is known whether something lies over it."""

    role: str
    label: str
    bounds: Bounds
    states: tuple[str, ...]
    value: str
    end: int = 0
    """Place after the last of those found inside it."""

    def numbered(self, index: int) -> Element:
        """Return it as an element."""
        return Element(index, self.role, self.label, self.bounds, self.states, self.value)


class _Reader:
    """Reads windows, every node of it once or, where a row groups silent ones, twice.

    Args:
        covered: Where the keyboard begins, from the top of the screen.
    """

    def __init__(self, covered: int) -> None:
        self.found: list[Element] = []
        self.behind: list[Element] = []
        self.scrollable = False
        self.covering: tuple[Bounds, ...] = ()
        """What lies over what is read next and takes the taps there."""
        self._covered = covered
        self._parts: list[_Found] = []  # of the window that is being read, in document order
        self._actionable: set[int] = set()  # nodes that can be acted on
        self._acting_inside: set[int] = set()  # nodes with such a node below them

    def read(self, root: ScreenNode) -> None:
        """Note the elements of a window, and which of them take no tap because something lies over them."""
        self._look_inside(root)
        self._parts = []
        self._elements(root, "", in_list=False)
        for place, part in enumerate(self._parts):
            free = self._free_part(place)
            if free is None:
                self.behind.append(part.numbered(NO_NUMBER))
                continue
            part.bounds = free
            self.found.append(part.numbered(len(self.found)))

    def _free_part(self, place: int) -> Bounds | None:
        """Return what of a part a finger can meet in its middle; None where something lies over nearly all of it.

        What comes later in a document is drawn over what comes before; only what takes taps gets in the way. What lies
        inside a part is not over it, but is no place to touch it either.
        """
        part = self._parts[place]
        free = part.bounds
        over = [other.bounds for other in self._parts[part.end :] if other.role != "text"]
        while (cover := next((one for one in over if _holds(one, free)), None)) is not None:
            sides = [side for side in _beside(free, cover) if _area(side) >= _LEAST_PART * _area(part.bounds)]
            if not sides:
                return None
            inside = [other.bounds for other in self._parts[place + 1 : part.end]]
            sides.sort(key=lambda side: (any(_holds(one, side) for one in (*over, *inside)), -_area(side)))
            free = sides[0]
        if free.center[1] >= self._covered or any(_holds(window, free) for window in self.covering):
            return None
        return free

    def _look_inside(self, node: ScreenNode) -> bool:
        """Note which nodes are actionable and which have such a node below them; tell whether it is one of either."""
        acting = False
        for child in node.children:
            if child.bounds is not None and self._look_inside(child):
                acting = True
        if node.scrollable:
            self.scrollable = True
        if acting:
            self._acting_inside.add(id(node))
        if node.clickable or node.long_clickable or _short_class(node.cls) in _ACTIONABLE_CLASSES:
            self._actionable.add(id(node))
            return True
        return acting

    def _elements(self, node: ScreenNode, context: str, *, in_list: bool) -> None:
        """Note what can be acted on or read at and below a node, in document order.

        Args:
            node: Where to look.
            context: The description or first text around an unlabelled control, such as the time on an alarm's card.
            in_list: Whether the node is a direct child of something that scrolls: exactly one item of a list.
        """
        bounds = node.bounds
        if bounds is None or bounds.right <= bounds.left or bounds.bottom <= bounds.top:
            return
        own = _own_label(node)
        if id(node) in self._actionable:
            place = len(self._parts)
            context = self._act(node, own, bounds, context)
            if id(node) in self._acting_inside:
                added = len(self._parts) > place
                for child in node.children:
                    if id(child) in self._acting_inside or id(child) in self._actionable:
                        self._elements(child, context, in_list=node.scrollable)
                if added:
                    self._parts[place].end = len(self._parts)
            return
        if own and id(node) not in self._acting_inside and any(sign.isalnum() for sign in own):
            self._add("text", own, bounds, _states(node, "text"))
        context = own or (_first_text(node) if in_list else "") or context
        for child in node.children:
            if child.bounds is not None:
                self._elements(child, context, in_list=node.scrollable)

    def _act(self, node: ScreenNode, own: str, bounds: Bounds, context: str) -> str:
        """Note a node that can be acted on by its own words, those that it groups, or those around it; return them.

        One without words, description or name is left out: there is nothing that an agent could choose it by.
        """
        # a card around controls of its own does not speak for them, nor for the texts between them
        parts: list[ScreenNode] = []
        if not own or id(node) not in self._acting_inside:
            self._silent_parts(node, parts)
        texts = [label for part in parts if (label := _own_label(part))]
        switch = node if node.checkable else next((part for part in parts if part.checkable), node)
        role = _role(switch)
        states = _states(switch, role)
        if role in ("field", "slider"):
            label = (
                _legal(node.desc) or _legal(node.hint) or next(iter(texts), "") or context or _name(node)
            )  # a field's own text is its value
            value = _text(node)
        else:
            label = own or (texts.pop(0) if texts else "") or context or _name(node)
            value = ", ".join(text for text in texts if text not in label)
        if label:
            self._add(role, label, bounds, states, value)
        return label

    def _silent_parts(self, node: ScreenNode, parts: list[ScreenNode]) -> None:
        """Collect the descendants that an actionable node speaks for: those not actionable themselves."""
        for child in node.children:
            if child.bounds is not None and id(child) not in self._actionable:
                parts.append(child)
                if child.children:
                    self._silent_parts(child, parts)

    def _add(self, role: str, label: str, bounds: Bounds, states: tuple[str, ...], value: str = "") -> None:
        self._parts.append(_Found(role, label, bounds, states, value, len(self._parts) + 1))


def _holds(over: Bounds, under: Bounds) -> bool:
    """Tell whether a rectangle holds the middle of another."""
    x, y = under.center
    return over.left <= x < over.right and over.top <= y < over.bottom


def _beside(whole: Bounds, hole: Bounds) -> tuple[Bounds, ...]:
    """Return what is left of a rectangle to the left and right of another, above and below it; some may be empty."""
    left, top, right, bottom = whole
    return (
        Bounds(left, top, hole.left, bottom),
        Bounds(hole.right, top, right, bottom),
        Bounds(left, top, right, hole.top),
        Bounds(left, hole.bottom, right, bottom),
    )


def _area(bounds: Bounds) -> int:
    return max(bounds.right - bounds.left, 0) * max(bounds.bottom - bounds.top, 0)


def _first_text(node: ScreenNode) -> str:
    """Return the first words below a node; a container in a list holds one item, which they name."""
    return next((label for below in _descendants(node) if (label := _own_label(below))), "")


def _descendants(node: ScreenNode) -> Iterator[ScreenNode]:
    for child in node.children:
        if child.bounds is not None:
            yield child
            yield from _descendants(child)


def _own_label(node: ScreenNode) -> str:
    if not (node.text or node.desc):
        return ""
    return (_text(node) or _legal(node.desc)).strip()


def _text(node: ScreenNode) -> str:
    return "\u2022" * len(node.text) if node.password else _legal(node.text)


@functools.lru_cache(maxsize=8192)
def _legal(text: str) -> str:
    return _ILLEGAL.sub(".", text)


def _name(node: ScreenNode) -> str:
    return node.id.rpartition("/")[2].replace("_", " ")


def _role(node: ScreenNode) -> str:
    role = _ROLES.get(_short_class(node.cls), "row")
    return "radio" if role == "button" and node.checkable else role


def _states(node: ScreenNode, role: str) -> tuple[str, ...]:
    if role not in _STATEFUL and node.enabled and not node.selected and not node.focused:
        return ()
    states = []
    if role in _STATEFUL:
        states.append(_STATEFUL[role][node.checked])
    if node.selected:
        states.append("selected")
    if role == "field" and node.focused:
        states.append("focused")
    if not node.enabled:
        states.append("disabled")
    return tuple(states)


@functools.lru_cache(maxsize=1024)
def _is_keyboard(package: str) -> bool:
    return _KEYBOARD.search(package) is not None


def _is_chrome(package: str, bounds: Bounds, height: int) -> bool:
    at_an_edge = bounds.top == 0 or bounds.bottom == height
    low = bounds.bottom - bounds.top < _CHROME_HEIGHT * height
    return "systemui" in package and at_an_edge and low


@functools.lru_cache(maxsize=1024)
def _short_class(cls: str) -> str:
    return cls.rpartition(".")[2]


# ----------------------------------------------------------------------------------------------------------------------
# dumps

Xml = Any  # lxml ships no types


@dataclass(slots=True)
class _DumpedNode:
    """A node of a dump; dots already stand for passwords and for what XML cannot hold."""

    cls: str
    children: tuple[_DumpedNode, ...]
    id: str
    text: str
    desc: str
    hint: str
    clickable: bool
    long_clickable: bool
    checkable: bool
    checked: bool
    enabled: bool
    focused: bool
    selected: bool
    scrollable: bool
    bounds: Bounds
    password: bool = False


@dataclass(slots=True)
class _DumpedWindow:
    package: str
    root: _DumpedNode


def _dumped(node: Xml) -> _DumpedNode:
    """Read a node and what can be seen below it."""
    get = node.get
    return _DumpedNode(
        cls=get("class", ""),
        children=tuple(
            _dumped(child)
            for child in node
            if isinstance(child.tag, str) and child.get("visible-to-user", "true") != "false"
        )
        if len(node) and get("visible-to-user", "true") != "false"
        else (),
        id=get("resource-id", ""),
        text=get("text", ""),
        desc=get("content-desc", ""),
        hint=get("hint", ""),
        clickable=get("clickable") == "true",
        long_clickable=get("long-clickable") == "true",
        checkable=get("checkable") == "true",
        checked=get("checked") == "true",
        enabled=get("enabled") != "false",
        focused=get("focused") == "true",
        selected=get("selected") == "true",
        scrollable=get("scrollable") == "true",
        bounds=_bounds(get("bounds", "")),
    )


def _bounds(text: str) -> Bounds:
    match = _BOUNDS.fullmatch(text)
    return Bounds(*(int(number) for number in match.groups())) if match else Bounds(0, 0, 0, 0)
