"""Commands about processes, time, users and the machine: ps, top, kill, sleep, date, uname, ping and their like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_eval.device_sim.clock import LAST_S
from agent_eval.device_sim.shell import properties, system_files
from agent_eval.device_sim.shell.context import Command, Context, UsageError, options
from agent_eval.device_sim.shell.expressions import BadExpression, Expression
from agent_eval.device_sim.shell.file_tools import parse_moment
from agent_eval.device_sim.shell.process import SIGNALS, SIGTERM, Forever, Sooner, Steps, Until

if TYPE_CHECKING:
    from agent_eval.device_sim.shell.system import Process

ADDRESS = "192.168.1.57"
HARDWARE_ADDRESS = "02:15:b2:7a:3c:91"
_COUNT = "[0-9]{1,9}"
_MOST_NUMBERS, _MOST_SEPARATED = 1_000_000, 16 << 20
"""Numbers that ``seq`` writes, and characters of what separates them."""


# ----------------------------------------------------------------------------------------------------------------------
# processes

_COLUMNS: Mapping[str, tuple[str, int, Callable[[Process], str]]] = MappingProxyType(
    {
        "USER": ("<", 12, lambda p: p.user),
        "PID": (">", 5, lambda p: str(p.pid)),
        "PPID": (">", 5, lambda p: str(p.parent)),
        "VSZ": (">", 7, lambda _: "1395296"),
        "RSS": (">", 6, lambda _: "110592"),
        "WCHAN": ("<", 16, lambda _: "0"),
        "ADDR": (">", 4, lambda _: "0"),
        "S": ("<", 1, lambda _: "S"),
        "NAME": ("<", 0, lambda p: p.name),
        "ARGS": ("<", 0, lambda p: p.line),
        "CMD": ("<", 0, lambda p: p.line),
        "CMDLINE": ("<", 0, lambda p: p.line),
        "COMM": ("<", 0, lambda p: p.name.rpartition("/")[2][:15]),
        "UID": ("<", 12, lambda p: p.user),
        "TID": (">", 5, lambda p: str(p.pid)),
        "C": (">", 2, lambda _: "0"),
        "STIME": ("<", 5, lambda _: "00:00"),
        "TTY": ("<", 4, lambda _: "?"),
        "TIME": (">", 8, lambda _: "00:00:01"),
        "PRI": (">", 3, lambda _: "19"),
        "NI": (">", 3, lambda _: "0"),
        "%CPU": (">", 4, lambda _: "0.0"),
        "%MEM": (">", 4, lambda _: "1.2"),
    }
)
_PLAIN = ("USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "S", "NAME")
_FULL = ("UID", "PID", "PPID", "C", "STIME", "TTY", "TIME", "CMD")


def _ps(context: Context, arguments: list[str]) -> int:
    words = ["-A" if word in ("-ef", "ef") else word for word in arguments]
    full = "-ef" in arguments or "ef" in arguments
    if words and not words[0].startswith("-"):  # ps PID, ps NAME, as old clients write it
        chosen = [p for p in context.system.processes() if str(p.pid) in words or p.name in words]
        return _print_processes(context, chosen, _PLAIN)
    found = options(words, "AadefLlnTwZMy", "gGkopOPtuUs")
    own = context.system.processes()
    own.append(own[0]._replace(pid=context.system.new_pid(), parent=context.shell.scope.pid, user="shell", name="ps",
                               line=" ".join(("ps", *arguments))))  # fmt: skip
    chosen = own
    if "u" in found.flags or "U" in found.flags:
        users = re.split("[, ]", found.value("u") or found.value("U"))
        chosen = [process for process in own if process.user in users]
    elif "p" in found.flags:
        wanted = set(re.split("[, ]", found.value("p")))
        chosen = [process for process in own if str(process.pid) in wanted]
    elif not {"A", "e", "a", "d"} & found.flags:
        chosen = [process for process in own if process.user == "shell"]
    columns: Sequence[str] = _FULL if full or "f" in found.flags else _PLAIN
    if "o" in found.flags:
        columns = [name.partition("=")[0].upper() for name in re.split("[, ]", found.value("o")) if name]
        unknown = next((name for name in columns if name not in _COLUMNS), None)
        if unknown is not None:
            raise UsageError(f"bad -o {found.value('o')}@0")
    return _print_processes(context, chosen, columns)


def _print_processes(context: Context, processes: Sequence[Process], columns: Sequence[str]) -> int:
    rows = [tuple(columns), *(tuple(_COLUMNS[name][2](process) for name in columns) for process in processes)]
    out: list[str] = []
    for row in rows:
        cells = []
        for name, cell in zip(columns, row, strict=True):
            side, width, _ = _COLUMNS[name]
            cells.append(f"{cell:{side}{width}}" if width else cell)
        out.append(" ".join(cells).rstrip())
    context.lines(out)
    return 0 if processes else 1


def _pidof(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "sx", "o")
    pids = [str(p.pid) for p in context.system.processes() for name in found.rest if name in (p.name, _base(p))]
    if not pids:
        return 1
    context.line(" ".join(pids[:1] if "s" in found.flags else pids))
    return 0


def _base(process: Process) -> str:
    return process.name.rpartition("/")[2]


def _matching(context: Context, arguments: list[str]) -> tuple[list[Process], int, bool]:
    signal, words = SIGTERM, list[str]()
    for word in arguments:
        number = _signal(word[1:]) if re.fullmatch("-([A-Z]+|[0-9]{1,2})", word) else None
        if number is None:
            words.append(word)
        else:
            signal = number
    found = options(words, "cflnovxLqV", "dgGPstuU")
    if "l" in found.flags and "s" in found.flags:
        raise UsageError("bad arguments")
    if "s" in found.flags:
        signal = _signal(found.value("s")) or signal
    if not found.rest:
        raise UsageError("No PATTERN")
    try:
        pattern = Expression(found.rest[0], extended=True, around="line" if "x" in found.flags else "")
        chosen = [
            process
            for process in context.system.processes()
            if pattern.search(process.line if "f" in found.flags else process.name) is not None
            and process.pid != context.shell.scope.pid
        ]
    except BadExpression as error:
        raise UsageError(str(error)) from None
    return chosen, signal, "l" in found.flags


def _pgrep(context: Context, arguments: list[str]) -> int:
    chosen, _, names = _matching(context, arguments)
    context.lines(f"{process.pid} {process.name}" if names else str(process.pid) for process in chosen)
    return 0 if chosen else 1


def _pkill(context: Context, arguments: list[str]) -> int:
    chosen, signal, _ = _matching(context, arguments)
    code = 0 if chosen else 1
    for process in chosen:
        problem = _end(context, process.pid, signal)
        if problem:
            code = context.complain(f"{process.pid}: {problem}")
    return code


def _killall(context: Context, arguments: list[str]) -> int:
    names = [word for word in arguments if not word.startswith("-")]
    chosen = [process for process in context.system.processes() if process.name in names or _base(process) in names]
    if not chosen:
        return context.complain(f"{' '.join(names)}: No such process")
    code = 0
    for process in chosen:
        problem = _end(context, process.pid, SIGTERM)
        if problem:
            code = context.complain(f"{process.name}: {problem}")
    return code


def _end(context: Context, pid: int, signal: int) -> str:
    return context.system.kill(pid, signal)


def _signal(name: str) -> int | None:
    if name.isdecimal() and len(name) < 3:
        return int(name)
    return SIGNALS.get(name.upper().removeprefix("SIG"))


def _kill(context: Context, arguments: list[str]) -> int:
    words = list(arguments)
    signal = SIGTERM
    if words[:1] == ["-l"]:
        context.line(" ".join(SIGNALS))
        return 0
    if words[:1] in (["-s"], ["-n"]) and len(words) > 1:
        words = ["-" + words[1], *words[2:]]
    if words and re.fullmatch("-[A-Za-z0-9]+", words[0]):
        number = _signal(words.pop(0)[1:])
        if number is None:
            return context.complain("bad signal")
        signal = number
    words = [word for word in words if word != "--"]
    if not words:
        raise UsageError("missing argument")
    code = 0
    for word in words:
        pid = context.shell.scope.background_pid if word == "%1" else int(word) if re.fullmatch(_COUNT, word) else -1
        problem = _end(context, pid, signal) if pid > 0 else "bad process id"
        if problem:
            context.err(f"/system/bin/sh: kill: {word}: {problem}")
            code = 1
    return code


def _top(context: Context, arguments: list[str]) -> int | Steps:
    found = options(arguments, "bHqhs", "dkmnopOsu", mixed=True)
    if "n" in found.flags:
        _top_page(context)
        return 0
    return _top_again(context, max(found.number("d", 3), 1))


def _top_page(context: Context) -> None:
    processes = context.system.processes()
    context.line(f"Tasks: {len(processes)} total,   1 running, {len(processes) - 1} sleeping,   0 stopped,   0 zombie")
    context.line("  Mem:  3920000K total,  3507668K used,   412332K free,     5208K buffers")
    context.line(" Swap:  2097148K total,   285944K used,  1811204K free,  1531224K cached")
    context.line("800%cpu  12%user   0%nice  15%sys 773%idle   0%iow   0%irq   0%sirq   0%host")
    context.line("  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS")
    context.lines(
        f"{process.pid:>5} {process.user:<12} 20   0 1.3G 108M  60M S  0.0   2.8   0:01.00 {process.line}"
        for process in processes[:40]
    )


def _top_again(context: Context, seconds: int) -> Steps:
    while True:
        _top_page(context)
        yield Until(context.phone.clock.now_ms + seconds * 1000)


# ----------------------------------------------------------------------------------------------------------------------
# time


def _sleep(context: Context, arguments: list[str]) -> int | Steps:
    if not arguments:
        raise UsageError("Needs 1 argument")
    total = 0.0
    for word in arguments:
        match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})([smhd]?)", word)
        if word in ("infinity", "inf"):
            return _forever()
        if match is None:
            raise UsageError(f"bad {' '.join(arguments)}")
        total += float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]
    return _until(context.phone.clock.now_ms + round(total * 1000))


def _until(moment_ms: int) -> Steps:
    yield Until(moment_ms)
    return 0


def _forever() -> Steps:
    yield Forever()
    return 0


def _usleep(context: Context, arguments: list[str]) -> int | Steps:
    if not arguments or not re.fullmatch("[0-9]{1,12}", arguments[0]):
        raise UsageError("Needs 1 argument")
    return _until(context.phone.clock.now_ms + int(arguments[0]) // 1000)


def _timeout(context: Context, arguments: list[str]) -> int | Steps:
    found = options(arguments, "ifv", "ks", mixed=False, long=("foreground", "preserve-status"))
    if len(found.rest) < 2:
        raise UsageError("Needs 2 arguments")
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smhd]?)", found.rest[0])
    if match is None:
        raise UsageError(f"bad {found.rest[0]}")
    seconds = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]
    return _limited(context, found.rest[1:], round(seconds * 1000))


def _limited(context: Context, words: list[str], limit_ms: int) -> Steps:
    end_ms = context.phone.clock.now_ms + limit_ms
    steps = context.shell.call(words[0], words[1:], context.io)
    try:
        wait = next(steps)
        while context.phone.clock.now_ms < end_ms:
            yield Sooner(wait, end_ms)
            if wait.ready(context.phone.clock.now_ms):
                wait = next(steps)
    except StopIteration as end:
        return int(end.value or 0)
    finally:
        steps.close()
    return 124


def _date(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "uR", "dDrsI", long=("utc", "iso-8601"))
    now_s = context.phone.clock.now_ms // 1000
    if "r" in found.flags:
        now_s = context.files.mtime_s(context.path(found.value("r")))
    elif "d" in found.flags:
        given = parse_moment(found.value("d"))
        if given is None:
            return context.complain(f"bad date '{found.value('d')}'")
        now_s = given
    form = next((word[1:] for word in found.rest if word.startswith("+")), "%a %b %e %H:%M:%S GMT %Y")
    if any(not word.startswith("+") for word in found.rest) or "s" in found.flags:
        return context.complain("cannot set date: Operation not permitted")
    if "R" in found.flags:
        form = "%a, %d %b %Y %H:%M:%S +0000"
    context.line(format_moment(now_s, context.phone.clock.now_ms % 1000, form))
    return 0


_DIRECTIVES = frozenset("aAbBdHIjmMpSUwWyYcxXFTDeGguVhRCtn")


def format_moment(seconds: int, milliseconds: int, form: str) -> str:
    """Format a moment as ``strftime`` does, independent of this machine's locale and library."""
    moment = datetime.fromtimestamp(min(max(seconds, 0), LAST_S), UTC)
    own = {
        "s": str(seconds), "N": f"{milliseconds:03d}000000", "Z": "GMT", "z": "+0000", "e": f"{moment.day:>2}",
        "k": f"{moment.hour:>2}", "l": f"{(moment.hour - 1) % 12 + 1:>2}", "P": "pm" if moment.hour >= 12 else "am",
        "%": "%", "t": "\t", "n": "\n", "h": moment.strftime("%b"), "r": moment.strftime("%I:%M:%S %p"),
        "c": moment.strftime("%a %b ") + f"{moment.day:>2}" + moment.strftime(" %H:%M:%S %Y"),
        "x": moment.strftime("%m/%d/%y"), "X": moment.strftime("%H:%M:%S"), "L": f"{milliseconds:03d}",
    }  # fmt: skip

    def fill(match: re.Match[str]) -> str:
        letter = match[1]
        if letter in own:
            return own[letter]
        return moment.strftime("%" + letter) if letter in _DIRECTIVES else match[0]

    return re.sub("%[-_0^]?(.)", fill, form[:1000])


