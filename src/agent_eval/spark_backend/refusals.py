"""What every engine refuses to generate from: no tokens, no room, a sampling that is none. Knows no engine."""

from __future__ import annotations

from collections.abc import Sequence

from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.spark_backend.sampling import is_valid
from agent_eval.types import Sampling


def check_tokens(tokens: Sequence[int], vocabulary: int) -> None:
    """Refuse what is no text of a model with so many tokens.

    Raises:
        EngineFault: there are none, or one that the model has not.
    """
    if not tokens:
        raise EngineFault("the prompt is empty, expected at least one token", hint="render the chat template first")
    if min(tokens) < 0 or max(tokens) >= vocabulary:
        wrong = next(token for token in tokens if not 0 <= token < vocabulary)
        raise EngineFault(
            f"the prompt holds token {wrong}, expected ids below {vocabulary}",
            hint="tokenizer.json and the weights must be of one checkpoint",
        )


def check_room(length: int, context: int) -> None:
    """Refuse a prompt that leaves no room for one token.

    Raises:
        ContextOverflow: it does not.
    """
    if length >= context:
        raise ContextOverflow(
            f"the prompt has {length} tokens, expected fewer than the context of {context}",
            hint="shorten the history, or load the build with a longer context",
        )


def check_sampling(sampling: Sampling, *, constrained: bool = False) -> None:
    """Refuse what tokens cannot be chosen by.

    Args:
        sampling: How tokens are to be chosen.
        constrained: Whether the engine can hold a reply to a grammar.

    Raises:
        EngineFault: a value lies outside of its range, or there is a grammar that nothing would come of.
    """
    if sampling.grammar and not constrained:
        raise EngineFault(
            "the sampling holds a grammar, expected none: this engine was not loaded to hold replies to one",
            hint="only vLLM can, where it was asked to when the build was loaded",
        )
    if not is_valid(sampling.temperature, sampling.top_p) or sampling.max_tokens < 1:
        raise EngineFault(
            f"the sampling is {sampling}, expected temperature >= 0, top_p in (0, 1] and max_tokens >= 1",
            hint="temperature 0 is greedy decoding",
        )
