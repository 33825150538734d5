from __future__ import annotations

import base64
import io
import re
import struct
import zipfile

import pytest
from PIL import Image

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.system import System
from agent_eval.types import PhoneSetup
from tests.device_sim.shell.conftest import Said
from tests.device_sim.shell.transcripts import Exchange, transcript

HOME = "com.android.settings/.homepage.SettingsHomepageActivity"
ADB_KEYBOARD = "com.github.uiautomator"


@pytest.mark.parametrize("said", transcript("android"), ids=lambda said: said.line[:60])
def test_commands_print_what_androids_do(system: System, said: Exchange) -> None:
    wanted = said.output.replace("{count}", str(len(list(system.packages))))
    wanted = wanted.replace("{night}", "yes" if system.phone.state["settings/dark_theme"] else "no")
    assert system.run(said.line).output.decode().rstrip("\n") == wanted


def test_settings_and_properties_are_listed_sorted(said: Said) -> None:
    for namespace in ("global", "system", "secure"):
        lines = said(f"settings list {namespace}").splitlines()
        assert lines == sorted(lines)
        assert all("=" in line for line in lines)
    lines = said("getprop").splitlines()
    keys = [line.partition("]")[0] for line in lines]
    assert keys == sorted(keys)
    assert all(re.fullmatch(r"\[[\w.-]+\]: \[.*\]", line) for line in lines)


def test_airplane_mode_from_the_shell_has_its_consequences(said: Said) -> None:
    said("settings put global airplane_mode_on 1")
    assert said("settings get global wifi_on") == "0\n"


def test_input_drives_the_phone(system: System) -> None:
    phone = system.phone
    system.run(f"am start -n {HOME}")
    system.run("input swipe 360 900 360 500 300")
    assert phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"] == 400
    system.run("input keyevent KEYCODE_HOME")
    assert phone.front.screen == "launcher/home"
    system.run("am start -a android.settings.BLUETOOTH_SETTINGS")
    assert phone.front.screen == "settings/bluetooth"
    phone.open_page("settings/search", {})
    system.run("input tap 300 80; input text a%sb; input keyevent 67 67; input keyevent PERIOD KEYCODE_7")
    assert "settings/search/text/query', 'a.7'" in str(phone.snapshot().transient)
    system.run("input motionevent DOWN 360 900; input motionevent MOVE 360 700; input motionevent UP 360 600")
    system.run("input keycombination 113 29; input keycombination SHIFT_LEFT B")
    assert "settings/search/text/query', 'B'" in str(phone.snapshot().transient)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("am start -n com.example/.Main", 1),
        ("monkey -p com.example -c android.intent.category.LAUNCHER 1", 252),
        ("am force-stop com.example", 0),
        ("am frob", 255),
        ("dumpsys nothing", 20),
        ("settings get lunar x", 255),
        ("input tap", 255),
        ("uiautomator frob", 1),
        ("pm clear com.nothing", 1),
    ],
)
def test_failures_have_androids_exit_status_and_leave_the_phone_alone(system: System, line: str, code: int) -> None:
    before = system.phone.snapshot().digest
    assert system.run(line).code == code
    assert system.phone.snapshot().digest == before


def test_an_app_in_front_is_only_brought_to_the_front_again(system: System) -> None:
    line = f"am start -n {HOME}"
    assert b"Warning" not in system.run(line).stderr
    result = system.run(line)
    assert result.stderr == b"Warning: Activity not started, its current task has been brought to the front\n"
    assert result.code == 0
    assert b"Warning" not in system.run("am start -a android.settings.BLUETOOTH_SETTINGS").stderr
    assert b"Status: ok\nLaunchState: HOT\n" in system.run("am start -W -a android.settings.WIFI_SETTINGS").stdout
    assert b"Status: ok\nLaunchState: COLD\n" in system.run(f"am start -W -S -n {HOME}").stdout


