"""Which tasks there are, and which sets of them are run together. Knows nothing of how a task works."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from agent_eval.contracts import Instance
from agent_eval.tasks.clock import ALARM_ALREADY, ALARM_CREATE, ALARM_DELETE, ALARM_TOGGLE
from agent_eval.tasks.settings import (
    AIRPLANE_SET,
    BLUETOOTH_SET,
    BLUETOOTH_SET_ALREADY,
    BRIGHTNESS_SET,
    DARK_THEME_SET,
    DEVICE_INFO,
    WIFI_SET,
    WIFI_SET_ALREADY,
)
from agent_eval.tasks.task import Template

TASKS: dict[str, Template] = {
    "WifiSet": WIFI_SET,
    "WifiSetAlready": WIFI_SET_ALREADY,
    "BluetoothSet": BLUETOOTH_SET,
    "BluetoothSetAlready": BLUETOOTH_SET_ALREADY,
    "AirplaneSet": AIRPLANE_SET,
    "DarkThemeSet": DARK_THEME_SET,
    "BrightnessSet": BRIGHTNESS_SET,
    "DeviceInfo": DEVICE_INFO,
    "AlarmCreate": ALARM_CREATE,
    "AlarmToggle": ALARM_TOGGLE,
    "AlarmAlready": ALARM_ALREADY,
    "AlarmDelete": ALARM_DELETE,
}
"""Every task by its name, in the order in which they are listed."""

SUITES: dict[str, tuple[str, ...]] = {
    "default": tuple(TASKS),
    "smoke": ("WifiSet", "AlarmCreate"),
}
"""Named sets of tasks."""


def suite_digest(instances: Iterable[Instance]) -> str:
    """Return a digest over what the instances ask and allow: the same suite, the same digest, in any order."""
    rows = sorted(
        [instance.id, instance.goal, instance.budget, sorted(instance.parameters.items())] for instance in instances
    )
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:16]
