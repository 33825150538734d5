"""The four rules that cut a text before bytes are merged."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, trainers

from agent_eval.spark_backend.pretokenizer import spark_pre_tokenizer
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from tests.spark_backend.official import slow_splits

SPLIT = spark_pre_tokenizer()


def pieces(text: str) -> list[str]:
    return [text[start:end] for _, (start, end) in SPLIT.pre_tokenize_str(text)]


TABLE = [
    ("", []),
    # every numeral for itself, in any script
    ("7", ["7"]),
    ("12345", ["1", "2", "3", "4", "5"]),
    ("at 7:30 PM", ["at", " ", "7", ":", "3", "0", " PM"]),
    ("v2.0", ["v", "2", ".", "0"]),
    ("x² ½ Ⅷ ٣", ["x", "²", " ", "½", " ", "Ⅷ", " ", "٣"]),
    # ideographs and kana in runs, apart from what stands beside them
    ("打开Wi-Fi设置", ["打开", "Wi", "-Fi", "设置"]),
    ("ひらがなカタカナ漢字", ["ひらがなカタカナ漢字"]),
    (" 设置 ", [" ", "设置", " "]),
    ("第3页", ["第", "3", "页"]),
    ("한국어", ["한국어"]),  # hangul is letters like any other
    ("\u9fa6\u9fa5", ["\u9fa6", "\u9fa5"]),  # the run of ideographs ends at U+9FA5
    # words take one blank; marks belong to letters
    ("turn on  Wi-Fi", ["turn", " on", " ", " Wi", "-Fi"]),
    ("na\u00efve nai\u0308ve", ["na\u00efve", " nai\u0308ve"]),
    ("\u0308a \u0308", ["\u0308a", " \u0308"]),
    ("\ta\u00a0b\u3000c", ["\ta", "\u00a0b", "\u3000c"]),
    # a mark of ASCII takes the letters behind it, and only letters of ASCII
    ("it's a_b.com (ok)", ["it", "'s", " a", "_b", ".com", " (", "ok", ")"]),
    ("-é", ["-", "é"]),
    ("...abc .d", ["...", "abc", " .", "d"]),
    ("«a»", ["«", "a", "»"]),
    # other marks and symbols in runs, with one space before them
    ("a -- b", ["a", " --", " b"]),
    ("a  --", ["a", " ", " --"]),
    ("1+1=2", ["1", "+", "1", "=", "2"]),
    ("<tool_call>tap</tool_call>", ["<tool", "_call", ">tap", "</", "tool", "_call", ">"]),
    ("¥5 €", ["¥", "5", " €"]),
    # line breaks one at a time, and never with what stands before them
    ("a\n\nb\r\nc", ["a", "\n", "\n", "b", "\r", "\n", "c"]),
    ("a.\n", ["a", ".", "\n"]),
    ("a \n b", ["a", " \n", " b"]),
    # blanks at the end stay together, before a word the last one is the word's
    ("a   ", ["a", "   "]),
    ("a   b", ["a", "  ", " b"]),
    ("a   7", ["a", "   ", "7"]),
    ("\t\t{", ["\t", "\t", "{"]),
    # what no rule knows stays as it is, or goes before a word
    ("\u200b\u200b", ["\u200b\u200b"]),
    ("\u200b\u200ba", ["\u200b", "\u200ba"]),
]


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_a_text_is_cut_by_the_four_rules(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_the_slow_twin_cuts_the_same(text: str, expected: list[str]) -> None:
    assert slow_splits.splits(text) == expected


# letters of Unicode 10 and before, so that both sides know them whatever their tables' version
OLD = st.characters(max_codepoint=0x9FFF, exclude_categories=["Cs", "Cn"]).filter(
    lambda c: unicodedata.ucd_3_2_0.category(c) == unicodedata.category(c)
)
TEXTS = st.text(st.sampled_from(" \n\r\t\u00a0\u3000\u200b7٣²aZéß'._-(<|>«¥+设あア한\u0308\u0903\x1c\x85") | OLD)


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_any_text_is_cut_as_the_slow_twin_cuts_it(text: str) -> None:
    assert pieces(text) == slow_splits.splits(text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_pieces_of_any_text_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


@pytest.fixture(scope="module")
def tokenizer() -> SparkTokenizer:
    """A small tokenizer of the published kind: byte-level BPE behind the four rules, read from its JSON."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = spark_pre_tokenizer()
    trained.decoder = decoders.ByteLevel()
    texts = ["1234 1234 turn on Wi-Fi\n\n打开设置打开设置 it's it.com"] * 50
    trained.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=[]))
    content = trained.to_str()
    assert [part["type"] for part in json.loads(content)["pre_tokenizer"]["pretokenizers"]] == [
        *["Split"] * 4,
        "ByteLevel",
    ]
    return SparkTokenizer.from_json(content)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1234", ["1", "2", "3", "4"]),
        ("12 turn", ["1", "2", " turn"]),
        ("\n\n", ["\n", "\n"]),
        ("打开设置", ["打开设置"]),
        ("it.com", ["it", ".com"]),
        ("it's", ["it", "'s"]),
    ],
)
def test_merges_never_cross_a_cut(tokenizer: SparkTokenizer, text: str, tokens: list[str]) -> None:
    ids = tokenizer.encode(text)
    assert [tokenizer.decode([i]) for i in ids] == tokens
