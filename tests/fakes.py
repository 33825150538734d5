"""Real classes in place of what a test is not about: a model that follows a script, and a device that breaks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from agent_eval.actions import Action
from agent_eval.contracts import Device, Engine, Instance, PhoneControl, Policy
from agent_eval.errors import ContextOverflow, DeviceFault, EngineFault
from agent_eval.records import EpisodeRecord
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.types import (
    ActionResult,
    FinishReason,
    Generation,
    Message,
    Observation,
    Sampling,
    Timing,
    TokenGeneration,
)

TIMING = Timing(
    prompt_tokens=100, prefill_tokens=40, prefill_s=0.02, decode_tokens=9, decode_s=0.01, first_token_s=0.02
)


def tiny_checkpoint(folder: Path, seed: int = 0) -> None:
    """Write a checkpoint with random weights that runs in every build within milliseconds."""
    config = SparkConfig(
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        vocab_size=320,
        max_position_embeddings=8192,
        sliding_window=64,
    )
    synthetic_checkpoint(folder, config, seed)


class ScriptedModel:
    """A model that writes one text after another, the last one for ever; each episode begins again."""

    def __init__(self, texts: Iterable[str], finish: FinishReason = "stop") -> None:
        self._texts = list(texts)
        self._finish = finish
        self._turn = 0
        self.seen: list[tuple[Message, ...]] = []
        """The conversation at each turn."""

    def begin(self) -> None:
        """Start the script again."""
        self._turn = 0

    def generate(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]], sampling: Sampling
    ) -> Generation:
        """Write the next text."""
        del tools, sampling
        self.seen.append(tuple(messages))
        text = self._texts[min(self._turn, len(self._texts) - 1)]
        self._turn += 1
        return Generation(text, self._finish, len(text), TIMING)


@dataclass
class _Growing:
    """A generation of the engine below."""

    prompt: tuple[int, ...]
    stop: frozenset[int]
    most: int
    ids: list[int] = field(default_factory=list)


class FakeParallelEngine:
    """An engine whose tokens depend on everything that was computed since it began: another schedule, other tokens.

    Args:
        in_flight: Most generations at a time.
        fails: Steps that fail, counted from 0 over the engine's whole life.
    """

    vocabulary = 320
    context = 1024

    def __init__(self, in_flight: int, fails: Callable[[int], bool] = lambda _: False) -> None:
        self.in_flight = in_flight
        self.prefixes: list[tuple[int, ...]] = []
        """What it was begun with, each time."""
        self.together: list[int] = []
        """How many generations were in flight at each step."""
        self._fails = fails
        self._seen = b""
        self._growing: dict[int, _Growing] = {}
        self._tickets = 0

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget what was computed."""
        if self._growing:
            raise EngineFault(f"{len(self._growing)} generations are in flight, expected none", hint="wait for them")
        self.prefixes.append(tuple(prefix))
        self._seen = b""

    def submit(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> int:
        """Put a generation into flight."""
        if not prompt or not all(0 <= token < self.vocabulary for token in prompt):
            raise EngineFault("the prompt is none", hint="pass tokens")
        if len(prompt) >= self.context:
            raise ContextOverflow("the prompt is too long", hint="shorten it")
        self._tickets += 1
        most = min(sampling.max_tokens, self.context - len(prompt))
        self._growing[self._tickets] = _Growing(tuple(prompt), stop, most)
        return self._tickets

    def step(self) -> dict[int, TokenGeneration]:
        """Give everything in flight its next token."""
        self.together.append(len(self._growing))
        if self._fails(len(self.together) - 1):
            self._growing.clear()
            raise EngineFault("the batch is lost", hint="try again")
        batch = [(grown.prompt, *grown.ids) for grown in self._growing.values()]
        self._seen = hashlib.sha256(self._seen + repr(batch).encode()).digest()
        done = {}
        for ticket, grown in list(self._growing.items()):
            drawn = hashlib.sha256(self._seen + repr((grown.prompt, grown.ids)).encode()).digest()
            token = int.from_bytes(drawn[:4], "big") % self.vocabulary
            if token not in grown.stop:
                grown.ids.append(token)
            if token in grown.stop or len(grown.ids) == grown.most:
                finish: FinishReason = "stop" if token in grown.stop else "length"
                done[ticket] = TokenGeneration(tuple(grown.ids), finish, TIMING)
                del self._growing[ticket]
        return done


class DrawingModel:
    """A model whose replies are drawn from a list by the tokens of its engine; some take more of them than others."""

    prefix = tuple(range(20))

    def __init__(self, engine: Engine, texts: Sequence[str]) -> None:
        self._engine = engine
        self._texts = texts
        self._begun = False

    def begin(self) -> None:
        """Forget the episode before."""
        self._begun = False

    def generate(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]], sampling: Sampling
    ) -> Generation:
        """Draw a text."""
        del tools
        prompt = [*self.prefix, *hashlib.sha256(repr(messages).encode()).digest()]
        if not self._begun:
            self._engine.begin(self.prefix)
            self._begun = True
        made = self._engine.generate(prompt, frozenset(range(0, FakeParallelEngine.vocabulary, 3)), sampling)
        text = self._texts[sum(made.ids) % len(self._texts)]
        return Generation(text, "stop", len(made.ids) + 1, made.timing)


class BreakingDevice:
    """A device that works until ``breaks`` says otherwise, told the number of the call of ``perform``, from 0."""

    def __init__(self, device: Device, breaks: Callable[[int], bool]) -> None:
        self._device = device
        self._breaks = breaks
        self._calls = 0

    def observe(self) -> Observation:
        """Read the screen of the device beneath."""
        return self._device.observe()

    def perform(self, action: Action) -> ActionResult:
        """Perform on the device beneath, or break."""
        self._calls += 1
        if self._breaks(self._calls - 1):
            raise DeviceFault("the cable is loose", hint="hold it")
        return self._device.perform(action)

    def close(self) -> None:
        """Close the device beneath."""
        self._device.close()


def call(tool: str, **arguments: object) -> str:
    """Return a reply that makes one native call."""
    pairs = "".join(f"<arg_key>{k}</arg_key><arg_value>{v}</arg_value>" for k, v in arguments.items())
    return f"<tool_call>{tool}{pairs}</tool_call>"


@dataclass
class FixedStation:
    """Where one agent plays every instance that it is asked for, and is asked for no others than ``instances``."""

    instances: ClassVar[Sequence[Instance]] = ()
    agent: Policy
    device: Device
    phone: PhoneControl

    def policy(self, instance: Instance) -> Policy:
        """Return the agent."""
        assert instance in self.instances
        return self.agent


class MemorySink:
    """A sink that keeps records, and may be interrupted."""

    def __init__(self, room: int = 1000) -> None:
        self.records: list[EpisodeRecord] = []
        self._room = room

    def append(self, record: EpisodeRecord) -> None:
        """Keep a record."""
        if len(self.records) == self._room:
            raise KeyboardInterrupt
        self.records.append(record)
