"""Runs one sequence of tokens, whatever computes it: the loop, its timing, and what of the sequence is used again.

Between two calls the sequence that was computed is kept. A call computes only what follows the longest prefix that its
prompt shares with it. Between two episodes the prefix that both begin with is kept. What is kept saves time and changes
no number: prompts are cut where their prefix ends whether it was kept or not, and what a call may go back to follows
from the episode alone. So an episode gives the same text after any other, in any process
(docs/design/0008-what-is-kept-between-episodes.md).

Knows no model and no text. Engines that keep sequences in a manner of their own need none of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from agent_eval.errors import EngineFault
from agent_eval.spark_backend.refusals import check_room, check_sampling, check_tokens
from agent_eval.spark_backend.sampling import choose
from agent_eval.types import FinishReason, Sampling, Timing, TokenGeneration

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.decode import Choice
    from agent_eval.spark_backend.kernels.library import Library

Mark = TypeVar("Mark")
"""What a core puts aside to come back to a position."""


class SequenceCore(Protocol[Mark]):
    """Computes one model over the one sequence that it holds; empty at first.

    Everything that computes is called in torch's inference mode and may raise ``EngineFault``; whatever it raises, the
    core is cleared before it is asked for anything else.
    """

    @property
    def context(self) -> int:
        """Most tokens that the sequence may have."""
        ...

    @property
    def vocabulary(self) -> int:
        """Number of tokens that there are; their ids are below it."""
        ...

    @property
    def pass_tokens(self) -> int:
        """Most tokens that are computed at once."""
        ...

    def prepare(self) -> None:
        """Set what belongs to the whole process, such as its threads; called before anything is computed."""
        ...

    def compute(self, tokens: Sequence[int], rows: int) -> Tensor:
        """Append tokens to the sequence and return the logits of the last ``rows`` of them, (rows, V) float32.

        The next call may overwrite what was returned.

        Args:
            tokens: At least one, at most ``pass_tokens``.
            rows: From none, in the midst of a prompt, to all.
        """
        ...

    def rewind(self, length: int) -> bool:
        """Drop what is behind the first ``length`` tokens; or change nothing and return False where that cannot be.

        The answer follows from the lengths that the sequence had since it was cleared, saved or restored, and from
        nothing before: what is computed of an episode must not depend on the one before it.
        """
        ...

    def save(self) -> Mark:
        """Return what it takes to come back to this position, and leave the core as ``restore`` would."""
        ...

    def restore(self, mark: Mark) -> None:
        """Come back to where the last mark was saved; since then the sequence has neither been shorter nor cleared."""
        ...

    def clear(self) -> None:
        """Drop the sequence."""
        ...


class SequenceEngine(Generic[Mark]):
    """An ``Engine`` over a core.

    Args:
        core: Computes.
        kernels: The compiled library, if it may choose tokens.
    """

    def __init__(self, core: SequenceCore[Mark], kernels: Library | None = None) -> None:
        self._core = core
        self._choice: Choice | None = None
        if kernels is not None:
            from agent_eval.spark_backend.kernels.decode import Choice

            self._choice = Choice(kernels)
        self._computed: list[int] = []  # the tokens that the core holds
        self._prefix: tuple[int, ...] = ()  # what prompts of this episode begin with
        self._mark: Mark | None = None  # where the prefix ends, once it was computed

    @property
    def context(self) -> int:
        """Most tokens of prompt and generation together."""
        return self._core.context

    @property
    def vocabulary(self) -> int:
        """Number of tokens that there are."""
        return self._core.vocabulary

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget the episode before, but for a prefix that this one begins with too.

        Args:
            prefix: What the prompts of this episode begin with, such as instructions and tools. It is computed once
                for all episodes that follow each other with the same prefix.

        Raises:
            EngineFault: the prefix was kept and cannot be brought back; then it is forgotten.
        """
        if self._mark is None or tuple(prefix) != self._prefix:
            self._forget()
            self._prefix = tuple(prefix)
            return
        with self._computing():
            self._restore(self._mark)

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt until a stop token, ``sampling.max_tokens`` or the end of the context.

        The token that ended it is not returned, but it was computed and is counted in the timing.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid, or the computation failed.
        """
        started = perf_counter()
        check_tokens(prompt, self._core.vocabulary)
        check_room(len(prompt), self.context)
        check_sampling(sampling)
        generator = torch.Generator().manual_seed(sampling.seed)
        ids: list[int] = []
        finish: FinishReason = "length"
        room = min(sampling.max_tokens, self.context - len(prompt))
        with self._computing():
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
                token = self._choose(self._compute([token], 1)[0], sampling, generator)
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
        """Compute tokens behind what is held and return the logits of each, (T, V).

        Raises:
            ContextOverflow: they do not fit behind it.
            EngineFault: they are no tokens, or the computation failed.
        """
        check_tokens(tokens, self._core.vocabulary)
        check_room(len(self._computed) + len(tokens), self.context)
        with self._computing():
            parts = [self._compute(part, len(part)).clone() for part in self._parts(tokens)]
        return torch.cat(parts)

    def walk(self, prompt: Sequence[int], choose: Callable[[Tensor], int | None]) -> None:
        """Compute what ``generate`` computes, in the same passes, while the caller chooses the tokens.

        Args:
            prompt: What they follow.
            choose: Gets the logits of the next token, (V,) float32, which the next call may overwrite; returns that
                token, or None to end. The last token of a reply need not be computed: it ends in ``generate`` too.

        Raises:
            ContextOverflow: the prompt leaves no room for one token, or a token no longer fits.
            EngineFault: the prompt is not valid, or the computation failed.
        """
        check_tokens(prompt, self._core.vocabulary)
        check_room(len(prompt), self.context)
        with self._computing():
            logits = self._prefill(prompt, self._reuse(prompt))
            while (token := choose(logits)) is not None:
                check_room(len(self._computed), self.context)
                logits = self._compute([token], 1)[0]

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Let the core compute; if that breaks off, forget what it holds, whose layers may differ in length."""
        self._core.prepare()
        try:
            with torch.inference_mode():
                yield
        except EngineFault:
            self._forget()
            raise
        except (RuntimeError, IndexError) as error:  # what torch raises, of a core and of the choice
            self._forget()
            raise EngineFault(
                f"the computation failed: {error}", hint="run the build fp32 to tell kernel from model"
            ) from error

    def _reuse(self, prompt: Sequence[int]) -> int:
        """Bring the core to the longest prefix that it can serve, and return its length."""
        shared = 0
        for old, new in zip(self._computed, prompt, strict=False):
            if old != new:
                break
            shared += 1
        shared = min(shared, len(prompt) - 1)  # the last token is always computed: its logits are wanted
        if shared < len(self._prefix) and (self._mark is not None or self._has_prefix(prompt)):
            self._forget()  # a prefix is computed in one manner only: whole, from the start
        elif shared == len(self._computed) or self._core.rewind(shared):
            del self._computed[shared:]
        elif self._mark is not None:
            self._restore(self._mark)
        else:
            self._forget()
        return len(self._computed)

    def _has_prefix(self, prompt: Sequence[int]) -> bool:
        return 0 < len(self._prefix) < len(prompt) and tuple(prompt[: len(self._prefix)]) == self._prefix

    def _prefill(self, prompt: Sequence[int], start: int) -> Tensor:
        """Compute a prompt from a position on, cut where the prefix ends; return the logits of its last token, (V,)."""
        if start < len(self._prefix) and self._has_prefix(prompt):
            for part in self._parts(self._prefix):
                self._compute(part, 0)
            self._mark = self._core.save()
            start = len(self._prefix)
        *parts, last = self._parts(prompt[start:])
        for part in parts:
            self._compute(part, 0)
        return self._compute(last, 1)[0]

    def _parts(self, tokens: Sequence[int]) -> Iterator[Sequence[int]]:
        for start in range(0, len(tokens), self._core.pass_tokens):
            yield tokens[start : start + self._core.pass_tokens]

    def _compute(self, tokens: Sequence[int], rows: int) -> Tensor:
        logits = self._core.compute(tokens, rows)
        self._computed.extend(tokens)
        return logits

    def _choose(self, logits: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
        token = choose(logits, sampling.temperature, sampling.top_p, generator, self._choice)
        if token < 0:
            raise EngineFault(
                "the model computed logits that are not finite", hint="the weights may be damaged; check the digest"
            )
        return token

    def _restore(self, mark: Mark) -> None:
        self._core.restore(mark)
        self._computed = list(self._prefix)

    def _forget(self) -> None:
        self._core.clear()
        self._computed = []
        self._mark = None
