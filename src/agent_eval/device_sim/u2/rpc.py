"""The uiautomator2 server's JSON-RPC methods, without a server: a method and its parameters in, a result or error out.

Method names, parameters and results are those of u2.jar 0.4.1, as uiautomator2 3.7 calls them; what each does follows
the server's own source (openatx/android-uiautomator-server-jar). Knows no sockets, no HTTP and no JSON; the in-process
device and an HTTP server both stand in front of it.
"""

from __future__ import annotations

import base64
import io
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from agent_eval.device_sim.clock import LAST_S
from agent_eval.device_sim.parts.fingers import LONG_PRESS_MS, STEP_MS, TwoPoints
from agent_eval.device_sim.patterns import PatternError
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell.properties import DEVICE, sdk_of
from agent_eval.device_sim.u2.arguments import Kind, Mismatch, convert, well_formed
from agent_eval.device_sim.u2.selectors import (
    Node,
    SelectorProblem,
    describe,
    find,
    is_plain,
    node_text,
    nodes_of,
    object_info,
)
from agent_eval.types import Bounds

SERVER_ERROR, UNKNOWN_METHOD, BAD_PARAMETERS = -32001, -32601, -32602

_LONGEST_GESTURE_MS, _LONGEST_WAIT_MS = 600_000, 86_400_000
"""What a client asks for beyond these passes no more virtual time: the clock of a phone must not run out."""
_POLL_MS = 500
"""How often a wait looks at the screen beside the moments of the phone's own timers."""
_MOST_SEARCH_SWIPES = 30
"""Of UiScrollable: how far a search scrolls."""
_FLING_STEPS, _SCROLL_STEPS = 5, 55
_FINGER = 20
"""Half the width that UiObject#pinchIn keeps between two fingers."""
_NAME_LIFE_MS, _MOST_NAMES = 60_000, 1000
"""How long, and for how many, a name stays that childBy... returned (AutomatorServiceImpl#addUiObject)."""
_NOT_FOUND = "androidx.test.uiautomator.UiObjectNotFoundException"
_KEYS = frozenset(
    {"home", "back", "left", "right", "up", "down", "center", "menu", "search", "enter", "delete", "del", "recent"}
    | {"volume_up", "volume_down", "volume_mute", "camera", "power"}
)
"""What ``pressKey`` knows by name."""
_ROTATIONS: Mapping[str, int] = MappingProxyType({"natural": 0, "n": 0, "left": 1, "l": 1, "right": 3, "r": 3})


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


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that waits for something on the screen."""

    holds: Callable[[], bool]
    until_ms: int
    """Virtual time at which it gives up."""


class _NotFound(LookupError):
    """What a selector means is not there."""


class Rpc:
    """The methods on one phone.

    Args:
        phone: The phone to act on.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._named: dict[str, _Named] = {}
        self._names = 0
        self._has_copied = False
        self._all_nodes: tuple[object, list[Node]] = ((), [])
        self._active_nodes: tuple[object, list[Node]] = ((), [])

    def begin(self, method: str, params: object = ()) -> RpcResult | RpcError | Pending:
        """Carry out one call, or the part of it before it waits; never raises for what a client sent."""
        overloads = METHODS.get(method)
        if overloads is None:
            self.phone.events.add_gap(f"rpc {well_formed(method):.60}")
            return RpcError(UNKNOWN_METHOD, "method not found")
        self.phone.events.add("rpc", method)
        if params is None or params == {}:
            params = ()
        if not isinstance(params, Sequence) or isinstance(params, str):
            return RpcError(BAD_PARAMETERS, "method parameters invalid", f"{method} takes a list")
        problem = f"{method} does not take {len(params)} parameters"
        for kinds, handler in overloads:
            if len(kinds) != len(params):
                continue
            try:
                arguments = [convert(kind, value) for kind, value in zip(kinds, params, strict=True)]
            except Mismatch as mismatch:
                problem = str(mismatch)
            else:
                return self._answer(handler, arguments)
        return RpcError(BAD_PARAMETERS, "method parameters invalid", problem)

    def _answer(self, handler: Callable[..., Any], arguments: list[Any]) -> RpcResult | RpcError | Pending:
        try:
            value = handler(self, *arguments)
        except _NotFound as error:
            return RpcError(SERVER_ERROR, _NOT_FOUND, str(error))
        except PatternError as error:
            return RpcError(SERVER_ERROR, _PATTERN_EXCEPTIONS[error.reason], str(error))
        except SelectorProblem as problem:
            return RpcError(SERVER_ERROR, problem.exception, f"{problem.exception}: {problem}")
        except TypeError as error:  # a field of a selector has a value of the wrong kind
            return RpcError(BAD_PARAMETERS, "method parameters invalid", str(error))
        return value if isinstance(value, Pending) else RpcResult(value)

    def call(self, method: str, params: object = ()) -> RpcResult | RpcError:
        """Carry out one call; what it waits for passes on the virtual clock, from timer to timer."""
        answer = self.begin(method, params)
        if not isinstance(answer, Pending):
            return answer
        clock = self.phone.clock
        while (settled := self.settled(answer)) is None:
            due = clock.next_due_ms
            wake = answer.until_ms if due is None else min(due, answer.until_ms)
            self.phone.advance(max(wake - clock.now_ms, 0) / 1000)
        return settled

    def settled(self, pending: Pending) -> RpcResult | RpcError | None:
        """Return the answer to a call that waits, or None as long as there is none."""
        answer = self._answer(lambda _: pending.holds(), [])
        assert not isinstance(answer, Pending)
        if isinstance(answer, RpcResult) and not answer.value and self.phone.clock.now_ms < pending.until_ms:
            return None
        return answer

    def wake_ms(self, pending: Pending) -> int:
        """Return the virtual time at which a call that waits should be looked at again."""
        now = self.phone.clock.now_ms
        looks = [now + max(_POLL_MS, (pending.until_ms - now) // 100), pending.until_ms]
        due = self.phone.clock.next_due_ms
        return min(looks if due is None else [*looks, max(due, now)])

    # ------------------------------------------------------------------ finding
    def nodes(self, *, active: bool = False) -> list[Node]:
        """Return the visible nodes of all windows, or of the active one."""
        windows = self.phone.windows
        if active:
            if self._active_nodes[0] is not windows:
                self._active_nodes = (windows, nodes_of(windows[1:2]))
            return self._active_nodes[1]
        if self._all_nodes[0] is not windows:
            self._all_nodes = (windows, nodes_of(windows))
        return self._all_nodes[1]

    def all(self, target: Mapping[str, Any] | str) -> list[Node]:
        """Return what a selector, or a name from childBy..., means in the active window."""
        if isinstance(target, str):
            named = self._named.get(target)
            if named is None or named.until_ms <= self.phone.clock.now_ms:
                raise _NotFound(f"UiObject {target} not found!")
            node = named.look()
            return [node] if node is not None else []
        return find(self.nodes(active=True), target, stepwise=True)

    def step(self, target: Mapping[str, Any] | str) -> Node:
        """Return the first node that a selector means in the active window."""
        found = self.all(target)
        if not found:
            raise _NotFound(target if isinstance(target, str) else describe(target))
        return found[0]

    def one(self, target: Mapping[str, Any] | str) -> tuple[Node, bool]:
        """Return the first node that a selector means, and whether it was found among all windows."""
        if not isinstance(target, str) and is_plain(target):
            found = find(self.nodes(), target)
            if found:
                return found[0], True
        return self.step(target), False

    def exists(self, target: Mapping[str, Any] | str) -> bool:
        """Tell whether a selector means anything."""
        if isinstance(target, str) or not is_plain(target):
            return bool(self.all(target))
        return bool(find(self.nodes(), target))

    def is_named(self, target: Mapping[str, Any] | str) -> bool:
        """Tell whether something exists; a name that nobody gave does not."""
        try:
            return self.exists(target)
        except _NotFound:
            return False

    def wait(self, target: Any, milliseconds: int, *, gone: bool) -> Pending:
        """Wait until a selector means something, or nothing."""
        self.exists(target)  # what is wrong with it is said at once
        end = self.phone.clock.now_ms + min(max(0, milliseconds), _LONGEST_WAIT_MS)
        return Pending(lambda: self.exists(target) is not gone, min(end, LAST_S * 1000))

    # ------------------------------------------------------------------ touching
    def click(self, x: int, y: int) -> bool:
        """Click a point for 100 ms."""
        if x < 0 or y < 0:
            return False
        self.phone.tap(x, y)
        return True

    def hold(self, x: int, y: int, milliseconds: int) -> bool:
        """Hold a point."""
        if x < 0 or y < 0:
            return False
        self.phone.fingers.press(x, y, min(max(milliseconds, 0), _LONGEST_GESTURE_MS))
        return True

    def click_on(self, target: Any, milliseconds: int | None = None) -> bool:
        """Click the middle of what a selector means."""
        node, _ = self.one(target)
        if milliseconds is None:
            self.phone.tap(*_center(node))
        else:
            self.phone.fingers.press(*_center(node), milliseconds)
        return True

    def swipe(self, x1: int, y1: int, x2: int, y2: int, steps: int) -> bool:
        """Swipe between two points, 5 ms per step."""
        self.phone.fingers.swipe_along([(x1, y1), (x2, y2)], _steps_ms(steps))
        return True

    def swipe_points(self, coordinates: list[int], steps: int) -> bool:
        """Swipe along points, so many steps for each part of the way."""
        points: list[tuple[float, float]] = list(zip(coordinates[::2], coordinates[1::2], strict=False))
        if not points:
            return False
        self.phone.fingers.swipe_along(points, _steps_ms(max(steps, 1) * max(len(points) - 1, 1)))
        return True

    def swipe_on(self, target: Any, direction: str | None, steps: int) -> bool:
        """Swipe from the middle of what a selector means to one of its edges (UiObject#swipeUp and so on)."""
        bounds = _bounds(self.step(target))
        x, y = _center(self.step(target))
        ends = {"u": (x, bounds.top + 5), "d": (x, bounds.bottom - 5), "l": (bounds.left + 5, y)}
        ends["r"] = (bounds.right - 5, y)
        end = ends.get((direction or " ").lower()[:1])
        if end is None:
            return False
        self.phone.fingers.swipe_along([(x, y), end], _steps_ms(steps))
        return True

    def drag_to(self, target: Any, x: int, y: int, steps: int) -> bool:
        """Drag what a selector means to a point."""
        self.phone.fingers.swipe_along([_center(self.step(target)), (x, y)], _steps_ms(steps))
        return True

    def drag_onto(self, target: Any, other: Any, steps: int) -> bool:
        """Drag what a selector means onto what another selector means."""
        self.phone.fingers.swipe_along([_center(self.step(target)), _center(self.step(other))], _steps_ms(steps))
        return True

    def two_fingers(self, target: Any, start_1: Any, start_2: Any, end_1: Any, end_2: Any, steps: int) -> bool:
        """Move two fingers between points of the screen."""
        self.step(target)
        return self._two_fingers((start_1, start_2), (end_1, end_2), steps)

    def _two_fingers(self, starts: TwoPoints, ends: TwoPoints, steps: int) -> bool:
        return self.phone.fingers.pinch(starts, ends, _steps_ms(steps))

    def pinch(self, target: Any, percent: int, steps: int, *, apart: bool) -> bool:
        """Move two fingers between the middle of what a selector means and its left and right edge."""
        bounds = _bounds(self.step(target))
        half = (bounds.right - bounds.left) // 2
        if half <= _FINGER:
            raise SelectorProblem("java.lang.IllegalStateException", "Object width is too small for operation")
        x, y = bounds.center
        reach = half * min(max(percent, 0), 100) // 100
        far = ((x - reach, y), (x + reach - 1, y))
        near = ((x - _FINGER, y), (x + _FINGER, y))
        return self._two_fingers(near, far, steps) if apart else self._two_fingers(far, near, steps)

    def inject(self, action: int, x: float, y: float) -> bool:
        """Take one raw touch event."""
        if action not in (0, 1, 2):
            return False
        self.phone.fingers.touch(action, x, y)
        return True

    # ------------------------------------------------------------------ keys and text
    def press_key(self, name: str | None) -> bool:
        """Press a key by name."""
        return name is not None and name.lower() in _KEYS and self.phone.key(name)

    def press_code(self, code: int) -> bool:
        """Press a key by code; one that means nothing on this phone is pressed all the same."""
        if code < 0:
            return False
        self.phone.key(code)
        return True

    def set_text(self, target: Any, text: str | None) -> bool:
        """Click a field and replace its text."""
        node, _ = self.one(target)
        self.phone.tap(*_center(node))
        view = self.phone.focused()
        if view is not None and node.view.field is not None:
            self.phone.entry.replace_text(view, text or "")
        return True

    def clear_field(self, target: Any) -> None:
        """Clear a field without a click."""
        node, _ = self.one(target)
        if node.view.field is not None:
            self.phone.entry.replace_text(node.view, "")

    def set_clipboard(self, _label: str | None, text: str | None) -> None:
        """Put a text on the clipboard."""
        self.phone.clipboard = text or ""
        self._has_copied = True

    def clipboard(self) -> str | None:
        """Return the text on the clipboard, or nothing where nothing was ever copied."""
        return self.phone.clipboard if self.phone.clipboard or self._has_copied else None

    # ------------------------------------------------------------------ scrolling (UiScrollable)
    def scroll(self, target: Any, vertical: bool, direction: int, steps: int) -> bool:
        """Swipe over most of what a selector means; tell whether it scrolled and can scroll on."""
        bounds = _bounds(self.step(target))
        x, y = bounds.center
        if vertical:
            margin = (bounds.bottom - bounds.top) // 10
            far, near = (x, bounds.bottom - margin), (x, bounds.top + margin)
        else:
            margin = (bounds.right - bounds.left) // 10
            far, near = (bounds.right - margin, y), (bounds.left + margin, y)
        before = self._scroll_positions()
        self.phone.fingers.swipe_along([far, near] if direction > 0 else [near, far], _steps_ms(steps))
        after = self._scroll_positions()
        moved = [place for name, place in after.items() if before.get(name) != place]
        return bool(moved) and not any(place.offset in (0, place.reach) for place in moved)

    def _scroll_positions(self) -> dict[str, _Place]:
        views = (node.view for node in self.nodes(active=True) if node.view.scroll)
        return {view.scroll: _Place(view.offset, view.reach) for view in views}

    def scroll_all(self, target: Any, vertical: bool, direction: int, most: int, steps: int) -> bool:
        """Scroll until nothing moves."""
        self.step(target)
        for _ in range(min(most, _MOST_SEARCH_SWIPES * 10)):
            if not self.scroll(target, vertical, direction, steps):
                break
        return True

    def scroll_to(self, target: Any, wanted: Any, vertical: bool) -> bool:
        """Scroll from the beginning until what another selector means shows inside what this one means."""

        def shows() -> bool:
            found = self.all(target)
            return bool(found) and bool(find(list(found[0].below()), wanted, stepwise=True))

        if shows():
            return True
        self.scroll_all(target, vertical, -1, _MOST_SEARCH_SWIPES, _SCROLL_STEPS)
        if shows():
            return True
        for _ in range(_MOST_SEARCH_SWIPES):
            scrolled = self.scroll(target, vertical, 1, _SCROLL_STEPS)
            if shows():
                return True
            if not scrolled:
                break
        return False

    # ------------------------------------------------------------------ children by name (UiCollection)
    def child_by(
        self, field: str, target: Any, inner: Any, wanted: str | None, allow_scroll: bool | None = None
    ) -> str:
        """Name the child that says a text itself or in something below it, scrolling to it if that is allowed."""
        read = node_text if field == "text" else _description
        scrollable = bool(found := self.all(target)) and found[0].view.scrollable
        if scrollable if allow_scroll is None else allow_scroll:
            self.scroll_to(target, {"mask": 0x1 if field == "text" else 0x40, field: wanted or ""}, True)
        says = [any(read(node) == wanted for node in (row, *row.below())) for row in self._children(target, inner)]
        if True not in says:
            raise _NotFound(f'for {field}= "{wanted}"')
        return self.child_by_instance(target, inner, says.index(True))

    def child_by_instance(self, target: Any, inner: Any, instance: int) -> str:
        """Name the n-th child that a selector means."""
        if self._child(target, inner, instance) is None:
            raise _NotFound(inner if isinstance(inner, str) else describe(inner))
        return self._name(lambda: self._child(target, inner, instance))

    def _children(self, target: Any, inner: Any) -> list[Node]:
        found = self.all(target)
        return find(list(found[0].below()), inner, stepwise=True) if found else []

    def _child(self, target: Any, inner: Any, instance: int) -> Node | None:
        children = self._children(target, inner)
        return children[instance] if 0 <= instance < len(children) else None

    def _name(self, look: Callable[[], Node | None]) -> str:
        self._names += 1
        name = str(uuid.UUID(int=self._names, version=4))
        self._named[name] = _Named(look, self.phone.clock.now_ms + _NAME_LIFE_MS)
        while len(self._named) > _MOST_NAMES:
            del self._named[next(iter(self._named))]
        return name

    # ------------------------------------------------------------------ the rest
    def device_info(self) -> dict[str, Any]:
        """Describe the device."""
        display, front = self.phone.display, self.phone.faults.reported(self.phone.front)
        return {
            "currentPackageName": front.package if front is not None else None,
            "displayHeight": display.height,
            "displayRotation": display.rotation,
            "displaySizeDpX": round(display.width * 160 / display.density),
            "displaySizeDpY": round(display.height * 160 / display.density),
            "displayWidth": display.width,
            "naturalOrientation": display.rotation in (0, 2),
            "productName": DEVICE,
            "screenOn": bool(self.phone.world["screen/on"]),
            "sdkInt": int(sdk_of(str(self.phone.state["about/android_version"]))),
        }

    def object_info(self, target: Any) -> dict[str, Any]:
        """Describe what a selector means."""
        node, plain = self.one(target)
        return object_info(node, plain=plain)

    def screenshot(self, scale: float, quality: int) -> str:
        """Return the screen as base64 of a JPEG."""
        picture = self.phone.screenshot().convert("RGB")
        if 0 < scale < 1:
            picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
        stream = io.BytesIO()
        picture.save(stream, "JPEG", quality=min(max(quality, 1), 100))
        return base64.b64encode(stream.getvalue()).decode("ascii")

    def orient(self, direction: str | None) -> None:
        """Hold the phone another way; what is no direction is ignored."""
        rotation = _ROTATIONS.get((direction or "").lower())
        if rotation is not None:
            self.phone.rotate(rotation)

    def freeze(self, frozen: bool) -> None:
        """Freeze the rotation, or let the phone turn as it is held, which is upright."""
        if not frozen:
            self.phone.rotate(0)

    def forget_toast(self) -> None:
        """Forget the last short message."""
        self.phone.notices.last_toast = None


class _Named(NamedTuple):
    """What a name stands for, and until when."""

    look: Callable[[], Node | None]
    until_ms: int


class _Place(NamedTuple):
    """Where a scrolling view is."""

    offset: int
    reach: int


_PATTERN_EXCEPTIONS: Mapping[str, str] = MappingProxyType({
    "syntax": "java.util.regex.PatternSyntaxException",
    "unsupported": "java.lang.UnsupportedOperationException",  # a phone would evaluate it
    "limit": "java.lang.StackOverflowError",
})  # fmt: skip


def _center(node: Node) -> tuple[int, int]:
    return _bounds(node).center


def _bounds(node: Node) -> Bounds:
    assert node.view.bounds is not None
    return node.view.bounds


def _description(node: Node) -> str:
    return node.view.desc


def _steps_ms(steps: int) -> int:
    return min(max(steps, 1) * STEP_MS, _LONGEST_GESTURE_MS)


def _nothing(*_: Any) -> None:
    return None


def _dump(rpc: Rpc, compressed: bool, depth: int = 50, active: bool = False) -> str:
    return rpc.phone.hierarchy_xml(compressed=compressed, max_depth=max(depth, 0), active_only=active)


class Overload(NamedTuple):
    """One way to call a method."""

    kinds: tuple[Kind, ...]
    handler: Callable[..., Any]


_SELECTOR: tuple[Kind, ...] = ("object",)
_SCROLL: tuple[Kind, ...] = ("object", "bool")

METHODS: Mapping[str, tuple[Overload, ...]] = MappingProxyType({
    "childByDescription": (
        Overload(("object", "object", "text"), lambda rpc, *args: rpc.child_by("description", *args)),
        Overload(("object", "object", "text", "bool"), lambda rpc, *args: rpc.child_by("description", *args)),
    ),
    "childByInstance": (Overload(("object", "object", "int"), Rpc.child_by_instance),),
    "childByText": (
        Overload(("object", "object", "text"), lambda rpc, *args: rpc.child_by("text", *args)),
        Overload(("object", "object", "text", "bool"), lambda rpc, *args: rpc.child_by("text", *args)),
    ),
    "clearInputText": (Overload((), lambda rpc: _nothing(rpc.phone.clear_text())),),
    "clearLastToast": (Overload((), Rpc.forget_toast),),
    "clearLastTraversedText": (Overload((), _nothing),),
    "clearTextField": (Overload(_SELECTOR, Rpc.clear_field),),
    "click": (
        Overload(("int", "int"), Rpc.click),
        Overload(("int", "int", "long"), Rpc.hold),
        Overload(_SELECTOR, Rpc.click_on),
    ),
    "count": (Overload(_SELECTOR, lambda rpc, target: len(rpc.all(target))),),
    "deviceInfo": (Overload((), Rpc.device_info),),
    "drag": (Overload(("int", "int", "int", "int", "int"), Rpc.swipe),),
    "dragTo": (
        Overload(("object", "int", "int", "int"), Rpc.drag_to),
        Overload(("object", "object", "int"), Rpc.drag_onto),
    ),
    "dumpWindowHierarchy": (
        Overload(("bool",), _dump),
        Overload(("bool", "int"), _dump),
        Overload(("bool", "int", "bool"), _dump),
    ),
    "exist": (Overload(_SELECTOR, Rpc.is_named),),
    "flingBackward": (Overload(_SCROLL, lambda rpc, *args: rpc.scroll(*args, -1, _FLING_STEPS)),),
    "flingForward": (Overload(_SCROLL, lambda rpc, *args: rpc.scroll(*args, 1, _FLING_STEPS)),),
    "flingToBeginning": (
        Overload((*_SCROLL, "int"), lambda rpc, sel, vert, most: rpc.scroll_all(sel, vert, -1, most, _FLING_STEPS)),
    ),
    "flingToEnd": (
        Overload((*_SCROLL, "int"), lambda rpc, sel, vert, most: rpc.scroll_all(sel, vert, 1, most, _FLING_STEPS)),
    ),
    "freezeRotation": (Overload(("bool",), Rpc.freeze),),
    "gesture": (Overload(("object", "point", "point", "point", "point", "int"), Rpc.two_fingers),),
    "getClipboard": (Overload((), Rpc.clipboard),),
    "getLastToast": (Overload((), lambda rpc: rpc.phone.notices.last_toast),),
    "getLastTraversedText": (Overload((), _nothing),),
    "getText": (Overload(_SELECTOR, lambda rpc, target: node_text(rpc.one(target)[0])),),
    "injectInputEvent": (Overload(("int", "float", "float", "int"), lambda rpc, a, x, y, _: rpc.inject(a, x, y)),),
    "isScreenOn": (Overload((), lambda rpc: bool(rpc.phone.world["screen/on"])),),
    "longClick": (Overload(_SELECTOR, lambda rpc, target: rpc.click_on(target, LONG_PRESS_MS)),),
    "objInfo": (Overload(_SELECTOR, Rpc.object_info),),
    "objInfoOfAllInstances": (
        Overload(_SELECTOR, lambda rpc, target: [object_info(node, plain=False) for node in rpc.all(target)]),
    ),
    "openNotification": (Overload((), lambda rpc: rpc.phone.open_shade() is None),),
    "openQuickSettings": (Overload((), lambda rpc: rpc.phone.open_shade(settings=True) is None),),
    "pasteClipboard": (Overload((), lambda rpc: _nothing(rpc.phone.type_text(rpc.phone.clipboard))),),
    "pinchIn": (Overload(("object", "int", "int"), lambda rpc, *args: rpc.pinch(*args, apart=False)),),
    "pinchOut": (Overload(("object", "int", "int"), lambda rpc, *args: rpc.pinch(*args, apart=True)),),
    "ping": (Overload((), lambda _: "pong"),),
    "pressKey": (Overload(("text",), Rpc.press_key),),
    "pressKeyCode": (
        Overload(("int",), Rpc.press_code),
        Overload(("int", "int"), lambda rpc, code, _: rpc.press_code(code)),
    ),
    "scrollBackward": (Overload((*_SCROLL, "int"), lambda rpc, sel, vert, steps: rpc.scroll(sel, vert, -1, steps)),),
    "scrollForward": (Overload((*_SCROLL, "int"), lambda rpc, sel, vert, steps: rpc.scroll(sel, vert, 1, steps)),),
    "scrollTo": (Overload(("object", "object", "bool"), Rpc.scroll_to),),
    "scrollToBeginning": (
        Overload((*_SCROLL, "int", "int"), lambda rpc, sel, vert, *args: rpc.scroll_all(sel, vert, -1, *args)),
    ),
    "scrollToEnd": (
        Overload((*_SCROLL, "int", "int"), lambda rpc, sel, vert, *args: rpc.scroll_all(sel, vert, 1, *args)),
    ),
    "setClipboard": (Overload(("text", "text"), Rpc.set_clipboard),),
    "setOrientation": (Overload(("text",), Rpc.orient),),
    "setText": (Overload(("object", "text"), Rpc.set_text),),
    "sleep": (Overload((), lambda rpc: _nothing(rpc.phone.key("sleep"))),),
    "swipe": (
        Overload(("int", "int", "int", "int", "int"), Rpc.swipe),
        Overload(("object", "text", "int"), Rpc.swipe_on),
    ),
    "swipePoints": (Overload(("points", "int"), Rpc.swipe_points),),
    "takeScreenshot": (Overload(("float", "int"), Rpc.screenshot),),
    "waitForExists": (Overload(("object", "long"), lambda rpc, *args: rpc.wait(*args, gone=False)),),
    "waitForIdle": (Overload(("long",), _nothing),),
    "waitUntilGone": (Overload(("object", "long"), lambda rpc, *args: rpc.wait(*args, gone=True)),),
    "wakeUp": (Overload((), lambda rpc: _nothing(rpc.phone.key("wakeup"))),),
})  # fmt: skip
"""Every method of the server; ``makeToast`` is called by the client but absent from the jar, so it is absent here."""
