"""The training run of the embedded model: its rounds, what it keeps to go on after a kill, its manifest.

Fresh demonstrations all the way: no screen is made twice. In later rounds the model plays first, and the oracle says
what it should have done (DAgger: Ross et al., 2011); what it does badly is taught more in the round that follows.
Knows neither how samples are made (``lessons``) nor how weights move (``spark_backend.nano.trainer``).
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agent_eval import wiring
from agent_eval.curriculum import (
    HELD_OUT_SKINS,
    HELD_OUT_TASKS,
    MOST_PLANS,
    SKINNED,
    lesson_weights,
    mistakes_by_task,
)
from agent_eval.demonstrations import Noise
from agent_eval.errors import OperatorError, RunFolderError
from agent_eval.lessons import Feed, Workshop, chained, skeleton, study
from agent_eval.records import require_empty, write_atomically
from agent_eval.spark_backend.nano.encode import Sample

if TYPE_CHECKING:
    from agent_eval.spark_backend.nano.trainer import StepReport, Trainer

VOCABULARY = 3072
UNFINISHED = "unfinished"
"""Folder within a checkpoint's, of all that a training needs to go on; gone when it is done."""
CURVE = "training.jsonl"
"""File of a checkpoint's folder with the training curve: a line for every report."""
REPORT_EVERY = 50
"""Steps."""
KEEP_EVERY = 200
"""Steps after which the state is written."""
MOST_PLAYED = 0.6
"""Share of a round's tokens that may come from what the model played."""
_CHUNKS_OF_A_ROUND = 20_000
"""Numbers of chunks that each round sets apart; none comes near needing as many."""


@dataclass(frozen=True)
class TrainingPlan:
    """What a training run consists of; the same plan gives the same weights on one machine."""

    seed: int = 0
    steps: int = 5600
    rounds: int = 12
    """Equal parts of the steps. What is taught more, and what the model plays, is settled anew at the start of each."""
    drill_share: float = 0.04
    """Share of the steps, at the start, on lookup drills only; before episodes come in."""
    noise: Noise = field(default=Noise(episodes=0.5, moves=0.12))
    play_from: int = 3
    """First round at whose start the model plays; numbered from 0."""
    rollouts: int = 720
    """Episodes that it plays then."""
    repeats: int = 2
    """Times that each of them is learned from, spread over the round."""
    study_episodes: int = 384
    """Episodes whose texts the tokenizer is trained on."""
    validation_episodes: int = 128
    """Episodes of the validation split on which token accuracy is measured."""
    validation_instances: int = 1
    """Instances of each taught task, of the validation split, that the model plays after each round."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < MOST_PLANS:
            raise OperatorError(
                f"the seed of a training is {self.seed}, expected one from 0 to {MOST_PLANS - 1}",
                hint="each sets ten million seeds of lessons apart, and no two trainings share one",
            )
        if self.play_from < 1:
            raise ValueError(f"play_from is {self.play_from}, expected 1 or more: an untrained model teaches nothing")

    def round_of(self, step: int) -> int:
        """Return the round that a step belongs to."""
        return min(step * self.rounds // self.steps, self.rounds - 1)

    def first_step(self, number: int) -> int:
        """Return the first step of a round."""
        return -(-number * self.steps // self.rounds)


class Report(NamedTuple):
    """How far a training is. What was measured earlier is repeated until it is measured again."""

    step: int
    steps: int
    loss: float
    """Mean cross-entropy of the last step's taught tokens, nats."""
    accuracy: float
    """Share of them predicted exactly."""
    tokens: int
    """Tokens read so far."""
    decisions: int
    """Turns taught so far."""
    seconds: float
    """Wall time so far, of all processes that worked on it."""
    held_out_loss: float | None
    held_out_accuracy: float | None
    """On taught tokens of the validation split."""
    solved: int | None
    """Validation instances solved by playing them."""
    played: int | None


