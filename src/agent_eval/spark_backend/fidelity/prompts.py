"""What builds are let continue greedily: twelve prompts that come with the program, or a person's own from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from agent_eval.errors import OperatorError
from agent_eval.types import Message, RoleName


@dataclass(frozen=True)
class Prompt:
    """One prompt."""

    name: str
    content: str | tuple[Message, ...]
    """Text to go on with, or a conversation to answer."""
    with_tools: bool = False
    """Whether a conversation shows the tools of the phone."""


_TEXTS = (
    "The quickest way to learn a new language is",
    "Water boils at a lower temperature on a mountain because",
    "A recipe for four people: two onions, three carrots,",
    "def fibonacci(n: int) -> int:\n    ",
    "In the year 1969 the first people",
    "Dear Ms Alvarez,\nthank you for your letter of the third of May.",
    "1, 1, 2, 3, 5, 8, 13,",
    "Der Zug nach Hamburg fährt heute von Gleis",
    "打开手机的设置，然后",
)

_LONG = (
    "I share a flat with three others, and we want to split the costs of October fairly. The rent is 1,480 euros and "
    "is split evenly. Electricity was 96 euros, but Jonas was away for half of the month and should pay half of what "
    "each of the others pays. The internet is 32 euros, split evenly. Mira bought cleaning things for 18.40 euros and "
    "paid them alone, and Tarek repaired the washing machine with a part for 41 euros that he paid himself; both "
    "should get back what the others owe them. Last month Jonas paid 20 euros too much, which should be taken off his "
    "share now. Explain step by step what each of us pays, then give the four amounts in a list, and say at the end "
    "how you would check that they add up."
)

DEFAULT_PROMPTS = (
    *(Prompt(f"text {number}", text) for number, text in enumerate(_TEXTS, start=1)),
    Prompt("short chat", (Message("user", "Name three uses of a paper clip."),)),
    Prompt("long chat", (Message("system", "You answer exactly and in plain words."), Message("user", _LONG))),
    Prompt(
        "tool chat",
        (
            Message("system", "You operate a phone. Reply with exactly one tool call."),
            Message(
                "user",
                "Task: Turn the flashlight off.\nApp: Settings\n[0] Wi-Fi (switch, on)\n[1] Flashlight (switch, on)\n"
                "[2] Display (row)\n[3] Sound (row)",
            ),
        ),
        with_tools=True,
    ),
)
"""Nine texts to go on with, a short conversation, a long one, and one with tools: as many of each kind as the published
edge study of Spark-X2.5 had, in words of our own."""


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """Read prompts: one a line, or a JSON list.

    An element of the list is a text, or ``{"messages": [{"role": ..., "content": ...}], "tools": true}``.

    Raises:
        OperatorError: the file cannot be read or holds no prompt.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(
            f"{path} cannot be read: {error}", hint="--prompts takes a text file or a JSON list"
        ) from None
    if content.lstrip().startswith("["):
        try:
            listed = json.loads(content)
        except ValueError as error:
            raise OperatorError(
                f"{path} begins as a JSON list and is none: {error}",
                hint="in a file of lines, begin the first one with another character than [",
            ) from None
        prompts = tuple(_prompt(path, number, value) for number, value in enumerate(listed, start=1))
    else:
        lines = [line for line in content.splitlines() if line.strip()]
        prompts = tuple(Prompt(f"prompt {number}", line) for number, line in enumerate(lines, start=1))
    if not prompts:
        raise OperatorError(f"{path} holds no prompt", hint="write one a line, or a JSON list")
    return prompts


def _prompt(path: Path, number: int, value: Any) -> Prompt:
    name = f"prompt {number}"
    if isinstance(value, str) and value:
        return Prompt(name, value)
    try:
        messages = tuple(_message(message) for message in value["messages"])
        tools = value.get("tools", False)
        if messages and isinstance(tools, bool):
            return Prompt(name, messages, tools)
    except (TypeError, KeyError, AttributeError):
        pass  # said below, in one message for all
    raise OperatorError(
        f"element {number} of {path} is {json.dumps(value, ensure_ascii=False)[:80]}; expected a text, or an "
        'object with "messages" and perhaps "tools"',
        hint='such as {"messages": [{"role": "user", "content": "Turn on Wi-Fi."}], "tools": true}',
    )


def _message(value: Mapping[str, Any]) -> Message:
    role, content = value["role"], value["content"]
    if role not in get_args(RoleName) or not isinstance(content, str):
        raise TypeError
    return Message(cast("RoleName", role), content)
