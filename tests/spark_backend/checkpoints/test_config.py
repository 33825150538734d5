from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.spark import SparkModel
from agent_eval.types import Message, Sampling
from tests.spark_backend.configs import SMALL, SPARK_1_7B, SPARK_4B


def published_1_7b() -> dict[str, Any]:
    """The fields of the published config that decide the architecture."""
    return {
        "architectures": ["Spark2_5ForCausalLM"],
        "model_type": "spark2_5",
        "hidden_size": 2048,
        "intermediate_size": 6656,
        "num_hidden_layers": 28,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "hidden_act": "gelu",
        "vocab_size": 131072,
        "max_position_embeddings": 1048576,
        "sliding_window": 512,
        "layer_types": (["sliding_attention"] * 3 + ["full_attention"]) * 7,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
        "attention_dropout": 0.0,
        "headwise_attn_output_gate": True,
        "gate_attn_act_mode": "sigmoid",
        "rope_parameters": {
            "full_attention": {"rope_theta": 5000000, "partial_rotary_factor": 0.25},
            "sliding_attention": {"rope_theta": 10000, "partial_rotary_factor": 1.0},
        },
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 2,
        "dtype": "bfloat16",
        "auto_map": {"AutoConfig": "configuration_spark.Spark2_5Config"},
    }


def test_the_published_config_is_read_as_it_is_meant() -> None:
    config = SparkConfig.from_dict(published_1_7b())
    assert config.layer_types.count("full_attention") == 7
    assert [i for i, kind in enumerate(config.layer_types) if kind == "full_attention"] == [3, 7, 11, 15, 19, 23, 27]
    assert (config.query_width, config.key_width, config.group) == (2048, 512, 4)
    assert config.full_rope.rotary_dim(config.head_dim) == 64
    assert config.sliding_rope.rotary_dim(config.head_dim) == 256
    assert (config.window("sliding_attention"), config.window("full_attention")) == (512, None)


@pytest.mark.parametrize(
    ("config", "parameters", "tensors"), [(SPARK_1_7B, 1_707_657_216, 226), (SPARK_4B, 4_112_079_360, 290)]
)
def test_the_published_models_have_their_published_sizes(config: SparkConfig, parameters: int, tensors: int) -> None:
    assert config.parameters == parameters
    assert len(config.tensor_shapes()) == tensors


def test_query_heads_may_be_wider_together_than_the_hidden_size() -> None:
    shapes = SPARK_4B.tensor_shapes()
    assert shapes["model.layers.0.self_attn.q_k_v_proj.weight"] == (6144, 2560)
    assert shapes["model.layers.0.self_attn.out_proj.weight"] == (2560, 4096)


def test_an_untied_config_has_a_head_of_its_own() -> None:
    untied = SparkConfig.from_dict({**published_1_7b(), "tie_word_embeddings": False})
    assert untied.tensor_shapes()["lm_head.weight"] == (131072, 2048)
    assert "lm_head.weight" not in SPARK_1_7B.tensor_shapes()


@pytest.mark.parametrize("config", [SMALL, SPARK_1_7B, SPARK_4B])
def test_what_is_written_is_read_again(config: SparkConfig) -> None:
    assert SparkConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_layer_types_default_to_three_sliding_and_one_full() -> None:
    data = published_1_7b()
    del data["layer_types"]
    assert SparkConfig.from_dict(data) == SPARK_1_7B


def test_several_end_tokens_are_kept() -> None:
    assert SparkConfig.from_dict({**published_1_7b(), "eos_token_id": [1, 7]}).eos_token_ids == (1, 7)


ABSENT = object()

