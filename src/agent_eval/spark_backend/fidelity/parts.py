"""Which part of a reply each of its tokens writes: the thought, the tool's name, its arguments, or what holds them.

A token that writes characters of several parts counts for the first of them in the order of ``PARTS``. Knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from agent_eval.actions import GiveUp, TaskComplete
from agent_eval.spark_backend.constrain import CALL, CALL_END, KEY, KEY_END, THINK_END, VALUE, VALUE_END
from agent_eval.spark_backend.tokenizer import SparkTokenizer

Part = Literal["declaration", "name", "arguments", "thought", "rest"]
PARTS: tuple[Part, ...] = get_args(Part)
"""``declaration``: the name of a tool that declares the task done or impossible. ``name``: of any other tool.
``arguments``: their names and values. ``rest``: tags, the end of the turn, and text that is no call."""

_DECLARING = frozenset((TaskComplete.name, GiveUp.name))
_CALL = re.compile(rf"{CALL}\s*([^<\s]*)(.*?)(?:{CALL_END}|(?={CALL})|\Z)", re.DOTALL)
_ARGUMENT = re.compile(rf"{KEY}(.*?){KEY_END}\s*{VALUE}(.*?)(?:{VALUE_END}|\Z)", re.DOTALL)


class Call(NamedTuple):
    """Where in a reply its first call stands, in characters."""

    opening: int
    """Where the tag that opens it begins."""
    name: str


class Span(NamedTuple):
    """Characters of a reply that are of one part."""

    start: int
    end: int
    part: Part


def first_call(text: str) -> Call | None:
    """Return the call that is carried out: the first behind the thought, else the first within; None without any."""
    match = _call_in(text)
    return None if match is None else Call(match.start(), match[1])


def parts_of(text: str, ends: Sequence[int]) -> tuple[Part, ...]:
    """Return the part that each token of a reply writes.

    Args:
        text: The reply.
        ends: For each token, how many characters the reply has with it and without the tokens behind it.
    """
    spans = list(_spans(text))
    found: list[Part] = []
    for start, end in pairwise((0, *ends)):
        # a token that only begins a character is of the part that the character belongs to
        mine = {span.part for span in spans if span.start < max(end, start + 1) and start < span.end}
        found.append(next((part for part in PARTS if part in mine), "rest"))
    return tuple(found)


def ends_of(tokenizer: SparkTokenizer, ids: Sequence[int]) -> tuple[int, ...]:
    """Return, for each token of a text, how many characters the text has with it and without the tokens behind it."""
    texts = (tokenizer.decode(ids[: count + 1]) for count in range(len(ids)))
    ends: list[int] = []
    for text in texts:  # an unfinished character is shown as a replacement, which the finished one may be shorter than
        ends.append(max(len(text.rstrip("\ufffd")), ends[-1] if ends else 0))
    return tuple(ends)


def _call_in(text: str) -> re.Match[str] | None:
    behind = text.find(THINK_END)
    return (_CALL.search(text, behind) if behind >= 0 else None) or _CALL.search(text)


def _spans(text: str) -> Iterator[Span]:
    match, behind = _call_in(text), text.find(THINK_END)
    thought = behind if behind >= 0 else match.start() if match else 0
    if thought:
        yield Span(0, thought if match is None else min(thought, match.start()), "thought")
    if match is None:
        return
    yield Span(*match.span(1), "declaration" if match[1] in _DECLARING else "name")
    for argument in _ARGUMENT.finditer(text, *match.span(2)):
        yield Span(*argument.span(1), "arguments")
        yield Span(*argument.span(2), "arguments")
