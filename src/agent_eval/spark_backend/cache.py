"""What attention layers remember of one sequence, so that each token is computed once. Knows no weights and no tokens.

Layers of one kind see the same positions, so they share one memory: a tensor (layers, 2, KV, room, D) of keys and
values, in which the slot of a new token and the range that it looks at are found once for all of them.

Keys and values are float32 whatever the build: the type in which attention is exact, and the faster one on CPUs
without bfloat16 units. One sequence at a time; no batch.

Letters in shapes: T new tokens, S visible tokens, KV key-value heads, D head width.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import LayerType, SparkConfig


class KeysValues(NamedTuple):
    """What the queries of one pass may look at, oldest first, the new tokens last."""

    keys: Tensor  # (KV, S, D)
    values: Tensor  # (KV, S, D)


class Slots(NamedTuple):
    """Where one new token goes, the same in every layer of a kind."""

    new: int
    """Slot of the new token."""
    first: int
    """First slot that it looks at; it looks at all from there up to and including its own."""


class Memory(Protocol):
    """The memory of all layers of one kind."""

    store: Tensor
    """(layers, 2, KV, room, D): keys, then values. It may be another tensor after each pass."""

    def take(self, new: int) -> None:
        """Make room for a pass of ``new`` tokens; each layer then extends once."""
        ...

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> KeysValues:
        """Write the pass's tokens, (KV, T, D) each, of one layer; return what they look at: older ones and them."""
        ...

    def slots(self) -> Slots:
        """Return where a pass of one token writes and looks, for a kernel that does both itself."""
        ...

    def can_rewind(self, length: int) -> bool:
        """Tell whether everything that the token at position ``length`` looks at is still promised to be here."""
        ...

    def rewind(self, length: int) -> None:
        """Forget every token from position ``length`` on."""
        ...

    def mark(self) -> Tensor:
        """Return what it takes to come back to this position later; older entries are no longer promised."""
        ...

    def restore(self, length: int, kept: Tensor) -> None:
        """Come back to a position that was marked, as if everything since had not been."""
        ...


class FullMemory:
    """Remembers every token; doubles its room when it is full, up to a limit.

    Args:
        layers: Number of layers.
        kv_heads: Number of key-value heads.
        head_dim: Width of one head.
        limit: Most tokens that will ever be held.
        room: Tokens to make room for at first.
    """

    def __init__(self, layers: int, kv_heads: int, head_dim: int, limit: int, room: int = 256) -> None:
        self._limit = limit
        self._start = 0  # slot of the first token of this pass
        self._length = 0  # position of the next token
        self.store = torch.empty(layers, 2, kv_heads, min(room, limit), head_dim)

    def take(self, new: int) -> None:
        """Make room for a pass."""
        self._start = self._length
        if self._start + new > self.store.shape[3]:
            self._grow(self._start + new)
        self._length += new

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> KeysValues:
        """Write one layer's tokens and return all tokens."""
        stored_keys, stored_values = self.store[layer, 0], self.store[layer, 1]
        stored_keys[:, self._start : self._length] = keys
        stored_values[:, self._start : self._length] = values
        return KeysValues(stored_keys[:, : self._length], stored_values[:, : self._length])

    def slots(self) -> Slots:
        """Return where a pass of one token writes and looks."""
        return Slots(self._start, 0)

    def _grow(self, needed: int) -> None:
        layers, parts, heads, room, dim = self.store.shape
        while room < needed:
            room *= 2
        grown = self.store.new_empty(layers, parts, heads, min(room, max(self._limit, needed)), dim)
        grown[:, :, :, : self._start] = self.store[:, :, :, : self._start]
        self.store = grown

    def can_rewind(self, length: int) -> bool:
        """Tell whether the position was ever reached."""
        return 0 <= length <= self._length

    def rewind(self, length: int) -> None:
        """Forget every token from position ``length`` on."""
        self._length = length

    def mark(self) -> Tensor:
        """Return nothing: entries stay where they are until the sequence goes back below them."""
        return self.store[:, :, :, :0].clone()

    def restore(self, length: int, kept: Tensor) -> None:  # noqa: ARG002  nothing was kept aside
        """Come back to a position; the caller has not gone below it since."""
        self._length = length