@pytest.mark.parametrize(
    ("line", "screen"),
    [
        ("monkey -p com.android.deskclock -c android.intent.category.LAUNCHER 1", "clock/alarms"),
        ("am start com.android.settings", "settings/home"),
        ("am start -a android.intent.action.MAIN -c android.intent.category.HOME", "launcher/home"),
        ("am start -a android.intent.action.DIAL -d tel:123", "dialer/keypad"),
        ("am start -a android.intent.action.SENDTO -d sms:123", "messages/thread"),
        ("am start -a android.intent.action.VIEW -d https://example.com", "browser/main"),
        ("cmd activity start -n com.android.settings/.homepage.SettingsHomepageActivity", "settings/home"),
        ("cmd statusbar expand-notifications", "systemui/shade"),
        ("service call statusbar 1", "systemui/shade"),
    ],
)
def test_intents_open_their_screens(system: System, line: str, screen: str) -> None:
    assert system.run(line).code == 0
    assert system.phone.front.screen == screen


def test_focus_is_printed_per_display_only(said: Said) -> None:
    said("monkey -p com.android.deskclock -c android.intent.category.LAUNCHER 1")
    assert "mCurrentFocus" not in said("dumpsys window windows")
    displays = said("dumpsys window displays")
    assert re.search(
        r"mCurrentFocus=Window\{\w+ u0 com\.android\.deskclock/com\.android\.deskclock\.DeskClock\}", displays
    )
    (task,) = re.findall(r"mFocusedApp=ActivityRecord\{\w+ u0 com\.android\.deskclock/\.DeskClock t(\d+)\}", displays)
    activities = said("dumpsys activity activities")
    assert (
        f"topResumedActivity=ActivityRecord{{{re.findall(r'mFocusedApp=ActivityRecord.(.*).', displays)[0]}"
        in activities
    )
    assert f"com.android.deskclock/.DeskClock t{task}}}" in activities
    assert "mCurrentFocus=" in said("dumpsys window")
    shown = [line.split()[1] for line in said("dumpsys activity top").splitlines() if line.startswith("  ACTIVITY")]
    assert shown == ["com.android.launcher3/.uioverrides.QuickstepLauncher", "com.android.deskclock/.DeskClock"]


def test_what_the_services_cannot_tell_is_null() -> None:
    system = System(Phone(PhoneSetup(seed=1, faults=("unknown_foreground",))))
    system.run("am start com.android.settings")
    assert "mCurrentFocus=null\n  mFocusedApp=null" in system.run("dumpsys window displays").stdout.decode()
    for line in ("dumpsys activity top", "dumpsys activity activities", "dumpsys window", "am stack list"):
        assert "settings" not in system.run(line).stdout.decode()


def test_the_display_is_described_with_its_orientation(system: System) -> None:
    assert "orientation=0" in system.run("dumpsys display").stdout.decode()
    system.run("settings put system user_rotation 1")
    text = system.run("dumpsys display").stdout.decode()
    assert "orientation=1, logicalFrame=Rect(0, 0 - 1280, 720)" in text
    assert system.run("wm size").stdout == b"Physical size: 720x1280\n"


def test_a_screen_capture_is_a_picture(system: System) -> None:
    assert system.run("screencap -p").stdout.startswith(b"\x89PNG\r\n")
    raw = system.run("screencap").stdout
    width, height, form, _ = struct.unpack_from("<4I", raw)
    assert (width, height, form) == (720, 1280, 1)
    assert len(raw) == 16 + 4 * width * height
    system.run("screencap /sdcard/s.png; screencap -p -d 0 /sdcard/t")
    for name in ("s.png", "t"):
        assert Image.open(io.BytesIO(system.files.read(f"/sdcard/{name}"))).size == (720, 1280)
    assert system.run("screencap -p /system/s.png").code == 1


