"""Where two builds first do different things, and how two actions differ. Computes no statistics."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import NamedTuple

from agent_eval.actions import GiveUp, TaskComplete
from agent_eval.records import EpisodeRecord, StepRecord
from agent_eval.reports.fidelity_record import ActionKind

DECLARING = frozenset((TaskComplete.name, GiveUp.name))


class Act(NamedTuple):
    """What was done at one step."""

    tool: str | None
    """None where the reply was malformed."""
    arguments: Mapping[str, str | int]
    text: str
    """The reply as written; two malformed ones are told apart by it."""

    @classmethod
    def of(cls, step: StepRecord) -> Act:
        """Return what was done at a recorded step."""
        return cls(step.tool, step.arguments, step.text)

    @property
    def told(self) -> str:
        """The call in a line, or the reply that is none."""
        if self.tool is None:
            return f"malformed: {self.text}"
        return f"{self.tool}({', '.join(f'{key}={value!r}' for key, value in sorted(self.arguments.items()))})"

    def same_as(self, other: Act) -> bool:
        """Tell whether both are one action: the same call, or the same text that is none."""
        if self.tool is None or other.tool is None:
            return self.tool == other.tool and self.text == other.text
        return (self.tool, dict(self.arguments)) == (other.tool, dict(other.arguments))


def first_divergent_step(reference: EpisodeRecord, build: EpisodeRecord) -> int | None:
    """Return the first step, from 0, at which two episodes of one instance differ in their action; None without one.

    An episode that ended earlier differs where it had no step any more.
    """
    for number, (mine, its) in enumerate(zip_longest(reference.steps, build.steps)):
        if mine is None or its is None or not Act.of(mine).same_as(Act.of(its)):
            return number
    return None


def kind_of(reference: Act, build: Act) -> ActionKind:
    """Say how a build's action relates to the reference's; of several words the later ones in this order are not used.

    ``same`` (two malformed replies are, whatever they say), ``malformed``, ``declared``, ``other argument``,
    ``other tool``.
    """
    if reference.same_as(build) or (reference.tool is None and build.tool is None):
        return "same"
    if build.tool is None:
        return "malformed"
    if build.tool in DECLARING and reference.tool not in DECLARING:
        return "declared"
    return "other argument" if build.tool == reference.tool else "other tool"
