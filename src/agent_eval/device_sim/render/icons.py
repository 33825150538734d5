"""The symbols of apps and screens, by name, as strokes in a square of 24 units. Knows no colours and no views.

Adding one is a line in ``ICONS``: screens name it, as in ``image("wifi")``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_eval.device_sim.render.brush import Brush, Point

Stroke = Callable[[Brush], None]
_CUT = 0
"""Ink that takes away."""


def _icon(*strokes: Stroke) -> Stroke:
    def draw(brush: Brush) -> None:
        for stroke in strokes:
            stroke(brush)

    return draw


def _line(*points: Point, width: float = 2, ink: int = 255) -> Stroke:
    return lambda brush: brush.line(*points, width=width, ink=ink)


def _shape(*points: Point, ink: int = 255) -> Stroke:
    return lambda brush: brush.shape(*points, ink=ink)


def _dot(x: float, y: float, radius: float, ink: int = 255) -> Stroke:
    return lambda brush: brush.dot(x, y, radius, ink)


def _dots(radius: float, *points: Point, ink: int = 255) -> Stroke:
    return _icon(*[_dot(x, y, radius, ink) for x, y in points])


def _ring(x: float, y: float, radius: float, width: float = 2) -> Stroke:
    return lambda brush: brush.ring(x, y, radius, width)


def _arc(x: float, y: float, radius: float, start: float, end: float, width: float = 2) -> Stroke:
    return lambda brush: brush.arc(x, y, radius, start, end, width)


def _pie(x: float, y: float, radius: float, start: float, end: float, ink: int = 255) -> Stroke:
    return lambda brush: brush.pie(x, y, radius, start, end, ink)


def _box(left: float, top: float, right: float, bottom: float, *, radius: float = 2, width: float = 2) -> Stroke:
    return lambda brush: brush.box(left, top, right, bottom, radius=radius, width=width)


def _block(left: float, top: float, right: float, bottom: float, *, radius: float = 2, ink: int = 255) -> Stroke:
    return lambda brush: brush.box(left, top, right, bottom, solid=True, radius=radius, ink=ink)


def _rays(x: float, y: float, inner: float, outer: float, count: int = 8, width: float = 2) -> Stroke:
    angles = [turn * 2 * math.pi / count for turn in range(count)]
    return _icon(
        *[
            _line(
                (x + inner * math.cos(angle), y + inner * math.sin(angle)),
                (x + outer * math.cos(angle), y + outer * math.sin(angle)),
                width=width,
            )
            for angle in angles
        ]
    )


def _star(x: float, y: float, radius: float, ink: int = 255) -> Stroke:
    points = [
        (
            x + (radius if turn % 2 == 0 else radius * 0.42) * math.sin(turn * math.pi / 5),
            y - (radius if turn % 2 == 0 else radius * 0.42) * math.cos(turn * math.pi / 5),
        )
        for turn in range(10)
    ]
    return _shape(*points, ink=ink)


def _battery(brush: Brush) -> None:
    brush.box(7, 4, 17, 22)
    brush.box(10, 2, 14, 4.5, solid=True, radius=0.5)
    brush.box(9.5, 19.5 - 13 * brush.level / 100, 14.5, 19.5, solid=True, radius=0)


def _slashed(stroke: Stroke) -> Stroke:
    return _icon(stroke, _line((6, 3), (22, 19), width=2.5, ink=_CUT), _line((3, 3), (21, 21)))


_HALF_PLANE = ((12, 2), (13.5, 5), (13.5, 9), (21, 14), (21, 16), (13.5, 13.5), (13.5, 18), (16, 20), (16, 21.5))
_HANDSET = _icon(
    _line((6.2, 6), (8, 11), (13, 16), (18, 17.8), width=3.4),
    _block(3.4, 3, 8.6, 8.4, radius=1.8),
    _block(15.6, 15.4, 21, 20.6, radius=1.8),
)
_CLOCK = _icon(_ring(12, 12, 9), _line((12, 7), (12, 12), (15.5, 14)))
_MAGNIFIER = _icon(_ring(10, 10, 6), _line((14.7, 14.7), (20, 20)))
_PERSON = _icon(_dot(12, 8, 4), _pie(12, 21.5, 8, 180, 360), _block(4, 20.5, 20, 24, ink=_CUT))
_SHEET = _icon(_box(5, 3, 19, 21), _line((8.5, 8), (15.5, 8)), _line((8.5, 12), (15.5, 12)), _line((8.5, 16), (13, 16)))
_HEART = _icon(_dots(4.8, (7.8, 8.8), (16.2, 8.8)), _shape((3.6, 11.2), (20.4, 11.2), (12, 20.8)), _block(8, 7, 16, 12))
_BELL = _icon(
    _shape((6, 17), (6, 11), (8, 7), (12, 4.5), (16, 7), (18, 11), (18, 17), (20, 18.5), (4, 18.5)), _dot(12, 20.5, 2)
)
_SPEAKER = _shape((3, 9), (7, 9), (12, 4), (12, 20), (7, 15), (3, 15))
_GLOBE = _icon(
    _ring(12, 12, 9),
    _line((3, 12), (21, 12), width=1.6),
    _line((12, 3), (12, 21), width=1.6),
    _arc(20, 12, 11.5, 130, 230, 1.6),
    _arc(4, 12, 11.5, 310, 50, 1.6),
)
_FOLDER = _icon(_block(2.5, 6.5, 21.5, 19.5), _block(2.5, 4.5, 11, 10))
_PIN = _icon(_dot(12, 9, 6.6), _shape((6.2, 12), (17.8, 12), (12, 21.5)), _dot(12, 9, 2.4, _CUT))
_CAMERA = _icon(_block(2.5, 7, 21.5, 20), _block(8, 4, 16, 9, radius=1.5), _dot(12, 13.3, 4.6, _CUT), _dot(12, 13.3, 3))
_WIFI = _icon(
    _arc(12, 19, 4.6, 222, 318, 2.3),
    _arc(12, 19, 9, 222, 318, 2.3),
    _arc(12, 19, 13.4, 222, 318, 2.3),
    _dot(12, 18.6, 1.6),
)
_CHECK = _line((5, 12.5), (10, 17.5), (19.5, 7))
_CLOSE = _icon(_line((6, 6), (18, 18)), _line((18, 6), (6, 18)))
_NOTE = _icon(_dot(9, 17.5, 3.4), _line((11.6, 17.5), (11.6, 4.5)), _shape((11, 3.5), (18, 3.5), (18, 7.5), (11, 7.5)))
_LOCK = _icon(
    _block(5, 10, 19, 21),
    _arc(12, 9, 4.2, 180, 360),
    _block(6.8, 8.6, 8.8, 11, radius=0),
    _block(15.2, 8.6, 17.2, 11, radius=0),
    _dot(12, 15.5, 1.8, _CUT),
)
_BIN = _icon(
    _block(6.5, 8, 17.5, 21.5),
    _line((5, 5.6), (19, 5.6)),
    _block(9, 2.8, 15, 5, radius=1),
    _line((10, 11), (10, 18), width=1.4, ink=_CUT),
    _line((14, 11), (14, 18), width=1.4, ink=_CUT),
)
_CALENDAR = _icon(_box(4, 5, 20, 21), _block(4, 5, 20, 10), _line((8, 3), (8, 6)), _line((16, 3), (16, 6)))
_MESSAGE = _icon(
    _block(2.5, 3.5, 21.5, 17),
    _shape((5, 15), (5, 22), (12, 16)),
    _line((7, 8.3), (17, 8.3), width=1.7, ink=_CUT),
    _line((7, 12.2), (14, 12.2), width=1.7, ink=_CUT),
)
_PLAY = _shape((8, 4.5), (8, 19.5), (19.5, 12))
_ROUND_ARROW = _icon(_arc(12, 12, 7.5, 20, 300), _shape((13, 1), (19.5, 4.8), (13.5, 9.3)))
_MIC = _icon(
    _block(9, 2.5, 15, 14, radius=3),
    _arc(12, 11, 6.2, 0, 180),
    _line((12, 17.5), (12, 21)),
    _line((8.5, 21), (15.5, 21)),
)
_LIST = _icon(*[_icon(_dot(4.5, y, 1.5), _line((9, y), (20.5, y))) for y in (6, 12, 18)])

ICONS: Mapping[str, Stroke] = MappingProxyType(
    {
        "accessibility": _icon(
            _dot(12, 4.5, 2.2),
            _line((4, 8.5), (20, 8.5)),
            _line((12, 8.5), (12, 13), width=4),
            _line((11, 13), (9, 21)),
            _line((13, 13), (15, 21)),
        ),
        "add": _icon(_line((12, 4.5), (12, 19.5)), _line((4.5, 12), (19.5, 12))),
        "airplane": _shape(*_HALF_PLANE, (12, 20.5), *((24 - x, y) for x, y in reversed(_HALF_PLANE))),
        "alarm": _icon(
            _ring(12, 13, 7.5), _line((12, 9), (12, 13), (15, 15)), _line((3, 6), (7, 3)), _line((17, 3), (21, 6))
        ),
        "apps": _dots(2, *((x, y) for x in (5.5, 12, 18.5) for y in (5.5, 12, 18.5))),
        "archive": _icon(_box(4, 8, 20, 21), _block(3, 3.5, 21, 8.5, radius=1), _line((9.5, 12), (14.5, 12))),
        "attach": _icon(
            _arc(12, 7, 4, 180, 360),
            _line((8, 7), (8, 17)),
            _line((16, 7), (16, 16)),
            _arc(12.5, 16.5, 3.6, 0, 180),
            _line((12, 8), (12, 15), width=1.6),
        ),
        "back": _icon(_line((4.5, 12), (20, 12)), _line((11.5, 5), (4.5, 12), (11.5, 19))),
        "battery": _battery,
        "bell": _BELL,
        "block": _icon(_ring(12, 12, 8.5), _line((6, 6), (18, 18))),
        "bluetooth": _line((6.5, 7.5), (17, 16.5), (12, 21.5), (12, 2.5), (17, 7.5), (6.5, 16.5), width=1.9),
        "bookmark": _shape((6, 3), (18, 3), (18, 21), (12, 17), (6, 21)),
        "bookmark_outline": _line((7, 4), (17, 4), (17, 19.5), (12, 16), (7, 19.5), (7, 4)),
        "bottom": _icon(
            _line((12, 3.5), (12, 16)), _line((6.8, 11), (12, 16.2), (17.2, 11)), _line((5, 20.5), (19, 20.5))
        ),
        "brightness": _icon(_dot(12, 12, 4.6), _rays(12, 12, 7.6, 9.8)),
        "calculator": _icon(
            _block(4.5, 2.5, 19.5, 21.5),
            _block(7, 5, 17, 9, radius=1, ink=_CUT),
            _dots(1.3, *((x, y) for x in (8.2, 12, 15.8) for y in (12.4, 15.6, 18.8)), ink=_CUT),
        ),
        "calendar": _CALENDAR,
        "call": _HANDSET,
        "call_end": _icon(
            _arc(12, 20, 9, 210, 330, 3.4), _block(1.5, 13, 7, 17.5, radius=1.8), _block(17, 13, 22.5, 17.5, radius=1.8)
        ),
        "call_in": _icon(_line((19, 5), (6, 18)), _line((15, 18), (6, 18), (6, 9))),
        "call_missed": _icon(_line((3, 7), (12, 16), (21, 7)), _line((3, 14), (3, 7), (10, 7))),
        "call_out": _icon(_line((5, 19), (18, 6)), _line((9, 6), (18, 6), (18, 15))),
        "camera": _CAMERA,
        "chart": _icon(
            _block(4, 11, 8, 20, radius=1), _block(10, 4, 14, 20, radius=1), _block(16, 8, 20, 20, radius=1)
        ),
        "check": _CHECK,
        "check_box": _icon(_block(3.5, 3.5, 20.5, 20.5), _line((7.5, 12.5), (10.8, 15.8), (16.8, 8.6), ink=_CUT)),
        "check_box_outline": _box(4, 4, 20, 20),
        "clock": _CLOCK,
        "close": _CLOSE,
        "cloud": _icon(_dots(4.6, (7, 14.5), (17.2, 14.5)), _dot(12, 10.5, 5.8), _block(7, 12, 17.5, 19.1)),
        "code": _icon(_line((8, 6), (2.8, 12), (8, 18)), _line((16, 6), (21.2, 12), (16, 18))),
        "compass": _icon(_ring(12, 12, 9), _shape((16.5, 7.5), (13.5, 13.5), (7.5, 16.5), (10.5, 10.5))),
        "copy": _icon(_box(8, 7, 20, 21), _line((4.5, 16), (4.5, 3.8), (15.5, 3.8))),
        "cut": _icon(_ring(6.5, 18, 2.6), _ring(17.5, 18, 2.6), _line((8, 16), (17, 3)), _line((16, 16), (7, 3))),
        "dark": _icon(_ring(12, 12, 8.5), _pie(12, 12, 8.5, 270, 90)),
        "data": _icon(_arc(12, 12, 9, 300, 240), _line((12, 8), (12, 16)), _line((8, 12), (16, 12))),
        "delete": _BIN,
        "devices": _icon(
            _box(3, 5, 19, 16), _block(13, 9, 21.5, 20.5, ink=_CUT), _block(14.5, 10, 21, 20), _line((2, 19), (11, 19))
        ),
        "dialpad": _icon(_dots(1.9, *((x, y) for x in (6, 12, 18) for y in (4.5, 10, 15.5))), _dot(12, 21, 1.9)),
        "directions": _icon(
            _shape((12, 2), (22, 12), (12, 22), (2, 12)),
            _line((9, 15.5), (9, 11.5), (15, 11.5), ink=_CUT),
            _line((12.8, 9), (15.4, 11.5), (12.8, 14), ink=_CUT),
        ),
        "display": _icon(_box(3, 4, 21, 17), _line((8, 20.5), (16, 20.5))),
        "dnd": _icon(_ring(12, 12, 8.6), _line((8, 12), (16, 12), width=2.6)),
        "dns": _icon(_box(4, 4, 20, 11), _box(4, 13, 20, 20), _dots(1.2, (8, 7.5), (8, 16.5))),
        "document": _icon(
            _shape((5.5, 2.5), (14, 2.5), (19, 7.5), (19, 21.5), (5.5, 21.5)),
            _line((8.5, 12), (16, 12), width=1.6, ink=_CUT),
            _line((8.5, 15.6), (16, 15.6), width=1.6, ink=_CUT),
            _shape((13.4, 3.6), (13.4, 8.2), (18, 8.2), ink=_CUT),
        ),
        "done": _CHECK,
        "down": _line((5, 9), (12, 16), (19, 9)),
        "download": _icon(
            _line((12, 3.5), (12, 15)), _line((6.8, 10), (12, 15.2), (17.2, 10)), _line((5, 20), (19, 20))
        ),
        "drop": _icon(_dot(12, 14.8, 6.4), _shape((6.6, 11.4), (12, 2.2), (17.4, 11.4))),
        "edit": _icon(
            _line((6.5, 17.5), (16, 8), width=3.6),
            _line((18, 6), (18.6, 5.4), width=3.6),
            _shape((3, 21), (4.4, 15.6), (8.4, 19.6)),
        ),
        "enter": _icon(_line((19.5, 6), (19.5, 12.5), (5, 12.5)), _line((9, 8.5), (5, 12.5), (9, 16.5))),
        "erase": _icon(
            _line((8.5, 5.5), (2.5, 12), (8.5, 18.5), (21.5, 18.5), (21.5, 5.5), (8.5, 5.5), width=1.8),
            _line((11.5, 9), (17.5, 15), width=1.8),
            _line((17.5, 9), (11.5, 15), width=1.8),
        ),
        "eye": _icon(_arc(12, 18, 11, 214, 326), _arc(12, 6, 11, 34, 146), _dot(12, 12, 3.2)),
        "eye_off": _slashed(_icon(_arc(12, 18, 11, 214, 326), _arc(12, 6, 11, 34, 146), _dot(12, 12, 3.2))),
        "file": _icon(
            _shape((5.5, 2.5), (14, 2.5), (19, 7.5), (19, 21.5), (5.5, 21.5)),
            _shape((13.4, 3.6), (13.4, 8.2), (18, 8.2), ink=_CUT),
        ),
        "filter": _icon(_line((4, 6.5), (20, 6.5)), _line((7, 12), (17, 12)), _line((10, 17.5), (14, 17.5))),
        "flag": _icon(_line((5.5, 3), (5.5, 21)), _shape((6, 4), (19, 4), (16, 8.5), (19, 13), (6, 13))),
        "flash": _shape((13.5, 2), (5, 13.5), (11, 13.5), (10, 22), (19, 10), (13, 10)),
        "flash_off": _slashed(_shape((13.5, 2), (5, 13.5), (11, 13.5), (10, 22), (19, 10), (13, 10))),
        "flashlight": _icon(
            _shape((6.5, 6.5), (17.5, 6.5), (14.5, 11), (14.5, 21.5), (9.5, 21.5), (9.5, 11)),
            _block(6.5, 2.5, 17.5, 5.2, radius=0.8),
            _line((12, 13), (12, 16), width=1.6, ink=_CUT),
        ),
        "folder": _FOLDER,
        "forward": _icon(_line((4, 12), (19.5, 12)), _line((12.5, 5), (19.5, 12), (12.5, 19))),
        "gauge": _icon(_arc(12, 14, 9, 180, 360, 2.4), _line((12, 14), (16.5, 8.5), width=2.4), _dot(12, 14, 2)),
        "gear": _icon(_rays(12, 12, 5, 8.6, width=3.4), _dot(12, 12, 7), _dot(12, 12, 3, _CUT)),
        "globe": _GLOBE,
        "grid": _icon(*[_block(x, y, x + 7, y + 7, radius=1) for x in (4, 13) for y in (4, 13)]),
        "group": _icon(
            _dot(8.5, 8.5, 3.4),
            _pie(8.5, 20.5, 7, 180, 360),
            _dot(16.8, 9.3, 2.7),
            _pie(17, 20.5, 5.6, 200, 360),
            _block(1, 19.5, 23, 24, ink=_CUT),
        ),
        "headset": _icon(
            _arc(12, 12.5, 8, 180, 360),
            _block(2.8, 12.5, 7.2, 20, radius=1.5),
            _block(16.8, 12.5, 21.2, 20, radius=1.5),
        ),
        "heart": _HEART,
        "help": _icon(_ring(12, 12, 9), _arc(12, 9.8, 2.8, 180, 60), _line((13.3, 12), (12, 13.8)), _dot(12, 17, 1.3)),
        "history": _icon(
            _arc(13, 12, 8, 200, 150),
            _shape((1.6, 10.5), (8.4, 10.5), (5, 15)),
            _line((13, 7.5), (13, 12), (16, 14), width=1.8),
        ),
        "home": _icon(
            _shape((12, 3), (22, 12), (19, 12), (19, 21), (5, 21), (5, 12), (2, 12)),
            _block(9.8, 14, 14.2, 21, radius=0, ink=_CUT),
        ),
        "hotspot": _icon(_dot(12, 13, 2.5), _arc(12, 13, 5.6, 140, 40), _arc(12, 13, 9.8, 140, 40)),
        "image": _icon(
            _block(3, 4.5, 21, 19.5),
            _shape((5, 17.5), (9.5, 11), (12.8, 15), (15.5, 12), (19, 17.5), ink=_CUT),
            _dot(15.8, 8.6, 1.5, _CUT),
        ),
        "info": _icon(_ring(12, 12, 9), _line((12, 11.5), (12, 16.5)), _dot(12, 7.7, 1.3)),
        "keyboard": _icon(
            _box(2, 5.5, 22, 18.5),
            *[_dot(x, y, 1) for x in (6, 10, 14, 18) for y in (9.5, 12.5)],
            _line((8, 15.6), (16, 15.6), width=1.6),
        ),
        "label": _icon(_shape((3, 6), (15.5, 6), (21, 12), (15.5, 18), (3, 18)), _dot(7, 12, 1.7, _CUT)),
        "language": _GLOBE,
        "left": _line((15.5, 5), (8.5, 12), (15.5, 19)),
        "link": _icon(
            _arc(7.5, 12, 4, 90, 270),
            _arc(16.5, 12, 4, 270, 90),
            _line((8, 12), (16, 12)),
            _line((7.5, 8), (10, 8)),
            _line((7.5, 16), (10, 16)),
            _line((14, 8), (16.5, 8)),
            _line((14, 16), (16.5, 16)),
        ),
        "list": _LIST,
        "location": _PIN,
        "lock": _LOCK,
        "mail": _icon(_block(2.5, 5, 21.5, 19), _line((4.5, 7.5), (12, 13), (19.5, 7.5), width=1.8, ink=_CUT)),
        "map": _icon(
            _shape((3, 5.5), (9, 3), (15, 5.5), (21, 3), (21, 18.5), (15, 21), (9, 18.5), (3, 21)),
            _line((9, 5), (9, 17.5), width=1.5, ink=_CUT),
            _line((15, 6.5), (15, 19), width=1.5, ink=_CUT),
        ),
        "menu": _icon(_line((4, 6.5), (20, 6.5)), _line((4, 12), (20, 12)), _line((4, 17.5), (20, 17.5))),
        "merge": _icon(
            _line((6, 20), (6, 17), (12, 11), (12, 4)),
            _line((18, 20), (18, 17), (13.5, 12.5)),
            _line((8, 8), (12, 4), (16, 8)),
        ),
        "message": _MESSAGE,
        "mic": _MIC,
        "mic_off": _slashed(_MIC),
        "more": _dots(1.9, (12, 5.5), (12, 12), (12, 18.5)),
        "move": _icon(
            _FOLDER,
            _line((8, 13), (16, 13), width=1.8, ink=_CUT),
            _line((13, 10), (16, 13), (13, 16), width=1.8, ink=_CUT),
        ),
        "mute": _icon(_SPEAKER, _line((16.5, 9), (22, 15), width=1.8), _line((22, 9), (16.5, 15), width=1.8)),
        "nav_back": _shape((16.5, 5), (16.5, 19), (5, 12)),
        "nav_home": _ring(12, 12, 7),
        "nav_recent": _box(5.5, 5.5, 18.5, 18.5),
        "new_folder": _icon(
            _FOLDER,
            _line((12, 10), (12, 17), width=1.8, ink=_CUT),
            _line((8.5, 13.5), (15.5, 13.5), width=1.8, ink=_CUT),
        ),
        "next": _icon(_shape((5, 5), (5, 19), (15, 12)), _block(16, 5, 18.6, 19, radius=0.6)),
        "nfc": _icon(_box(3, 3, 21, 21), _line((8, 16.5), (8, 7.5), (16, 16.5), (16, 7.5))),
        "note": _NOTE,
        "notebook": _icon(
            _block(5, 2.5, 20, 21.5),
            _line((8.6, 3), (8.6, 21), width=1.3, ink=_CUT),
            _line((11.5, 8), (17, 8), width=1.5, ink=_CUT),
            _line((11.5, 12), (17, 12), width=1.5, ink=_CUT),
        ),
        "open": _icon(
            _line((11, 4), (4, 4), (4, 20), (20, 20), (20, 13)),
            _line((14, 4), (20, 4), (20, 10)),
            _line((11, 13), (20, 4)),
        ),
        "palette": _icon(
            _dot(12, 12, 9.5),
            _dots(1.6, (7, 12), (9.2, 7.7), (14.4, 7.7), (17.2, 11.6), ink=_CUT),
            _pie(13, 17.5, 6.5, 20, 100, _CUT),
        ),
        "paste": _icon(_box(4.5, 4.5, 19.5, 21.5), _block(8.5, 2.5, 15.5, 7.5, radius=1)),
        "pause": _icon(_block(6.5, 5, 10, 19, radius=0.6), _block(14, 5, 17.5, 19, radius=0.6)),
        "person": _PERSON,
        "person_add": _icon(
            _dot(14, 8, 4),
            _pie(14, 21.5, 7.6, 180, 360),
            _block(6, 20.5, 22, 24, ink=_CUT),
            _line((4.5, 7), (4.5, 13), width=1.8),
            _line((1.5, 10), (7.5, 10), width=1.8),
        ),
        "phone": _icon(_box(6.5, 2, 17.5, 22), _line((10.5, 19), (13.5, 19), width=1.6)),
        "photo": _icon(
            _box(3, 4.5, 21, 19.5),
            _shape((5, 17.5), (9.5, 11), (12.8, 15), (15.5, 12), (19, 17.5)),
            _dot(15.8, 8.6, 1.5),
        ),
        "pin": _PIN,
        "play": _PLAY,
        "playlist": _icon(
            _line((3, 6), (15, 6)),
            _line((3, 11), (15, 11)),
            _line((3, 16), (10, 16)),
            _shape((14, 13), (14, 21.5), (21.5, 17.2)),
        ),
        "power": _icon(_arc(12, 13, 8, 300, 240), _line((12, 3), (12, 12))),
        "previous": _icon(_shape((19, 5), (19, 19), (9, 12)), _block(5.4, 5, 8, 19, radius=0.6)),
        "print": _icon(
            _block(3, 8.5, 21, 17, radius=2),
            _box(7, 13, 17, 21),
            _block(7, 3, 17, 7, radius=0.5),
            _block(8.8, 14.8, 15.2, 19.2, radius=0, ink=_CUT),
        ),
        "queue": _icon(
            _line((3, 6), (15, 6)),
            _line((3, 11), (15, 11)),
            _line((3, 16), (9, 16)),
            _line((17, 13), (17, 21)),
            _line((13, 17), (21, 17)),
        ),
        "receipt": _icon(
            _shape(
                (4.5, 2.5),
                (7, 4.5),
                (9.5, 2.5),
                (12, 4.5),
                (14.5, 2.5),
                (17, 4.5),
                (19.5, 2.5),
                (19.5, 21.5),
                (17, 19.5),
                (14.5, 21.5),
                (12, 19.5),
                (9.5, 21.5),
                (7, 19.5),
                (4.5, 21.5),
            ),
            _line((8, 9.5), (16, 9.5), width=1.6, ink=_CUT),
            _line((8, 13.5), (16, 13.5), width=1.6, ink=_CUT),
        ),
        "recipe": _icon(
            _line((7, 3), (7, 21)),
            _line((4, 3), (4, 8), (7, 10.5), (10, 8), (10, 3), width=1.6),
            _shape((14, 3.5), (18.5, 3), (18.5, 14), (14, 14)),
            _line((17.5, 12), (17.5, 21)),
        ),
        "record": _dot(12, 12, 7.5),
        "refresh": _ROUND_ARROW,
        "remove": _line((4.5, 12), (19.5, 12)),
        "repeat": _icon(
            _line((4, 11), (4, 7), (18, 7)),
            _line((15, 3.5), (18.5, 7), (15, 10.5)),
            _line((20, 13), (20, 17), (6, 17)),
            _line((9, 13.5), (5.5, 17), (9, 20.5)),
        ),
        "reply": _icon(_line((9.5, 5.5), (4, 11), (9.5, 16.5)), _line((4, 11), (15, 11), (20, 15), (20, 19))),
        "reset": _icon(_arc(12, 12.5, 7.5, 240, 190), _shape((4.4, 9.6), (11.2, 6.6), (5.2, 2.4))),
        "right": _line((8.5, 5), (15.5, 12), (8.5, 19)),
        "run": _icon(
            _dot(14.5, 4.3, 2.2),
            _line((13, 8), (11, 14), width=3.4),
            _line((13, 8.5), (8.5, 8), (6, 11)),
            _line((13.5, 9), (16.5, 11.5), (19.5, 11)),
            _line((11.5, 14), (15, 16.5), (14.5, 21.5)),
            _line((11, 14.5), (9, 18), (4.5, 18.5)),
        ),
        "save": _icon(
            _shape((4, 4), (16.5, 4), (20, 7.5), (20, 20), (4, 20)),
            _block(7, 4, 14.5, 9, radius=0, ink=_CUT),
            _dot(12, 14.5, 2.8, _CUT),
        ),
        "screen_record": _icon(_ring(12, 12, 8.5), _dot(12, 12, 4.6)),
        "search": _MAGNIFIER,
        "select_all": _icon(
            _block(8, 8, 16, 16, radius=1),
            *[_dot(x, y, 1.1) for x in (4, 9.3, 14.6, 20) for y in (4, 20)],
            *[_dot(x, y, 1.1) for x in (4, 20) for y in (9.3, 14.6)],
        ),
        "send": _shape((3, 4), (21.5, 12), (3, 20), (3, 13.8), (14, 12), (3, 10.2)),
        "share": _icon(
            _dots(2.7, (6, 12), (18, 5.5), (18, 18.5)), _line((6, 12), (18, 5.5)), _line((6, 12), (18, 18.5))
        ),
        "shield": _shape((12, 2), (20, 5), (20, 11), (18, 16.5), (12, 22), (6, 16.5), (4, 11), (4, 5)),
        "shift": _icon(
            _line((12, 4), (3.5, 12.5), (8, 12.5), (8, 19), (16, 19), (16, 12.5), (20.5, 12.5), (12, 4), width=1.8)
        ),
        "shuffle": _icon(
            _line((3, 7), (8, 7), (16, 17), (20, 17)),
            _line((3, 17), (8, 17), (10, 14.6)),
            _line((13.6, 10), (16, 7), (20, 7)),
            _line((17.5, 4), (20.5, 7), (17.5, 10)),
            _line((17.5, 14), (20.5, 17), (17.5, 20)),
        ),
        "shutter": _icon(_ring(12, 12, 13, 1.8), _dot(12, 12, 10.6)),
        "sim": _icon(_shape((6, 8), (11, 3), (18, 3), (18, 21), (6, 21)), _block(9, 11, 15, 18, radius=1, ink=_CUT)),
        "snooze": _icon(
            _ring(12, 13, 7.5),
            _line((3, 6), (7, 3)),
            _line((17, 3), (21, 6)),
            _line((9.5, 10), (14.5, 10), (9.5, 16), (14.5, 16), width=1.8),
        ),
        "sort": _icon(_line((4, 6.5), (20, 6.5)), _line((4, 12), (15, 12)), _line((4, 17.5), (10, 17.5))),
        "sound": _icon(_SPEAKER, _arc(12, 12, 4, 300, 60), _arc(12, 12, 8, 300, 60)),
        "star": _star(12, 12.6, 10.4),
        "star_outline": _icon(_star(12, 12.6, 10.4), _star(12, 12.6, 6.8, _CUT)),
        "stop": _block(6, 6, 18, 18, radius=1.5),
        "stopwatch": _icon(
            _ring(12, 13.5, 7.5),
            _line((12, 9.5), (12, 13.5)),
            _line((9.5, 2.5), (14.5, 2.5)),
            _line((18, 6), (19.5, 7.5)),
        ),
        "storage": _icon(
            _block(3, 4, 21, 10.8), _block(3, 13.2, 21, 20), _dots(1.3, (6.5, 7.4), (6.5, 16.6), ink=_CUT)
        ),
        "switch": _icon(_block(2, 7, 22, 17, radius=5), _dot(17, 12, 3.2, _CUT)),
        "switch_camera": _icon(
            _CAMERA, _dot(12, 13.3, 4.6, _CUT), _arc(12, 13.3, 3, 200, 340, 1.4), _arc(12, 13.3, 3, 20, 160, 1.4)
        ),
        "sync": _icon(
            _arc(12, 12, 8, 200, 330),
            _shape((21.6, 4), (21.6, 10.5), (15.4, 9.4)),
            _arc(12, 12, 8, 20, 150),
            _shape((2.4, 20), (2.4, 13.5), (8.6, 14.6)),
        ),
        "tabs": _icon(_box(3, 7, 17, 21), _line((7, 3.8), (20.2, 3.8), (20.2, 17))),
        "task": _icon(_ring(12, 12, 9), _line((7.8, 12.4), (10.8, 15.4), (16.4, 9))),
        "tasks": _icon(
            _line((3, 6.5), (5, 8.5), (8.5, 4.5)),
            _line((3, 16), (5, 18), (8.5, 14)),
            _line((12, 7), (21, 7)),
            _line((12, 16.5), (21, 16.5)),
        ),
        "text": _icon(_line((5, 5), (19, 5)), _line((12, 5), (12, 20), width=2.4)),
        "timer": _icon(
            _line((6, 3), (18, 3)),
            _line((6, 21), (18, 21)),
            _line((7.5, 3), (7.5, 7), (16.5, 17), (16.5, 21)),
            _line((16.5, 3), (16.5, 7), (7.5, 17), (7.5, 21)),
        ),
        "today": _icon(_CALENDAR, _block(7, 13, 11, 17, radius=0.5)),
        "todo": _icon(_box(4, 4, 20, 20), _line((7.8, 12.4), (10.8, 15.4), (16.4, 8.8))),
        "top": _icon(_line((12, 20.5), (12, 8)), _line((6.8, 13), (12, 7.8), (17.2, 13)), _line((5, 3.5), (19, 3.5))),
        "torch": _icon(
            _shape((6.5, 2.5), (17.5, 2.5), (17.5, 6), (15, 10), (15, 21.5), (9, 21.5), (9, 10), (6.5, 6)),
        ),
        "turn": _icon(
            _arc(12, 12, 8, 30, 170),
            _arc(12, 12, 8, 210, 350),
            _shape((0.6, 13), (7.4, 13), (4, 8)),
            _shape((16.6, 11), (23.4, 11), (20, 16)),
        ),
        "undo": _icon(
            _line((8.5, 4.5), (4, 9), (8.5, 13.5)),
            _line((4, 9), (15, 9)),
            _arc(14.5, 14, 5, 270, 90),
            _line((14.5, 19), (8, 19)),
        ),
        "unlock": _icon(
            _block(5, 10, 19, 21),
            _arc(12, 8, 4.2, 180, 340),
            _block(6.8, 7.6, 8.8, 11, radius=0),
            _dot(12, 15.5, 1.8, _CUT),
        ),
        "up": _line((5, 15), (12, 8), (19, 15)),
        "upload": _icon(_line((12, 4), (12, 15.5)), _line((6.8, 9), (12, 3.8), (17.2, 9)), _line((5, 20), (19, 20))),
        "vibrate": _icon(
            _box(8, 3, 16, 21),
            _line((4.5, 8), (4.5, 16)),
            _line((19.5, 8), (19.5, 16)),
            _line((1.5, 10), (1.5, 14)),
            _line((22.5, 10), (22.5, 14)),
        ),
        "video": _icon(_block(2.5, 6, 16, 18), _shape((16.5, 11), (22, 6.8), (22, 17.2), (16.5, 13))),
        "view": _icon(_block(4, 4, 20, 9, radius=1), _block(4, 11, 11, 20, radius=1), _block(13, 11, 20, 20, radius=1)),
        "voicemail": _icon(_ring(6.5, 12, 3.6), _ring(17.5, 12, 3.6), _line((6.5, 15.6), (17.5, 15.6))),
        "vpn": _icon(_ring(7.5, 12, 4.2, 2.6), _line((12, 12), (21, 12), (21, 16)), _line((17, 12), (17, 15))),
        "wallet": _icon(
            _block(3, 5.5, 21, 19.5),
            _block(14, 10, 22, 15.5, radius=1.5, ink=_CUT),
            _block(15.2, 11, 22, 14.5, radius=1.2),
            _dot(17.6, 12.7, 1, _CUT),
        ),
        "wallpaper": _icon(_box(3, 3, 21, 21), _shape((5.5, 17.5), (9.5, 11), (12.8, 15), (15.5, 12), (19, 17.5))),
        "warning": _icon(
            _shape((12, 2.5), (22.5, 21), (1.5, 21)), _line((12, 9.5), (12, 14), ink=_CUT), _dot(12, 17.4, 1.2, _CUT)
        ),
        "wifi": _WIFI,
    }
)
"""Symbol by name."""
