"""The tokenizer: what our four rules and byte merges make of a text, and what llama.cpp's ``spark2_5`` makes of it."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, trainers
from tokenizers.pre_tokenizers import ByteLevel

from agent_eval.spark_backend.checkpoints.loader import Card
from agent_eval.spark_backend.checkpoints.synthetic import SYNTHETIC_TEMPLATE
from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
from agent_eval.spark_backend.llama import library
from agent_eval.spark_backend.llama.convert import convert
from agent_eval.spark_backend.llama.mixture import MIXTURES
from agent_eval.spark_backend.model import initial_weights
from agent_eval.spark_backend.pretokenizer import spark_pre_tokenizer
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from tests.spark_backend.configs import SMALL

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.peers

SPECIAL = ["<｜start▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<pad>", "<think>", "</think>", "<|User|>"]
SAMPLES = [
    "Turn on Wi-Fi, it's off.\n\n[3] Wi-Fi (switch, off)\n[4] Battery: 82% (row)",
    "打开设置里的无线网络。設定を開く。 설정 열기 Öffne die Einstellungen: naïve café, e\u0301t\u0301e",
    '{"name": "tap", "parameters": {"index": 12345}}\r\n\tif a_b.c >= 1.5e-3:\n\t\treturn   x  # done\n',
]
ALPHABET = [*"aZéß 7٣²½'._-(<|>«¥+=设あア한\n\r\t", "\u00a0", "\u3000", "\u0308", "  ", "the", " on", "\n\n", "123"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = spark_pre_tokenizer(), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False, initial_alphabet=ByteLevel.alphabet())
    made.train_from_iterator(SAMPLES * 20, trainer)
    made.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL])
    path = tmp_path_factory.mktemp("tokens") / "checkpoint"
    config = replace(SMALL, vocab_size=640)
    save_checkpoint(
        path,
        config,
        initial_weights(config, torch.Generator().manual_seed(0)),
        tokenizer_json=made.to_str(),
        chat_template=SYNTHETIC_TEMPLATE,
        card=Card(name="tokens", kind="synthetic"),
    )
    return path


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Callable[[str], list[int]]:
    llama = library.load()
    file = folder.parent / "tokens.gguf"
    convert(folder, MIXTURES["llama-fp32"], file)
    model = llama.llama_model_load_from_file(str(file).encode(), llama.llama_model_default_params())
    assert model, llama.last_words
    vocabulary = llama.llama_model_get_vocab(model)
    cut = llama.llama_tokenize
    cut.restype = ctypes.c_int32
    room = 4096
    cut.argtypes = (
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int32),
        ctypes.c_int32,
        ctypes.c_bool,
        ctypes.c_bool,
    )

    def tokens(text: str) -> list[int]:
        found = (ctypes.c_int32 * room)()
        data = text.encode()
        count = cut(vocabulary, data, len(data), found, room, False, True)
        assert count >= 0, "the text has more tokens than there is room for"
        return list(found[:count])

    return tokens


def test_texts_are_cut_into_the_same_tokens(folder: Path, theirs: Callable[[str], list[int]]) -> None:
    ours, rng = SparkTokenizer.from_folder(folder), random.Random(0)
    texts = [*SAMPLES, "<｜start▁of▁sentence｜><|User|>hi<｜end▁of▁sentence｜>"]
    texts += ["".join(rng.choices(ALPHABET, k=rng.randrange(1, 24))) for _ in range(3000)]
    different = [text for text in texts if ours.encode(text) != theirs(text)]
    assert different == []