@dataclass
class _Progress:
    """What changes from step to step, beside the weights; written with them."""

    step: int = 0
    tokens: int = 0
    decisions: int = 0
    seconds: float = 0.0
    data_sha256: str = ""
    weights: dict[str, float] | None = None
    """Share of each task in this round."""
    held_out_loss: float | None = None
    held_out_accuracy: float | None = None
    solved: int | None = None
    played: int | None = None
    lost: list[str] = field(default_factory=list)
    """Episodes that the model brought to where the oracle knew no way on, and why: faults of a task's expert."""
    by_task: dict[str, list[int]] = field(default_factory=dict)
    """Validation instances solved and played after the last round, by task."""


def train_nano(
    out: Path,
    plan: TrainingPlan,
    watch: Callable[[Report], None],
    *,
    report_every: int = REPORT_EVERY,
    keep_every: int = KEEP_EVERY,
) -> None:
    """Train the embedded model and write its checkpoint folder; a training that was killed goes on.

    Args:
        out: Folder to write: new, empty, or that of a training of the same plan; a finished one is left as it is.
        plan: What to do.
        watch: Told of the progress.
        report_every: Steps between two reports.
        keep_every: Steps after which all that is needed to go on is written.

    Raises:
        RunFolderError: the folder holds something else already, or cannot be written.
    """
    if _is_finished(out, plan):
        return
    from tokenizers import Tokenizer

    from agent_eval.spark_backend.nano.shape import nano_config, nano_start
    from agent_eval.spark_backend.nano.trainer import Recipe, Trainer

    kept = _Kept.open(out, plan)
    tokenizer = Tokenizer.from_str(kept.tokenizer_json)
    config = nano_config(tokenizer)
    trainer = Trainer(config, Recipe(steps=plan.steps), plan.seed, nano_start(tokenizer))
    training = _Training(kept, plan, trainer, kept.restore(trainer), watch, report_every, keep_every)
    unseen = Workshop(kept.tokenizer_json, kept.labels, plan.noise).unseen(plan.validation_episodes)
    with Feed(kept.tokenizer_json, kept.labels, plan.noise, plan.seed) as feed:
        while training.progress.step < plan.steps:
            last = training.round(feed)
            training.try_out(feed, unseen)
            training.tell(last)
    kept.save(trainer, training.manifest())
    kept.close()