def _uptime(context: Context, arguments: list[str]) -> int:
    seconds = int(system_files.uptime_s(context.system))
    if "-p" in arguments or "-s" in arguments:
        context.line(f"up {seconds // 3600} hours, {seconds // 60 % 60} minutes")
        return 0
    now = context.phone.local_time.strftime("%H:%M:%S")
    context.line(f" {now} up {seconds // 3600:>2}:{seconds // 60 % 60:02d},  0 users,  load average: 0.42, 0.37, 0.31")
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# users and the machine

_GROUPS = {"input": 1004, "log": 1007, "adb": 1011, "sdcard_rw": 1015, "sdcard_r": 1028, "ext_data_rw": 1078,
           "ext_obb_rw": 1079, "net_bt_admin": 3001, "net_bt": 3002, "inet": 3003, "net_bw_stats": 3006,
           "readproc": 3009, "uhid": 3011, "readtracefs": 3012}  # fmt: skip


def _id(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "ugGnrZ")
    if found.rest and found.rest[0] not in ("shell", "2000"):
        return context.complain(f"{found.rest[0]}: No such user")
    names = "n" in found.flags
    if "u" in found.flags or "g" in found.flags:
        context.line("shell" if names else "2000")
    elif "G" in found.flags:
        context.line(" ".join(["shell", *_GROUPS] if names else ["2000", *map(str, _GROUPS.values())]))
    elif "Z" in found.flags:
        context.line("u:r:shell:s0")
    else:
        groups = ",".join(f"{number}({name})" for name, number in _GROUPS.items())
        context.line(f"uid=2000(shell) gid=2000(shell) groups=2000(shell),{groups} context=u:r:shell:s0")
    return 0


