"""A start from which a small Spark learns to look things up. It only sets the start; every weight is trained.

A reply names an element and then its number, which stands at the start of the element's line: it is found by going back
from a name to the same words on the screen, and from there to the start of their line. Left to chance, a small model
takes millions of tokens to find that out (docs/design/0010 has the figures). So the first layer begins by noting, at
each token, the token before it, the one before that, and the start of its line; the second by noting a few tokens
together; and each full layer by comparing what was noted with what stands on the screen, once for the number and once
for the word that comes next.

The residual stream is divided for that: where tokens differ, and where notes are kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import SparkConfig

_SPREAD = 0.1
"""Standard deviation of the embedding where tokens differ."""
_CONSTANT = slice(0, 12)
"""Dimensions that begin equal for all tokens: from them a head makes a query or key that depends on position alone."""
_FLAGS = 4
"""How many dimensions tell where something starts."""
_STARTS = slice(_CONSTANT.stop, _CONSTANT.stop + _FLAGS // 2)
"""Dimensions that begin different from zero for tokens that start a line, or else a turn or its thought."""
_STARTS_LINE = slice(_STARTS.stop, _STARTS.stop + _FLAGS // 2)
"""Dimensions that begin positive for a line's start, negative for a turn's, and zero for all other tokens."""
_CONTENT = _STARTS_LINE.stop
"""First dimension in which tokens differ at random; up to the notes."""
_SPACED = 4
"""Dimensions, the last of content, that tell a piece of a word behind a space from the same piece without one."""
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

_QUIET = 0.1
"""What is left of a query and a key beside what they are made for, to grow from."""
_OFFSET_LOGIT = 12.0
"""Score of the token that a head looks for by its distance, in all rotary pairs that tell neighbours apart."""
_NEAR = 1.5
"""How far behind a token the middle is of the few that are noted together."""
_NEAR_LOGIT = 0.8
"""Score, in each rotary pair, of the token that a head looks for with its neighbours: half as much for the next one."""
_LINE_LOGIT = 3.0
"""Score of a line's start in each of some slower rotary pairs, falling off with its distance."""
_MATCH = 2.0
"""Gain of query and key where content is compared: the same token wins by about ten."""
_MATCH_BEFORE = 2.0
"""The same for what stands before it: a few words together."""
_LINE_BONUS = 14.0
"""Score of what stands in a line of the screen, when a name's line is looked for."""
_NEWEST_BONUS = 10.0
"""Score of what was read just now, falling to its negative over a thousand tokens."""
_NUMBER_GAIN, _WORD_GAIN = 25.0, 6.0
"""How loud a number and a word are said, against a token's own content."""


class Start(NamedTuple):
    """What the first weights know of a vocabulary."""

    line_starts: Sequence[tuple[int, int]] = ()
    """Tokens that start a line, each with the number that calls it; the two begin alike in content."""
    spaced: Sequence[tuple[int, int]] = ()
    """Tokens that hold a space before a piece of a word, each with the piece alone; likewise."""
    turn_starts: Sequence[int] = ()
    """Tokens from which on a line of the screen has ended."""


UNKNOWN = Start()


