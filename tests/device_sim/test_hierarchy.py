from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agent_eval.device_sim.hierarchy import dump_active_window, dump_all_windows, escape
from agent_eval.device_sim.ui import View, Window, lay_out
from agent_eval.types import Bounds, Scalar
from tests.device_sim.conftest import Finger

GOLDEN = Path(__file__).parents[1] / "golden"

ATTRIBUTES = [
    "index", "text", "resource-id", "class", "package", "content-desc", "checkable", "checked", "clickable", "enabled",
    "focusable", "focused", "scrollable", "long-clickable", "password", "selected", "visible-to-user", "bounds",
    "drawing-order", "hint", "display-id",
]  # fmt: skip


def window(*children: View, **options: object) -> Window:
    root = View("android.widget.FrameLayout", children, **options)  # type: ignore[arg-type]
    lay_out(root, Bounds(0, 0, 720, 1280))
    return Window("activity", "com.example", root)


def test_attributes_come_in_the_order_of_the_server(settings: Finger) -> None:
    nodes = re.findall(r"<node (.*?) ?/?>", settings.phone.hierarchy_xml())
    assert len(nodes) > 40
    for node in nodes:
        assert re.findall(r'([\w-]+)="', node.removeprefix('NAF="true" ')) == ATTRIBUTES


def test_all_windows_are_dumped_with_crlf_and_indentation(settings: Finger) -> None:
    lines = settings.phone.hierarchy_xml().split("\r\n")
    assert lines[0] == "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    assert lines[1] == '<hierarchy rotation="0">'
    assert lines[-1] == "</hierarchy>"
    roots = [line for line in lines if line.startswith("  <node")]
    assert [re.findall('package="([^"]+)"', root)[0] for root in roots] == [
        "com.android.systemui", "com.android.settings", "com.android.systemui",
    ]  # fmt: skip


def test_the_command_dumps_the_active_window_in_one_line_without_the_servers_attributes(settings: Finger) -> None:
    xml = settings.phone.uiautomator_dump()
    assert "\n" not in xml
    assert "drawing-order" not in xml
    root = ElementTree.fromstring(xml.encode())  # noqa: S314
    assert {node.get("package") for node in root.iter("node")} == {"com.android.settings"}


def test_rows_out_of_sight_are_left_out_and_keep_their_index(settings: Finger) -> None:
    settings.phone.swipe(360, 900, 360, 500)
    root = ElementTree.fromstring(settings.phone.hierarchy_xml().encode())  # noqa: S314
    rows = root.find(".//node[@resource-id='com.android.settings:id/recycler_view']")
    assert rows is not None
    indices = [int(str(row.get("index"))) for row in rows]
    assert indices[0] > 0
    assert indices == list(range(indices[0], indices[-1] + 1))
    assert indices[-1] < 13


def test_a_dialog_hides_the_window_below_it(settings: Finger) -> None:
    settings.path("About phone", "Device name")
    assert settings.sees(text="OK")
    assert not settings.sees(text="About phone")


def test_nothing_clickable_without_words_escapes_the_naf_mark() -> None:
    silent = View("android.widget.ImageView", clickable=True, height=10)
    named = View("a", (View("android.widget.TextView", text="x", height=10),), clickable=True, height=10)
    disabled = View("b", clickable=True, enabled=False, height=10)
    grid = View("android.widget.GridView", clickable=True, height=10)
    xml = dump_all_windows([window(silent, named, disabled, grid)])
    marked = [re.findall('class="([^"]+)"', line)[0] for line in xml.split("\r\n") if 'NAF="true"' in line]
    assert marked == ["android.widget.ImageView"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain \u2011 \u00e9", "plain \u2011 \u00e9"),
        ('a<b>&"c"', "a&lt;b&gt;&amp;&quot;c&quot;"),
        ("a\nb\tc\rd", "a&#10;b&#9;c&#13;d"),
        ("\x00\x1b\ud800\uffff", "...."),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_texts_are_escaped_and_illegal_characters_become_dots(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_a_password_is_dumped_as_dots() -> None:
    field = View("android.widget.EditText", text="secret", password=True, height=10)
    xml = dump_active_window(window(field))
    assert "secret" not in xml
    assert f'text="{chr(0x2022) * 6}"' in xml


def test_a_compressed_dump_drops_containers_without_a_role_and_keeps_their_content(settings: Finger) -> None:
    full, compressed = settings.phone.hierarchy_xml(), settings.phone.hierarchy_xml(compressed=True)
    texts = re.findall(r' text="([^"]+)"', full)
    assert re.findall(r' text="([^"]+)"', compressed) == texts
    assert compressed.count("<node") < full.count("<node")


def test_a_compressed_dump_keeps_the_root_of_a_window_as_android_does(settings: Finger) -> None:
    for compressed in (False, True):
        xml = settings.phone.uiautomator_dump(compressed=compressed)
        assert len(ElementTree.fromstring(xml)) == 1  # noqa: S314  written by the code under test


def test_the_depth_of_a_dump_is_limited(settings: Finger) -> None:
    for levels in (0, 3):
        xml = settings.phone.hierarchy_xml(max_depth=levels)
        assert max(len(line) - len(line.lstrip()) for line in xml.split("\r\n")) == 2 * (levels + 1)


GOLDEN_SCREENS: dict[str, tuple[str, tuple[str, ...], dict[str, Scalar]]] = {
    "settings_network": ("com.android.settings", ("Network & internet",), {"settings/wifi_on": True}),
    "clock_alarms": (
        "com.android.deskclock", (),
        {"clock/alarm/1/hour": 7, "clock/alarm/1/minute": 30, "clock/alarm/2/hour": 18, "clock/alarm/2/enabled": False},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(GOLDEN_SCREENS))
def test_a_screen_is_dumped_as_the_file_says(name: str, make: Callable[..., Finger]) -> None:
    """Compare with tests/golden/<name>.xml; after a wanted change, write ``actual`` there and read the difference."""
    package, path, state = GOLDEN_SCREENS[name]
    finger = make(seed=11, **{key.replace("/", "__"): value for key, value in state.items()})
    finger.phone.open_app(package)
    finger.path(*path)
    actual = finger.phone.hierarchy_xml().replace("\r\n", "\n") + "\n"
    assert actual == (GOLDEN / f"{name}.xml").read_text(encoding="utf-8")
