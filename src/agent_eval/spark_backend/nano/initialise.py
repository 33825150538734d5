"""A start from which a small Spark learns to look things up. It only sets the start; every weight is trained.

A reply names an element and then its number, which stands at the start of the element's line: it is found by going back
from a name to the same words on the screen, and from there to the start of their line. Left to chance, a small model
takes millions of tokens to find that out (docs/nano.md has the figures). So the first layer begins by noting, at each
token, the token before it, the one before that, and the start of its line; and each full layer begins by comparing what
was noted with what stands on the screen, once for the number and once for the word that comes next.

The residual stream is divided for that: where tokens differ, and where notes are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import SparkConfig

_SPREAD = 0.1
"""Standard deviation of the embedding where tokens differ."""
_CONSTANT = slice(0, 12)
"""Dimensions that begin equal for all tokens: from them a head makes a query or key that depends on position alone."""
_FLAGS = 4
"""How many dimensions tell a line's start from other tokens."""
_STARTS_LINE = slice(_CONSTANT.stop, _CONSTANT.stop + _FLAGS)
"""Dimensions that begin different from zero for tokens that start a line."""
_CONTENT = _STARTS_LINE.stop
"""First dimension in which tokens differ at random; up to the notes."""
_NOTED = 24
"""Dimensions of a token's content that a note keeps."""
_COMPARED = 22
"""How many of them a full layer compares."""
_NUMBER = 28
"""Dimensions of its content that the note of a line's start keeps, beside those that tell that it is one."""
_SILENT = ("out_proj.weight", "down_proj.weight", "g_proj.weight")
"""What writes to the residual stream begins with zeros, so that the notes are all that is added at first."""
_OPEN = 0.5
"""A gate whose weights are zero lets half through."""

_OFFSET_LOGIT = 12.0
"""Score of the token that a head looks for by its distance, in all rotary pairs that tell neighbours apart."""
_LINE_LOGIT = 3.0
"""Score of a line's start in each of some slower rotary pairs, falling off with its distance."""
_MATCH = 1.8
"""Gain of query and key where content is compared: the same token wins by about ten."""
_LINE_BONUS = 8.0
"""Score of what stands in a line of the screen, when a name's line is looked for."""
_NEWEST_BONUS = 10.0
"""Score of what was read just now, falling to its negative over a thousand tokens."""
_NUMBER_GAIN, _WORD_GAIN = 10.0, 2.0
"""How loud a number and a word are said, against a token's own content."""


def structured_weights(
    config: SparkConfig, generator: torch.Generator, alike: Sequence[tuple[int, int]] = ()
) -> dict[str, Tensor]:
    """Draw float32 weights, named as in a checkpoint.

    Args:
        config: The model's shape.
        generator: Draws the random part.
        alike: Tokens that start a line, each with the number that calls it; the two begin alike in content.

    Raises:
        ValueError: the model is too narrow.
    """
    weights: dict[str, Tensor] = {}
    for name, shape in config.tensor_shapes().items():
        if name.endswith("norm.weight"):
            weights[name] = torch.ones(shape)
        elif name.endswith(_SILENT):
            weights[name] = torch.zeros(shape)
        else:
            weights[name] = torch.randn(shape, generator=generator) * _spread(name, shape)
    notes = _Notes(config)
    table = weights["model.embedding.weight"]
    table[:, notes.before.start :] = 0.0
    for start, number in alike:
        table[start] = table[number]
    table[:, _CONSTANT] = _SPREAD
    table[:, _STARTS_LINE] = 0.0
    table[[start for start, _ in alike], _STARTS_LINE] = _SPREAD
    for layer, kind in enumerate(config.layer_types):
        fused = weights[f"model.layers.{layer}.self_attn.q_k_v_proj.weight"]
        out = weights[f"model.layers.{layer}.self_attn.out_proj.weight"]
        heads = _Heads(fused, out, config)
        if kind == "full_attention":
            _look_up(heads, notes, config)
        elif layer == 0:
            _take_notes(heads, notes, config)
        elif layer == 1:
            _attend_back(heads, notes, config, range(2, 2 + config.num_attention_heads - 1))
    return weights


