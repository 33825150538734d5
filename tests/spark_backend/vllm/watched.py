"""Engines with their numbers taken where they are computed, and the real prompts that they are compared on.

Nothing of an engine is replaced: torch calls whoever asked it to when a module has given its result.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from agent_eval.agent import tool_schemas
from agent_eval.contracts import Engine
from agent_eval.curriculum import lesson_weights
from agent_eval.demonstrations import Noise, demonstrations, taught_instances
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.spark import special_tokens
from agent_eval.spark_backend.table import CodedTable
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.spark_backend.torch_engine import TorchEngine
from agent_eval.types import Message, Sampling
from agent_eval.wiring import open_sim

FIRST_SEED = 9_000_000_000
"""Of the episodes: above those of training, its drills and calibration."""


class Episode(NamedTuple):
    """The prompts of one episode, as an engine gets them."""

    prefix: tuple[int, ...]
    """What all of them begin with whatever the user says."""
    prompts: tuple[tuple[int, ...], ...]


class Watched(NamedTuple):
    """A generation with its logits."""

    ids: tuple[int, ...]
    logits: Tensor
    """(tokens, V) float32: what each token was chosen from."""


class HasModel(Engine, Protocol):
    """An engine that shows its modules."""

    @property
    def model(self) -> nn.Module: ...


def episodes(folder: Path, *, longest: int) -> Iterator[Episode]:
    """Yield the oracle's episodes on this project's phone as a checkpoint's template and tokenizer have them.

    Args:
        folder: The checkpoint.
        longest: Most tokens of a prompt; longer ones are left out.
    """
    tokenizer = SparkTokenizer.from_folder(folder)
    template = ChatTemplate.from_folder(folder, special_tokens(SparkConfig.from_folder(folder), tokenizer))
    device, phone = open_sim()
    drawn = taught_instances(itertools.count(FIRST_SEED), lesson_weights())
    for shown in demonstrations(drawn, device, phone, Noise.none()):
        turns = [at for at, message in enumerate(shown.messages) if message.role == "assistant"]
        prompts = [_prompt(shown.messages[:at], template, tokenizer) for at in turns]
        first = list(itertools.takewhile(lambda message: message.role == "system", shown.messages))
        bare = _prompt([*first, Message("user", "")], template, tokenizer)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(bare, prompts[0], strict=False)))
        yield Episode(bare[: min(same, len(prompts[0]) - 1)], tuple(p for p in prompts if len(p) <= longest))


def random_prompts(vocabulary: int, lengths: Sequence[int], seed: int = 0) -> list[tuple[int, ...]]:
    """Return prompts of no sense, with tokens that texts of the project's own hardly have."""
    rng = random.Random(seed)
    return [tuple(rng.randrange(vocabulary) for _ in range(length)) for length in lengths]


def _prompt(messages: Sequence[Message], template: ChatTemplate, tokenizer: SparkTokenizer) -> tuple[int, ...]:
    return tuple(tokenizer.encode(template.render(messages, tool_schemas())))


@contextlib.contextmanager
def outputs(module: nn.Module) -> Iterator[list[Any]]:
    """Collect what a module gives while this is open."""
    taken: list[Any] = []

    def take(_: nn.Module, __: object, output: Any) -> None:
        taken.append(output.clone() if isinstance(output, Tensor) else tuple(one.clone() for one in output))

    handle = module.register_forward_hook(take)
    try:
        yield taken
    finally:
        handle.remove()


def watch_torch(engine: TorchEngine, prompt: Sequence[int], tokens: int) -> Watched:
    """Generate greedily, token by token: the first by ``generate``, the others by ``logits``, which shows them."""
    head = engine.model.head
    assert head is not None, "a build for inference has a head"
    with outputs(head) as taken:
        ids = list(engine.generate(prompt, frozenset(), Sampling(max_tokens=1)).ids)
    assert len(taken) == 1, "the prompt must end in more than one token that is new"
    rows = [taken[0].float().reshape(1, -1)]
    while len(ids) < tokens:
        rows.append(engine.logits(ids[-1:]))
        ids.append(int(rows[-1].argmax()))
    return Watched(tuple(ids), torch.cat(rows))


def watch_vllm(engine: HasModel, prompt: Sequence[int], tokens: int) -> Watched:
    """Generate greedily and take what each token was chosen from."""
    with outputs(engine.model.get_submodule("logits_processor")) as taken:
        ids = engine.generate(prompt, frozenset(), Sampling(max_tokens=tokens)).ids
    return Watched(ids, torch.cat(taken).float()[-len(ids) :])  # before them, that of a prefix computed by itself


def streams_of_torch(engine: TorchEngine, prompt: Sequence[int]) -> list[Tensor]:
    """Return the residual stream of a prompt after each layer, (T, H) float32 each."""
    with contextlib.ExitStack() as open_:
        taken = [open_.enter_context(outputs(layer)) for layer in engine.model.layers]
        engine.begin()
        engine.generate(prompt, frozenset(), Sampling(max_tokens=1))
    return [torch.cat([part[0] for part in one]).float() for one in taken]


def streams_of_vllm(engine: HasModel, prompt: Sequence[int]) -> list[Tensor]:
    """Return the residual stream of a prompt after each layer, added up as the next norm does, (T, H) float32 each."""
    layers = engine.model.get_submodule("model.layers")
    with contextlib.ExitStack() as open_:
        taken = [open_.enter_context(outputs(layer)) for layer in layers.children()]
        engine.begin()
        engine.generate(prompt, frozenset(), Sampling(max_tokens=1))
    return [torch.cat([x.float() + residual.float() for x, residual in one]) for one in taken]


def weights_of(model: Spark) -> dict[str, Tensor]:
    """Return the values that a build of the model multiplies by, under the names of a checkpoint, float32."""
    config, table = model.config, model.embedding
    ids = torch.arange(config.vocab_size)
    weights = {"model.embedding.weight": table(ids).float(), "model.norm.weight": model.norm.weight.float()}
    if not (isinstance(table, CodedTable) and model.head is table.layer):
        weights["lm_head.weight"] = _values(model.head)
    for i, layer in enumerate(model.layers):
        at = f"model.layers.{i}."
        attention, mlp = layer.get_submodule("self_attn"), layer.get_submodule("mlp")
        for norm in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{at}{norm}.weight"] = layer.get_parameter(f"{norm}.weight").float()
        weights[f"{at}self_attn.g_proj.weight"] = attention.get_parameter("g_proj").float()
        for name in ("q_k_v_proj", "out_proj"):
            weights[f"{at}self_attn.{name}.weight"] = _values(attention.get_submodule(name))
        both = _values(mlp.get_submodule("gate_up_proj")).chunk(2)
        weights[f"{at}mlp.gate_proj.weight"], weights[f"{at}mlp.up_proj.weight"] = both
        weights[f"{at}mlp.down_proj.weight"] = _values(mlp.get_submodule("down_proj"))
    return {name: weight.detach() for name, weight in weights.items()}


def _values(layer: nn.Module | None) -> Tensor:
    if isinstance(layer, PackedLinear):
        return layer.widened(0, layer.shape[0], torch.float32)
    assert layer is not None, "a build for inference has a head"
    return layer.get_parameter("weight").float()
