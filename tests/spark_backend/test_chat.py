from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.chat import ChatTemplate, as_template_message
from agent_eval.types import Message

S, E = "<｜start▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
SYSTEM = f"{S}<|System|>\nyou are a helpful assistant."

TAP = {
    "type": "function",
    "function": {"name": "tap", "description": "Tap it's <b>", "parameters": {"type": "object", "properties": {}}},
}
TAP_LINE = '{"name": "tap", "description": "Tap it\'s <b>", "parameters": {"type": "object", "properties": {}}}'


@pytest.fixture(scope="module")
def spark() -> ChatTemplate:
    return ChatTemplate((Path(__file__).parent / "spark_template.jinja").read_text(encoding="utf-8"))


def test_the_system_turn_comes_first_even_without_a_system_message(spark: ChatTemplate) -> None:
    assert spark.render([Message("user", "hi")]) == f"{SYSTEM}{E}{S}<|User|>hi{E}{S}<|Bot|><think>"


def test_a_system_message_is_appended_to_the_built_in_one(spark: ChatTemplate) -> None:
    text = spark.render([Message("system", "Be brief."), Message("user", "hi"), Message("system", "Stop.")])
    assert text.startswith(f"{SYSTEM}\n\nBe brief.{E}{S}<|User|>hi{E}{S}<|System|>\nStop.{E}")


def test_tools_are_glued_to_the_built_in_line_one_json_object_each(spark: ChatTemplate) -> None:
    text = spark.render([Message("system", "Be brief."), Message("user", "hi")], [TAP, TAP])
    assert text.startswith(
        f"{SYSTEM}## Tools\nYou have access to the following functions:\n<tools>\n"
        f"{TAP_LINE}\n{TAP_LINE}\n</tools>\n\nBe brief.{E}"
    )


@pytest.mark.parametrize(("thinking", "opening"), [(True, "<think>"), (False, "</think>")])
def test_the_next_turn_begins_inside_or_after_the_thinking_tags(
    spark: ChatTemplate, thinking: bool, opening: str
) -> None:
    assert spark.render([Message("user", "hi")], thinking=thinking).endswith(f"{S}<|Bot|>{opening}")


def test_thinking_is_on_by_default(spark: ChatTemplate) -> None:
    assert spark.render([Message("user", "hi")]) == spark.render([Message("user", "hi")], thinking=True)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Message("assistant", "done"), "</think>done"),
        (Message("assistant", "done", reasoning="it is on"), "<think>it is on</think>done"),
        (Message("assistant", "", tool_name="wait"), "</think><tool_call>wait</tool_call>"),
        (
            Message("assistant", "", reasoning="Wi-Fi", tool_name="tap", tool_arguments={"index": 3}),
            "<think>Wi-Fi</think><tool_call>tap<arg_key>index</arg_key><arg_value>3</arg_value></tool_call>",
        ),
        (
            Message("assistant", "", tool_name="type_text", tool_arguments={"index": 1, "text": 'a "b" <c> é\n'}),
            "</think><tool_call>type_text<arg_key>index</arg_key><arg_value>1</arg_value>"
            '<arg_key>text</arg_key><arg_value>a "b" <c> é\n</arg_value></tool_call>',
        ),
    ],
)
def test_an_assistant_turn_is_written_back_as_the_model_wrote_it(
    spark: ChatTemplate, message: Message, expected: str
) -> None:
    assert f"{S}<|Bot|>{expected}{E}" in spark.render([Message("user", "hi"), message])


def test_tool_results_that_follow_each_other_share_one_turn(spark: ChatTemplate) -> None:
    history = [Message("user", "hi"), Message("tool", "one"), Message("tool", "two"), Message("user", "go")]
    expected = f"{S}<|Tool|><tool_response>one</tool_response><tool_response>two</tool_response>{E}{S}<|User|>go{E}"
    assert expected in spark.render(history)


def test_the_prompt_of_a_step_continues_the_prompt_of_the_step_before(spark: ChatTemplate) -> None:
    first = [Message("system", "x"), Message("user", "hi")]
    prompt = spark.render(first, [TAP])
    reply = Message("assistant", "", reasoning="look", tool_name="tap", tool_arguments={"index": 3})
    written = "look</think><tool_call>tap<arg_key>index</arg_key><arg_value>3</arg_value></tool_call>"
    assert spark.render([*first, reply, Message("tool", "done")], [TAP]).startswith(prompt + written + E)


def test_a_turn_has_the_form_that_templates_read() -> None:
    message = Message("assistant", "", reasoning="why", tool_name="tap", tool_arguments={"index": 3})
    assert as_template_message(message) == {
        "role": "assistant",
        "content": "",
        "reasoning_content": "why",
        "tool_calls": [{"type": "function", "function": {"name": "tap", "arguments": {"index": 3}}}],
    }
    assert as_template_message(Message("tool", "ok", tool_name="tap")) == {"role": "tool", "content": "ok"}


class TestEnvironment:
    def test_json_keeps_markup_and_letters(self) -> None:
        template = ChatTemplate("{{ messages[0] | tojson }}")
        assert template.render([Message("user", "<b>&'é")]) == '{"role": "user", "content": "<b>&\'é"}'

    def test_json_may_be_indented(self) -> None:
        assert ChatTemplate("{{ [1] | tojson(indent=2) }}").render([]) == "[\n  1\n]"

    def test_blocks_leave_no_lines_and_no_indent(self) -> None:
        source = "{% if true %}\n  {% for m in messages %}\nx\n  {% endfor %}\n{% endif %}\n"
        assert ChatTemplate(source).render([Message("user", ""), Message("user", "")]) == "x\nx\n"

    def test_loops_may_be_left(self) -> None:
        source = "{% for m in messages %}{% if loop.index == 2 %}{% break %}{% endif %}{{ m.content }}{% endfor %}"
        assert ChatTemplate(source).render([Message("user", "a"), Message("user", "b")]) == "a"

    def test_special_tokens_have_their_names(self) -> None:
        assert ChatTemplate("{{ bos_token }}", {"bos_token": S}).render([]) == S

    def test_no_tools_are_none(self) -> None:
        assert ChatTemplate("{{ tools is none }}").render([]) == "True"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("{% if %}", "chat_template.jinja failed (line 1)"),
            ("{{ raise_exception('no images here') }}", "no images here"),
            ("{{ messages[0].content.items() }}", "items"),
            ("{{ strftime_now('%Y') }}", "strftime_now"),
            ("{{ missing.field }}", "missing"),
            ("{{ 1 + 'a' }}", "unsupported operand"),
            ("{{ ''.__class__.__mro__ }}", "unsafe"),
            ("{{ messages.append(1) }}", "unsafe"),
            ("{{ {} | tojson(indent=messages) }}", "failed"),
        ],
    )
    def test_a_template_that_fails_is_an_error_of_the_checkpoint(self, source: str, message: str) -> None:
        with pytest.raises(CheckpointError) as caught:
            ChatTemplate(source).render([Message("user", "hi")])
        assert message in caught.value.message
        assert caught.value.hint

    def test_a_missing_template_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(CheckpointError, match=r"chat_template\.jinja cannot be read"):
            ChatTemplate.from_folder(tmp_path)
