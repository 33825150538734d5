"""The loop: what ends an episode, what is recorded, and whose failure is whose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_eval.agent import ModelPolicy, tool_schemas
from agent_eval.contracts import Device, PhoneControl
from agent_eval.episode import INVALID_STOP, EpisodeKey, EpisodeLimits, run_episode
from agent_eval.errors import ContextOverflow
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import TASKS
from agent_eval.types import Generation, Message, Sampling
from agent_eval.wiring import open_sim
from tests.fakes import BreakingDevice, ScriptedModel, call

INSTANCE = TASKS["WifiSet"].draw(0)


@pytest.fixture
def sim() -> Iterator[tuple[Device, PhoneControl]]:
    device, phone = open_sim()
    yield device, phone
    device.close()


def play(sim: tuple[Device, PhoneControl], *texts: str, limits: EpisodeLimits | None = None) -> EpisodeRecord:
    policy = ModelPolicy(ScriptedModel(texts), tool_schemas(), Sampling())
    return run_episode(INSTANCE, policy, *sim, EpisodeKey("script"), limits or EpisodeLimits())


def test_a_declaration_ends_the_episode(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("task_complete"))
    assert (record.outcome.stop, len(record.steps)) == ("declared", 1)
    assert record.outcome.label == "premature_completion"


def test_the_budget_ends_the_episode(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("wait"))
    assert (record.outcome.stop, len(record.steps)) == ("step_budget", INSTANCE.budget)


def test_malformed_replies_in_a_row_end_the_episode(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, "I tap it", "I tap it", call("wait"), "I tap it")
    assert (record.outcome.stop, len(record.steps)) == ("invalid_stop", 3 + INVALID_STOP)
    assert record.outcome.label == "invalid_call"
    assert [step.source for step in record.steps[:3]] == ["no_call", "no_call", "native"]


def test_a_number_out_of_range_is_answered_with_the_range_and_touches_nothing(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("tap", index=99), call("task_complete"))
    assert record.steps[0].result.startswith("There is no element 99; the screen has 0 to ")
    assert record.steps[0].result in record.steps[1].prompt
    assert record.outcome.facts is not None
    assert record.outcome.facts.invalid_calls == 0


def test_index_0_is_an_element_like_any_other(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("open_app", name="Settings"), call("tap", index=0), call("task_complete"))
    assert record.steps[1].target != ""
    assert "There is no element" not in record.steps[1].result


def test_typing_into_what_is_no_field_is_refused(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("open_app", name="Settings"), call("type_text", index=2, text="x"), call("task_complete"))
    assert record.steps[1].result.endswith("is no input field.")


def test_an_unknown_app_is_answered_with_the_apps_there_are(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("open_app", name="Fortnite"), call("task_complete"))
    assert "There is no app Fortnite; the apps are Activity Tracker, Browser, " in record.steps[0].result


def test_a_loop_stops_the_episode_only_when_asked(sim: tuple[Device, PhoneControl]) -> None:
    texts = (call("press_key", key="back"),)
    assert play(sim, *texts).outcome.stop == "step_budget"
    assert play(sim, *texts, limits=EpisodeLimits(stop_on_loop=True)).outcome.stop == "loop_stop"


def test_the_clock_on_the_wall_ends_an_episode_only_when_asked(sim: tuple[Device, PhoneControl]) -> None:
    record = play(sim, call("wait"), limits=EpisodeLimits(max_seconds=1e-9))
    assert (record.outcome.stop, record.steps) == ("time_budget", ())


def test_a_device_that_breaks_is_a_harness_error_and_keeps_its_steps(sim: tuple[Device, PhoneControl]) -> None:
    device, phone = sim
    broken = BreakingDevice(device, lambda number: number == 1)
    record = play((broken, phone), call("wait"))
    assert (record.outcome.label, record.outcome.stop, record.outcome.facts) == ("harness_error", "harness_error", None)
    assert "DeviceFault: the cable is loose" in record.outcome.fault
    assert len(record.steps) == 1


class Overflowing(ScriptedModel):
    """Has room for two turns."""

    def generate(self, messages: object, tools: object, sampling: Sampling) -> Generation:
        del tools
        assert isinstance(messages, list)
        if sum(isinstance(message, Message) and message.role == "assistant" for message in messages) == 2:
            raise ContextOverflow("the prompt has 9 tokens, the context 8")
        return super().generate(messages, (), sampling)


def test_a_conversation_that_no_longer_fits_ends_on_the_token_budget(sim: tuple[Device, PhoneControl]) -> None:
    policy = ModelPolicy(Overflowing([call("wait")]), tool_schemas(), Sampling())
    record = run_episode(INSTANCE, policy, *sim, EpisodeKey("script"))
    assert (record.outcome.stop, len(record.steps)) == ("token_budget", 2)


def test_two_equal_episodes_give_equal_records_but_for_time(sim: tuple[Device, PhoneControl]) -> None:
    texts = (call("open_app", name="Settings"), call("swipe", direction="up"), call("tap", index=3), "?")
    first, second = play(sim, *texts), play(sim, *texts)
    assert first.untimed() == second.untimed()
    assert first.untimed() == play(open_sim(), *texts).untimed()


def test_the_tokens_of_an_episode_can_be_limited(sim: tuple[Device, PhoneControl]) -> None:
    reply = call("wait")
    record = play(sim, reply, limits=EpisodeLimits(max_tokens=2 * len(reply) + 1))
    assert (record.outcome.stop, len(record.steps)) == ("token_budget", 3)
    assert play(sim, call("task_complete"), limits=EpisodeLimits(max_tokens=1)).outcome.stop == "declared"


def test_a_step_records_what_it_changed_and_whether_it_was_in_the_tasks_app(sim: tuple[Device, PhoneControl]) -> None:
    quick_settings = [
        call("swipe", direction="down"),
        call("open_app", name="Clock"),
        call("open_app", name="Settings"),
    ]
    record = play(sim, *quick_settings, call("task_complete"))
    assert all(step.changes == () for step in record.steps)
    assert [step.in_task_app for step in record.steps[1:3]] == [False, True]
    assert record.task_version == TASKS["WifiSet"].version
