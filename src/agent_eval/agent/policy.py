"""The agent: a model behind a prompt, as a conversation that only grows. Knows nothing of phones, builds or outcomes.

The conversation is append-only, so that a step computes only its new tokens and reuses the steps before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_eval.actions import Malformed, Reply, ToolCall, arguments_of
from agent_eval.agent.parse import calls_behind_the_first, parse_reply
from agent_eval.agent.prompt import SYSTEM_PROMPT, observation_text
from agent_eval.contracts import Decision, Model
from agent_eval.types import ActionResult, Message, Observation, Sampling, WrittenCall


@dataclass(frozen=True)
class Memory:
    """What the agent remembers of one step, to tell whether the next one changed or undid anything."""

    signature: str
    action_key: str


class Conversation:
    """The messages of one episode, shared by the agent that plays and the trainer that replays demonstrations."""

    def __init__(self, goal: str) -> None:
        self.goal = goal
        self.messages: list[Message] = [Message("system", SYSTEM_PROMPT)]
        self._memory: list[Memory] = []
        self._last: Reply | None = None
        self._further = 0  # calls of the last reply that were not carried out
        self._seen = ""  # signature of the last screen

    def show(self, observation: Observation, result: ActionResult | None) -> str:
        """Append the turn that shows a screen, and return its text."""
        text = observation_text(self.goal, self._feedback(observation, result), observation)
        self._seen = observation.signature
        self.show_again(text)
        return text

    def show_again(self, text: str) -> None:
        """Append a turn of which only the text is known, as records have it."""
        self.messages.append(Message("tool" if isinstance(self._last, ToolCall) else "user", text))

    def reply(self, reply: Reply, text: str = "") -> None:
        """Append the agent's own turn; ``text`` is the reply as written, which a malformed one is shown again by."""
        self._further = 0
        match reply:
            case ToolCall(action=action, thought=thought):
                further = tuple(_plain_call(call) for call in calls_behind_the_first(text))
                self._further = len(further)
                self.messages.append(
                    Message("assistant", "", thought, action.name, arguments_of(action), further_calls=further)
                )
                key = f"{action.name}{sorted(arguments_of(action).items())}"
            case Malformed(thought=thought):
                self.messages.append(Message("assistant", _without_tags(text), thought))
                key = ""
        self._memory.append(Memory(self._seen, key))
        self._last = reply

    def _feedback(self, observation: Observation, result: ActionResult | None) -> str:
        """Say what the last call did: the device's sentence, and what the screens before and after tell."""
        if isinstance(self._last, Malformed):
            return f"Not a tool call: {self._last.detail}."
        if result is None:
            return ""
        parts = [result.message]
        if self._further:
            parts.append(f"Only the first of your {self._further + 1} calls was carried out: call one tool at a time.")
        now, before = observation.signature, self._memory
        if result.status == "done" and before and now == before[-1].signature:
            parts.append("The screen did not change.")
        elif len(before) > 1 and now == before[-2].signature and before[-1].action_key == before[-2].action_key:
            parts.append("That undid your previous action.")
        return " ".join(parts)


class ModelPolicy:
    """Implements ``contracts.Policy`` with a model.

    Args:
        model: Answers a conversation.
        tools: Function schemas shown to the model.
        sampling: How each reply is drawn.
    """

    def __init__(self, model: Model, tools: Sequence[Mapping[str, Any]], sampling: Sampling) -> None:
        self._model = model
        self._tools = tools
        self._sampling = sampling
        self._conversation = Conversation("")

    def begin(self, goal: str) -> None:
        """Start an episode with an empty conversation."""
        self._model.begin()
        self._conversation = Conversation(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        """Show the screen, let the model reply, and parse the reply."""
        shown = self._conversation.show(observation, result)
        generation = self._model.generate(self._conversation.messages, self._tools, self._sampling)
        reply = parse_reply(generation.text, generation.finish)
        self._conversation.reply(reply, generation.text)
        return Decision(reply, shown, generation)


def _plain_call(call: WrittenCall) -> WrittenCall:
    arguments = {_without_tags(key): _without_tags(str(value)) for key, value in call.arguments.items()}
    return WrittenCall(_without_tags(call.name), arguments)


def _without_tags(text: str) -> str:
    """Close what a malformed reply wrote to the template: it stays readable, but is no markup when shown again."""
    return text.replace("<", "‹").replace(">", "›")
