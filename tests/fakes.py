"""Real classes in place of what a test is not about: a model that follows a script, and a device that breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from agent_eval.actions import Action
from agent_eval.contracts import Device
from agent_eval.errors import DeviceFault
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.types import ActionResult, FinishReason, Generation, Message, Observation, Sampling, Timing

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
