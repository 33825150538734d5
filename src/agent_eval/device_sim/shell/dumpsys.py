"""``dumpsys``: what the system's services say of themselves, one function a service.

Formats follow Android 13 to 15 as far as clients read them; what no client reads is left out. Knows no app.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from agent_eval.device_sim.shell import activities, system_files
from agent_eval.device_sim.shell.context import Command, Context, UsageError
from agent_eval.device_sim.shell.dump_windows import activity, flag, focus, is_on, window
from agent_eval.device_sim.shell.ime import current
from agent_eval.device_sim.shell.packages import pid_of
from agent_eval.device_sim.shell.pm import FEATURES, describe
from agent_eval.device_sim.shell.process_tools import ADDRESS, HARDWARE_ADDRESS, connected
from agent_eval.errors import TaskFault

DISPLAY_ID = 4619827259835644672
"""Of the panel, as SurfaceFlinger numbers it."""
STREAMS: Mapping[int, tuple[str, str, int]] = MappingProxyType(
    {
        2: ("STREAM_RING", "settings/volume_ring", 7),
        3: ("STREAM_MUSIC", "settings/volume_media", 15),
        4: ("STREAM_ALARM", "settings/volume_alarm", 7),
    }
)
"""Number of an audio stream to its name, where its volume is kept, and its highest volume (AudioSystem)."""
_RULE = "-" * 79


# ----------------------------------------------------------------------------------------------------------------------
# the machine


def _display(context: Context, words: Sequence[str]) -> int:
    del words
    display = context.phone.display
    frame = f"Rect(0, 0 - {display.width}, {display.height})"
    natural = f"{display.natural_width} x {display.natural_height}"
    on = "ON" if is_on(context) else "OFF"
    context.line("DISPLAY MANAGER (dumpsys display)")
    context.line("  mOnlyCode=false\n  mSafeMode=false\n  mGlobalDisplayState=" + on)
    context.line(
        f"  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, "
        f"uniqueId='local:{DISPLAY_ID}', physicalPort=0, orientation={display.rotation}, logicalFrame={frame}, "
        f"physicalFrame={frame}, deviceWidth={display.width}, deviceHeight={display.height}}}]"
    )
    context.line("Display Devices: size=1")
    context.line(
        f'  DisplayDeviceInfo{{"Built-in Screen": uniqueId="local:{DISPLAY_ID}", {natural}, modeId 1, '
        f"defaultModeId 1, supportedModes [{{id=1, width={display.natural_width}, height={display.natural_height}, "
        f"fps=60.000004}}], density {display.density}, {display.density}.0 x {display.density}.0 dpi, state {on}, "
        f"rotation {display.rotation}, type INTERNAL}}"
    )
    context.line("Logical Displays: size=1\n  Display 0:\n    mDisplayId=0\n    mPhase=1")
    context.line(
        f'    mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0, real {natural}, largest app {natural}, '
        f"smallest app {natural}, appVsyncOff 1000000, presDeadline 16666666, mode 1, rotation {display.rotation}, "
        f"state {on}, density {display.density} ({display.density}.0 x {display.density}.0) dpi}}"
    )
    brightness = int(context.phone.state["settings/brightness"])
    context.line(f"DisplayPowerController:\n  mScreenState={on}\n  mScreenBrightness={brightness / 255:.4f}")
    return 0


_BATTERY_KEYS = {"ac": "AC powered", "usb": "USB powered", "wireless": "Wireless powered", "dock": "Dock powered",
                 "status": "status", "level": "level", "temp": "temperature", "present": "present",
                 "counter": "Charge counter", "invalid": ""}  # fmt: skip


def battery(context: Context) -> dict[str, object]:
    """Return what the battery service reports, by the names that it prints."""
    level = int(context.phone.world["battery/level"])
    return {
        "AC powered": "false",
        "USB powered": "false",
        "Wireless powered": "false",
        "Dock powered": "false",
        "Max charging current": 0,
        "Max charging voltage": 0,
        "Charge counter": level * 40000,
        "status": 3,
        "health": 2,
        "present": "true",
        "level": level,
        "scale": 100,
        "voltage": 3700 + 5 * level,
        "temperature": 250,
        "technology": "Li-ion",
        **context.system.memory.battery,
    }


def battery_command(context: Context, words: Sequence[str]) -> int:
    """Run ``dumpsys battery`` or ``cmd battery`` with its arguments."""
    memory = context.system.memory
    arguments = [word for word in words if not word.startswith("-")]
    match arguments[:1]:
        case []:
            context.line("Current Battery Service state:")
            if memory.battery:
                context.line("  (UPDATES STOPPED -- use 'reset' to restart)")
            context.lines(f"  {name}: {value}" for name, value in battery(context).items())
        case ["set"]:
            return _set_battery(context, arguments[1:])
        case ["unplug"]:
            for name in ("AC powered", "USB powered", "Wireless powered", "Dock powered"):
                memory.battery[name] = "false"
            memory.battery.setdefault("status", "3")
        case ["reset"]:
            memory.battery.clear()
            if memory.battery_level is not None:
                context.phone.put("battery/level", memory.battery_level)
                memory.battery_level = None
        case ["get"]:
            name = arguments[1] if len(arguments) > 1 else ""
            if name not in _BATTERY_KEYS:
                context.err(f"Unknown get option: {name}")
                return 255
            value = str(battery(context).get(_BATTERY_KEYS[name], "0"))
            context.line({"true": "1", "false": "0"}.get(value, value))
        case _:
            context.line(
                "Dump current battery state, or:\n"
                "  set [ac|usb|wireless|dock|status|level|temp|present|counter|invalid] <value>"
            )
            context.line("  unplug\n  reset")
    return 0


def _set_battery(context: Context, words: list[str]) -> int:
    memory = context.system.memory
    if len(words) < 2:
        context.err("No value specified" if words else "No property specified")
        return 255
    name, value = words[0], words[1]
    if name not in _BATTERY_KEYS:
        context.err(f"Unknown set option: {name}")
        return 255
    if not re.fullmatch("-?[0-9]{1,9}", value):
        context.err(f"Bad value: {value}")
        return 255
    if name == "level":
        level = int(context.phone.world["battery/level"])
        try:
            context.phone.put("battery/level", int(value))
        except TaskFault:
            memory.battery["level"] = value
        else:
            memory.battery_level = level if memory.battery_level is None else memory.battery_level
            memory.battery.pop("level", None)
            memory.battery.setdefault("present", "true")
    elif name in ("ac", "usb", "wireless", "dock", "present"):
        memory.battery[_BATTERY_KEYS[name]] = flag(int(value))
    else:
        memory.battery[_BATTERY_KEYS[name]] = value
    return 0


def _power(context: Context, words: Sequence[str]) -> int:
    del words
    on = is_on(context)
    saver = flag(context.phone.state["settings/battery_saver"])
    awake = "Awake" if on else "Asleep"
    context.lines(
        [
            "POWER MANAGER (dumpsys power)",
            "",
            "Power Manager State:",
            "  mDirty=0x0",
            f"  mWakefulness={awake}",
            "  mWakefulnessChanging=false",
            f"  mIsPowered={flag(battery(context)['AC powered'] == 'true')}",
            f"  mBatteryLevel={battery(context)['level']}",
            "  mStayOn=false",
            f"  mHoldingWakeLockSuspendBlocker={flag(on)}",
            f"  mHoldingDisplaySuspendBlocker={flag(on)}",
            f"  mScreenOffTimeoutSetting={int(context.phone.state['settings/screen_timeout_s']) * 1000}",
            f"  mLowPowerModeEnabled={saver}",
            f"Display Power: state={'ON' if on else 'OFF'}",
            "Wake Locks: size=0",
        ]
    )
    return 0


def _package(context: Context, words: Sequence[str]) -> int:
    names = [word for word in words if not word.startswith("-")]
    if names[:1] in (["packages"], ["package"]):
        names = names[1:]
    if not names:
        for package in context.system.packages:
            context.lines(describe(context, package))
        return 0
    if names[0] in ("features", "f"):
        context.lines(("Features:", *(f"  {name}" for name in FEATURES)))
        return 0
    package_found = context.system.packages.get(names[0])
    if package_found is None:
        context.line(f"Unable to find package: {names[0]}")
        return 0
    context.lines(describe(context, package_found))
    return 0


def _input_method(context: Context, words: Sequence[str]) -> int:
    del words
    shown = flag(context.phone.keyboard_open)
    front = activities.front(context.system)
    name = current(context)
    context.lines(
        [
            "Current Input Method Manager state:",
            "  Input Methods: mMethodMapUpdateCount=1",
            *(f"    {method}:" for method in context.phone.input_methods),
            f"  mCurMethodId={name}",
            f"  mCurId={name} mHaveConnection=true mBoundToMethod=true",
            f"  mCurFocusedWindow={focus(context)[0]}",
            f"  mShowRequested={shown} mShowExplicitlyRequested={shown} mShowForced=false mInputShown={shown}",
            f"  mInputShown={shown}",
            f"  mServedView={'android.widget.EditText' if context.phone.keyboard_open else 'null'}",
            f"  mCurAttribute=EditorInfo{{packageName={front.package if front else 'null'}}}",
            f"  mInteractive={flag(is_on(context))}",
            f"  mIsInputViewShown={shown}",
        ]
    )
    return 0


def _surface_flinger(context: Context, words: Sequence[str]) -> int:
    display = context.phone.display
    if "--display-id" in words:
        context.line(f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=GGL displayName="EMU_display_0"')
    elif "--list" in words:
        context.lines(f"{record.package}/{record.activity}#0" for record in activities.tasks(context.system))
    elif "--latency" in words:
        context.line("16666666")
    elif "--latency-clear" not in words:
        context.line("Build configuration: [sf HAS_CONTEXT_PRIORITY=1]\nDisplay identification data:")
        context.line(f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=GGL displayName="EMU_display_0"')
        context.line(
            f"Display {DISPLAY_ID}\n    resolution={display.natural_width}x{display.natural_height}, "
            "refreshRate=60.00 Hz"
        )
        context.line("GLES: Google, Android Emulator OpenGL ES Translator, OpenGL ES 3.0")
    return 0


def _wifi(context: Context, words: Sequence[str]) -> int:
    del words
    on, up = context.phone.state["settings/wifi_on"], connected(context)
    context.line(f"Wi-Fi is {'enabled' if on else 'disabled'}")
    context.line("Verbose logging is off\nStay-awake conditions: 0\nmInIdleMode false")
    context.line(
        f"curState={'ConnectedState' if connected(context) else 'DisconnectedState' if on else 'DisabledState'}"
    )
    context.line(f"mWifiInfo {wifi_info(context)}")
    context.line(f"mNetworkInfo [type: WIFI[], state: {'CONNECTED/CONNECTED' if up else 'DISCONNECTED/DISCONNECTED'}]")
    return 0


def wifi_info(context: Context) -> str:
    """Return what the Wi-Fi service knows of the connection."""
    if not connected(context):
        return "SSID: <unknown ssid>, BSSID: <none>, MAC: 02:00:00:00:00:00, Supplicant state: DISCONNECTED, RSSI: -127"
    name = str(context.phone.state["settings/wifi_network"])
    return (
        f'SSID: "{name}", BSSID: 00:13:10:85:fe:01, MAC: {HARDWARE_ADDRESS}, IP: /{ADDRESS}, Security type: 2, '
        "Supplicant state: COMPLETED, Wi-Fi standard: 5, RSSI: -50, Link speed: 390Mbps, Frequency: 5180MHz, "
        "Net ID: 0, Metered hint: false, score: 60"
    )


def _connectivity(context: Context, words: Sequence[str]) -> int:
    del words
    if connected(context):
        context.line("NetworkAgentInfo{network{100}  handle{432902426637}  ni{WIFI CONNECTED extra: } Score(60)")
        context.line(f"  lp{{{{InterfaceName: wlan0 LinkAddresses: [ {ADDRESS}/24 ] }}}}")
        context.line("  nc{[ Transports: WIFI Capabilities: NOT_METERED&INTERNET&NOT_RESTRICTED&TRUSTED&VALIDATED]} }")
        context.line("Active default network: 100")
    else:
        context.line("Active default network: none")
    context.line(f"Airplane mode: {flag(context.phone.state['settings/airplane_mode_on'])}")
    return 0


def _notification(context: Context, words: Sequence[str]) -> int:
    del words
    state = context.phone.state
    numbers = sorted({int(path.split("/")[1]) for path in state if re.fullmatch(r"notifications/\d+/title", path)})
    context.line("Current Notification Manager state:\n  Notification List:")
    for number in numbers:
        package = str(state[f"notifications/{number}/package"])
        title, text = str(state[f"notifications/{number}/title"]), str(state[f"notifications/{number}/text"])
        mark = activities.token(f"{package}{number}")
        key = f"0|{package}|{number}|null|10060"
        context.line(
            f"    NotificationRecord(0x{mark}: pkg={package} user=UserHandle{{0}} id={number} tag=null importance=3 "
            f"key={key}: Notification(channel=default shortcut=null contentView=null vibrate=null sound=null "
            "defaults=0x0 flags=0x10 color=0x00000000 vis=PRIVATE))"
        )
        context.line(f"      uid=10060 userId=0\n      opPkg={package}\n      icon=Icon(typ=RESOURCE pkg={package})")
        context.line(
            f"      extras={{\n          android.title=String ({title})\n"
            f"          android.text=String ({text})\n      }}"
        )
    zen = "ZEN_MODE_IMPORTANT_INTERRUPTIONS" if state.get("settings/do_not_disturb") else "ZEN_MODE_OFF"
    context.line(f"  mInterruptionFilter=1\n  Zen Mode:\n    mZenMode={zen}")
    return 0


def _alarm(context: Context, words: Sequence[str]) -> int:
    del words
    now = datetime.fromtimestamp(context.phone.clock.now_ms // 1000, UTC)
    state = context.phone.state
    numbers = sorted({int(path.split("/")[2]) for path in state if re.fullmatch(r"clock/alarm/\d+/enabled", path)})
    on = [number for number in numbers if state[f"clock/alarm/{number}/enabled"]]
    context.line("Current Alarm Manager state:")
    context.line(
        f"  nowRTC={context.phone.clock.now_ms}={now:%Y-%m-%d %H:%M:%S} "
        f"nowELAPSED={int(system_files.uptime_s(context.system) * 1000)}"
    )
    context.line(f"  {len(on)} pending alarms:")
    for place, number in enumerate(on):
        hour, minute = int(state[f"clock/alarm/{number}/hour"]), int(state[f"clock/alarm/{number}/minute"])
        context.line(f"    RTC_WAKEUP #{place}: Alarm{{{activities.token(str(number))} type 0 com.android.deskclock}}")
        context.line(
            f"      tag=*walarm*:com.android.deskclock/.AlarmInitReceiver\n      whenTime={hour:02d}:{minute:02d}"
        )
    return 0


def _meminfo(context: Context, words: Sequence[str]) -> int:
    names = [word for word in words if not word.startswith("-")]
    uptime = int(system_files.uptime_s(context.system) * 1000)
    context.line("Applications Memory Usage (in Kilobytes):")
    context.line(f"Uptime: {uptime} Realtime: {uptime}")
    if names:
        running = {
            **{name: pid_of(context.phone, name) for name in context.phone.running},
            "system": 610,
            "system_server": 610,
        }
        pid = running.get(names[0]) or next((number for number in running.values() if str(number) == names[0]), 0)
        if not pid:
            context.line(f"No process found for: {names[0]}")
            return 0
        context.line(f"\n** MEMINFO in pid {pid} [{names[0]}] **")
        context.line("                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap")
        context.line("                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free")
        context.line("                ------   ------   ------   ------   ------   ------   ------   ------")
        context.line("  Native Heap    18244    18180        0        0    19956    26972    20244     2491")
        context.line("  Dalvik Heap     6552     6468        0        0     8364     9520     4760     4760")
        context.line("        TOTAL    62180    40836    10172        0   148704    36492    25004     7251")
        context.line(
            "\n App Summary\n           Java Heap:     6468\n"
            "         Native Heap:    18180\n           TOTAL PSS:    62180            TOTAL RSS: "
            "  148704"
        )
        return 0
    context.line("\nTotal PSS by process:")
    context.lines(f"    62,180K: {name} (pid {pid_of(context.phone, name)})" for name in context.phone.running)
    context.line(
        f"\nTotal RAM: {system_files.MEMORY_KB:,}K (status normal)\n Free RAM: 1,893,440K\n Used RAM: 2,026,560K"
    )
    return 0


def _cpuinfo(context: Context, words: Sequence[str]) -> int:
    del words
    context.line("Load: 0.42 / 0.37 / 0.31\nCPU usage from 60000ms to 0ms ago:")
    context.line("  1.2% 610/system_server: 0.8% user + 0.4% kernel")
    context.lines(
        f"  0.3% {pid_of(context.phone, name)}/{name}: 0.2% user + 0.1% kernel" for name in context.phone.running
    )
    context.line("2.1% TOTAL: 1.3% user + 0.8% kernel")
    return 0


def _audio(context: Context, words: Sequence[str]) -> int:
    del words
    context.line("\nStream volumes (device: index)")
    for number, (name, path, highest) in sorted(STREAMS.items()):
        value = int(context.phone.state[path])
        context.line(
            f"- {name}:\n   Muted: {flag(number != 4 and value == 0)}\n"
            f"   Min: 0\n   Max: {highest}\n   streamVolume:{value}\n"
            f"   Current: 2 (speaker): {value}, 40000000 (default): {value}\n   Devices: speaker(2)"
        )
    context.line("\nRinger mode: \n- mode (internal) = NORMAL\n- mode (external) = NORMAL")
    return 0


def _telephony(context: Context, words: Sequence[str]) -> int:
    del words
    airplane = context.phone.state["settings/airplane_mode_on"]
    calling = context.phone.front.screen == "dialer/in_call"
    context.line("last known state:\n  Phone Id=0")
    context.line(f"    mCallState={2 if calling else 0}\n    mCallIncomingNumber=")
    context.line(
        f"    mServiceState={{mVoiceRegState={'3(POWER_OFF)' if airplane else '0(IN_SERVICE)'}, "
        f"mDataRegState={'3(POWER_OFF)' if airplane else '0(IN_SERVICE)'}}}"
    )
    on = context.phone.state.get("settings/mobile_data_on", True) and not airplane
    context.line(
        f"    mDataConnectionState={2 if on and not connected(context) else 0}\n    mUserMobileDataState={flag(on)}"
    )
    return 0


def _location(context: Context, words: Sequence[str]) -> int:
    del words
    on = context.phone.state.get("settings/location_on", True)
    context.line(
        "Location Manager State:\n  User Info:\n    current user: u[0]\n"
        f"  Location Settings:\n    Location Setting: {flag(on)}"
    )
    context.line("  Location Providers:\n    gps provider:\n      last location=null\n      enabled=" + flag(on))
    return 0


def _media_session(context: Context, words: Sequence[str]) -> int:
    del words
    state = context.phone.state
    package = "code.name.monkey.retromusic"
    playing = bool(state.get("music/playing", False))
    context.line("MEDIA SESSION SERVICE (dumpsys media_session)\n")
    is_there = package in context.phone.running
    context.line(f"Sessions Stack - have {int(is_there)} sessions:")
    if is_there:
        context.line(
            f"    RetroMusic {package}/RetroMusic (userId=0)\n      package={package}\n      active={flag(playing)}"
        )
        context.line(
            f"      state=PlaybackState {{state={'PLAYING(3)' if playing else 'PAUSED(2)'}, position=0, speed=1.0}}"
        )
    return 0


def _usage(context: Context, words: Sequence[str]) -> int:
    del words
    context.line("user=0\n  In-memory daily stats")
    for name in context.phone.recents:
        context.line(
            f'    package={name} totalTimeUsed="00:10" lastTimeUsed="{context.phone.local_time:%Y-%m-%d %H:%M:%S}"'
        )
    return 0


def _device_idle(context: Context, words: Sequence[str]) -> int:
    if words and not words[0].startswith("-"):
        context.line({"whitelist": "system-excidle,com.android.deskclock,10060", "get": "ACTIVE"}.get(words[0], ""))
        return 0
    context.line(
        f"  mLightEnabled=true  mDeepEnabled=false\n  mScreenOn={flag(is_on(context))}\n"
        "  mState=ACTIVE mLightState=ACTIVE"
    )
    return 0


def _graphics(context: Context, words: Sequence[str]) -> int:
    names = [word for word in words if not word.startswith("-") and word not in ("reset", "framestats")]
    running = [name for name in context.phone.running if not names or name == names[0]]
    if names and not running:
        context.line(f"No process found for: {names[0]}")
        return 0
    for name in running:
        context.line(
            f"** Graphics info for pid {pid_of(context.phone, name)} [{name}] **\n"
            "\nTotal frames rendered: 120\nJanky frames: 2 (1.67%)"
        )
        context.line("50th percentile: 5ms\n90th percentile: 9ms\n95th percentile: 12ms\n99th percentile: 18ms")
    return 0


def _bluetooth(context: Context, words: Sequence[str]) -> int:
    del words
    on = bool(context.phone.state["settings/bluetooth_on"])
    context.line(
        f"Bluetooth Status\n  enabled: {flag(on)}\n  state: {'ON' if on else 'OFF'}\n  address: 02:15:B2:7A:3C:92"
    )
    context.line(f"  name: {context.phone.state['settings/device_name']}\n")
    context.line("Bonded devices:")
    context.lines(f"  {name}" for name in str(context.phone.world["bluetooth/paired"]).split("|") if name)
    return 0


def _ui_mode(context: Context, words: Sequence[str]) -> int:
    del words
    dark = context.phone.state["settings/dark_theme"]
    context.line(
        f"Current UI Mode Service state:\n  mNightMode={2 if dark else 1} ({'yes' if dark else 'no'})\n"
        f"  mComputedNightMode={flag(dark)}"
    )
    return 0


def _clipboard(context: Context, words: Sequence[str]) -> int:
    del words
    context.line("Clipboard: (access denied to shell)")
    return 0


def _input(context: Context, words: Sequence[str]) -> int:
    del words
    display = context.phone.display
    context.line(
        "INPUT MANAGER (dumpsys input)\n\nEvent Hub State:\n"
        "  Devices:\n    2: touch_dev\n      Classes: TOUCH | TOUCH_MT"
    )
    context.line("Input Reader State:\n  Device 2: touch_dev\n    Sources: TOUCHSCREEN")
    context.line(
        f"      Viewport INTERNAL: displayId=0, orientation={display.rotation}, SurfaceOrientation: "
        f"{display.rotation}, logicalFrame=[0, 0, {display.width}, {display.height}]"
    )
    context.line(f"Input Dispatcher State:\n  FocusedApplications:\n    displayId=0, name='{focus(context)[1]}'")
    context.line(f"  FocusedWindows:\n    displayId=0, name='{focus(context)[0]}'")
    return 0


def _battery_stats(context: Context, words: Sequence[str]) -> int:
    del words
    context.line("Battery History (0% used, 0 used of 4096KB, 0 strings using 0):")
    context.line(f"                    0 (9) RESET:TIME: {context.phone.local_time:%Y-%m-%d-%H-%M-%S}")
    return 0


def _disks(context: Context, words: Sequence[str]) -> int:
    del words
    from agent_eval.device_sim.shell.file_tools import DATA_BLOCKS

    used = int(context.phone.world["storage/used"])
    context.line("Latency: 1ms [512B Data Write]\nRecent Disk Write Speed (kB/s) = 61237")
    context.line(f"Data-Free: {DATA_BLOCKS * (100 - used) // 100}K / {DATA_BLOCKS}K total = {100 - used}% free")
    return 0


def _users(context: Context, words: Sequence[str]) -> int:
    del words
    context.line(
        "Current user: 0\nUsers:\n  UserInfo{0:Owner:c13} serialNo=0 isPrimary=true\n    State: RUNNING_UNLOCKED"
    )
    return 0


def _empty(context: Context, words: Sequence[str]) -> int:
    del context, words
    return 0


SERVICES: Mapping[str, Callable[[Context, Sequence[str]], int]] = MappingProxyType(
    {
        "SurfaceFlinger": _surface_flinger,
        "accessibility": _empty,
        "account": _empty,
        "activity": activity,
        "alarm": _alarm,
        "appops": _empty,
        "audio": _audio,
        "battery": battery_command,
        "batterystats": _battery_stats,
        "bluetooth_manager": _bluetooth,
        "clipboard": _clipboard,
        "connectivity": _connectivity,
        "content": _empty,
        "cpuinfo": _cpuinfo,
        "dbinfo": _empty,
        "device_policy": _empty,
        "deviceidle": _device_idle,
        "diskstats": _disks,
        "display": _display,
        "dropbox": _empty,
        "gfxinfo": _graphics,
        "input": _input,
        "input_method": _input_method,
        "iphonesubinfo": _empty,
        "isub": _empty,
        "jobscheduler": _empty,
        "location": _location,
        "lock_settings": _empty,
        "media.audio_flinger": _empty,
        "media.camera": _empty,
        "media_session": _media_session,
        "meminfo": _meminfo,
        "mount": _empty,
        "netpolicy": _empty,
        "netstats": _empty,
        "network_management": _empty,
        "notification": _notification,
        "overlay": _empty,
        "package": _package,
        "permission": _empty,
        "phone": _empty,
        "power": _power,
        "procstats": _empty,
        "role": _empty,
        "sensorservice": _empty,
        "settings": _empty,
        "shortcut": _empty,
        "statusbar": _empty,
        "telecom": _empty,
        "telephony.registry": _telephony,
        "thermalservice": _empty,
        "trust": _empty,
        "uimode": _ui_mode,
        "usagestats": _usage,
        "user": _users,
        "vibrator_manager": _empty,
        "wallpaper": _empty,
        "wifi": _wifi,
        "window": window,
    }
)
"""Every service of this phone."""


def _dumpsys(context: Context, arguments: list[str]) -> int:
    words = list(arguments)
    while words and words[0] in ("-t", "-T", "--priority"):
        words = words[2:]
    if words[:1] in (["-l"], ["--list"]):
        context.line("Currently running services:")
        context.lines(f"  {name}" for name in sorted(SERVICES))
        return 0
    if words[:1] in (["--help"], ["-h"]):
        context.line(
            "usage: dumpsys\n         To dump all services.\n"
            "or:\n       dumpsys [-t TIMEOUT] [--priority LEVEL] [--help | -l | SERVICE [ARGS]]"
        )
        return 0
    if words[:1] == ["--pid"]:
        words = words[1:]
    if not words:
        return _everything(context)
    dump = SERVICES.get(words[0])
    if dump is None:
        context.system.count_unknown(f"dumpsys {words[0]}")
        context.err(f"Can't find service: {words[0]}")
        return 20
    try:
        return dump(context, words[1:])
    except UsageError as error:
        context.err(error.text)
        return error.code


def _everything(context: Context) -> int:
    context.line("Currently running services:")
    context.lines(f"  {name}" for name in sorted(SERVICES))
    for name in sorted(SERVICES):
        context.line(f"{_RULE}\nDUMP OF SERVICE {name}:")
        SERVICES[name](context, ())
        context.line(
            f"--------- 0.001s was the duration of dumpsys {name}, "
            f"ending at: {context.phone.local_time:%Y-%m-%d %H:%M:%S}"
        )
    return 0


DUMPSYS: Mapping[str, Command] = MappingProxyType({"dumpsys": Command(_dumpsys, toybox=False, work=100)})
