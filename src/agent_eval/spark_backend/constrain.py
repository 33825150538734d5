"""What a reply must match to be one call of a tool that exists, as a Lark grammar of llguidance. Knows no tokens.

The call is in the form that Spark's chat template writes; everything is text to the grammar, tags included. Around a
call there is nothing but the reasoning before it, which holds no call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from agent_eval.errors import EngineFault

THINK, THINK_END = "<think>", "</think>"
CALL, CALL_END = "<tool_call>", "</tool_call>"
KEY, KEY_END = "<arg_key>", "</arg_key>"
VALUE, VALUE_END = "<arg_value>", "</arg_value>"

TAGS = (THINK, THINK_END, CALL, CALL_END, KEY, KEY_END, VALUE, VALUE_END)
"""What no text between two tags may hold: whoever reads the reply would end the text there."""

LARGEST_INTEGER = 999_999_999
"""Who reads calls takes a longer number for text (``agent/parse.py``)."""

_NOTES = frozenset({"default", "description", "title", "examples"})
"""Words of a JSON schema that allow and forbid nothing."""


def grammar(tools: Sequence[Mapping[str, object]], *, thinking: bool) -> str:
    """Return the grammar of replies that are one call.

    Arguments may stand in any order, each once; those that the schema requires are there.

    Args:
        tools: Function schemas, ``{"type": "function", "function": {...}}`` each.
        thinking: Whether the turn began inside the thinking tags.

    Raises:
        EngineFault: there are no tools, or a schema asks for what the grammar cannot say.
    """
    functions: list[Any] = [tool["function"] for tool in tools]
    if not functions:
        raise EngineFault(
            "a reply is to be a call and there are no tools, expected at least one",
            hint="leave the constraint out, or name the tools",
        )
    # by itself llguidance would decide which tokens write what can only be written so; the model has habits of its own
    lines = ['%llguidance {"no_forcing": true}', f"start: {'thought ' if thinking else ''}call"]
    if thinking:
        lines += _text("thought", THINK_END)
    lines.append(f"call: {' | '.join(f'tool_{number}' for number in range(len(functions)))}")
    for number, function in enumerate(functions):
        lines += _tool(number, function)
    lines += _text("text", VALUE_END)
    return "\n".join(lines) + "\n"


def _tool(number: int, function: Mapping[str, Any]) -> Iterator[str]:
    """Write the rules of one tool: one rule for every set of arguments that may still follow."""
    name, schema = function["name"], function.get("parameters", {})
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = frozenset(schema.get("required", ()))
    keys = tuple(properties)
    yield f"tool_{number}: {_quoted(CALL + name)} {_rest(number, keys, keys)}"
    for place, (key, value) in enumerate(properties.items()):
        opening = _quoted(KEY + key + KEY_END + VALUE)
        yield f"argument_{number}_{place}: {opening} ({' | '.join(_values(f'{name}.{key}', value))})"
    for count in range(len(keys) + 1):
        for left in combinations(keys, count):
            options = [
                f"argument_{number}_{keys.index(key)} {_rest(number, keys, tuple(k for k in left if k != key))}"
                for key in left
            ]
            if not required.intersection(left):
                options.append(_quoted(CALL_END))
            yield f"{_rest(number, keys, left)}: {' | '.join(options)}"


def _rest(number: int, keys: tuple[str, ...], left: tuple[str, ...]) -> str:
    return "_".join(["rest", str(number), *(str(keys.index(key)) for key in left)])


def _values(where: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Write what a value may be, with the tag that ends it: strings as they are, anything else as JSON."""
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            yield from _values(where, option)
        return
    said = {word: value for word, value in schema.items() if word not in _NOTES}
    choices = [said["const"]] if "const" in said else said.get("enum")
    if choices is not None:
        for choice in choices:
            yield _quoted((choice if isinstance(choice, str) else json.dumps(choice, ensure_ascii=False)) + VALUE_END)
    elif said == {"type": "string"}:
        yield "text"
    elif said.get("type") in ("string", None):
        raise EngineFault(
            f"the schema of {where} is {json.dumps(schema)}, expected a type, and of a string nothing but its choices",
            hint="leave the constraint out, or say it in the description",
        )
    else:
        if said["type"] == "integer":
            said["minimum"] = max(said.get("minimum", -LARGEST_INTEGER), -LARGEST_INTEGER)
            said["maximum"] = min(said.get("maximum", LARGEST_INTEGER), LARGEST_INTEGER)
        yield f"%json {json.dumps(said)} {_quoted(VALUE_END)}"


def _text(name: str, end: str) -> tuple[str, str]:
    """Write a rule for any text up to its tag, which is the first tag in it."""
    others = "|".join(_pattern(tag) for tag in TAGS if tag != end)
    terminal = name.upper()
    return (
        f"{name}[lazy]: {terminal}",
        f"{terminal}: /(?s:.*){_pattern(end)}/ & ~/(?s:.*)({others})(?s:.*)/",
    )


def _pattern(tag: str) -> str:
    return tag.replace("/", r"\/")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
