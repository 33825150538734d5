from __future__ import annotations

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.commands import Shell, split
from agent_eval.types import PhoneSetup


@pytest.fixture
def shell() -> Shell:
    state = {"settings/wifi_on": True, "settings/brightness": 77, "battery/level": 55, "settings/screen_timeout_s": 60}
    return Shell(Phone(PhoneSetup(seed=1, state=state)))


def run(shell: Shell, line: str) -> str:
    return shell.run(line).output.decode()


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("echo a  b", "a b\n"),
        ("echo 'a  b' \"c d\" e\\ f", "a  b c d e f\n"),
        ("echo ''", "\n"),
        ("echo 'it'\\''s'", "it's\n"),
        ("true; echo X4EXIT:$?", "X4EXIT:0\n"),
        ("nosuch; echo X4EXIT:$?", "/system/bin/sh: nosuch: inaccessible or not found\nX4EXIT:127\n"),
        ("echo '$?'", "$?\n"),
        ('echo "$?"', "0\n"),
        ("nosuch && echo no || echo yes", "/system/bin/sh: nosuch: inaccessible or not found\nyes\n"),
        ("true && echo yes || echo no", "yes\n"),
        ("echo a\necho b", "a\nb\n"),
        ("", ""),
    ],
)
def test_command_lines_are_read_as_a_shell_reads_them(shell: Shell, line: str, output: str) -> None:
    assert run(shell, line) == output


@pytest.mark.parametrize("line", ["'", '"', "a'b", ";;", "&& ||", "\\", "$", '"\\', "echo '\\"])
def test_torn_command_lines_do_not_raise(shell: Shell, line: str) -> None:
    split(line)
    shell.run(line)


def test_unknown_commands_are_counted(shell: Shell) -> None:
    shell.run("frobnicate; frobnicate -x; ls")
    assert shell.unknown == {"frobnicate": 2, "ls": 1}


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("settings get global wifi_on", "1"),
        ("settings get global airplane_mode_on", "0"),
        ("settings get system screen_brightness", "77"),
        ("settings get system screen_off_timeout", "60000"),
        ("settings get secure nothing", "null"),
        ("settings put global wifi_on 0; settings get global wifi_on", "0"),
        ("settings put system screen_brightness 999; settings get system screen_brightness", "77"),
        (
            "settings put system custom 5; settings get system custom; settings delete system custom",
            "5\nDeleted 1 rows",
        ),
        ("settings get lunar wifi_on", "Invalid namespace 'lunar'"),
        ("settings get", "Bad arguments"),
        ("svc wifi disable; settings get global wifi_on", "0"),
        ("getprop ro.build.version.release", "15"),
        ("getprop nothing", ""),
        ("wm size", "Physical size: 720x1280"),
        ("wm density", "Physical density: 320"),
        ("pm path com.android.settings", "package:/system/app/settings/base.apk"),
        ("ime list -s -a", "com.android.inputmethod.latin/.LatinIME"),
        ("input", "Error: Insufficient arguments"),
        ("input tap x y", "Error: Invalid arguments for command: tap"),
        ("input teleport", "Error: Unknown command: teleport"),
        ("cat /nothing", "cat: /nothing: No such file or directory"),
        ("uiautomator dump /sdcard/x.xml", "UI hierchary dumped to: /sdcard/x.xml"),
    ],
)
def test_commands_print_what_androids_do(shell: Shell, line: str, output: str) -> None:
    assert run(shell, line).rstrip("\n") == output


def test_settings_are_listed_sorted(shell: Shell) -> None:
    for namespace in ("global", "system", "secure"):
        lines = run(shell, f"settings list {namespace}").splitlines()
        assert lines == sorted(lines)
        assert all("=" in line for line in lines)
    assert "airplane_mode_on=0" in run(shell, "settings list global").splitlines()


def test_airplane_mode_from_the_shell_has_its_consequences(shell: Shell) -> None:
    run(shell, "settings put global airplane_mode_on 1")
    assert run(shell, "settings get global wifi_on") == "0\n"


