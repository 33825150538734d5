"""Toybox commands on files and folders: ls, cp, mv, rm, stat, du, find and their like."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from stat import filemode
from types import MappingProxyType
from typing import NamedTuple

from agent_eval.device_sim.clock import LAST_S
from agent_eval.device_sim.files import LONGEST_PATH, MOST_BYTES, SHARED, FileProblem, Stat
from agent_eval.device_sim.shell.context import Command, Context, Options, UsageError, options, to_number
from agent_eval.device_sim.shell.process import Steps, read_all
from agent_eval.device_sim.shell.text_tools import filled
from agent_eval.device_sim.shell.wildcards import Run, matches, tokens

_LINKS = {"/sdcard": "/storage/self/primary", "/mnt/sdcard": "/storage/self/primary",
          "/storage/self/primary": "/storage/emulated/0", "/bin": "/system/bin", "/etc": "/system/etc",
          "/d": "/sys/kernel/debug"}  # fmt: skip
"""Symbolic links of every phone; a client cannot make others."""
DATA_BLOCKS = 112_000_000
"""Kilobytes of the data partition."""


class Owner(NamedTuple):
    """To whom a path belongs."""

    user: str
    group: str


def owner_of(whole: str) -> Owner:
    """Return the owner of a path: what a shell pushes is its own, the shared storage belongs to the media provider."""
    if whole.startswith((SHARED, "/storage")):
        return Owner("u0_a58", "media_rw")
    if whole.startswith("/data/local/tmp"):
        return Owner("shell", "shell")
    if whole.startswith("/data"):
        return Owner("system", "system")
    return Owner("root", "shell" if whole.startswith("/system/bin") else "root")


def _asked(context: Context, path: str) -> Stat:
    found = context.files.stat(context.path(path))
    if found is None:
        raise FileProblem("ENOENT", path)
    return found


def _when(seconds: int, form: str = "%Y-%m-%d %H:%M") -> str:
    return datetime.fromtimestamp(min(max(seconds, 0), LAST_S), UTC).strftime(form)


# ----------------------------------------------------------------------------------------------------------------------
# ls


def _ls(context: Context, arguments: list[str]) -> Steps:
    found = options(
        arguments, "ACFHLNRSZacdfhiklmnpqrstuxwog1", "wT", long=("color=", "color", "full-time", "show-control-chars")
    )
    paths = found.rest or ["."]
    code = 0
    loose: list[str] = []
    folders: list[str] = []
    for path in paths:
        stat = context.files.stat(context.path(path))
        link = posixpath.normpath(posixpath.join(context.folder, path)) in _LINKS and not path.endswith("/")
        if stat is None:
            code = context.complain(f"{path}: No such file or directory")
        elif stat.is_folder and "d" not in found.flags and not (link and "l" in found.flags):
            folders.append(path)
        else:
            loose.append(path)
    out = _rows(context, found, [(path, context.path(path)) for path in loose], link_names=True)
    many = len(paths) > 1 or "R" in found.flags
    while folders:
        path = folders.pop(0)
        if many:
            out += [*([""] if out else []), f"{path}:"]
        inside = _inside(context, found, path)
        turn = context.shell.host.spend(len(inside))
        if turn is not None:
            yield turn
        if {"l", "s"} & found.flags:
            out.append(f"total {sum(_blocks(context, whole) for _, whole in inside)}")
        out += _rows(context, found, inside, link_names=True)
        if "R" in found.flags:
            below = [name for name, whole in inside if context.files.is_folder(whole) and name not in (".", "..")]
            folders[:0] = [posixpath.join(path, name) for name in below]
        if len(out) > 100_000:
            break
    context.lines(out)
    return code


def _inside(context: Context, found: Options, path: str) -> list[tuple[str, str]]:
    folder = context.path(path)
    names = context.files.names(folder)
    if "a" in found.flags or "f" in found.flags:
        names = [".", "..", *names]
    elif "A" not in found.flags:
        names = [name for name in names if not name.startswith(".")]
    rows = [(name, context.path(posixpath.join(path, name))) for name in names]
    stats = {whole: context.files.stat(whole) for _, whole in rows}
    if "S" in found.flags:
        rows.sort(key=lambda row: -(stats[row[1]] or Stat(0, 0, 0)).size)
    elif "t" in found.flags:
        rows.sort(key=lambda row: -(stats[row[1]] or Stat(0, 0, 0)).mtime_s)
    if "r" in found.flags:
        rows.reverse()
    return rows


def _rows(context: Context, found: Options, rows: list[tuple[str, str]], *, link_names: bool) -> list[str]:
    del link_names
    flags = found.flags
    described = [(name, whole, context.files.stat(whole)) for name, whole in rows]
    if not flags & set("lognsi"):
        return [name + _sign(flags, stat) for name, _, stat in described]
    columns: list[list[str]] = []
    for name, whole, stat in described:
        if stat is None:
            continue
        typed = posixpath.normpath(posixpath.join(context.folder, name)) if name.startswith("/") else whole
        target = _LINKS.get(typed)
        owner = owner_of(whole)
        mode = "drwxrws---" if stat.is_folder and whole.startswith(SHARED) else filemode(stat.mode)
        mode = "lrwxrwxrwx" if target else mode
        size = f"{stat.size / 1024:.1f}K" if "h" in flags and stat.size >= 1024 else str(stat.size)
        cells = [str(inode_of(whole))] if "i" in flags else []
        cells += [str(_blocks(context, whole))] if "s" in flags else []
        if {"l", "o", "g", "n"} & flags:
            cells += [mode, str(2 if stat.is_folder else 1)]
            cells += [] if "g" in flags else [owner.user]
            cells += [] if "o" in flags else [owner.group]
            cells += ["u:object_r:media_rw_data_file:s0"] if "Z" in flags else []
            cells += [size, _when(stat.mtime_s)]
        columns.append([*cells, name + _sign(flags, stat) + (f" -> {target}" if target else "")])
    widths = [max(len(row[place]) for row in columns) for place in range(len(columns[0]) - 1)] if columns else []
    return [
        " ".join(
            cell.rjust(width) if cell[:1].isdigit() and ":" not in cell else cell.ljust(width)
            for cell, width in zip(row, [*widths, 0], strict=True)
        )
        for row in columns
    ]


def _sign(flags: frozenset[str], stat: Stat | None) -> str:
    if stat is None or not {"F", "p"} & flags:
        return ""
    return "/" if stat.is_folder else "*" if "F" in flags and stat.mode & 0o111 else ""


def _blocks(context: Context, whole: str) -> int:
    stat = context.files.stat(whole)
    return 0 if stat is None else -(-stat.size // 4096) * 4


def inode_of(whole: str) -> int:
    """Return the number of a path's inode."""
    return 1000 + sum(ord(letter) * (place + 7) for place, letter in enumerate(whole)) % 900_000


