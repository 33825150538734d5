"""Every exception of the project, classed by who must act.

    AgentEvalError
    ├── OperatorError              the person at the keyboard: a name, a path, a folder
    │   ├── UnknownName            an unknown build, task, model, priority or episode
    │   ├── CheckpointError        a checkpoint folder that cannot be loaded
    │   └── RunFolderError         a run folder that cannot be written, is foreign, or is of another configuration
    └── Fault                      the harness itself: never the model's failure, retried, kept out of success rates
        ├── EngineFault            a build failed to compute
        │   └── ContextOverflow    the prompt is longer than the engine's context (a stop reason, not a fault)
        ├── DeviceFault            the phone or its transport failed
        └── TaskFault              a task failed to prepare or to judge

What a model writes never raises: it is parsed to ``ToolCall | Malformed`` (see ``actions``).
"""

from __future__ import annotations

from collections.abc import Iterable


class AgentEvalError(Exception):
    """An error with one clear message and, where there is one, the next step.

    Args:
        message: The value received and what was expected.
        hint: What to do about it; printed on a line of its own.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class OperatorError(AgentEvalError):
    """The person who ran the command must change something."""


class UnknownName(OperatorError):
    """A name that nothing answers to.

    Args:
        kind: What the name should have been, such as ``build``.
        value: The name received.
        known: The names that exist.
    """

    def __init__(self, kind: str, value: str, known: Iterable[str], *, hint: str = "") -> None:
        names = ", ".join(known)
        super().__init__(
            f"unknown {kind} {value!r}; expected one of: {names}",
            hint=hint or f"pass one of the names above; {kind} names are case-sensitive",
        )
        self.kind = kind
        self.value = value


class CheckpointError(OperatorError):
    """A checkpoint folder is missing, incomplete or not what its config says."""


class RunFolderError(OperatorError):
    """A run folder cannot be written, holds something else, or belongs to another configuration."""


class Fault(AgentEvalError):
    """The harness failed, not the model; ``episode`` turns it into a ``harness_error`` outcome."""


class EngineFault(Fault):
    """The engine could not compute a generation."""


class ContextOverflow(EngineFault):
    """The prompt does not fit the engine's context; the episode stops on its token budget."""


class DeviceFault(Fault):
    """The device or its transport failed to answer."""


class TaskFault(Fault):
    """A task could not prepare the phone or judge the episode."""