def test_input_drives_the_phone(shell: Shell) -> None:
    phone = shell.phone
    run(shell, "am start -n com.android.settings/.homepage.SettingsHomepageActivity")
    run(shell, "input swipe 360 900 360 500 300")
    assert phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"] == 400
    run(shell, "input keyevent KEYCODE_HOME")
    assert phone.front.screen == "launcher/home"
    run(shell, "am start -a android.settings.BLUETOOTH_SETTINGS")
    assert phone.front.screen == "settings/bluetooth"
    phone.open_page("settings/search", {})
    run(shell, "input tap 300 80; input text a%sb; input keyevent 67 67")
    assert "settings/search/text/query', 'a'" in str(phone.snapshot().transient)


@pytest.mark.parametrize(
    ("line", "says", "code"),
    [
        ("am start -n com.example/.Main", "Error type 3", 1),
        ("am start -n com.android.settings/.Absent", "does not exist", 1),
        ("am start -a com.example.NOTHING", "unable to resolve Intent", 1),
        ("monkey -p com.example -c android.intent.category.LAUNCHER 1", "No activities found to run", 252),
        ("monkey -p com.android.systemui -c android.intent.category.LAUNCHER 1", "No activities found to run", 252),
        ("am force-stop com.example", "", 0),
        ("am frob", "Unknown command: frob", 255),
        ("dumpsys nothing", "Can't find service: nothing", 20),
    ],
)
def test_failures_are_told_as_android_tells_them(shell: Shell, line: str, says: str, code: int) -> None:
    result = shell.run(line)
    assert says in result.output.decode()
    assert result.code == code
    assert shell.phone.front.screen == "launcher/home"


def test_an_app_in_front_is_only_brought_to_the_front_again(shell: Shell) -> None:
    line = "am start -n com.android.settings/.homepage.SettingsHomepageActivity"
    assert b"Warning" not in shell.run(line).stderr
    result = shell.run(line)
    assert b"Warning: Activity not started" in result.stderr
    assert result.code == 0


def test_focus_is_printed_per_display_only(shell: Shell) -> None:
    run(shell, "monkey -p com.android.deskclock -c android.intent.category.LAUNCHER 1")
    assert "mCurrentFocus" not in run(shell, "dumpsys window windows")
    assert "u0 com.android.deskclock/com.android.deskclock.DeskClock}" in run(shell, "dumpsys window displays")
    assert "com.android.deskclock/.DeskClock t12}" in run(shell, "dumpsys activity activities")
    top = run(shell, "dumpsys activity top").splitlines()
    assert top[-1].split()[:2] == ["ACTIVITY", "com.android.deskclock/.DeskClock"]


def test_the_battery_is_dumped_with_its_level(shell: Shell) -> None:
    assert "  level: 55" in run(shell, "dumpsys battery").splitlines()


def test_running_apps_have_a_process(shell: Shell) -> None:
    shell.phone.open_app("com.android.camera2")
    rows = [line.split() for line in run(shell, "ps -A").splitlines()]
    assert all(len(row) >= 9 for row in rows[1:])
    assert "com.android.camera2" in [row[-1] for row in rows]


def test_a_screen_capture_is_a_png(shell: Shell) -> None:
    assert shell.run("screencap -p").stdout.startswith(b"\x89PNG\r\n")
    shell.run("screencap -p /sdcard/s.png")
    assert shell.files["/sdcard/s.png"].startswith(b"\x89PNG\r\n")
    assert shell.run("rm /sdcard/s.png").code == 0
    assert shell.run("rm /sdcard/s.png").code == 1
    assert shell.run("rm -f /sdcard/s.png").code == 0


def test_sleeping_in_the_shell_takes_virtual_time(shell: Shell) -> None:
    before = shell.phone.now_ms
    shell.run("sleep 2.5")
    assert shell.phone.now_ms - before == 2500
    assert shell.run("sleep soon").code == 1
