"""Finding views by a uiautomator2 selector: masks, fields, children and siblings. Knows no transport and no gestures.

A selector is the dictionary that uiautomator2's client sends (``Selector`` in uiautomator2/_selector.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_eval.device_sim.ui import View, Window


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A visible view, with what accessibility adds to it."""

    view: View
    package: str
    index: int
    parent: Node | None
    children: list[Node]

    def below(self) -> Iterator[Node]:
        """Yield the nodes below, in document order."""
        for child in self.children:
            yield child
            yield from child.below()


def nodes_of(windows: Iterable[Window]) -> list[Node]:
    """Return the visible nodes of some windows, in document order."""
    found: list[Node] = []
    for window in windows:
        _collect(found, window.root, window.package, 0, None)
    return found


def _collect(found: list[Node], view: View, package: str, index: int, parent: Node | None) -> None:
    if view.bounds is None:
        return
    node = Node(view, package, index, parent, [])
    found.append(node)
    if parent is not None:
        parent.children.append(node)
    for position, child in enumerate(view.children):
        _collect(found, child, package, position, node)


def node_text(node: Node) -> str:
    """Return the text that accessibility reports; a password's is dots."""
    return "\u2022" * len(node.view.text) if node.view.password else node.view.text


def _whole(pattern: object, text: str) -> bool:
    return re.fullmatch(str(pattern), text, re.DOTALL) is not None


Test = Callable[[Node, Any], bool]

FIELDS: dict[str, tuple[int, Test]] = {
    "text": (0x1, lambda node, value: node_text(node) == value),
    "textContains": (0x2, lambda node, value: value in node_text(node)),
    "textMatches": (0x4, lambda node, value: _whole(value, node_text(node))),
    "textStartsWith": (0x8, lambda node, value: node_text(node).startswith(value)),
    "className": (0x10, lambda node, value: node.view.cls == value),
    "classNameMatches": (0x20, lambda node, value: _whole(value, node.view.cls)),
    "description": (0x40, lambda node, value: node.view.desc == value),
    "descriptionContains": (0x80, lambda node, value: value in node.view.desc),
    "descriptionMatches": (0x100, lambda node, value: _whole(value, node.view.desc)),
    "descriptionStartsWith": (0x200, lambda node, value: node.view.desc.startswith(value)),
    "checkable": (0x400, lambda node, value: node.view.checkable is value),
    "checked": (0x800, lambda node, value: node.view.checked is value),
    "clickable": (0x1000, lambda node, value: node.view.clickable is value),
    "longClickable": (0x2000, lambda node, value: node.view.long_clickable is value),
    "scrollable": (0x4000, lambda node, value: node.view.scrollable is value),
    "enabled": (0x8000, lambda node, value: node.view.enabled is value),
    "focusable": (0x10000, lambda node, value: node.view.focusable is value),
    "focused": (0x20000, lambda node, value: node.view.focused is value),
    "selected": (0x40000, lambda node, value: node.view.selected is value),
    "packageName": (0x80000, lambda node, value: node.package == value),
    "packageNameMatches": (0x100000, lambda node, value: _whole(value, node.package)),
    "resourceId": (0x200000, lambda node, value: node.view.id == value),
    "resourceIdMatches": (0x400000, lambda node, value: _whole(value, node.view.id)),
    "index": (0x800000, lambda node, value: node.index == value),
}
"""Field, its bit in the mask, and its test."""
INSTANCE = 0x1000000


def find(nodes: list[Node], selector: Mapping[str, Any]) -> list[Node]:
    """Return all nodes that a selector means, in document order.

    ``child`` looks below the first match so far, ``sibling`` below its parent; an ``instance`` picks one match.

    Raises:
        re.error: a pattern of the selector is not one.
    """
    found = _pick(nodes, selector)
    steps = zip(selector.get("childOrSibling", ()), selector.get("childOrSiblingSelector", ()), strict=False)
    for relation, inner in steps:
        if not found:
            return []
        start = found[0] if relation == "child" else found[0].parent
        found = _pick(list(start.below()), inner) if start is not None else []
    return found


def _pick(nodes: list[Node], selector: Mapping[str, Any]) -> list[Node]:
    mask = int(selector.get("mask", 0))
    tests = [(test, selector.get(name)) for name, (bit, test) in FIELDS.items() if mask & bit]
    found = [node for node in nodes if all(test(node, value) for test, value in tests)]
    if mask & INSTANCE:
        instance = int(selector.get("instance", 0))
        return found[instance : instance + 1] if instance >= 0 else []
    return found


def object_info(node: Node) -> dict[str, Any]:
    """Return a node as the server's ObjInfo."""
    view = node.view
    assert view.bounds is not None
    left, top, right, bottom = view.bounds
    return {
        "bounds": {"bottom": bottom, "left": left, "right": right, "top": top},
        "checkable": view.checkable,
        "checked": view.checked,
        "childCount": len(node.children),
        "className": view.cls,
        "clickable": view.clickable,
        "contentDescription": view.desc,
        "enabled": view.enabled,
        "focusable": view.focusable,
        "focused": view.focused,
        "longClickable": view.long_clickable,
        "packageName": node.package,
        "resourceName": view.id or None,
        "scrollable": view.scrollable,
        "selected": view.selected,
        "text": node_text(node),
        "visibleBounds": {"bottom": bottom, "left": left, "right": right, "top": top},
    }
