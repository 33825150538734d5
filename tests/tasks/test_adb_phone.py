"""The back door to a phone that only adb reaches, on a phone whose whole state is known besides."""

from __future__ import annotations

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.system import System
from agent_eval.errors import DeviceFault, TaskFault
from agent_eval.tasks import TASKS, AdbPhone, playable
from agent_eval.tasks.adb_phone import ANSWERS
from agent_eval.types import PhoneSetup, Scalar, Skin


@pytest.fixture
def phone() -> Phone:
    return Phone(PhoneSetup(seed=5))


@pytest.fixture
def control(phone: Phone) -> AdbPhone:
    system = System(phone)
    return AdbPhone(lambda line: system.run(line).output.decode())


def test_the_shell_answers_every_path_with_what_the_phone_holds(phone: Phone, control: AdbPhone) -> None:
    persisted = dict(phone.snapshot().persisted)
    assert dict(control.snapshot().persisted) == {path: persisted[path] for path in ANSWERS}


WRITES: tuple[tuple[str, tuple[Scalar, Scalar]], ...] = (
    ("settings/adaptive_brightness", (True, False)),
    ("settings/airplane_mode_on", (True, False)),
    ("settings/battery_saver", (True, False)),
    ("settings/bluetooth_on", (True, False)),
    ("settings/brightness", (0, 255)),
    ("settings/dark_theme", (True, False)),
    ("settings/data_saver", (True, False)),
    ("settings/device_name", ("Ann's phone", 'a $(reboot) `b` "c"')),
    ("settings/do_not_disturb", (True, False)),
    ("settings/screen_timeout_s", (15, 600)),
    ("settings/volume_alarm", (1, 7)),
    ("settings/volume_media", (0, 15)),
    ("settings/volume_ring", (0, 7)),
    ("settings/wifi_on", (True, False)),
)


def test_there_is_a_case_for_every_path_that_can_be_set() -> None:
    assert [path for path, _ in WRITES] == [path for path, answer in ANSWERS.items() if answer.write]


@pytest.mark.parametrize(("path", "values"), WRITES)
def test_what_is_set_is_what_the_phone_then_holds(
    phone: Phone, control: AdbPhone, path: str, values: tuple[Scalar, Scalar]
) -> None:
    for value in (*values, *values):
        control.reset(PhoneSetup(seed=1, state={path: value}))
        assert phone.state[path] == value
        assert control.snapshot()[path] == value


def test_a_reset_shows_the_launcher_and_leaves_no_page_open(phone: Phone, control: AdbPhone) -> None:
    phone.open_app("com.android.settings")
    phone.open_page("settings/network", {})
    control.reset(PhoneSetup(seed=1))
    assert phone.front.screen == "launcher/home"
    phone.open_app("com.android.settings")
    assert phone.front.screen == "settings/home"


@pytest.mark.parametrize("path", ["clock/alarm/1/hour", "about/android_version"])
def test_what_a_shell_cannot_set_is_refused_by_name(control: AdbPhone, path: str) -> None:
    with pytest.raises(TaskFault, match=path):
        control.reset(PhoneSetup(seed=1, state={path: 7}))


def test_skins_faults_and_plans_are_for_simulated_phones(control: AdbPhone) -> None:
    with pytest.raises(TaskFault, match="skin"):
        control.reset(PhoneSetup(seed=1, skin=Skin(locale="de")))
    with pytest.raises(TaskFault, match="settings/wifi_on"):
        control.schedule(1, {"settings/wifi_on": True})
    assert control.fired() == ()


def test_a_phone_that_does_not_take_a_value_is_a_fault_and_not_a_start(phone: Phone) -> None:
    system = System(phone)
    stubborn = AdbPhone(lambda line: system.run(line.replace("svc wifi", "true")).output.decode())
    wanted = not phone.state["settings/wifi_on"]
    with pytest.raises(TaskFault, match=f"settings/wifi_on.*{wanted}"):
        stubborn.reset(PhoneSetup(seed=1, state={"settings/wifi_on": wanted}))


def test_a_shell_that_says_nothing_is_a_device_that_failed() -> None:
    with pytest.raises(DeviceFault):
        AdbPhone(lambda _: "").snapshot()


def test_it_is_known_beforehand_which_tasks_such_a_phone_can_play() -> None:
    can = {name for name, task in TASKS.items() if playable(task.draw(0).paths)}
    assert {"WifiSet", "BluetoothSet", "AirplaneSet", "DarkThemeSet"} <= can
    assert can.isdisjoint({"AlarmCreate", "AlarmDelete"})