BAD: list[tuple[str, object, str]] = [
    ("architectures", ["LlamaForCausalLM"], "architectures is ['LlamaForCausalLM']"),
    ("architectures", "Spark2_5ForCausalLM", "architectures is 'Spark2_5ForCausalLM', expected a list"),
    ("model_type", "llama", "model_type is 'llama'"),
    ("hidden_act", "gelu_pytorch_tanh", "hidden_act is 'gelu_pytorch_tanh'"),
    ("attention_bias", True, "attention_bias is True"),
    ("attention_bias", 0, "attention_bias is 0"),
    ("mlp_bias", True, "mlp_bias is True"),
    ("attention_dropout", 0.1, "attention_dropout is 0.1"),
    ("headwise_attn_output_gate", False, "headwise_attn_output_gate is False"),
    ("gate_attn_act_mode", "tanh", "gate_attn_act_mode is 'tanh', expected one of sigmoid, silu"),
    ("hidden_size", ABSENT, "hidden_size is None"),
    ("hidden_size", "2048", "hidden_size is '2048'"),
    ("hidden_size", 0, "hidden_size is 0"),
    ("hidden_size", True, "hidden_size is True"),
    ("intermediate_size", 1.5, "intermediate_size is 1.5"),
    ("num_hidden_layers", 27, "layer_types is '28 entries', expected 27"),
    ("num_hidden_layers", -1, "num_hidden_layers is -1"),
    ("num_attention_heads", 7, "num_attention_heads is 7, expected a multiple of num_key_value_heads (2)"),
    ("num_key_value_heads", 0, "num_key_value_heads is 0"),
    ("head_dim", 255, "head_dim is 255, expected an even number"),
    ("vocab_size", None, "vocab_size is None"),
    ("max_position_embeddings", 0, "max_position_embeddings is 0"),
    ("sliding_window", 0, "sliding_window is 0"),
    ("layer_types", ["full_attention"], "layer_types is '1 entries', expected 28"),
    ("layer_types", ["linear_attention"] * 28, "layer_types[0] is 'linear_attention'"),
    ("layer_types", "full", "layer_types is 'full', expected a list"),
    ("rms_norm_eps", 0, "rms_norm_eps is 0"),
    ("tie_word_embeddings", "yes", "tie_word_embeddings is 'yes'"),
    ("initializer_range", -1, "initializer_range is -1"),
    ("rope_parameters", ABSENT, "rope_parameters is None"),
    ("rope_parameters", {"full_attention": {"rope_theta": 1e4}}, "rope_parameters.sliding_attention is None"),
    ("bos_token_id", 131072, "bos_token_id is 131072, expected a token id below 131072"),
    ("eos_token_id", "end", "eos_token_id is 'end'"),
    ("eos_token_id", [], "eos_token_id is []"),
    ("pad_token_id", -1, "pad_token_id is -1"),
    ("hidden_size", 10**9, "hidden_size is 1000000000, expected a whole number from 1 to 65536"),
    ("intermediate_size", 10**12, "intermediate_size is 1000000000000"),
    ("num_hidden_layers", 10**9, "num_hidden_layers is 1000000000, expected a whole number from 1 to 1024"),
    ("num_attention_heads", 2**40, "num_attention_heads is 1099511627776"),
    ("num_key_value_heads", 10**9, "num_key_value_heads is 1000000000"),
    ("head_dim", 10**6, "head_dim is 1000000"),
    ("vocab_size", 10**12, "vocab_size is 1000000000000, expected a whole number from 1 to 4194304"),
    (
        "max_position_embeddings",
        10**9,
        "max_position_embeddings is 1000000000, expected a whole number from 1 to 16777",
    ),
    ("sliding_window", 10**9, "sliding_window is 1000000000"),
    ("sliding_window", None, "sliding_window is None, expected a whole number"),
    ("head_dim", "256", "head_dim is '256'"),
    ("initializer_range", float("inf"), "initializer_range is inf"),
    ("rms_norm_eps", float("nan"), "rms_norm_eps is nan"),
    ("rope_scaling", {"rope_type": "yarn", "factor": 4.0}, "rope_scaling is {'rope_type': 'yarn', 'factor': 4.0}"),
    ("rope_parameters", {"rope_theta": 1e4, "rope_type": "default"}, "rope_parameters.full_attention is None"),
    ("rope_parameters", [1], "rope_parameters is [1], expected an object"),
    ("tie_word_embeddings", 1, "tie_word_embeddings is 1"),
    ("bos_token_id", [0], "bos_token_id is [0]"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_a_value_that_cannot_be_is_named_with_what_was_expected(name: str, value: object, message: str) -> None:
    data = published_1_7b()
    if value is ABSENT:
        del data[name]
    else:
        data[name] = value
    with pytest.raises(CheckpointError) as caught:
        SparkConfig.from_dict(data)
    assert message in caught.value.message
    assert "expected" in caught.value.message
    assert caught.value.hint


BAD_ROPE: list[tuple[str, object, str]] = [
    ("rope_theta", 0, "full_attention.rope_theta is 0"),
    ("rope_theta", "big", "full_attention.rope_theta is 'big'"),
    ("partial_rotary_factor", 1.5, "full_attention.partial_rotary_factor is 1.5"),
    ("partial_rotary_factor", 0.001, "(this rotates 0)"),
    ("partial_rotary_factor", 0.02, "(this rotates 5)"),
    ("rope_type", "yarn", "full_attention.rope_type is 'yarn'"),
    ("rope_type", 1, "full_attention.rope_type is 1"),
    ("type", "linear", "full_attention.type is 'linear'"),
    ("rope_theta", None, "full_attention.rope_theta is None"),
    ("rope_theta", float("inf"), "full_attention.rope_theta is inf"),
    ("rope_theta", 10**400, "full_attention.rope_theta is 1000"),
    ("partial_rotary_factor", float("nan"), "full_attention.partial_rotary_factor is nan"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_ROPE)
def test_a_rotary_parameter_that_cannot_be_is_named(name: str, value: object, message: str) -> None:
    data = published_1_7b()
    data["rope_parameters"]["full_attention"][name] = value
    with pytest.raises(CheckpointError) as caught:
        SparkConfig.from_dict(data)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("content", "message"), [("{", "cannot be read as JSON"), ("[1]", "holds a list"), (None, "no config.json in")]
)
def test_a_file_that_is_no_config_is_named(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointError) as caught:
        SparkConfig.from_folder(tmp_path)
    assert message in caught.value.message
    assert str(tmp_path) in caught.value.message


def test_spellings_of_other_releases_are_read() -> None:
    data = published_1_7b()
    for entry in data["rope_parameters"].values():
        entry["rope_type"] = "default"
    data |= {"rope_scaling": None, "torch_dtype": "bfloat16", "transformers_version": "5.24.0", "use_cache": False}
    assert SparkConfig.from_dict(data) == SPARK_1_7B


def test_code_that_lies_beside_the_config_is_never_run(tmp_path: Path, checkpoint: Path) -> None:
    folder = Path(shutil.copytree(checkpoint, tmp_path / "copy"))
    trace = tmp_path / "ran"
    for name in ("configuration_spark.py", "modeling_spark.py", "tokenization_spark.py", "__init__.py"):
        (folder / name).write_text(f"open({str(trace)!r}, 'w')\n", encoding="utf-8")
    data = json.loads((folder / "config.json").read_text("utf-8"))
    data["auto_map"] = {
        "AutoConfig": "configuration_spark.Spark2_5Config",
        "AutoModelForCausalLM": "modeling_spark.Spark2_5ForCausalLM",
    }
    (folder / "config.json").write_text(json.dumps(data), encoding="utf-8")
    model = SparkModel.load(folder, "bf16", threads=1)
    model.begin()
    assert model.generate([Message("user", "hello")], [], Sampling(max_tokens=2)).tokens > 0
    assert not trace.exists()