# ----------------------------------------------------------------------------------------------------------------------
# changing


def _cp(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "aDdFfHiLlnPprRsTuv", "t", long=("preserve=", "preserve"))
    return _transfer(context, found, moves=False)


def _mv(context: Context, arguments: list[str]) -> int:
    return _transfer(context, options(arguments, "DFfinTuv", "t"), moves=True)


def _transfer(context: Context, found: Options, *, moves: bool) -> int:
    words = list(found.rest)
    target = found.value("t") or (words.pop() if words else "")
    if not words:
        raise UsageError("Needs 2 arguments" if not target else f"Missing destination '{target}'")
    files = context.files
    into = files.is_folder(context.path(target)) and "T" not in found.flags
    if len(words) > 1 and not into:
        return context.complain(f"'{target}' not directory")
    code = 0
    for word in words:
        start = context.path(word)
        end = context.path(posixpath.join(target, posixpath.basename(word.rstrip("/"))) if into else target)
        stat = files.stat(start)
        if stat is None and start != "/dev/null":
            code = context.complain(f"bad '{word}': No such file or directory")
            continue
        if stat is not None and stat.is_folder and not moves and not {"r", "R", "a"} & found.flags:
            code = context.complain(f"Skipped dir '{word}'")
            continue
        if "n" in found.flags and files.exists(end):
            continue
        if start == end:
            code = context.complain(f"'{word}' is '{target}'")
            continue
        try:
            if moves:
                files.rename(start, end)
            elif stat is not None and stat.is_folder:
                files.copy(start, end, keep_times=bool({"p", "a"} & found.flags))
            else:
                kept = stat.mtime_s if stat is not None and {"p", "a"} & found.flags else None
                files.write(end, context.system.read_file(start), mtime_s=kept)
        except FileProblem as problem:
            shown = word if resolve_same(problem.path, start) else target
            code = context.complain(f"bad '{shown}': {problem.reason}")
            continue
        if "v" in found.flags:
            context.line(f"{context.name} '{word}' -> '{target}'")
    return code


