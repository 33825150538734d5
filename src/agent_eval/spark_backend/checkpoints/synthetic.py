"""Checkpoints with random weights, for speed work and tests: whole folders, written without holding a model in memory.

Their card says ``synthetic``, and everything that reads it says so again: nothing that such a model does tells anything
about quality.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Card
from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.checkpoints.writer import SHARD_BYTES, describe_checkpoint, write_weights
from agent_eval.spark_backend.pretokenizer import spark_pre_tokenizer

SYNTHETIC_TEMPLATE = """\
{%- for message in messages %}
{{- '<|start|>' + message.role + ' ' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>' + call.function.name + (call.function.arguments | tojson) + '</tool_call>' }}
{%- endfor %}
{{- '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant ' + ('<think>' if enable_thinking else '</think>') }}{%- endif %}
"""

_SPECIALS = ("<|start|>", "<|end|>", "<pad>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<unk>")
_WRITES_TO_RESIDUAL = ("out_proj", "down_proj")  # these start smaller: GPT-2's initialisation
_WEIGHTS_AT_ONCE = 2**24  # 64 MiB in float32


def synthetic_checkpoint(
    folder: Path,
    config: SparkConfig,
    seed: int,
    dtype: torch.dtype = torch.bfloat16,
    *,
    shard_bytes: int = SHARD_BYTES,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Write a complete checkpoint with random weights and a tokenizer of bytes.

    Args:
        folder: Where to write it.
        config: The architecture; its vocabulary must have room for 256 bytes and eight special tokens.
        seed: Draws the weights; each tensor's depend on the seed and its name only.
        dtype: Type that the weights are stored in.
        shard_bytes: Most bytes of one weight file.
        tell: Gets a line when a file is written.

    Raises:
        CheckpointError: the vocabulary is too small.
        OperatorError: the folder cannot be written.
    """
    tokenizer = _byte_tokenizer(config.vocab_size)
    plan = {name: Planned(dtype, shape) for name, shape in config.tensor_shapes().items()}
    write_weights(folder, plan, lambda name: _drawn(config, name, plan[name], seed), shard_bytes=shard_bytes, tell=tell)
    describe_checkpoint(
        folder,
        config.to_dict(),
        tokenizer_json=tokenizer.to_str(),
        chat_template=SYNTHETIC_TEMPLATE,
        card=Card(name=folder.resolve().name, kind="synthetic", details={"seed": seed}),
    )


def _byte_tokenizer(size: int) -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    room = len(_SPECIALS) + len(alphabet)
    if size < room:
        raise CheckpointError(
            f"a synthetic checkpoint needs a vocabulary of at least {room} tokens, got vocab_size={size}",
            hint="raise vocab_size",
        )
    tokens = [*_SPECIALS, *alphabet, *(f"<unused{i}>" for i in range(size - room))]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
    tokenizer.pre_tokenizer = spark_pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in _SPECIALS])
    return tokenizer


def _drawn(config: SparkConfig, name: str, planned: Planned, seed: int) -> Iterator[Tensor]:
    """Draw a tensor in pieces of whole rows: norms at one, the rest normal with the config's range."""
    dtype, shape = planned
    if len(shape) == 1:
        yield torch.ones(shape, dtype=dtype)
        return
    rows, width = shape
    spread = config.initializer_range
    if any(part in name for part in _WRITES_TO_RESIDUAL):
        spread /= (2 * config.num_hidden_layers) ** 0.5
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little", signed=True))
    step = max(1, _WEIGHTS_AT_ONCE // width)
    for start in range(0, rows, step):
        part = torch.empty(min(step, rows - start), width)
        yield part.normal_(0.0, spread, generator=generator).to(dtype)
