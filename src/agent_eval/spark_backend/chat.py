"""A conversation to the text that the model reads, as the checkpoint's ``chat_template.jinja`` says. Knows no tokens.

The template comes with the weights and is a program, so it runs in Jinja's immutable sandbox, with the environment that
templates are written for (transformers' ``apply_chat_template``): trimmed blocks, loop controls, ``raise_exception``,
and a ``tojson`` that leaves ``<`` and letters of every script as they are. ``strftime_now`` is not offered: the same
conversation must give the same text tomorrow.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.folder import TEMPLATE_NAME
from agent_eval.types import Message, WrittenCall


class ChatTemplate:
    """The chat template of one checkpoint.

    Args:
        source: The Jinja text.
        tokens: Names that the template may use for special tokens, such as ``bos_token``.

    Raises:
        CheckpointError: the text is no template.
    """

    def __init__(self, source: str, tokens: Mapping[str, str] | None = None) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise_exception
        self._tokens = dict(tokens or {})
        self.source = source
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise _refused(error) from None

    @classmethod
    def from_folder(cls, folder: Path, tokens: Mapping[str, str] | None = None) -> ChatTemplate:
        """Read the template of a checkpoint folder.

        Raises:
            CheckpointError: it is missing or is no template.
        """
        path = folder / TEMPLATE_NAME
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CheckpointError(
                f"{path} cannot be read: {error}", hint=f"download {TEMPLATE_NAME} of the same checkpoint"
            ) from None
        return cls(source, tokens)

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, object]] = (),
        *,
        thinking: bool = True,
        open_turn: bool = True,
    ) -> str:
        """Return the text of a conversation, up to where the assistant's next turn begins.

        Args:
            messages: The turns so far.
            tools: Function schemas, ``{"type": "function", "function": {...}}`` each.
            thinking: Whether the next turn begins inside the thinking tags or after them.
            open_turn: Whether to open the assistant's next turn; training also needs conversations that end in one.

        Raises:
            CheckpointError: the template refuses the conversation or fails on it.
        """
        return self.render_turns(
            [as_template_message(message) for message in messages], tools, thinking=thinking, open_turn=open_turn
        )

    def render_turns(
        self,
        turns: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, object]] = (),
        *,
        thinking: bool = True,
        open_turn: bool = True,
    ) -> str:
        """Return the text of turns that are in the form that templates read already; else as ``render``.

        Raises:
            CheckpointError: the template refuses the conversation or fails on it.
        """
        try:
            return self._template.render(
                messages=[dict(turn) for turn in turns],
                tools=[dict(tool) for tool in tools] or None,
                add_generation_prompt=open_turn,
                enable_thinking=thinking,
                **self._tokens,
            )
        except (jinja2.TemplateError, TypeError, ValueError, AttributeError, KeyError) as error:
            # A template computes like any program; what it does with a conversation may fail in these ways.
            raise _refused(error) from None


def as_template_message(message: Message) -> dict[str, Any]:
    """Return a turn in the form that chat templates read: OpenAI's, with ``reasoning_content``."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.reasoning:
        turn["reasoning_content"] = message.reasoning
    if message.tool_name and message.role == "assistant":
        # Arguments stay a mapping: the official template walks them and refuses a JSON string.
        calls = (WrittenCall(message.tool_name, message.tool_arguments), *message.further_calls)
        turn["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": dict(call.arguments)}} for call in calls
        ]
    return turn


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _refused(error: Exception) -> CheckpointError:
    line = f" (line {error.lineno})" if isinstance(error, jinja2.TemplateSyntaxError) else ""
    return CheckpointError(
        f"{TEMPLATE_NAME} failed{line}: {error}", hint=f"use the {TEMPLATE_NAME} that came with the weights"
    )
