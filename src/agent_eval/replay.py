"""Play recorded actions again and compare where they lead. Knows nothing of models: it needs only the record."""

from __future__ import annotations

from dataclasses import dataclass

from agent_eval.actions import TOOLS
from agent_eval.contracts import Device, Instance, PhoneControl
from agent_eval.records import EpisodeRecord


@dataclass(frozen=True)
class ReplayStep:
    """One recorded step, played again."""

    number: int
    """From 1; 0 is the prepared phone."""
    call: str
    expected: str
    """Digest in the record."""
    reached: str
    """Digest now."""

    @property
    def same(self) -> bool:
        """Whether the phone is in the recorded state."""
        return self.expected == self.reached


def replay_episode(
    record: EpisodeRecord, instance: Instance, device: Device, phone: PhoneControl
) -> tuple[ReplayStep, ...]:
    """Prepare the instance, carry out the recorded actions, and return each step's digests; stops at a difference."""
    instance.prepare(phone)
    steps = [ReplayStep(0, "prepare", record.start_snapshot, phone.snapshot().digest)]
    device.observe()
    for number, step in enumerate(record.steps, start=1):
        if not steps[-1].same:
            break
        call = "malformed reply"
        if step.tool is not None:
            call = f"{step.tool}({', '.join(f'{k}={v!r}' for k, v in step.arguments.items())})"
            device.perform(TOOLS[step.tool].model_validate(step.arguments))
        device.observe()
        steps.append(ReplayStep(number, call, step.snapshot, phone.snapshot().digest))
    return tuple(steps)
