"""Which tasks there are, and which sets of them are run together. Knows nothing of how a task works."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from agent_eval.contracts import Instance
from agent_eval.tasks.families import (
    browser,
    calendar,
    camera,
    clock,
    contacts,
    expenses,
    files,
    launcher,
    messages,
    multi,
    music,
    notes,
    recipes,
    settings,
)
from agent_eval.tasks.task import Template
from agent_eval.tasks.variants import Variant, variant_of

_FAMILIES = (
    settings, launcher, clock, contacts, messages, calendar, camera, files, notes, browser, music, recipes, expenses,
    multi,
)  # fmt: skip

TASKS: dict[str, Template] = {template.name: template for family in _FAMILIES for template in family.TEMPLATES}
"""Every task by its name, in the order in which they are listed."""


@dataclass(frozen=True)
class Suite:
    """A named set of tasks that are run together."""

    summary: str
    tasks: tuple[str, ...]
    """Names of tasks or of variants of them."""
    instances: int
    """Instances of each, unless a command says otherwise."""


_QUICK = (
    "WifiSet", "WifiSetAlready", "AirplaneSet", "DoNotDisturbSet", "WifiJoin", "DeviceInfo", "NfcOn", "OpenApp",
    "TorchSet", "AlarmCreate", "AlarmAlready", "AlarmDelete", "TimerCreate", "ContactAdd", "ContactNumber", "SmsSend",
    "EventAddTomorrow", "NextEvent", "TakePhoto", "FileMove", "NoteCreate", "PlaySong", "IngredientQuantity",
    "ExpenseAdd",
)  # fmt: skip
"""Every family and every trait, in the proportions of the whole."""

_FAULT_OF: dict[str, str] = {
    "WifiSet": "async_toggle",
    "WifiSetAlready": "unlabelled_switch",
    "BluetoothSet": "already_set",
    "BluetoothSetAlready": "confirm_toggle",
    "AirplaneSet": "async_toggle",
    "DoNotDisturbSet": "tap_noop",
    "DarkThemeSet": "confirm_toggle",
    "BrightnessSet": "heads_up",
    "ScreenTimeoutSet": "below_fold",
    "WifiJoin": "keyboard_overlay",
    "WifiOffBluetoothOn": "async_toggle",
    "DeviceNameSet": "text_mangled",
    "DeviceInfo": "lookalike_app",
    "NfcOn": "below_fold",
    "OpenApp": "unknown_foreground",
    "TorchSet": "tap_noop",
    "DismissNotification": "skin",
    "AlarmCreate": "lookalike_app",
    "AlarmCreateLabelDays": "skin",
    "AlarmToggle": "duplicate_labels",
    "AlarmAlready": "empty_dump",
    "AlarmDelete": "stale_tree",
    "TimerCreate": "unknown_foreground",
    "StopwatchRun": "heads_up",
    "AlarmVibrates": "list_shift",
    "ContactAdd": "text_mangled",
    "ContactDraft": "keyboard_overlay",
    "ContactEditPhone": "duplicate_labels",
    "ContactDelete": "permission_dialog",
    "ContactNumber": "empty_dump",
    "SmsSend": "text_mangled",
    "SmsReplyLatest": "heads_up",
    "SmsResendTo": "list_shift",
    "SmsForwardAddress": "partial_dump",
    "EventAdd": "keyboard_overlay",
    "EventAddTomorrow": "tap_noop",
    "EventDelete": "anr_dialog",
    "EventsDeleteOnDay": "partial_dump",
    "NextEvent": "permission_dialog",
    "MeetingWith": "empty_dump",
    "TakePhoto": "permission_dialog",
    "RecordVideo": "permission_dialog",
    "FileDelete": "anr_dialog",
    "FileMove": "occluded_element",
    "FileCopySameName": "duplicate_labels",
    "NoteCreate": "text_mangled",
    "NotePrependHeader": "keyboard_overlay",
    "NoteDeleteNewest": "below_fold",
    "TodoCount": "stale_tree",
    "OpenUrlBookmark": "occluded_element",
    "RememberAndMultiply": "tap_noop",
    "PlaySong": "anr_dialog",
    "PlaylistCreate": "stale_tree",
    "RecipeAdd": "keyboard_overlay",
    "RecipeDeleteNamed": "list_shift",
    "IngredientQuantity": "partial_dump",
    "ExpenseAdd": "skin",
    "ExpenseDeleteDuplicates": "occluded_element",
    "ExpensesFromNote": "list_shift",
    "NoteThenSms": "unknown_foreground",
}
"""The fault of the phone under which the robustness suite asks for each task: one that gets in the way of just that."""

_STUDY_TASKS = (
    "WifiSet[wanted=on]", "WifiSetAlready[wanted=on]", "WifiSet[wanted=off]", "AirplaneSet[start=off;wanted=on]",
    "OpenApp[app=Clock]", "AlarmCreate",
)  # fmt: skip
_STUDY_VARIANTS = ("", "+wlan", "+reordered", "+duplicate_labels", "+below_fold")
"""The reference study's base, wlan, reordered, decoy and deep."""

SUITES: dict[str, Suite] = {
    "default": Suite("every task", tuple(TASKS), 2),
    "full": Suite("every task, for narrower intervals", tuple(TASKS), 4),
    "quick": Suite("two dozen tasks of all families", _QUICK, 1),
    "smoke": Suite("the two tasks of the reference study's table", ("WifiSet[wanted=on]", "AlarmCreate"), 1),
    "robustness": Suite(
        "every task, each with one fault of the phone", tuple(f"{name}+{_FAULT_OF[name]}" for name in TASKS), 1
    ),
    "androidworld": Suite(
        "the tasks that stand for tasks of AndroidWorld",
        tuple(name for name, task in TASKS.items() if task.android_world),
        2,
    ),
    "reference": Suite(
        "the reference study's six tasks, each in its five variants",
        tuple(task + variant for variant in _STUDY_VARIANTS for task in _STUDY_TASKS),
        1,
    ),
}
"""Named sets of tasks."""


def find_task(name: str) -> Template | Variant:
    """Return the task or variant of a name.

    Raises:
        UnknownName: there is no such task, fault or skin.
    """
    return variant_of(name, TASKS)


def suite_digest(instances: Iterable[Instance]) -> str:
    """Return a digest over what the instances ask and allow: the same suite, the same digest, in any order."""
    rows = sorted(
        [instance.id, instance.version, instance.goal, instance.budget, sorted(instance.parameters.items())]
        for instance in instances
    )
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:16]
