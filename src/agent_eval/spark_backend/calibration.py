"""Texts that a model reads while it is quantised, and what its layers are given then. Knows no files but texts.

GPTQ needs the inputs of each layer. They are collected layer by layer: the sequences pass through a layer in bfloat16,
which shows the inputs of its four matrices, then through the same layer quantised, so that the layers after it are
quantised for what they will be given. Only one layer and the hidden states are in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from agent_eval.errors import AgentEvalError, OperatorError
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import LAYER_TYPES, LayerType, SparkConfig
from agent_eval.spark_backend.model import Block, CheckpointWeights, Layer, RMSNorm, Span
from agent_eval.spark_backend.quant.dense import dense_layer
from agent_eval.spark_backend.quant.gptq import Hessian
from agent_eval.spark_backend.quant.rows import RowSource
from agent_eval.spark_backend.quant.scheme import Scheme
from agent_eval.spark_backend.rotary import Rotary
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.types import Message

SEQUENCE_TOKENS = 512
"""Tokens that are read at once; longer texts are cut."""

MOST_TOKENS = 16_384
"""Tokens of calibration altogether; more are left out. Several times the width of the widest layer."""

LEAST_TOKENS = 128
"""With fewer, a Hessian is little more than its damping."""


@dataclass(frozen=True)
class Calibration:
    """What a model is to read."""

    sequences: tuple[tuple[int, ...], ...]
    """Token ids, at most ``SEQUENCE_TOKENS`` each."""
    origin: str
    """Where they come from, for the report."""

    @property
    def tokens(self) -> int:
        """How many there are."""
        return sum(map(len, self.sequences))

    @classmethod
    def of_texts(cls, texts: Iterable[str], tokenizer: SparkTokenizer, origin: str) -> Calibration:
        """Cut texts, special tokens written out, into sequences, up to ``MOST_TOKENS``.

        What conversations have in common, such as the tools at their begin, is read once.

        Raises:
            OperatorError: there is too little of it.
        """
        sequences: dict[tuple[int, ...], None] = {}
        room = MOST_TOKENS
        for text in texts:
            ids = tokenizer.encode(text)
            for at in range(0, len(ids), SEQUENCE_TOKENS):
                part = tuple(ids[at : at + SEQUENCE_TOKENS][:room])
                if len(part) > 1 and part not in sequences:
                    sequences[part] = None
                    room -= len(part)
            if room <= 1:
                break
        found = cls(tuple(sequences), origin)
        if found.tokens < LEAST_TOKENS:
            raise OperatorError(
                f"the calibration {origin!r} has {found.tokens} tokens, expected at least {LEAST_TOKENS}",
                hint=f"give more text of the kind that the model will read; {MOST_TOKENS} tokens are used",
            )
        return found


def read_texts(path: Path, template: ChatTemplate) -> list[str]:
    """Read a file of calibration texts: lines of text, or JSON lines with ``text`` or ``messages``.

    Raises:
        OperatorError: it cannot be read, or a line is neither.
    """
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(
            f"{path} cannot be read as text: {error}", hint="pass a text file, a .jsonl file, or `trajectories`"
        ) from None
    if path.suffix != ".jsonl":
        return lines
    return [_text_of(line, f"{path}, line {number}", template) for number, line in enumerate(lines, 1)]


def _text_of(line: str, where: str, template: ChatTemplate) -> str:
    try:
        data = json.loads(line)
        if isinstance(data, dict) and isinstance(data.get("text"), str):
            return str(data["text"])
        messages = [Message(role=turn["role"], content=turn["content"]) for turn in data["messages"]]
    except (ValueError, TypeError, KeyError) as error:
        raise OperatorError(
            f"{where}: {error or type(error).__name__}; expected an object with text, or messages of role and content",
            hint='such as {"messages": [{"role": "user", "content": "..."}]}, one a line',
        ) from None
    except AgentEvalError as error:
        raise OperatorError(f"{where}: {error.message}", hint=error.hint) from None
    return template.render(messages, open_turn=False)


class Readings:
    """The hidden states of all sequences, taken through the model layer by layer.

    Args:
        config: The architecture.
        weights: The checkpoint.
        calibration: What is read.
        embed: From ids (T) to the rows of the embedding table as the build will hold it, (T, H).
        compiled: Whether the compiled kernels are there.
    """

    def __init__(
        self,
        config: SparkConfig,
        weights: CheckpointWeights,
        calibration: Calibration,
        embed: Callable[[Tensor], Tensor],
        *,
        compiled: bool,
    ) -> None:
        self._config, self._weights, self._compiled = config, weights, compiled
        self._states = [embed(torch.tensor(ids))[None].float() for ids in calibration.sequences]  # (1, T, H) each
        longest = max(map(len, calibration.sequences))
        self._rotaries: dict[LayerType, Rotary] = {
            kind: Rotary(config.rope(kind), config.head_dim, longest) for kind in LAYER_TYPES
        }

    def inputs_of(self, index: int) -> dict[str, Hessian]:
        """Return the Hessians of the inputs of a layer's matrices, by the names that a scheme is asked for."""
        recording = _Recording(self._compiled)
        layer = Layer(self._config, index, self._weights, recording)
        for state in self._states:
            self._through(layer, index, state)
        return recording.hessians

    def advance(self, index: int, scheme: Scheme) -> None:
        """Take the sequences through a layer whose matrices a scheme makes."""
        layer = Layer(self._config, index, self._weights, scheme)
        self._states = [self._through(layer, index, state) for state in self._states]

    def inputs_of_head(self) -> Hessian:
        """Return the Hessian of what the head is given, after the last layer."""
        norm = RMSNorm(self._weights["model.norm.weight"], self._config.rms_norm_eps, torch.bfloat16)
        hessian = Hessian(self._config.hidden_size)
        with torch.inference_mode():
            for state in self._states:
                hessian.add(norm(state))
        return hessian

    def _through(self, layer: Layer, index: int, state: Tensor) -> Tensor:
        kind = self._config.layer_types[index]
        tokens, rotary = state.shape[1], self._rotaries[kind]
        distance = torch.arange(tokens)[:, None] - torch.arange(tokens)
        window = self._config.window(kind) or tokens
        whole = slice(0, tokens)
        span = Span(rotary.at(0, tokens), (Block(whole, whole, (distance >= 0) & (distance < window)),))
        with torch.inference_mode():
            return layer(state, rotary, span, None)  # type: ignore[no-any-return]


class _Recording:
    """A scheme whose layers keep the checkpoint's weights and take note of their inputs."""

    def __init__(self, compiled: bool) -> None:
        self.activation = torch.bfloat16
        self.hessians: dict[str, Hessian] = {}
        self._compiled = compiled

    def linear(self, name: str, source: RowSource) -> nn.Module:
        self.hessians[name] = Hessian(source.shape[1])
        return _Recorder(dense_layer(source, torch.bfloat16, compiled=self._compiled), self.hessians[name])


class _Recorder(nn.Module):
    def __init__(self, layer: nn.Module, hessian: Hessian) -> None:
        super().__init__()
        self._layer, self._hessian = layer, hessian

    def forward(self, x: Tensor) -> Tensor:
        self._hessian.add(x)
        return self._layer(x)  # type: ignore[no-any-return]
