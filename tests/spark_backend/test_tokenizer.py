from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.tokenizer import SparkTokenizer


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> SparkTokenizer:
    return SparkTokenizer.from_folder(checkpoint)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(tokenizer: SparkTokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("text", ["7:30 AM — Wi‑Fi", "设置 网络", "<tool_call>tap</tool_call>", "  two  spaces\n"])
def test_spaces_scripts_and_special_tokens_come_back(tokenizer: SparkTokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_special_token_in_the_text_is_one_token(tokenizer: SparkTokenizer) -> None:
    ids = tokenizer.encode("a<tool_call>b")
    assert ids[1] == tokenizer.token_id("<tool_call>")
    assert len(ids) == 3
    assert tokenizer.token(ids[1]) == "<tool_call>"


def test_nothing_is_added_in_front(tokenizer: SparkTokenizer) -> None:
    assert tokenizer.encode("") == []
    assert len(tokenizer.encode("ab")) == 2


def test_a_token_that_is_not_there_is_none(tokenizer: SparkTokenizer) -> None:
    assert tokenizer.token_id("<|nothing|>") is None
    assert tokenizer.token(10_000_000) is None


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read"):
        SparkTokenizer.from_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is no tokenizer"):
        SparkTokenizer.from_folder(tmp_path)


def test_what_an_author_cut_or_padded_does_not_touch_prompts(checkpoint: Path) -> None:
    content = json.loads((checkpoint / "tokenizer.json").read_text("utf-8"))
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    padded = {
        "strategy": {"Fixed": 64},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 2,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    changed = SparkTokenizer.from_json(json.dumps(content | {"truncation": cut, "padding": padded}))
    assert len(changed.encode("a text of some length")) == 21


def test_the_largest_id_counts_gaps(checkpoint: Path) -> None:
    content = json.loads((checkpoint / "tokenizer.json").read_text("utf-8"))
    content["model"]["vocab"]["<far>"] = 5000
    tokenizer = SparkTokenizer.from_json(json.dumps(content))
    assert (tokenizer.size, tokenizer.largest_id) == (321, 5000)
