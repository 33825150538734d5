"""The training run of the embedded model: its data, its schedule, its manifest. Joins packages, like ``wiring``.

Fresh demonstrations all the way: no screen is seen twice. In the second half the model plays, and the oracle says what
it should have done.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.pool import AsyncResult
from pathlib import Path
from typing import TYPE_CHECKING, Self

from agent_eval import wiring
from agent_eval.actions import TOOLS, arguments_of
from agent_eval.contracts import Device, PhoneControl
from agent_eval.demonstrations import Demonstration, Noise, demonstrations, drills
from agent_eval.records import require_empty
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.tasks import TASKS
from agent_eval.types import Message, Sampling

if TYPE_CHECKING:
    from agent_eval.spark_backend.nano.trainer import Trainer

VOCABULARY = 1920
CHUNK = 32
"""Episodes made at a time."""
DRILL_EVERY = 5
"""Once episodes are learned from, one drill comes with so many of them."""
PIECE = 768
"""Tokens of a conversation that are learned from at once: attention costs the square of them."""
OVERLAP = 256
"""Tokens that a piece repeats of the one before, to be read and not learned: the window of most of nano's layers."""
_AHEAD = 4
"""Chunks being made while the ones before are learned from."""
_SEED_STRIDE = 10_000_000
"""Demonstration seeds that a plan's seed sets apart; seeds of other uses lie above all plans'."""
_VALIDATION_SEED = 5_000_000_000
_DRILL_SEED = 6_000_000_000
_ROLLOUT_SEED = 7_000_000_000
_FIRST_SCORED_SEED = 90_000
"""Instances of the evaluation split on which the finished model is scored; a run's own seeds begin at 0."""


@dataclass(frozen=True)
class TrainingPlan:
    """What a training run consists of; the same plan gives the same weights on one machine."""

    seed: int = 0
    steps: int = 2800
    drill_share: float = 0.04
    """Share of the steps, at the start, on lookup drills only; before episodes come in."""
    noise: Noise = field(default=Noise(episodes=0.6, moves=0.15))
    rollout_at: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9)
    """Shares of the steps at which the model plays and the oracle labels what it did (DAgger: Ross et al., 2011)."""
    rollouts: int = 120
    """Episodes played each time."""
    vocabulary_episodes: int = 384
    """Episodes whose texts the tokenizer is trained on."""
    validation_episodes: int = 128
    """Episodes of unseen seeds on which token accuracy is measured."""
    scored_instances: int = 8
    """Instances of each task, of the evaluation split, that the finished model plays for the manifest."""


