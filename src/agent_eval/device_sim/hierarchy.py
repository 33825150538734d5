"""Windows as XML: the form of uiautomator2's dumpWindowHierarchy and that of the command ``uiautomator dump``.

Attribute order, escaping and the skipping of invisible children follow AccessibilityNodeInfoDumper (frameworks/base,
cmds/uiautomator). Knows views, not what they mean.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Iterable, Iterator

from agent_eval.device_sim.ui import View, Window

HEADER = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = re.compile('[&<>"\n\r\t]|[^\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_NOT_FRIENDLY_EXEMPT = frozenset(
    {"android.widget.GridView", "android.widget.GridLayout", "android.widget.ListView", "android.widget.TableLayout"}
)


@functools.lru_cache(maxsize=16384)
def escape(text: str) -> str:
    """Escape a text for an attribute; characters that XML cannot hold become dots."""
    if not _SPECIAL.search(text):
        return text
    text = _ILLEGAL.sub(".", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return text.replace("\r", "&#13;").replace("\n", "&#10;").replace("\t", "&#9;")


def dump_all_windows(
    windows: Iterable[Window], *, compressed: bool = False, max_depth: int = 50, rotation: int = 0
) -> str:
    """Return all windows, indented, with the attributes that uiautomator2's server adds.

    Args:
        windows: From the lowest to the highest.
        compressed: Leave out containers without a role of their own, except the root of a window.
        max_depth: How many levels below the root of a window are shown.
        rotation: How the phone is held, in quarter turns.
    """
    parts = [_window(window.root, window.package, max_depth, compressed) for window in windows]
    if not parts:  # uiautomator2 tells by this form that there is no window
        return f'{HEADER}\r\n<hierarchy rotation="{rotation}" />'
    return "\r\n".join([HEADER, f'<hierarchy rotation="{rotation}">', *filter(None, parts), "</hierarchy>"])


_written: weakref.WeakKeyDictionary[View, dict[tuple[str, int, bool], str]] = weakref.WeakKeyDictionary()


def _window(root: View, package: str, max_depth: int, compressed: bool) -> str:
    """Return one window; a laid-out tree never changes, so each is written once for as long as it lives."""
    forms = _written.setdefault(root, {})
    key = (package, max_depth, compressed)
    if key not in forms:
        lines: list[str] = []
        _write(lines, root, 0, package, 1, max_depth + 1, compressed, plain=False, keep=True)
        forms[key] = "\r\n".join(lines)
    return forms[key]


def dump_active_window(window: Window, *, compressed: bool = False, rotation: int = 0) -> str:
    """Return one window in one line."""
    lines = [HEADER, f'<hierarchy rotation="{rotation}">']
    _write(lines, window.root, 0, window.package, 0, 1000, compressed, plain=True, keep=True)
    lines.append("</hierarchy>")
    return "".join(lines)


_FLAG = ("false", "true")


def _write(
    lines: list[str],
    view: View,
    index: int,
    package: str,
    depth: int,
    max_depth: int,
    compressed: bool,
    *,
    plain: bool,
    keep: bool = False,
) -> None:
    bounds = view.bounds
    if bounds is None or depth > max_depth:
        return
    if compressed and not keep and not important(view):
        for position, child in enumerate(view.children):
            _write(lines, child, position, package, depth, max_depth, compressed, plain=plain)
        return
    unfriendly = view.clickable and view.enabled and not view.text and not view.desc and not_friendly(view)
    text = escape("\u2022" * len(view.text) if view.password else view.text)
    left, top, right, bottom = bounds
    head = (
        f"{'' if plain else '  ' * depth}<node {'NAF=' + chr(34) + 'true' + chr(34) + ' ' if unfriendly else ''}"
        f'index="{index}" text="{text}" resource-id="{view.id}" class="{view.cls}" package="{package}" '
        f'content-desc="{escape(view.desc)}" checkable="{_FLAG[view.checkable]}" checked="{_FLAG[view.checked]}" '
        f'clickable="{_FLAG[view.clickable]}" enabled="{_FLAG[view.enabled]}" focusable="{_FLAG[view.focusable]}" '
        f'focused="{_FLAG[view.focused]}" scrollable="{_FLAG[view.scrollable]}" '
        f'long-clickable="{_FLAG[view.long_clickable]}" password="{_FLAG[view.password]}" '
        f'selected="{_FLAG[view.selected]}" '
    )
    if plain:
        head += f'bounds="[{left},{top}][{right},{bottom}]"'
    else:
        head += (
            f'visible-to-user="true" bounds="[{left},{top}][{right},{bottom}]" drawing-order="{index + 1}" '
            f'hint="{escape(view.hint)}" display-id="0"'
        )
    before = len(lines)
    lines.append(head)
    for position, child in enumerate(view.children):
        _write(lines, child, position, package, depth + 1, max_depth, compressed, plain=plain)
    if len(lines) == before + 1:
        lines[before] = head + " />"
    else:
        lines[before] = head + ">"
        lines.append("</node>" if plain else "  " * depth + "</node>")


def important(view: View) -> bool:
    """Tell whether accessibility keeps a view in a compressed dump: containers without a role of their own go."""
    return bool(
        view.text
        or view.desc
        or view.clickable
        or view.checkable
        or view.scrollable
        or view.focusable
        or not view.children
    )


def not_friendly(view: View) -> bool:
    """Tell whether neither a clickable view nor anything below it says what it is."""
    if view.cls in _NOT_FRIENDLY_EXEMPT:
        return False
    return not any(child.text or child.desc for child in _below(view))


def _below(view: View) -> Iterator[View]:
    for child in view.children:
        yield child
        yield from _below(child)
