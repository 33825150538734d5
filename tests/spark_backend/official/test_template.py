"""What Spark reads: the behaviour of the published chat template, as it is documented, through our renderer.

The published text comes with the weights and is not part of this project. ``template.jinja`` was written from the
description; on 20,000 random conversations it rendered what the published one renders (docs/peers.md).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_eval.agent.parse import parse_reply
from agent_eval.agent.policy import Conversation
from agent_eval.agent.prompt import tool_schemas
from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.types import ActionResult, Message, Observation

S, E = "<｜start▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
SYSTEM = f"{S}<|System|>\nyou are a helpful assistant."
HI = Message("user", "hi")
ASKED = f"{S}<|User|>hi{E}"

TAP = {
    "type": "function",
    "function": {"name": "tap", "description": "Tap it's <b> 设", "parameters": {"type": "object", "properties": {}}},
}
TAP_LINE = '{"name": "tap", "description": "Tap it\'s <b> 设", "parameters": {"type": "object", "properties": {}}}'
TOOLS = "## Tools\nYou have access to the following functions:\n<tools>\n"


@pytest.fixture(scope="module")
def spark() -> ChatTemplate:
    return ChatTemplate((Path(__file__).parent / "template.jinja").read_text(encoding="utf-8"))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def argument(key: str, value: str) -> str:
    return f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>"


SYSTEM_TURNS: list[tuple[list[Message], list[dict[str, Any]], str]] = [
    # messages, tools, how the text begins
    ([HI], [], f"{SYSTEM}{E}{ASKED}"),
    ([Message("system", "Be brief."), HI], [], f"{SYSTEM}\n\nBe brief.{E}{ASKED}"),
    ([Message("system", ""), HI], [], f"{SYSTEM}{E}{ASKED}"),
    ([HI], [TAP], f"{SYSTEM}{TOOLS}{TAP_LINE}\n</tools>{E}{ASKED}"),
    (
        [Message("system", "Be brief."), HI],
        [TAP, TAP],
        f"{SYSTEM}{TOOLS}{TAP_LINE}\n{TAP_LINE}\n</tools>\n\nBe brief.{E}{ASKED}",
    ),
    (
        [Message("system", "a"), HI, Message("system", "b"), Message("system", "c")],
        [],
        f"{SYSTEM}\n\na{E}{ASKED}{S}<|System|>\nb{E}{S}<|System|>\nc{E}",
    ),
    ([HI, Message("system", "b")], [TAP], f"{SYSTEM}{TOOLS}{TAP_LINE}\n</tools>{E}{ASKED}{S}<|System|>\nb{E}"),
]


@pytest.mark.parametrize(("messages", "tools", "expected"), SYSTEM_TURNS)
def test_a_system_turn_comes_first_and_holds_the_tools_and_what_the_user_set(
    spark: ChatTemplate, messages: list[Message], tools: list[dict[str, Any]], expected: str
) -> None:
    assert spark.render(messages, tools, open_turn=False) == expected


def test_our_own_tools_are_one_json_object_a_line(spark: ChatTemplate) -> None:
    text = spark.render([HI], tool_schemas())
    lines = text.partition("<tools>\n")[2].partition("\n</tools>")[0].split("\n")
    assert [json.loads(line) for line in lines] == [schema["function"] for schema in tool_schemas()]
    assert all(line == json.dumps(json.loads(line), ensure_ascii=False) for line in lines)


@pytest.mark.parametrize(("thinking", "opening"), [(True, "<think>"), (False, "</think>")])
def test_the_next_turn_begins_inside_or_after_the_thinking_tags(
    spark: ChatTemplate, thinking: bool, opening: str
) -> None:
    assert spark.render([HI], thinking=thinking) == f"{SYSTEM}{E}{ASKED}{S}<|Bot|>{opening}"


def test_thinking_is_on_by_default(spark: ChatTemplate) -> None:
    assert spark.render([HI]) == spark.render([HI], thinking=True)


QUOTED = 'a "b" <c> é\n'

ASSISTANT_TURNS: list[tuple[dict[str, Any], str]] = [
    # the turn, what follows <|Bot|>
    ({"content": "done"}, "</think>done"),
    ({"content": "done", "reasoning_content": "it is on"}, "<think>it is on</think>done"),
    ({"content": "done", "reasoning_content": ""}, "</think>done"),
    ({"content": "done", "reasoning_content": None}, "</think>done"),
    ({"content": None, "tool_calls": [call("wait")]}, "</think><tool_call>wait</tool_call>"),
    ({"content": "", "tool_calls": []}, "</think>"),
    (
        {"content": "", "reasoning_content": "Wi-Fi", "tool_calls": [call("tap", index=3)]},
        f"<think>Wi-Fi</think><tool_call>tap{argument('index', '3')}</tool_call>",
    ),
    (
        {"content": "I tap.", "tool_calls": [call("tap", index=3), call("wait"), call("tap", index="3")]},
        f"</think>I tap.<tool_call>tap{argument('index', '3')}</tool_call><tool_call>wait</tool_call>"
        f"<tool_call>tap{argument('index', '3')}</tool_call>",
    ),
    (
        {"content": "", "tool_calls": [call("type_text", index=1, text=QUOTED)]},
        f"</think><tool_call>type_text{argument('index', '1')}{argument('text', QUOTED)}</tool_call>",
    ),
]
ASSISTANT_TURNS += [
    ({"content": "", "tool_calls": [call("f", v=value)]}, f"</think><tool_call>f{argument('v', text)}</tool_call>")
    for value, text in [
        ("7", "7"),
        (7, "7"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([1, "é"], '[1, "é"]'),
        ({"k": "v", "n": 1}, '{"k": "v", "n": 1}'),
        ("null", "null"),
        ("", ""),
    ]
]


@pytest.mark.parametrize(("turn", "expected"), ASSISTANT_TURNS)
def test_an_assistant_turn_holds_reasoning_content_and_calls_without_line_breaks(
    spark: ChatTemplate, turn: dict[str, Any], expected: str
) -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", **turn}]
    assert spark.render_turns(turns, open_turn=False) == f"{SYSTEM}{E}{ASKED}{S}<|Bot|>{expected}{E}"


def test_reasoning_of_every_past_turn_is_kept(spark: ChatTemplate) -> None:
    turns = [HI, Message("assistant", "a", "one"), HI, Message("assistant", "b", "two"), HI]
    text = spark.render(turns)
    assert f"<think>one</think>a{E}" in text
    assert f"<think>two</think>b{E}" in text


TOOL_TURNS = [
    (["tool"], "<tool_response>0</tool_response>" + E),
    (["tool", "tool"], f"<tool_response>0</tool_response><tool_response>1</tool_response>{E}"),
    (
        ["tool", "user", "tool"],
        f"<tool_response>0</tool_response>{E}{S}<|User|>1{E}{S}<|Tool|><tool_response>2</tool_response>{E}",
    ),
]


@pytest.mark.parametrize(("roles", "expected"), TOOL_TURNS)
def test_tool_results_that_follow_each_other_share_one_turn(
    spark: ChatTemplate, roles: list[str], expected: str
) -> None:
    turns = [{"role": role, "content": str(i)} for i, role in enumerate(roles)]
    text = spark.render_turns([{"role": "user", "content": "hi"}, *turns], open_turn=False)
    assert text == f"{SYSTEM}{E}{ASKED}{S}<|Tool|>{expected}"


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_content_may_be_a_list_of_text_blocks(spark: ChatTemplate, role: str) -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": ""}, {"type": "text", "text": "b\n"}]
    in_blocks, plain = ([{"role": role, "content": content}] for content in (blocks, "ab\n"))
    assert spark.render_turns(in_blocks) == spark.render_turns(plain)


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [{"role": "developer", "content": "hi"}],
        [{"role": "user", "content": [{"type": "image", "image": "x"}]}],
        [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}],
    ],
)
def test_what_spark_cannot_read_is_refused(spark: ChatTemplate, turns: list[dict[str, Any]]) -> None:
    with pytest.raises(CheckpointError, match=r"chat_template\.jinja failed"):
        spark.render_turns(turns)


def told(spark: ChatTemplate, written: str) -> tuple[str, str]:
    """Return the prompt that a reply follows, and the prompt after it was carried out."""
    talk = Conversation("g")
    screen = Observation((), "Settings", "com.android.settings")
    talk.show(screen, None)
    before = spark.render(talk.messages, tool_schemas())
    talk.reply(parse_reply(written), written)
    talk.show(screen, ActionResult("done", "Done.", ""))
    return before, spark.render(talk.messages, tool_schemas())


@pytest.mark.parametrize(
    "written",
    [
        "look</think><tool_call>wait</tool_call>",
        f"look</think><tool_call>tap{argument('index', '3')}</tool_call>",
        f"both</think><tool_call>tap{argument('index', '3')}</tool_call><tool_call>wait</tool_call>",
    ],
)
def test_a_prompt_continues_the_one_before_by_what_the_model_wrote(spark: ChatTemplate, written: str) -> None:
    before, after = told(spark, written)
    assert before.endswith("<|Bot|><think>")
    assert after.startswith(f"{before}{written}{E}{S}<|Tool|><tool_response>Task: g\nDone.")


def test_a_turn_without_a_thought_loses_its_opening_tag(spark: ChatTemplate) -> None:
    before, after = told(spark, "</think><tool_call>wait</tool_call>")
    assert after.startswith(before.removesuffix("<think>") + "</think><tool_call>wait</tool_call>" + E)
