"""What builds lose of a checkpoint, and of the same checkpoint with outliers folded in: CONSTRUCTED, for tests.

    python benchmarks/outliers.py [--model nano] [--seed 0] [--tasks default] [--instances 1] [--out FILE]

Each build reads the oracle's conversations on the project's tasks (evaluation split) beside bf16, which reads the same
of both checkpoints bit for bit. It prints how far the build's next token is from that of bf16: the Kullback-Leibler
divergence in nats, and how often both prefer the same token, over all tokens and over those of the replies alone. GPTQ
reads other conversations (training split) first. Intervals are 95 % bootstrap over conversations.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor

from agent_eval import wiring
from agent_eval.agent import tool_schemas
from agent_eval.contracts import Task
from agent_eval.demonstrations import Noise, play
from agent_eval.spark_backend import launcher
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.calibration import Calibration
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.outliers import outlier_checkpoint
from agent_eval.spark_backend.convert import METHODS, conversion_of, convert
from agent_eval.spark_backend.model import RMSNorm, Spark
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.spark_backend.quant.name import GROUPS, parse_build
from agent_eval.spark_backend.spark import special_tokens
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.tasks import Split
from agent_eval.types import Interval, Message

LONGEST = 2048
"""Tokens of a conversation that are read."""

SEED = 12_000_000_000
"""First of the instances: above those of training, calibration and runs."""

FORMS = ("w4a16", "w4a16-sym", "w4a8", "w4a8-asym")
EIGHT_BITS = ("w8a16", "w8a8")
RESAMPLES = 2000


@dataclass(frozen=True)
class Conversation:
    """What is read of one episode."""

    ids: Tensor
    """(1, T) tokens."""
    replies: Tensor
    """(T,) whether the token after each is one of a reply."""


@dataclass(frozen=True)
class Lost:
    """What a build loses in one conversation: sums over tokens, of all and of replies."""

    tokens: tuple[int, int]
    divergence: tuple[float, float]
    same: tuple[int, int]


class Reader:
    """Reads conversations as a checkpoint's tokenizer and template have them."""

    def __init__(self, folder: Path, tasks: Sequence[Task], instances: int) -> None:
        self._tokenizer = SparkTokenizer.from_folder(folder)
        special = special_tokens(SparkConfig.from_folder(folder), self._tokenizer)
        self._template = ChatTemplate.from_folder(folder, special)
        self._tasks, self._instances = tasks, instances

    def messages(self, split: Split) -> Iterator[tuple[Message, ...]]:
        device, phone = wiring.open_sim()
        for number in range(self._instances):
            for task in self._tasks:
                yield play(task.draw(SEED + number, split), device, phone, Noise.none()).messages

    def conversations(self) -> list[Conversation]:
        return [self._conversation(messages) for messages in self.messages("evaluation")]

    def calibration(self) -> Calibration:
        texts = (self._text(messages, open_turn=False) for messages in self.messages("training"))
        return Calibration.of_texts(texts, self._tokenizer, "trajectories")

    def _text(self, messages: Sequence[Message], *, open_turn: bool) -> str:
        return self._template.render(messages, tool_schemas(), open_turn=open_turn)

    def _conversation(self, messages: Sequence[Message]) -> Conversation:
        ids = self._tokenizer.encode(self._text(messages, open_turn=False))
        replies = torch.zeros(len(ids), dtype=torch.bool)
        for at, message in enumerate(messages):
            if message.role == "assistant":
                before, after = (
                    len(self._tokenizer.encode(self._text(messages[:end], open_turn=open_turn)))
                    for end, open_turn in ((at, True), (at + 1, False))
                )
                replies[before - 1 : after - 1] = True
        return Conversation(torch.tensor([ids[:LONGEST]]), replies[:LONGEST])


def logits(model: Spark, ids: Tensor) -> Tensor:
    """Return the scores of the token after each: (T, V)."""
    with torch.inference_mode():
        return model.logits(model(ids))[0]


def opened(folder: Path, build: str, method: str = "search") -> Spark:
    return load_build(folder, build, threads=1, rounding="rtn" if method == "rtn" else "search").engine.model


def lost(exact: Spark, model: Spark, conversation: Conversation) -> Lost:
    one, other = (F.log_softmax(logits(each, conversation.ids), -1) for each in (exact, model))
    divergence = (one.exp() * (one - other)).sum(-1)
    same = one.argmax(-1) == other.argmax(-1)
    every = torch.ones_like(conversation.replies)
    places = (every, conversation.replies)
    return Lost(
        tuple(int(place.sum()) for place in places),  # type: ignore[arg-type]
        tuple(float(divergence[place].sum()) for place in places),  # type: ignore[arg-type]
        tuple(int(same[place].sum()) for place in places),  # type: ignore[arg-type]
    )


def share(sums: Sequence[float], counts: Sequence[int]) -> Interval:
    """Return the ratio of two sums over conversations, which are resampled as wholes."""
    above, below = np.array(sums, float), np.array(counts, float)
    rows = np.random.default_rng(0).integers(0, len(above), (RESAMPLES, len(above)))
    low, high = np.quantile(above[rows].sum(1) / below[rows].sum(1), [0.025, 0.975])
    return Interval(float(above.sum() / below.sum()), float(low), float(high), len(above))


