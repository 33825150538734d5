"""The uiautomator2 server's JSON-RPC methods, without a server: a method and its parameters in, a result or error out.

Method names, parameters and results are those of u2.jar 0.4.1, as uiautomator2 3.7 calls them. Knows no sockets, no
HTTP and no JSON; the in-process device and an HTTP server can both stand in front of it.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from agent_eval.device_sim.phone import STEP_MS, Phone
from agent_eval.device_sim.u2.selectors import Node, find, node_text, nodes_of, object_info

_SERVER_ERROR = -32001
_UNKNOWN_METHOD = -32601
_BAD_PARAMETERS = -32602
_MOST_SCROLLS = 500
SDK = 35


@dataclass(frozen=True, slots=True)
class RpcError:
    """A failure, in the fields of a JSON-RPC error object."""

    code: int
    message: str
    """Name of the exception class on the device."""
    data: str = ""


@dataclass(frozen=True, slots=True)
class RpcResult:
    """A value that JSON can hold."""

    value: Any


def _not_found(selector: object) -> RpcError:
    return RpcError(_SERVER_ERROR, "androidx.test.uiautomator.UiObjectNotFoundException", f"UiSelector{selector}")


class Rpc:
    """The methods on one phone.

    Args:
        phone: The phone to act on.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._named: dict[str, Callable[[], Node | None]] = {}  # what childBy... returned, by the name it was given
        self._nodes: tuple[object, list[Node]] = ((), [])

    def call(self, method: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> RpcResult | RpcError:
        """Carry out one call; never raises for what a client sent."""
        handler = METHODS.get(method)
        if handler is None:
            return RpcError(_UNKNOWN_METHOD, "method not found", method)
        arguments = list(params.values()) if isinstance(params, Mapping) else list(params)
        try:
            value = handler(self, *arguments)
        except re.error as error:
            return RpcError(_SERVER_ERROR, "java.util.regex.PatternSyntaxException", str(error))
        except (TypeError, ValueError, LookupError, AttributeError) as error:  # parameters of a wrong number or kind
            return RpcError(_BAD_PARAMETERS, "method parameters invalid", f"{method}: {error}")
        return value if isinstance(value, RpcError) else RpcResult(value)

    # ------------------------------------------------------------------ finding
    def nodes(self) -> list[Node]:
        """Return the visible nodes of all windows."""
        windows = self.phone.windows
        if self._nodes[0] is not windows:
            self._nodes = (windows, nodes_of(windows))
        return self._nodes[1]

    def all(self, selector: Mapping[str, Any] | str) -> list[Node]:
        """Return the nodes that a selector, or a name from childBy..., means."""
        if isinstance(selector, str):
            named = self._named.get(selector)
            node = named() if named else None
            return [node] if node else []
        return find(self.nodes(), selector)

    def one(self, selector: Mapping[str, Any] | str) -> Node | None:
        """Return the first node that a selector means."""
        found = self.all(selector)
        return found[0] if found else None

    def wait(self, selector: Any, milliseconds: float, *, gone: bool) -> bool:
        """Wait on the virtual clock: jump from timer to timer until the condition holds or the time is over."""
        clock = self.phone.clock
        end = clock.now_ms + max(0, int(milliseconds))
        while (self.one(selector) is None) is not gone:
            due = clock.next_due_ms
            if due is None or due > end:
                self.phone.advance((end - clock.now_ms) / 1000)
                return (self.one(selector) is None) is gone
            self.phone.advance(max(due - clock.now_ms, 0) / 1000)
        return True

    # ------------------------------------------------------------------ acting
    def click(self, *arguments: Any) -> Any:
        """Click a point for 100 ms or as long as given, or the middle of what a selector means."""
        if len(arguments) == 1 or isinstance(arguments[0], Mapping | str):
            node = self.one(arguments[0])
            if node is None:
                return _not_found(arguments[0])
            self.phone.tap(*_center(node))
            return True
        x, y = float(arguments[0]), float(arguments[1])
        if len(arguments) > 2:
            self.phone.press(x, y, int(arguments[2]))
        else:
            self.phone.tap(x, y)
        return True

    def set_text(self, selector: Any, text: Any) -> Any:
        """Click a field and replace its text."""
        node = self.one(selector)
        if node is None:
            return _not_found(selector)
        self.phone.tap(*_center(node))
        view = self.phone.focused()
        if view is not None and node.view.field is not None:
            self.phone.replace_text(view, str(text or ""))
        return True

    def clear_field(self, selector: Any) -> Any:
        """Clear a field without a click."""
        node = self.one(selector)
        if node is None:
            return _not_found(selector)
        if node.view.field is not None:
            self.phone.replace_text(node.view, "")
        return None

    def swipe(self, x1: float, y1: float, x2: float, y2: float, steps: int = 55) -> bool:
        """Swipe between two points, 5 ms per step."""
        self.phone.swipe(x1, y1, x2, y2, int(steps) * STEP_MS / 1000)
        return True

    def swipe_points(self, coordinates: Sequence[float], steps: int) -> bool:
        """Swipe along points."""
        points = [(float(x), float(y)) for x, y in zip(coordinates[::2], coordinates[1::2], strict=True)]
        if not points:
            return False
        self.phone.swipe_along(points, int(steps) * STEP_MS)
        return True

    def drag_to(self, selector: Any, *arguments: Any) -> Any:
        """Drag what a selector means to a point, or to what another selector means."""
        node = self.one(selector)
        if node is None:
            return _not_found(selector)
        if len(arguments) == 3:
            target, steps = (float(arguments[0]), float(arguments[1])), int(arguments[2])
        else:
            other = self.one(arguments[0])
            if other is None:
                return _not_found(arguments[0])
            target, steps = _center(other), int(arguments[1])
        return self.swipe(*_center(node), *target, steps)

    def press_key(self, key: str | int, _meta: int = 0) -> bool:
        """Press a key by name or code."""
        return self.phone.key(key)

    def gesture(self, selector: Any, *_: Any) -> Any:
        """Move two fingers: nothing on this phone zooms."""
        return True if self.one(selector) is not None else _not_found(selector)

    # ------------------------------------------------------------------ scrolling
    def scroll_once(self, selector: Any, vertical: bool, direction: int) -> bool | RpcError:
        """Scroll by most of a page; tell whether anything moved."""
        node = self.one(selector)
        if node is None:
            return _not_found(selector)
        view = node.view
        if not view.scroll or vertical is not (view.arrange == "column") or view.bounds is None:
            return False
        bounds = view.bounds
        length = bounds.bottom - bounds.top if vertical else bounds.right - bounds.left
        self.phone.advance(55 * STEP_MS / 1000)
        return self.phone.scroll(view, direction * length * 4 // 5)

    def scroll_all(self, selector: Any, vertical: bool, direction: int, most: int) -> bool | RpcError:
        """Scroll until nothing moves."""
        for _ in range(min(int(most), _MOST_SCROLLS)):
            moved = self.scroll_once(selector, vertical, direction)
            if isinstance(moved, RpcError):
                return moved
            if not moved:
                return True
        return False

    def scroll_to(self, selector: Any, target: Any, vertical: bool = True) -> bool | RpcError:
        """Scroll from the beginning until another selector means something."""
        if self.one(target) is not None:
            return True
        at_start = self.scroll_all(selector, vertical, -1, _MOST_SCROLLS)
        if isinstance(at_start, RpcError):
            return at_start
        for _ in range(_MOST_SCROLLS):
            if self.one(target) is not None:
                return True
            if not self.scroll_once(selector, vertical, 1):
                break
        return self.one(target) is not None

    # ------------------------------------------------------------------ children by name
    def child_by(self, tell: Callable[[Node], str], selector: Any, inner: Any, wanted: str, scroll: bool) -> Any:
        """Name the child that holds a text, scrolling to it if allowed."""

        def look() -> Node | None:
            parent = self.one(selector)
            children = find(list(parent.below()), inner) if parent else []
            return next(
                (child for child in children if any(tell(node) == wanted for node in (child, *child.below()))), None
            )

        if look() is None and scroll:
            self.scroll_all(selector, True, -1, _MOST_SCROLLS)
            while look() is None:
                if self.scroll_once(selector, True, 1) is not True:
                    break
        return self._name(look) if look() else _not_found(inner)

    def child_by_instance(self, selector: Any, inner: Any, instance: int) -> Any:
        """Name the n-th child that a selector means."""

        def look() -> Node | None:
            parent = self.one(selector)
            children = find(list(parent.below()), inner) if parent else []
            return children[instance] if 0 <= instance < len(children) else None

        return self._name(look) if look() else _not_found(inner)

    def _name(self, look: Callable[[], Node | None]) -> str:
        name = str(len(self._named) + 1)
        self._named[name] = look
        return name

    # ------------------------------------------------------------------ the rest
    def device_info(self) -> dict[str, Any]:
        """Describe the device."""
        display = self.phone.display
        return {
            "currentPackageName": self.phone.front.package,
            "displayHeight": display.height,
            "displayRotation": display.rotation,
            "displaySizeDpX": display.width * 160 // display.density,
            "displaySizeDpY": display.height * 160 // display.density,
            "displayWidth": display.width,
            "naturalOrientation": display.rotation in (0, 2),
            "productName": "sim",
            "screenOn": bool(self.phone.world["screen/on"]),
            "sdkInt": SDK,
        }

    def screenshot(self, scale: float = 1, quality: int = 80) -> str:
        """Return the screen as base64 of a JPEG."""
        picture = self.phone.screenshot()
        if scale != 1:
            picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
        stream = io.BytesIO()
        picture.save(stream, "JPEG", quality=int(quality))
        return base64.b64encode(stream.getvalue()).decode("ascii")

    def set_clipboard(self, _label: str | None, text: str) -> None:
        """Put a text on the clipboard."""
        self.phone.clipboard = str(text)

    def of(self, selector: Any, read: Callable[[Node], Any]) -> Any:
        """Read something of the node that a selector means."""
        node = self.one(selector)
        return _not_found(selector) if node is None else read(node)


def _center(node: Node) -> tuple[int, int]:
    assert node.view.bounds is not None
    return node.view.bounds.center


def _nothing(*_: Any) -> None:
    return None


METHODS: Mapping[str, Callable[..., Any]] = MappingProxyType({
    "childByDescription": lambda rpc, sel, inner, text, scroll=False: rpc.child_by(
        lambda node: node.view.desc, sel, inner, text, scroll),
    "childByInstance": Rpc.child_by_instance,
    "childByText": lambda rpc, sel, inner, text, scroll=False: rpc.child_by(node_text, sel, inner, text, scroll),
    "clearInputText": lambda rpc: _nothing(rpc.phone.clear_text()),
    "clearLastToast": lambda rpc: rpc.phone.clear_toast(),
    "clearLastTraversedText": _nothing,
    "clearTextField": Rpc.clear_field,
    "click": Rpc.click,
    "count": lambda rpc, sel: len(rpc.all(sel)),
    "deviceInfo": lambda rpc, *_: rpc.device_info(),
    "drag": Rpc.swipe,
    "dragTo": Rpc.drag_to,
    "dumpWindowHierarchy": lambda rpc, compressed=False, depth=50, active=False: rpc.phone.hierarchy_xml(
        compressed=bool(compressed), max_depth=int(depth), active_only=bool(active)),
    "exist": lambda rpc, sel: rpc.one(sel) is not None,
    "flingBackward": lambda rpc, sel, vertical=True: rpc.scroll_once(sel, vertical, -1),
    "flingForward": lambda rpc, sel, vertical=True: rpc.scroll_once(sel, vertical, 1),
    "flingToBeginning": lambda rpc, sel, vertical=True, most=500: rpc.scroll_all(sel, vertical, -1, most),
    "flingToEnd": lambda rpc, sel, vertical=True, most=500: rpc.scroll_all(sel, vertical, 1, most),
    "freezeRotation": _nothing,
    "gesture": Rpc.gesture,
    "getClipboard": lambda rpc: rpc.phone.clipboard,
    "getLastToast": lambda rpc: rpc.phone.toast,
    "getLastTraversedText": _nothing,
    "getText": lambda rpc, sel: rpc.of(sel, node_text),
    "injectInputEvent": lambda rpc, action, x, y, _meta=0: rpc.phone.touch(int(action), float(x), float(y)) is None,
    "objInfo": lambda rpc, sel: rpc.of(sel, object_info),
    "objInfoOfAllInstances": lambda rpc, sel: [object_info(node) for node in rpc.all(sel)],
    "openNotification": lambda rpc: rpc.phone.open_shade() is None,
    "openQuickSettings": lambda rpc: rpc.phone.open_shade() is None,
    "pasteClipboard": lambda rpc: _nothing(rpc.phone.type_text(rpc.phone.clipboard)),
    "pinchIn": Rpc.gesture,
    "pinchOut": Rpc.gesture,
    "pressKey": lambda rpc, name: rpc.press_key(str(name)),
    "pressKeyCode": lambda rpc, code, meta=0: rpc.press_key(int(code), meta),
    "scrollBackward": lambda rpc, sel, vertical=True, _steps=55: rpc.scroll_once(sel, vertical, -1),
    "scrollForward": lambda rpc, sel, vertical=True, _steps=55: rpc.scroll_once(sel, vertical, 1),
    "scrollTo": Rpc.scroll_to,
    "scrollToBeginning": lambda rpc, sel, vertical=True, most=500, _steps=55: rpc.scroll_all(sel, vertical, -1, most),
    "scrollToEnd": lambda rpc, sel, vertical=True, most=500, _steps=55: rpc.scroll_all(sel, vertical, 1, most),
    "setClipboard": Rpc.set_clipboard,
    "setOrientation": _nothing,
    "setText": Rpc.set_text,
    "sleep": lambda rpc: _nothing(rpc.phone.key("sleep")),
    "swipe": Rpc.swipe,
    "swipePoints": Rpc.swipe_points,
    "takeScreenshot": Rpc.screenshot,
    "waitForExists": lambda rpc, sel, milliseconds=20000: rpc.wait(sel, milliseconds, gone=False),
    "waitUntilGone": lambda rpc, sel, milliseconds=20000: rpc.wait(sel, milliseconds, gone=True),
    "wakeUp": lambda rpc: _nothing(rpc.phone.key("wakeup")),
})  # fmt: skip
"""Every method of the server; ``makeToast`` is called by the client but absent from the jar, so it is absent here."""
