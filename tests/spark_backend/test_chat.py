from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.chat import ChatTemplate, as_template_message
from agent_eval.types import Message, WrittenCall


def test_a_turn_has_the_form_that_templates_read() -> None:
    message = Message("assistant", "", reasoning="why", tool_name="tap", tool_arguments={"index": 3})
    assert as_template_message(message) == {
        "role": "assistant",
        "content": "",
        "reasoning_content": "why",
        "tool_calls": [{"type": "function", "function": {"name": "tap", "arguments": {"index": 3}}}],
    }
    further = Message("assistant", "", tool_name="wait", further_calls=(WrittenCall("tap", {"index": "3"}),))
    assert [call["function"] for call in as_template_message(further)["tool_calls"]] == [
        {"name": "wait", "arguments": {}},
        {"name": "tap", "arguments": {"index": "3"}},
    ]
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
        assert ChatTemplate("{{ bos_token }}", {"bos_token": "<s>"}).render([]) == "<s>"

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
