"""``content``: rows of the content providers, over what the phone keeps: settings, messages, contacts, calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from agent_eval.device_sim.screen import last_id_path
from agent_eval.device_sim.shell import settings
from agent_eval.device_sim.shell.context import Command, Context, UsageError
from agent_eval.errors import TaskFault
from agent_eval.types import Scalar

Row = dict[str, str | None]
MOST_ROWS, LONGEST_TEXT = 2000, 10_000
"""Rows of one table and characters of one field that clients may insert; the pages of the apps show all of them."""


@dataclass(slots=True)
class _Request:
    verb: str
    uri: str = ""
    projection: list[str] = field(default_factory=list)
    where: str = ""
    sort: str = ""
    bind: dict[str, str] = field(default_factory=dict)
    method: str = ""
    argument: str = ""


def _parse(arguments: Sequence[str]) -> _Request:
    if not arguments:
        raise UsageError("[ERROR] Command not specified")
    request = _Request(arguments[0])
    queue = iter(arguments[1:])
    for word in queue:
        value = next(queue, None)
        if value is None:
            raise UsageError(f"[ERROR] Argument expected after {word}")
        match word:
            case "--uri":
                request.uri = value
            case "--projection":
                request.projection = [name for name in value.split(":") if name]
            case "--where":
                request.where = value
            case "--sort":
                request.sort = value
            case "--bind":
                name, _, typed = value.partition(":")
                kind, _, text = typed.partition(":")
                if kind not in ("s", "i", "l", "b", "f", "d", "n"):
                    raise UsageError(f"[ERROR] Unsupported type: {kind[:20]}")
                request.bind[name] = text
            case "--method":
                request.method = value
            case "--arg" | "--name":
                request.argument = value
            case "--user" | "--extra":
                pass
            case _:
                raise UsageError(f"[ERROR] Unsupported argument: {word[:80]}")
    if not request.uri:
        raise UsageError("[ERROR] Content provider URI not specified. Did you specify --uri argument?")
    return request


# ----------------------------------------------------------------------------------------------------------------------
# tables


@dataclass(frozen=True, slots=True)
class _Table:
    rows: Callable[[Context], list[Row]]
    prefix: str = ""
    """Of the phone's records behind the rows; empty for a table that only reads."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column to the record's field that it sets."""
    starts: Mapping[str, Scalar] = field(default_factory=dict)
    """Fields that a new row of this table has."""


def _ids(context: Context, prefix: str) -> list[int]:
    start = prefix + "/"
    found = {path[len(start) :].split("/", 1)[0] for path in context.phone.state if path.startswith(start)}
    return sorted(int(name) for name in found if name.isdigit())


def _value(context: Context, path: str) -> str | None:
    value = context.phone.state.get(path)
    return None if value is None else str(int(value)) if isinstance(value, bool) else str(value)


def _messages(context: Context, *, sent: bool | None = None) -> list[Row]:
    out: list[Row] = []
    threads: dict[str, int] = {}
    for number in _ids(context, "messages"):
        path = f"messages/{number}"
        own = context.phone.state.get(f"{path}/sent") is True
        address = _value(context, f"{path}/address") or ""
        threads.setdefault(address, len(threads) + 1)
        if sent is not None and own != sent:
            continue
        time = int(context.phone.state.get(f"{path}/time", context.phone.boot_ms // 1000))
        out.append(
            {
                "_id": str(number), "thread_id": str(threads[address]), "address": address, "person": None,
                "date": str(time * 1000), "date_sent": str(time * 1000), "protocol": "0", "read": "1", "status": "-1",
                "type": "2" if own else "1", "reply_path_present": "0", "subject": None,
                "body": _value(context, f"{path}/body"), "service_center": None, "locked": "0", "error_code": "0",
                "seen": "1",
            }
        )  # fmt: skip
    return sorted(out, key=lambda row: -int(row["date"] or 0))


def _contacts(context: Context) -> list[Row]:
    return [
        {
            "_id": str(number), "lookup": f"0r{number}-", "display_name": _value(context, f"contacts/{number}/name"),
            "display_name_alt": _value(context, f"contacts/{number}/name"), "in_visible_group": "1",
            "has_phone_number": str(int(bool(context.phone.state.get(f"contacts/{number}/phone")))),
            "starred": _value(context, f"contacts/{number}/starred") or "0", "times_contacted": "0",
        }
        for number in _ids(context, "contacts")
    ]  # fmt: skip


def _phones(context: Context) -> list[Row]:
    return [
        {
            "_id": str(number), "raw_contact_id": str(number), "contact_id": str(number),
            "display_name": _value(context, f"contacts/{number}/name"),
            "data1": _value(context, f"contacts/{number}/phone"), "data2": "2",
            "mimetype": "vnd.android.cursor.item/phone_v2",
        }
        for number in _ids(context, "contacts")
        if context.phone.state.get(f"contacts/{number}/phone")
    ]  # fmt: skip


def _raw_contacts(context: Context) -> list[Row]:
    return [
        {
            "_id": str(number), "contact_id": str(number), "account_name": None, "account_type": None, "deleted": "0",
            "display_name": _value(context, f"contacts/{number}/name"),
        }
        for number in _ids(context, "contacts")
    ]  # fmt: skip


_CALL_KINDS = {"incoming": "1", "outgoing": "2", "missed": "3", "rejected": "5", "blocked": "6"}


def _calls(context: Context) -> list[Row]:
    out: list[Row] = []
    for number in _ids(context, "phone/call"):
        path = f"phone/call/{number}"
        kind = _value(context, f"{path}/kind") or ""
        out.append(
            {
                "_id": str(number), "number": _value(context, f"{path}/number"), "presentation": "1",
                "date": str(int(context.phone.state.get(f"{path}/time", 0)) * 1000),
                "duration": _value(context, f"{path}/seconds") or "0", "type": _CALL_KINDS.get(kind, "1"), "new": "0",
                "name": None, "is_read": "1",
            }
        )  # fmt: skip
    return sorted(out, key=lambda row: -int(row["date"] or 0))


def _setting_rows(namespace: str) -> Callable[[Context], list[Row]]:
    def rows(context: Context) -> list[Row]:
        found = settings.listed(context.system, namespace).items()
        return [{"_id": str(place), "name": key, "value": value} for place, (key, value) in enumerate(found, start=1)]

    return rows


_SMS = {"address": "address", "body": "body", "type": "sent", "date": "time"}
_CALL = {"number": "number", "duration": "seconds", "type": "kind", "date": "time"}
_TABLES: Mapping[str, _Table] = MappingProxyType(
    {
        "settings/global": _Table(_setting_rows("global")),
        "settings/secure": _Table(_setting_rows("secure")),
        "settings/system": _Table(_setting_rows("system")),
        "sms": _Table(_messages, "messages", _SMS),
        "sms/inbox": _Table(lambda context: _messages(context, sent=False), "messages", _SMS, {"sent": False}),
        "sms/sent": _Table(lambda context: _messages(context, sent=True), "messages", _SMS, {"sent": True}),
        "sms/conversations": _Table(_messages),
        "mms-sms/conversations": _Table(_messages),
        "call_log/calls": _Table(_calls, "phone/call", _CALL),
        "com.android.contacts/contacts": _Table(_contacts, "contacts", {"display_name": "name"}),
        "com.android.contacts/raw_contacts": _Table(_raw_contacts, "contacts", {"display_name": "name"}),
        "com.android.contacts/data": _Table(_phones),
        "com.android.contacts/data/phones": _Table(_phones),
        "contacts/phones": _Table(_phones),
        "contacts/people": _Table(_contacts),
    }
)
"""Authority and path of a content URI to its rows."""


def _table(context: Context, uri: str) -> tuple[_Table, str]:
    match = re.fullmatch(r"content://([^?#]+)(?:[?#].*)?", uri)
    if match is None:
        raise UsageError(f"[ERROR] Unsupported uri: {uri[:200]}")
    place = match[1].strip("/")
    if place in _TABLES:
        return _TABLES[place], ""
    above, _, last = place.rpartition("/")
    if above in _TABLES:
        return _TABLES[above], last
    context.system.count_unknown(f"content {place[:40]}")
    raise UsageError(f"Could not find provider: {place.partition('/')[0]}", 0)


# ----------------------------------------------------------------------------------------------------------------------
# conditions

_CONDITION = re.compile(
    r"\s*\(?\s*[\"`]?([A-Za-z_]\w*)[\"`]?\s*(=|==|!=|<>|>=|<=|>|<|\bLIKE\b|\bIS\s+NOT\b|\bIS\b)\s*"
    r"('(?:[^']|'')*'|\"[^\"]*\"|-?[0-9.]+|NULL)\s*\)?\s*",
    re.IGNORECASE,
)


def _condition(where: str) -> Callable[[Row], bool]:
    """Read conditions joined by AND, or by OR, of columns and constants."""
    if not where.strip():
        return lambda _: True
    tests: list[Callable[[Row], bool]] = []
    position, joint = 0, "AND"
    where = where[:2000]
    while True:
        match = _CONDITION.match(where, position)
        if match is None:
            raise _bad_sql(where[position : position + 20])
        tests.append(_comparison(match[1], re.sub(r"\s+", " ", match[2].upper()), match[3]))
        position = match.end()
        if position >= len(where):
            break
        word = re.compile(r"(AND|OR)\b", re.IGNORECASE).match(where, position)
        if word is None:
            raise _bad_sql(where[position : position + 20])
        joint = word[1].upper()
        position = word.end()
    return (
        (lambda row: all(test(row) for test in tests))
        if joint == "AND"
        else (lambda row: any(test(row) for test in tests))
    )


def _bad_sql(near: str) -> UsageError:
    return UsageError(
        f'Error while accessing provider\nandroid.database.sqlite.SQLiteException: near "{near}": syntax error', 0
    )


def _comparison(column: str, operator: str, constant: str) -> Callable[[Row], bool]:
    wanted: str | None = constant
    if constant.upper() == "NULL":
        wanted = None
    elif constant[0] in "'\"":
        wanted = constant[1:-1].replace("''", "'")

    def test(row: Row) -> bool:
        value = row.get(column)
        if operator in ("IS", "IS NOT"):
            return (value == wanted) == (operator == "IS")
        if value is None or wanted is None:
            return False
        if operator == "LIKE":
            return _like(wanted.lower(), value.lower())
        numeric = re.fullmatch(r"-?[0-9]{1,18}", value) and re.fullmatch(r"-?[0-9]{1,18}", wanted)
        order = (
            (int(value) > int(wanted)) - (int(value) < int(wanted)) if numeric else (value > wanted) - (value < wanted)
        )
        return {"=": order == 0, "==": order == 0, "!=": order != 0, "<>": order != 0, ">": order > 0, "<": order < 0,
                ">=": order >= 0, "<=": order <= 0}[operator]  # fmt: skip

    return test


def _like(pattern: str, value: str) -> bool:
    from agent_eval.device_sim.shell.wildcards import Any, Letter, matches

    tokens = tuple(
        Any(True) if letter == "%" else Any(False) if letter == "_" else Letter(letter) for letter in pattern
    )
    return matches(tokens, value[:5000])


# ----------------------------------------------------------------------------------------------------------------------
# verbs


def _chosen(context: Context, request: _Request) -> tuple[_Table, list[Row]]:
    table, last = _table(context, request.uri)
    rows = table.rows(context)
    if last:
        key = "name" if rows and "name" in rows[0] and not last.isdigit() else "_id"
        rows = [row for row in rows if row.get(key) == last]
    holds = _condition(request.where)
    return table, [row for row in rows if holds(row)]


def _query(context: Context, request: _Request) -> int:
    _, rows = _chosen(context, request)
    sort = re.match(r"\s*([A-Za-z_]\w*)\s*(DESC|ASC)?(?:.*LIMIT\s+([0-9]{1,6}))?", request.sort, re.IGNORECASE)
    if sort is not None:
        column = sort[1]

        def order(row: Row) -> tuple[int, str]:
            value = row.get(column) or ""
            return (int(value), "") if re.fullmatch(r"-?\d{1,18}", value) else (0, value)

        rows.sort(key=order, reverse=(sort[2] or "").upper() == "DESC")
        rows = rows[: int(sort[3])] if sort[3] else rows
    if not rows:
        context.line("No result found.")
        return 0
    names = request.projection or list(rows[0])
    unknown = next((name for name in names if name not in rows[0]), None)
    if unknown is not None:
        context.err(f"Error while accessing provider\njava.lang.IllegalArgumentException: Invalid column {unknown}")
        return 0
    context.lines(
        f"Row: {place} " + ", ".join(f"{name}={'NULL' if row[name] is None else row[name]}" for name in names)
        for place, row in enumerate(rows)
    )
    return 0


def _insert(context: Context, request: _Request) -> int:
    table, _ = _table(context, request.uri)
    namespace = _namespace(request.uri)
    if namespace:
        if "name" in request.bind:
            settings.write(context.system, namespace, request.bind["name"], request.bind.get("value", ""))
        return 0
    if not table.prefix:
        raise UsageError("Error while accessing provider\njava.lang.UnsupportedOperationException: Invalid URI", 0)
    phone = context.phone
    key = last_id_path(table.prefix)
    known = _ids(context, table.prefix)
    if len(known) >= MOST_ROWS:
        raise UsageError(
            "Error while accessing provider\nandroid.database.sqlite.SQLiteFullException: "
            "database or disk is full (code 13 SQLITE_FULL)", 0,
        )  # fmt: skip
    number = max([int(phone.world.get(key, 0)), *known]) + 1
    phone.world[key] = number
    for path, value in phone.schema.fresh_record(table.prefix, number).items():
        phone.put(path, value)
    for name, value in table.starts.items():
        _set(context, f"{table.prefix}/{number}/{name}", value)
    if f"{table.prefix}/{number}/time" in phone.state:
        _set(context, f"{table.prefix}/{number}/time", phone.clock.now_ms // 1000)
    _assign(context, table, number, request.bind)
    return 0


def _set(context: Context, path: str, value: Scalar) -> None:
    if path in context.phone.state:
        try:
            context.phone.put(path, value)
        except TaskFault:
            return  # a provider keeps what fits its columns


def _assign(context: Context, table: _Table, number: int, bind: Mapping[str, str]) -> None:
    for column, text in bind.items():
        name = table.columns.get(column)
        if name is None:
            continue
        path = f"{table.prefix}/{number}/{name}"
        value: Scalar = text[:LONGEST_TEXT]
        digits = re.fullmatch(r"-?[0-9]{1,15}", text) is not None
        if name == "sent":
            value = text == "2"
        elif name == "kind":
            value = next((kind for kind, code in _CALL_KINDS.items() if code == text), "incoming")
        elif name == "time":
            value = int(text) // 1000 if digits else 0
        elif name == "seconds":
            value = int(text) if digits else 0
        _set(context, path, value)


def _namespace(uri: str) -> str:
    match = re.fullmatch(r"content://settings/(global|secure|system)(?:/.*)?", uri)
    return match[1] if match else ""


def _update(context: Context, request: _Request) -> int:
    table, rows = _chosen(context, request)
    namespace = _namespace(request.uri)
    for row in rows:
        if namespace:
            settings.write(context.system, namespace, row["name"] or "", request.bind.get("value", row["value"] or ""))
        elif table.prefix:
            _assign(context, table, int(row["_id"] or 0), request.bind)
    return 0


def _delete(context: Context, request: _Request) -> int:
    table, rows = _chosen(context, request)
    namespace = _namespace(request.uri)
    for row in rows:
        if namespace:
            settings.delete(context.system, namespace, row["name"] or "")
        elif table.prefix:
            context.phone.remove(f"{table.prefix}/{row['_id']}")
    return 0


def _call(context: Context, request: _Request) -> int:
    match = re.fullmatch("(GET|PUT|LIST|DELETE)_(global|secure|system)", request.method)
    if match is None or not request.uri.startswith("content://settings"):
        context.line("Result: null")
        return 0
    if match[1] == "GET":
        context.line(f"Result: Bundle[{{value={settings.read(context.system, match[2], request.argument) or 'null'}}}]")
    else:
        context.line("Result: Bundle[{}]")
    return 0


def _type(context: Context, request: _Request) -> int:
    _table(context, request.uri)
    context.line("Result: vnd.android.cursor.dir/" + request.uri.rpartition("/")[2][:100])
    return 0


_VERBS: Mapping[str, Callable[[Context, _Request], int]] = MappingProxyType(
    {"call": _call, "delete": _delete, "gettype": _type, "insert": _insert, "query": _query, "update": _update}
)


def _content(context: Context, arguments: list[str]) -> int:
    if arguments[:1] in (["help"], ["--help"], []):
        context.line("usage: adb shell content [subcommand] [options]")
        return 0
    try:
        request = _parse(arguments)
        verb = _VERBS.get(request.verb)
        if verb is None:
            raise UsageError(f"[ERROR] Unsupported command: {request.verb[:80]}")
        return verb(context, request)
    except UsageError as error:
        context.err(error.text)
        return error.code


CONTENT: Mapping[str, Command] = MappingProxyType({"content": Command(_content, toybox=False, work=100)})