def resolve_same(left: str, right: str) -> bool:
    """Tell whether two paths of an error and of a command are the same."""
    return left == right or left.startswith(right + "/")


def _rm(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "firRv")
    force = "f" in found.flags
    if not found.rest and not force:
        raise UsageError("Needs 1 argument")
    code = 0
    for word in found.rest:
        whole = context.path(word)
        stat = context.files.stat(whole)
        if stat is None:
            if not force:
                code = context.complain(f"{word}: No such file or directory")
            continue
        if stat.is_folder and not {"r", "R"} & found.flags:
            code = context.complain(f"{word}: is directory")
            continue
        if whole == "/" or posixpath.basename(word.rstrip("/")) in (".", ".."):
            code = context.complain(f"bad path '{word}'")
            continue
        try:
            context.files.remove(whole, whole_tree=True)
        except FileProblem as problem:
            code = context.complain(f"{word}: {problem.reason}")
    return code


def _mkdir(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "vp", "m", long=("parents",))
    if not found.rest:
        raise UsageError("Needs 1 argument")
    code = 0
    parents = bool({"p", "parents"} & found.flags)
    for word in found.rest:
        try:
            context.files.make_folder(context.path(word), parents=parents)
        except FileProblem as problem:
            code = context.complain(f"'{word}': {problem.reason}")
    return code


def _rmdir(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "p", long=("ignore-fail-on-non-empty",))
    code = 0
    for word in found.rest:
        try:
            if context.files.is_file(context.path(word)):
                raise FileProblem("ENOTDIR", word)
            context.files.remove(context.path(word))
        except FileProblem as problem:
            code = context.complain(f"{word}: {problem.reason}")
    return code


def _touch(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "acfhmo", "dtr")
    moment: int | None = None
    if "r" in found.flags:
        moment = _asked(context, found.value("r")).mtime_s
    elif "d" in found.flags or "t" in found.flags:
        moment = parse_moment(found.value("d") or found.value("t"))
        if moment is None:
            raise UsageError(f"bad '{found.value('d') or found.value('t')}'")
    code = 0
    for word in found.rest:
        if "c" in found.flags and not context.files.exists(context.path(word)):
            continue
        try:
            context.files.touch(context.path(word), moment)
        except FileProblem as problem:
            code = context.complain(f"'{word}': {problem.reason}")
    return code


_MOMENTS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y%m%d%H%M.%S", "%Y%m%d%H%M")


def parse_moment(text: str) -> int | None:
    """Return the seconds since the epoch of a date as toybox reads it, or None."""
    if re.fullmatch("@[0-9]{1,12}", text):
        return min(int(text[1:]), LAST_S)
    for form in _MOMENTS:
        try:
            return min(max(int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()), 0), LAST_S)
        except ValueError:
            continue
    return None


def _chmod(context: Context, arguments: list[str]) -> int:
    words = [word for word in arguments if word not in ("-R", "-v", "-f", "-h", "--")]
    if len(words) < 2:
        raise UsageError("Needs 2 arguments")
    code = 0
    for word in words[1:]:
        stat = context.files.stat(context.path(word))
        if stat is None:
            code = context.complain(f"'{word}' to '{words[0]}': No such file or directory")
            continue
        context.files.change_mode(context.path(word), _mode(words[0], stat.mode & 0o7777))
    return code


def _mode(text: str, before: int) -> int:
    if re.fullmatch("[0-7]{1,4}", text):
        return int(text, 8)
    mode = before
    for part in text.split(","):
        match = re.fullmatch("([ugoa]*)([-+=])([rwxXst]*)", part)
        if match is None:
            raise UsageError(f"bad mode '{text[:40]}'")
        who = match[1] or "a"
        mask = sum({"u": 0o700, "g": 0o070, "o": 0o007}[letter] for letter in set(who) & set("ugo")) | (
            0o777 if "a" in who else 0
        )
        bits = sum({"r": 0o444, "w": 0o222, "x": 0o111, "X": 0o111}.get(letter, 0) for letter in set(match[3])) & mask
        mode = mode | bits if match[2] == "+" else mode & ~bits if match[2] == "-" else (mode & ~mask) | bits
    return mode


def _chown(context: Context, arguments: list[str]) -> int:
    words = [word for word in arguments if not word.startswith("-")]
    if len(words) < 2:
        raise UsageError("Needs 2 arguments")
    for word in words[1:]:
        _asked(context, word)
    return context.complain(f"{words[1]}: Operation not permitted")


