"""The reader of screens as it was before it was made fast: by the dump alone, and over every node many times.

The fast one must find exactly the same.

Android screens put the words in children that cannot be tapped and the state on a switch that cannot be tapped either;
the row around them takes the tap. As a screen reader does, an actionable node speaks for the silent nodes that it
groups: its first text is the label, the others the value, and a switch inside lends its role and state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree

from agent_eval.errors import DeviceFault
from agent_eval.types import Bounds, Element, Observation

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

_STATEFUL = {"switch": ("off", "on"), "checkbox": ("unchecked", "checked"), "radio": ("unchecked", "checked")}
_CHROME_HEIGHT = 0.15
"""A window of the system UI at an edge and lower than this share of the screen is a bar, not content."""
_KEYBOARD = re.compile(r"inputmethod|keyboard", re.IGNORECASE)
_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")

Node = Any  # lxml ships no types


def read_screen(xml: str, app_names: dict[str, str]) -> Observation:
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
    windows = [window for window in hierarchy if isinstance(window.tag, str)]
    height = max((_bounds(window).bottom for window in windows), default=0)
    keyboards = [window for window in windows if _KEYBOARD.search(window.get("package", ""))]
    contents = [window for window in windows if window not in keyboards and not _is_chrome(window, height)]
    if not contents:
        raise DeviceFault("the window dump shows no window with content", hint="is the screen on and unlocked?")
    window = contents[0]  # android.app.UiAutomation#getWindows: in descending order of their layer
    keyboard = _bounds(keyboards[0]).top if keyboards else height
    package = window.get("package", "")
    alerts = [other for other in contents[1:] if "systemui" in other.get("package", "")]
    found: list[Element] = []
    behind: list[Element] = []
    in_alerts = 0
    for one in (*alerts, window):
        covers = [] if one is not window else [_bounds(alert) for alert in alerts]
        in_alerts = len(found) if one is window else 0
        parts = list(_elements(one, ""))
        for place, part in enumerate(parts):
            free = _free(part, parts[place + 1 :])
            if free is None or free.center[1] >= keyboard or any(_holds(box, *free.center) for box in covers):
                behind.append(part.numbered(-1))
            else:
                found.append(part._replace(bounds=free).numbered(len(found)))
    return Observation(
        elements=tuple(found),
        app=app_names.get(package, package),
        package=package,
        keyboard_open=bool(keyboards),
        scrollable=any(node.get("scrollable") == "true" for one in (*alerts, window) for node in one.iter("node")),
        alerts=in_alerts,
        behind=tuple(behind),
    )


def _free(part: _Found, later: list[_Found]) -> Bounds | None:
    """Return what is left of a part beside what lies over its middle, a piece of a fifth at least."""
    over = [one.bounds for one in later if one.acts and part.node not in one.way]
    inside = [one.bounds for one in later if part.node in one.way]
    whole = free = part.bounds
    while True:
        holes = [box for box in over if _holds(box, *free.center)]
        if not holes:
            return free
        hole = holes[0]
        pieces: list[tuple[bool, int, int, Bounds]] = []
        for piece in (
            free._replace(right=hole.left),
            free._replace(left=hole.right),
            free._replace(bottom=hole.top),
            free._replace(top=hole.bottom),
        ):
            if piece.right > piece.left and piece.bottom > piece.top and _size(piece) >= 0.2 * _size(whole):
                taken = any(_holds(box, *piece.center) for box in over + inside)
                pieces.append((taken, -_size(piece), len(pieces), piece))
        if not pieces:
            return None
        free = min(pieces)[3]


def _size(box: Bounds) -> int:
    return (box.right - box.left) * (box.bottom - box.top)


def _holds(box: Bounds, x: int, y: int) -> bool:
    return box.left <= x < box.right and box.top <= y < box.bottom


class _Found(NamedTuple):
    """An element that has no number yet."""

    role: str
    label: str
    bounds: Bounds
    states: tuple[str, ...]
    value: str
    node: Node
    acts: bool

    @property
    def way(self) -> list[Node]:
        """What it lies inside, and itself."""
        return [self.node, *self.node.iterancestors()]

    def numbered(self, index: int) -> Element:
        """Return the element."""
        return Element(index, self.role, self.label, self.bounds, self.states, self.value)


def _elements(node: Node, context: str) -> Iterator[_Found]:
    """Yield what can be acted on or read below a node, in document order.

    Args:
        node: Where to look.
        context: The description or first text around an unlabelled control, such as the time on an alarm's card.
    """
    if node.get("visible-to-user", "true") == "false":
        return
    bounds = _bounds(node)
    if bounds.right <= bounds.left or bounds.bottom <= bounds.top:
        return
    own = _own_label(node)
    if _is_actionable(node):
        found = _actionable(node, own, bounds, context)
        if found.label:  # without words, description or name there is nothing that an agent could choose it by
            yield found
        around, silent = found.label, False
    else:
        if any(sign.isalnum() for sign in own) and not _has_actionable(node):
            yield _Found("text", own, bounds, _states(node, "text"), "", node, acts=False)
        around = own or (_first_text(node) if _groups_one_item(node) else "") or context
        silent = True
    for child in node:
        if silent or _has_actionable(child) or _is_actionable(child):
            yield from _elements(child, around)


def _actionable(node: Node, own: str, bounds: Bounds, context: str) -> _Found:
    """Name a node that can be acted on by its own words, those that it groups, or those that stand around it."""
    # a card around controls of its own does not speak for them, nor for the texts between them
    parts = [] if own and _has_actionable(node) else list(_silent_parts(node))
    texts = [label for label in (_own_label(part) for part in parts) if label]
    switch = next((part for part in (node, *parts) if part.get("checkable") == "true"), node)
    role = _role(switch)
    states = _states(switch, role)
    name = _id(node).rpartition("/")[2].replace("_", " ")
    if role in ("field", "slider"):
        label = node.get("content-desc") or node.get("hint") or next(iter(texts), "") or context or name
        return _Found(role, label, bounds, states, node.get("text") or "", node, acts=True)
    label = own or (texts.pop(0) if texts else "") or context or name
    value = ", ".join(text for text in texts if text not in label)
    return _Found(role, label, bounds, states, value, node, acts=True)


def _silent_parts(node: Node) -> Iterator[Node]:
    """Yield the visible descendants that an actionable node speaks for: those not actionable themselves."""
    for child in node:
        if child.get("visible-to-user", "true") != "false" and not _is_actionable(child):
            yield child
            yield from _silent_parts(child)


def _is_actionable(node: Node) -> bool:
    return (
        node.get("clickable") == "true"
        or node.get("long-clickable") == "true"
        or _short_class(node) in ("EditText", "AutoCompleteTextView", "SeekBar")
    )


def _has_actionable(node: Node) -> bool:
    return any(_is_actionable(below) for below in node.iterdescendants("node"))


def _groups_one_item(node: Node) -> bool:
    """Tell whether a container holds one item of a list: exactly one of its texts is large enough to name it."""
    return node.getparent() is not None and node.getparent().get("scrollable") == "true"


def _first_text(node: Node) -> str:
    return next((label for label in (_own_label(below) for below in node.iterdescendants("node")) if label), "")


def _own_label(node: Node) -> str:
    return (node.get("text") or node.get("content-desc") or "").strip()


def _role(node: Node) -> str:
    role = _ROLES.get(_short_class(node), "row")
    return "radio" if role == "button" and node.get("checkable") == "true" else role


def _states(node: Node, role: str) -> tuple[str, ...]:
    states = []
    if role in _STATEFUL:
        states.append(_STATEFUL[role][node.get("checked") == "true"])
    if node.get("selected") == "true":
        states.append("selected")
    if role == "field" and node.get("focused") == "true":
        states.append("focused")
    if node.get("enabled") == "false":
        states.append("disabled")
    return tuple(states)


def _is_chrome(window: Node, height: int) -> bool:
    bounds = _bounds(window)
    at_an_edge = bounds.top == 0 or bounds.bottom == height
    low = bounds.bottom - bounds.top < _CHROME_HEIGHT * height
    return "systemui" in window.get("package", "") and at_an_edge and low


def _short_class(node: Node) -> str:
    return str(node.get("class", "")).rpartition(".")[2]


def _id(node: Node) -> str:
    return str(node.get("resource-id", ""))


def _bounds(node: Node) -> Bounds:
    match = _BOUNDS.fullmatch(node.get("bounds", ""))
    return Bounds(*(int(number) for number in match.groups())) if match else Bounds(0, 0, 0, 0)
