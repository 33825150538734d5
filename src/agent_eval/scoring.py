"""The scores of a finished embedded model: one run for each condition of the curriculum, then its model card.

The runs are ordinary ones, in ordinary folders, and are gone on with like any other. They are drawn from seeds that no
training uses, when the weights have been written; nothing here changes a weight. Knows no statistics (``reports``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent_eval.conditions import Conditions
from agent_eval.curriculum import CONDITIONS, Condition, seeds
from agent_eval.errors import OperatorError
from agent_eval.records import write_atomically
from agent_eval.reports.model_card import Anatomy, model_card
from agent_eval.reports.score_record import ScoreRecord
from agent_eval.reports.scores import Played, TaskKind, scores_of
from agent_eval.running import Watch, play_run
from agent_eval.tasks import TASKS
from agent_eval.training import CURVE, read_curve
from agent_eval.wiring import RunOptions

SCORES = "scores.json"
"""File of a checkpoint's folder with what the model scored."""
MODEL_CARD = "README.md"
"""File of a checkpoint's folder for people."""
BUILDS = ("bf16", "w4a16", "w4a8")
INSTANCES = 4
"""Of each taught task; with it a scoring has about two thousand episodes."""
MAX_TOKENS = 256
"""Most tokens of one reply, as in a run that is not told otherwise."""

SHARE: Mapping[str, float] = {
    "in distribution": 1.0,
    "unseen parameters": 1.0,
    "unseen layout": 0.25,  # under each of three skins
    "unseen template": 4.0,  # of few tasks
}
"""Instances of each task under a condition, over those of a taught task."""


def instances_of(condition: str, instances: int) -> int:
    """Return how many instances of each task are played under a condition, and under each of its skins; at least one.

    Args:
        condition: Its name.
        instances: Of each taught task.
    """
    return max(1, round(instances * SHARE[condition]))


def score(
    folder: Path,
    out: Path,
    tell: Callable[[str], None],
    watch: Watch,
    *,
    builds: tuple[str, ...] = BUILDS,
    instances: int = INSTANCES,
    conditions: Mapping[str, Condition] = CONDITIONS,
) -> ScoreRecord:
    """Play every condition, or what is left of it, and write the scores and the model card beside the weights.

    Args:
        folder: A finished checkpoint that `agent-eval train` wrote.
        out: Holds a run folder for each condition, and for each skin where there are several.
        tell: Gets a line of what a person should know.
        watch: Shows the progress of each run.
        builds: What is played; the first of them is the reference unless there is bf16.
        instances: Of each taught task; ``instances_of`` says how many that makes under each condition.
        conditions: What is played, by name.

    Raises:
        OperatorError: the folder holds no finished training or cannot be written, or a run folder is of something else.
    """
    plan_seed = _plan_seed(folder)
    played: dict[str, list[Played]] = {}
    for name, condition in conditions.items():
        count = instances_of(name, instances)
        for skin in condition.skins:
            skinned = f", skin {skin}" if len(condition.skins) > 1 else ""
            tell(f"{name}{skinned}: {condition.split} split, {len(condition.tasks)} tasks x {count} instances")
            options = RunOptions(
                builds=builds,
                tasks=condition.tasks,
                instances=count,
                seed=seeds("scores", plan_seed, 0, count).start,
                model=str(folder),
                max_tokens=MAX_TOKENS,
                thinking=True,
                stop_on_loop=False,
                max_episode_s=None,
                split=condition.split,
                conditions=Conditions(skin),
            )
            place = out / name.replace(" ", "-")
            run = play_run(options, place / skin if skinned else place, tell, watch)
            played.setdefault(name, []).append(Played(run.manifest, run.episodes()))
    kinds = {name: TaskKind(task.tier, "already_true" in task.traits) for name, task in TASKS.items()}
    scores = scores_of(played, kinds, plan_seed)
    try:
        write_atomically(folder / SCORES, scores.as_json())
        write_atomically(folder / MODEL_CARD, card_text(folder))
    except OSError as error:
        raise OperatorError(
            f"cannot write the scores into {str(folder)!r}: {error.strerror or error}",
            hint="the runs are kept: make the folder writable and repeat the command",
        ) from error
    return scores


def default_out(folder: Path) -> Path:
    """Return the folder for the runs of a checkpoint unless a person says otherwise: beside it."""
    return folder.with_name(f"{folder.name}-scores")


def card_text(folder: Path) -> str:
    """Return the model card of a checkpoint folder, from its files.

    Raises:
        OperatorError: a file cannot be read, or its scores are of other weights.
    """
    from agent_eval.spark_backend import checkpoint_digest, read_card
    from agent_eval.spark_backend.checkpoints.config import SparkConfig
    from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, read_json, weight_files
    from agent_eval.spark_backend.tokenizer import SparkTokenizer

    anatomy = Anatomy(
        name=read_card(folder).name,
        config=read_json(folder / CONFIG_NAME),
        parameters=SparkConfig.from_folder(folder).parameters,
        weight_bytes=sum(file.stat().st_size for file in weight_files(folder)),
        tokens=SparkTokenizer.from_folder(folder).size,
        digest=checkpoint_digest(folder),
    )
    scores = ScoreRecord.read(folder / SCORES) if (folder / SCORES).exists() else None
    if scores and scores.model_digest != anatomy.digest:
        raise OperatorError(
            f"{folder / SCORES} is of the weights {scores.model_digest[:16]}; the folder holds {anatomy.digest[:16]}",
            hint="`agent-eval score` plays the scores of the weights that are there",
        )
    curve = [report._asdict() for report in read_curve(folder / CURVE)] if (folder / CURVE).exists() else []
    return model_card(anatomy, _training(folder), curve, scores)


def _training(folder: Path) -> Mapping[str, Any]:
    """Return the training manifest of a checkpoint; empty where it has none."""
    from agent_eval.spark_backend import read_card

    training = read_card(folder).details.get("training")
    return training if isinstance(training, dict) else {}


def _plan_seed(folder: Path) -> int:
    training = _training(folder)
    if training.get("unfinished"):
        raise OperatorError(
            f"{str(folder)!r} holds an unfinished training; expected a finished one",
            hint="repeat the command that trains it, then score it",
        )
    seed = training.get("seed")
    if not isinstance(seed, int):
        raise OperatorError(
            f"{str(folder)!r} has no training manifest in its card; expected a folder that `agent-eval train` wrote",
            hint="for another checkpoint use `agent-eval run --model FOLDER`",
        )
    return seed
