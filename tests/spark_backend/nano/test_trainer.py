"""The optimiser's parts against their definitions, and that a small model learns."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.initialise import structured_weights
from agent_eval.spark_backend.nano.muon import Muon, orthogonalised
from agent_eval.spark_backend.nano.trainer import Batches, Recipe, Trainer

CONFIG = SparkConfig(
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    vocab_size=32,
    max_position_embeddings=64,
    sliding_window=8,
    full_rope=Rope(theta=1000.0, partial_rotary_factor=0.5),
    bos_token_id=0,
    eos_token_ids=(1,),
)


def echo(rng: random.Random, length: int = 12) -> Sample:
    """A sequence in which each token names the next."""
    ids = [rng.randrange(2, 32)]
    while len(ids) < length:
        ids.append((ids[-1] * 5 + 3) % 32)
    return Sample(np.array(ids, np.int32), np.array([*ids[1:], IGNORED], np.int32))


@pytest.mark.parametrize("shape", [(8, 8), (24, 8), (8, 24)])
def test_the_update_is_close_to_the_nearest_orthogonal_matrix(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    u, _, vh = torch.linalg.svd(matrix, full_matrices=False)
    singular = torch.linalg.svdvals(orthogonalised(matrix))
    assert ((singular > 0.6) & (singular < 1.3)).all()
    assert torch.nn.functional.cosine_similarity((u @ vh).flatten(), orthogonalised(matrix).flatten(), dim=0) > 0.95


def test_muon_moves_against_the_gradient_by_its_rate() -> None:
    weight = torch.nn.Parameter(torch.zeros(6, 6))
    weight.grad = torch.eye(6)
    Muon([weight], lr=0.1).step()
    assert torch.allclose(weight.diagonal(), torch.full((6,), -0.1), atol=0.04)
    assert (weight - torch.diag(weight.diagonal())).abs().max() < 1e-6


def test_the_start_has_the_tensors_of_a_checkpoint_and_depends_on_its_seed_alone() -> None:
    first = structured_weights(CONFIG, torch.Generator().manual_seed(3))
    again = structured_weights(CONFIG, torch.Generator().manual_seed(3))
    assert {name: tuple(tensor.shape) for name, tensor in first.items()} == CONFIG.tensor_shapes()
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_heads_of_the_first_layer_begin_by_looking_back_by_fixed_offsets() -> None:
    """Scores of constant inputs, rotated as the model rotates them, peak at offset head + 1."""
    config = SparkConfig(**{**CONFIG.__dict__, "head_dim": 32, "hidden_size": 128, "vocab_size": 64})
    fused = structured_weights(config, torch.Generator().manual_seed(0))["model.layers.0.self_attn.q_k_v_proj.weight"]
    inputs = torch.zeros(128)
    inputs[:16] = 1.0
    projected = (fused @ inputs).view(-1, 32)
    frequencies = 10_000.0 ** (-torch.arange(16) * 2 / 32)
    for head in range(3):
        q = torch.complex(projected[head, :16], projected[head, 16:])
        k = torch.complex(projected[4 + head // 2, :16], projected[4 + head // 2, 16:])
        scores = [float((q * k.conj() * torch.exp(1j * offset * frequencies)).real.sum()) for offset in range(8)]
        assert int(np.argmax(scores)) == head + 1


def test_a_step_on_the_same_data_is_the_same_step() -> None:
    def losses() -> list[float]:
        rng = random.Random(0)
        trainer = Trainer(CONFIG, Recipe(steps=3, tokens_per_step=64), seed=5)
        return [trainer.step([echo(rng) for _ in range(6)]).loss for _ in range(3)]

    assert losses() == losses()


def test_a_model_learns_a_rule_that_it_is_shown() -> None:
    rng = random.Random(0)
    trainer = Trainer(CONFIG, Recipe(steps=60, tokens_per_step=128, warmup_steps=5), seed=0)
    before = trainer.evaluate([echo(random.Random(9)) for _ in range(16)])
    for _ in range(60):
        trainer.step([echo(rng) for _ in range(12)])
    after = trainer.evaluate([echo(random.Random(9)) for _ in range(16)])
    assert before.accuracy < 0.3
    assert after.accuracy > 0.95


def test_positions_without_a_target_do_not_count() -> None:
    trainer = Trainer(CONFIG, Recipe(steps=1), seed=0)
    sample = echo(random.Random(1))
    silent = Sample(np.concatenate([sample.ids, sample.ids]), np.concatenate([sample.targets, np.full(12, IGNORED)]))
    assert trainer.evaluate([silent]).loss == pytest.approx(trainer.evaluate([sample]).loss, rel=1e-5)


def test_batches_hand_out_every_sample_once() -> None:
    batches = Batches(30, random.Random(0))
    samples = [echo(random.Random(n), 10) for n in range(9)]
    batches.add(samples)
    taken = []
    while batches.ready():
        taken += batches.take()
    assert {id(sample) for sample in taken} == {id(sample) for sample in samples}