class SlidingMemory:
    """Remembers the last tokens of sliding layers in fixed memory, and a few more so that they can go back.

    A ring whose window is always one contiguous view, so that a decode step needs no mask and no gather: entries stay
    in order, and when the end of the buffer is reached those still wanted move to its front. That happens once in
    ``window`` tokens, so a token costs about two copied entries.

    What may be gone back to follows from the lengths alone, never from where in the buffer the entries happen to lie:
    the same episode must make the same choices whatever came before it.

    Args:
        layers: Number of layers.
        kv_heads: Number of key-value heads.
        head_dim: Width of one head.
        window: Tokens that a query sees, itself included.
        slack: Tokens that a rewind may always go back by.
    """

    def __init__(self, layers: int, kv_heads: int, head_dim: int, window: int, slack: int) -> None:
        self._window = window
        self._keep = window - 1 + slack
        self.store = torch.empty(layers, 2, kv_heads, self._keep + window, head_dim)
        self._first = 0  # position of the token in slot 0
        self._oldest = 0  # entries from this position on are promised to be here
        self._start = 0  # slot of the first token of this pass
        self._length = 0  # position of the next token
        self._before = 0  # older tokens that this pass sees
        self._longer = False  # this pass has more tokens than the window

    def take(self, new: int) -> None:
        """Make room for a pass."""
        self._before = min(self._length, self._window - 1)
        self._longer = new > self._window
        if not self._longer and self._length - self._first + new > self.store.shape[3]:
            self._drop_to_front()
        self._start = self._length - self._first
        self._length += new
        self._oldest = max(self._oldest, self._length - self._keep)
        if self._longer:  # each layer then writes the last tokens to the front
            held = self._start + new
            self._first = self._length - min(held, self._keep)

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> KeysValues:
        """Write one layer's tokens and return the window before them and themselves."""
        mine = self.store[layer]  # (2, KV, room, D)
        seen = self._start - self._before
        if self._longer:
            everything = torch.cat((mine[:, :, : self._start], torch.stack((keys, values))), dim=2)
            kept = self._length - self._first
            mine[:, :, :kept] = everything[:, :, everything.shape[2] - kept :]
            return KeysValues(everything[0, :, seen:], everything[1, :, seen:])
        end = self._start + keys.shape[1]
        mine[0, :, self._start : end] = keys
        mine[1, :, self._start : end] = values
        return KeysValues(mine[0, :, seen:end], mine[1, :, seen:end])

    def slots(self) -> Slots:
        """Return where a pass of one token writes and looks."""
        return Slots(self._start, self._start - self._before)

    def _drop_to_front(self) -> None:
        held = self._length - self._first
        kept = min(held, self._keep)
        for mine in self.store:  # layer by layer, so that what is copied aside stays small
            # The source is cloned: the two ranges may overlap.
            mine[:, :, :kept] = mine[:, :, held - kept : held].clone()
        self._first = self._length - kept

    def can_rewind(self, length: int) -> bool:
        """Tell whether the window before a position is still promised."""
        return 0 <= length <= self._length and max(0, length - (self._window - 1)) >= self._oldest

    def rewind(self, length: int) -> None:
        """Forget every token from position ``length`` on."""
        self._length = length

    def mark(self) -> Tensor:
        """Return a copy of the window before the next token."""
        kept = min(self._length, self._window - 1)
        self._oldest = max(self._oldest, self._length - kept)
        held = self._length - self._first
        return self.store[:, :, :, held - kept : held].clone()

    def restore(self, length: int, kept: Tensor) -> None:
        """Put a marked window back."""
        self.store[:, :, :, : kept.shape[3]] = kept
        self._length = length
        self._first = self._oldest = length - kept.shape[3]


@dataclass(frozen=True)
class Mark:
    """A position of a sequence that its cache can come back to."""

    length: int
    """Tokens before it."""
    kept: Mapping[LayerType, Tensor]

    @property
    def bytes(self) -> int:
        """Size of what is kept aside."""
        return sum(kept.nbytes for kept in self.kept.values())


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
        kinds = config.layer_types
        self.places = tuple(kinds[:i].count(kind) for i, kind in enumerate(kinds))
        """For each layer of the model, its place among those of its kind."""
        self.reset()

    def reset(self) -> None:
        """Forget everything and release what was grown."""
        heads, dim = self._config.num_key_value_heads, self._config.head_dim
        self.length = 0
        """Number of tokens of the sequence so far."""
        self.memories: dict[LayerType, Memory] = {}
        """One memory per kind of layer that the model has."""
        for kind in dict.fromkeys(self._config.layer_types):
            layers, window = self._config.layer_types.count(kind), self._config.window(kind)
            self.memories[kind] = (
                FullMemory(layers, heads, dim, self._limit)
                if window is None
                else SlidingMemory(layers, heads, dim, window, self._slack)
            )

    def take(self, new: int) -> None:
        """Make room for a pass of ``new`` tokens, which every layer then extends by."""
        for memory in self.memories.values():
            memory.take(new)
        self.length += new

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> KeysValues:
        """Write the pass's tokens of one layer of the model, (KV, T, D) each, and return what they look at."""
        return self.memories[self._config.layer_types[layer]].extend(self.places[layer], keys, values)

    def rewind(self, length: int) -> bool:
        """Go back to the first ``length`` tokens and return True, or change nothing and return False."""
        if not all(memory.can_rewind(length) for memory in self.memories.values()):
            return False
        for memory in self.memories.values():
            memory.rewind(length)
        self.length = length
        return True

    def mark(self) -> Mark:
        """Remember this position. It can be restored until the sequence goes back below it."""
        return Mark(self.length, {kind: memory.mark() for kind, memory in self.memories.items()})

    def restore(self, mark: Mark) -> None:
        """Come back to a marked position, below which the sequence has not gone since."""
        for kind, memory in self.memories.items():
            memory.restore(mark.length, mark.kept[kind])
        self.length = mark.length
