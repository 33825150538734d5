"""The optimiser's parts against their definitions, and that a small model learns."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.muon import Muon, orthogonalised
from agent_eval.spark_backend.nano.trainer import Batches, Recipe, Trainer

CONFIG = replace(SHAPES["nano"], intermediate_size=64, vocab_size=64, bos_token_id=0, eos_token_ids=(1,))


def echo(rng: random.Random, length: int = 12) -> Sample:
    """A sequence in which each token names the next."""
    ids = [rng.randrange(2, 64)]
    while len(ids) < length:
        ids.append((ids[-1] * 5 + 3) % 64)
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
    with ThreadPoolExecutor(1) as pool:
        Muon([weight], 0.1, pool).step()
    assert torch.allclose(weight.diagonal(), torch.full((6,), -0.1), atol=0.04)
    assert (weight - torch.diag(weight.diagonal())).abs().max() < 1e-3  # bfloat16 where the CPU has it


def test_a_step_on_the_same_data_is_the_same_step() -> None:
    def losses() -> list[float]:
        rng = random.Random(0)
        trainer = Trainer(CONFIG, Recipe(steps=3, tokens_per_step=64), seed=5)
        return [trainer.step([echo(rng) for _ in range(6)]).loss for _ in range(3)]

    assert losses() == losses()


def test_a_model_learns_a_rule_that_it_is_shown() -> None:
    rng = random.Random(0)
    trainer = Trainer(CONFIG, Recipe(steps=120, tokens_per_step=128, warmup_steps=5), seed=0)
    before = trainer.evaluate([echo(random.Random(9)) for _ in range(16)])
    for _ in range(120):
        trainer.step([echo(rng) for _ in range(12)])
    after = trainer.evaluate([echo(random.Random(9)) for _ in range(16)])
    assert before.accuracy < 0.3
    assert after.accuracy > 0.95


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_gradient_is_that_of_the_whole_batch_however_many_threads_share_it(threads: int) -> None:
    batch = [echo(random.Random(n), 8 + n) for n in range(7)]
    trainer = Trainer(CONFIG, Recipe(steps=1, threads=threads), seed=0)
    reports = trainer.step(batch)
    whole = Trainer(CONFIG, Recipe(steps=1, threads=1), seed=0)
    expected = whole.step(batch)
    assert reports.loss == pytest.approx(expected.loss, rel=1e-3)
    assert reports.tokens == expected.tokens
    for name, weight in trainer.weights().items():
        assert torch.allclose(weight.float(), whole.weights()[name].float(), atol=2e-3), name


def test_a_trainer_goes_on_from_a_kept_state_as_if_it_had_never_stopped() -> None:
    def batch(number: int) -> list[Sample]:
        return [echo(random.Random(10 * number + n)) for n in range(6)]

    one = Trainer(CONFIG, Recipe(steps=6), seed=0)
    for number in range(3):
        one.step(batch(number))
    kept = one.state()
    other = Trainer(CONFIG, Recipe(steps=6), seed=1)
    other.restore(kept, one.steps_done)
    for number in range(3, 6):
        assert one.step(batch(number)) == other.step(batch(number))
    assert all(torch.equal(weight, other.weights()[name]) for name, weight in one.weights().items())


def test_a_state_of_another_model_is_refused() -> None:
    trainer = Trainer(CONFIG, Recipe(steps=1), seed=0)
    with pytest.raises(KeyError):
        trainer.restore({}, 0)


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
