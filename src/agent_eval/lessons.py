"""From seeds to what the trainer learns from: episodes, drills and what the model played, encoded by other processes.

Knows the tokenizer and the chat template, and no weights: the model that plays is read from its folder.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.pool import AsyncResult
from pathlib import Path
from typing import NamedTuple, Self

from agent_eval import wiring
from agent_eval.actions import TOOLS, arguments_of
from agent_eval.curriculum import lesson_weights, seeds
from agent_eval.demonstrations import Demonstration, Noise, demonstrations, taught_instances
from agent_eval.drills import drills
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.types import Message, Sampling

CHUNK = 32
"""Episodes made at a time."""
DRILL_EVERY = 2
"""Once episodes are learned from, one drill comes with so many of them."""
PIECE = 1024
"""Tokens of a conversation that are learned from at once: attention costs the square of them."""
OVERLAP = 256
"""Tokens that a piece repeats of the one before, to be read and not learned: the window of most of nano's layers."""
PHRASE_SHARE = 0.05
"""Share of the studied episodes in which a label of several words must stand to become one token."""
SEEDS_BEFORE_PLAY = 1_000_000
"""Validation seeds that teacher forcing may take, before those that are played."""
WORKERS = 2
_AHEAD = 4
"""Chunks being made while the ones before are learned from."""


class Study(NamedTuple):
    """What a look at some episodes gives: what the tokenizer is trained on, and what drills show."""

    texts: list[str]
    """Screens, goals, thoughts and what is typed."""
    labels: list[str]
    """Labels of elements, without dates and times: there are too many of them to practise on."""
    phrases: list[str]
    """Labels and values of several words that the phone shows again and again."""


class Lesson(NamedTuple):
    """What one demonstration teaches, in pieces, and how it went."""

    task: str
    mistakes: int
    lost: str
    """Why the oracle knew no way on, where it did not."""
    samples: list[Sample]


class Order(NamedTuple):
    """Which chunk a worker is asked for."""

    plan_seed: int
    number: int
    weights: Mapping[str, float] | None
    """Share of each task; None for a chunk of drills only."""


