"""Runs one build in this process: token ids in, token ids out. Knows nothing of text or conversations.

Prompts go through torch's modules in parts; single tokens through the compiled decode step where the build's layers are
the library's, else through the modules too. What is used again, and why that changes no number, is
``sequence_engine.py``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agent_eval.spark_backend.cache import Cache, Mark
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.sequence_engine import SequenceEngine

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.decode import Decoder
    from agent_eval.spark_backend.kernels.library import Library

PREFILL_ROWS = 512  # tokens computed in one pass; bounds the memory of masks and of widened activations


class TorchEngine(SequenceEngine[Mark]):
    """An ``Engine`` over one model.

    Args:
        model: Any build of the model.
        threads: Threads that may compute; the count is the process's, so it is set again before each generation.
        context: Most tokens of prompt and generation together; at most what the model was made for.
        kernels: The compiled library, if the build uses it.
    """

    _core: TorchCore

    def __init__(self, model: Spark, *, threads: int, context: int, kernels: Library | None = None) -> None:
        super().__init__(TorchCore(model, threads, context, kernels), kernels)

    @property
    def model(self) -> Spark:
        """The build's model, for what measures its parts."""
        return self._core.model

    @property
    def kernel(self) -> str:
        """What computes single tokens: a phrase for the record."""
        return self._core.kernel


class TorchCore:
    """A ``SequenceCore`` over one model; its arguments are those of ``TorchEngine``."""

    pass_tokens = PREFILL_ROWS

    def __init__(self, model: Spark, threads: int, context: int, kernels: Library | None) -> None:
        self.model = model.eval()
        self.vocabulary = model.config.vocab_size
        self.context = min(context, model.config.max_position_embeddings)
        self.cache = Cache(model.config, self.context)
        self._threads = threads
        self._kernels = kernels
        self._decoder: Decoder | None = None
        if kernels is not None:
            from agent_eval.spark_backend.kernels.decode import Decoder, can_decode

            self._decoder = Decoder(model, kernels) if can_decode(model) else None

    @property
    def kernel(self) -> str:
        """What computes single tokens."""
        return "torch modules" if self._decoder is None else self._decoder.kernel

    def prepare(self) -> None:
        """Set the threads of torch and of the library."""
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        if self._kernels is not None and self._kernels.threads != self._threads:
            self._kernels.set_threads(self._threads)

    def compute(self, tokens: Sequence[int], rows: int) -> Tensor:
        """Append tokens and return the logits of the last ones, (rows, V)."""
        if self._decoder is not None and rows == len(tokens) == 1:
            return self._decoder.step(tokens[0], self.cache)[None]
        hidden: Tensor = self.model(torch.tensor([tokens]), self.cache)  # (1, T, H)
        if rows == 0:
            return hidden.new_empty(0, self.vocabulary)
        return self.model.logits(hidden[0, len(tokens) - rows :])  # the head runs on the rows that are wanted

    def rewind(self, length: int) -> bool:
        """Go back, if every sliding layer still has the window before that position."""
        return self.cache.rewind(length)

    def save(self) -> Mark:
        """Put a copy of one window of the sliding layers aside; the full layers' entries stay where they are."""
        return self.cache.mark()

    def restore(self, mark: Mark) -> None:
        """Put the window back."""
        self.cache.restore(mark)

    def clear(self) -> None:
        """Drop all entries, and release what was grown."""
        self.cache.reset()
