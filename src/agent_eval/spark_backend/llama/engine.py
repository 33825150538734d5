"""Runs one GGUF file in this process with llama.cpp: token ids in, token ids out. Knows nothing of text.

What is used again and how tokens are chosen is ``sequence_engine.py``'s, as for this project's own builds; only the
numbers come from elsewhere. llama.cpp lays its cache out by what came before, and the order of its sums with it; so
that a result depends on the episode alone, every episode starts from an empty cache, or from the saved state of its
prefix.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError, EngineFault
from agent_eval.spark_backend.llama import library
from agent_eval.spark_backend.llama.library import Batch
from agent_eval.spark_backend.sequence_engine import SequenceEngine

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.library import Library

BATCH_TOKENS = 512
"""Tokens computed in one pass: llama.cpp's own ``n_ubatch``."""

_State = ctypes.Array[ctypes.c_char]
"""The state of the cache behind a prefix, as llama.cpp writes it."""

_REPORT = "this is a defect of llama.cpp or of this program; run the builds of this program meanwhile"


class LlamaEngine(SequenceEngine[_State]):
    """An ``Engine`` over one GGUF file.

    Args:
        path: The file.
        threads: Threads that compute.
        context: Most tokens of prompt and generation together; at most what the model was made for.
        exact: Whether keys and values are in float32 and attention is not fused, to compare numbers; llama.cpp itself
            takes half precision and fuses.
        full_sliding_cache: Whether sliding layers remember the whole context: no other numbers, more memory and time.
        kernels: This project's own library, if it may help to sample.

    Raises:
        OperatorError: llama.cpp is not installed, or cannot be used.
        CheckpointError: it cannot load the file.
        EngineFault: it cannot make room for the context.
    """

    _core: LlamaCore

    def __init__(
        self,
        path: Path,
        *,
        threads: int,
        context: int,
        exact: bool = False,
        full_sliding_cache: bool = False,
        kernels: Library | None = None,
    ) -> None:
        core = LlamaCore(path, threads, context, exact=exact, full_sliding_cache=full_sliding_cache)
        super().__init__(core, kernels)

    def metadata(self, key: str) -> str:
        """Return what the file says under a key, as text; empty where it has no such key."""
        return self._core.metadata(key)

    @property
    def parameters(self) -> int:
        """Number of weights in the file."""
        return self._core.parameters


class LlamaCore:
    """A ``SequenceCore`` over one GGUF file; its arguments are those of ``LlamaEngine``."""

    pass_tokens = BATCH_TOKENS

    def __init__(self, path: Path, threads: int, context: int, *, exact: bool, full_sliding_cache: bool) -> None:
        llama = self._llama = library.load()
        model = llama.llama_model_load_from_file(str(path).encode(), llama.llama_model_default_params())
        if not model:
            raise CheckpointError(
                f"llama.cpp cannot load {path}: {llama.last_words}", hint="delete the file; it is written again"
            )
        self._model = model
        weakref.finalize(self, llama.llama_model_free, model)
        self._window = int(llama.llama_model_n_swa(model))
        self.vocabulary = int(llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model)))
        self.context = min(context, int(llama.llama_model_n_ctx_train(model)))
        parameters = llama.context_parameters(full_sliding_cache=full_sliding_cache)
        parameters.n_ctx, parameters.n_batch, parameters.n_ubatch = self.context, BATCH_TOKENS, BATCH_TOKENS
        if exact:
            parameters.type_k = parameters.type_v = library.F32
            parameters.flash_attn_type = library.NOT_FUSED
        self._context = library.computed(llama, llama.llama_init_from_model(model, parameters), "make room")
        weakref.finalize(self, llama.llama_free, self._context)
        llama.llama_set_n_threads(self._context, threads, threads)
        self._memory = llama.llama_get_memory(self._context)

    def metadata(self, key: str) -> str:
        """Return what the file says under a key."""
        text = ctypes.create_string_buffer(256)
        found = self._llama.llama_model_meta_val_str(self._model, key.encode(), text, len(text))
        return text.value.decode(errors="replace") if found >= 0 else ""

    @property
    def parameters(self) -> int:
        """Number of weights in the file."""
        return int(self._llama.llama_model_n_params(self._model))

    def prepare(self) -> None:
        """Do nothing: the threads belong to the context."""

    def compute(self, tokens: Sequence[int], rows: int) -> Tensor:
        """Append tokens and return the logits of the last ones, (rows, V); of one they lie where llama.cpp has them."""
        count = len(tokens)
        flags = (ctypes.c_int8 * count)(*(i >= count - rows for i in range(count))) if rows > 1 else None
        batch = Batch(count, (ctypes.c_int32 * count)(*tokens), None, None, None, None, flags)
        failed = self._llama.llama_decode(self._context, batch)
        if failed:
            raise EngineFault(
                f"llama.cpp failed to compute {count} tokens ({failed}): {self._llama.last_words}",
                hint="run one of this program's own builds to tell llama.cpp from the model",
            )
        if rows > 1:
            return torch.stack([self._row(i) for i in range(count - rows, count)])
        return self._row(-1)[None][:rows]  # without flags llama.cpp computes the last token's

    def _row(self, i: int) -> Tensor:
        row = self._llama.llama_get_logits_ith(self._context, i)
        array = (ctypes.c_float * self.vocabulary).from_address(ctypes.addressof(row.contents))
        return torch.frombuffer(array, dtype=torch.float32)

    def rewind(self, length: int) -> bool:
        """Go back, if the layers that hold the least still have the window before that position."""
        oldest = self._llama.llama_memory_seq_pos_min(self._memory, 0)
        held = 0 <= oldest <= max(0, length - self._window)
        return held and bool(self._llama.llama_memory_seq_rm(self._memory, 0, length, -1))

    def save(self) -> _State:
        """Copy the state of the cache, and lay the cache out as it will lie for the episodes that find it saved."""
        size = self._llama.llama_state_seq_get_size(self._context, 0)
        state = ctypes.create_string_buffer(size)
        if self._llama.llama_state_seq_get_data(self._context, state, size, 0) != size:
            raise EngineFault(f"llama.cpp cannot save a prefix: {self._llama.last_words}", hint=_REPORT)
        self.restore(state)
        return state

    def restore(self, mark: _State) -> None:
        """Read a saved state into an empty cache."""
        self.clear()
        if not self._llama.llama_state_seq_set_data(self._context, mark, len(mark), 0):
            raise EngineFault(f"llama.cpp cannot restore a prefix: {self._llama.last_words}", hint=_REPORT)

    def clear(self) -> None:
        """Empty the cache."""
        self._llama.llama_memory_clear(self._memory, False)
