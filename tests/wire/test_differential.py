"""The phone is the same phone over adb and in process: the same actions lead to the same screens and states."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from agent_eval.agent import adb
from agent_eval.agent.device import connect
from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import PhoneSetup, Skin

pytestmark = pytest.mark.peers

ACTIONS = 750
"""Per kind of phone; four kinds make three thousand."""
SETUPS = {
    "plain": PhoneSetup(seed=1),
    "german, dense, large text": PhoneSetup(seed=2, skin=Skin("de", 1.3, 400, "wlan", 5), keep_alarms=True),
    "chinese": PhoneSetup(seed=3, skin=Skin("zh")),
    "faulty": PhoneSetup(seed=4, faults=("tap_noop", "heads_up", "async_toggle", "list_shift", "confirm_toggle")),
}
PACKAGES = (
    "com.android.settings", "com.android.deskclock", "com.android.contacts", "com.android.messaging",
    "io.appium.android.apis",
)  # fmt: skip
KEYS = ("back", "back", "home", "recent", "enter", "delete", "volume_up", 61)
TEXTS = ("Grüße 你好", "7", 'a b\'s "c" $(x)', "")


@dataclass(frozen=True)
class Pair:
    """One phone in this process and one behind adb."""

    inner: Phone
    near: Any
    outer: ServedPhone
    far: Any

    def reset(self, setup: PhoneSetup) -> None:
        self.inner.reset(setup)
        self.outer.reset(setup)

    def both(self, call: str, *arguments: Any, **named: Any) -> None:
        """Do the same on both, and get the same."""
        answers = [getattr(device, call)(*arguments, **named) for device in (self.near, self.far)]
        assert answers[0] == answers[1], (call, arguments)

    def compare(self) -> str:
        seen = str(self.near.dump_hierarchy())
        assert seen == self.far.dump_hierarchy()
        assert self.inner.snapshot() == self.outer.snapshot()
        return seen


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    inner = Phone()
    with ServedPhone(Phone()) as outer, adb.private_server() as port:
        far = connect(adb.attach(port, outer.port), adb.QuickClient(port))
        yield Pair(inner, SimDevice(inner), outer, far)
        far.stop_uiautomator()
        assert outer.failures == ()


@pytest.mark.parametrize("kind", SETUPS)
def test_the_same_random_actions_lead_to_the_same_screens_and_states(pair: Pair, kind: str) -> None:
    rng = random.Random(kind)
    pair.reset(SETUPS[kind])
    for number in range(ACTIONS):
        match rng.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                pair.both("click", rng.randrange(720), rng.randrange(1280))
            case 5:
                x, y = rng.randrange(720), rng.randrange(1280)
                pair.both("swipe", x, y, rng.randrange(720), rng.randrange(1280), steps=rng.randrange(2, 40))
            case 6:
                pair.both("press", rng.choice(KEYS))
            case 7:
                pair.both("app_start", rng.choice(PACKAGES))
            case 8:
                pair.both("send_keys", rng.choice(TEXTS), clear=rng.random() < 0.5) if pair.inner.focused() else None
            case 9:
                pair.both("long_click", rng.randrange(720), rng.randrange(1280))
            case 10:
                for device in (pair.near, pair.far):
                    device.shell("sleep 0.4")
            case 11:
                infos = [bool(device(clickable=True, instance=number % 7).exists) for device in (pair.near, pair.far)]
                assert infos[0] == infos[1]
        if number % 5 == 0:
            pair.compare()
    pair.compare()
    assert pair.inner.fired() == pair.outer.fired()


SHELL_LINES = (
    "wm size; wm density",
    "dumpsys window | grep mCurrentFocus",
    "dumpsys activity top | tail -1",
    "ps -A | grep -c u0_a",
    "settings list global",
    "getprop",
    "pm list packages -f",
    "ls -la /sdcard",
    "input tap 300 500; echo $?",
    "ime list -s",
    "uiautomator dump /sdcard/w.xml; cat /sdcard/w.xml; rm /sdcard/w.xml",
    "content query --uri content://sms",
    "date",
    "nosuchcommand 2>&1; echo $?",
    "for i in 1 2 3; do echo $i; done | sort -r",
)


@pytest.mark.parametrize("line", SHELL_LINES)
def test_the_shell_prints_the_same_over_adb_and_in_process(pair: Pair, line: str) -> None:
    pair.reset(SETUPS["plain"])
    near, far = pair.near.shell(line), pair.far.shell(line)
    assert (near.output, near.exit_code) == (far.output, far.exit_code)


def test_objects_and_errors_are_the_same_over_adb_and_in_process(pair: Pair) -> None:
    pair.reset(SETUPS["plain"])
    pair.both("app_start", "com.android.settings")
    for ask in (
        lambda device: device.info,
        lambda device: device(scrollable=True).info,
        lambda device: [item.info for item in device(resourceId="android:id/title")],
        lambda device: device(text="Network & internet").sibling(resourceId="android:id/summary").info,
        lambda device: device(scrollable=True).scroll.to(text="About phone"),
        lambda device: device(scrollable=True).child_by_text("System", allow_scroll_search=True).info,
        lambda device: device.clipboard,
        lambda device: device.screenshot().tobytes(),
        lambda device: type(attempt(lambda: device(text="not there").get_text(timeout=0))),
        lambda device: device.app_current() | {"pid": 0},
    ):
        near, far = (ask(device) for device in (pair.near, pair.far))
        assert near == far
    pair.compare()


def attempt(act: Any) -> object:
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - its type is what is compared
        return error
