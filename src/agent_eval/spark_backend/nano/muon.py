"""Muon: momentum whose matrix update is orthogonalised by a Newton-Schulz iteration (Jordan et al., 2024)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor

import torch
from torch import Tensor

from agent_eval.spark_backend.quant.dense import has_bf16_units

_A, _B, _C = 3.4445, -4.7750, 2.0315
"""Coefficients of the quintic iteration, tuned by its authors for a steep start."""


def orthogonalised(matrix: Tensor, steps: int = 5) -> Tensor:
    """Return an approximation of the nearest semi-orthogonal matrix, (N, K) -> (N, K)."""
    x: Tensor = matrix / (matrix.norm() + 1e-7)
    x = x.bfloat16() if has_bf16_units() else x  # exact enough by its authors' account, and less than half the time
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(steps):
        gram = x @ x.T
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    return (x.T if tall else x).float()


class Muon(torch.optim.Optimizer):
    """Update matrices by their orthogonalised Nesterov momentum.

    Args:
        matrices: Parameters of two dimensions.
        lr: Step size; the update has spectral norm of about one times ``sqrt(max(1, N / K))``.
        pool: Threads that share the matrices.
        momentum: Decay of the running gradient.
    """

    def __init__(self, matrices: Iterable[Tensor], lr: float, pool: Executor, momentum: float = 0.95) -> None:
        super().__init__(list(matrices), {"lr": lr, "momentum": momentum})
        self._pool = pool

    def step(self, closure: None = None) -> None:  # type: ignore[override]  # no closure: the loss is computed outside
        """Apply one update."""
        del closure
        for group in self.param_groups:
            taught = [matrix for matrix in group["params"] if matrix.grad is not None]
            for _ in self._pool.map(lambda matrix, group=group: self._update(matrix, group), taught):
                pass

    @torch.no_grad()
    def _update(self, matrix: Tensor, group: Mapping[str, float]) -> None:
        assert matrix.grad is not None
        state = self.state[matrix]
        running = state.setdefault("running", torch.zeros_like(matrix))
        running.lerp_(matrix.grad, 1 - group["momentum"])
        update = orthogonalised(matrix.grad.lerp(running, group["momentum"]))
        matrix.add_(update, alpha=-group["lr"] * max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5)
