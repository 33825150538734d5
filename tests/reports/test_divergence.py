from __future__ import annotations

import pytest

from agent_eval.records import EpisodeRecord, StepRecord
from agent_eval.reports.divergence import Act, first_divergent_step, kind_of
from agent_eval.reports.fidelity_record import ActionKind
from tests.reports.builders import episode, step


def call(tool: str | None, said: str = "", /, **arguments: str | int) -> StepRecord:
    return step().model_copy(update={"tool": tool, "arguments": arguments, "text": said})


def played(*steps: StepRecord) -> EpisodeRecord:
    return episode("success").model_copy(update={"steps": steps})


TAP, OTHER_TAP, DONE = call("tap", index=1), call("tap", index=2), call("task_complete")


@pytest.mark.parametrize(
    ("mine", "its", "first"),
    [
        ((TAP, DONE), (TAP, DONE), None),
        ((TAP, DONE), (TAP.model_copy(update={"text": "said otherwise", "thought": "hm"}), DONE), None),
        ((TAP, DONE), (OTHER_TAP, DONE), 0),
        ((TAP, TAP, DONE), (TAP, DONE), 1),
        ((TAP,), (TAP, TAP), 1),
        ((), (TAP,), 0),
        ((), (), None),
        ((call("tap", index=1),), (call("tap", index="1"),), 0),
        ((call("press_key", key="back"),), (call("open_app", name="back"),), 0),
        ((call(None, "ah"),), (call(None, "ah"),), None),
        ((call(None, "ah"),), (call(None, "oh"),), 0),
        ((call(None, "ah"), TAP), (TAP, TAP), 0),
    ],
)  # fmt: skip
def test_the_first_step_with_another_action_is_found(
    mine: tuple[StepRecord, ...], its: tuple[StepRecord, ...], first: int | None
) -> None:
    assert first_divergent_step(played(*mine), played(*its)) == first


@pytest.mark.parametrize(
    ("reference", "build", "kind"),
    [
        (TAP, TAP, "same"),
        (TAP, OTHER_TAP, "other argument"),
        (TAP, call("long_press", index=1), "other tool"),
        (TAP, DONE, "declared"),
        (TAP, call("give_up", reason="x"), "declared"),
        (TAP, call(None, "ah"), "malformed"),
        (DONE, TAP, "other tool"),
        (DONE, call("give_up"), "other tool"),
        (DONE, call("task_complete", answer="3"), "other argument"),
        (DONE, call(None, "ah"), "malformed"),
        (call(None, "ah"), call(None, "oh"), "same"),
        (call(None, "ah"), TAP, "other tool"),
        (call(None, "ah"), DONE, "declared"),
    ],
)
def test_how_an_action_differs_has_one_word(reference: StepRecord, build: StepRecord, kind: ActionKind) -> None:
    assert kind_of(Act.of(reference), Act.of(build)) == kind


def test_an_action_is_told_as_a_call() -> None:
    assert Act.of(call("type_text", text="a'b", index=3)).told == 'type_text(index=3, text="a\'b")'
    assert Act.of(call(None, "ah")).told == "malformed: ah"
