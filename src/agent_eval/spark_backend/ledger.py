"""What a build takes in memory, part by part, by arithmetic from its config and its name. Allocates nothing.

Two kinds of memory are told apart. *Anonymous* memory is the process's own and must be there. *Mapped* memory is the
checkpoint's file: it is shared with whoever else maps it, and the system may take it back and read it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.description import DENSE, BuildDescription, Stored
from agent_eval.spark_backend.kv_budget import BF16, FP32, cache_bytes
from agent_eval.spark_backend.rotary import FIRST_ROWS
from agent_eval.spark_backend.torch_engine import PREFILL_ROWS

BLOCK_ROWS = 16
"""Rows of a grouped weight that lie together; the last block is filled up (kernels/native/weights.h)."""

BFLOAT16_BITS = 16
"""Weights of just so many bits lie in the checkpoint's file."""


@dataclass(frozen=True)
class Entry:
    """One part of a build. Sizes are bytes."""

    part: str
    """Such as ``attention projections``; the same parts, in the same order, for every build."""
    anonymous: int
    mapped: int
    read_per_token: int
    """What decoding one token reads of it, beside the cache's length."""


@dataclass(frozen=True)
class Ledger:
    """All parts of one build."""

    build: str
    context: int
    """Tokens that the cache and the rotary tables are reckoned for."""
    entries: tuple[Entry, ...]

    @property
    def anonymous(self) -> int:
        """Bytes that the process must have."""
        return sum(entry.anonymous for entry in self.entries)

    @property
    def mapped(self) -> int:
        """Bytes of the checkpoint's file that are in use."""
        return sum(entry.mapped for entry in self.entries)

    @property
    def read_per_token(self) -> int:
        """Bytes of weights that one decoded token reads."""
        return sum(entry.read_per_token for entry in self.entries)

    @property
    def head_share(self) -> float:
        """Share of the head in what one token reads."""
        return sum(entry.read_per_token for entry in self.entries if entry.part == HEAD) / self.read_per_token


HEAD = "head"


@dataclass(frozen=True)
class _Size:
    anonymous: int = 0
    mapped: int = 0

    @property
    def total(self) -> int:
        return self.anonymous + self.mapped


def ledger(config: SparkConfig, build: BuildDescription, context: int) -> Ledger:
    """Compute what a build takes.

    Args:
        config: The model.
        build: What the build stores, and how.
        context: Most tokens of prompt and generation together.
    """
    context = min(context, config.max_position_embeddings)
    layers, hidden, ffn = config.num_hidden_layers, config.hidden_size, config.intermediate_size
    query, key = config.query_width, config.key_width
    of_attention = [(query + 2 * key, hidden), (hidden, query)]
    of_mlp = [(2 * ffn, hidden), (hidden, ffn)]
    table = _weight(build.embedding, (config.vocab_size, hidden))
    head = _weight(build.head, (config.vocab_size, hidden))
    small = layers * (config.num_attention_heads + 2) * hidden * FP32 + hidden * FP32  # gates, two norms; the last norm
    shared = config.tie_word_embeddings and build.head == build.embedding
    entries = [
        _entry("embedding", [table], read=table.total // config.vocab_size),
        _entry("attention projections", [_weight(build.layers, shape) for shape in of_attention] * layers),
        _entry("MLP projections", [_weight(build.layers, shape) for shape in of_mlp] * layers),
        # a tied head that is stored as the embedding is, is the embedding itself, read whole for each token
        Entry(HEAD, 0, 0, head.total) if shared else _entry(HEAD, [head]),
        Entry("gates and norms", small, 0, small),
        Entry("keys and values", cache_bytes(config, context, marks=1), 0, 0),
        Entry("rotary tables", rotary_bytes(config, context), 0, 0),
        Entry("activations of a prefill", prefill_bytes(config, context), 0, 0),
    ]
    return Ledger(build.name, context, tuple(entries))


def rotary_bytes(config: SparkConfig, context: int) -> int:
    """Return what the tables of both layer types take once a context is full; they double when it outgrows them."""
    rows = min(config.max_position_embeddings, FIRST_ROWS)
    while rows < context:
        rows *= 2
    return 2 * 2 * rows * config.head_dim * FP32  # two types, cosines and sines


def prefill_bytes(config: SparkConfig, context: int) -> int:
    """Return about what one pass over a prompt holds at its widest: the residual stream, gate and up, their product."""
    rows = min(PREFILL_ROWS, context)
    return rows * (2 * config.hidden_size + 4 * config.intermediate_size) * FP32


def require_room(needed: Ledger | Sequence[Ledger], available: int) -> None:
    """Refuse what cannot fit, before memory is taken.

    Args:
        needed: What is to be held at the same time.
        available: Bytes that this machine can give.

    Raises:
        OperatorError: the anonymous parts need more than there is.
    """
    ledgers = [needed] if isinstance(needed, Ledger) else list(needed)
    total = sum(each.anonymous for each in ledgers)
    if total <= available or available <= 0:
        return
    names = ", ".join(each.build for each in ledgers)
    widest = max((entry for each in ledgers for entry in each.entries), key=lambda entry: entry.anonymous)
    raise OperatorError(
        f"{names} with a context of {ledgers[0].context:,} tokens would take {mib(total)} of memory, "
        f"{mib(widest.anonymous)} of it for {widest.part}; {mib(available)} are free",
        hint="take a build with fewer bits, a shorter context, or fewer builds at a time",
    )


def mib(size: int) -> str:
    """Return a size in words."""
    return f"{size / 2**20:,.0f} MiB"


def _weight(stored: Stored, shape: tuple[int, int]) -> _Size:
    rows, width = shape
    if stored.bits == BFLOAT16_BITS:
        return _Size(mapped=rows * width * BF16)
    if stored.bits < DENSE:
        rows = -(-rows // BLOCK_ROWS) * BLOCK_ROWS
    return _Size(anonymous=round(rows * width * stored.bits_per_weight / 8))


def _entry(part: str, sizes: Sequence[_Size], read: int | None = None) -> Entry:
    anonymous, mapped = sum(size.anonymous for size in sizes), sum(size.mapped for size in sizes)
    return Entry(part, anonymous, mapped, anonymous + mapped if read is None else read)
