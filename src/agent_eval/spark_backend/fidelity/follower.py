"""One model that is made to follow tokens, or chooses them greedily, and shows its logits on the way. Compares nothing.

Tokens are computed as an engine computes them when it writes: the prompt in passes, then one by one through the kernels
that decode, with what was computed before still held. So the logits are those that the engine chose from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.fidelity.choices import TokenPath
from agent_eval.spark_backend.sampling import greedy
from agent_eval.spark_backend.sequence_engine import SequenceEngine
from agent_eval.spark_backend.spark import END_OF_TURN, SparkModel


class Written(NamedTuple):
    """What a model wrote greedily."""

    ids: tuple[int, ...]
    """The token that ended it included."""
    rows: Tensor
    """Logits that each token was chosen from, (T, V) float32."""


class Follower:
    """A model, and its engine as one that shows logits.

    Args:
        model: Any build.

    Raises:
        OperatorError: its engine shows none.
    """

    def __init__(self, model: SparkModel) -> None:
        if not isinstance(model.engine, SequenceEngine):
            raise OperatorError(
                f"the engine {type(model.engine).__name__} shows no logits",
                hint="compare builds that torch or llama.cpp computes",
            )
        self.model = model
        self.engine: SequenceEngine[Any] = model.engine

    @property
    def end(self) -> int:
        """The token that ends a turn of this model's own."""
        end = self.model.tokenizer.token_id(END_OF_TURN)
        return end if end in self.model.stop else min(self.model.stop)

    def follow(self, prompt: Sequence[int], ids: Sequence[int]) -> Tensor:
        """Return the logits before each of some tokens, (T, V); the last of them is not computed.

        Raises:
            ContextOverflow: they do not fit.
            EngineFault: the computation failed.
        """
        rows: list[Tensor] = []

        def choose(logits: Tensor) -> int | None:
            rows.append(logits.clone())
            return ids[len(rows) - 1] if len(rows) < len(ids) else None

        self.engine.walk(prompt, choose)
        return torch.stack(rows)

    def write(self, prompt: Sequence[int], tokens: int) -> Written:
        """Choose tokens greedily until one ends the turn, or there are so many, or the context is full.

        Raises:
            ContextOverflow: the prompt does not fit.
            EngineFault: the computation failed.
        """
        ids: list[int] = []
        rows: list[Tensor] = []
        room = min(tokens, self.engine.context - len(prompt))

        def choose(logits: Tensor) -> int | None:
            rows.append(logits.clone())
            ids.append(greedy(logits))
            return None if ids[-1] in self.model.stop or len(ids) >= room else ids[-1]

        self.engine.walk(prompt, choose)
        return Written(tuple(ids), torch.stack(rows))

    def text_of(self, ids: Sequence[int]) -> str:
        """Return the text of a reply, without the token that ended it."""
        return self.model.tokenizer.decode(ids[:-1] if ids and ids[-1] in self.model.stop else ids)

    def log_probabilities(
        self, prompt: Sequence[int], first: Tensor, paths: Mapping[str, Sequence[TokenPath]]
    ) -> dict[str, float]:
        """Return the logarithm of the probability that one of some sequences follows, by name. What is held is lost.

        Args:
            prompt: What they would follow.
            first: Logits behind it, (V,).
            paths: By name, sequences of which none is the beginning of another.
        """
        behind: dict[TokenPath, Tensor] = {(): first.double().log_softmax(dim=-1)}
        every = [path for several in paths.values() for path in several]
        for path in sorted(every, key=len, reverse=True):
            if path[:-1] not in behind:
                rows = self.follow(prompt, path).double().log_softmax(dim=-1)
                behind |= {path[:length]: rows[length] for length in range(1, len(path))}
        return {
            name: float(torch.logsumexp(torch.stack([_log_probability(path, behind) for path in several]), dim=0))
            for name, several in paths.items()
        }


def _log_probability(path: TokenPath, behind: Mapping[TokenPath, Tensor]) -> Tensor:
    return torch.stack([behind[path[:place]][token] for place, token in enumerate(path)]).sum()
