"""What vLLM calls the model's configuration: the checkpoint's ``config.json`` as an object of transformers.

The reader that refuses what the model cannot be is ``checkpoints/config.py``, and serves both engines. This class only
carries the fields, under the names that vLLM looks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import PretrainedConfig

MODEL_TYPE = "spark2_5"
ARCHITECTURE = "Spark2_5ForCausalLM"

FULL = "full_attention"
SLIDING = "sliding_attention"

PUBLISHED: Mapping[str, Any] = {
    "vocab_size": 131072,
    "hidden_size": 2048,
    "intermediate_size": 6656,
    "num_hidden_layers": 28,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "max_position_embeddings": 1048576,
    "sliding_window": 512,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {
        FULL: {"rope_theta": 5e6, "partial_rotary_factor": 0.25},
        SLIDING: {"rope_theta": 1e4, "partial_rotary_factor": 1.0},
    },
}
"""What a ``config.json`` leaves out: the fields of the published 1.7B model."""

PERIOD = 4
"""Every so many layers one attends to everything, in a config that lists no layer types."""


class SparkVllmConfig(PretrainedConfig):  # type: ignore[misc]  # transformers is untyped here
    """The configuration of a Spark model; fields as in the checkpoint."""

    model_type = MODEL_TYPE

    def __init__(self, **fields: Any) -> None:
        fields = {**PUBLISHED, **fields}
        layers = fields["num_hidden_layers"]
        types = fields.get("layer_types") or [FULL if (i + 1) % PERIOD == 0 else SLIDING for i in range(layers)]
        if len(types) != layers:
            raise ValueError(f"layer_types has {len(types)} entries, expected num_hidden_layers = {layers}")
        rope = {kind: {"rope_type": "default", **each} for kind, each in fields["rope_parameters"].items()}
        super().__init__(**{"tie_word_embeddings": True, **fields, "layer_types": types, "rope_parameters": rope})
