"""What an agent was shown in a recorded episode, turn by turn. Knows no model and no phone."""

from __future__ import annotations

from collections.abc import Iterator

from agent_eval.agent.parse import parse_reply
from agent_eval.agent.policy import Conversation
from agent_eval.records import EpisodeRecord
from agent_eval.types import Message


def conversations(record: EpisodeRecord) -> Iterator[tuple[Message, ...]]:
    """Yield the conversation that the agent answered at each step: what ``ModelPolicy`` showed it, message by message.

    A reply goes back into the conversation as it was understood. Whether one was cut off at its limit matters only
    where that made it malformed, and then the record says so.
    """
    conversation = Conversation(record.goal)
    for step in record.steps:
        conversation.show_again(step.prompt)
        yield tuple(conversation.messages)
        conversation.reply(parse_reply(step.text, "length" if step.source == "truncated" else "stop"), step.text)
