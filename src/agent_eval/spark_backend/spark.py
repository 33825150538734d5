"""Spark as a ``Model``: chat template, tokenizer and engine in a row. Of an episode it knows only whether it began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Self

from agent_eval.contracts import Engine
from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.builds import DEFAULT_CONTEXT
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.fitting import require_fit
from agent_eval.spark_backend.constrain import grammar
from agent_eval.spark_backend.families import TORCH, EngineChoice, family_of
from agent_eval.spark_backend.meter import memory_of, seconds_of
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.types import Generation, Message, Sampling

END_OF_TURN = "<｜end▁of▁sentence｜>"
"""What closes every turn in the published template; there it is the end-of-sequence token too."""


SHORTEST_PREFIX = 16
"""Tokens below which a prefix is not worth a pass of its own; templates without instructions and tools have fewer."""


class SparkModel:
    """A ``Model`` over one engine.

    Args:
        engine: Runs the build.
        tokenizer: The checkpoint's.
        template: The checkpoint's.
        stop: Tokens that end a turn.
        thinking: Whether turns begin inside the thinking tags.
        notes: What the build is, for the record.
        trap_s: Where the head was left as it is beside quantised projections: seconds of its product for one token.
        loaded_bytes: Anonymous memory that loading added to the process; None where the system does not tell.
        constrained: Whether a reply can be nothing but a call of one of the tools; the engine must be able to.
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
        trap_s: float | None = None,
        loaded_bytes: int | None = None,
        constrained: bool = False,
    ) -> None:
        self.engine = engine
        """What computes."""
        self.tokenizer = tokenizer
        self._template = template
        self.stop = stop
        """Tokens that end a turn."""
        self._thinking = thinking
        self._constrained = constrained
        self._begun = False
        self.notes = notes
        self.trap_s = trap_s
        self.loaded_bytes = loaded_bytes

    @classmethod
    def load(
        cls,
        folder: Path,
        build: str,
        *,
        threads: int,
        thinking: bool = True,
        context: int = DEFAULT_CONTEXT,
        text: Path | None = None,
        choice: EngineChoice = TORCH,
    ) -> Self:
        """Load a build of a checkpoint folder with everything that speaks for it.

        Args:
            folder: The checkpoint.
            build: The build's name.
            threads: Threads that may compute.
            thinking: Whether turns begin inside the thinking tags.
            context: Most tokens of prompt and generation together.
            text: Folder with the tokenizer and the chat template, if not the checkpoint's own.
            choice: What computes.

        Raises:
            UnknownName: there is no such build.
            CheckpointError: the folder cannot be loaded, or its parts are of different models.
        """
        config = SparkConfig.from_folder(folder)
        tokenizer = SparkTokenizer.from_folder(text or folder)
        template = ChatTemplate.from_folder(text or folder, special_tokens(config, tokenizer))
        stop = stop_tokens(config, tokenizer)
        require_fit(config, tokenizer, template, stop)
        before = memory_of()
        opened = family_of(build, replace(choice, text=text)).open(folder, build, threads=threads, context=context)
        after = memory_of()
        told = opened.description
        trap_s = seconds_of(opened.head) if told.head_trap and opened.head is not None else None
        return cls(
            opened.engine,
            tokenizer,
            template,
            stop=stop,
            thinking=thinking,
            notes=told.notes,
            trap_s=trap_s,
            loaded_bytes=max(0, after.anonymous - before.anonymous) if before and after else None,
            constrained=choice.constrained,
        )

    def on(self, engine: Engine) -> Self:
        """Return a model that speaks as this one does, over another engine, such as a lane of a flight."""
        model = copy(self)
        model.engine = engine
        model._begun = False
        return model

    def begin(self) -> None:
        """Forget the episode before."""
        self._begun = False  # the engine begins with the first prompt, which shows what episodes have in common

    def generate(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]], sampling: Sampling
    ) -> Generation:
        """Return the next assistant turn as raw text, special tokens included.

        Raises:
            ContextOverflow: the conversation no longer fits.
            EngineFault: the computation failed.
            CheckpointError: the template refuses the conversation.
        """
        prompt = self.open_turn(messages, tools)
        if self._constrained:
            sampling = replace(sampling, grammar=grammar(tools, thinking=self._thinking))
        result = self.engine.generate(prompt, self.stop, sampling)
        tokens = len(result.ids) + (result.finish == "stop")
        return Generation(self.tokenizer.decode(result.ids), result.finish, tokens, result.timing)

    def open_turn(self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]]) -> list[int]:
        """Return the tokens of a conversation up to the next turn; with an episode's first, the engine begins.

        Raises:
            EngineFault: what episodes have in common was kept and cannot be brought back.
            CheckpointError: the template refuses the conversation.
        """
        # Rendered whole each time: what stays the same is found again by the engine, token by token.
        prompt = self.tokenizer.encode(self._template.render(messages, tools, thinking=self._thinking))
        if not self._begun:
            self.engine.begin(self._prefix(prompt, messages, tools))
            self._begun = True
        return prompt

    def _prefix(
        self, prompt: Sequence[int], messages: Sequence[Message], tools: Sequence[Mapping[str, object]]
    ) -> Sequence[int]:
        """Return how the prompt begins whatever the user says: the instructions and the tools, as tokens."""
        system = takewhile(lambda message: message.role == "system", messages)
        try:
            bare = self._template.render([*system, Message("user", "")], tools, thinking=self._thinking)
        except CheckpointError:
            return ()  # a template that wants more than a user's turn; then nothing is kept between episodes
        same = 0
        for one, other in zip(self.tokenizer.encode(bare), prompt[:-1], strict=False):
            if one != other:
                break
            same += 1
        return prompt[:same] if same >= SHORTEST_PREFIX else ()


def stop_tokens(config: SparkConfig, tokenizer: SparkTokenizer) -> frozenset[int]:
    """Return the tokens that end a turn: the config's end of sequence, and the end of turn where there is one."""
    end = tokenizer.token_id(END_OF_TURN)
    return frozenset(config.eos_token_ids) | (frozenset() if end is None else frozenset([end]))


def special_tokens(config: SparkConfig, tokenizer: SparkTokenizer) -> dict[str, str]:
    """Return the names that chat templates use for special tokens."""
    ids = {"bos_token": config.bos_token_id, "eos_token": config.eos_token_ids[0], "pad_token": config.pad_token_id}
    named = {name: tokenizer.token(i) for name, i in ids.items() if i is not None}
    return {name: token for name, token in named.items() if token is not None}
