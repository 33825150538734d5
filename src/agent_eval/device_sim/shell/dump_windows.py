"""``dumpsys window`` and ``dumpsys activity``: windows, tasks, what has the focus. Knows no app.

Since Android 10 the focus is printed per display only; the activity in front comes last in ``dumpsys activity top``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.shell import activities
from agent_eval.device_sim.shell.context import Context
from agent_eval.device_sim.shell.ime import current
from agent_eval.device_sim.shell.packages import pid_of


def flag(value: object) -> str:
    """Return a yes or no as Java prints it."""
    return "true" if value else "false"


def is_on(context: Context) -> bool:
    """Tell whether the screen is on."""
    return bool(context.phone.world["screen/on"])


def _uid(context: Context, package: str) -> int:
    found = context.system.packages.get(package)
    return found.uid if found is not None else 10000


def _user(context: Context, package: str) -> str:
    uid = _uid(context, package)
    return f"u0a{uid - 10000}" if uid >= 10000 else str(uid)


def _process_mark(context: Context, package: str) -> str:
    process = f"{pid_of(context.phone, package)}:{package}/{_user(context, package)}"
    return f"ProcessRecord{{{activities.token(package)} {process}}}"


def _task_mark(context: Context, record: activities.Record) -> str:
    kind = "home" if record.task == 1 else "standard"
    affinity = f"{_uid(context, record.package)}:{record.package}"
    return f"Task{{{activities.token(record.package)} #{record.task} type={kind} A={affinity} U=0"


def focus(context: Context) -> tuple[str, str]:
    """Return what has the focus, as a window and as an activity; ``null`` when nothing does."""
    record = activities.front(context.system)
    if record is None:
        return "null", "null"
    window = f"{record.package}/{record.activity}"
    return f"Window{{{activities.token(window)} u0 {window}}}", str(record)


def window(context: Context, words: Sequence[str]) -> int:
    """Dump the window manager."""
    what = next((word for word in words if not word.startswith("-")), "")
    sections = {
        "windows": (_windows,), "w": (_windows,), "displays": (_displays,), "d": (_displays,),
        "policy": (_policy,), "p": (_policy,), "input": (_windows,), "tokens": (_tokens,), "visible": (_windows,),
    }  # fmt: skip
    for section in sections.get(what, (_policy, _tokens, _displays, _windows)):
        context.lines(section(context, whole=what not in sections))
    return 0


def _windows(context: Context, *, whole: bool) -> Iterator[str]:
    yield "WINDOW MANAGER WINDOWS (dumpsys window windows)"
    display = context.phone.display
    names = ["StatusBar", "NavigationBar0"] + (["InputMethod"] if context.phone.keyboard_open else [])
    names += [f"{record.package}/{record.activity}" for record in activities.tasks(context.system)]
    for place, name in enumerate(names):
        package = name.partition("/")[0] if "/" in name else "com.android.systemui"
        yield f"  Window #{place} Window{{{activities.token(name)} u0 {name}}}:"
        task, mark = activities.task_of(context.system, package), activities.token(package)
        user = _user(context, package)
        yield f"    mDisplayId=0 rootTaskId={task} mSession=Session{{{mark} {pid_of(context.phone, package)}:{user}}}"
        yield f"    mOwnerUid={_uid(context, package)} showForAllUsers=false package={package} appop=NONE"
        yield f"    Requested w={display.width} h={display.height} mLayoutSeq=42"
        yield f"    isOnScreen={flag(is_on(context))}\n    isVisible={flag(is_on(context) and place < 5)}"
    if whole:
        window, record = focus(context)
        yield f"  mCurrentFocus={window}\n  mFocusedApp={record}"
    yield f"  mDisplayFrozen=false windows=0 client=false apps=0 mRotation={display.rotation} mLastOrientation=1"


def _displays(context: Context, *, whole: bool) -> Iterator[str]:
    del whole
    display = context.phone.display
    window, record = focus(context)
    size = f"{display.width}x{display.height}"
    yield "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)"
    yield "  Display: mDisplayId=0 (organized)"
    width, height = display.natural_width, display.natural_height
    yield f"    init={width}x{height} {context.system.memory.physical.density}dpi cur={size} app={size}"
    yield f"    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion((0,0,{display.width},{display.height}))"
    yield f"  mCurrentRotation=ROTATION_{display.rotation * 90}"
    yield f"  mCurrentFocus={window}"
    yield f"  mFocusedApp={record}"
    yield f"  mInputMethodTarget in display# 0 {window if context.phone.keyboard_open else 'null'}"


def _policy(context: Context, *, whole: bool) -> Iterator[str]:
    del whole
    on = is_on(context)
    yield "WINDOW MANAGER POLICY STATE (dumpsys window policy)"
    yield "    mSafeMode=false mSystemReady=true mSystemBooted=true"
    yield f"    mAwake={flag(on)} mScreenOnEarly={flag(on)} mScreenOnFully={flag(on)}"
    yield "    mKeyguardDrawComplete=true mWindowManagerDrawComplete=true"
    yield "    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false isStatusBarKeyguard=false"
    yield f"    interactiveState=INTERACTIVE_STATE_{'AWAKE' if on else 'SLEEP'}"
    yield (
        "    KeyguardServiceDelegate\n      showing=false\n"
        "      showingAndNotOccluded=false\n      inputRestricted=false"
    )
    yield f"      screenState=SCREEN_STATE_{'ON' if on else 'OFF'}"
    yield f"      interactiveState=INTERACTIVE_STATE_{'AWAKE' if on else 'SLEEP'}"


def _tokens(context: Context, *, whole: bool) -> Iterator[str]:
    del whole
    yield "WINDOW MANAGER TOKENS (dumpsys window tokens)"
    for record in activities.tasks(context.system):
        yield f"  ActivityRecord{{{activities.token(record.name)} u0 {record.name} t{record.task}}}"


def activity(context: Context, words: Sequence[str]) -> int:
    """Dump the activity manager."""
    what = next((word for word in words if not word.startswith("-")), "")
    sections: Mapping[str, Callable[[Context], Iterator[str]]] = {
        "activities": _activities, "a": _activities, "top": _top, "recents": _recents, "r": _recents,
        "services": _services, "s": _services, "processes": _processes, "p": _processes, "lru": _processes,
        "oom": _processes, "o": _processes, "broadcasts": _broadcasts, "b": _broadcasts, "intents": _intents,
        "i": _intents, "containers": _activities, "settings": _nothing, "permissions": _nothing, "provider": _nothing,
        "providers": _nothing, "prov": _nothing, "package": _nothing, "all": _top,
    }  # fmt: skip
    if what and what not in sections:
        record = next((record for record in activities.tasks(context.system) if what in record.name), None)
        if record is None:
            context.line(f"Bad activity command, or no activities match: {what}\nUse -h for help.")
            return 0
        context.lines(_task(context, record))
        return 0
    for section in (sections[what],) if what else (_intents, _broadcasts, _services, _recents, _activities, _processes):
        context.lines(section(context))
    return 0


def _nothing(_: Context) -> Iterator[str]:
    yield from ()


def _activities(context: Context) -> Iterator[str]:
    yield "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)"
    yield "Display #0 (activities from top to bottom):"
    display = context.phone.display
    for place, record in enumerate(activities.tasks(context.system)):
        yield (
            f"  * {_task_mark(context, record)} visible={flag(not place)} visibleRequested={flag(not place)} "
            f"mode=fullscreen translucent={flag(place)} sz=1}}"
        )
        yield f"    mBounds=Rect(0, 0 - {display.width}, {display.height})"
        yield f"    * Hist  #0: {record}"
        yield f"      packageName={record.package} processName={record.package}"
        yield f"      app={_process_mark(context, record.package)}"
        yield f"      state={'RESUMED' if not place else 'STOPPED'} delayedResume=false finishing=false"
    front = activities.front(context.system)
    if front is not None:
        yield f"  topResumedActivity={front}"
        yield f"  mFocusedWindow={focus(context)[0]}"
        yield f"  mFocusedApp={front}"
        yield f"  ResumedActivity: {front}"


def _task(context: Context, record: activities.Record) -> Iterator[str]:
    display = context.phone.display
    pid = pid_of(context.phone, record.package)
    yield f"TASK {record.package} id={record.task} userId=0 displayId=0(type=INTERNAL)"
    yield f"  ACTIVITY {record.name} {activities.token(record.name)} pid={pid} userId=0"
    yield f"    Local Activity {activities.token(record.name)} State:"
    yield "      mResumed=true mStopped=false mFinished=false"
    yield f"      mCurrentConfig={{1.0 310mcc260mnc [en_US] ldltr sw{display.width * 160 // display.density}dp}}"


def _top(context: Context) -> Iterator[str]:
    for record in reversed(list(activities.tasks(context.system))):
        yield from _task(context, record)


def _recents(context: Context) -> Iterator[str]:
    yield "ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)"
    yield "mRecentsComponent=ComponentInfo{com.android.launcher3/com.android.quickstep.RecentsActivity}"
    for place, record in enumerate(activities.tasks(context.system)):
        user = _user(context, record.package)
        yield f"  * Recent #{place}: {_task_mark(context, record)}}}"
        yield f"    userId=0 effectiveUid={user} mCallingUid={user} realActivity={{{record.name}}}"


def _services(context: Context) -> Iterator[str]:
    yield "ACTIVITY MANAGER SERVICES (dumpsys activity services)"
    yield "  User 0 active services:"
    name = current(context)
    yield f"  * ServiceRecord{{{activities.token(name)} u0 {name}}}"
    yield f"    intent={{act=android.view.InputMethod cmp={name}}}"
    yield f"    packageName={name.partition('/')[0]}"
    yield f"    app={_process_mark(context, name.partition('/')[0])}"


def _processes(context: Context) -> Iterator[str]:
    yield "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)"
    yield "  Process LRU list (sorted by oom_adj):"
    front = activities.front(context.system)
    for name in (*context.phone.running, keyboard.PACKAGE):
        is_front = front is not None and front.package == name
        state = "fg     TOP" if is_front else "cch    CAC"
        yield f"    Proc # 0: {state} LCM trm: 0 {pid_of(context.phone, name)}:{name}/{_user(context, name)}"
    if front is not None:
        yield f"  mTopApp={front.package}"


def _broadcasts(_: Context) -> Iterator[str]:
    yield "ACTIVITY MANAGER BROADCAST STATE (dumpsys activity broadcasts)"


def _intents(_: Context) -> Iterator[str]:
    yield "ACTIVITY MANAGER PENDING INTENTS (dumpsys activity intents)\n  (nothing)"
