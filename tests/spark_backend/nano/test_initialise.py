"""What a model can look up before it has learned anything."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.nano.initialise import Start, structured_weights

CONFIG = replace(SHAPES["nano"], intermediate_size=64, vocab_size=96, bos_token_id=0, eos_token_ids=(1,))
LINES = [(40 + number, 20 + number) for number in range(8)]
"""Tokens that begin a line, each with the number that calls it."""
SPACED = [(70 + number, 50 + number) for number in range(8)]
"""Pieces of words behind a space, each with the piece alone."""
TURN, OPENED, CALLED, ROLE = 90, 91, 92, 93
"""Tokens that open a turn, end its thought, open its call, and end a line of a screen."""
START = Start(LINES, SPACED, [TURN])
WORDS = range(2, 20)


def started(seed: int = 0) -> Spark:
    return Spark(CONFIG, structured_weights(CONFIG, torch.Generator().manual_seed(seed), START))


def hidden_after(model: Spark, layer: int, ids: list[int]) -> torch.Tensor:
    """Return the residual stream behind a layer, (T, H)."""
    seen: list[torch.Tensor] = []
    hook = model.layers[layer].register_forward_hook(lambda _layer, _inputs, output: seen.append(output.detach()[0]))
    model(torch.tensor([ids]))
    hook.remove()
    return seen[0]


def listed(names: Sequence[tuple[int, ...]]) -> list[int]:
    """Lay out a screen: for each name a line's start, its words, and what it is."""
    return [token for (start, _), name in zip(LINES, names, strict=False) for token in (start, *name, ROLE)]


def number_said(model: Spark, ids: list[int]) -> int:
    """Return which number is expected next, of those that lines have."""
    numbers = [number for _, number in LINES]
    return int(model.logits(model(torch.tensor([ids])))[0, -1, numbers].argmax())


def test_the_start_has_the_tensors_of_a_checkpoint_and_depends_on_its_seed_alone() -> None:
    first = structured_weights(CONFIG, torch.Generator().manual_seed(3))
    again = structured_weights(CONFIG, torch.Generator().manual_seed(3))
    assert {name: tuple(tensor.shape) for name, tensor in first.items()} == CONFIG.tensor_shapes()
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_all_tokens_begin_equally_long() -> None:
    table = structured_weights(CONFIG, torch.Generator().manual_seed(0), START)["model.embedding.weight"]
    lengths = table.norm(dim=1)
    assert torch.allclose(lengths, lengths[0].expand_as(lengths), rtol=1e-5)


def test_the_first_layer_begins_by_noting_the_tokens_before_and_the_start_of_the_line() -> None:
    model = started()
    shown = listed([(2 + number, 50 + number) for number in range(8)])
    content = model.checkpoint_state()["model.embedding.weight"][:, 16:40]
    behind = hidden_after(model, 0, shown)
    before, second, line = behind[:, 114:138], behind[:, 138:162], behind[:, 162:186]
    for position in range(2, len(shown)):
        for note, noted in ((before, position - 1), (second, position - 2), (line, position - position % 4)):
            assert torch.cosine_similarity(note[position], content[shown[noted]], dim=0) > 0.95


def test_the_second_layer_begins_by_noting_a_few_tokens_together() -> None:
    model = started()
    words = random.Random(1).sample(range(2, 70), 40)
    content = model.checkpoint_state()["model.embedding.weight"][:, 16:40]
    note = hidden_after(model, 1, words)[:, 90:114]

    def likeness(back: int) -> float:
        noted = content[words[10 - back : len(words) - back]]
        return float(torch.cosine_similarity(note[10:], noted, dim=1).mean())

    near = [likeness(back) for back in (1, 2, 3)]
    assert min(near) > 0.3
    assert max(abs(likeness(back)) for back in (7, 8, 9)) < 0.15


@pytest.mark.parametrize("seed", range(4))
def test_the_start_already_finds_the_number_of_the_line_that_a_name_stands_in(seed: int) -> None:
    """What training need not find out: a name was said, and two tokens later its number follows."""
    model, rng, right = started(seed), random.Random(seed), 0
    for _ in range(20):
        names = [(word,) for word in rng.sample(WORDS, 6)]
        chosen = rng.randrange(6)
        said = number_said(model, [*listed(names), TURN, *names[chosen], OPENED, CALLED])
        right += said == chosen
    assert right >= 14  # by chance, 3


def test_the_start_tells_names_apart_that_share_their_last_word() -> None:
    right = 0
    for seed in range(4):
        model, rng = started(seed), random.Random(seed)
        for _ in range(20):
            last, *firsts = rng.sample(WORDS, 6)
            names = [(first, last) for first in firsts]
            chosen = rng.randrange(5)
            right += number_said(model, [*listed(names), TURN, *names[chosen], OPENED, CALLED]) == chosen
    assert right >= 32  # of 80; by chance, 16


def test_a_piece_of_a_word_begins_alike_with_and_without_a_space() -> None:
    table = structured_weights(CONFIG, torch.Generator().manual_seed(0), START)["model.embedding.weight"]
    for spaced, alone in SPACED:
        assert torch.cosine_similarity(table[spaced, 16:40], table[alone, 16:40], dim=0) > 0.999
        assert not torch.equal(table[spaced], table[alone])


@pytest.mark.parametrize(("narrow", "named"), [({"hidden_size": 128}, "hidden_size"), ({"head_dim": 32}, "head_dim")])
def test_a_model_too_narrow_for_what_it_should_note_is_refused(narrow: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        structured_weights(replace(CONFIG, **narrow), torch.Generator(), START)  # type: ignore[arg-type]
