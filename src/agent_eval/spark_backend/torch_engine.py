"""Runs one build in this process with torch: token ids in, token ids out. Knows nothing of text or conversations.

Between two calls the engine keeps the sequence it has computed. A call computes only what follows the longest prefix
that its prompt shares with that sequence; if the caches cannot go back that far, everything is computed afresh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter

import torch
from torch import Tensor

from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.sampling import greedy, is_valid, sample
from agent_eval.types import FinishReason, Sampling, Timing, TokenGeneration

PREFILL_ROWS = 512  # tokens computed in one pass; bounds the memory of masks and of widened activations


class TorchEngine:
    """An ``Engine`` over one model.

    Args:
        model: Any build of the model.
        threads: Threads that torch may use; the count is the process's, so it is set again before each generation.
        context: Most tokens of prompt and generation together; at most what the model was made for.
    """

    def __init__(self, model: Spark, *, threads: int, context: int) -> None:
        self._model = model.eval()
        self._threads = threads
        self.context = min(context, model.config.max_position_embeddings)
        self._cache = Cache(model.config, self.context)
        self._computed: list[int] = []  # the tokens in the cache

    def reset(self) -> None:
        """Forget everything."""
        self._cache.reset()
        self._computed = []

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt until a stop token, ``sampling.max_tokens`` or the end of the context.

        The token that ended it is not returned, but it was computed and is counted in the timing.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid, or the computation failed.
        """
        started = perf_counter()
        self._check(prompt, sampling)
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        generator = torch.Generator().manual_seed(sampling.seed)
        ids: list[int] = []
        finish: FinishReason = "length"
        room = min(sampling.max_tokens, self.context - len(prompt))
        try:
            with torch.inference_mode():
                reused = self._reuse(prompt)
                token = _choose(self._prefill(prompt[reused:]), sampling, generator)
                first = perf_counter()
                while True:
                    if token in stop:
                        finish = "stop"
                        break
                    ids.append(token)
                    if len(ids) == room:
                        break
                    token = _choose(self._advance([token]), sampling, generator)
                ended = perf_counter()
        except EngineFault:
            self.reset()
            raise
        except (RuntimeError, IndexError) as error:
            self.reset()  # a pass that broke off leaves the layers at different lengths
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

    def _reuse(self, prompt: Sequence[int]) -> int:
        """Bring the cache to the longest prefix that it can serve, and return its length."""
        shared = 0
        for old, new in zip(self._computed, prompt, strict=False):
            if old != new:
                break
            shared += 1
        shared = min(shared, len(prompt) - 1)  # the last token is always computed: its logits are wanted
        if not self._cache.rewind(shared):
            shared = 0
        del self._computed[shared:]
        return shared

    def _prefill(self, tokens: Sequence[int]) -> Tensor:
        for start in range(0, len(tokens) - PREFILL_ROWS, PREFILL_ROWS):
            self._pass(tokens[start : start + PREFILL_ROWS])
        rest = (len(tokens) - 1) % PREFILL_ROWS + 1
        return self._advance(tokens[len(tokens) - rest :])

    def _advance(self, tokens: Sequence[int]) -> Tensor:
        hidden = self._pass(tokens)
        return self._model.logits(hidden[:, -1])[0]  # (V,); the head runs on one row only

    def _pass(self, tokens: Sequence[int]) -> Tensor:
        hidden: Tensor = self._model(torch.tensor([tokens]), self._cache)  # (1, T, H)
        self._computed.extend(tokens)
        return hidden


def _choose(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    token = (
        greedy(logits) if sampling.temperature == 0 else sample(logits, sampling.temperature, sampling.top_p, generator)
    )
    if not math.isfinite(logits[token].item()):  # the maximum is not a number if any logit is not
        raise EngineFault(
            "the model computed logits that are not finite", hint="the weights may be damaged; check the digest"
        )
    return token
