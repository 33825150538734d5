"""From a model's text to ``ToolCall | Malformed``. Never raises, whatever the text.

Spark's native call is ``<tool_call>NAME<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>``. Behind it stand the
forms that weakened builds were seen to fall back to, in the order of the reference study: a native call inside the
reasoning, ``[name]`` with a JSON object, a JSON object that names a tool, and a bare ``[name]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from agent_eval.actions import TOOLS, Malformed, Reply, Source, ToolCall
from agent_eval.types import FinishReason, WrittenCall

_CALL = re.compile(r"<tool_call>\s*([^<\s]*)\s*(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_ARGUMENT = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_BRACKETED = re.compile(r"\[([a-z_]+)\]")
_NAME_KEYS = ("tool", "name", "tool_name", "function")
_ARGUMENT_KEYS = ("parameters", "arguments", "args")
_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"


def parse_reply(text: str, finish: FinishReason = "stop") -> Reply:
    """Understand one reply.

    Args:
        text: The reply as written, special tokens included; it may begin inside the reasoning.
        finish: ``length`` when the reply was cut off at its token limit.
    """
    thought, content = _split_reasoning(text)
    for part in (content, thought):
        if "<tool_call>" in part:
            return _native(part, thought if part is content else "", finish)
    for part in (content, thought):
        found = _bracketed_json(part) or _bare_json(part) or _bare_name(part)
        if found:
            name, arguments, source = found
            return parse_call(name, arguments, source, thought if part is content else "")
    if finish == "length":
        return Malformed("truncated", "the reply was cut off before it made a tool call", thought)
    return Malformed("no_call", "the reply made no tool call", thought)


def calls_behind_the_first(text: str) -> tuple[WrittenCall, ...]:
    """Return the native calls that a reply makes behind the one that ``parse_reply`` understands, as they are written.

    Spark may call tools in parallel. A phone shows one screen at a time, so one call is carried out per turn; the
    others stay in the history, because the model wrote them.
    """
    thought, content = _split_reasoning(text)
    part = next((part for part in (content, thought) if "<tool_call>" in part), "")
    return tuple(
        WrittenCall(match[1], {key.strip(): value for key, value in _ARGUMENT.findall(match[2])})
        for match in list(_CALL.finditer(part))[1:]
        if match[1] and match[0].endswith("</tool_call>")
    )


def _split_reasoning(text: str) -> tuple[str, str]:
    """Return (reasoning, content); a text without a closing tag is all content."""
    before, closed, after = text.partition(_THINK_CLOSE)
    if not closed:
        return "", text.replace(_THINK_OPEN, "")
    return before.replace(_THINK_OPEN, "").strip(), after


def _native(part: str, thought: str, finish: FinishReason) -> Reply:
    match = _CALL.search(part)
    assert match is not None  # the caller saw the opening tag
    name, body = match.groups()
    if finish == "length" and not match.group(0).endswith("</tool_call>"):
        return Malformed("truncated", "the reply was cut off inside its tool call", thought)
    rest = _ARGUMENT.sub("", body).strip()
    if rest:
        return Malformed(
            "bad_arguments", f"the call of {name!r} holds text that is no argument: {rest[:40]!r}", thought
        )
    arguments = {key.strip(): value for key, value in _ARGUMENT.findall(body)}
    return parse_call(name, arguments, "native", thought)


def _bracketed_json(part: str) -> tuple[str, Mapping[str, Any], Source] | None:
    for match in _BRACKETED.finditer(part):
        if match.group(1) in TOOLS:
            value = _json_object_at(part, match.end())
            if value is not None:
                return match.group(1), _arguments_in(value), "bracketed_json"
    return None


def _bare_json(part: str) -> tuple[str, Mapping[str, Any], Source] | None:
    for match in re.finditer(r"\{", part):
        value = _json_object_at(part, match.start())
        if value is None:
            continue
        for key in _NAME_KEYS:
            named = value.get(key)
            if isinstance(named, Mapping) and isinstance(named.get("name"), str):
                return named["name"], _arguments_in({k: v for k, v in named.items() if k != "name"}), "bare_json"
            if isinstance(named, str):
                return named, _arguments_in({k: v for k, v in value.items() if k != key}), "bare_json"
    return None


def _bare_name(part: str) -> tuple[str, Mapping[str, Any], Source] | None:
    for match in _BRACKETED.finditer(part):
        if match.group(1) in TOOLS:
            return match.group(1), {}, "bare_name"
    return None


def _json_object_at(part: str, start: int) -> dict[str, Any] | None:
    """Decode the JSON object that begins at or after white space from ``start``, or return None."""
    begin = start + (len(part[start:]) - len(part[start:].lstrip()))
    if not part.startswith("{", begin):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(part, begin)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _arguments_in(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments that an object holds under one of the usual keys, or flat beside the tool's name."""
    inner = next((value[key] for key in _ARGUMENT_KEYS if isinstance(value.get(key), Mapping)), None)
    return (
        inner if inner is not None else {k: v for k, v in value.items() if k not in ("tool", "tool_name", "function")}
    )


def parse_call(name: str, arguments: Mapping[str, Any], source: Source = "script", thought: str = "") -> Reply:
    """Understand a call by the name of its tool and its raw arguments."""
    tool = TOOLS.get(name)
    if tool is None:
        return Malformed("unknown_tool", f"there is no tool {name[:40]!r}; the tools are {', '.join(TOOLS)}", thought)
    properties = tool.model_json_schema(by_alias=True).get("properties", {})
    typed = {key: _coerced(value, properties.get(key, {})) for key, value in arguments.items()}
    try:
        action = tool.model_validate({key: value for key, value in typed.items() if value is not None})
    except ValidationError as error:
        return Malformed("bad_arguments", _complaint(name, error), thought)
    return ToolCall(action, source, thought)


def _coerced(value: Any, schema: Mapping[str, Any]) -> Any:
    """Read a raw argument by the type that the schema declares; what does not fit stays as it is for the validator."""
    types = {schema.get("type")} | {option.get("type") for option in schema.get("anyOf", ())}
    if isinstance(value, str) and "string" not in types:
        if value.strip() == "null":
            return None
        if "integer" in types and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value):
            return int(value)
    if isinstance(value, float) and "integer" in types and value.is_integer():
        return int(value)
    return value


def _complaint(name: str, error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "its arguments"
    given = repr(problem.get("input"))[:40]
    return f"{name}: {where}: {problem['msg'].lower()}, got {given}"