def structured_weights(config: SparkConfig, generator: torch.Generator, start: Start = UNKNOWN) -> dict[str, Tensor]:
    """Draw float32 weights, named as in a checkpoint.

    Args:
        config: The model's shape.
        generator: Draws the random part.
        start: What is known of the vocabulary.

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
    table[:, notes.spaced.start :] = 0.0
    for one, other in (*start.line_starts, *start.spaced):
        table[one] = table[other]
    table[[one for one, _ in start.spaced], notes.spaced] = _SPREAD
    table[:, _CONSTANT] = _SPREAD
    table[:, _STARTS.start : _STARTS_LINE.stop] = 0.0
    for tokens, sign in (([line for line, _ in start.line_starts], 1), (list(start.turn_starts), -1)):
        table[tokens, _STARTS] = _SPREAD
        table[tokens, _STARTS_LINE] = sign * _SPREAD
    _level(table, notes)
    for layer, kind in enumerate(config.layer_types):
        fused = weights[f"model.layers.{layer}.self_attn.q_k_v_proj.weight"]
        out = weights[f"model.layers.{layer}.self_attn.out_proj.weight"]
        heads = _Heads(fused, out, config)
        if kind == "full_attention":
            _look_up(heads, notes, config)
        elif layer == 0:
            _take_notes(heads, notes, config)
        elif layer == 1:
            _note_what_is_behind(heads, notes, config)
    return weights


class _Notes:
    """Where the residual stream keeps what the first layer notes at each token."""

    def __init__(self, config: SparkConfig) -> None:
        end = config.hidden_size
        self.in_line = slice(end - _FLAGS // 2, end)
        """Whether it stands in a line of the screen at all."""
        self.line = slice(self.in_line.start - _NUMBER, self.in_line.start)
        """Content of the start of its line."""
        self.second = slice(self.line.start - _NOTED, self.line.start)
        """Content of the token two before."""
        self.before = slice(self.second.start - _NOTED, self.second.start)
        """Content of the token before."""
        self.behind = slice(self.before.start - _NOTED, self.before.start)
        """Content of a few tokens up to the one before, together."""
        self.behind_second = slice(self.behind.start - _NOTED, self.behind.start)
        """The same of the token two before."""
        content = self.behind_second.start - _CONTENT
        if content < _NUMBER + _SPACED:
            raise ValueError(f"hidden_size {end} leaves no room for what is noted; expected 192 or more")
        self.spaced = slice(self.behind_second.start - _SPACED, self.behind_second.start)
        """Whether a piece of a word has a space before it: the last dimensions of content, which no note keeps."""
        filled = _CONSTANT.stop + content
        self.scales = math.sqrt(filled / end), math.sqrt((filled + end - self.before.start) / end)
        """Root mean square of what the first layer reads, and the second, in units of an embedding's spread."""


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


def _level(table: Tensor, notes: _Notes) -> None:
    """Scale the content of every token so that all are equally long: what a norm makes of their constants is equal."""
    rest = table.square().sum(1) - table[:, _CONTENT : notes.spaced.start].square().sum(1)
    wanted = _SPREAD**2 * (_CONSTANT.stop + notes.spaced.stop - _CONTENT) - rest
    content = table[:, _CONTENT : notes.spaced.start]
    content *= (wanted.sqrt() / content.norm(dim=1))[:, None]