class _Workshop:
    """A phone, a tokenizer and a chat template: all that turns seeds into samples. One per process.

    Args:
        tokenizer_json: The trained tokenizer.
        labels: What drills put on their screens.
    """

    def __init__(self, tokenizer_json: str, labels: list[str]) -> None:
        from tokenizers import Tokenizer

        from agent_eval.spark_backend.chat import ChatTemplate
        from agent_eval.spark_backend.nano.vocabulary import CHAT_TEMPLATE

        self.device, self.phone = wiring.open_sim()
        self._labels = labels
        self._tokenizer = Tokenizer.from_str(tokenizer_json)
        self._template = ChatTemplate(CHAT_TEMPLATE)

    def encode(self, demonstration: Demonstration) -> list[Sample]:
        """Turn a demonstration into ids and targets, in pieces where it is long."""
        from agent_eval.spark_backend.nano.encode import encode_demonstration

        def render(messages: Sequence[Message], opened: bool) -> str:
            return self._template.render(messages, open_turn=opened)

        return pieces_of(encode_demonstration(demonstration.messages, demonstration.expert, render, self._tokenizer))

    def encode_all(self, demonstrations: Iterable[Demonstration]) -> list[Sample]:
        """Turn demonstrations into samples."""
        return [piece for demonstration in demonstrations for piece in self.encode(demonstration)]

    def chunk(self, number: int, plan: TrainingPlan, drills_only: bool) -> list[Sample]:
        """Return the samples of one chunk of fresh seeds."""
        first = plan.seed * _SEED_STRIDE + number * CHUNK
        if drills_only:
            made = drills(range(_DRILL_SEED + first, _DRILL_SEED + first + CHUNK), self._labels)
            return self.encode_all(made)
        episodes = demonstrations(range(first, first + CHUNK), self.device, self.phone, plan.noise)
        practice = drills(range(_DRILL_SEED + first, _DRILL_SEED + first + CHUNK // DRILL_EVERY), self._labels)
        return self.encode_all((*episodes, *practice))


def pieces_of(sample: Sample) -> list[Sample]:
    """Cut a conversation into pieces; each target is in one piece only, with the tokens before it to be read.

    Most layers see a window, and the task is restated with every screen, so little is lost at a cut.
    """
    pieces = [Sample(sample.ids[:PIECE], sample.targets[:PIECE])]
    for end in range(PIECE, len(sample.ids), PIECE - OVERLAP):
        span = slice(end - OVERLAP, end - OVERLAP + PIECE)
        ids, targets = sample.ids[span], sample.targets[span].copy()
        targets[:OVERLAP] = IGNORED
        if (targets != IGNORED).any():
            pieces.append(Sample(ids, targets))
    return pieces


_workshop: _Workshop | None = None


def _open_workshop(tokenizer_json: str, labels: list[str]) -> None:
    """Prepare a worker process; what a process pool offers for this is a module variable."""
    global _workshop
    _workshop = _Workshop(tokenizer_json, labels)


def _make_chunk(number: int, plan: TrainingPlan, drills_only: bool) -> list[Sample]:
    assert _workshop is not None
    return _workshop.chunk(number, plan, drills_only)


class _Feed:
    """Fresh samples from a second process, always the same ones in the same order for one plan."""

    def __init__(self, plan: TrainingPlan, tokenizer_json: str, labels: list[str]) -> None:
        self._plan = plan
        self._pool = multiprocessing.get_context("spawn").Pool(1, _open_workshop, (tokenizer_json, labels))
        self._requested = 0
        self._waiting: deque[AsyncResult[list[Sample]]] = deque()
        self.digest = hashlib.sha256()
        """Over every token handed out."""
        for _ in range(_AHEAD):
            self._request(drills_only=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._pool.terminate()

    def take(self, *, drills_only: bool) -> list[Sample]:
        """Return the next chunk, and ask for one of the given kind to follow those under way."""
        samples = self._waiting.popleft().get()
        self._request(drills_only)
        for sample in samples:
            self.digest.update(sample.ids.tobytes())
        return samples

    def _request(self, drills_only: bool) -> None:
        self._waiting.append(self._pool.apply_async(_make_chunk, (self._requested, self._plan, drills_only)))
        self._requested += 1


def train_nano(out: Path, plan: TrainingPlan, tell: Callable[[str], None]) -> None:
    """Train the embedded model and write its checkpoint folder.

    Args:
        out: Folder to write; it must be new or empty.
        plan: What to do.
        tell: Told of the progress, a line at a time.

    Raises:
        RunFolderError: the folder holds something already or cannot be written.
    """
    from agent_eval.spark_backend.nano.shape import nano_config
    from agent_eval.spark_backend.nano.trainer import Batches, Recipe, Trainer
    from agent_eval.spark_backend.nano.vocabulary import train_tokenizer
    from agent_eval.spark_backend.probe import probe_machine

    require_empty(out, f"checkpoint folder {str(out)!r}")
    began = time.perf_counter()
    manifest: dict[str, object] = {
        "seed": plan.seed,
        "steps": plan.steps,
        "code_revision": wiring.source_revision(),
        "prompt_digest": wiring.prompt_digest(),
    }
    device, phone = wiring.open_sim()
    texts, labels = _study(plan, device, phone)
    tokenizer = train_tokenizer(texts, _skeleton(), VOCABULARY)
    written = tokenizer.to_str()
    tell(f"tokenizer: {tokenizer.get_vocab_size()} tokens; {len(labels)} labels to drill")
    config = nano_config(tokenizer)
    workshop = _Workshop(written, labels)
    unseen_seeds = range(_VALIDATION_SEED, _VALIDATION_SEED + plan.validation_episodes)
    unseen = workshop.encode_all(demonstrations(unseen_seeds, device, phone, plan.noise))
    trainer = Trainer(config, Recipe(steps=plan.steps), plan.seed)
    batches = Batches(trainer.recipe.tokens_per_step, random.Random(f"batches/{plan.seed}"))
    drill_steps = int(plan.steps * plan.drill_share)
    rollout_steps = {int(plan.steps * share) for share in plan.rollout_at}
    tokens = decisions = 0
    with _Feed(plan, written, labels) as feed:
        for step in range(plan.steps):
            if step in rollout_steps:
                _save(out, trainer, written, {"unfinished": True})
                played = _rollouts(out, plan, step, device, phone)
                batches.add(workshop.encode_all(played))
                held = sum(demonstration.goal_held for demonstration in played)
                tell(f"step {step}: the goal held after {held} of {len(played)} training instances")
            while not batches.ready():
                batches.add(feed.take(drills_only=step + _AHEAD < drill_steps))
            batch = batches.take()
            report = trainer.step(batch)
            tokens += report.tokens
            decisions += sum(int((sample.ids == config.eos_token_ids[0]).sum()) for sample in batch)
            if (step + 1) % 50 == 0 or step + 1 == plan.steps:
                tell(
                    f"step {step + 1}/{plan.steps}  loss {report.loss:.4f}  accuracy {report.accuracy:.3f}  "
                    f"{tokens / 1e6:.2f} M tokens  {decisions} decisions  {time.perf_counter() - began:.0f} s"
                )
            if (step + 1) % 250 == 0:
                score = trainer.evaluate(unseen)
                tell(f"step {step + 1}: unseen seeds: loss {score.loss:.4f}, accuracy {score.accuracy:.3f}")
    score = trainer.evaluate(unseen)
    minutes = (time.perf_counter() - began) / 60
    _save(out, trainer, written, {"unfinished": True})
    solved = _scores(out, plan, device, phone)
    manifest |= {
        "tokens": tokens,
        "decisions": decisions,
        "data_sha256": feed.digest.hexdigest(),
        "parameters": config.parameters,
        "held_out_token_accuracy": round(score.accuracy, 4),
        "held_out_loss": round(score.loss, 5),
        "closed_loop_seeds": [_FIRST_SCORED_SEED, _FIRST_SCORED_SEED + plan.scored_instances],
        "closed_loop_solved": solved,
        "trained_minutes": round(minutes, 1),
        "machine": probe_machine().cpu_model,
        "threads": 1,
        "torch": wiring.library_versions()["torch"],
    }
    _save(out, trainer, written, manifest)
    tell(f"closed loop, evaluation split, of {plan.scored_instances} each: {solved}")
    tell(f"wrote {out} after {minutes:.1f} minutes of training")


def _study(plan: TrainingPlan, device: Device, phone: PhoneControl) -> tuple[list[str], list[str]]:
    """Play some episodes for the texts that the tokenizer is trained on and the labels that drills show."""
    texts: list[str] = []
    labels: set[str] = set()
    first = plan.seed * _SEED_STRIDE
    for made in demonstrations(range(first, first + plan.vocabulary_episodes), device, phone, plan.noise):
        texts += [message.content for message in made.messages if message.role in ("user", "tool")]
        for reply in made.expert:
            if reply is not None:
                texts.append(f" {reply.thought}")
                texts += [value for value in arguments_of(reply.action).values() if isinstance(value, str)]
        for message in made.messages:
            labels |= {
                line.partition("] ")[2].partition(" (")[0].partition(": ")[0]
                for line in message.content.split("\n")
                if line[:1] == "["
            }
    # neither dates nor times of day: there are too many of them to practise on
    return texts, sorted(label for label in labels if label and not set(label) & {",", ":"})


def _skeleton() -> Iterator[str]:
    """Yield what every turn repeats: the opening of a call up to its first free value, and the frame of a screen."""
    for name, tool in TOOLS.items():
        first = next(iter(tool.model_json_schema(by_alias=True).get("properties", {})), None)
        yield f"<tool_call>{name}" + (f"<arg_key>{first}</arg_key><arg_value>" if first else "</tool_call>")
    yield from ("Task:", "\nApp:", "\n(scrolls)", "\n(keyboard open)")  # the frame of every screen
    yield "<tool_call>task_complete</tool_call>"
    yield "</arg_value><arg_key>text</arg_key><arg_value>"
    yield "</arg_value><arg_key>index</arg_key><arg_value>"


def _save(out: Path, trainer: Trainer, tokenizer_json: str, manifest: Mapping[str, object]) -> None:
    from agent_eval.spark_backend.checkpoints.loader import Card
    from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
    from agent_eval.spark_backend.nano.vocabulary import CHAT_TEMPLATE

    save_checkpoint(
        out,
        trainer.config,
        trainer.model.checkpoint_state(),
        tokenizer_json=tokenizer_json,
        chat_template=CHAT_TEMPLATE,
        card=Card(name="nano", kind="embedded", details={"training": dict(manifest)}),
    )


def _rollouts(out: Path, plan: TrainingPlan, step: int, device: Device, phone: PhoneControl) -> list[Demonstration]:
    """Let the model as it is play training instances."""
    model = wiring.open_model(out, "fp32", thinking=True)
    actor = wiring.open_policy(model, Sampling(max_tokens=64))
    first = _ROLLOUT_SEED + plan.seed * _SEED_STRIDE + step * plan.rollouts
    return list(demonstrations(range(first, first + plan.rollouts), device, phone, Noise.none(), actor))


def _scores(out: Path, plan: TrainingPlan, device: Device, phone: PhoneControl) -> dict[str, int]:
    """Let the finished model play instances of the evaluation split; count the solved ones by the judge's label."""
    from agent_eval.episode import EpisodeKey, run_episode

    policy = wiring.open_policy(wiring.open_model(out, "bf16", thinking=True), Sampling(max_tokens=64))
    return {
        name: sum(
            run_episode(task.draw(seed), policy, device, phone, EpisodeKey("bf16")).outcome.label == "success"
            for seed in range(_FIRST_SCORED_SEED, _FIRST_SCORED_SEED + plan.scored_instances)
        )
        for name, task in TASKS.items()
    }
