from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.spark_backend.cache import Cache, FullCache, LayerCache, SlidingCache
from tests.spark_backend.configs import SMALL

WINDOW = 5
SLACK = 4


def entries(start: int, new: int) -> tuple[Tensor, Tensor]:
    """Keys that hold their position, values that hold its negative: (KV 2, T, D 3)."""
    positions = torch.arange(start, start + new, dtype=torch.float32)[None, :, None].expand(2, new, 3)
    return positions, -positions


def extend(cache: LayerCache, start: int, new: int) -> list[int]:
    """Append tokens and return the positions that they may look at."""
    seen = cache.extend(*entries(start, new))
    assert torch.equal(seen.values, -seen.keys)
    assert torch.equal(seen.keys, seen.keys[:1, :, :1].expand_as(seen.keys))
    return [int(position) for position in seen.keys[0, :, 0]]


STEPS = st.lists(st.one_of(st.integers(1, 14), st.integers(-12, -1)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_a_full_cache_returns_every_token_after_any_history(steps: list[int]) -> None:
    cache, length = FullCache(2, 3, limit=10_000, room=4), 0
    for step in steps:
        if step > 0:
            assert extend(cache, length, step) == list(range(length + step))
            length += step
        elif length + step >= 0:
            assert cache.can_rewind(length + step)
            cache.rewind(length + step)
            length += step


@settings(max_examples=300, deadline=None)
@given(steps=STEPS)
def test_a_sliding_cache_returns_exactly_the_window_after_any_history(steps: list[int]) -> None:
    cache, length = SlidingCache(2, 3, WINDOW, SLACK), 0
    highest = 0
    for step in steps:
        if step > 0:
            first = max(0, length - (WINDOW - 1))
            assert extend(cache, length, step) == list(range(first, length + step))
            length += step
            highest = max(highest, length)
        elif length + step >= 0:
            target = length + step
            if highest - target <= SLACK:
                assert cache.can_rewind(target), "the slack is promised"
            if cache.can_rewind(target):
                cache.rewind(target)
                length = target


def test_a_sliding_cache_keeps_its_size() -> None:
    cache = SlidingCache(2, 3, WINDOW, SLACK)
    size = cache._store.numel()
    for position in range(100):
        extend(cache, position, 1)
    extend(cache, 100, 50)
    assert cache._store.numel() == size


def test_a_sliding_cache_says_when_it_cannot_go_back() -> None:
    cache = SlidingCache(2, 3, WINDOW, SLACK)
    extend(cache, 0, 100)
    assert cache.can_rewind(100 - SLACK)
    assert not cache.can_rewind(50)
    assert not cache.can_rewind(101)
    assert not cache.can_rewind(-1)


def test_a_full_cache_cannot_go_forward() -> None:
    cache = FullCache(2, 3, limit=8)
    extend(cache, 0, 3)
    assert not cache.can_rewind(4)


@pytest.mark.parametrize("length", [0, 7])
def test_the_whole_cache_goes_back_together(length: int) -> None:
    cache = Cache(SMALL, limit=64)
    heads, dim = SMALL.num_key_value_heads, SMALL.head_dim
    for layer in cache.layers:
        layer.extend(torch.zeros(heads, 9, dim), torch.zeros(heads, 9, dim))
    cache.length = 9
    assert cache.rewind(length)
    assert cache.length == length


def test_a_cache_that_cannot_go_back_is_emptied() -> None:
    cache = Cache(SMALL, limit=512, slack=0)
    heads, dim = SMALL.num_key_value_heads, SMALL.head_dim
    for layer in cache.layers:
        layer.extend(torch.zeros(heads, 100, dim), torch.zeros(heads, 100, dim))
    cache.length = 100
    assert not cache.rewind(40)
    assert cache.length == 0
    assert all(layer.can_rewind(0) and not layer.can_rewind(1) for layer in cache.layers)