def test_clients_of_uiautomator2_find_what_they_look_for(system: System) -> None:
    info = system.run("dumpsys package com.android.settings").stdout.decode()
    for pattern in (
        r"versionName=(\S+)",
        r"versionCode=(\d+)",
        r"PackageSignatures\{.*?\[(.*)\]\}",
        r"pkgFlags=\[\s*(.*)\s*\]",
        r"firstInstallTime=[-\d]+\s+[:\d]+",
        r"lastUpdateTime=[-\d]+\s+[:\d]+",
    ):
        assert re.search(pattern, info)
    assert re.search(r"mInputShown=(true|false)", system.run("dumpsys input_method").stdout.decode())


# ----------------------------------------------------------------------------------------------------------------------
# messages, contacts, calls


def test_messages_can_be_read_added_changed_and_deleted(system: System) -> None:
    insert = (
        "content insert --uri content://sms/inbox --bind address:s:+4912 --bind body:s:'Hello, you' --bind read:i:0"
    )
    assert system.run(insert).output == b""
    query = "content query --uri content://sms/inbox --projection _id:address:body --where \"address='+4912'\""
    (row,) = system.run(query).stdout.decode().splitlines()
    match = re.fullmatch(r"Row: 0 _id=(\d+), address=\+4912, body=Hello, you", row)
    assert match is not None
    assert system.phone.state[f"messages/{match[1]}/body"] == "Hello, you"
    assert system.phone.state[f"messages/{match[1]}/sent"] is False
    system.run(f"content update --uri content://sms/{match[1]} --bind body:s:Changed")
    assert system.phone.state[f"messages/{match[1]}/body"] == "Changed"
    system.run(f"content delete --uri content://sms --where \"_id={match[1]} AND body LIKE 'Chan%'\"")
    assert f"messages/{match[1]}/body" not in system.phone.state


def test_contacts_and_calls_are_listed(system: System) -> None:
    names = system.run(
        "content query --uri content://com.android.contacts/contacts --projection display_name"
    ).stdout.decode()
    assert {line.partition("display_name=")[2] for line in names.splitlines()} == {
        str(value) for path, value in system.phone.state.items() if re.fullmatch(r"contacts/\d+/name", path)
    }
    calls = system.run(
        "content query --uri content://call_log/calls --projection number:type --sort 'date DESC LIMIT 2'"
    )
    assert len(calls.stdout.splitlines()) == min(
        2, sum(path.endswith("/kind") for path in system.phone.state if path.startswith("phone/call/"))
    )


# ----------------------------------------------------------------------------------------------------------------------
# installing


