"""A tokenizer, a template or a config of another model is told before weights are opened."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.fitting import require_fit
from agent_eval.spark_backend.checkpoints.synthetic import SYNTHETIC_TEMPLATE
from agent_eval.spark_backend.spark import SparkModel, special_tokens, stop_tokens
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.wiring import EMBEDDED
from tests.spark_backend.configs import SMALL

OFFICIAL = Path(__file__).parent.parent / "official" / "template.jinja"


def parts(folder: Path) -> tuple[SparkConfig, SparkTokenizer, ChatTemplate, frozenset[int]]:
    config, tokenizer = SparkConfig.from_folder(folder), SparkTokenizer.from_folder(folder)
    template = ChatTemplate.from_folder(folder, special_tokens(config, tokenizer))
    return config, tokenizer, template, stop_tokens(config, tokenizer)


def test_the_parts_of_one_checkpoint_fit(checkpoint: Path) -> None:
    require_fit(*parts(checkpoint))
    require_fit(*parts(EMBEDDED["nano"]))


Tokens = dict[str, int]


def larger(vocabulary: Tokens) -> None:
    vocabulary["<extra>"] = 320


def with_a_gap(vocabulary: Tokens) -> None:
    vocabulary["<unused5>"] = 5000


BAD_TOKENIZERS: list[tuple[Callable[[Tokens], None], str]] = [
    (larger, "tokenizer.json has 321 tokens with ids up to 320, expected ids below vocab_size, 320"),
    (with_a_gap, "with ids up to 5000, expected ids below vocab_size, 320"),
]


@pytest.mark.parametrize(("change", "message"), BAD_TOKENIZERS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_tokenizer_with_tokens_beyond_the_model_is_named(
    checkpoint: Path, change: Callable[[Tokens], None], message: str
) -> None:
    config, _, template, stop = parts(checkpoint)
    data = json.loads((checkpoint / "tokenizer.json").read_text("utf-8"))
    change(data["model"]["vocab"])
    with pytest.raises(CheckpointError) as caught:
        require_fit(config, SparkTokenizer.from_json(json.dumps(data)), template, stop)
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bos_token_id": 319}, "bos_token_id is 319, and tokenizer.json has no token of this id"),
        ({"eos_token_ids": (1, 318)}, "eos_token_id is 318, and tokenizer.json has no token of this id"),
        (
            {"eos_token_ids": (7,)},
            "holds none of the tokens that end one: '<unk>' (7)",
        ),
    ],
)
def test_a_config_of_another_tokenizer_is_named(checkpoint: Path, change: dict[str, object], message: str) -> None:
    content = json.loads((checkpoint / "tokenizer.json").read_text("utf-8"))
    for token in [token for token, i in content["model"]["vocab"].items() if i >= 300]:
        del content["model"]["vocab"][token]
    config, tokenizer = replace(SMALL, **change), SparkTokenizer.from_json(json.dumps(content))  # type: ignore[arg-type]
    with pytest.raises(CheckpointError) as caught:
        require_fit(config, tokenizer, ChatTemplate.from_folder(checkpoint), stop_tokens(config, tokenizer))
    assert message in caught.value.message


def test_a_template_of_another_tokenizer_is_named_with_the_mark_that_shows_it(checkpoint: Path) -> None:
    config, tokenizer, _, stop = parts(checkpoint)
    with pytest.raises(CheckpointError, match=r"writes <\|Bot\|>, expected one token; tokenizer.json makes 7 of it"):
        require_fit(config, tokenizer, ChatTemplate.from_folder(EMBEDDED["nano"]), stop)
    with pytest.raises(CheckpointError, match=r"expected one token"):
        require_fit(config, tokenizer, ChatTemplate(OFFICIAL.read_text("utf-8")), stop)


def test_a_template_that_never_ends_a_turn_is_refused(checkpoint: Path) -> None:
    config, tokenizer, _, stop = parts(checkpoint)
    endless = ChatTemplate(SYNTHETIC_TEMPLATE.replace("{{- '<|end|>' }}", ""))
    with pytest.raises(CheckpointError, match=r"holds none of the tokens that end one: '<\|end\|>' \(1\)"):
        require_fit(config, tokenizer, endless, stop)


def test_the_tokenizer_of_another_checkpoint_is_refused_before_weights_are_opened(
    checkpoint: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint, tmp_path / "copy"))
    shutil.copy(EMBEDDED["nano"] / "tokenizer.json", folder)
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json has \d+ tokens with ids up to"):
        SparkModel.load(folder, "bf16", threads=1)


def test_text_may_come_from_another_folder(checkpoint: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint, tmp_path / "weights"))
    (folder / "tokenizer.json").unlink()
    (folder / "chat_template.jinja").unlink()
    assert SparkModel.load(folder, "bf16", threads=1, text=checkpoint)
