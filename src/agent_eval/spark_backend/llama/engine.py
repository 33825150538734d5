"""Runs one GGUF file in this process with llama.cpp: token ids in, token ids out. Knows nothing of text.

Between two calls the engine keeps what it has computed, as the engine of this project's own builds does, and samples
with the same code; only the numbers come from elsewhere. llama.cpp lays its cache out by what came before, and the
order of its sums with it; so that a result depends on the episode alone, every episode starts from an empty cache, or
from the saved state of its prefix.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError, ContextOverflow, EngineFault
from agent_eval.spark_backend.llama import library
from agent_eval.spark_backend.llama.library import Batch
from agent_eval.spark_backend.sampling import choose, is_valid
from agent_eval.types import FinishReason, Sampling, Timing, TokenGeneration

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.decode import Choice
    from agent_eval.spark_backend.kernels.library import Library

BATCH_TOKENS = 512
"""Tokens computed in one pass: llama.cpp's own ``n_ubatch``."""

_Mark = ctypes.Array[ctypes.c_char]
"""The state of the cache behind a prefix, as llama.cpp writes it."""

_REPORT = "this is a defect of llama.cpp or of this program; run the builds of this program meanwhile"


class LlamaEngine:
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
        self._choice: Choice | None = None
        if kernels is not None:
            from agent_eval.spark_backend.kernels.decode import Choice

            self._choice = Choice(kernels)
        llama = self._llama = library.load()
        model = llama.llama_model_load_from_file(str(path).encode(), llama.llama_model_default_params())
        if not model:
            raise CheckpointError(
                f"llama.cpp cannot load {path}: {llama.last_words}", hint="delete the file; it is written again"
            )
        self._model = model
        weakref.finalize(self, llama.llama_model_free, model)
        self._window = int(llama.llama_model_n_swa(model))
        self._vocabulary = int(llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model)))
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
        self._computed: list[int] = []  # the tokens in the cache
        self._prefix: tuple[int, ...] = ()  # what prompts of this episode begin with
        self._mark: _Mark | None = None  # the cache where the prefix ends, once it was computed

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget the episode before, but for a prefix that this one begins with too.

        Args:
            prefix: What the prompts of this episode begin with; it is computed once for all episodes that follow each
                other with the same prefix.
        """
        if self._mark is None or tuple(prefix) != self._prefix:
            self._forget()
            self._prefix = tuple(prefix)
        else:
            self._restore(self._mark)

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt until a stop token, ``sampling.max_tokens`` or the end of the context.

        The token that ended it is not returned, but it was computed and is counted in the timing.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid, or the computation failed.
        """
        started = perf_counter()
        self._check(prompt)
        _check_sampling(sampling)
        generator = torch.Generator().manual_seed(sampling.seed)
        ids: list[int] = []
        finish: FinishReason = "length"
        room = min(sampling.max_tokens, self.context - len(prompt))
        with torch.inference_mode():
            reused = self._reuse(prompt)
            token = self._choose(self._prefill(prompt, reused), sampling, generator)
            first = perf_counter()
            while True:
                if token in stop:
                    finish = "stop"
                    break
                ids.append(token)
                if len(ids) == room:
                    break
                token = self._choose(self._pass([token])[0], sampling, generator)
            ended = perf_counter()
        timing = Timing(
            prompt_tokens=len(prompt),
            prefill_tokens=len(prompt) - reused,
            prefill_s=first - started,
            decode_tokens=len(ids) - 1 + (finish == "stop"),
            decode_s=ended - first,
            first_token_s=first - started,
        )
        return TokenGeneration(tuple(ids), finish, timing)

    def logits(self, tokens: Sequence[int]) -> Tensor:
        """Compute tokens behind what is in the cache and return the logits of each, (T, V)."""
        self._check(tokens)
        return torch.cat([self._pass(part, each=True).clone() for part in _parts(tokens)])

    def metadata(self, key: str) -> str:
        """Return what the file says under a key, as text; empty where it has no such key."""
        text = ctypes.create_string_buffer(256)
        found = self._llama.llama_model_meta_val_str(self._model, key.encode(), text, len(text))
        return text.value.decode(errors="replace") if found >= 0 else ""

    @property
    def parameters(self) -> int:
        """Number of weights in the file."""
        return int(self._llama.llama_model_n_params(self._model))

    def _check(self, prompt: Sequence[int]) -> None:
        if not prompt:
            raise EngineFault("the prompt is empty, expected at least one token", hint="render the chat template first")
        wrong = [token for token in prompt if not 0 <= token < self._vocabulary]
        if wrong:
            raise EngineFault(
                f"the prompt holds token {wrong[0]}, expected ids below {self._vocabulary}",
                hint="tokenizer.json and the weights must be of one checkpoint",
            )
        if len(prompt) >= self.context:
            raise ContextOverflow(
                f"the prompt has {len(prompt)} tokens, expected fewer than the context of {self.context}",
                hint="shorten the history, or load the build with a longer context",
            )

    def _reuse(self, prompt: Sequence[int]) -> int:
        """Bring the cache to the longest prefix that it can serve, and return its length."""
        shared = 0
        for old, new in zip(self._computed, prompt, strict=False):
            if old != new:
                break
            shared += 1
        shared = min(shared, len(prompt) - 1)  # the last token is always computed: its logits are wanted
        if shared < len(self._prefix) and (self._mark is not None or self._has_prefix(prompt)):
            self._forget()  # a prefix is computed in one manner only: whole, from the start
        elif self._rewind(shared):
            del self._computed[shared:]
        elif self._mark is not None:
            self._restore(self._mark)
        else:
            self._forget()
        return len(self._computed)

    def _rewind(self, length: int) -> bool:
        """Drop what is behind the first tokens; False where the window before them is not held any more."""
        if length == len(self._computed):
            return True
        oldest = self._llama.llama_memory_seq_pos_min(self._memory, 0)  # of the layers that hold the least
        held = 0 <= oldest <= max(0, length - self._window)
        return held and bool(self._llama.llama_memory_seq_rm(self._memory, 0, length, -1))

    def _has_prefix(self, prompt: Sequence[int]) -> bool:
        return 0 < len(self._prefix) < len(prompt) and tuple(prompt[: len(self._prefix)]) == self._prefix

    def _prefill(self, prompt: Sequence[int], start: int) -> Tensor:
        """Compute a prompt from a position on, cut where the prefix ends; return the logits of its last token."""
        if start < len(self._prefix) and self._has_prefix(prompt):
            for part in _parts(self._prefix):
                self._pass(part)
            self._mark = self._saved()
            self._restore(self._mark)  # now the cache lies as it will for the episodes that find it made
            start = len(self._prefix)
        for part in _parts(prompt[start:]):
            last = self._pass(part)
        return last[0]

    def _pass(self, tokens: Sequence[int], *, each: bool = False) -> Tensor:
        """Compute at most ``BATCH_TOKENS`` tokens; return the logits of each or of the last, valid until the next."""
        count = len(tokens)
        flags = (ctypes.c_int8 * count)(*([1] * count)) if each else None
        batch = Batch(count, (ctypes.c_int32 * count)(*tokens), None, None, None, None, flags)
        failed = self._llama.llama_decode(self._context, batch)
        if failed:
            self._forget()  # a pass that broke off leaves the layers at different lengths
            raise EngineFault(
                f"llama.cpp failed to compute {count} tokens ({failed}): {self._llama.last_words}",
                hint="run one of this program's own builds to tell llama.cpp from the model",
            )
        self._computed.extend(tokens)
        return torch.stack([self._row(i) for i in range(count)]) if each else self._row(-1)[None]

    def _choose(self, logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
        token = choose(logits, sampling.temperature, sampling.top_p, generator, self._choice)
        if token < 0:
            raise EngineFault(
                "the model computed logits that are not finite", hint="the weights may be damaged; check the digest"
            )
        return token

    def _row(self, i: int) -> Tensor:
        row = self._llama.llama_get_logits_ith(self._context, i)
        array = (ctypes.c_float * self._vocabulary).from_address(ctypes.addressof(row.contents))
        return torch.frombuffer(array, dtype=torch.float32)

    def _forget(self) -> None:
        self._llama.llama_memory_clear(self._memory, False)
        self._computed = []
        self._mark = None

    def _saved(self) -> _Mark:
        size = self._llama.llama_state_seq_get_size(self._context, 0)
        state = ctypes.create_string_buffer(size)
        if self._llama.llama_state_seq_get_data(self._context, state, size, 0) != size:
            raise EngineFault(f"llama.cpp cannot save a prefix: {self._llama.last_words}", hint=_REPORT)
        return state

    def _restore(self, mark: _Mark) -> None:
        self._llama.llama_memory_clear(self._memory, False)
        if not self._llama.llama_state_seq_set_data(self._context, mark, len(mark), 0):
            self._forget()
            raise EngineFault(f"llama.cpp cannot restore a prefix: {self._llama.last_words}", hint=_REPORT)
        self._computed = list(self._prefix)


def _parts(tokens: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(tokens), BATCH_TOKENS):
        yield tokens[start : start + BATCH_TOKENS]


def _check_sampling(sampling: Sampling) -> None:
    if not is_valid(sampling.temperature, sampling.top_p) or sampling.max_tokens < 1:
        raise EngineFault(
            f"the sampling is {sampling}, expected temperature >= 0, top_p in (0, 1] and max_tokens >= 1",
            hint="temperature 0 is greedy decoding",
        )
