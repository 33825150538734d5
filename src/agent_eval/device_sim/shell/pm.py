"""The package manager: ``pm``, and the same behind ``cmd package``."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from agent_eval.device_sim.apps import launcher
from agent_eval.device_sim.files import FileProblem
from agent_eval.device_sim.shell import activities
from agent_eval.device_sim.shell.apk import Manifest, read_manifest
from agent_eval.device_sim.shell.context import Command, Context, UsageError
from agent_eval.device_sim.shell.intents import Intent, full, parse_intent, short
from agent_eval.device_sim.shell.packages import ADB_KEYBOARD, Package, pid_of
from agent_eval.device_sim.shell.process import Steps, Wait, read_all, read_exactly

FEATURES = (
    "android.hardware.audio.output", "android.hardware.bluetooth", "android.hardware.camera",
    "android.hardware.camera.front", "android.hardware.faketouch", "android.hardware.location",
    "android.hardware.location.gps", "android.hardware.microphone", "android.hardware.screen.portrait",
    "android.hardware.sensor.accelerometer", "android.hardware.telephony", "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch", "android.hardware.wifi", "android.software.input_methods",
)  # fmt: skip
LIBRARIES = ("android.test.base", "android.test.mock", "android.test.runner", "javax.obex", "org.apache.http.legacy")
_LARGEST_APK = 200 << 20


def _plain(words: Iterable[str], *valued: str) -> list[str]:
    """Return the arguments that are no options; those named take a value."""
    out: list[str] = []
    queue = iter(words)
    for word in queue:
        if word in valued:
            next(queue, None)
        elif not word.startswith("-"):
            out.append(word)
    return out


def _list(context: Context, words: list[str]) -> int:
    what = words[0] if words else ""
    match what:
        case "packages" | "package":
            return _list_packages(context, words[1:])
        case "features":
            context.lines(f"feature:{name}" for name in FEATURES)
        case "libraries":
            context.lines(f"library:{name}" for name in LIBRARIES)
        case "users":
            context.line("Users:\n\tUserInfo{0:Owner:c13} running")
        case "permission-groups":
            names = sorted({name for app in context.phone.apps.values() for name in app.permissions})
            context.lines(f"permission group:android.permission-group.{name}" for name in names)
        case "permissions":
            names = sorted({name for app in context.phone.apps.values() for name in app.permissions})
            context.line("All Permissions:\n")
            context.lines(f"permission:android.permission.{name}" for name in names)
        case "instrumentation" | "staged-sessions" | "initial-non-stopped-system-packages":
            return 0
        case _:
            context.err(f"Error: unknown list type '{what}'" if what else "Error: list type required")
            return 255
    return 0


def _list_packages(context: Context, words: list[str]) -> int:
    flags = {word for word in words if word.startswith("-")}
    wanted = next((word for word in _plain(words, "--user", "--uid") if word), "")
    uid = next((words[place + 1] for place, word in enumerate(words[:-1]) if word == "--uid"), "")
    out: list[str] = []
    for package in context.system.packages:
        if wanted not in package.name or (uid and uid != str(package.uid)):
            continue
        if ("-3" in flags and package.system) or ("-s" in flags and not package.system):
            continue
        if ("-e" in flags and not package.enabled) or ("-d" in flags and package.enabled):
            continue
        line = f"package:{package.path}={package.name}" if "-f" in flags else f"package:{package.name}"
        line += f" versionCode:{package.version_code}" if "--show-versioncode" in flags else ""
        line += "  installer=null" if "-i" in flags else ""
        line += f" uid:{package.uid}" if "-U" in flags else ""
        out.append(line)
    context.lines(out)
    return 0


def _named(context: Context, words: list[str]) -> Package | None:
    names = _plain(words, "--user")
    if not names:
        raise UsageError("no package specified", 1)
    return context.system.packages.get(names[0])


def _path(context: Context, words: list[str]) -> int:
    package = _named(context, words)
    if package is None:
        return 1
    context.line(f"package:{package.path}")
    return 0


def _clear(context: Context, words: list[str]) -> int:
    package = _named(context, words)
    if package is None:
        context.line("Failed")
        return 1
    if package.name == launcher.PACKAGE:
        context.phone.go_home()
    elif package.name in context.phone.apps:
        context.phone.clear_data(package.name)
    context.line("Success")
    return 0


def _uninstall(context: Context, words: list[str]) -> int:
    package = _named(context, words)
    if package is None:
        context.line("Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    if not context.system.packages.uninstall(package.name):
        context.line("Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    context.line("Success")
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# installing


def _install(context: Context, words: list[str]) -> Steps:
    size = next((words[place + 1] for place, word in enumerate(words[:-1]) if word == "-S"), None)
    paths = _plain(words, "-S", "-i", "--user", "-p", "--abi", "--originating-uri", "--referrer", "--install-location",
                   "--install-reason")  # fmt: skip
    if size is not None:
        if not size.isdecimal() or len(size) > 12:
            context.err("Error: invalid size")
            return 1
        if int(size) > _LARGEST_APK:
            context.line("Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE: not enough space]")
            return 1
        content = yield from read_exactly(context.io.stdin, int(size))
    elif paths and paths[0] != "-":
        if not context.files.is_file(context.path(paths[0])):
            context.err(f"Error: Unable to open file: {paths[0]}\nConsider using a file under /data/local/tmp/")
            return 1
        content = context.files.read(context.path(paths[0]))
    elif paths:
        content = yield from read_all(context.io.stdin)
    else:
        context.err("Error: either a package name or install flags are required")
        return 1
    return _put(context, content, replaces="-R" not in words)


def _put(context: Context, content: bytes, *, replaces: bool) -> int:
    manifest = _manifest(context, content)
    if manifest is None:
        context.line(
            "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/vmdl.tmp/base.apk: "
            "Failed to load asset path]"
        )
        return 1
    if context.system.packages.has(manifest.package) and not replaces:
        context.line(
            f"Failure [INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install {manifest.package} "
            "without first uninstalling.]"
        )
        return 1
    context.system.packages.install(manifest)
    context.system.memory.log.note("I", "PackageManager", f"Installed {manifest.package}")
    context.line("Success")
    return 0


def _manifest(context: Context, content: bytes) -> Manifest | None:
    return read_manifest(content, [*context.phone.apps, ADB_KEYBOARD])


def _install_existing(context: Context, words: list[str]) -> int:
    package = _named(context, words)
    name = _plain(words, "--user")[0]
    if package is None:
        context.err(f"android.content.pm.PackageManager$NameNotFoundException: Package {name} doesn't exist")
        return 1
    context.line(f"Package {name} installed for user: 0")
    return 0


def _install_create(context: Context, _: list[str]) -> int:
    sessions = context.system.memory.install_sessions
    number = 1_000_000_000 + len(sessions) + 1
    if len(sessions) > 100:
        context.err("Error: too many sessions")
        return 1
    sessions[number] = b""
    context.line(f"Success: created install session [{number}]")
    return 0


def _session(context: Context, words: list[str]) -> int | None:
    names = _plain(words, "-S")
    number = int(names[0]) if names and names[0].isdecimal() and len(names[0]) < 12 else -1
    if number not in context.system.memory.install_sessions:
        context.err(f"Error: java.lang.SecurityException: Caller has no access to session {number}")
        return None
    return number


def _install_write(context: Context, words: list[str]) -> Generator[Wait, None, int]:
    number = _session(context, words)
    if number is None:
        return 255
    size = next((words[place + 1] for place, word in enumerate(words[:-1]) if word == "-S"), None)
    names = _plain(words, "-S")
    if len(names) > 2 and names[2] != "-":
        try:
            content = context.files.read(context.path(names[2]))
        except FileProblem:
            context.err(f"Error: Can't open file: {names[2]}")
            return 1
    elif size is not None and size.isdecimal() and len(size) < 12 and int(size) <= _LARGEST_APK:
        content = yield from read_exactly(context.io.stdin, int(size))
    else:
        content = yield from read_all(context.io.stdin)
    sessions = context.system.memory.install_sessions
    sessions[number] = b""
    if sum(map(len, sessions.values())) + len(content) > _LARGEST_APK:
        context.err("Error: failed to write; not enough space")
        return 1
    sessions[number] = content
    context.line(f"Success: streamed {len(content)} bytes")
    return 0


def _install_commit(context: Context, words: list[str]) -> int:
    number = _session(context, words)
    if number is None:
        return 255
    return _put(context, context.system.memory.install_sessions.pop(number), replaces=True)


def _install_abandon(context: Context, words: list[str]) -> int:
    number = _session(context, words)
    if number is None:
        return 255
    context.system.memory.install_sessions.pop(number)
    context.line("Success")
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# permissions and state


def _grant(context: Context, words: list[str]) -> int:
    return _permit(context, words, "granted")


def _revoke(context: Context, words: list[str]) -> int:
    return _permit(context, words, "denied")


def _permit(context: Context, words: list[str], answer: str) -> int:
    names = _plain(words, "--user")
    if len(names) < 2:
        context.err("Error: no package specified" if not names else "Error: no permission specified")
        return 255
    package, permission = names[:2]
    if not context.system.packages.has(package):
        context.err(
            f"\nException occurred while executing '{'grant' if answer == 'granted' else 'revoke'}':\n"
            f"java.lang.IllegalArgumentException: Unknown package: {package}"
        )
        return 255
    path = f"permissions/{package}/{permission.rpartition('.')[2]}"
    if path in context.phone.state:
        context.phone.put(path, answer)
        return 0
    context.err(
        f"\nException occurred while executing '{'grant' if answer == 'granted' else 'revoke'}':\n"
        f"java.lang.SecurityException: Package {package} has not requested permission {permission}"
    )
    return 255


def _reset_permissions(context: Context, _: list[str]) -> int:
    for path in [path for path in context.phone.state if path.startswith("permissions/")]:
        context.phone.put(path, "granted")
    return 0


def _enable(context: Context, words: list[str]) -> int:
    return _switch(context, words, on=True)


def _disable(context: Context, words: list[str]) -> int:
    return _switch(context, words, on=False)


def _switch(context: Context, words: list[str], *, on: bool) -> int:
    names = _plain(words, "--user")
    if not names:
        context.err("Error: no package or component specified")
        return 255
    name = names[0].partition("/")[0]
    if not context.system.packages.has(name):
        context.err(f"\nException occurred while executing '{'enable' if on else 'disable'}':")
        context.err(f"java.lang.IllegalArgumentException: Unknown package: {name}")
        return 255
    context.system.packages.enable(name, on=on)
    context.line(f"Package {name} new state: {'enabled' if on else 'disabled-user'}")
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# resolving and describing


def _resolve_activity(context: Context, words: list[str]) -> int:
    intent = parse_intent(words, ("--brief", "--components"), ("--user", "--query-flags"))
    component = activities.resolve(context.system, _with_main(intent))
    if component is None:
        context.line("No activity found")
        return 0
    if "--components" in intent.options:
        context.line(short(component))
    elif "--brief" in intent.options:
        context.line("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true")
        context.line(short(component))
    else:
        context.lines(_description(component))
    return 0


def _with_main(intent: Intent) -> Intent:
    intent.action = intent.action or activities.MAIN
    return intent


def _description(component: str) -> list[str]:
    package, _, activity = component.partition("/")
    return [
        "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true",
        "ActivityInfo:",
        f"  name={activity}",
        f"  packageName={package}",
        "  enabled=true exported=true directBootAware=false",
    ]


def _query_activities(context: Context, words: list[str]) -> int:
    intent = _with_main(parse_intent(words, ("--brief", "--components"), ("--user", "--query-flags")))
    phone = context.phone
    found: list[str] = []
    for package in context.system.packages:
        activity = activities.main_activity(phone, package.name)
        is_main = intent.action == activities.MAIN and (not intent.package or intent.package == package.name)
        if (
            is_main
            and activity
            and package.enabled
            and (package.name != launcher.PACKAGE or activities.HOME in intent.categories)
        ):
            found.append(f"{package.name}/{activity}")
    if intent.action != activities.MAIN:
        component = activities.resolve(context.system, intent)
        found = [component] if component is not None else []
    if activities.HOME in intent.categories:
        found = [name for name in found if name.startswith(launcher.PACKAGE + "/")]
    if not found:
        context.line("No activities found")
    elif "--components" in intent.options:
        context.lines(map(short, found))
    else:
        context.line(f"{len(found)} activities found:")
        for place, component in enumerate(found):
            context.line(f"  Activity #{place}:")
            brief = ["priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false", short(component)]
            context.lines(f"    {line}" for line in (brief if "--brief" in intent.options else _description(component)))
    return 0


def describe(context: Context, package: Package) -> list[str]:
    """Return the lines of ``dumpsys package`` for one package."""
    when = datetime.fromtimestamp(package.installed_s, UTC).strftime("%Y-%m-%d %H:%M:%S")
    flags = "SYSTEM HAS_CODE ALLOW_CLEAR_USER_DATA" if package.system else "HAS_CODE ALLOW_CLEAR_USER_DATA"
    mark = activities.token(package.name)
    sdk = context.system.getprop("ro.build.version.sdk")
    app = context.phone.apps.get(package.name)
    out: list[str] = []
    activity = activities.main_activity(context.phone, package.name)
    if activity is not None:
        out += [
            "Activity Resolver Table:",
            "  Non-Data Actions:",
            "      android.intent.action.MAIN:",
            f"        {mark} {short(f'{package.name}/{activity}')} filter {mark}",
            '          Action: "android.intent.action.MAIN"',
            '          Category: "android.intent.category.LAUNCHER"',
            "",
        ]
    out += [
        "Packages:",
        f"  Package [{package.name}] ({mark}):",
        f"    userId={package.uid}",
        f"    appId={package.uid}",
        f"    pkg=Package{{{mark} {package.name}}}",
        f"    codePath={package.path.rpartition('/')[0]}",
        f"    resourcePath={package.path.rpartition('/')[0]}",
        "    primaryCpuAbi=x86_64",
        f"    versionCode={package.version_code} minSdk={sdk} targetSdk={sdk}",
        f"    versionName={package.version_name}",
        f"    signatures=PackageSignatures{{{mark} version:3, signatures:[9a1b2c3d], past signatures:[]}}",
        f"    applicationInfo=ApplicationInfo{{{mark} {package.name}}}",
        f"    flags=[ {flags} ]",
        f"    pkgFlags=[ {flags} ]",
        f"    dataDir=/data/user/0/{package.name}",
        f"    timeStamp={when}",
        f"    lastUpdateTime={when}",
        "    installerPackageName=null",
        "    requested permissions:",
        *(f"      android.permission.{name}" for name in (app.permissions if app is not None else ())),
        f"    User 0: ceDataInode=0 installed=true hidden=false suspended=false stopped=false notLaunched=false "
        f"enabled={0 if package.enabled else 3} instant=false virtual=false",
        f"      firstInstallTime={when}",
        "      runtime permissions:",
    ]
    for name in app.permissions if app is not None else ():
        given = context.phone.state.get(f"permissions/{package.name}/{name}", "granted") == "granted"
        out.append(f"        android.permission.{name}: granted={str(given).lower()}, flags=[ USER_SET ]")
    if app is not None and package.name in context.phone.running:
        out.append(f"    pid={pid_of(context.phone, package.name)}")
    return out


def _dump(context: Context, words: list[str]) -> int:
    package = _named(context, words)
    if package is None:
        context.line(f"Unable to find package: {_plain(words)[0]}")
        return 0
    context.lines(describe(context, package))
    return 0


def _max_users(context: Context, _: list[str]) -> int:
    context.line("Maximum supported users: 4")
    return 0


def _location(context: Context, _: list[str]) -> int:
    context.line("0[auto]")
    return 0


def _quiet(_: Context, __: list[str]) -> int:
    return 0


def _success(context: Context, _: list[str]) -> int:
    context.line("Success")
    return 0


def _home(context: Context, words: list[str]) -> int:
    names = [word for word in words if "/" in word]
    if names and full(names[0]).partition("/")[0] == launcher.PACKAGE:
        return _success(context, [])
    context.err("Error: Failed to set default home.")
    return 1


_VERBS: Mapping[str, Callable[[Context, list[str]], int | Steps]] = MappingProxyType(
    {
        "bg-dexopt-job": _success,
        "clear": _clear,
        "clear-permission-flags": _quiet,
        "compile": _success,
        "default-state": _enable,
        "disable": _disable,
        "disable-user": _disable,
        "dump": _dump,
        "enable": _enable,
        "get-install-location": _location,
        "get-max-users": _max_users,
        "grant": _grant,
        "hide": _disable,
        "install": _install,
        "install-abandon": _install_abandon,
        "install-commit": _install_commit,
        "install-create": _install_create,
        "install-existing": _install_existing,
        "install-write": _install_write,
        "list": _list,
        "path": _path,
        "query-activities": _query_activities,
        "reset-permissions": _reset_permissions,
        "resolve-activity": _resolve_activity,
        "revoke": _revoke,
        "set-home-activity": _home,
        "set-permission-flags": _quiet,
        "trim-caches": _quiet,
        "unhide": _enable,
        "uninstall": _uninstall,
    }
)


def package_command(context: Context, arguments: list[str]) -> int | Steps:
    """Run ``pm`` or ``cmd package``."""
    words = [word for place, word in enumerate(arguments) if word or place == 0]  # `pm list packages ''` is sent
    if not words or words[0] in ("help", "-h", "--help"):
        context.line("Package manager (package) commands:\n  help\n    Print this help text.")
        context.lines(f"  {name}" for name in sorted(_VERBS))
        return 0
    verb = _VERBS.get(words[0])
    if verb is None:
        context.system.count_unknown(f"pm {words[0]}")
        context.err(f"Unknown command: {words[0]}")
        return 255
    try:
        return verb(context, words[1:])
    except UsageError as error:
        context.err(f"Error: {error.text}")
        return error.code


PACKAGE_MANAGER: Mapping[str, Command] = MappingProxyType({"pm": Command(package_command, toybox=False, work=40)})