def _whoami(context: Context, _: list[str]) -> int:
    context.line("shell")
    return 0


def _groups(context: Context, _: list[str]) -> int:
    context.line(" ".join(("shell", *_GROUPS)))
    return 0


def _uname(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "aosnrvm")
    words = system_files.version().split()
    values = {
        "s": "Linux", "n": "localhost", "r": words[2], "v": "#1 SMP PREEMPT Thu Jan  2 00:00:00 UTC 2025",
        "m": "x86_64", "o": "Toybox",
    }  # fmt: skip
    wanted = "snrvmo" if "a" in found.flags else "".join(k for k in "snrvmo" if k in found.flags) or "s"
    context.line(" ".join(values[kind] for kind in wanted))
    return 0


def _hostname(context: Context, _: list[str]) -> int:
    context.line("localhost")
    return 0


def _nproc(context: Context, _: list[str]) -> int:
    context.line(str(system_files.CORES))
    return 0


def _free(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "bkmgth")
    unit = 1 if "b" in found.flags else 1 << 20 if "m" in found.flags else 1 << 10 if "k" in found.flags else 1
    total, free = system_files.MEMORY_KB * 1024, 412_332 * 1024
    context.line("\t\ttotal        used        free      shared     buffers")
    rows = [("Mem:", total, free), ("-/+ buffers/cache:", total - free, free), ("Swap:", 2_147_479_552, 1_854_672_896)]
    for name, size, left in rows:
        used = size - left
        context.line(f"{name:<8}{size // unit:>13}{used // unit:>12}{left // unit:>12}{0:>12}{5208 * 1024 // unit:>12}")
    return 0


