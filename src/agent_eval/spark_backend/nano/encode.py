"""From a conversation with an expert's replies to token ids and targets. Knows no phone and no tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from agent_eval.actions import ToolCall, arguments_of
from agent_eval.types import Message

IGNORED = -1
"""Target of a position that teaches nothing."""

Render = Callable[[Sequence[Message], bool], str]
"""Messages, and whether to open the assistant's next turn, to text."""


class Sample(NamedTuple):
    """One conversation, ready for training."""

    ids: NDArray[np.int32]
    """(T,) tokens."""
    targets: NDArray[np.int32]
    """(T,) the token to predict after each position, or ``IGNORED``."""


def expert_message(reply: ToolCall) -> Message:
    """Return the assistant's turn that a reply makes."""
    action = reply.action
    return Message("assistant", "", reply.thought, tool_name=action.name, tool_arguments=arguments_of(action))


def encode_demonstration(
    messages: Sequence[Message], expert: Sequence[ToolCall | None], render: Render, tokenizer: Tokenizer
) -> Sample:
    """Encode a conversation; every assistant turn has the expert's reply as its target, if there is one.

    Where the turn that was played differs from the expert's, the last token taught is the one at which they part: the
    model reads what was done, and learns what should have been.
    """
    ids: list[int] = []
    targets: list[int] = []
    done = ""
    replies = iter(expert)
    for position, message in enumerate(messages):
        if message.role != "assistant":
            continue
        prompt = render(messages[:position], True)
        played = render(messages[: position + 1], False)
        expected = next(replies)
        shown = tokenizer.encode(prompt[len(done) :], add_special_tokens=False).ids
        turn = tokenizer.encode(played[len(prompt) :], add_special_tokens=False).ids
        ids += shown + turn
        targets += [IGNORED] * (len(shown) - 1)
        taught: list[int] = []
        if expected is not None:
            wanted = render([*messages[:position], expert_message(expected)], False)
            label = tokenizer.encode(wanted[len(prompt) :], add_special_tokens=False).ids
            same = next((i for i, (a, b) in enumerate(zip(turn, label, strict=False)) if a != b), len(turn))
            taught = label[: same + 1]
        targets += taught + [IGNORED] * (len(turn) + 1 - len(taught))
        done = played
    return Sample(np.array(ids, np.int32), np.array(targets, np.int32))
