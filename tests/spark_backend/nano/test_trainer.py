"""The optimiser's parts against their definitions, and that a small model learns."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.initialise import structured_weights
from agent_eval.spark_backend.nano.muon import Muon, orthogonalised
from agent_eval.spark_backend.nano.trainer import Batches, Recipe, Trainer

CONFIG = replace(SHAPES["nano"], intermediate_size=64, vocab_size=64, bos_token_id=0, eos_token_ids=(1,))
STARTS = [(40 + number, 20 + number) for number in range(8)]
"""Tokens that begin a line, each with the number that calls it."""


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


def test_the_start_has_the_tensors_of_a_checkpoint_and_depends_on_its_seed_alone() -> None:
    first = structured_weights(CONFIG, torch.Generator().manual_seed(3))
    again = structured_weights(CONFIG, torch.Generator().manual_seed(3))
    assert {name: tuple(tensor.shape) for name, tensor in first.items()} == CONFIG.tensor_shapes()
    assert all(torch.equal(first[name], again[name]) for name in first)


def started(seed: int = 0) -> Spark:
    return Spark(CONFIG, structured_weights(CONFIG, torch.Generator().manual_seed(seed), STARTS))


def screen(rng: random.Random, lines: int = 5) -> tuple[list[int], int, int]:
    """Lines of a start and two words each; the last word of one of them, and the number of its line."""
    words = rng.sample(range(2, 20), lines)
    shown = [token for line in range(lines) for token in (STARTS[line][0], rng.randrange(50, 60), words[line])]
    chosen = rng.randrange(lines)
    return shown, words[chosen], STARTS[chosen][1]


def test_the_first_layer_begins_by_noting_the_tokens_before_and_the_start_of_the_line() -> None:
    model = started()
    shown, _, _ = screen(random.Random(0), 8)
    seen: list[torch.Tensor] = []
    next(iter(model.layers)).register_forward_hook(lambda _layer, _inputs, output: seen.append(output.detach()[0]))
    model(torch.tensor([shown]))
    content = model.checkpoint_state()["model.embedding.weight"][:, 16:44]
    lines, seconds = [], []
    for position in range(3, len(shown)):
        start = shown[position - position % 3]
        lines.append(float(torch.cosine_similarity(seen[0][position, 160:188], content[start], dim=0)))
        if position % 3 != 2:  # two before the last word stands the start of the line, which has its own note
            second = content[shown[position - 2]][:22]
            seconds.append(float(torch.cosine_similarity(seen[0][position, 136:158], second, dim=0)))
    assert np.mean(lines) > 0.9
    assert np.mean(seconds) > 0.7


def test_the_start_already_finds_the_number_of_the_line_that_a_name_stands_in() -> None:
    """What training need not find out: a name was said, and two tokens later its number follows."""
    numbers = [number for _, number in STARTS]
    right = 0
    for seed in range(80):
        model = started(seed // 20)
        shown, word, number = screen(random.Random(seed))
        logits = model.logits(model(torch.tensor([[*shown, 1, word, 0, 60]])))[0, -1]
        right += numbers[int(logits[numbers].argmax())] == number
    assert right > 32  # by chance, 16


def test_a_model_too_narrow_for_notes_is_refused() -> None:
    with pytest.raises(ValueError, match="hidden_size"):
        structured_weights(replace(CONFIG, hidden_size=64), torch.Generator(), STARTS)


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
