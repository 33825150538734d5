"""The tools an agent may call, and what one reply of a model becomes. Knows nothing of phones or prompts.

Each tool is one frozen pydantic model; its JSON schema, docstring and field descriptions are what the LLM sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

Index = Annotated[StrictInt, Field(ge=0, description="number of the element on the screen")]
Direction = Literal["up", "down", "left", "right"]
Key = Literal["back", "home", "enter", "delete", "recent"]


class Tool(BaseModel):
    """One call of one tool."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: ClassVar[str]


class Tap(Tool):
    """Tap an element."""

    name: ClassVar[str] = "tap"
    index: Index


class LongPress(Tool):
    """Press an element and hold it."""

    name: ClassVar[str] = "long_press"
    index: Index


class TypeText(Tool):
    """Replace the text of an input field."""

    name: ClassVar[str] = "type_text"
    index: Annotated[
        Annotated[StrictInt, Field(ge=0)] | None,
        Field(description="number of the field; without it, the field that has the focus"),
    ] = None
    text: Annotated[StrictStr, Field(description="the whole new text of the field")]


class Swipe(Tool):
    """Move a finger across the screen: up shows what is further down. With an index, across that element only."""

    name: ClassVar[str] = "swipe"
    direction: Annotated[Direction, Field(description="where the finger moves")]
    index: Annotated[
        Annotated[StrictInt, Field(ge=0)] | None,
        Field(description="element to swipe across from edge to edge, such as a slider"),
    ] = None


class PressKey(Tool):
    """Press a key of the phone."""

    name: ClassVar[str] = "press_key"
    key: Key


class OpenApp(Tool):
    """Open an app by the name under its icon."""

    name: ClassVar[str] = "open_app"
    app: Annotated[StrictStr, Field(alias="name", description="name of the app")]

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)


class Wait(Tool):
    """Wait a second for the phone to finish what it is doing."""

    name: ClassVar[str] = "wait"


class TaskComplete(Tool):
    """Declare that the task is done. Call it as soon as the screen shows what was asked."""

    name: ClassVar[str] = "task_complete"
    answer: Annotated[StrictStr, Field(description="the answer, if the task asks for one; else empty")] = ""


class GiveUp(Tool):
    """Declare that the task cannot be done on this phone."""

    name: ClassVar[str] = "give_up"
    reason: Annotated[StrictStr, Field(description="why it cannot be done")] = ""


Action = Tap | LongPress | TypeText | Swipe | PressKey | OpenApp | Wait | TaskComplete | GiveUp

TOOLS: dict[str, type[Action]] = {tool.name: tool for tool in get_args(Action)}
"""Tool name to tool, in the order in which they are shown to the model."""

Source = Literal["native", "bracketed_json", "bare_json", "bare_name", "script"]
"""Which form of call the parser found (reference order of recovery), or ``script`` for a policy that is no model."""

MalformedReason = Literal["no_call", "unknown_tool", "bad_arguments", "truncated"]


@dataclass(frozen=True)
class ToolCall:
    """A reply that parsed to one action."""

    action: Action
    source: Source = "script"
    thought: str = ""
    """What the model wrote before the call, without tags."""


@dataclass(frozen=True)
class Malformed:
    """A reply that is no call; it is neither a completion nor the end of the episode."""

    reason: MalformedReason
    detail: str
    """A sentence for the model: what was wrong with the reply."""
    thought: str = ""


Reply = ToolCall | Malformed


def arguments_of(action: Action) -> dict[str, str | int]:
    """Return the arguments of a call under the names that the LLM sees, defaults left out."""
    return action.model_dump(by_alias=True, exclude_defaults=True)