def row(build: str, method: str, found: Sequence[Lost]) -> str:
    """Return a line of the table."""
    cells = [f"{build:14}", f"{method:6}"]
    for place in (0, 1):
        tokens = [one.tokens[place] for one in found]
        far = share([one.divergence[place] for one in found], tokens)
        same = share([one.same[place] for one in found], tokens)
        cells.append(f"{far.estimate:.4f} [{far.low:.4f}, {far.high:.4f}]")
        cells.append(f"{100 * same.estimate:.1f} [{100 * same.low:.1f}, {100 * same.high:.1f}]")
    return "| " + " | ".join(cells) + " |"


def largest(model: Spark, ids: Tensor) -> float:
    """Return the largest channel behind a norm against the median one, by largest magnitude; of the worst norm."""
    ratios: list[float] = []

    def take(_: torch.nn.Module, __: object, output: Tensor) -> None:
        channels = output.float().abs().amax(dim=(0, 1))
        ratios.append(float(channels.max() / channels.median()))

    handles = [module.register_forward_hook(take) for module in model.modules() if isinstance(module, RMSNorm)]
    logits(model, ids)
    for handle in handles:
        handle.remove()
    return max(ratios)


def builds_of(config: SparkConfig) -> Iterator[tuple[str, str]]:
    """Yield builds with the methods that choose their codes."""
    widths = [shape[1] for shape in config.tensor_shapes().values() if len(shape) == 2]
    groups = [group for group in GROUPS if all(width % group == 0 for width in widths)]
    for build in EIGHT_BITS:
        yield f"{build}-g{groups[0]}", "search"
    for form in FORMS:
        for group in groups:
            for method in METHODS:
                yield f"{form}-g{group}", method


def table(folder: Path, conversations: Sequence[Conversation], calibration: Calibration) -> Iterator[str]:
    """Yield the lines of one checkpoint."""
    exact = opened(folder, "bf16")
    yield f"largest channel behind a norm, to the median one: {largest(exact, conversations[0].ids):.1f}"
    yield "| build | codes by | all tokens: KL [95 %] | same token, % | replies: KL [95 %] | same token, % |"
    yield "|---|---|---|---|---|---|"
    for build, method in builds_of(exact.config):
        with tempfile.TemporaryDirectory() as scratch:
            source = folder
            if method == "gptq":
                source = Path(scratch) / "gptq"
                # with the table kept, so that methods differ in the projections and the head alone
                asked = conversion_of(parse_build(build), group=None, method=method, keep_embedding=True)
                convert(folder, source, asked, calibration=calibration)
            model = opened(source, build, method)
            yield row(build, method, [lost(exact, model, conversation) for conversation in conversations])


def equal(one: Path, other: Path, conversations: Sequence[Conversation]) -> bool:
    """Tell whether two checkpoints have the same logits in bf16, bit for bit."""
    models = [opened(folder, "bf16") for folder in (one, other)]
    return all(torch.equal(*(logits(model, each.ids).view(torch.int32) for model in models)) for each in conversations)


def lines(options: argparse.Namespace, folder: Path, made: Path) -> Iterator[str]:
    """Yield everything that there is to say."""
    outlier_checkpoint(folder, made, options.seed)
    tasks = wiring.find_tasks(options.tasks.split(",")).tasks
    reader = Reader(folder, tasks, options.instances)
    conversations, calibration = reader.conversations(), reader.calibration()
    machine = probe_machine()
    yield f"{machine.device_class}: {machine.cpu_model}; revision {wiring.source_revision()}"
    yield (
        f"{len(conversations)} conversations, {sum(each.ids.numel() for each in conversations):,} tokens, of them "
        f"{sum(int(each.replies.sum()) for each in conversations):,} replies; GPTQ reads {calibration.tokens:,} others"
    )
    yield f"bf16 of both, bit for bit: {'the same' if equal(folder, made, conversations) else 'DIFFERENT'}"
    for name, place in ((options.model, folder), (f"CONSTRUCTED outliers, seed {options.seed}", made)):
        yield ""
        yield f"{name}, {checkpoint_digest(place)[:12]}"
        yield from table(place, conversations, calibration)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="nano", help="as for agent-eval run")
    parser.add_argument("--seed", type=int, default=0, help="draws the powers of two")
    parser.add_argument("--tasks", default="default", help="tasks, or a suite")
    parser.add_argument("--instances", type=int, default=1, help="conversations of each task")
    parser.add_argument("--out", type=Path, help="file that gets the lines too")
    options = parser.parse_args()
    launcher.prepare()
    said = []
    with tempfile.TemporaryDirectory() as scratch:
        for line in lines(options, wiring.find_checkpoint(options.model), Path(scratch) / "outliers"):
            print(line, flush=True)
            said.append(line)
    if options.out is not None:
        options.out.write_text("\n".join(said) + "\n", encoding="utf-8")
    sys.exit("DIFFERENT" in "".join(said))


if __name__ == "__main__":
    main()