def _mount(context: Context, arguments: list[str]) -> int:
    if arguments and not arguments[0].startswith("-"):
        return context.complain(f"'{arguments[0]}': Permission denied")
    for line in system_files.mounts().splitlines():
        device, place, kind, flags, *_ = line.split()
        context.line(f"{device} on {place} type {kind} ({flags})")
    return 0


def _lsof(context: Context, _: list[str]) -> int:
    context.line("COMMAND     PID       USER   FD      TYPE             DEVICE  SIZE/OFF       NODE NAME")
    return 0


def _seq(context: Context, arguments: list[str]) -> int:
    found = [word for word in arguments if word != "-w"]
    separator = "\n"
    if found[:1] == ["-s"] and len(found) > 1:
        separator, found = found[1], found[2:]
    if not 1 <= len(found) <= 3 or not all(re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,6})?", word) for word in found):
        raise UsageError("bad argument" if found else "Needs 1 argument")
    digits = max(len(word.partition(".")[2]) for word in found)
    scale = 10**digits
    numbers = [round(float(word) * scale) for word in found]
    first, step, last = ([scale, scale, *numbers], [numbers[0], scale, numbers[-1]], numbers)[len(numbers) - 1][-3:]
    count = (last - first) // step + 1 if step else 0
    if not step or count > _MOST_NUMBERS or count * len(separator) > _MOST_SEPARATED:
        raise UsageError("too many numbers")
    values = range(first, last + (1 if step > 0 else -1), step)
    texts = [str(value) if not digits else f"{value / scale:.{digits}f}" for value in values]
    if texts:
        context.out(separator.join(texts) + "\n")
    return 0