class Workshop:
    """A phone, a tokenizer and a chat template: all that turns seeds into samples. One per process.

    Args:
        tokenizer_json: The trained tokenizer.
        labels: What drills put on their screens.
        noise: How often a demonstration leaves the oracle's way.
    """

    def __init__(self, tokenizer_json: str, labels: Sequence[str], noise: Noise) -> None:
        from tokenizers import Tokenizer

        from agent_eval.spark_backend.chat import ChatTemplate
        from agent_eval.spark_backend.nano.vocabulary import CHAT_TEMPLATE

        self.device, self.phone = wiring.open_sim()
        self._labels = labels
        self._noise = noise
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

    def unseen(self, count: int) -> list[Sample]:
        """Return demonstrations of the validation split."""
        drawn = taught_instances(seeds("validation", 0, 0, count), lesson_weights(), "validation")
        return self.encode_all(demonstrations(drawn, self.device, self.phone, self._noise))

    def chunk(self, order: Order) -> list[Sample]:
        """Return the samples of one chunk of fresh seeds."""
        first = order.number * CHUNK
        if order.weights is None:
            return self.encode_all(drills(seeds("drills", order.plan_seed, first, CHUNK), self._labels))
        drawn = taught_instances(seeds("demonstrations", order.plan_seed, first, CHUNK), order.weights)
        practice = drills(seeds("drills", order.plan_seed, first, CHUNK // DRILL_EVERY), self._labels)
        return self.encode_all((*demonstrations(drawn, self.device, self.phone, self._noise), *practice))

    def rollouts(self, folder: Path, chosen: range, weights: Mapping[str, float]) -> list[Lesson]:
        """Let the model of a folder play, and return what the oracle says that it should have done."""
        model = wiring.open_model(folder, "bf16", thinking=True)
        actor = wiring.open_policy(model, Sampling(max_tokens=64))
        played = demonstrations(taught_instances(chosen, weights), self.device, self.phone, Noise.none(), actor)
        return [Lesson(made.task, made.mistakes, made.lost, self.encode(made)) for made in played]

    def solved(self, folder: Path, chosen: range) -> list[tuple[str, bool]]:
        """Let the model of a folder play every taught task of the validation split, and judge it."""
        from agent_eval.episode import EpisodeKey, run_episode

        model = wiring.open_model(folder, "bf16", thinking=True)
        policy = wiring.open_policy(model, Sampling(max_tokens=64))
        labels = []
        for seed in chosen:
            for name in lesson_weights():
                (instance,) = taught_instances([seed], {name: 1.0}, "validation")
                record = run_episode(instance, policy, self.device, self.phone, EpisodeKey("bf16"))
                labels.append((name, record.outcome.label == "success"))
        return labels


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


_workshop: Workshop | None = None


def _open_workshop(tokenizer_json: str, labels: Sequence[str], noise: Noise) -> None:
    """Prepare a worker process; what a process pool offers for this is a module variable."""
    global _workshop
    _workshop = Workshop(tokenizer_json, labels, noise)


def _make_chunk(order: Order) -> list[Sample]:
    assert _workshop is not None
    return _workshop.chunk(order)


def _play(folder: Path, chosen: range, weights: Mapping[str, float]) -> list[Lesson]:
    assert _workshop is not None
    return _workshop.rollouts(folder, chosen, weights)


def _try(folder: Path, chosen: range) -> list[tuple[str, bool]]:
    assert _workshop is not None
    return _workshop.solved(folder, chosen)


class Feed:
    """Fresh samples from other processes, always the same ones in the same order.

    Args:
        tokenizer_json: The trained tokenizer.
        labels: What drills put on their screens.
        noise: How often a demonstration leaves the oracle's way.
        plan_seed: Sets the seeds apart from those of other trainings.
    """

    def __init__(self, tokenizer_json: str, labels: Sequence[str], noise: Noise, plan_seed: int) -> None:
        self._plan_seed = plan_seed
        context = multiprocessing.get_context("spawn")
        self._pool = context.Pool(WORKERS, _open_workshop, (tokenizer_json, list(labels), noise))
        self._waiting: deque[AsyncResult[list[Sample]]] = deque()
        self._next = 0
        self._weights: Mapping[str, float] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._pool.terminate()
        self._pool.join()

    def begin(self, first: int, weights: Mapping[str, float] | None) -> None:
        """Go on with the chunk of that number; the ones under way are forgotten."""
        self._waiting.clear()
        self._next, self._weights = first, weights
        for _ in range(_AHEAD):
            self._request()

    def take(self) -> list[Sample]:
        """Return the next chunk."""
        samples = self._waiting.popleft().get()
        self._request()
        return samples

    def rollouts(self, folder: Path, first: int, count: int, weights: Mapping[str, float]) -> list[Lesson]:
        """Let the model of a folder play so many training instances."""
        chosen = seeds("rollouts", self._plan_seed, first, count)
        parts = [chosen[start : start + CHUNK] for start in range(0, count, CHUNK)]
        made = self._pool.starmap(_play, [(folder, part, dict(weights)) for part in parts], chunksize=1)
        return [lesson for part in made for lesson in part]

    def solved(self, folder: Path, instances: int) -> list[tuple[str, bool]]:
        """Let the model of a folder play so many validation instances of each taught task."""
        chosen = seeds("validation", self._plan_seed, SEEDS_BEFORE_PLAY, instances)
        made = self._pool.starmap(_try, [(folder, chosen[i : i + 1]) for i in range(instances)], chunksize=1)
        return [each for part in made for each in part]

    def _request(self) -> None:
        order = Order(self._plan_seed, self._next, self._weights)
        self._waiting.append(self._pool.apply_async(_make_chunk, (order,)))
        self._next += 1


def chained(digest: str, samples: Iterable[Sample]) -> str:
    """Return the digest of all data so far: of the digest before and every token that follows."""
    one = hashlib.sha256(digest.encode())
    for sample in samples:
        one.update(sample.ids.tobytes())
        one.update(sample.targets.tobytes())
    return one.hexdigest()


def study(workshop_noise: Noise, plan_seed: int, episodes: int) -> Study:
    """Play some episodes of the training split, and note their texts and labels."""
    device, phone = wiring.open_sim()
    texts: list[str] = []
    shown: Counter[str] = Counter()
    labels: set[str] = set()
    drawn = taught_instances(seeds("demonstrations", plan_seed, 0, episodes), lesson_weights())
    for made in demonstrations(drawn, device, phone, workshop_noise):
        texts += [message.content for message in made.messages if message.role in ("user", "tool")]
        for reply in made.expert:
            if reply is not None:
                texts.append(f" {reply.thought}")
                texts += [value for value in arguments_of(reply.action).values() if isinstance(value, str)]
        parts: set[str] = set()
        for message in made.messages:
            for line in message.content.split("\n"):
                if line.startswith("["):
                    label, _, value = _ROLE.sub("", line.partition("] ")[2]).partition(": ")
                    labels.add(label)
                    parts |= {label, value}
        shown.update(parts)
    often = (part for part, count in shown.items() if count >= PHRASE_SHARE * episodes)
    return Study(
        texts,
        sorted(label for label in labels if label and not set(label) & {",", ":"}),
        sorted(f" {part}" for part in often if len(_WORD.findall(part)) > 1),
    )


_ROLE = re.compile(r" \([a-z]+(?:, [a-z]+)*\)$")
_WORD = re.compile(r"[A-Za-z]+")


def skeleton() -> Iterator[str]:
    """Yield what every turn repeats: the opening of a call up to its first free value, and the frame of a screen."""
    for name, tool in TOOLS.items():
        first = next(iter(tool.model_json_schema(by_alias=True).get("properties", {})), None)
        yield f"<tool_call>{name}" + (f"<arg_key>{first}</arg_key><arg_value>" if first else "</tool_call>")
    yield from ("Task:", "\nApp:", "\n(scrolls)", "\n(keyboard open)")  # the frame of every screen
    yield "<tool_call>task_complete</tool_call>"
    yield "</arg_value><arg_key>text</arg_key><arg_value>"
    yield "</arg_value><arg_key>index</arg_key><arg_value>"
