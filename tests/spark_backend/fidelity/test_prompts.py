from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.fidelity.prompts import DEFAULT_PROMPTS, Prompt, read_prompts
from agent_eval.types import Message


def file_of(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "prompts"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_twelve_prompts_come_with_the_program() -> None:
    assert len({prompt.name for prompt in DEFAULT_PROMPTS}) == len(DEFAULT_PROMPTS) == 12
    kinds = Counter((isinstance(prompt.content, str), prompt.with_tools) for prompt in DEFAULT_PROMPTS)
    assert kinds == {(True, False): 9, (False, False): 2, (False, True): 1}


def test_lines_are_prompts_and_empty_ones_are_none(tmp_path: Path) -> None:
    found = read_prompts(file_of(tmp_path, "one two \n\n  \nthree\n"))
    assert found == (Prompt("prompt 1", "one two "), Prompt("prompt 2", "three"))


def test_a_list_holds_texts_and_conversations(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}], "tools": True}
    found = read_prompts(file_of(tmp_path, json.dumps(["two\nlines", chat])))
    assert found == (
        Prompt("prompt 1", "two\nlines"),
        Prompt("prompt 2", (Message("system", "Be brief."), Message("user", "Hi")), with_tools=True),
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no prompt"),
        ("\n \n", "holds no prompt"),
        ("[]", "holds no prompt"),
        ('["a"', "begins as a JSON list and is none"),
        ('[""]', "element 1"),
        ('["a", 3]', "element 2"),
        ('[{"messages": []}]', "element 1"),
        ('[{"messages": [{"role": "robot", "content": "x"}]}]', "element 1"),
        ('[{"messages": [{"role": "user"}]}]', "element 1"),
        ('[{"messages": [{"role": "user", "content": "x"}], "tools": "yes"}]', "element 1"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_what_is_no_prompt_is_named(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(OperatorError, match=said) as caught:
        read_prompts(file_of(tmp_path, content))
    assert caught.value.hint


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot be read"):
        read_prompts(tmp_path / "none")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["messages", "role", "content", "tools"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=3).map(json.dumps) | st.text(max_size=40))
def test_any_file_is_read_or_refused_in_words(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = tmp_path_factory.mktemp("prompts") / "file"
    path.write_text(content, encoding="utf-8", errors="ignore")
    try:
        found = read_prompts(path)
    except OperatorError:
        return
    assert all(prompt.content for prompt in found)