def _take_notes(heads: _Heads, notes: _Notes, config: SparkConfig) -> None:
    """Make the first layer's heads note the two tokens before, and the start of the line."""
    line = heads.group  # the first head of the second group
    for head, offset, place in ((0, 1, notes.before), (1, 2, notes.second)):
        _attend_back(heads, config, head, offset, notes.scales[0])
        _write(heads.out(head), place, _SPREAD * notes.scales[0] / _OPEN)
    _read(heads.value(0), slice(_CONTENT, _CONTENT + _NOTED))
    _attend_to_line_start(heads, config, line, notes.scales[0])
    value, out = heads.value(1), heads.out(line)
    _read(value, slice(_CONTENT, _CONTENT + _NUMBER))
    value[_NUMBER:] = 0.0
    _read(value[_NUMBER : _NUMBER + _FLAGS // 2], _STARTS_LINE)
    _write(out, slice(notes.line.start, notes.in_line.stop), _SPREAD * notes.scales[0] / _OPEN)


def _note_what_is_behind(heads: _Heads, notes: _Notes, config: SparkConfig) -> None:
    """Make the second layer's first heads note a few tokens together: up to the one before, and up to the third."""
    for head, middle, place in ((0, _NEAR, notes.behind), (1, _NEAR + 2, notes.behind_second)):
        _attend_near(heads, config, head, middle, notes.scales[1])
        _write(heads.out(head), place, 2 * _SPREAD * notes.scales[1] / _OPEN)  # a mean of several is half as large
    _read(heads.value(0), slice(_CONTENT, _CONTENT + _NOTED))
    for offset, head in enumerate(range(heads.group, config.num_attention_heads), start=3):
        _attend_back(heads, config, head, offset, notes.scales[1])


def _attend_back(heads: _Heads, config: SparkConfig, head: int, offset: int, scale: float) -> None:
    """Make a query head attend to the token so many before."""
    half = config.head_dim // 2
    frequencies = _frequencies(config)
    sharp = frequencies > 0.05  # slower pairs cannot tell neighbours apart
    pull = math.sqrt(_OFFSET_LOGIT * math.sqrt(config.head_dim)) * scale / _CONSTANT.stop
    _pull(heads, head, sharp, pull, -offset * frequencies, half)


def _attend_near(heads: _Heads, config: SparkConfig, head: int, middle: float, scale: float) -> None:
    """Make a query head attend to the token so many before, and to its neighbours, evenly."""
    half = config.head_dim // 2
    frequencies = _frequencies(config)
    heads.query(head)[:] *= _QUIET
    heads.key(head // heads.group)[:] *= _QUIET
    pull = math.sqrt(_NEAR_LOGIT * math.sqrt(config.head_dim)) * scale / _CONSTANT.stop
    near = (frequencies > 0.02) & (frequencies < 0.5)
    _pull(heads, head, near, pull, -middle * frequencies, half)


def _pull(heads: _Heads, head: int, pairs: Tensor, pull: float, angle: Tensor, half: int) -> None:
    """Let a head's query meet its key, in some rotary pairs, at an angle that a distance undoes."""
    key = heads.key(head // heads.group)
    key[:half][pairs] = 0.0
    key[half:][pairs] = 0.0
    key[:half, _CONSTANT][pairs] = pull
    query = heads.query(head)
    for part, wave in ((query[:half], torch.cos(angle)), (query[half:], torch.sin(angle))):
        part[pairs] = 0.0
        part[:, _CONSTANT][pairs] = (pull * wave[pairs])[:, None]


def _attend_to_line_start(heads: _Heads, config: SparkConfig, head: int, scale: float) -> None:
    """Make a query head attend to the nearest token before it that starts a line."""
    half = config.head_dim // 2
    frequencies = _frequencies(config)
    slow = (frequencies > 0.02) & (frequencies < 0.35)  # falling off over the length of a line
    strength = math.sqrt(_LINE_LOGIT * math.sqrt(config.head_dim))
    query, key = heads.query(head), heads.key(head // heads.group)
    query[:] = 0.0
    key[:] = 0.0
    query[:half, _CONSTANT][slow] = strength * scale / _CONSTANT.stop
    key[:half, _STARTS][slow] = strength * scale * 2 / _FLAGS


def _look_up(heads: _Heads, notes: _Notes, config: SparkConfig) -> None:
    """Make a full layer find the line that a name stands in, and the word that came next after some words.

    Content is compared in the dimensions of a head that do not turn with the position: the last word exactly, and with
    it the few before, in which ``Felix Larsen`` differs from ``Zoe Larsen``. For the number, only what stands in a line
    counts, and the newest screen before older ones. It is said louder than the word: what followed the last call was
    another number.
    """
    turning = config.full_rope.rotary_dim(config.head_dim)
    last = slice(turning, turning + _COMPARED)
    few = slice(last.stop + 1, last.stop + 1 + _NOTED)
    if few.stop > config.head_dim:
        raise ValueError(f"head_dim {config.head_dim} leaves no room for what is compared; expected 64 or more")
    word, said = slice(_CONTENT, _CONTENT + _NOTED), slice(_CONTENT, _CONTENT + _NUMBER)
    # a call's number follows the name's last word by two tokens; a word follows the one before it at once
    number, following = 0, heads.group
    for head, known, sought, told, gain in (
        (number, notes.second, word, notes.line, _NUMBER_GAIN),
        (following, word, notes.before, said, _WORD_GAIN),
    ):
        query, key = heads.query(head), heads.key(head // heads.group)
        query[:] = 0.0
        key[:] = 0.0
        _read(query[last], known, _MATCH)
        _read(key[last], sought, _MATCH)
        _read(key[few], notes.behind, _MATCH_BEFORE)
        _read(heads.value(head // heads.group), told)
        _write(heads.out(head), said, gain * _SPREAD)
    _read(heads.query(number)[few], notes.behind_second, _MATCH_BEFORE)
    for place in (word, notes.before, notes.second):
        query = torch.zeros_like(heads.query(following)[few])
        _read(query, place, _MATCH_BEFORE / 2)
        heads.query(following)[few] += query
    query, key = heads.query(number), heads.key(number // heads.group)
    root = math.sqrt(config.head_dim)
    query[last.stop, _CONSTANT] = math.sqrt(_LINE_BONUS * root) / _CONSTANT.stop
    key[last.stop, notes.in_line] = math.sqrt(_LINE_BONUS * root) * 2 / _FLAGS
    slow = turning // 4  # this rotary pair turns by half in about a thousand tokens
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
