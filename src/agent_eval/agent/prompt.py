"""What a model reads: the system prompt, the tools, and a screen as text. Knows nothing of any particular model.

One rendering serves every model. Each line begins with the number that a call must copy, followed at once by the label;
the task is restated with every screen, since most layers of the model see only a window of recent tokens.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from agent_eval.actions import TOOLS
from agent_eval.types import PLAIN_SIGNS, Element, Observation

SYSTEM_PROMPT = (
    "You operate an Android phone for its owner. Every turn shows the task, what your last call did, and the screen as "
    "a list of numbered elements; a switch shows whether it is on or off, and tapping it flips it. Reply with exactly "
    "one tool call, and name elements by their number. Look at the screen before you act: when it already shows what "
    "was asked, call task_complete at once. Call give_up only when the phone cannot do what was asked."
)

MAX_ELEMENTS = 60
MAX_LABEL = 60
"""Characters of a label that are shown; a longer one ends in an ellipsis."""
MAX_FIELD = 400
"""The same for what an input field holds: a note or a message is read there as a whole."""

_SIGNS = PLAIN_SIGNS | {ord("<"): "‹", ord(">"): "›"}
"""Plain signs for typographic ones; angle brackets are closed to what would read as a special token."""


@functools.lru_cache(maxsize=8192)
def plain(text: str, limit: int = MAX_LABEL) -> str:
    """Return a label as one line that cannot be taken for markup: what a phone or a person wrote is only data."""
    visible = "".join(" " if unicodedata.category(sign)[0] == "C" else sign for sign in text.translate(_SIGNS))
    line = re.sub(r"\s+", " ", visible).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip(" ,") + "…"


def shown_value(element: Element) -> str:
    """Return what is shown of an element's value."""
    return plain(element.value, MAX_FIELD if element.role == "field" else MAX_LABEL)


def element_line(element: Element) -> str:
    """Render one element, such as ``[3] Wi-Fi (switch, off)`` or ``[4] Battery: 82% (row)``."""
    value = f": {shown_value(element)}" if element.value else ""
    words = ([] if element.role == "text" else [element.role]) + list(element.states)
    return f"[{element.index}] {plain(element.label)}{value}" + (f" ({', '.join(words)})" if words else "")


def screen_text(observation: Observation) -> str:
    """Render a screen: the app in front, one line per element, and whether there is more to scroll to."""
    lines = [f"App: {plain(observation.app)}"]
    lines += [element_line(element) for element in observation.elements[:MAX_ELEMENTS]]
    if len(observation.elements) > MAX_ELEMENTS:
        lines.append(f"({len(observation.elements) - MAX_ELEMENTS} more not shown)")
    if observation.scrollable:
        lines.append("(scrolls)")
    if observation.keyboard_open:
        lines.append("(keyboard open)")
    return "\n".join(lines)


def observation_text(goal: str, feedback: str, observation: Observation) -> str:
    """Render one turn: the task, what came of the last call, and the screen.

    Args:
        goal: The task as the person put it.
        feedback: Sentences about the last call; empty at the first turn.
        observation: The screen now.
    """
    head = [f"Task: {plain_sentence(goal)}"]
    if feedback:
        head.append(plain_sentence(feedback))
    return "\n".join([*head, screen_text(observation)])


def plain_sentence(text: str) -> str:
    """Return a sentence without markup or line breaks, at its full length."""
    return re.sub(r"\s+", " ", text.translate(_SIGNS)).strip()


def tool_schemas() -> tuple[dict[str, Any], ...]:
    """Return the tools as function schemas, in the field's usual form; titles are left out, they repeat the names."""
    schemas = []
    for name, tool in TOOLS.items():
        schema = _without_titles(tool.model_json_schema(by_alias=True))
        description = schema.pop("description")
        schemas.append(
            {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
        )
    return tuple(schemas)


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {k: _without_titles(v) for k, v in schema.items() if not (k == "title" and isinstance(v, str))}
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema
