"""Agents that are no model: one that does nothing, one that acts at random, one that follows a script.

They show what a score is worth: what passes without doing anything, what chance passes, and what a given sequence of
calls leads to. The oracle, which sees the phone's state, belongs to the tasks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from agent_eval.actions import (
    TOOLS,
    Action,
    LongPress,
    Malformed,
    OpenApp,
    PressKey,
    Reply,
    Swipe,
    Tap,
    TaskComplete,
    ToolCall,
    TypeText,
    Wait,
)
from agent_eval.agent.device import APPS
from agent_eval.agent.parse import parse_call, parse_reply
from agent_eval.agent.prompt import plain
from agent_eval.contracts import Decision
from agent_eval.errors import OperatorError
from agent_eval.types import ActionResult, Generation, Observation

DECLARES = 0.1
"""Chance of the random agent to declare at a step."""
EVERY_TASK = "*"
"""Key of a script file for the tasks that it does not name."""


class NullAgent:
    """Implements ``contracts.Policy``: declares the task done without doing anything."""

    def begin(self, goal: str) -> None:
        """Start an episode."""

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        """Declare."""
        return Decision(ToolCall(TaskComplete()))


class RandomAgent:
    """Implements ``contracts.Policy``: any valid call, each time; equal seeds and goals act equally on equal screens.

    Args:
        seed: Of the run.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rng = Random(seed)

    def begin(self, goal: str) -> None:
        """Start an episode."""
        self._rng = Random(f"random agent/{self._seed}/{goal}")

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        """Draw a call."""
        if self._rng.random() < DECLARES:
            return Decision(ToolCall(TaskComplete(answer=str(self._rng.randrange(100)))))
        return Decision(ToolCall(random_action(self._rng, observation)))


def random_action(rng: Random, screen: Observation) -> Action:
    """Draw any valid action that declares nothing."""
    kind = rng.choice(("tap", "tap", "tap", "tap", "swipe", "key", "open", "type", "hold", "wait"))
    if kind == "open":
        return OpenApp(app=rng.choice(sorted(APPS)))
    if kind == "key":
        return PressKey(key=rng.choice(("back", "home", "enter", "delete", "recent")))
    if kind == "swipe" or not screen.elements:
        return Swipe(direction=rng.choice(("up", "down", "left", "right")))
    if kind == "wait":
        return Wait()
    element = rng.choice(screen.elements)
    if kind == "type" and element.role == "field":
        return TypeText(index=element.index, text=str(rng.randrange(60)))
    return LongPress(index=element.index) if kind == "hold" else Tap(index=element.index)


Line = str | Mapping[str, Any]
"""A reply as a model would write it, or a call: ``{"tool": "tap", "label": "Wi-Fi"}``."""


class ScriptedAgent:
    """Implements ``contracts.Policy``: one reply after another from a script, then waits.

    Args:
        lines: The replies. Of a call, ``label`` stands for the number of the first element with that label.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = tuple(lines)
        self._turn = 0

    def begin(self, goal: str) -> None:  # noqa: ARG002  the script was chosen for the task
        """Start the script again."""
        self._turn = 0

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        """Say the next line."""
        if self._turn == len(self.lines):
            return Decision(ToolCall(Wait()))
        line = self.lines[self._turn]
        self._turn += 1
        if isinstance(line, str):
            return Decision(parse_reply(line), generation=Generation(line, "stop", 0))
        return Decision(_spoken(line, observation))


def _spoken(line: Mapping[str, Any], observation: Observation) -> Reply:
    arguments = {key: value for key, value in line.items() if key not in ("tool", "label")}
    if "label" in line:
        wanted = plain(str(line["label"])).casefold()
        labels = [plain(element.label).casefold() for element in observation.elements]
        places = [place for place, label in enumerate(labels) if label == wanted]
        places += [place for place, label in enumerate(labels) if label.startswith(wanted)]
        if not places:
            return Malformed("bad_arguments", f"the script names {line['label']!r}, which is not on the screen")
        arguments["index"] = places[0]
    return parse_call(str(line["tool"]), arguments)


class Scripts:
    """The scripts of one file: a JSON object from the name of a task or instance, or ``*``, to a list of lines.

    Args:
        path: The file.

    Raises:
        OperatorError: it cannot be read, or is not of that form.
    """

    def __init__(self, path: Path) -> None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OperatorError(f"cannot read the script {str(path)!r}: {error}", hint=_FORM) from error
        self._scripts: Mapping[str, Sequence[Line]] = data if isinstance(data, dict) else {EVERY_TASK: data}
        for name, lines in self._scripts.items():
            if not isinstance(lines, list):
                raise OperatorError(f"{str(path)!r} has no list of lines for {name!r}: {lines!r:.60}", hint=_FORM)
            for number, line in enumerate(lines):
                if not isinstance(line, str) and not (isinstance(line, dict) and str(line.get("tool")) in TOOLS):
                    raise OperatorError(
                        f"line {number} for {name!r} in {str(path)!r} is neither a reply nor a call: {line!r:.60}",
                        hint=_FORM,
                    )

    def agent_for(self, task: str, instance: str) -> ScriptedAgent:
        """Return an agent for an instance: by its own script, its task's, that of every task, or one that waits."""
        names = (instance, task, EVERY_TASK)
        return ScriptedAgent(next((self._scripts[name] for name in names if name in self._scripts), ()))


_FORM = (
    'write {"WifiSet": [{"tool": "open_app", "name": "Settings"}, {"tool": "tap", "label": "Internet"}, "a reply"]}; '
    f"the tools are {', '.join(TOOLS)}"
)