def apk(manifest: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("AndroidManifest.xml", manifest)
        archive.writestr("classes.dex", b"dex")
    return stream.getvalue()


def binary_manifest(package: str, code: int, name: str) -> bytes:
    """Return a manifest in Android's binary XML: a string pool and one element."""
    strings = ["package", "versionCode", "versionName", "manifest", package, name]
    data = b"".join(struct.pack("<H", len(text)) + text.encode("utf-16-le") + b"\0\0" for text in strings)
    offsets, place = [], 0
    for text in strings:
        offsets.append(place)
        place += 4 + 2 * len(text)
    data += b"\0" * (-len(data) % 4)
    header = 28 + 4 * len(strings)
    pool = struct.pack("<HHI5I", 1, 28, header + len(data), len(strings), 0, 0, header, 0)
    pool += struct.pack(f"<{len(strings)}I", *offsets) + data
    attributes = (
        struct.pack("<IIiHBBI", 0xFFFFFFFF, 0, 4, 8, 0, 3, 4)
        + struct.pack("<IIiHBBI", 0xFFFFFFFF, 1, -1, 8, 0, 0x10, code)
        + struct.pack("<IIiHBBI", 0xFFFFFFFF, 2, 5, 8, 0, 3, 5)
    )
    element = struct.pack("<HHIII", 0x0102, 16, 16 + 20 + len(attributes), 1, 0xFFFFFFFF)
    element += struct.pack("<IIHHHHHH", 0xFFFFFFFF, 3, 20, 20, 3, 0, 0, 0) + attributes
    body = pool + element
    return struct.pack("<HHI", 3, 8, 8 + len(body)) + body


def test_an_apk_from_the_standard_input_is_installed_and_listed(system: System) -> None:
    content = apk(binary_manifest("org.example.app", 42, "1.2.3"))
    result = system.run(f"cmd package 'install' '-r' -S {len(content)}", content)
    assert (result.code, result.stdout) == (0, b"Success\n")
    assert system.run("pm list packages -3 org.example").stdout == b"package:org.example.app\n"
    info = system.run("dumpsys package org.example.app").stdout.decode()
    assert "versionCode=42 " in info
    assert "versionName=1.2.3" in info
    assert system.run("monkey -p org.example.app 1").code == 252
    assert system.run("am start -n org.example.app/.Main").code == 1
    assert system.run("pm uninstall org.example.app").stdout == b"Success\n"
    assert system.run("pm path org.example.app").code == 1


def test_an_apk_in_a_file_is_installed_and_one_in_a_session_too(system: System) -> None:
    content = apk(binary_manifest("org.example.app", 1, "1"))
    system.files.write("/data/local/tmp/a.apk", content)
    assert system.run("pm install -r -t /data/local/tmp/a.apk").stdout == b"Success\n"
    assert b"INSTALL_FAILED_ALREADY_EXISTS" in system.run("pm install -R /data/local/tmp/a.apk").stdout
    system.run("pm uninstall org.example.app")
    (number,) = re.findall(r"\[(\d+)\]", system.run("pm install-create -S 10").stdout.decode())
    assert (
        system.run(f"pm install-write -S {len(content)} {number} base.apk -", content).stdout
        == f"Success: streamed {len(content)} bytes\n".encode()
    )
    assert system.run(f"pm install-commit {number}").stdout == b"Success\n"
    assert system.packages.has("org.example.app")
    assert b"SecurityException" in system.run(f"pm install-commit {number}").stderr


@pytest.mark.parametrize(
    "content", [b"", b"junk", b"PK\x03\x04junk", apk(b""), apk(b"\x03\x00\x08\x00"), apk(bytes(100))]
)
def test_what_is_no_apk_is_refused_as_android_refuses_it(system: System, content: bytes) -> None:
    result = system.run(f"cmd package install -S {len(content)}", content)
    assert result.stdout.startswith(b"Failure [INSTALL_PARSE_FAILED_NOT_APK")
    assert result.code == 1


def test_an_apk_of_an_app_of_this_phone_is_taken_for_it(system: System) -> None:
    content = apk(b'<manifest package="io.appium.android.apis">')
    assert system.run("pm uninstall io.appium.android.apis").stdout == b"Success\n"
    assert system.run("monkey -p io.appium.android.apis 1").code == 252
    system.run(f"cmd package install -S {len(content)}", content)
    assert system.run("monkey -p io.appium.android.apis 1").code == 0


def test_the_keyboard_of_uiautomator2_types_what_it_is_sent(system: System) -> None:
    identity = f"{ADB_KEYBOARD}/.AdbKeyboard"
    content = apk(binary_manifest(ADB_KEYBOARD, 1, "1"))
    say = f"am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text {base64.b64encode('Grüße 你好'.encode()).decode()}"
    assert system.run(say).stdout.endswith(b"result=0\n")
    system.run(f"cmd package install -S {len(content)}", content)
    assert identity in system.run("ime list -s -a").stdout.decode().split()
    assert system.run(f"ime set {identity}").code == 255  # not enabled yet
    assert system.run(f"ime enable {identity}; ime set {identity}").stdout.decode().splitlines() == [
        f"Input method {identity}: now enabled for user #0", f"Input method {identity} selected for user #0",
    ]  # fmt: skip
    assert system.run("settings get secure default_input_method").stdout.decode().strip() == identity
    assert system.run(say).stdout.endswith(b'result=0, data="fail"\n')  # no field has the focus
    system.phone.open_app("com.android.settings")
    system.phone.open_page("settings/search", {})
    system.run("input tap 300 80")
    assert system.run(say).stdout.endswith(b'Broadcast completed: result=-1, data="success"\n')
    focused = system.phone.focused()
    assert focused is not None
    assert focused.text == "Grüße 你好"
    assert system.run("am broadcast -a ADB_KEYBOARD_CLEAR_TEXT").stdout.endswith(b'result=-1, data="success"\n')
    assert (system.phone.focused() or focused).text == ""
    assert system.run("am broadcast -a ADB_KEYBOARD_HIDE").stdout.endswith(b'result=-1, data="success"\n')
    assert not system.phone.keyboard_open
    system.run(f"ime disable {identity}")
    assert system.run("settings get secure default_input_method").stdout.endswith(b".LatinIME\n")


# ----------------------------------------------------------------------------------------------------------------------
# permissions, the log


def test_permissions_are_granted_and_revoked(system: System) -> None:
    package, name = next((package, app.permissions[0]) for package, app in system.phone.apps.items() if app.permissions)
    path = f"permissions/{package}/{name}"
    system.run(f"pm revoke {package} android.permission.{name}")
    assert system.phone.state[path] == "denied"
    assert f"android.permission.{name}: granted=false" in system.run(f"dumpsys package {package}").stdout.decode()
    system.run(f"pm grant {package} android.permission.{name}")
    assert system.phone.state[path] == "granted"
    assert b"Unknown package" in system.run(f"pm grant com.nothing android.permission.{name}").stderr
    assert b"has not requested" in system.run(f"pm grant {package} android.permission.NOTHING").stderr


def test_the_log_grows_with_time_and_can_be_followed_filtered_and_cleared(system: System) -> None:
    system.run("am start com.android.settings")
    assert "START u0 Intent" in system.run("logcat -d").stdout.decode()
    assert re.match(r"\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} I/ActivityTaskManager\( +610\): START",
                    system.run("logcat -d -v time -s ActivityTaskManager | grep START").stdout.decode())  # fmt: skip
    system.run("logcat --clear")
    assert system.run("logcat -d").stdout == b""
    session = system.open_session("export ANDROID_LOG_TAGS=''; exec logcat -v brief")
    session.take()
    for _ in range(3):
        assert session.wake_ms is not None
        system.phone.advance((session.wake_ms - system.phone.clock.now_ms) / 1000)
        session.resume()
        assert session.take()
    session.hang_up()
    assert len(system.run("logcat -d").stdout.splitlines()) == 4
    assert len(system.run("logcat -t 2").stdout.splitlines()) == 2


def test_wifi_networks_are_joined_by_name_and_password(system: System) -> None:
    networks = str(system.phone.world["wifi/nearby"]).split("|")
    is_open = [name for name in str(system.phone.world["wifi/open"]).split("|") if name]
    locked = next(
        name for name in networks if name not in is_open and name != system.phone.state["settings/wifi_network"]
    )
    system.run(f"cmd wifi connect-network '{locked}' wpa2 secret123")
    assert system.phone.state["settings/wifi_network"] == locked
    assert f'Wifi is connected to "{locked}"' in system.run("cmd wifi status").stdout.decode()
    assert locked in system.run("cmd wifi list-networks").stdout.decode()
    assert locked in system.run("cmd wifi list-scan-results").stdout.decode()
    assert b"failed" in system.run("cmd wifi connect-network 'No such network' open").stdout


def test_clearing_an_app_deletes_what_it_keeps(system: System) -> None:
    assert any(path.startswith("contacts/") for path in system.phone.state)
    assert system.run("pm clear com.android.contacts").stdout == b"Success\n"
    assert not any(path.startswith("contacts/") for path in system.phone.state)


def test_notifications_are_posted_and_listed(system: System) -> None:
    before = system.run("cmd notification list").stdout.splitlines()
    assert system.run("cmd notification post -t Title tag 'The text'").code == 0
    assert len(system.run("cmd notification list").stdout.splitlines()) == len(before) + 1
    assert "android.text=String (The text)" in system.run("dumpsys notification").stdout.decode()
