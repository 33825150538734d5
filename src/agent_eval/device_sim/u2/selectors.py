"""Finding views by a uiautomator2 selector: masks, fields, children and siblings. Knows no transport and no gestures.

A selector is the dictionary that uiautomator2's client sends (``Selector`` in uiautomator2/_selector.py). The server
looks for it in one of two ways: a plain one among all windows (androidx.test.uiautomator.By), one with an index, an
instance or a chain of children and siblings in the active window only, step by step (UiSelector, QueryController). The
second way ignores case where a text begins with or contains something, and reports no resource names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from agent_eval.device_sim.patterns import Effort, compile_pattern
from agent_eval.device_sim.u2.arguments import shown
from agent_eval.device_sim.ui import View, Window

MAX_CHAIN = 100
"""Children and siblings that one selector may name; a phone runs out of stack somewhere beyond."""


class SelectorProblem(ValueError):
    """A selector that makes the server throw.

    Args:
        exception: The class that a phone throws.
        message: What is wrong.
    """

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(message)
        self.exception = exception


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


# ----------------------------------------------------------------------------------------------------------------------
# fields

Test = Callable[[Node, Any], bool]
_Read = Callable[[Node], str]


def _description(node: Node) -> str:
    return node.view.desc


def _class(node: Node) -> str:
    return node.view.cls


def _package(node: Node) -> str:
    return node.package


def _id(node: Node) -> str:
    return node.view.id


def _is(read: _Read) -> Test:
    return lambda node, value: read(node) == value


def _contains(read: _Read) -> Test:
    return lambda node, value: value in read(node)


def _starts(read: _Read) -> Test:
    return lambda node, value: read(node).startswith(value)


def _contains_in_any_case(read: _Read) -> Test:
    return lambda node, value: value in read(node).lower()


def _starts_in_any_case(read: _Read) -> Test:
    return lambda node, value: read(node).lower().startswith(value)


def _flag(name: str) -> Test:
    return lambda node, value: getattr(node.view, name) is value


def _matched(_: Node, __: Any) -> bool:
    raise AssertionError("a pattern is compiled before it is tested")


FIELDS: Mapping[str, tuple[int, Test]] = MappingProxyType({
    "text": (0x1, _is(node_text)),
    "textContains": (0x2, _contains(node_text)),
    "textMatches": (0x4, _matched),
    "textStartsWith": (0x8, _starts(node_text)),
    "className": (0x10, _is(_class)),
    "classNameMatches": (0x20, _matched),
    "description": (0x40, _is(_description)),
    "descriptionContains": (0x80, _contains(_description)),
    "descriptionMatches": (0x100, _matched),
    "descriptionStartsWith": (0x200, _starts(_description)),
    "checkable": (0x400, _flag("checkable")),
    "checked": (0x800, _flag("checked")),
    "clickable": (0x1000, _flag("clickable")),
    "longClickable": (0x2000, _flag("long_clickable")),
    "scrollable": (0x4000, _flag("scrollable")),
    "enabled": (0x8000, _flag("enabled")),
    "focusable": (0x10000, _flag("focusable")),
    "focused": (0x20000, _flag("focused")),
    "selected": (0x40000, _flag("selected")),
    "packageName": (0x80000, _is(_package)),
    "packageNameMatches": (0x100000, _matched),
    "resourceId": (0x200000, _is(_id)),
    "resourceIdMatches": (0x400000, _matched),
    "index": (0x800000, lambda node, value: node.index == value),
})  # fmt: skip
"""Field, its bit in the mask, and its test; those that match patterns are tested by ``_PATTERNS``."""
_PATTERNS: Mapping[str, _Read] = MappingProxyType({
    "textMatches": node_text, "classNameMatches": _class, "descriptionMatches": _description,
    "packageNameMatches": _package, "resourceIdMatches": _id,
})  # fmt: skip
_STEPWISE: Mapping[str, Test] = MappingProxyType({
    "textContains": _contains_in_any_case(node_text), "textStartsWith": _starts_in_any_case(node_text),
    "descriptionContains": _contains_in_any_case(_description),
    "descriptionStartsWith": _starts_in_any_case(_description),
})  # fmt: skip
"""Tests that differ where the server goes step by step (UiSelector#isMatchFor); they get the value in lower case."""
_FLAGS = frozenset({"checkable", "checked", "clickable", "longClickable", "scrollable", "enabled", "focusable"}) | {
    "focused", "selected",
}  # fmt: skip
INDEX, INSTANCE = 0x800000, 0x1000000
_ANY = 0x1FFFFFF
_NAMES: Mapping[str, str] = MappingProxyType({
    "text": "TEXT", "textContains": "CONTAINS_TEXT", "textMatches": "TEXT_REGEX", "textStartsWith": "START_TEXT",
    "className": "CLASS", "classNameMatches": "CLASS_REGEX", "description": "DESCRIPTION",
    "descriptionContains": "CONTAINS_DESCRIPTION", "descriptionMatches": "DESCRIPTION_REGEX",
    "descriptionStartsWith": "START_DESCRIPTION", "longClickable": "LONG_CLICKABLE", "packageName": "PACKAGE NAME",
    "packageNameMatches": "PACKAGE_NAME_REGEX", "resourceId": "RESOURCE_ID", "resourceIdMatches": "RESOURCE_ID_REGEX",
})  # fmt: skip
"""Field to what UiSelector#toString calls it, where that is not the field in capitals."""


# ----------------------------------------------------------------------------------------------------------------------
# a selector, checked


@dataclass(frozen=True, slots=True)
class _Link:
    """One step: what a node must be like, and where the next step goes on."""

    tests: tuple[tuple[Test, Any], ...]
    instance: int | None
    sibling: bool = False
    """How this step was reached: from the parent of the node before it, else from that node itself."""

    def fits(self, node: Node, effort: Effort) -> bool:
        effort.spend(1)
        return all(test(node, value) for test, value in self.tests)


def is_plain(selector: Mapping[str, Any]) -> bool:
    """Tell whether the server looks for a selector among all windows."""
    mask = _mask(selector)
    return bool(mask) and not mask & (INDEX | INSTANCE) and not selector.get("childOrSibling")


def _mask(selector: Mapping[str, Any]) -> int:
    mask = selector.get("mask", 0)
    if isinstance(mask, bool) or not isinstance(mask, int):
        raise TypeError(f"a mask is a number, not {shown(mask)}")
    return mask & _ANY


def _value(name: str, value: object) -> Any:
    """Return a field's value as the server's JSON reader would have it.

    Raises:
        SelectorProblem: it is null.
        TypeError: it is of another kind.
    """
    if name in _FLAGS:
        if not isinstance(value, bool):
            raise TypeError(f"{name} is true or false, not {shown(value)}")
        return value
    if name in ("index", "instance"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} is a number, not {shown(value)}")
        return value
    if value is None:
        raise SelectorProblem("java.lang.NullPointerException", f"{name} cannot be null")
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {shown(value)}")
    return value


def _link(selector: Mapping[str, Any], effort: Effort, *, stepwise: bool, sibling: bool = False) -> _Link:
    mask = _mask(selector)
    tests: list[tuple[Test, Any]] = []
    for name, (bit, test) in FIELDS.items():
        if not mask & bit:
            continue
        value = _value(name, selector.get(name))
        if name in _PATTERNS:
            test = _pattern_test(name, value, effort)
        elif stepwise and name in _STEPWISE:
            test, value = _STEPWISE[name], value.lower()
        elif not stepwise and name == "className" and value.startswith("."):
            value = "android.widget" + value  # By#clazz
        tests.append((test, value))
    instance = _value("instance", selector.get("instance", 0)) if mask & INSTANCE else None
    return _Link(tuple(tests), instance, sibling)


def _pattern_test(name: str, pattern: str, effort: Effort) -> Test:
    compiled, read = compile_pattern(pattern, dot_all=True), _PATTERNS[name]
    return lambda node, _: compiled.matches(read(node), effort)


def _chain(selector: Mapping[str, Any], effort: Effort) -> list[_Link]:
    """Return the steps of a selector, those of the selectors inside it in their place.

    Raises:
        SelectorProblem: there are too many.
    """
    links: list[_Link] = []
    waiting: list[tuple[Mapping[str, Any], bool]] = [(selector, False)]
    while waiting:
        current, sibling = waiting.pop()
        if not isinstance(current, Mapping):
            raise TypeError(f"a selector is an object, not {shown(current)}")
        if len(links) >= MAX_CHAIN:
            raise SelectorProblem("java.lang.StackOverflowError", f"stack size 8192KB after {MAX_CHAIN} selectors")
        links.append(_link(current, effort, stepwise=True, sibling=sibling))
        waiting += [(found, relation == "sibling") for relation, found in reversed(_inside(current))]
    return links


def _inside(selector: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the selectors inside one, each with its relation."""
    relations, found = selector.get("childOrSibling") or (), selector.get("childOrSiblingSelector") or ()
    steps = (
        (word.lower() if isinstance(word, str) else "", inner) for word, inner in zip(relations, found, strict=False)
    )
    return [(word, inner) for word, inner in steps if word in ("child", "sibling")]


# ----------------------------------------------------------------------------------------------------------------------
# the search


def find(nodes: list[Node], selector: Mapping[str, Any], *, stepwise: bool = False) -> list[Node]:
    """Return all nodes that a selector means, in document order; an ``instance`` picks one.

    Args:
        nodes: Where to look.
        selector: What to look for.
        stepwise: Look step by step even for a plain selector, as most methods of the server do.

    Raises:
        PatternError: a pattern of the selector is not one, or the search costs too much.
        SelectorProblem: the selector makes the server throw.
        TypeError: a field has a value of the wrong kind.
    """
    effort = Effort()
    if not (stepwise or selector.get("childOrSibling") or _mask(selector) & (INDEX | INSTANCE)):
        link = _link(selector, effort, stepwise=False)
        return [node for node in nodes if link.fits(node, effort)]
    chain = _chain(selector, effort)
    skipped = [0] * len(chain)
    among = set(nodes)
    roots = [node for node in nodes if node.parent not in among]
    found = [match for root in roots for match in _walk(root, chain, 0, skipped, effort)]
    wanted = chain[-1].instance
    if wanted is None:
        return found
    return found[wanted : wanted + 1] if wanted >= 0 else []


def _walk(node: Node, chain: list[_Link], at: int, skipped: list[int], effort: Effort) -> Iterator[Node]:
    """Yield what the last step of a chain fits, each as the server would meet it while it looks for a later instance.

    A step before the last goes on at the first node that it fits, or after as many as its instance says, and, where
    nothing is found there, at the next (QueryController#findNodeRegularRecursive).
    """
    link = chain[at]
    start = node
    if link.fits(node, effort):
        if at == len(chain) - 1:
            yield node
        elif skipped[at] < (link.instance or 0):
            skipped[at] += 1
        else:
            at += 1
            if chain[at].sibling:
                if node.parent is None:
                    return
                start = node.parent
    for child in start.children:
        yield from _walk(child, chain, at, skipped, effort)


# ----------------------------------------------------------------------------------------------------------------------
# what a client is told


def describe(selector: Mapping[str, Any]) -> str:
    """Return a selector as the message of a UiObjectNotFoundException has it (UiSelector#toString).

    Args:
        selector: One that was looked for in vain, so that its chain is a short one.
    """
    mask = _mask(selector)
    words = [
        f"{_NAMES.get(name, name.upper())}={_java(selector.get(name))}"
        for name, (bit, _) in FIELDS.items()
        if mask & bit
    ]
    if mask & INSTANCE:
        words.append(f"INSTANCE={_java(selector.get('instance'))}")
    for relation, inner in _inside(selector):
        words.append(f"{'PARENT' if relation == 'sibling' else 'CHILD'}={describe(inner)}")
    return f"UiSelector[{', '.join(words)}]"


def _java(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)


_TEXT_CLASSES = ("TextView", "EditText", "Button", "Switch", "CheckBox", "Chronometer", "TextClock")


def object_info(node: Node, *, plain: bool = True) -> dict[str, Any]:
    """Return a node as the server's ObjInfo.

    Args:
        node: What to describe.
        plain: Whether it was found among all windows: that way knows resource names, and says null where a view has no
            description or is of a kind without text.
    """
    view = node.view
    assert view.bounds is not None
    left, top, right, bottom = view.bounds
    rectangle = {"bottom": bottom, "left": left, "right": right, "top": top}
    text: str | None = node_text(node)
    if plain and not text and not view.cls.endswith(_TEXT_CLASSES):
        text = None
    return {
        "bounds": rectangle,
        "checkable": view.checkable,
        "checked": view.checked,
        "childCount": len(node.children),
        "className": view.cls,
        "clickable": view.clickable,
        "contentDescription": view.desc or None if plain else view.desc,
        "enabled": view.enabled,
        "focusable": view.focusable,
        "focused": view.focused,
        "longClickable": view.long_clickable,
        "packageName": node.package,
        "resourceName": (view.id or None) if plain else None,
        "scrollable": view.scrollable,
        "selected": view.selected,
        "text": text,
        "visibleBounds": dict(rectangle),
    }
