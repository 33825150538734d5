"""Every command of this phone. A family of commands is a module with a table; a new one is named here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agent_eval.device_sim.shell import (
    am,
    builtins,
    cmd,
    content,
    device,
    dumpsys,
    file_tools,
    ime,
    logcat,
    pm,
    process_tools,
    sed,
    settings,
    text_tools,
    uiautomator,
)
from agent_eval.device_sim.shell import (
    input as input_tools,
)
from agent_eval.device_sim.shell.context import Command

FAMILIES: tuple[Mapping[str, Command], ...] = (
    builtins.BUILTINS,
    file_tools.FILE_TOOLS,
    process_tools.PROCESS_TOOLS,
    sed.SED,
    text_tools.TEXT_TOOLS,
    am.ACTIVITY_MANAGER,
    cmd.CMD,
    content.CONTENT,
    device.DEVICE_COMMANDS,
    dumpsys.DUMPSYS,
    ime.IME,
    input_tools.INPUT,
    logcat.LOGCAT,
    pm.PACKAGE_MANAGER,
    settings.SETTINGS,
    uiautomator.UIAUTOMATOR,
)

COMMANDS: Mapping[str, Command] = MappingProxyType({name: run for family in FAMILIES for name, run in family.items()})
