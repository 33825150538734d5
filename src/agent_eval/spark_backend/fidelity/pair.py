"""A build beside its reference, both made to follow the same tokens. Returns numbers by position, no statistics.

What was computed before is kept as it was kept when the episode was played. So the reference's numbers are those that
it had in the run, and the build's those that it would have had in its place. Texts are computed in passes, as prompts
are.

Both models are in memory, and of the reference's logits what it has of one reply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agent_eval.spark_backend.fidelity.choices import tool_paths
from agent_eval.spark_backend.fidelity.distances import Distances, distances
from agent_eval.spark_backend.fidelity.follower import Follower, Written
from agent_eval.spark_backend.fidelity.parts import Part, ends_of, first_call, parts_of
from agent_eval.spark_backend.spark import SparkModel
from agent_eval.types import FinishReason, Message

WINDOW = 512
"""Tokens of a text that are read from an empty memory."""

PASS_CELLS = 2**24
"""64 MiB of logits in float32."""


@dataclass(frozen=True)
class RecordedReply:
    """One reply of the reference as its run has it."""

    messages: tuple[Message, ...]
    """The conversation that it answered."""
    text: str
    tokens: int
    """Number of tokens generated, the one that ended it included."""


class Choice(NamedTuple):
    """How a model chooses between tools."""

    log_odds: float
    """Natural logarithm of the probability of the stopping tool over that of all other tools together."""
    covered: float
    """Probability of all tools together; the rest is anything but a call of a tool that there is."""


class Decision(NamedTuple):
    """Whether to stop, asked of both models behind the same words."""

    reference: Choice
    build: Choice


class OwnReply(NamedTuple):
    """What the build itself would have written."""

    text: str
    finish: FinishReason


@dataclass(frozen=True)
class FollowedReply:
    """One reply of the reference, followed by both models."""

    ids: tuple[int, ...]
    """Its tokens, the one that ended it included."""
    prompt_tokens: int
    written_again: bool
    """The reference chose every one of them again; otherwise they are what the recorded text is cut into."""
    distances: Distances
    """By token of the reply."""
    parts: tuple[Part, ...]
    """The same."""
    decision: Decision | None = None
    """None where it was not asked for, or the reply makes no call."""


class Side(NamedTuple):
    """What one model gives the two tokens at which two texts part."""

    reference_token: float
    """Probability of the token that the reference chose."""
    build_token: float
    """Probability of the token that the build chose."""


@dataclass(frozen=True)
class Parting:
    """Where two texts differ for the first time."""

    shared: int
    """Tokens that they share; the next one differs."""
    reference_token: str
    build_token: str
    reference: Side
    build: Side


@dataclass(frozen=True)
class Completed:
    """A prompt, continued greedily by both models."""

    prompt_tokens: int
    reference: str
    """What the reference wrote."""
    build: str
    reference_tokens: int
    """The one that ended it included."""
    parting: Parting | None
    """None where both wrote the same tokens."""


class FidelityPair:
    """A reference and a build.

    Args:
        reference: The reference; loaded by itself even where the build is the same.
        build: What is compared with it.
        tools: Function schemas shown to both.
        stopping: The tool that ends an episode as done.
        pass_cells: Logits of a text that may be held at once, for each of the two.

    Raises:
        OperatorError: an engine shows no logits.
    """

    def __init__(
        self,
        reference: SparkModel,
        build: SparkModel,
        tools: Sequence[Mapping[str, Any]],
        *,
        stopping: str,
        pass_cells: int = PASS_CELLS,
    ) -> None:
        self._reference, self._build = Follower(reference), Follower(build)
        self._tools = tools
        self._stopping = stopping
        self._pass_cells = pass_cells
        self._paths = tool_paths(reference.tokenizer, tools)

    def episode(self, replies: Sequence[RecordedReply], decision_at: int | None = None) -> tuple[FollowedReply, ...]:
        """Follow an episode of the reference.

        Args:
            replies: Its replies, from the first step on.
            decision_at: The reply at which the choice between stopping and going on is asked for.

        Raises:
            ContextOverflow: a prompt does not fit.
            EngineFault: the computation failed.
        """
        self._reference.model.begin()
        self._build.model.begin()
        return tuple(self._followed(reply, decide=place == decision_at) for place, reply in enumerate(replies))

    def own_replies(self, replies: Sequence[RecordedReply], tokens: int) -> tuple[OwnReply, ...]:
        """Return what the build itself would have written at each step of an episode of the reference.

        Args:
            replies: The episode.
            tokens: Most tokens of a reply.

        Raises:
            ContextOverflow: a prompt does not fit.
            EngineFault: the computation failed.
        """
        build, own = self._build, []
        build.model.begin()
        for reply in replies:
            ids = build.write(build.model.open_turn(reply.messages, self._tools), tokens).ids
            own.append(OwnReply(build.text_of(ids), "stop" if ids[-1] in build.model.stop else "length"))
        return tuple(own)

    def text(self, ids: Sequence[int]) -> Distances:
        """Let both read a window of a text, in passes, from an empty memory; its first token is not predicted."""
        both = (self._reference, self._build)
        for one in both:
            one.engine.begin()
        parts = []
        for start in range(0, len(ids) - 1, self.pass_tokens):
            end = min(start + self.pass_tokens, len(ids) - 1)
            first, second = (one.engine.logits(ids[start:end]) for one in both)
            parts.append(distances(first, second, torch.tensor(ids[start + 1 : end + 1])))
        return Distances.joined(parts)

    @property
    def pass_tokens(self) -> int:
        """Tokens of a text that are computed at once."""
        return max(1, min(WINDOW, self._pass_cells // self._reference.engine.vocabulary))

    def complete(self, prompt: str | Sequence[Message], tokens: int, *, with_tools: bool = False) -> Completed:
        """Let both continue a text, or answer a conversation, greedily.

        Args:
            prompt: Text, or the turns so far.
            tokens: Most tokens that are written.
            with_tools: Whether a conversation shows the tools.

        Raises:
            ContextOverflow: the prompt does not fit.
            EngineFault: the prompt is empty, or the computation failed.
        """
        ids = [self._opened(one, prompt, with_tools=with_tools) for one in (self._reference, self._build)]
        mine, its = self._reference.write(ids[0], tokens), self._build.write(ids[1], tokens)
        return Completed(
            len(ids[0]),
            self._reference.text_of(mine.ids),
            self._reference.text_of(its.ids),
            len(mine.ids),
            self._parting(mine, its),
        )

    def _opened(self, one: Follower, prompt: str | Sequence[Message], *, with_tools: bool) -> list[int]:
        if isinstance(prompt, str):
            one.engine.begin()
            return one.model.tokenizer.encode(prompt)
        one.model.begin()
        return one.model.open_turn(prompt, self._tools if with_tools else ())

    def _parting(self, mine: Written, its: Written) -> Parting | None:
        # neither can be the beginning of the other: each ends with a token that ends a turn, or both at one length
        pairs = enumerate(zip(mine.ids, its.ids, strict=False))
        parting = next(((place, a, b) for place, (a, b) in pairs if a != b), None)
        if parting is None:
            return None
        place, first, second = parting

        def side(rows: Tensor) -> Side:
            row = rows[place].double().softmax(dim=-1)
            return Side(float(row[first]), float(row[second]))

        decode = self._reference.model.tokenizer.decode
        return Parting(place, decode([first]), decode([second]), side(mine.rows), side(its.rows))

    def _followed(self, reply: RecordedReply, *, decide: bool) -> FollowedReply:
        reference, build = self._reference, self._build
        prompt = reference.model.open_turn(reply.messages, self._tools)
        its_prompt = build.model.open_turn(reply.messages, self._tools)
        mine = reference.write(prompt, max(1, reply.tokens))
        again = len(mine.ids) == reply.tokens and reference.text_of(mine.ids) == reply.text
        if not again:
            ids = self._cut(reply)
            mine = Written(ids, reference.follow(prompt, ids))
        theirs = build.follow(its_prompt, mine.ids)
        ends = ends_of(reference.model.tokenizer, mine.ids)
        text = reference.model.tokenizer.decode(mine.ids)
        decision = None
        head = _tokens_before(text, ends) if decide else None
        if head is not None:
            decision = Decision(
                self._choice(reference, prompt, mine.ids, head, mine.rows),
                self._choice(build, its_prompt, mine.ids, head, theirs),
            )
        return FollowedReply(
            ids=mine.ids,
            prompt_tokens=len(prompt),
            written_again=again,
            distances=distances(mine.rows, theirs, torch.tensor(mine.ids)),
            parts=parts_of(text, ends),
            decision=decision,
        )

    def _cut(self, reply: RecordedReply) -> tuple[int, ...]:
        """Return the tokens of a reply from its text, and the one that ended it unless it was cut off."""
        ids = self._reference.model.tokenizer.encode(reply.text)
        return (*ids, self._reference.end) if len(ids) < reply.tokens or not ids else tuple(ids)

    def _choice(self, one: Follower, prompt: Sequence[int], ids: Sequence[int], head: int, rows: Tensor) -> Choice:
        """Ask a model for its choice between the tools behind the first tokens of a reply."""
        before = [*prompt, *ids[:head]]
        scores = one.log_probabilities(before, rows[head], self._paths)
        # what the reply itself left behind is what the next prompt goes on from
        one.follow(before, ids[head:])
        every = torch.tensor(list(scores.values()), dtype=torch.float64)
        others = torch.tensor([score for name, score in scores.items() if name != self._stopping], dtype=torch.float64)
        odds = scores[self._stopping] - float(torch.logsumexp(others, dim=0))
        return Choice(odds, math.exp(float(torch.logsumexp(every, dim=0))))


def _tokens_before(text: str, ends: Sequence[int]) -> int | None:
    """Return how many tokens stand before a reply's first call; None without one, or where a token reaches into it."""
    call = first_call(text)
    if call is None:
        return None
    starts = (0, *ends[:-1])
    return next((place for place, start in enumerate(starts) if start == call.opening), None)
