"""Agents that follow a script of labels, and the phone on which they play it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent_eval.actions import Action, LongPress, OpenApp, PressKey, Tap, TaskComplete, TypeText, Wait
from agent_eval.agent.misbehaving import Agent, Spoiled
from agent_eval.contracts import Policy
from agent_eval.episode import EpisodeKey, run_episode
from agent_eval.outcome import Facts
from agent_eval.records import EpisodeRecord
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Element, Observation
from agent_eval.wiring import open_sim

Step = Callable[[Observation], Action]


class Stage:
    """A phone and hands on it."""

    def __init__(self) -> None:
        self.device, self.phone = open_sim()

    def play(self, instance: TaskInstance, *steps: Step, answer: str = "") -> EpisodeRecord:
        """Let an agent take some steps and declare."""
        script = iter(steps)
        agent = Agent(lambda screen, _step: next(script, lambda _screen: TaskComplete(answer=answer))(screen))
        return self._run(instance, agent)

    def play_astray(self, instance: TaskInstance, *steps: Step) -> EpisodeRecord:
        """Let an agent take some steps, and the expert go on from there, with time enough to mend things."""
        roomy = replace(instance, draft=replace(instance.draft, oracle_steps=instance.draft.oracle_steps + 30))
        script = iter(steps)

        def first(screen: Observation, _step: int) -> Action | None:
            step = next(script, None)
            return None if step is None else step(screen)

        return self._run(roomy, Spoiled(instance.oracle(self.phone), first=first))

    def _run(self, instance: TaskInstance, policy: Policy) -> EpisodeRecord:
        return run_episode(instance, policy, self.device, self.phone, EpisodeKey("script"))


def launch(app: str) -> Step:
    return lambda _screen: OpenApp(app=app)


def back(_screen: Observation) -> Action:
    return PressKey(key="back")


def tap(label: str, *roles: str) -> Step:
    return lambda screen: _at(screen, label, roles, lambda found: Tap(index=found.index))


def hold(label: str) -> Step:
    return lambda screen: _at(screen, label, ("row",), lambda found: LongPress(index=found.index))


def write(label: str, text: str) -> Step:
    return lambda screen: _at(screen, label, ("field",), lambda found: TypeText(index=found.index, text=text))


def _at(screen: Observation, label: str, roles: tuple[str, ...], act: Callable[[Element], Action]) -> Action:
    """Act on the first element with a label; wait where there is none."""
    for element in screen.elements:
        if element.label == label and (not roles or element.role in roles):
            return act(element)
    return Wait()


def facts(record: EpisodeRecord) -> Facts:
    assert record.outcome.facts is not None, record.outcome.fault
    return record.outcome.facts


def told(record: EpisodeRecord) -> str:
    """Write an episode out, for the message of a failed test."""
    lines = [f"{record.goal} [{record.outcome.label} {record.outcome.fault}]"]
    lines += [f"  {step.thought!r} {step.tool} {step.arguments} -> {step.result}" for step in record.steps]
    return "\n".join(lines)
