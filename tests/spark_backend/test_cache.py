from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.spark_backend.cache import Cache, FullMemory, Memory, SlidingMemory
from tests.spark_backend.configs import SMALL

WINDOW = 5
SLACK = 4


LAYERS = 2


def entries(layer: int, start: int, new: int) -> tuple[Tensor, Tensor]:
    """Keys that hold their position and layer, values that hold their negative: (KV 2, T, D 3)."""
    positions = torch.arange(start, start + new, dtype=torch.float32)[None, :, None].expand(2, new, 3)
    return positions + layer / 2, -positions - layer / 2


def extend(memory: Memory, start: int, new: int) -> list[int]:
    """Append tokens in every layer and return the positions that they may look at."""
    memory.take(new)
    positions: list[list[int]] = []
    for layer in range(LAYERS):
        seen = memory.extend(layer, *entries(layer, start, new))
        assert torch.equal(seen.values, -seen.keys)
        assert torch.equal(seen.keys, seen.keys[:1, :, :1].expand_as(seen.keys))
        positions.append([int(position) for position in seen.keys[0, :, 0] - layer / 2])
    assert positions[0] == positions[1]
    return positions[0]


def append_by_slots(memory: Memory, start: int) -> list[int]:
    """Append one token as a kernel does and return the positions that it may look at."""
    memory.take(1)
    slots = memory.slots()
    for layer in range(LAYERS):
        memory.store[layer, :, :, slots.new] = torch.stack([part[:, 0] for part in entries(layer, start, 1)])
    seen = memory.store[1, 0, 0, slots.first : slots.new + 1, 0]
    return [int(position) for position in seen - 1 / 2]


STEPS = st.lists(st.one_of(st.integers(1, 14), st.integers(-12, -1)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_a_full_cache_returns_every_token_after_any_history(steps: list[int]) -> None:
    cache, length = FullMemory(LAYERS, 2, 3, limit=10_000, room=4), 0
    for step in steps:
        if step == 1:
            assert append_by_slots(cache, length) == list(range(length + 1))
            length += 1
        elif step > 0:
            assert extend(cache, length, step) == list(range(length + step))
            length += step
        elif length + step >= 0:
            assert cache.can_rewind(length + step)
            cache.rewind(length + step)
            length += step


@settings(max_examples=300, deadline=None)
@given(steps=STEPS)
def test_a_sliding_cache_returns_exactly_the_window_after_any_history(steps: list[int]) -> None:
    cache, length = SlidingMemory(LAYERS, 2, 3, WINDOW, SLACK), 0
    highest = 0
    for step in steps:
        if step > 0:
            first = max(0, length - (WINDOW - 1))
            seen = append_by_slots(cache, length) if step == 1 else extend(cache, length, step)
            assert seen == list(range(first, length + step))
            length += step
            highest = max(highest, length)
        elif length + step >= 0:
            target = length + step
            if highest - target <= SLACK:
                assert cache.can_rewind(target), "the slack is promised"
            if cache.can_rewind(target):
                cache.rewind(target)
                length = target


@settings(max_examples=200, deadline=None)
@given(marked=st.integers(1, 30), during=STEPS, after=STEPS)
def test_what_follows_a_restored_mark_is_what_follows_it_in_a_fresh_memory(
    marked: int, during: list[int], after: list[int]
) -> None:
    used, fresh = (SlidingMemory(LAYERS, 2, 3, WINDOW, SLACK) for _ in range(2))
    for memory in (used, fresh):
        extend(memory, 0, marked)
    kept = used.mark()
    fresh.mark()
    end = marked
    for step in during:
        if step > 0:
            extend(used, end, step)
            end += step
    used.restore(marked, kept)
    length = marked
    for step in after:
        if step > 0:
            assert extend(used, length, step) == extend(fresh, length, step)
            length += step
        elif length + step >= marked:
            assert used.can_rewind(length + step) == fresh.can_rewind(length + step)
            if used.can_rewind(length + step):
                length += step
                used.rewind(length)
                fresh.rewind(length)


@settings(max_examples=200, deadline=None)
@given(lengths=st.lists(st.integers(1, 14), min_size=1, max_size=30), target=st.integers(0, 200))
def test_what_may_be_gone_back_to_follows_from_the_lengths_alone(lengths: list[int], target: int) -> None:
    by_parts, by_tokens = (SlidingMemory(LAYERS, 2, 3, WINDOW, SLACK) for _ in range(2))
    length = 0
    for new in lengths:
        extend(by_parts, length, new)
        for position in range(length, length + new):
            extend(by_tokens, position, 1)
        length += new
    assert by_parts.can_rewind(target) == by_tokens.can_rewind(target)


def test_a_sliding_memory_keeps_its_size() -> None:
    cache = SlidingMemory(LAYERS, 2, 3, WINDOW, SLACK)
    size = cache.store.numel()
    for position in range(100):
        extend(cache, position, 1)
    extend(cache, 100, 50)
    assert cache.store.numel() == size


def test_a_sliding_memory_says_when_it_cannot_go_back() -> None:
    cache = SlidingMemory(LAYERS, 2, 3, WINDOW, SLACK)
    extend(cache, 0, 100)
    assert cache.can_rewind(100 - SLACK)
    assert not cache.can_rewind(50)
    assert not cache.can_rewind(101)
    assert not cache.can_rewind(-1)


def test_a_full_memory_cannot_go_forward() -> None:
    cache = FullMemory(LAYERS, 2, 3, limit=8)
    extend(cache, 0, 3)
    assert not cache.can_rewind(4)


def test_a_full_memory_grows_by_doubling_up_to_its_limit() -> None:
    cache = FullMemory(LAYERS, 2, 3, limit=100, room=16)
    rooms = []
    for position in range(100):
        extend(cache, position, 1)
        rooms.append(cache.store.shape[3])
    assert sorted(set(rooms)) == [16, 32, 64, 100]


def fill(cache: Cache, new: int) -> None:
    heads, dim = SMALL.num_key_value_heads, SMALL.head_dim
    cache.take(new)
    for layer in range(SMALL.num_hidden_layers):
        cache.extend(layer, torch.zeros(heads, new, dim), torch.zeros(heads, new, dim))


@pytest.mark.parametrize("length", [0, 7])
def test_the_whole_cache_goes_back_together(length: int) -> None:
    cache = Cache(SMALL, limit=64)
    fill(cache, 9)
    assert cache.rewind(length)
    assert cache.length == length


def test_a_cache_that_cannot_go_back_stays_as_it_is() -> None:
    cache = Cache(SMALL, limit=512, slack=0)
    fill(cache, 100)
    assert not cache.rewind(40)
    assert cache.length == 100
    assert cache.rewind(100)


def test_layers_of_one_kind_share_one_memory() -> None:
    cache = Cache(SMALL, limit=64)
    assert cache.places == (0, 1, 2, 0)
    assert cache.memories["sliding_attention"].store.shape[0] == 3
    assert cache.memories["full_attention"].store.shape[0] == 1


def test_a_mark_keeps_the_windows_aside_and_nothing_of_the_full_layers() -> None:
    cache = Cache(SMALL, limit=512)
    fill(cache, 100)
    mark = cache.mark()
    window, heads, dim = SMALL.sliding_window, SMALL.num_key_value_heads, SMALL.head_dim
    assert mark.bytes == 3 * 2 * heads * (window - 1) * dim * 4
    fill(cache, 60)
    cache.restore(mark)
    assert cache.length == 100
