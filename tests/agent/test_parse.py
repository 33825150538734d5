"""Replies become ToolCall or Malformed, whatever a model writes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.actions import (
    TOOLS,
    Action,
    GiveUp,
    Malformed,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TaskComplete,
    ToolCall,
    TypeText,
    Wait,
    arguments_of,
)
from agent_eval.agent.parse import calls_behind_the_first, parse_reply
from agent_eval.types import WrittenCall


def native(action: Action) -> str:
    pairs = "".join(
        f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in arguments_of(action).items()
    )
    return f"<tool_call>{action.name}{pairs}</tool_call>"


UNDERSTOOD: list[tuple[str, Action, str, str]] = [
    # text, action, source, thought
    ("<tool_call>tap<arg_key>index</arg_key><arg_value>0</arg_value></tool_call>", Tap(index=0), "native", ""),
    ("the switch is off</think><tool_call>wait</tool_call>", Wait(), "native", "the switch is off"),
    ("<think>a</think>\n<tool_call>\nwait\n</tool_call>", Wait(), "native", "a"),
    (
        "<tool_call>swipe<arg_key>direction</arg_key><arg_value>up</arg_value>"
        "<arg_key>index</arg_key><arg_value>null</arg_value></tool_call>",
        Swipe(direction="up"),
        "native",
        "",
    ),
    (
        "<tool_call>type_text<arg_key>index</arg_key><arg_value> 2 </arg_value>"
        "<arg_key>text</arg_key><arg_value>30</arg_value></tool_call>",
        TypeText(index=2, text="30"),
        "native",
        "",
    ),
    (
        "<tool_call>type_text<arg_key>text</arg_key><arg_value>30</arg_value></tool_call>",
        TypeText(text="30"),
        "native",
        "",
    ),
    ("<tool_call>wait</tool_call><tool_call>give_up</tool_call>", Wait(), "native", ""),
    (
        "I will <tool_call>press_key<arg_key>key</arg_key><arg_value>back</arg_value>",
        PressKey(key="back"),
        "native",
        "",
    ),
    ("call it here: <tool_call>wait</tool_call></think>", Wait(), "native", ""),
    ('[tap]\n{"index": 3}', Tap(index=3), "bracketed_json", ""),
    ('[tap] {"tool": "tap", "parameters": {"index": 3.0}}', Tap(index=3), "bracketed_json", ""),
    ('thinking</think>{"tool": "tap", "parameters": {"index": 4}}', Tap(index=4), "bare_json", "thinking"),
    ('{"name": "open_app", "arguments": {"name": "Clock"}}', OpenApp(app="Clock"), "bare_json", ""),
    ('{"tool": "open_app", "name": "Clock"}', OpenApp(app="Clock"), "bare_json", ""),
    ('{"function": {"name": "tap", "arguments": {"index": 1}}}', Tap(index=1), "bare_json", ""),
    ('so: {"tool_name": "task_complete", "args": {}} ok', TaskComplete(), "bare_json", ""),
    ("I am done. [task_complete]", TaskComplete(), "bare_name", ""),
    ("[give_up]</think>", GiveUp(), "bare_name", ""),
]

NOT_UNDERSTOOD: list[tuple[str, str, str]] = [
    # text, reason, a part of the detail
    ("", "no_call", "no tool call"),
    ("I tap the Wi-Fi switch now.", "no_call", "no tool call"),
    ("[settings] is the app", "no_call", "no tool call"),
    ("<tool_call>click<arg_key>index</arg_key><arg_value>1</arg_value></tool_call>", "unknown_tool", "'click'"),
    ("<tool_call></tool_call>", "unknown_tool", "''"),
    ("<tool_call>tap</tool_call>", "bad_arguments", "index"),
    ("<tool_call>tap<arg_key>index</arg_key><arg_value>two</arg_value></tool_call>", "bad_arguments", "'two'"),
    ("<tool_call>tap<arg_key>index</arg_key><arg_value>-1</arg_value></tool_call>", "bad_arguments", "-1"),
    ("<tool_call>tap<arg_key>index</arg_key><arg_value>1.5</arg_value></tool_call>", "bad_arguments", "1.5"),
    ("<tool_call>tap index=1</tool_call>", "bad_arguments", "'index=1'"),
    ("<tool_call>wait <arg_key>x</arg_key></tool_call>", "bad_arguments", "no argument"),
    ('[tap] {"index": true}', "bad_arguments", "True"),
    ('{"tool": "press_key", "parameters": {"key": "power"}}', "bad_arguments", "'power'"),
    ('[tap] {"index": 3', "bad_arguments", "index"),
]


@pytest.mark.parametrize(("text", "action", "source", "thought"), UNDERSTOOD)
def test_a_call_is_understood_in_every_form_it_was_seen_in(
    text: str, action: Action, source: str, thought: str
) -> None:
    assert parse_reply(text) == ToolCall(action, source, thought)  # type: ignore[arg-type]  # a Literal in the table


@pytest.mark.parametrize(("text", "reason", "part"), NOT_UNDERSTOOD)
def test_what_is_no_call_is_malformed_and_says_why(text: str, reason: str, part: str) -> None:
    reply = parse_reply(text)
    assert isinstance(reply, Malformed)
    assert reply.reason == reason
    assert part in reply.detail


@pytest.mark.parametrize("text", ["I should look at the", "<tool_call>tap<arg_key>index</arg_key><arg_value>1"])
def test_a_reply_cut_off_before_its_call_ended_is_truncated(text: str) -> None:
    reply = parse_reply(text, "length")
    assert isinstance(reply, Malformed)
    assert reply.reason == "truncated"


def test_a_whole_call_counts_even_when_the_reply_was_cut_off_after_it() -> None:
    assert parse_reply("<tool_call>wait</tool_call> and now I", "length") == ToolCall(Wait(), "native")


PIECES = [
    *("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<think>", "</think>"),
    *TOOLS,
    *(
        "[",
        "]",
        "{",
        "}",
        '"',
        ":",
        ",",
        "null",
        "index",
        "text",
        "tool",
        "arguments",
        "3",
        "-1",
        "1e999",
        "NaN",
        "\x00",
    ),
]


@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6))).map("".join), st.sampled_from(["stop", "length"])
)
def test_no_text_raises(text: str, finish: str) -> None:
    reply = parse_reply(text, finish)  # type: ignore[arg-type]  # a Literal drawn as str
    match reply:
        case ToolCall(action=action):
            assert type(action) in TOOLS.values()
        case Malformed(detail=detail):
            assert detail
    assert len(calls_behind_the_first(text)) <= max(0, text.count("<tool_call>") - 1)


ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Tap, index=st.integers(0, 99)),
    st.builds(Swipe, direction=st.sampled_from(["up", "down", "left", "right"]), index=st.none() | st.integers(0, 9)),
    st.builds(
        TypeText,
        index=st.none() | st.integers(0, 99),
        text=st.text(st.characters(blacklist_characters="<>", blacklist_categories=["Cs"]), max_size=20),
    ),
    st.builds(PressKey, key=st.sampled_from(["back", "home", "enter", "delete", "recent"])),
    st.just(Wait()),
)


@given(ACTIONS)
def test_every_action_written_natively_is_read_back(action: Action) -> None:
    assert parse_reply(native(action)) == ToolCall(action, "native")


@given(ACTIONS, st.integers(0, 200))
def test_a_call_cut_at_any_place_is_never_another_call(action: Action, cut: int) -> None:
    reply = parse_reply(native(action)[:cut], "length")
    assert isinstance(reply, Malformed) or reply.action == action


@pytest.mark.parametrize(
    ("text", "further"),
    [
        ("", ()),
        ("<tool_call>wait</tool_call>", ()),
        ("<tool_call>wait</tool_call><tool_call>give_up</tool_call>", (WrittenCall("give_up"),)),
        (
            "a</think><tool_call>wait</tool_call>\n<tool_call>tap<arg_key>index</arg_key><arg_value>3</arg_value>"
            "</tool_call><tool_call>dance</tool_call>",
            (WrittenCall("tap", {"index": "3"}), WrittenCall("dance")),
        ),
        ("<tool_call>wait</tool_call><tool_call>give_u", ()),  # cut off
        ("<tool_call>a<tool_call>give_up</tool_call>", (WrittenCall("give_up"),)),
        ("<tool_call>wait</tool_call></think><tool_call>give_up</tool_call>", ()),  # a call that was only thought of
        ('[tap] {"index": 1} [tap] {"index": 2}', ()),
    ],
)
def test_native_calls_behind_the_first_are_found_as_they_are_written(
    text: str, further: tuple[WrittenCall, ...]
) -> None:
    assert calls_behind_the_first(text) == further