@dataclass(frozen=True)
class _Training:
    """What one process does of a training: rounds of steps, each followed by a trial."""

    kept: _Kept
    plan: TrainingPlan
    trainer: Trainer
    progress: _Progress
    watch: Callable[[Report], None]
    report_every: int
    keep_every: int

    def round(self, feed: Feed) -> StepReport:
        """Take the steps of a round, from where an earlier process was; return what the last one showed."""
        from agent_eval.spark_backend.nano.trainer import Batches, StepReport

        plan, progress, trainer = self.plan, self.progress, self.trainer
        number = plan.round_of(progress.step)
        first, end = plan.first_step(number), plan.first_step(number + 1)
        began = time.perf_counter() - progress.seconds
        if progress.step == first:
            self._begin_round(feed, number)
        assert progress.weights is not None
        drills_end = int(plan.steps * plan.drill_share)
        batches = Batches(trainer.recipe.tokens_per_step, random.Random(f"batches/{plan.seed}/{number}"))
        mixed = _Mixed(
            feed,
            self.kept.played() * plan.repeats,
            (end - first) * trainer.recipe.tokens_per_step,
            number * _CHUNKS_OF_A_ROUND,
            random.Random(f"played/{plan.seed}/{number}"),
        )
        report = StepReport(0.0, 0.0, 0)
        for step in range(first, end):
            drilling = step < drills_end
            if step in (first, drills_end):
                mixed.begin(None if drilling else progress.weights)
            while not batches.ready():
                batches.add(mixed.take())
            batch = batches.take()
            if step < progress.step:  # an earlier process learned from this one
                continue
            report = trainer.step(batch)
            progress.step = step + 1
            progress.tokens += report.tokens
            progress.decisions += sum(int((sample.ids == trainer.config.eos_token_ids[0]).sum()) for sample in batch)
            progress.data_sha256 = chained(progress.data_sha256, batch)
            progress.seconds = time.perf_counter() - began
            if progress.step == end:
                break
            if progress.step % self.keep_every == 0:
                self.kept.keep(trainer, progress)
            if progress.step % self.report_every == 0:
                self.tell(report)
        return report

    def _begin_round(self, feed: Feed, number: int) -> None:
        """Let the model play, once it can, and settle what is taught more."""
        plan, progress = self.plan, self.progress
        played: list[Sample] = []
        progress.weights = lesson_weights()
        if number >= plan.play_from and plan.rollouts:
            lessons = feed.rollouts(self.kept.out, number * plan.rollouts, plan.rollouts, lesson_weights())
            played = [sample for lesson in lessons for sample in lesson.samples]
            mistaken = mistakes_by_task((lesson.task, lesson.mistakes > 0) for lesson in lessons)
            progress.weights = lesson_weights(mistaken)
            progress.lost += [lesson.lost for lesson in lessons if lesson.lost]
        self.kept.keep_played(played)
        self.kept.keep(self.trainer, progress)

    def try_out(self, feed: Feed, unseen: Sequence[Sample]) -> None:
        """Measure on the validation split, by teacher forcing and by playing; write the checkpoint as it is."""
        progress = self.progress
        began = time.perf_counter()
        score = self.trainer.evaluate(unseen)
        progress.held_out_loss, progress.held_out_accuracy = round(score.loss, 5), round(score.accuracy, 4)
        self.kept.save(self.trainer, {"unfinished": True})
        results = feed.solved(self.kept.out, self.plan.validation_instances)
        progress.solved, progress.played = sum(solved for _, solved in results), len(results)
        progress.by_task = {}
        for task, solved in results:
            tally = progress.by_task.setdefault(task, [0, 0])
            tally[0] += solved
            tally[1] += 1
        progress.seconds += time.perf_counter() - began
        self.kept.keep(self.trainer, progress)

    def tell(self, last: StepReport) -> None:
        """Note how far it is, and what the last step showed."""
        progress = self.progress
        report = Report(
            progress.step,
            self.plan.steps,
            round(last.loss, 4),
            round(last.accuracy, 4),
            progress.tokens,
            progress.decisions,
            round(progress.seconds, 1),
            progress.held_out_loss,
            progress.held_out_accuracy,
            progress.solved,
            progress.played,
        )
        self.kept.log(report)
        self.watch(report)

    def manifest(self) -> dict[str, object]:
        """Return what the checkpoint's card says of how it was made."""
        from agent_eval.spark_backend.probe import probe_machine

        plan, progress, trainer = self.plan, self.progress, self.trainer
        return {
            "seed": plan.seed,
            "steps": plan.steps,
            "plan": asdict(plan),
            "recipe": asdict(trainer.recipe),
            "precision": trainer.precision,
            "tokens": progress.tokens,
            "decisions": progress.decisions,
            "data_sha256": progress.data_sha256,
            "parameters": trainer.config.parameters,
            "skinned": SKINNED,
            "held_out_tasks": HELD_OUT_TASKS,
            "held_out_skins": HELD_OUT_SKINS,
            "validation_loss": progress.held_out_loss,
            "validation_token_accuracy": progress.held_out_accuracy,
            "validation_solved": progress.by_task,
            "oracle_lost": progress.lost,
            "trained_minutes": round(progress.seconds / 60, 1),
            "machine": probe_machine().cpu_model,
            "device": trainer.device.type,
            "threads": trainer.threads,
            "torch": wiring.library_versions()["torch"],
            "code_revision": wiring.source_revision(),
            "prompt_digest": wiring.prompt_digest(),
        }


