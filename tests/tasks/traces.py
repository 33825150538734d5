"""Traces written by hand: a phone that is only a dictionary, and what an agent did to it, one line per step."""

from __future__ import annotations

from collections.abc import Mapping

from agent_eval.actions import (
    Action,
    GiveUp,
    Malformed,
    Reply,
    Swipe,
    Tap,
    TaskComplete,
    ToolCall,
    Wait,
)
from agent_eval.contracts import Trace, TraceStep
from agent_eval.outcome import StopReason
from agent_eval.types import ActionResult, Scalar, Snapshot

SETTINGS = "com.android.settings"
CLOCK = "com.android.deskclock"
CONTACTS = "com.android.contacts"
LAUNCHER = "com.android.launcher3"


def snapshot(persisted: Mapping[str, Scalar], transient: Mapping[str, Scalar] | None = None) -> Snapshot:
    return Snapshot(tuple(sorted(persisted.items())), tuple(sorted((transient or {}).items())))


class Diary:
    """Collects steps; each call is one step of an agent and returns the diary.

    Args:
        package: What is in front at the start.
        **persisted: The state, with ``__`` for the slash of a path.
    """

    def __init__(self, package: str = LAUNCHER, **persisted: Scalar) -> None:
        self.state: dict[str, Scalar] = {name.replace("__", "/"): value for name, value in persisted.items()}
        self.transient: dict[str, Scalar] = {"ui/package": package}
        self.package = package
        self.screen = "start"
        self.steps: list[TraceStep] = []
        self.start = self._now()

    def does(
        self,
        target: str,
        *,
        to: str | None = None,
        package: str | None = None,
        writes: Mapping[str, Scalar | None] | None = None,
        action: Action | None = None,
        scrolled: bool = False,
        becomes: Mapping[str, Scalar | None] | None = None,
    ) -> Diary:
        """Act on a target; ``to`` names the next screen, ``writes`` persists, ``becomes`` changes transient state."""
        self._step(
            ToolCall(action or Tap(index=len(self.steps) % 7)),
            ActionResult("done", "", target),
            to=to,
            package=package,
            writes=writes,
            scrolled=scrolled,
            becomes=becomes,
        )
        return self

    def flips(self, path: str, target: str = "switch Wi-Fi") -> Diary:
        """Tap a switch; the screen shows its state."""
        value = not self.state[path]
        return self.does(target, to=f"{path} {value}", writes={path: value})

    def opens(self, name: str, package: str) -> Diary:
        return self.does(f"app {name}", to=name, package=package)

    def swipes(self, *, to: str | None = None) -> Diary:
        return self.does("swipe up", to=to, action=Swipe(direction="up"), scrolled=to is not None)

    def waits(
        self,
        *,
        writes: Mapping[str, Scalar | None] | None = None,
        to: str | None = None,
        becomes: Mapping[str, Scalar | None] | None = None,
    ) -> Diary:
        return self.does("wait", action=Wait(), writes=writes, to=to, becomes=becomes)

    def babbles(
        self,
        *,
        writes: Mapping[str, Scalar | None] | None = None,
        becomes: Mapping[str, Scalar | None] | None = None,
    ) -> Diary:
        self._step(Malformed("no_call", "There was no call."), None, writes=writes, becomes=becomes)
        return self

    def completes(
        self,
        answer: str = "",
        *,
        writes: Mapping[str, Scalar | None] | None = None,
        becomes: Mapping[str, Scalar | None] | None = None,
    ) -> Trace:
        self.does("task_complete", action=TaskComplete(answer=answer), writes=writes, becomes=becomes)
        return self.ends("declared")

    def gives_up(self) -> Trace:
        self.does("give_up", action=GiveUp())
        return self.ends("declared")

    def ends(self, stop: StopReason = "step_budget") -> Trace:
        return Trace(self.start, tuple(self.steps), stop)

    def _step(
        self,
        reply: Reply,
        result: ActionResult | None,
        *,
        to: str | None = None,
        package: str | None = None,
        writes: Mapping[str, Scalar | None] | None = None,
        scrolled: bool = False,
        becomes: Mapping[str, Scalar | None] | None = None,
    ) -> None:
        before, screen = self._now(), self.screen
        for changes, part in ((writes, self.state), (becomes, self.transient)):
            for path, value in (changes or {}).items():
                if value is None:
                    part.pop(path, None)
                else:
                    part[path] = value
        self.screen = to or self.screen
        self.package = self.package if package is None else package
        self.transient["ui/package"] = self.package
        self.transient["ui/screen"] = self.screen
        self.steps.append(TraceStep(reply, result, screen, before, self._now(), self.package, scrolled))

    def _now(self) -> Snapshot:
        return snapshot(self.state, self.transient)
