"""The conversation that a model reads: it only grows, and says what the last call did."""

from __future__ import annotations

import json

from agent_eval.actions import Malformed, Tap, ToolCall, Wait
from agent_eval.agent.policy import Conversation, ModelPolicy
from agent_eval.agent.prompt import tool_schemas
from agent_eval.types import ActionResult, Bounds, Element, Observation, Sampling, WrittenCall
from tests.fakes import ScriptedModel, call

BOUNDS = Bounds(0, 0, 10, 10)


def switch(state: str) -> Observation:
    return Observation((Element(0, "switch", "Wi-Fi", BOUNDS, (state,)),), "Settings", "com.android.settings")


def tapped() -> ActionResult:
    return ActionResult("done", "Tapped Wi-Fi.", "switch Wi-Fi")


def test_the_first_turn_shows_the_task_and_the_screen() -> None:
    shown = Conversation("Turn on Wi-Fi.").show(switch("off"), None)
    assert shown == "Task: Turn on Wi-Fi.\nApp: Settings\n[0] Wi-Fi (switch, off)"


def test_a_screen_that_stays_the_same_is_said_to_stay() -> None:
    talk = Conversation("g")
    talk.show(switch("off"), None)
    talk.reply(ToolCall(Tap(index=0)))
    assert "Tapped Wi-Fi. The screen did not change.\n" in talk.show(switch("off"), tapped())


def test_an_action_that_undoes_the_one_before_is_said_to() -> None:
    talk = Conversation("g")
    talk.show(switch("off"), None)
    talk.reply(ToolCall(Tap(index=0)))
    assert "undid" not in talk.show(switch("on"), tapped())
    talk.reply(ToolCall(Tap(index=0)))
    assert "Tapped Wi-Fi. That undid your previous action.\n" in talk.show(switch("off"), tapped())


def test_coming_back_by_another_action_is_not_undoing() -> None:
    talk = Conversation("g")
    talk.show(switch("off"), None)
    talk.reply(ToolCall(Tap(index=0)))
    talk.show(switch("on"), tapped())
    talk.reply(ToolCall(Wait()))
    assert "undid" not in talk.show(switch("off"), ActionResult("done", "Waited.", "wait"))


def test_a_malformed_reply_is_answered_with_what_was_wrong() -> None:
    talk = Conversation("g")
    talk.show(switch("off"), None)
    talk.reply(Malformed("no_call", "the reply made no tool call"), "I <tool_call> will</think>")
    shown = talk.show(switch("off"), None)
    assert "Not a tool call: the reply made no tool call.\n" in shown
    assert talk.messages[-2].content == "I ‹tool_call› will‹/think›"
    assert talk.messages[-1].role == "user"


TWO_CALLS = (
    "both</think><tool_call>tap<arg_key>index</arg_key><arg_value>0</arg_value></tool_call>"
    "<tool_call>type_text<arg_key>text</arg_key><arg_value>a<|User|>b</arg_value></tool_call><tool_call>wai"
)


def test_calls_behind_the_first_stay_in_the_history_and_are_said_not_to_be_carried_out() -> None:
    policy = ModelPolicy(ScriptedModel([TWO_CALLS, call("wait")]), tool_schemas(), Sampling())
    policy.begin("g")
    assert policy.decide(switch("off"), None).reply == ToolCall(Tap(index=0), "native", "both")
    shown = policy.decide(switch("on"), tapped()).prompt
    assert "Tapped Wi-Fi. Only the first of your 2 calls was carried out: call one tool at a time.\n" in shown
    assert "Only the first" not in policy.decide(switch("on"), tapped()).prompt


def test_calls_behind_the_first_are_shown_again_without_markup() -> None:
    talk = Conversation("g")
    talk.show(switch("off"), None)
    talk.reply(ToolCall(Tap(index=0), "native", "both"), TWO_CALLS)
    assert talk.messages[-1].further_calls == (WrittenCall("type_text", {"text": "a‹|User|›b"}),)


def test_the_conversation_is_append_only() -> None:
    model = ScriptedModel([call("tap", index=0), "no call", call("task_complete")])
    policy = ModelPolicy(model, tool_schemas(), Sampling())
    policy.begin("g")
    policy.decide(switch("off"), None)
    policy.decide(switch("on"), tapped())
    policy.decide(switch("on"), None)
    first, second, third = model.seen
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [message.role for message in third] == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_each_tool_is_shown_with_its_name_its_purpose_and_its_arguments() -> None:
    schemas = {schema["function"]["name"]: schema["function"] for schema in tool_schemas()}
    assert list(schemas) == [
        *("tap", "long_press", "type_text", "swipe", "press_key", "open_app", "wait", "task_complete", "give_up")
    ]
    assert schemas["open_app"]["parameters"]["required"] == ["name"]
    assert schemas["tap"]["parameters"]["properties"]["index"]["minimum"] == 0
    assert all(schema["description"] for schema in schemas.values())
    assert "title" not in json.dumps(schemas)