class _Mixed:
    """Chunks of fresh demonstrations, with what the model played strewn in evenly over a round."""

    def __init__(self, feed: Feed, played: Sequence[Sample], tokens: int, first_chunk: int, rng: random.Random) -> None:
        self._feed = feed
        self._chunk = first_chunk
        self._waiting = list(played)
        rng.shuffle(self._waiting)
        share = min(MOST_PLAYED, _length(self._waiting) / tokens)
        self._ratio = share / (1 - share)
        self._owed = 0.0

    def begin(self, weights: Mapping[str, float] | None) -> None:
        """Go on with chunks of drills (None) or of episodes."""
        self._feed.begin(self._chunk, weights)

    def take(self) -> list[Sample]:
        """Return the next chunk with its share of what was played."""
        samples = self._feed.take()
        self._chunk += 1
        self._owed += self._ratio * _length(samples)
        while self._waiting and self._owed > 0:
            samples.append(self._waiting.pop())
            self._owed -= len(samples[-1].ids)
        return samples


def _length(samples: Sequence[Sample]) -> int:
    return sum(len(sample.ids) for sample in samples)


class _Kept:
    """The folder of a training: the checkpoint, the curve, and what an unfinished one goes on from."""

    def __init__(self, out: Path, labels: list[str], tokenizer_json: str) -> None:
        self.out = out
        self.labels = labels
        self.tokenizer_json = tokenizer_json
        self._folder = out / UNFINISHED

    @classmethod
    def open(cls, out: Path, plan: TrainingPlan) -> _Kept:
        """Begin a training in a folder, or find what an unfinished one left there.

        Raises:
            RunFolderError: the folder holds something else, or a training of another plan.
        """
        named = f"checkpoint folder {str(out)!r}"
        folder = out / UNFINISHED
        identity = _identity(plan)
        try:
            if (folder / "plan.json").exists():
                held = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
                if held != identity:
                    raise _another_plan(named, "an unfinished training", held, identity)
                labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
                return cls(out, labels, (folder / "tokenizer.json").read_text(encoding="utf-8"))
            require_empty(out, named)
            from agent_eval.spark_backend.nano.vocabulary import train_tokenizer

            studied = study(plan.noise, plan.seed, plan.study_episodes)
            tokenizer = train_tokenizer(studied.texts, skeleton(), studied.phrases, VOCABULARY).to_str()
            folder.mkdir(parents=True)
            (folder / "labels.json").write_text(json.dumps(studied.labels, ensure_ascii=False), encoding="utf-8")
            (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
            write_atomically(folder / "plan.json", json.dumps(identity, indent=1))
        except OSError as error:
            raise RunFolderError(f"{named} cannot be used: {error}", hint="choose another folder") from error
        return cls(out, studied.labels, tokenizer)

    def restore(self, trainer: Trainer) -> _Progress:
        """Bring a trainer to where the last process left off; return how far that was."""
        from safetensors.torch import load_file

        file = self._folder / "progress.json"
        if not file.exists():
            return _Progress()
        progress = _Progress(**json.loads(file.read_text(encoding="utf-8")))
        trainer.restore(load_file(self._state(progress.step)), progress.step)
        return progress

    def keep(self, trainer: Trainer, progress: _Progress) -> None:
        """Write all that a later process goes on from; a kill at any moment leaves the one before or this one."""
        from safetensors.torch import save_file

        save_file(trainer.state(), self._state(progress.step))
        write_atomically(self._folder / "progress.json", json.dumps(asdict(progress)))
        for file in self._folder.glob("state-*.safetensors"):
            if file != self._state(progress.step):
                file.unlink()

    def keep_played(self, samples: Sequence[Sample]) -> None:
        """Write what the model played for the round that begins."""
        from safetensors.numpy import save_file

        flat = {
            "lengths": np.array([len(sample.ids) for sample in samples], np.int64),
            "ids": np.concatenate([np.zeros(0, np.int32), *(sample.ids for sample in samples)]),
            "targets": np.concatenate([np.zeros(0, np.int32), *(sample.targets for sample in samples)]),
        }
        save_file(flat, self._folder / "played.safetensors")

    def played(self) -> list[Sample]:
        """Return what ``keep_played`` was given last."""
        from safetensors.numpy import load_file

        flat = load_file(self._folder / "played.safetensors")
        cuts = np.cumsum(flat["lengths"])[:-1]
        if not len(flat["lengths"]):
            return []
        pairs = zip(np.split(flat["ids"], cuts), np.split(flat["targets"], cuts), strict=True)
        return [Sample(ids, targets) for ids, targets in pairs]

    def log(self, report: Report) -> None:
        """Append a line to the curve."""
        with (self.out / CURVE).open("a", encoding="utf-8") as file:
            file.write(_curve_line(report))

    def save(self, trainer: Trainer, manifest: Mapping[str, object]) -> None:
        """Write the checkpoint as it is."""
        from agent_eval.spark_backend.checkpoints.loader import Card
        from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
        from agent_eval.spark_backend.nano.vocabulary import CHAT_TEMPLATE

        save_checkpoint(
            self.out,
            trainer.config,
            trainer.weights(),
            tokenizer_json=self.tokenizer_json,
            chat_template=CHAT_TEMPLATE,
            card=Card(name="nano", kind="embedded", details={"training": dict(manifest)}),
        )

    def close(self) -> None:
        """Remove what only an unfinished training needs, and leave the curve with each step once."""
        file = self.out / CURVE
        write_atomically(file, "".join(map(_curve_line, read_curve(file))))
        shutil.rmtree(self._folder)

    def _state(self, step: int) -> Path:
        return self._folder / f"state-{step}.safetensors"


def _curve_line(report: Report) -> str:
    return json.dumps(report._asdict()) + "\n"


def read_curve(file: Path) -> list[Report]:
    """Return the training curve of a file, each step once, the last time that it was taken."""
    lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    by_step = {report.step: report for report in (Report(**line) for line in lines)}
    return [by_step[step] for step in sorted(by_step)]


def _is_finished(out: Path, plan: TrainingPlan) -> bool:
    """Tell whether a folder holds a finished training of this plan.

    Raises:
        RunFolderError: it holds one of another plan.
    """
    from agent_eval.spark_backend.checkpoints.folder import CARD_NAME
    from agent_eval.spark_backend.checkpoints.loader import read_card

    if not (out / CARD_NAME).exists() or (out / UNFINISHED).exists():
        return False
    training = read_card(out).details.get("training")
    if not isinstance(training, dict) or "plan" not in training:
        return False
    held, wanted = {name: training[name] for name in ("plan", "prompt_digest")}, _identity(plan)
    if held != wanted:
        raise _another_plan(f"checkpoint folder {str(out)!r}", "a finished training", held, wanted)
    return True


def _identity(plan: TrainingPlan) -> dict[str, Any]:
    """Return what a training must agree in with the one that it goes on with, as a file has it."""
    found: dict[str, Any] = json.loads(json.dumps({"plan": asdict(plan), "prompt_digest": wiring.prompt_digest()}))
    return found


def _another_plan(named: str, what: str, held: Mapping[str, Any], wanted: Mapping[str, Any]) -> RunFolderError:
    return RunFolderError(
        f"{named} holds {what} of another plan or of other screens: {_differences(held, wanted)}",
        hint="give the same options as then, or another folder",
    )


def _differences(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    flat_held, flat_wanted = ({**each["plan"], "screens": each["prompt_digest"]} for each in (held, wanted))
    names = [name for name in flat_wanted if flat_held.get(name) != flat_wanted[name]]
    return ", ".join(f"{name} {flat_held.get(name)} there, {flat_wanted[name]} here" for name in names)