def _ln(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "sfnTvr", "t")
    if not found.rest:
        raise UsageError("Needs 1 argument")
    kind = "symbolic " if "s" in found.flags else ""
    target = found.rest[-1]
    return context.complain(f"cannot create {kind}link from '{found.rest[0]}' to '{target}': Permission denied")


def _truncate(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "c", "s")
    size = to_number(found.value("s", "0").lstrip("+-<>/%"))
    if size > MOST_BYTES:
        return context.complain("No space left on device")
    for word in found.rest:
        whole = context.path(word)
        content = context.files.read(whole) if context.files.is_file(whole) else b""
        context.files.write(whole, content[:size].ljust(size, b"\x00"))
    return 0


def _mktemp(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "duqt", "p")
    name = found.rest[0] if found.rest else "tmp.XXXXXX"
    folder = found.value("p") or ("" if found.rest else "/data/local/tmp")
    mark = f"{context.system.new_pid():06d}"
    bare = name.rstrip("X")
    path = posixpath.join(folder, bare + mark if bare != name else name)
    if "u" not in found.flags:
        if "d" in found.flags:
            context.files.make_folder(context.path(path))
        else:
            context.files.write(context.path(path), b"")
    context.line(path)
    return 0


def _dd(context: Context, arguments: list[str]) -> int | Steps:
    given = dict(word.partition("=")[::2] for word in arguments)
    unknown = next((name for name in given if name not in ("if", "of", "bs", "ibs", "obs", "count", "skip", "seek",
                                                          "conv", "status", "iflag", "oflag")), None)  # fmt: skip
    if unknown is not None:
        raise UsageError(f"bad arg {unknown}")
    return _copied(context, given)


def _copied(context: Context, given: dict[str, str]) -> Steps:
    block = min(max(to_number(given.get("bs") or given.get("ibs") or "512"), 1), MOST_BYTES)
    count = to_number(given["count"]) if "count" in given else None
    skip, seek = to_number(given.get("skip", "0")) * block, to_number(given.get("seek", "0")) * block
    source = given.get("if", "-")
    wanted = MOST_BYTES if count is None else min(max(count, 0) * block, MOST_BYTES)
    if source == "/dev/zero":
        if count is None or wanted > MOST_BYTES // 4:
            return context.complain("No space left on device")
        content = bytes(wanted)
    elif source in ("-", "/dev/stdin"):
        content = (yield from read_all(context.io.stdin))[skip : skip + wanted]
    else:
        try:
            content = context.system.read_file(context.path(source))[skip : skip + wanted]
        except FileProblem as problem:
            return context.complain(f"{source}: {problem.reason}")
    target = given.get("of")
    if target is None:
        context.out(content)
    else:
        whole = context.path(target)
        before = context.files.read(whole) if context.files.is_file(whole) else b""
        if seek > MOST_BYTES:
            return context.complain(f"{target}: No space left on device")
        after = before[seek + len(content) :] if "notrunc" in given.get("conv", "") else b""
        context.files.write(whole, before[:seek].ljust(seek, b"\x00") + content + after)
    if given.get("status") != "none":
        full, partial = divmod(len(content), block)
        blocks = f"{full}+{int(partial > 0)}"
        context.err(f"{blocks} records in\n{blocks} records out")
        context.err(f"{len(content)} bytes ({len(content)} B) copied, 0.001 s, {len(content) * 1000} B/s")
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# describing


def _stat(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "Lft", "c", long=("format=",))
    form = found.value("c") or found.value("format")
    code = 0
    for word in found.rest:
        whole = context.path(word)
        stat = context.files.stat(whole)
        if stat is None:
            code = context.complain(f"'{word}': No such file or directory")
            continue
        fields = _stat_fields(word, whole, stat)
        if form:
            pieces = re.split("%(.)", form)
            context.line("".join(fields.get(p, "%" + p) if place % 2 else p for place, p in enumerate(pieces)))
            continue
        moment = _when(stat.mtime_s, "%Y-%m-%d %H:%M:%S.000000000 +0000")
        kind = fields["F"]
        context.line(f"  File: {word}")
        context.line(f"  Size: {stat.size}\t Blocks: {fields['b']}\t IO Blocks: 512\t{kind}")
        context.line(f"Device: 42h/66d\t Inode: {fields['i']}\t Links: {fields['h']}")
        context.line(
            f"Access: ({fields['a']}/{fields['A']})\tUid: ({fields['u']:>5}/{fields['U']:>8})\t"
            f"Gid: ({fields['g']:>5}/{fields['G']:>8})"
        )
        context.lines(f"{name}: {moment}" for name in ("Access", "Modify", "Change"))
    return code


