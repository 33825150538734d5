"""``uiautomator dump``, and ``app_process``, which starts the uiautomator2 server. Knows no screens and no protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from agent_eval.device_sim.files import FileProblem
from agent_eval.device_sim.shell.context import Command, Context
from agent_eval.device_sim.shell.process import Forever, Steps

DEFAULT_DUMP = "/sdcard/window_dump.xml"
SERVER_CLASS = "com.wetest.uia2.Main"
"""Main class of u2.jar (uiautomator2 core.py)."""
SERVER = "uiautomator2"
"""Name under which the server is made known with ``System.provide``."""
SERVER_PORT = 9008


def _uiautomator(context: Context, arguments: list[str]) -> int | Steps:
    verb = arguments[0] if arguments else "help"
    if verb == "dump":
        return _dump(context, arguments[1:])
    if verb == "events":
        return _events(context)
    if verb == "runtest":
        context.err("Error: No test class specified.")
        return 1
    usage = (
        "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\nhelp: displays help message\n\n"
        "runtest: executes UI automation tests\n\ndump: creates an XML dump of current UI hierarchy\n"
        "    dump [--verbose][file]\n\nevents: prints out accessibility events until terminated\n"
    )
    context.err(usage) if verb != "help" else context.line(usage)
    return 0 if verb == "help" else 1


def _dump(context: Context, arguments: list[str]) -> int:
    paths = [word for word in arguments if not word.startswith("--")]
    path = paths[0] if paths else DEFAULT_DUMP
    windows = arguments.count("--windows") > 0
    phone = context.phone
    if not phone.world["screen/on"]:
        context.err("ERROR: null root node returned by UiTestAutomationBridge.")
        return 0
    xml = phone.hierarchy_xml() if windows else phone.uiautomator_dump(compressed="--compressed" in arguments)
    if not xml or "<node" not in xml:
        context.err("ERROR: null root node returned by UiTestAutomationBridge.")
        return 0
    if path in ("/dev/tty", "/dev/stdout", "/proc/self/fd/1"):
        context.out(xml)
    else:
        try:
            context.files.write(context.path(path), xml.encode())
        except FileProblem as problem:
            context.err(f"java.io.FileNotFoundException: {path}: open failed: {problem.code} ({problem.reason})")
            return 0
    context.line(f"UI hierchary dumped to: {path}")  # the tool's own spelling
    return 0


def _events(context: Context) -> Steps:
    context.err("Waiting for accessibility events")
    yield Forever()
    return 0


def _app_process(context: Context, arguments: list[str]) -> int | Steps:
    words = [word for word in arguments if not word.startswith(("-X", "-D", "--nice-name"))]
    name = next((word for word in words[1:] if not word.startswith("-")), "")
    if not words or not name:
        context.err("Error: no class name or --zygote supplied.\napp_process [java-options] cmd-dir start-class-name")
        return 255
    if name != SERVER_CLASS or SERVER not in context.system.services:
        context.system.count_unknown(f"app_process {name}")
        context.err(f"Error: Could not find or load main class {name}\nAborted")
        return 134
    port = words[words.index("-p") + 1] if "-p" in words[:-1] else str(SERVER_PORT)
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
        context.err(f'[server] ERROR: For input string: "{port[:20]}"')
        return 1
    return _serve(context, int(port))


def _serve(context: Context, port: int) -> Steps:
    system = context.system
    context.line("[server] INFO: [UiAutomator2Server] Starting Server")
    if system.services[SERVER] in system.ports.values():
        context.err("[server] ERROR: java.lang.IllegalStateException: UiAutomationService "
                    "android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5a1b2c3 "
                    "already registered!")  # fmt: skip
        return 1
    if port in system.ports:
        context.err("[server] ERROR: java.net.BindException: Address already in use")
        return 1
    system.listen(port, system.services[SERVER], context.shell.task)
    try:
        yield Forever()
    finally:
        system.free_port(port)
    return 0


UIAUTOMATOR: Mapping[str, Command] = MappingProxyType(
    {"app_process": Command(_app_process, toybox=False), "uiautomator": Command(_uiautomator, toybox=False, work=40)}
)
