"""What attention layers remember of one sequence, so that each token is computed once. Knows no weights and no tokens.

Keys and values are float32 whatever the build: attention in bfloat16 is five to ten times slower on a CPU without
bfloat16 units. One sequence at a time; no batch.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from agent_eval.spark_backend.config import SparkConfig


class KeysValues(NamedTuple):
    """What the queries of one pass may look at, oldest first, the new tokens last."""

    keys: Tensor  # (KV, S, D)
    values: Tensor  # (KV, S, D)


class LayerCache(Protocol):
    """The memory of one layer."""

    def extend(self, keys: Tensor, values: Tensor) -> KeysValues:
        """Append new tokens, (KV, T, D) each, and return what they may look at: older entries and themselves."""
        ...

    def can_rewind(self, length: int) -> bool:
        """Tell whether everything that the token at position ``length`` looks at is still here."""
        ...

    def rewind(self, length: int) -> None:
        """Forget every token from position ``length`` on."""
        ...


class FullCache:
    """Remembers every token; doubles its room when it is full, up to a limit.

    Args:
        kv_heads: Number of key-value heads.
        head_dim: Width of one head.
        limit: Most tokens that will ever be held.
        room: Tokens to make room for at first.
    """

    def __init__(self, kv_heads: int, head_dim: int, limit: int, room: int = 256) -> None:
        self._limit = limit
        self._length = 0
        self._store = torch.empty(2, kv_heads, min(room, limit), head_dim)  # keys, values

    def extend(self, keys: Tensor, values: Tensor) -> KeysValues:
        """Append new tokens and return all tokens."""
        start, end = self._length, self._length + keys.shape[1]
        if end > self._store.shape[2]:
            self._grow(end)
        self._length = end
        stored_keys, stored_values = self._store[0], self._store[1]
        stored_keys[:, start:end] = keys
        stored_values[:, start:end] = values
        return KeysValues(stored_keys[:, :end], stored_values[:, :end])

    def _grow(self, needed: int) -> None:
        room = self._store.shape[2]
        while room < needed:
            room *= 2
        grown = self._store.new_empty(
            2, self._store.shape[1], min(room, max(self._limit, needed)), self._store.shape[3]
        )
        grown[:, :, : self._length] = self._store[:, :, : self._length]
        self._store = grown

    def can_rewind(self, length: int) -> bool:
        """Tell whether the position was ever reached."""
        return 0 <= length <= self._length

    def rewind(self, length: int) -> None:
        """Forget every token from position ``length`` on."""
        self._length = length


class SlidingCache:
    """Remembers the last tokens of a sliding layer in fixed memory, and a few more so that it can go back.

    A ring whose window is always one contiguous view, so that a decode step needs no mask and no gather: entries stay
    in order, and when the end of the buffer is reached those still wanted move to its front. That happens once in
    ``window`` tokens, so a token costs about two copied entries.

    Args:
        kv_heads: Number of key-value heads.
        head_dim: Width of one head.
        window: Tokens that a query sees, itself included.
        slack: Tokens that a rewind may always go back by.
    """

    def __init__(self, kv_heads: int, head_dim: int, window: int, slack: int) -> None:
        self._window = window
        self._keep = window - 1 + slack
        self._store = torch.empty(2, kv_heads, self._keep + window, head_dim)  # keys, values
        self._first = 0  # position of the token in slot 0
        self._length = 0  # position of the next token

    def extend(self, keys: Tensor, values: Tensor) -> KeysValues:
        """Append new tokens and return the window before them and themselves."""
        new = keys.shape[1]
        if new > self._window:
            return self._extend_by_more_than_a_window(keys, values)
        if self._length + new - self._first > self._store.shape[2]:
            self._drop_to_front()
        start = self._length - self._first
        seen, end = start - self._before(), start + new
        self._length += new
        stored_keys, stored_values = self._store[0], self._store[1]
        stored_keys[:, start:end] = keys
        stored_values[:, start:end] = values
        return KeysValues(stored_keys[:, seen:end], stored_values[:, seen:end])

    def _extend_by_more_than_a_window(self, keys: Tensor, values: Tensor) -> KeysValues:
        held, before, new = self._length - self._first, self._before(), keys.shape[1]
        window = self._store[:, :, held - before : held]
        seen = torch.cat((window, torch.stack((keys, values))), dim=2)  # (2, KV, before + new, D)
        everything = torch.cat((self._store[:, :, : held - before], seen), dim=2)
        self._length += new
        kept = min(everything.shape[2], self._keep)
        self._store[:, :, :kept] = everything[:, :, everything.shape[2] - kept :]
        self._first = self._length - kept
        return KeysValues(seen[0], seen[1])

    def _drop_to_front(self) -> None:
        held = self._length - self._first
        kept = min(held, self._keep)
        # The source is cloned: the two ranges may overlap.
        self._store[:, :, :kept] = self._store[:, :, held - kept : held].clone()
        self._first = self._length - kept

    def _before(self) -> int:
        return min(self._length, self._window - 1)  # older tokens that the next one sees

    def can_rewind(self, length: int) -> bool:
        """Tell whether the window before a position is still held."""
        return 0 <= length <= self._length and max(0, length - (self._window - 1)) >= self._first

    def rewind(self, length: int) -> None:
        """Forget every token from position ``length`` on."""
        self._length = length


class Cache:
    """The memory of one sequence over all layers.

    Args:
        config: The model.
        limit: Most tokens of a sequence.
        slack: Tokens that a rewind may always go back by; None stands for one window.
    """

    def __init__(self, config: SparkConfig, limit: int, slack: int | None = None) -> None:
        self._config = config
        self._limit = limit
        self._slack = config.sliding_window if slack is None else slack
        self.reset()

    def reset(self) -> None:
        """Forget everything and release what was grown."""
        heads, dim = self._config.num_key_value_heads, self._config.head_dim
        self.length = 0
        """Number of tokens of the sequence so far."""
        self.layers: list[LayerCache] = []
        """One memory per layer, in the model's order."""
        for kind in self._config.layer_types:
            window = self._config.window(kind)
            if window is None:
                self.layers.append(FullCache(heads, dim, self._limit))
            else:
                self.layers.append(SlidingCache(heads, dim, window, self._slack))

    def rewind(self, length: int) -> bool:
        """Go back to the first ``length`` tokens and return True, or forget everything and return False."""
        if all(layer.can_rewind(length) for layer in self.layers):
            for layer in self.layers:
                layer.rewind(length)
            self.length = length
            return True
        self.reset()
        return False
