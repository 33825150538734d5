"""Targets are the expert's tokens, up to where the played turn parts from them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from agent_eval.actions import PressKey, Tap, ToolCall, Wait
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.nano.encode import IGNORED, Sample, encode_demonstration, expert_message
from agent_eval.spark_backend.nano.vocabulary import CHAT_TEMPLATE, train_tokenizer, with_and_without_space
from agent_eval.types import Message

TEMPLATE = ChatTemplate(CHAT_TEMPLATE)
TAP = "<tool_call>tap<arg_key>index</arg_key><arg_value>"
SCREEN = "Task: Turn on Wi-Fi.\nApp: Settings\n[0] Internet (row)\n[1] Wi-Fi (switch, off)"
EXPERT = ToolCall(Tap(index=1), thought="Wi-Fi: off")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer(
        [SCREEN, " Wi-Fi: off", "back"] * 30, [TAP, "<tool_call>wait</tool_call>"], [" Add alarm", " Wi-Fi"], 600
    )


def render(messages: Sequence[Message], opened: bool) -> str:
    return TEMPLATE.render(messages, open_turn=opened)


def encoded(tokenizer: Tokenizer, played: ToolCall, expert: ToolCall | None) -> Sample:
    messages = [Message("user", SCREEN), expert_message(played), Message("tool", "Tapped."), expert_message(EXPERT)]
    return encode_demonstration(messages, [expert, EXPERT], render, tokenizer)


def taught(tokenizer: Tokenizer, sample: Sample) -> str:
    return tokenizer.decode([int(t) for t in sample.targets if t != IGNORED], skip_special_tokens=False)


def text(tokenizer: Tokenizer, sample: Sample) -> str:
    return tokenizer.decode([int(i) for i in sample.ids], skip_special_tokens=False)


TURN = f" Wi-Fi: off</think>{TAP}1</arg_value></tool_call><|end|>"


def test_the_whole_conversation_is_read_as_the_model_will_see_it(tokenizer: Tokenizer) -> None:
    sample = encoded(tokenizer, EXPERT, EXPERT)
    assert text(tokenizer, sample) == (f"<|User|>{SCREEN}<|Bot|><think>{TURN}<|Tool|>Tapped.<|Bot|><think>{TURN}")


def test_every_token_of_the_experts_turns_is_taught_and_no_other(tokenizer: Tokenizer) -> None:
    assert taught(tokenizer, encoded(tokenizer, EXPERT, EXPERT)) == TURN + TURN


def test_each_target_is_the_token_after_its_position(tokenizer: Tokenizer) -> None:
    sample = encoded(tokenizer, EXPERT, EXPERT)
    assert len(sample.ids) == len(sample.targets)
    assert all(t in (IGNORED, n) for t, n in zip(sample.targets[:-1], sample.ids[1:], strict=True))


def test_a_wrong_turn_teaches_up_to_the_token_at_which_it_parts(tokenizer: Tokenizer) -> None:
    wrong = encoded(tokenizer, ToolCall(Tap(index=0), thought="Wi-Fi: off"), EXPERT)
    assert taught(tokenizer, wrong) == f" Wi-Fi: off</think>{TAP}1" + TURN
    other = encoded(tokenizer, ToolCall(PressKey(key="back"), thought="back"), EXPERT)
    first = tokenizer.encode(" Wi-Fi", add_special_tokens=False).ids[0]
    assert taught(tokenizer, other) == tokenizer.decode([first]) + TURN


def test_a_turn_without_an_expert_teaches_nothing(tokenizer: Tokenizer) -> None:
    assert taught(tokenizer, encoded(tokenizer, ToolCall(Wait()), None)) == TURN


@given(st.from_regex(r"[A-Za-z&'/-]{1,12}", fullmatch=True))
def test_a_word_is_cut_into_the_same_pieces_with_and_without_a_space(tokenizer: Tokenizer, word: str) -> None:
    def pieces(text: str) -> list[str]:
        return tokenizer.encode(text, add_special_tokens=False).tokens

    first, *others = pieces(word)
    joined = ["\u0120" + first] if "\u0120" + first in tokenizer.get_vocab() else ["\u0120", first]
    assert pieces(f" {word}") == [*joined, *others]


def test_each_piece_with_a_space_is_paired_with_the_piece_alone(tokenizer: Tokenizer) -> None:
    pairs = with_and_without_space(tokenizer)
    assert len(pairs) > 52  # letters at the least
    for spaced, alone in pairs:
        assert tokenizer.decode([spaced]) == " " + tokenizer.decode([alone])


@given(st.text())
def test_every_text_is_read_back_as_it_was(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


def test_no_two_tokens_are_of_one_text(tokenizer: Tokenizer) -> None:
    texts = [tokenizer.decode([token], skip_special_tokens=False) for token in range(tokenizer.get_vocab_size())]
    whole = [text for text in texts if "\ufffd" not in text]  # bytes of a longer character are none by themselves
    assert len(set(whole)) == len(whole)


def test_the_end_of_a_line_is_one_token(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode(SCREEN, add_special_tokens=False).tokens
    assert [token for token in tokens if "(" in token] == [" (row)", " (switch, off)"]


def test_the_start_of_a_line_is_one_token(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode(SCREEN, add_special_tokens=False).tokens
    assert [token for token in tokens if "[" in token] == ["\n[0]", "\n[1]"]


@pytest.mark.parametrize(("words", "whole"), [("[3] Add alarm (button)", True), ("[3] Add alarms", False)])
def test_a_phrase_of_the_phone_is_one_token_where_it_stands_as_words(
    tokenizer: Tokenizer, words: str, whole: bool
) -> None:
    assert (" Add alarm" in tokenizer.encode(words, add_special_tokens=False).tokens) == whole


def test_a_phrase_that_is_one_word_to_the_tokenizer_is_not_a_second_token_of_the_same_text(
    tokenizer: Tokenizer,
) -> None:
    """Byte-level tokens write a space as Ġ; added ones are written as they are."""
    texts = [text.replace("Ġ", " ") for text in tokenizer.get_vocab()]
    assert " Wi-Fi" in texts
    assert len(set(texts)) == len(texts)


def test_a_number_is_one_token_wherever_it_stands(tokenizer: Tokenizer) -> None:
    vocabulary = tokenizer.get_vocab()
    for words in ("30 x", "at 7:30 AM", f"{TAP}30</arg_value></tool_call>"):
        assert vocabulary["30"] in tokenizer.encode(words, add_special_tokens=False).ids


def test_the_opening_of_a_call_is_one_token(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode(f"{TAP}1</arg_value></tool_call>", add_special_tokens=False).tokens == [
        *(TAP, "1", "</arg_value></tool_call>")
    ]


@pytest.mark.parametrize("words", ["Grüße 你好 🙂\n\t", SCREEN, "a  b", "‹|User|›", "100% of 2026"])
def test_any_text_survives_the_tokenizer(tokenizer: Tokenizer, words: str) -> None:
    assert tokenizer.decode(tokenizer.encode(words, add_special_tokens=False).ids, skip_special_tokens=False) == words


def test_without_thinking_the_turn_opens_after_the_thought() -> None:
    assert TEMPLATE.render([Message("user", "x")], thinking=False).endswith("<|Bot|><think></think>")
