"""Runs one build in this process: token ids in, token ids out. Knows nothing of text or conversations.

Prompts go through torch's modules in parts; single tokens through the compiled decode step where the build's layers are
the library's, else through the modules too.

Between two calls the engine keeps the sequence it has computed. A call computes only what follows the longest prefix
that its prompt shares with that sequence. Between two episodes it keeps the prefix that both begin with. What is kept
saves time and changes no number: prompts are cut where their prefix ends whether it was kept or not, and what a call
may go back to follows from the episode alone. So an episode gives the same text after any other, in any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.spark_backend.cache import Cache, Mark
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.sampling import choose, is_valid
from agent_eval.types import FinishReason, Sampling, Timing, TokenGeneration

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.decode import Choice, Decoder
    from agent_eval.spark_backend.kernels.library import Library

PREFILL_ROWS = 512  # tokens computed in one pass; bounds the memory of masks and of widened activations


class TorchEngine:
    """An ``Engine`` over one model.

    Args:
        model: Any build of the model.
        threads: Threads that may compute; the count is the process's, so it is set again before each generation.
        context: Most tokens of prompt and generation together; at most what the model was made for.
        kernels: The compiled library, if the build uses it.
    """

    def __init__(self, model: Spark, *, threads: int, context: int, kernels: Library | None = None) -> None:
        self._model = model.eval()
        self._threads = threads
        self._kernels = kernels
        self._decoder: Decoder | None = None
        self._choice: Choice | None = None
        if kernels is not None:
            from agent_eval.spark_backend.kernels.decode import Choice, Decoder, can_decode

            self._choice = Choice(kernels)
            self._decoder = Decoder(model, kernels) if can_decode(model) else None
        self.context = min(context, model.config.max_position_embeddings)
        self._cache = Cache(model.config, self.context)
        self._computed: list[int] = []  # the tokens in the cache
        self._prefix: tuple[int, ...] = ()  # what prompts of this episode begin with
        self._mark: Mark | None = None  # the cache where the prefix ends, once it was computed

    @property
    def model(self) -> Spark:
        """The build's model, for what measures its parts."""
        return self._model

    @property
    def kernel(self) -> str:
        """What computes single tokens: a phrase for the record."""
        return "torch modules" if self._decoder is None else self._decoder.kernel

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget the episode before, but for a prefix that this one begins with too.

        Args:
            prefix: What the prompts of this episode begin with, such as instructions and tools. It is computed once
                for all episodes that follow each other with the same prefix.
        """
        if self._mark is None or tuple(prefix) != self._prefix:
            self._forget()
            self._prefix = tuple(prefix)
            return
        self._restore(self._mark)

    def _forget(self) -> None:
        self._cache.reset()
        self._computed = []
        self._mark = None

    def _restore(self, mark: Mark) -> None:
        with torch.inference_mode():
            self._cache.restore(mark)
        self._computed = list(self._prefix)

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt until a stop token, ``sampling.max_tokens`` or the end of the context.

        The token that ended it is not returned, but it was computed and is counted in the timing.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid, or the computation failed.
        """
        started = perf_counter()
        self._check(prompt, sampling)
        self._set_threads()
        generator = torch.Generator().manual_seed(sampling.seed)
        ids: list[int] = []
        finish: FinishReason = "length"
        room = min(sampling.max_tokens, self.context - len(prompt))
        try:
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
                    token = self._choose(self._advance([token]), sampling, generator)
                ended = perf_counter()
        except EngineFault:
            self._forget()
            raise
        except (RuntimeError, IndexError) as error:
            self._forget()  # a pass that broke off leaves the layers at different lengths
            raise EngineFault(
                f"the computation failed: {error}", hint="run the build fp32 to tell kernel from model"
            ) from error
        timing = Timing(
            prompt_tokens=len(prompt),
            prefill_tokens=len(prompt) - reused,
            prefill_s=first - started,
            decode_tokens=len(ids) - 1 + (finish == "stop"),
            decode_s=ended - first,
            first_token_s=first - started,
        )
        return TokenGeneration(tuple(ids), finish, timing)

    def _check(self, prompt: Sequence[int], sampling: Sampling) -> None:
        if not prompt:
            raise EngineFault("the prompt is empty, expected at least one token", hint="render the chat template first")
        vocabulary = self._model.config.vocab_size
        if min(prompt) < 0 or max(prompt) >= vocabulary:
            wrong = next(token for token in prompt if not 0 <= token < vocabulary)
            raise EngineFault(
                f"the prompt holds token {wrong}, expected ids below {vocabulary}",
                hint="tokenizer.json and the weights must be of one checkpoint",
            )
        if len(prompt) >= self.context:
            raise ContextOverflow(
                f"the prompt has {len(prompt)} tokens, expected fewer than the context of {self.context}",
                hint="shorten the history, or load the build with a longer context",
            )
        if not is_valid(sampling.temperature, sampling.top_p) or sampling.max_tokens < 1:
            raise EngineFault(
                f"the sampling is {sampling}, expected temperature >= 0, top_p in (0, 1] and max_tokens >= 1",
                hint="temperature 0 is greedy decoding",
            )

    def _set_threads(self) -> None:
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        if self._kernels is not None and self._kernels.threads != self._threads:
            self._kernels.set_threads(self._threads)

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
        elif self._cache.rewind(shared):
            del self._computed[shared:]
        elif self._mark is not None:
            self._restore(self._mark)
        else:
            self._forget()
        return len(self._computed)

    def _has_prefix(self, prompt: Sequence[int]) -> bool:
        return 0 < len(self._prefix) < len(prompt) and tuple(prompt[: len(self._prefix)]) == self._prefix

    def _prefill(self, prompt: Sequence[int], start: int) -> Tensor:
        """Compute a prompt from a position on, cut where the prefix ends; return the logits of its last token."""
        end = len(self._prefix)
        if start < end and self._has_prefix(prompt):
            for at in range(0, end, PREFILL_ROWS):
                self._pass(prompt[at : min(at + PREFILL_ROWS, end)])
            self._mark = self._cache.mark()
            start = end
        rest = (len(prompt) - start - 1) % PREFILL_ROWS + 1
        for at in range(start, len(prompt) - rest, PREFILL_ROWS):
            self._pass(prompt[at : at + PREFILL_ROWS])
        return self._advance(prompt[len(prompt) - rest :])

    def _advance(self, tokens: Sequence[int]) -> Tensor:
        if self._decoder is not None and len(tokens) == 1:
            logits = self._decoder.step(tokens[0], self._cache)
            self._computed.append(tokens[0])
            return logits
        hidden = self._pass(tokens)
        return self._model.logits(hidden[:, -1])[0]  # (V,); the head runs on one row only

    def _pass(self, tokens: Sequence[int]) -> Tensor:
        hidden: Tensor = self._model(torch.tensor([tokens]), self._cache)  # (1, T, H)
        self._computed.extend(tokens)
        return hidden

    def _choose(self, logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
        token = choose(logits, sampling.temperature, sampling.top_p, generator, self._choice)
        if token < 0:
            raise EngineFault(
                "the model computed logits that are not finite", hint="the weights may be damaged; check the digest"
            )
        return token