def _yes(context: Context, arguments: list[str]) -> int:
    line = (" ".join(arguments) or "y")[:4096].encode() + b"\n"
    context.out(line * max((1 << 20) // len(line), 1))
    return 0


def _expr(context: Context, arguments: list[str]) -> int:
    value = _Sum(list(arguments)).value()
    context.line(str(value))
    return int(value in ("", "0"))


class _Sum:
    """The expressions of ``expr``: strings and whole numbers, one per word."""

    _LEVELS = (("|",), ("&",), ("=", "==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"), (":",))

    def __init__(self, words: list[str]) -> None:
        self._words = words[:200]
        self._at = 0
        self._depth = 0

    def value(self) -> str:
        if not self._words:
            raise UsageError("Needs 1 argument", 2)
        found = self._binary(0)
        if self._at < len(self._words):
            raise UsageError("syntax error", 2)
        return found

    def _binary(self, level: int) -> str:
        if level == len(self._LEVELS):
            return self._primary()
        left = self._binary(level + 1)
        while self._at < len(self._words) and self._words[self._at] in self._LEVELS[level]:
            operator = self._words[self._at]
            self._at += 1
            left = self._apply(operator, left, self._binary(level + 1))
        return left

    def _primary(self) -> str:
        if self._at >= len(self._words):
            raise UsageError("syntax error", 2)
        word = self._words[self._at]
        self._at += 1
        if word == "(":
            self._depth += 1
            if self._depth > 10:
                raise UsageError("too deep", 2)
            found = self._binary(0)
            if self._at >= len(self._words) or self._words[self._at] != ")":
                raise UsageError("syntax error", 2)
            self._at += 1
            return found
        if word in ("length", "substr", "index") and self._at < len(self._words):
            return self._of_string(word)
        return word

    def _of_string(self, word: str) -> str:
        text = self._words[self._at]
        self._at += 1
        if word == "length":
            return str(len(text))
        if word == "index" and self._at < len(self._words):
            letters = self._words[self._at]
            self._at += 1
            return str(next((at for at, letter in enumerate(text, start=1) if letter in letters), 0))
        bounds = self._words[self._at : self._at + 2]
        self._at += 2
        if len(bounds) != 2 or not all(re.fullmatch(_COUNT, bound) for bound in bounds):
            raise UsageError("syntax error", 2)
        return text[int(bounds[0]) - 1 :][: int(bounds[1])]

    @staticmethod
    def _apply(operator: str, left: str, right: str) -> str:
        if operator == "|":
            return left if left not in ("", "0") else right
        if operator == "&":
            return left if left not in ("", "0") and right not in ("", "0") else "0"
        if operator == ":":
            try:
                found = Expression("^" + right.removeprefix("^")).search(left, groups=r"\(" in right)
            except BadExpression as error:
                raise UsageError(str(error), 2) from None
            if r"\(" in right:
                return found.groups[1] if found is not None and len(found.groups) > 1 else ""
            return str(found.end if found is not None else 0)
        numeric = all(re.fullmatch("-?[0-9]{1,18}", word) for word in (left, right))
        if operator in ("=", "==", "!=", "<", "<=", ">", ">="):
            order = (int(left) > int(right)) - (int(left) < int(right)) if numeric else (left > right) - (left < right)
            return str(
                int(
                    {
                        "=": order == 0, "==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0,
                        ">": order > 0, ">=": order >= 0,
                    }[operator]
                )
            )  # fmt: skip
        if not numeric:
            raise UsageError("non-integer argument", 2)
        one, two = int(left), int(right)
        if operator in ("/", "%"):
            if two == 0:
                raise UsageError("division by zero", 2)
            quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)
            return str(quotient if operator == "/" else one - quotient * two)
        return str(one + two if operator == "+" else one - two if operator == "-" else one * two)


# ----------------------------------------------------------------------------------------------------------------------
# the network


def connected(context: Context) -> bool:
    """Tell whether the phone is connected to a network by Wi-Fi."""
    state = context.phone.state
    return bool(state["settings/wifi_on"]) and bool(state["settings/wifi_network"])


def _ifconfig(context: Context, arguments: list[str]) -> int:
    names = [word for word in arguments if not word.startswith("-")]
    if names and names[0] not in ("lo", "wlan0"):
        return context.complain(f"{names[0]}: No such device")
    if not names or names[0] == "lo":
        context.line("lo        Link encap:Local Loopback  ")
        context.line("          inet addr:127.0.0.1  Mask:255.0.0.0 ")
        context.line("          UP LOOPBACK RUNNING  MTU:65536  Metric:1")
        context.line("          RX packets:0 errors:0 dropped:0 overruns:0 frame:0 \n")
    if not names or names[0] == "wlan0":
        flags = "UP BROADCAST RUNNING MULTICAST" if connected(context) else "BROADCAST MULTICAST"
        context.line(f"wlan0     Link encap:Ethernet  HWaddr {HARDWARE_ADDRESS}")
        if connected(context):
            context.line(f"          inet addr:{ADDRESS}  Bcast:192.168.1.255  Mask:255.255.255.0 ")
        context.line(f"          {flags}  MTU:1500  Metric:1")
        context.line("          RX packets:1204 errors:0 dropped:0 overruns:0 frame:0 \n")
    return 0


def _ip(context: Context, arguments: list[str]) -> int:
    words = [
        word
        for place, word in enumerate(arguments)
        if not word.startswith("-") and arguments[max(place - 1, 0) : place] != ["-f"]
    ]
    what = words[0] if words else ""
    up = connected(context)
    device = next((words[place + 1] for place, word in enumerate(words[:-1]) if word == "dev"), "")
    device = device or next((word for word in words[1:] if word in ("lo", "wlan0")), "")
    if what and (what.startswith("a") or "link".startswith(what)):
        addresses = what.startswith("a")
        if device in ("", "lo"):
            context.line("1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000")
            context.line("    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00")
            if addresses:
                context.line("    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever")
        if device in ("", "wlan0"):
            flags, state = ("BROADCAST,MULTICAST,UP,LOWER_UP", "UP") if up else ("BROADCAST,MULTICAST", "DOWN")
            context.line(f"2: wlan0: <{flags}> mtu 1500 qdisc mq state {state} group default qlen 3000")
            context.line(f"    link/ether {HARDWARE_ADDRESS} brd ff:ff:ff:ff:ff:ff")
            if addresses and up:
                context.line(f"    inet {ADDRESS}/24 brd 192.168.1.255 scope global wlan0")
                context.line("       valid_lft forever preferred_lft forever")
        return 0
    if "route".startswith(what) and what:
        if up:
            context.line(f"192.168.1.0/24 dev wlan0 proto kernel scope link src {ADDRESS}")
        return 0
    context.err('Object "' + what + '" is unknown, try "ip help".')
    return 255


def _ping(context: Context, arguments: list[str]) -> int | Steps:
    found = options(arguments, "46aAbBdDfhLnOqrRUvV", "cIiwWstTpQSlM")
    if not found.rest:
        context.err("ping: usage error: Destination address required")
        return 1
    host = found.rest[0]
    local = host in ("localhost", "127.0.0.1")
    if not connected(context) and not local:
        named = not re.fullmatch(r"[0-9.]+", host)
        context.err(f"ping: unknown host {host}" if named else "connect: Network is unreachable")
        return 2
    seconds = found.number("w", found.number("W", 10))
    return _pings(context, host, found.number("c", 0), seconds, answers=local or host.startswith("192.168.1."))


def _pings(context: Context, host: str, count: int, seconds: int, *, answers: bool) -> Steps:
    address = host if re.fullmatch(r"[0-9.]+", host) else "127.0.0.1" if host == "localhost" else "203.0.113.10"
    context.line(f"PING {host} ({address}) 56(84) bytes of data.")
    sent = 0
    while not count or sent < count:
        sent += 1
        if answers:
            context.line(f"64 bytes from {address}: icmp_seq={sent} ttl=64 time=0.{42 + sent % 7} ms")
        yield Until(context.phone.clock.now_ms + (1000 if answers else max(seconds, 1) * 1000))
    got = sent if answers else 0
    context.line(f"\n--- {host} ping statistics ---")
    loss = 0 if answers else 100
    context.line(f"{sent} packets transmitted, {got} received, {loss}% packet loss, time {(sent - 1) * 1000}ms")
    return 0 if answers else 1


def _netstat(context: Context, _: list[str]) -> int:
    context.line("Active Internet connections (w/o servers)")
    context.line("Proto Recv-Q Send-Q Local Address           Foreign Address         State")
    context.lines(
        f"tcp        0      0 {f'127.0.0.1:{port}':<24}{'0.0.0.0:*':<24}LISTEN" for port in sorted(context.system.ports)
    )
    return 0


def _getenforce(context: Context, _: list[str]) -> int:
    context.line("Enforcing")
    return 0


def _getprop(context: Context, arguments: list[str]) -> int:
    words = [word for word in arguments if word not in ("-T", "-Z")]
    found = properties.all_of(context.system)
    if words:
        context.line(found.get(words[0], words[1] if len(words) > 1 else ""))
    else:
        context.lines(f"[{name}]: [{value}]" for name, value in sorted(found.items()))
    return 0


def _setprop(context: Context, arguments: list[str]) -> int:
    if len(arguments) != 2:
        raise UsageError(f"Need {'2' if len(arguments) < 2 else 'only 2'} arguments")
    name, value = arguments
    if not re.fullmatch(r"[A-Za-z0-9_.:@-]{1,200}", name) or len(value) > 91 or name.startswith("ro."):
        context.err(f"Failed to set property '{name[:200]}' to '{value[:91]}'.\nSee dmesg for error reason.")
        return 1
    if len(context.system.memory.properties) < 2000:
        context.system.memory.properties[name] = value
    return 0


def _nothing(_: Context, __: list[str]) -> int:
    return 0


def _start_or_stop(context: Context, _: list[str]) -> int:
    context.err("Must be root")
    return 1


def _toybox(context: Context, arguments: list[str]) -> int | Steps:
    commands = context.system.commands
    if not arguments:
        context.line(" ".join(sorted(name for name, command in commands.items() if command.toybox)))
        return 0
    command = commands.get(arguments[0])
    if arguments[0] in ("--version", "-V"):
        context.line("toybox 0.8.11-android")
        return 0
    if command is None or not command.toybox:
        context.system.count_unknown(f"toybox {arguments[0]}")
        return context.complain(f"Unknown command {arguments[0]}", 127)
    return context.shell.call(arguments[0], arguments[1:], context.io)


PROCESS_TOOLS: Mapping[str, Command] = MappingProxyType(
    {
        "date": Command(_date, "[-u] [-I RES] [-r FILE] [-d DATE] [+DISPLAY_FORMAT] [-D SET_FORMAT] [SET]"),
        "expr": Command(_expr, "ARG1 OPERATOR ARG2..."),
        "free": Command(_free, "[-bkmgt]"),
        "getenforce": Command(_getenforce, ""),
        "getprop": Command(_getprop, "[NAME [DEFAULT]]"),
        "groups": Command(_groups, "[user]"),
        "hostname": Command(_hostname, "[newname]"),
        "id": Command(_id, "[-GZgnru] [USER...]"),
        "ifconfig": Command(_ifconfig, "[-aS] [INTERFACE [ACTION...]]"),
        "ip": Command(_ip, "[OPTIONS] OBJECT", toybox=False),
        "kill": Command(_kill, "[-l [SIGNAL] | -s SIGNAL | -SIGNAL] PID..."),
        "killall": Command(_killall, "[-l] [-iqv] [-SIGNAL|-s SIGNAL] PROCESS_NAME..."),
        "lsof": Command(_lsof, "[-lt] [-p PID1,PID2,...] [FILE...]"),
        "mount": Command(_mount, "[-afFrsvw] [-t TYPE] [-o OPTION,] [[DEVICE] DIR]"),
        "netstat": Command(_netstat, "[-pWrxwutneal]"),
        "nproc": Command(_nproc, "[--all]"),
        "pgrep": Command(_pgrep, "[-clfnovx] [-d DELIM] [-L SIGNAL] [PATTERN]"),
        "pidof": Command(_pidof, "[-s] [-o omitpid[,omitpid...]] [NAME]..."),
        "ping": Command(_ping, "[OPTIONS] HOST", toybox=False),
        "pkill": Command(_pkill, "[-fnovx] [-SIGNAL|-l SIGNAL] [PATTERN]"),
        "ps": Command(
            _ps,
            "[-AadefLlnwZ] [-gG GROUP,] [-k FIELD,] [-o FIELD,] [-p PID,] [-t TTY,] [-uU USER,]\n\n"
            "-A\tAll processes\n-o\tOnly these fields\n-p\tOnly these processes\n-u\tOnly of these users",
        ),
        "seq": Command(_seq, "[-w|-f fmt_str] [-s sep_str] [first] [increment] last"),
        "setprop": Command(_setprop, "NAME VALUE"),
        "sleep": Command(_sleep, "DURATION..."),
        "start": Command(_start_or_stop, toybox=False),
        "stop": Command(_start_or_stop, toybox=False),
        "sync": Command(_nothing, "[FILE...]"),
        "timeout": Command(_timeout, "[-k DURATION] [-s SIGNAL] DURATION COMMAND..."),
        "top": Command(_top, "[-Hhbq] [-k FIELD,] [-o FIELD,] [-s SORT] [-n NUMBER] [-m LINES] [-d SECONDS] [-p PID,]"),
        "toybox": Command(_toybox, toybox=False),
        "uname": Command(_uname, "[-asnrvmo]"),
        "uptime": Command(_uptime, "[-ps]"),
        "usleep": Command(_usleep, "MICROSECONDS"),
        "whoami": Command(_whoami, ""),
        "yes": Command(_yes, "[args...]"),
    }
)
