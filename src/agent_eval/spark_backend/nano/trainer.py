"""The optimisation: batches of conversations in, a trained Spark out. Knows nothing of where conversations come from.

Muon on the matrices, AdamW on the embedding, the gates and the norms; constant rate, then linear decay.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  torch's own customary name
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.initialise import UNKNOWN, Start, structured_weights
from agent_eval.spark_backend.nano.muon import Muon
from agent_eval.spark_backend.quant.dense import Fp32, has_bf16_units


@dataclass(frozen=True)
class Recipe:
    """How to optimise."""

    steps: int
    tokens_per_step: int = 4096
    matrix_lr: float = 0.002
    """Larger ones, and 0.003 for the rest, undo the structured start before it can be of use (docs/design/0010)."""
    other_lr: float = 0.0008
    warmup_steps: int = 100
    decay_share: float = 0.8
    """Share of the steps, at the end, over which the rates fall to zero."""
    clip: float = 1.0
    threads: int = 2
    """Parts of a batch that a CPU computes at once."""


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

    On a GPU where torch finds one; otherwise on the CPU, where each of a few threads computes the gradient of a part of
    the batch. The parts and the order in which they are added are fixed, so the sum does not depend on who is faster.

    Args:
        config: The model's shape.
        recipe: How to optimise.
        seed: Draws the initial weights.
        start: What its first weights know of the vocabulary.
    """

    def __init__(self, config: SparkConfig, recipe: Recipe, seed: int, start: Start = UNKNOWN) -> None:
        torch.set_num_threads(1)  # of torch's own: at this width they wait for each other more than they compute
        self.config = config
        self.recipe = recipe
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.threads = 1 if self.device.type == "cuda" else recipe.threads
        # sharp attention underflows, and what underflows is slow: a third of a step on an Intel processor
        self._pool = ThreadPoolExecutor(self.threads, initializer=torch.set_flush_denormal, initargs=(True,))
        narrow = self.device.type == "cuda" or has_bf16_units()
        self.precision = "bfloat16 with float32 weights" if narrow else "float32"
        weights = structured_weights(config, torch.Generator().manual_seed(seed), start)
        self.model = Spark(config, weights, Fp32(torch.bfloat16 if narrow else torch.float32)).to(self.device)
        named = dict(self.model.named_parameters())
        matrices = [p for name, p in named.items() if p.dim() == 2 and "embedding" not in name and "g_proj" not in name]
        chosen = {id(p) for p in matrices}
        self._weights = list(named.values())
        others = [p for p in self._weights if id(p) not in chosen]
        self._optimisers: list[tuple[torch.optim.Optimizer, float]] = [
            (Muon(matrices, recipe.matrix_lr, self._pool), recipe.matrix_lr),
            (torch.optim.AdamW(others, lr=recipe.other_lr, betas=(0.9, 0.95), weight_decay=0.0), recipe.other_lr),
        ]
        self.steps_done = 0

    def step(self, samples: Sequence[Sample]) -> StepReport:
        """Take one optimisation step on a batch of conversations."""
        rate = self._rate()
        taught = sum(int((sample.targets != IGNORED).sum()) for sample in samples)
        parts = list(self._pool.map(lambda part: self._gradient(part, taught), _shares(samples, self.threads)))
        for position, weight in enumerate(self._weights):
            weight.grad = parts[0].gradient[position]
            for part in parts[1:]:
                weight.grad += part.gradient[position]
        torch.nn.utils.clip_grad_norm_(self._weights, self.recipe.clip)
        for optimiser, base in self._optimisers:
            for group in optimiser.param_groups:
                group["lr"] = base * rate
            optimiser.step()
        self.steps_done += 1
        loss, right = sum(part.loss for part in parts), sum(part.right for part in parts)
        return StepReport(loss / taught, right / taught, sum(len(sample.ids) for sample in samples))

    def _gradient(self, samples: Sequence[Sample], taught: int) -> _Part:
        """Compute the gradient of a part of a batch in which so many tokens are taught; runs in a thread."""
        gradient = [torch.zeros_like(weight) for weight in self._weights]
        loss_sum, right = 0.0, 0
        for rows in _micro_batches(samples):
            logits, wanted = self._taught(rows)
            loss = F.cross_entropy(logits, wanted, reduction="sum")
            for total, part in zip(gradient, torch.autograd.grad(loss / taught, self._weights), strict=True):
                total += part
            loss_sum += loss.item()
            right += int((logits.argmax(-1) == wanted).sum())
        return _Part(gradient, loss_sum, right)

    def evaluate(self, samples: Sequence[Sample]) -> StepReport:
        """Return loss and accuracy on conversations without learning from them."""
        return self._pool.submit(self._evaluate, samples).result()

    @torch.no_grad()
    def _evaluate(self, samples: Sequence[Sample]) -> StepReport:
        loss_sum, right, taught = 0.0, 0, 0
        for rows in _micro_batches(samples):
            logits, wanted = self._taught(rows)
            loss_sum += F.cross_entropy(logits, wanted, reduction="sum").item()
            right += int((logits.argmax(-1) == wanted).sum())
            taught += len(wanted)
        return StepReport(loss_sum / taught, right / taught, sum(len(sample.ids) for sample in samples))

    def weights(self) -> dict[str, Tensor]:
        """Return the weights as a checkpoint stores them: detached, in bfloat16."""
        return {name: weight.to(torch.bfloat16).cpu() for name, weight in self.model.checkpoint_state().items()}

    def state(self) -> dict[str, Tensor]:
        """Return all that a later process needs to go on: weights and the optimisers' averages, in float32."""
        kept = {f"weight.{name}": weight.detach() for name, weight in self.model.named_parameters()}
        for number, (optimiser, _) in enumerate(self._optimisers):
            for position, state in optimiser.state_dict()["state"].items():
                kept |= {f"optimiser.{number}.{position}.{name}": value for name, value in state.items()}
        return {name: value.cpu().clone() for name, value in kept.items()}

    def restore(self, state: Mapping[str, Tensor], steps_done: int) -> None:
        """Go on from what ``state`` returned after so many steps.

        Raises:
            KeyError: the state is not one of this model.
        """
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.copy_(state[f"weight.{name}"])
        for number, (optimiser, _) in enumerate(self._optimisers):
            held: dict[int, dict[str, Tensor]] = {}
            for key, value in state.items():
                if key.startswith(f"optimiser.{number}."):
                    position, name = key.split(".")[2:]
                    held.setdefault(int(position), {})[name] = value.clone()
            optimiser.load_state_dict(optimiser.state_dict() | {"state": held})
        self.steps_done = steps_done

    def _taught(self, samples: Sequence[Sample]) -> tuple[Tensor, Tensor]:
        """Return the float32 logits of the taught tokens, (taught, V), and what they should be."""
        ids, targets = (each.to(self.device) for each in _padded(samples))
        hidden = self.model(ids)  # (B, T, H)
        taught = targets != IGNORED
        return self.model.logits(hidden[taught].float()), targets[taught]  # the head runs on these positions only

    def _rate(self) -> float:
        done, total = self.steps_done, self.recipe.steps
        warm = min(1.0, (done + 1) / self.recipe.warmup_steps)
        left = max(0.0, (total - done) / max(1, math.ceil(total * self.recipe.decay_share)))
        return warm * min(1.0, left)


class _Part(NamedTuple):
    gradient: list[Tensor]
    loss: float
    right: int


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


def _shares(samples: Sequence[Sample], parts: int) -> list[list[Sample]]:
    """Split a batch into parts of about equal length, the same way each time."""
    shares: list[list[Sample]] = [[] for _ in range(parts)]
    sizes = [0] * parts
    for sample in sorted(samples, key=lambda sample: -len(sample.ids)):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(sample)
        sizes[smallest] += len(sample.ids)
    return [share for share in shares if share]


def _micro_batches(samples: Sequence[Sample], cells: int = 2048) -> list[list[Sample]]:
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