class _Notes:
    """Where the residual stream keeps what the first layer notes at each token."""

    def __init__(self, config: SparkConfig) -> None:
        end = config.hidden_size
        self.in_line = slice(end - _FLAGS, end)
        """That it stands in a line at all."""
        self.line = slice(self.in_line.start - _NUMBER, self.in_line.start)
        """Content of the start of its line."""
        self.second = slice(self.line.start - _NOTED, self.line.start)
        """Content of the token two before."""
        self.before = slice(self.second.start - _NOTED, self.second.start)
        """Content of the token before."""
        if self.before.start < _CONTENT + config.head_dim:
            raise ValueError(f"hidden_size {end} leaves no room for what the first layer notes; expected 128 or more")
        self.scale = math.sqrt((_CONSTANT.stop + self.before.start - _CONTENT) / end)
        """Root mean square of an embedding, in units of its spread."""


class _Heads:
    """The parts of an attention's matrices by head: views that are written to."""

    def __init__(self, fused: Tensor, out: Tensor, config: SparkConfig) -> None:
        self._fused, self._out = fused, out
        self._size, self._heads, self._kv = config.head_dim, config.num_attention_heads, config.num_key_value_heads
        self.group = self._heads // self._kv

    def query(self, head: int) -> Tensor:
        """Return the rows of a query head, (D, H)."""
        return self._fused[head * self._size : (head + 1) * self._size]

    def key(self, kv: int) -> Tensor:
        """Return the rows of a key head, (D, H)."""
        return self.query(self._heads + kv)

    def value(self, kv: int) -> Tensor:
        """Return the rows of a value head, (D, H)."""
        return self.query(self._heads + self._kv + kv)

    def out(self, head: int) -> Tensor:
        """Return the columns by which a head writes to the residual stream, (H, D)."""
        return self._out[:, head * self._size : (head + 1) * self._size]


def _spread(name: str, shape: tuple[int, ...]) -> float:
    """Return the standard deviation of a matrix."""
    if name == "model.embedding.weight":
        return _SPREAD
    return 1 / math.sqrt(shape[1])


def _take_notes(heads: _Heads, notes: _Notes, config: SparkConfig) -> None:
    """Make the first layer's heads note the two tokens before, and the start of the line."""
    _attend_back(heads, notes, config, (1, 2), kv=0)
    _read(heads.value(0), slice(_CONTENT, _CONTENT + config.head_dim))
    for head, place in ((0, notes.before), (1, notes.second)):
        _write(heads.out(head), place, _SPREAD * notes.scale / _OPEN)
    line = heads.group  # the first head of the second group
    _attend_to_line_start(heads, notes, config, line)
    value, out = heads.value(1), heads.out(line)
    _read(value, slice(_CONTENT, _CONTENT + _NUMBER))
    value[_NUMBER:] = 0.0
    _read(value[_NUMBER : _NUMBER + _FLAGS], _STARTS_LINE)
    _write(out, slice(notes.line.start, notes.in_line.stop), _SPREAD * notes.scale / _OPEN)


def _attend_back(
    heads: _Heads, notes: _Notes, config: SparkConfig, offsets: Sequence[int], kv: int | None = None
) -> None:
    """Make query heads, from the first one on, attend so many tokens back.

    Args:
        heads: The layer's.
        notes: How large what is read is.
        config: The model's shape.
        offsets: One for each query head.
        kv: Key head that serves them; all if not given.
    """
    half = config.head_dim // 2
    frequencies = _frequencies(config)
    sharp = frequencies > 0.05  # slower pairs cannot tell neighbours apart
    pull = math.sqrt(_OFFSET_LOGIT * math.sqrt(config.head_dim)) * notes.scale / _CONSTANT.stop
    for key in range(config.num_key_value_heads) if kv is None else (kv,):
        rows = heads.key(key)
        rows[:half][sharp] = 0.0
        rows[half:][sharp] = 0.0
        rows[:half, _CONSTANT][sharp] = pull
    for head, offset in enumerate(offsets):
        rows = heads.query(head)
        angle = -offset * frequencies
        for part, wave in ((rows[:half], torch.cos(angle)), (rows[half:], torch.sin(angle))):
            part[sharp] = 0.0
            part[:, _CONSTANT][sharp] = (pull * wave[sharp])[:, None]


