"""The choice between tools as tokens: which sequences of tokens name which tool. Knows no model.

A tool's name may be several tokens, and one token may hold a name with the tags around it, another for every argument
that may come first. So a tool is a set of sequences, each as long as it takes to write the name and to tell it from
every other tool's. No sequence is the beginning of another, so that their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_eval.spark_backend.constrain import CALL, CALL_END, KEY, KEY_END, VALUE
from agent_eval.spark_backend.fidelity.parts import ends_of
from agent_eval.spark_backend.tokenizer import SparkTokenizer

TokenPath = tuple[int, ...]
"""Tokens from the tag that opens a call up to where its tool is known."""


def tool_paths(tokenizer: SparkTokenizer, tools: Sequence[Mapping[str, object]]) -> dict[str, tuple[TokenPath, ...]]:
    """Return the sequences of tokens that name each tool, as the tokenizer cuts what the chat template would write.

    Args:
        tokenizer: Of the model.
        tools: Function schemas, ``{"type": "function", "function": {...}}`` each.
    """
    whole: dict[str, list[TokenPath]] = {}
    shortest: dict[str, list[int]] = {}
    for tool in tools:
        function: Any = tool["function"]
        name: str = function["name"]
        whole[name] = [tuple(tokenizer.encode(opening)) for opening in _openings(name, function.get("parameters", {}))]
        shortest[name] = [_tokens_for(ends_of(tokenizer, ids), len(CALL + name)) for ids in whole[name]]
    return {
        name: _without_longer(
            _told_apart(ids, length, [other for theirs in whole if theirs != name for other in whole[theirs]])
            for ids, length in zip(whole[name], shortest[name], strict=True)
        )
        for name in whole
    }


def _openings(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a call of a tool may begin: with any of its arguments, or with none where it may."""
    if not schema.get("required"):
        yield CALL + name + CALL_END
    for key in schema.get("properties", {}):
        yield CALL + name + KEY + key + KEY_END + VALUE


def _tokens_for(ends: Sequence[int], characters: int) -> int:
    """Return how many tokens it takes to write so many characters."""
    return next(count for count, end in enumerate(ends, start=1) if end >= characters)


def _told_apart(ids: TokenPath, length: int, others: Sequence[TokenPath]) -> TokenPath:
    """Return the beginning of a sequence that is at least so long and is no beginning of another tool's."""
    while length < len(ids) and any(other[:length] == ids[:length] for other in others):
        length += 1
    return ids[:length]


def _without_longer(paths: Iterator[TokenPath]) -> tuple[TokenPath, ...]:
    """Leave out what another path of the same tool is the beginning of: its probability holds theirs."""
    found = sorted(set(paths), key=lambda path: (len(path), path))
    return tuple(
        path for place, path in enumerate(found) if not any(path[: len(short)] == short for short in found[:place])
    )
