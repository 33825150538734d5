from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.actions import ToolCall
from agent_eval.agent import parse_reply
from agent_eval.spark_backend.fidelity.parts import PARTS, ends_of, first_call, parts_of
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.wiring import EMBEDDED

LETTERS = {"t": "thought", "n": "name", "d": "declaration", "a": "arguments", "r": "rest"}

REPLIES = [
    (" Wi-Fi¦, on¦</think>¦<tool_call>¦tap¦<arg_key>¦index¦</arg_key>¦<arg_value>¦5¦</arg_value>¦</tool_call>¦<|end|>",
     "ttrrnrarrarrr"),
    ("ok¦</think>¦<tool_call>tap<arg_key>index</arg_key><arg_value>¦1¦2¦</arg_value></tool_call>", "trnaar"),
    ("ok</think><tool_call>ta¦p¦</tool_call>", "nnr"),
    ("done¦</think>¦<tool_call>task_¦complete¦</tool_call>", "trddr"),
    ("</think>¦<tool_call>give_up<arg_key>¦reason</arg_key><arg_value>¦no¦ way¦</arg_value></tool_call>", "rdaaar"),
    ("<tool_call>¦wait¦</tool_call>", "rnr"),
    ("hm ¦<tool_call>¦wait¦</tool_call>¦</think>¦so", "trnrrr"),
    ("let me¦ think", "rr"),
    ("let me¦</think>¦ talk", "trr"),
    ("</think>¦<tool_call>¦type_text¦<arg_key>¦text¦</arg_key>¦<arg_value>¦a", "rrnrarra"),
    ("</think>¦<tool_call>¦wait¦</tool_call>¦<tool_call>¦tap¦</tool_call>", "rrnrrrr"),
    ("a¦</think>¦<tool_call>¦¦wait", "trrnn"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "letters"), REPLIES)
def test_each_token_is_of_the_part_that_it_writes(text: str, letters: str) -> None:
    pieces = text.split("¦")
    found = parts_of("".join(pieces), list(accumulate(map(len, pieces))))
    assert found == tuple(LETTERS[letter] for letter in letters)


WORDS = ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "</think>", "<think>",
         "tap", "wait", "task_complete", "index", "5", " ", "\n", "ok"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_the_call_is_the_one_that_the_parser_understands(words: list[str]) -> None:
    text = "".join(words)
    reply, call = parse_reply(text), first_call(text)
    if isinstance(reply, ToolCall) and reply.source == "native":
        assert call is not None
        assert call.name == reply.action.name
        assert text.startswith("<tool_call>", call.opening)
    if call is None:
        assert not isinstance(reply, ToolCall) or reply.source != "native"
    assert set(parts_of(text, list(accumulate(map(len, words))))) <= set(PARTS)


@given(st.text(max_size=30))
def test_ends_grow_to_the_whole_text_whatever_bytes_its_tokens_are(text: str) -> None:
    tokenizer = SparkTokenizer.from_folder(EMBEDDED["nano"])
    ids = tokenizer.encode(text)
    ends = ends_of(tokenizer, ids)
    assert list(ends) == sorted(ends)
    assert len(ends) == len(ids)
    if ids:
        assert ends[-1] == len(tokenizer.decode(ids).rstrip("\ufffd"))


def test_a_character_of_several_tokens_ends_with_its_last() -> None:
    tokenizer = SparkTokenizer.from_folder(EMBEDDED["nano"])
    ids = tokenizer.encode("a🙂b")
    assert len(ids) > 3
    ends = ends_of(tokenizer, ids)
    assert ends[-1] == 3
    assert ends[-2] == 2
    assert ends[0] == 1
