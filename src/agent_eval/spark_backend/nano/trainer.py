"""The optimisation: batches of conversations in, a trained Spark out. Knows nothing of where conversations come from.

Muon on the matrices, AdamW on the embedding, the gates and the norms; constant rate, then linear decay.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  torch's own customary name
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.initialise import structured_weights
from agent_eval.spark_backend.nano.muon import Muon


@dataclass(frozen=True)
class Recipe:
    """How to optimise."""

    steps: int
    tokens_per_step: int = 2048
    matrix_lr: float = 0.005
    other_lr: float = 0.003
    warmup_steps: int = 20
    decay_share: float = 0.45
    """Share of the steps, at the end, over which the rates fall to zero."""
    clip: float = 1.0


class StepReport(NamedTuple):
    """What one step showed."""

    loss: float
    """Mean cross-entropy over the taught tokens, in nats."""
    accuracy: float
    """Share of taught tokens predicted exactly."""
    tokens: int
    """Tokens read, padding left out."""


class Trainer:
    """Owns the weights and the optimiser's state.

    Args:
        config: The model's shape.
        recipe: How to optimise.
        seed: Draws the initial weights.
    """

    def __init__(self, config: SparkConfig, recipe: Recipe, seed: int) -> None:
        torch.set_num_threads(1)  # at this width a second thread costs more than it brings
        self.config = config
        self.recipe = recipe
        self.model = Spark(config, structured_weights(config, torch.Generator().manual_seed(seed)))
        named = dict(self.model.named_parameters())
        matrices = [p for name, p in named.items() if p.dim() == 2 and "embedding" not in name and "g_proj" not in name]
        chosen = {id(p) for p in matrices}
        others = [p for p in named.values() if id(p) not in chosen]
        self._optimisers: list[tuple[torch.optim.Optimizer, float]] = [
            (Muon(matrices, lr=recipe.matrix_lr), recipe.matrix_lr),
            (torch.optim.AdamW(others, lr=recipe.other_lr, betas=(0.9, 0.95), weight_decay=0.0), recipe.other_lr),
        ]
        self.steps_done = 0

    def step(self, samples: Sequence[Sample]) -> StepReport:
        """Take one optimisation step on a batch of conversations."""
        rate = self._rate()
        for optimiser, base in self._optimisers:
            for group in optimiser.param_groups:
                group["lr"] = base * rate
            optimiser.zero_grad(set_to_none=True)
        taught = sum(int((sample.targets != IGNORED).sum()) for sample in samples)
        loss_sum, right = 0.0, 0
        for rows in _micro_batches(samples):
            ids, targets = _padded(rows)
            logits = self._taught_logits(ids, targets)
            wanted = targets[targets != IGNORED]
            loss = F.cross_entropy(logits, wanted, reduction="sum")
            (loss / taught).backward()  # type: ignore[no-untyped-call]  # torch leaves Tensor.backward untyped
            loss_sum += loss.item()
            right += int((logits.argmax(-1) == wanted).sum())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        for optimiser, _ in self._optimisers:
            optimiser.step()
        self.steps_done += 1
        return StepReport(loss_sum / taught, right / taught, sum(len(sample.ids) for sample in samples))

    @torch.no_grad()
    def evaluate(self, samples: Sequence[Sample]) -> StepReport:
        """Return loss and accuracy on conversations without learning from them."""
        loss_sum, right, taught = 0.0, 0, 0
        for rows in _micro_batches(samples):
            ids, targets = _padded(rows)
            logits = self._taught_logits(ids, targets)
            wanted = targets[targets != IGNORED]
            loss_sum += F.cross_entropy(logits, wanted, reduction="sum").item()
            right += int((logits.argmax(-1) == wanted).sum())
            taught += len(wanted)
        return StepReport(loss_sum / taught, right / taught, sum(len(sample.ids) for sample in samples))

    def weights(self) -> dict[str, Tensor]:
        """Return the weights as a checkpoint stores them: detached, in bfloat16."""
        return {name: weight.to(torch.bfloat16) for name, weight in self.model.checkpoint_state().items()}

    def _taught_logits(self, ids: Tensor, targets: Tensor) -> Tensor:
        hidden = self.model(ids)  # (B, T, H)
        return self.model.logits(hidden[targets != IGNORED])  # (taught, V): the head runs on these positions only

    def _rate(self) -> float:
        done, total = self.steps_done, self.recipe.steps
        warm = min(1.0, (done + 1) / self.recipe.warmup_steps)
        left = max(0.0, (total - done) / max(1, math.ceil(total * self.recipe.decay_share)))
        return warm * min(1.0, left)


class Batches:
    """Draws batches of about equal size from a stream of conversations, shuffled within a window."""

    def __init__(self, tokens: int, rng: random.Random) -> None:
        self._tokens = tokens
        self._rng = rng
        self._waiting: list[Sample] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Put conversations into the window."""
        self._waiting += samples
        self._rng.shuffle(self._waiting)

    def ready(self) -> bool:
        """Tell whether the window holds a full batch."""
        return sum(len(sample.ids) for sample in self._waiting) >= self._tokens

    def take(self) -> list[Sample]:
        """Remove a batch from the window."""
        batch, size = [], 0
        while self._waiting and size < self._tokens:
            batch.append(self._waiting.pop())
            size += len(batch[-1].ids)
        return batch


def _micro_batches(samples: Sequence[Sample], cells: int = 4096) -> list[list[Sample]]:
    """Group conversations of like length so that padding stays small and a group fits the cache."""
    groups: list[list[Sample]] = []
    for sample in sorted(samples, key=lambda sample: len(sample.ids)):
        if groups and (len(groups[-1]) + 1) * len(sample.ids) <= cells:
            groups[-1].append(sample)
        else:
            groups.append([sample])
    return groups


def _padded(samples: Sequence[Sample]) -> tuple[Tensor, Tensor]:
    """Return ids and targets, (B, T); padding stands at the end, where causal attention keeps it out of sight."""
    length = max(len(sample.ids) for sample in samples)
    ids = torch.zeros(len(samples), length, dtype=torch.long)
    targets = torch.full((len(samples), length), IGNORED, dtype=torch.long)
    for row, sample in enumerate(samples):
        ids[row, : len(sample.ids)] = torch.from_numpy(sample.ids)
        targets[row, : len(sample.targets)] = torch.from_numpy(sample.targets)
    return ids, targets
