from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.llama.gguf import BlockType
from agent_eval.spark_backend.llama.mixture import MIXTURES, is_llama, metadata, tensors
from tests.spark_backend.configs import SMALL, SPARK_1_7B, SPARK_4B

Q4_K_M = MIXTURES["q4_k_m"]


def types(config: SparkConfig) -> dict[str, BlockType]:
    return {tensor.name: tensor.type for tensor in tensors(config, Q4_K_M)}


# Bytes of the published Spark-X2.5-*-Q4_K_M.gguf. What a file holds besides tensors is its header: the tokenizer, which
# is the same in both, and an entry of about 60 bytes for each tensor.
@pytest.mark.parametrize(("config", "published"), [(SPARK_1_7B, 1_107_457_856), (SPARK_4B, 2_600_224_352)])
def test_the_mixture_has_the_size_of_the_published_files(config: SparkConfig, published: int) -> None:
    named = list(tensors(config, Q4_K_M))
    header = published - sum(tensor.type.bytes_of(tensor.shape) for tensor in named) - 60 * len(named)
    assert 5_365_000 < header < 5_375_000


def test_the_first_and_last_layers_and_each_third_between_keep_more_bits() -> None:
    found = types(SPARK_1_7B)
    raised = {layer for layer in range(28) if found[f"blk.{layer}.ffn_down.weight"] is BlockType.Q6_K}
    assert raised == {0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27}
    assert raised == {layer for layer in range(28) if found[f"blk.{layer}.attn_qkv.weight"] is BlockType.Q6_K}


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("token_embd.weight", BlockType.Q6_K),
        ("output_norm.weight", BlockType.F32),
        ("blk.4.attn_norm.weight", BlockType.F32),
        ("blk.4.attn_gate.weight", BlockType.Q4_K),
        ("blk.4.attn_output.weight", BlockType.Q4_K),
        ("blk.4.ffn_gate.weight", BlockType.Q4_K),
        ("blk.4.ffn_up.weight", BlockType.Q4_K),
        ("blk.4.ffn_norm.weight", BlockType.F32),
    ],
)
def test_the_other_tensors_have_one_type(name: str, type_: BlockType) -> None:
    assert types(SPARK_1_7B)[name] is type_


def test_a_head_of_its_own_takes_the_bits_of_the_embedding() -> None:
    found = types(replace(SPARK_1_7B, tie_word_embeddings=False))
    assert (found["output.weight"], found["token_embd.weight"]) == (BlockType.Q6_K, BlockType.Q4_K)


def test_rows_that_are_no_whole_blocks_fall_back_as_in_its_own_quantiser() -> None:
    found = types(SMALL)  # widths of 64 and 96, no multiples of 256
    assert found["token_embd.weight"] is BlockType.Q8_0
    assert found["blk.0.ffn_up.weight"] is BlockType.Q5_0
    assert types(replace(SMALL, hidden_size=72))["blk.0.ffn_up.weight"] is BlockType.F16


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("tied", [True, False])
def test_every_tensor_of_a_checkpoint_is_written_once(name: str, tied: bool) -> None:
    config = replace(SMALL, tie_word_embeddings=tied)
    named = list(tensors(config, MIXTURES[name]))
    assert Counter(tensor.origin for tensor in named) == Counter(dict.fromkeys(config.tensor_shapes(), 1))
    assert all(tensor.shape == config.tensor_shapes()[tensor.origin] for tensor in named)
    assert len({tensor.name for tensor in named}) == len(named)


def test_the_metadata_says_what_the_layers_differ_in() -> None:
    found = metadata(SPARK_1_7B, Q4_K_M, "Spark")
    assert found["spark2_5.attention.sliding_window_pattern"] == [True, True, True, False] * 7
    assert (found["spark2_5.rope.dimension_count"], found["spark2_5.rope.dimension_count_swa"]) == (64, 256)
    assert (found["spark2_5.rope.freq_base"], found["spark2_5.rope.freq_base_swa"]) == (5e6, 1e4)
    assert found["general.file_type"] == 15


def test_another_gate_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"gate_attn_act_mode is 'silu'; llama\.cpp computes"):
        metadata(replace(SMALL, gate_activation="silu"), Q4_K_M, "any")


@pytest.mark.parametrize(
    ("name", "answer"), [("q4_k_m", True), ("llama-bf16", True), ("w4a8", False), ("Q4_K_M", False)]
)
def test_builds_of_llama_are_told_by_their_name(name: str, answer: bool) -> None:
    assert is_llama(name) is answer


def test_a_model_without_sliding_layers_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"layer_types has full_attention only; llama\.cpp computes no model"):
        metadata(replace(SMALL, layer_types=("full_attention",) * 4), Q4_K_M, "any")
