"""Spark as a ``Model``: chat template, tokenizer and engine in a row. Holds no state but the engine's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from agent_eval.contracts import Engine
from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.builds import DEFAULT_CONTEXT, load_build
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.config import SparkConfig
from agent_eval.spark_backend.tokenizer import TOKENIZER_NAME, SparkTokenizer
from agent_eval.types import Generation, Message, Sampling

END_OF_TURN = "<｜end▁of▁sentence｜>"
"""What closes every turn in the published template; there it is the end-of-sequence token too."""


class SparkModel:
    """A ``Model`` over one engine.

    Args:
        engine: Runs the build.
        tokenizer: The checkpoint's.
        template: The checkpoint's.
        stop: Tokens that end a turn.
        thinking: Whether turns begin inside the thinking tags.
        notes: What the build is, for the record.
    """

    def __init__(
        self,
        engine: Engine,
        tokenizer: SparkTokenizer,
        template: ChatTemplate,
        *,
        stop: frozenset[int],
        thinking: bool = True,
        notes: str = "",
    ) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._template = template
        self._stop = stop
        self._thinking = thinking
        self.notes = notes

    @classmethod
    def load(
        cls, folder: Path, build: str, *, threads: int, thinking: bool = True, context: int = DEFAULT_CONTEXT
    ) -> Self:
        """Load a build of a checkpoint folder with everything that speaks for it.

        Raises:
            UnknownName: there is no such build.
            CheckpointError: the folder cannot be loaded.
        """
        config = SparkConfig.from_folder(folder)
        tokenizer = SparkTokenizer.from_folder(folder)
        if tokenizer.size > config.vocab_size:
            raise CheckpointError(
                f"{TOKENIZER_NAME} has {tokenizer.size} tokens, expected at most vocab_size, {config.vocab_size}",
                hint="tokenizer.json and config.json must be of one checkpoint",
            )
        template = ChatTemplate.from_folder(folder, special_tokens(config, tokenizer))
        loaded = load_build(folder, build, threads=threads, context=context)
        stop = stop_tokens(config, tokenizer)
        return cls(loaded.engine, tokenizer, template, stop=stop, thinking=thinking, notes=loaded.notes)

    def begin(self) -> None:
        """Forget the episode before."""
        self._engine.reset()

    def generate(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]], sampling: Sampling
    ) -> Generation:
        """Return the next assistant turn as raw text, special tokens included.

        Raises:
            ContextOverflow: the conversation no longer fits.
            EngineFault: the computation failed.
            CheckpointError: the template refuses the conversation.
        """
        # Rendered whole each time: what stays the same is found again by the engine, token by token.
        prompt = self._tokenizer.encode(self._template.render(messages, tools, thinking=self._thinking))
        result = self._engine.generate(prompt, self._stop, sampling)
        tokens = len(result.ids) + (result.finish == "stop")
        return Generation(self._tokenizer.decode(result.ids), result.finish, tokens, result.timing)


def stop_tokens(config: SparkConfig, tokenizer: SparkTokenizer) -> frozenset[int]:
    """Return the tokens that end a turn: the config's end of sequence, and the end of turn where there is one."""
    end = tokenizer.token_id(END_OF_TURN)
    return frozenset(config.eos_token_ids) | (frozenset() if end is None else frozenset([end]))


def special_tokens(config: SparkConfig, tokenizer: SparkTokenizer) -> dict[str, str]:
    """Return the names that chat templates use for special tokens."""
    ids = {"bos_token": config.bos_token_id, "eos_token": config.eos_token_ids[0], "pad_token": config.pad_token_id}
    named = {name: tokenizer.token(i) for name, i in ids.items() if i is not None}
    return {name: token for name, token in named.items() if token is not None}