_IDS = {"root": 0, "system": 1000, "shell": 2000, "media_rw": 1023, "u0_a58": 10058}


def _stat_fields(word: str, whole: str, stat: Stat) -> dict[str, str]:
    owner = owner_of(whole)
    moment = _when(stat.mtime_s, "%Y-%m-%d %H:%M:%S.000000000 +0000")
    return {
        "A": filemode(stat.mode), "a": f"{stat.mode & 0o7777:o}", "b": str(-(-stat.size // 4096) * 8), "B": "512",
        "F": "directory" if stat.is_folder else "regular file" if stat.size else "regular empty file",
        "f": f"{stat.mode:x}", "G": owner.group, "g": str(_IDS[owner.group]), "h": "2" if stat.is_folder else "1",
        "i": str(inode_of(whole)), "N": word, "n": word, "o": "4096", "s": str(stat.size), "U": owner.user,
        "u": str(_IDS[owner.user]), "x": moment, "X": str(stat.mtime_s), "y": moment, "Y": str(stat.mtime_s),
        "z": moment, "Z": str(stat.mtime_s), "m": "/", "%": "%",
    }  # fmt: skip


def _du(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "sdacmxlHLhkK", "d", mixed=True)
    unit = 1 << 20 if "m" in found.flags else 1024
    code = total = 0
    for word in found.rest or ["."]:
        whole = context.path(word)
        if not context.files.exists(whole):
            code = context.complain(f"{word}: No such file or directory")
            continue
        order = list(context.files.walk(whole))
        stats = {inside: context.files.stat(inside) for inside in order}
        sizes = {inside: -(-stat.size // 4096) * 4096 if stat is not None else 0 for inside, stat in stats.items()}
        for inside in reversed(order[1:]):
            sizes[posixpath.dirname(inside)] += sizes[inside]
        turn = context.shell.host.spend(len(order))
        if turn is not None:
            yield turn
        total += sizes[whole]
        limit = found.number("d", 0 if "s" in found.flags else 1000)
        for inside in reversed(order):
            depth = inside[len(whole.rstrip("/")) :].count("/") if inside != whole else 0
            is_shown = context.files.is_folder(inside) or "a" in found.flags or inside == whole
            if depth <= limit and is_shown:
                shown = word.rstrip("/") + inside[len(whole.rstrip("/")) :] if inside != whole else word
                context.line(f"{_size(sizes[inside], unit, found)}\t{shown}")
    if "c" in found.flags:
        context.line(f"{_size(total, unit, found)}\ttotal")
    return code


def _size(size: int, unit: int, found: Options) -> str:
    return human(size) if "h" in found.flags else str(-(-size // unit))


def human(size: int) -> str:
    """Return a size as toybox's ``-h`` writes it, such as ``4.0K``."""
    value, letter = float(size), ""
    for letter in ("", "K", "M", "G"):
        if value < 1024 or letter == "G":
            break
        value /= 1024
    return f"{value:.1f}{letter}" if letter and value < 10 else f"{value:.0f}{letter}"


def _df(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "HPkhiat", "")
    used = DATA_BLOCKS * int(context.phone.world["storage/used"]) // 100 + context.files.used // 1024
    rows = [
        ("tmpfs", 1_960_000, 1_240, "/dev"),
        ("/dev/block/dm-0", 1_120_000, 1_116_000, "/"),
        ("/dev/block/dm-1", 640_000, 638_000, "/vendor"),
        ("/dev/block/dm-5", DATA_BLOCKS, used, "/data"),
        ("/dev/fuse", DATA_BLOCKS, used, "/storage/emulated"),
    ]
    if found.rest:
        wholes = [context.path(word) for word in found.rest]
        for word, whole in zip(found.rest, wholes, strict=True):
            if not context.files.exists(whole):
                raise FileProblem("ENOENT", word)
        best = [
            max((row for row in rows if whole == row[3] or whole.startswith(row[3].rstrip("/") + "/")), key=_depth)
            for whole in wholes
        ]
        rows = list(dict.fromkeys(best))
    is_human = "h" in found.flags or "H" in found.flags

    def shown(blocks: int) -> str:
        return human(blocks * 1024) if is_human else str(blocks)

    context.line(
        "Filesystem       Size Used Avail Use% Mounted on"
        if is_human
        else "Filesystem     1K-blocks     Used Available Use% Mounted on"
    )
    width = 4 if is_human else 9
    for name, size, taken, place in rows:
        share = -(-taken * 100 // size)
        context.line(
            f"{name:<15} {shown(size):>{width}} {shown(taken):>{width - 1}} {shown(size - taken):>{width}} "
            f"{share:>3}% {place}"
        )
    return 0


def _depth(row: tuple[str, int, int, str]) -> int:
    return len(row[3])


def _basename(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "a", "s")
    if not found.rest:
        raise UsageError("Needs 1 argument")
    several = "a" in found.flags or "s" in found.flags
    suffix = found.value("s") or (found.rest[1] if len(found.rest) > 1 and not several else "")
    for word in found.rest if several else found.rest[:1]:
        name = posixpath.basename(word.rstrip("/")) or "/"
        context.line(name.removesuffix(suffix) if suffix and name != suffix else name)
    return 0


def _dirname(context: Context, arguments: list[str]) -> int:
    if not arguments:
        raise UsageError("Needs 1 argument")
    context.lines(posixpath.dirname(word.rstrip("/")) or ("/" if word.startswith("/") else ".") for word in arguments)
    return 0


def _readlink(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "efmnq")
    code = 0
    for word in found.rest:
        whole = posixpath.normpath(posixpath.join(context.folder, word))
        if {"f", "e", "m"} & found.flags:
            if not context.files.exists(whole) and "m" not in found.flags:
                code = 1
                continue
            context.line(context.path(word))
        elif whole in _LINKS:
            context.line(_LINKS[whole])
        else:
            code = 1
    return code


def _realpath(context: Context, arguments: list[str]) -> int:
    code = 0
    for word in options(arguments, "LPemnqsz", "R").rest:
        if context.files.exists(context.path(word)):
            context.line(context.path(word))
        else:
            code = context.complain(f"{word}: No such file or directory")
    return code


def _file(context: Context, arguments: list[str]) -> int:
    for word in options(arguments, "bhLs").rest:
        stat = context.files.stat(context.path(word))
        if stat is None:
            kind = "cannot open (No such file or directory)"
        elif stat.is_folder:
            kind = "directory"
        else:
            kind = _kind(context.files.read(context.path(word)))
        context.line(f"{word}: {kind}")
    return 0


def _kind(content: bytes) -> str:
    signs = {b"\x89PNG": "PNG image data", b"\xff\xd8": "JPEG image data", b"PK\x03\x04": "Zip archive data",
             b"\x7fELF": "ELF executable", b"%PDF": "PDF document"}  # fmt: skip
    found = next((kind for sign, kind in signs.items() if content.startswith(sign)), "")
    return found or ("empty" if not content else "data" if b"\x00" in content else "ASCII text")


# ----------------------------------------------------------------------------------------------------------------------
# find

_Check = Callable[[str, str], bool]
"""Path as shown, and whole path."""


def _joined(join: Callable[[Iterable[bool]], bool], checks: list[_Check]) -> _Check:
    return checks[0] if len(checks) == 1 else lambda shown, whole: join(check(shown, whole) for check in checks)


def _kept(paths: list[str], path: str) -> bool:
    paths.append(path)
    return True


_VALUED = frozenset({"-name", "-iname", "-path", "-wholename", "-ipath", "-type", "-maxdepth", "-mindepth", "-size",
                     "-mtime", "-ctime", "-atime", "-mmin", "-cmin", "-amin", "-newer", "-user", "-group",
                     "-perm"})  # fmt: skip


class _Find:
    def __init__(self, context: Context, words: list[str]) -> None:
        self._context = context
        self._words = words
        self._at = 0
        self._depth = self._tests = 0
        self.least, self.most = 0, 1000
        self.acts = False
        self.patterns = 0
        self.commands: list[tuple[list[str], list[str], bool]] = []

    def check(self) -> _Check:
        """Read the expression."""
        if not self._words:
            return lambda _, __: True
        found = self._either()
        if self._at < len(self._words):
            raise UsageError(f"bad arg '{self._words[self._at]}'")
        return found

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _either(self) -> _Check:
        checks = [self._both()]
        while self._peek() in ("-o", "-or"):
            self._at += 1
            checks.append(self._both())
        return _joined(any, checks)

    def _both(self) -> _Check:
        checks = [self._one()]
        while self._peek() and self._peek() not in ("-o", "-or", ")"):
            if self._peek() in ("-a", "-and"):
                self._at += 1
            checks.append(self._one())
        return _joined(all, checks)

    def _value(self) -> str:
        self._at += 1
        if self._at > len(self._words):
            raise UsageError(f"'{self._words[-1]}' needs 1 arg")
        return self._words[self._at - 1]

    def _one(self) -> _Check:
        self._depth += 1
        self._tests += 1
        if self._depth > 20 or self._tests > 200:
            raise UsageError("too many tests")
        found = self._test()
        self._depth -= 1
        return found

    def _test(self) -> _Check:
        word = self._value()
        files = self._context.files
        if word in ("!", "-not"):
            inner = self._one()
            return lambda shown, whole: not inner(shown, whole)
        if word == "(":
            inner = self._either()
            if self._value() != ")":
                raise UsageError("missing )")
            return inner
        if word in ("-print", "-print0"):
            self.acts = True
            end = "\n" if word == "-print" else "\x00"
            return lambda shown, _: self._print(shown + end)
        if word == "-delete":
            self.acts = True
            return lambda _, whole: self._delete(whole)
        if word in ("-exec", "-ok"):
            return self._execution()
        if word in ("-true", "-mount", "-xdev", "-depth", "-noleaf", "-daystart"):
            return lambda _, __: True
        if word == "-empty":
            return lambda _, whole: self._is_empty(whole)
        if word not in _VALUED:
            raise UsageError(f"bad arg '{word}'")
        value = self._value()
        match word:
            case "-name":
                fits = self._pattern(value)
                return lambda shown, _: fits(posixpath.basename(shown.rstrip("/")) or "/")
            case "-iname":
                fits = self._pattern(value.lower())
                return lambda shown, _: fits(posixpath.basename(shown.rstrip("/")).lower())
            case "-path" | "-wholename":
                fits = self._pattern(value)
                return lambda shown, _: fits(shown)
            case "-ipath":
                fits = self._pattern(value.lower())
                return lambda shown, _: fits(shown.lower())
            case "-type":
                return lambda _, whole: files.is_folder(whole) == ("d" in value.split(",")) and value != "l"
            case "-maxdepth":
                self.most = to_number(value)
            case "-mindepth":
                self.least = to_number(value)
            case "-size":
                return self._compared(value, lambda whole: (files.stat(whole) or Stat(0, 0, 0)).size, 512)
            case "-mtime" | "-ctime" | "-atime":
                return self._compared(value, lambda whole: self._age_s(whole) // 86400, 0)
            case "-mmin" | "-cmin" | "-amin":
                return self._compared(value, lambda whole: self._age_s(whole) // 60, 0)
            case "-newer":
                than = _asked(self._context, value).mtime_s
                return lambda _, whole: files.mtime_s(whole) > than
        return lambda _, __: True

    def _pattern(self, value: str) -> Callable[[str], bool]:
        self.patterns += 1
        if len(value) > LONGEST_PATH:
            raise UsageError("pattern too long")
        wanted = tokens((Run(value, False),))
        return lambda text: matches(wanted, text)

    def _age_s(self, whole: str) -> int:
        return self._context.phone.clock.now_ms // 1000 - self._context.files.mtime_s(whole)

    def _compared(self, value: str, of: Callable[[str], int], unit: int) -> _Check:
        sign = value[:1] if value[:1] in ("+", "-") else ""
        digits = value[len(sign) :]
        wanted = to_number(digits)
        step = 1 if unit == 0 or digits[-1:].isalpha() else unit
        exact = 1 if unit == 0 or digits.endswith("c") else max(step, 1)

        def check(_: str, whole: str) -> bool:
            amount = of(whole)
            if sign:
                return amount > wanted * step if sign == "+" else amount < wanted * step
            return -(-amount // exact) * exact == wanted * step

        return check

    def _is_empty(self, whole: str) -> bool:
        files = self._context.files
        return not files.names(whole) if files.is_folder(whole) else not (files.stat(whole) or Stat(0, 1, 0)).size

    def _print(self, text: str) -> bool:
        self._context.out(text)
        return True

    def _delete(self, whole: str) -> bool:
        try:
            self._context.files.remove(whole)
        except FileProblem as problem:
            self._context.complain(f"{whole}: {problem.reason}")
            return False
        return True

    def _execution(self) -> _Check:
        self.acts = True
        words: list[str] = []
        while (word := self._value()) not in (";", "+"):
            words.append(word)
        if not words:
            raise UsageError("-exec needs a command")
        matched: list[str] = []
        self.commands.append((words, matched, word == "+"))
        return lambda shown, _: _kept(matched, shown)


def _find(context: Context, arguments: list[str]) -> Steps:
    words = [word for word in arguments if word not in ("-H", "-L", "-P")]
    count = next((place for place, word in enumerate(words) if word[:1] in ("-", "!", "(")), len(words))
    roots, find = words[:count] or ["."], _Find(context, words[count:])
    check = find.check()
    code = 0
    out: list[str] = []
    for root in roots:
        whole_root = context.path(root)
        if not context.files.exists(whole_root):
            code = context.complain(f"'{root}': No such file or directory")
            continue
        paths = list(_walk(context, whole_root, find.most))
        turn = context.shell.host.spend(len(paths))
        if turn is not None:
            yield turn
        for whole in reversed(paths) if "-delete" in words or "-depth" in words else paths:
            below = whole[len(whole_root.rstrip("/")) :] if whole != whole_root else ""
            shown = root.rstrip("/") + below if below else root
            turn = context.shell.host.spend(find.patterns * len(shown) >> 4)
            if turn is not None:
                yield turn
            if find.least <= below.count("/") and check(shown, whole) and not find.acts:
                out.append(shown)
    context.lines(out)
    return (yield from _execute(context, find, code)) if find.commands else code


def _walk(context: Context, root: str, most: int) -> Iterator[str]:
    start = root.rstrip("/")
    for whole in context.files.walk(root):
        if whole == root or whole.count("/", len(start)) <= most:
            yield whole


def _execute(context: Context, find: _Find, code: int) -> Steps:
    for words, matched, at_once in find.commands:
        calls = [matched] if at_once and matched else [[path] for path in matched] if not at_once else []
        for paths in calls:
            turn = context.shell.host.count()
            if turn is not None:
                yield turn
            command: list[str] = []
            for word in words:
                if word == "{}":
                    command.extend(paths)
                else:
                    command.append(filled(word, "{}", paths[0]))
            yield from context.shell.call(command[0], command[1:], context.io)
    return code


FILE_TOOLS: Mapping[str, Command] = MappingProxyType(
    {
        "basename": Command(_basename, "[-a] [-s SUFFIX] NAME... | NAME [SUFFIX]"),
        "chgrp": Command(_chown, "GROUP FILE..."),
        "chmod": Command(_chmod, "[-R] MODE FILE..."),
        "chown": Command(_chown, "[-RHLP] [-fvh] OWNER FILE..."),
        "cp": Command(_cp, "[-adfHiLlnPpRrsTv] SOURCE... DEST"),
        "dd": Command(_dd, "[if=FILE] [of=FILE] [ibs=N] [obs=N] [bs=N] [count=N] [skip=N] [seek=N]"),
        "df": Command(_df, "[-HPkhia] [-t type] [FILESYSTEM...]"),
        "dirname": Command(_dirname, "PATH..."),
        "du": Command(_du, "[-d N] [-askxHLlmc] [FILE...]", work=100),
        "file": Command(_file, "[-bhLs] [FILE...]"),
        "find": Command(_find, "[-HL] [DIR...] [<options>]", work=100),
        "ln": Command(_ln, "[-sfnv] [-t DIR] [FROM...] TO"),
        "ls": Command(_ls, "[-ACHLRSZacdfhiklmnpqrstuxw1] [--color[=auto]] [FILE...]"),
        "mkdir": Command(_mkdir, "[-vp] [-m MODE] [DIR...]"),
        "mktemp": Command(_mktemp, "[-dqtu] [-p DIR] [TEMPLATE]"),
        "mv": Command(_mv, "[-finTv] SOURCE... DEST"),
        "readlink": Command(_readlink, "FILE"),
        "realpath": Command(_realpath, "[-LPemqsz] FILE..."),
        "rm": Command(_rm, "[-fiRrv] FILE..."),
        "rmdir": Command(_rmdir, "[-p] [DIR...]"),
        "stat": Command(_stat, "[-tfL] [-c FORMAT] FILE..."),
        "touch": Command(_touch, "[-amch] [-d DATE] [-t TIME] [-r FILE] FILE..."),
        "truncate": Command(_truncate, "[-c] -s SIZE file..."),
    }
)