def _attend_to_line_start(heads: _Heads, notes: _Notes, config: SparkConfig, head: int) -> None:
    """Make a query head attend to the nearest token before it that starts a line."""
    half = config.head_dim // 2
    frequencies = _frequencies(config)
    slow = (frequencies > 0.02) & (frequencies < 0.35)  # falling off over the length of a line
    strength = math.sqrt(_LINE_LOGIT * math.sqrt(config.head_dim))
    query, key = heads.query(head), heads.key(head // heads.group)
    query[:] = 0.0
    key[:] = 0.0
    query[:half, _CONSTANT][slow] = strength * notes.scale / _CONSTANT.stop
    key[:half, _STARTS_LINE][slow] = strength * notes.scale / _FLAGS


def _look_up(heads: _Heads, notes: _Notes, config: SparkConfig) -> None:
    """Make a full layer find the line that a name stands in, and the word that came next after a word.

    Content is compared in the dimensions of a head that do not turn with the position. For the number, only what stands
    in a line counts, and the newest screen before older ones. It is said louder than the word: what followed the last
    call was another number.
    """
    turning = config.full_rope.rotary_dim(config.head_dim)
    compared = slice(turning, turning + _COMPARED)
    word, said = slice(_CONTENT, _CONTENT + _NOTED), slice(_CONTENT, _CONTENT + _NUMBER)
    # a call's number follows the name's last word by two tokens; a word follows the one before it at once
    plan = ((notes.second, word, notes.line, _NUMBER_GAIN), (word, notes.before, said, _WORD_GAIN))
    for kv, (known, sought, told, gain) in enumerate(plan):
        head = kv * heads.group
        query, key = heads.query(head), heads.key(kv)
        query[:] = 0.0
        key[:] = 0.0
        _read(query[compared], known, _MATCH)
        _read(key[compared], sought, _MATCH)
        _read(heads.value(kv), told)
        _write(heads.out(head), said, gain * _SPREAD)
    query, key = heads.query(0), heads.key(0)
    root = math.sqrt(config.head_dim)
    in_line = turning + _COMPARED
    query[in_line, _CONSTANT] = math.sqrt(_LINE_BONUS * root) / _CONSTANT.stop
    key[in_line, notes.in_line] = math.sqrt(_LINE_BONUS * root) / _FLAGS
    slow = 2  # this rotary pair turns by half in about a thousand tokens
    query[slow, _CONSTANT] = math.sqrt(_NEWEST_BONUS * root) / _CONSTANT.stop
    key[slow, _CONSTANT] = math.sqrt(_NEWEST_BONUS * root) / _CONSTANT.stop


def _read(rows: Tensor, dims: slice, gain: float = 1.0) -> None:
    """Let rows (R, H) read so many dimensions, one each."""
    rows[:] = 0.0
    for row, dim in zip(range(len(rows)), range(dims.start, dims.stop), strict=False):
        rows[row, dim] = gain


def _write(columns: Tensor, dims: slice, gain: float) -> None:
    """Let columns (H, D) write to so many dimensions, one each."""
    columns[:] = 0.0
    for column, dim in zip(range(columns.shape[1]), range(dims.start, dims.stop), strict=False):
        columns[dim, column] = gain


def _frequencies(config: SparkConfig) -> Tensor:
    """Return the angle per token of each rotary pair of a sliding layer, (D / 2,)."""
    half = config.head_dim // 2
    return config.sliding_rope.theta ** (-torch.arange(half, dtype=torch.float32) / half)
