"""How close builds come to their reference: on its own episodes of a run, on a text, and on prompts.

Joins a run's records with the models. The build is loaded beside the reference, one at a time. Prints nothing and
computes no statistics: what was measured is returned as it is (``reports/fidelity_record.py``).
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_eval import __version__, wiring
from agent_eval.actions import TaskComplete, ToolCall, arguments_of
from agent_eval.errors import OperatorError, RunFolderError
from agent_eval.records import EpisodeRecord, RunFolder
from agent_eval.reports.divergence import Act, first_divergent_step, kind_of
from agent_eval.reports.fidelity_record import (
    PART_LETTERS,
    ActionRecord,
    BuildFidelity,
    CompletionRecord,
    DecisionRecord,
    DivergenceRecord,
    FidelityRecord,
    FollowedEpisode,
    PartingRecord,
    ReadWindow,
    ReferenceEpisode,
    TextRecord,
)
from agent_eval.reports.selection import judged, latest, models_of, pairs_of, reference_of

if TYPE_CHECKING:
    from agent_eval.spark_backend.fidelity.distances import Distances
    from agent_eval.spark_backend.fidelity.pair import (
        Completed,
        FidelityPair,
        FollowedReply,
        OwnReply,
        Parting,
        RecordedReply,
    )
    from agent_eval.spark_backend.fidelity.prompts import Prompt
    from agent_eval.spark_backend.spark import SparkModel
    from agent_eval.spark_backend.tokenizer import SparkTokenizer

GOALS = "goals of the tasks"
"""The text that is read unless a file is named."""

GOAL_SEEDS = 20
"""Instances of each task whose goals it holds; goals that say the same are in it once."""

_LETTER_OF = {part: letter for letter, part in PART_LETTERS.items()}


@dataclass(frozen=True)
class FidelityOptions:
    """What a person may have an opinion on; the options of ``agent-eval fidelity``."""

    run: Path
    builds: tuple[str, ...] = ()
    """By name, or ``BUILD=CHECKPOINT``; all other models of the run where empty."""
    model: str | None = None
    """The run's where None."""
    text: Path | None = None
    prompts: Path | None = None
    episodes: int | None = None
    """Most episodes of the reference that are followed, spread over the run; all where None."""
    tokens: int = 64
    """Most tokens of a greedy continuation."""
    act: bool = False
    """Whether the builds' own replies at each step are generated too."""


class _Text(NamedTuple):
    record: TextRecord
    windows: tuple[tuple[int, ...], ...]


class _Measured(NamedTuple):
    """What one build and its reference gave."""

    build: BuildFidelity
    episodes: tuple[ReferenceEpisode, ...]
    text: TextRecord


def measure_fidelity(options: FidelityOptions, tell: Callable[[str], None]) -> FidelityRecord:
    """Measure builds against the reference of a run.

    Args:
        options: What to measure.
        tell: Gets a line of progress now and then.

    Raises:
        OperatorError: the run has no episode of a model, names do not go together, a file cannot be read, a checkpoint
            cannot be had or is another one, or a build does not fit into memory beside the reference.
        RunFolderError: there is no run, or its prompts cannot be built again.
        EngineFault: a build failed to compute.
    """
    from agent_eval.spark_backend.builds import DEFAULT_CONTEXT
    from agent_eval.spark_backend.checkpoints.config import SparkConfig
    from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest, weights_digest
    from agent_eval.spark_backend.fidelity.prompts import DEFAULT_PROMPTS, read_prompts
    from agent_eval.spark_backend.probe import probe_machine
    from agent_eval.spark_backend.tokenizer import SparkTokenizer

    run = RunFolder.open(options.run)
    configuration, records = run.manifest.configuration, run.episodes()
    models = models_of(run.manifest, records)
    if not models:
        raise OperatorError(
            f"the run {str(options.run)!r} has no build of a model; it has {', '.join(run.manifest.agents)}",
            hint="compare builds on a run such as `agent-eval run --builds bf16,w4a16,w4a8`",
        )
    reference = reference_of(models)
    chosen = wiring.choose_builds(options.builds or [build for build in models if build != reference])
    _require_models(chosen.names, reference)
    prompts = read_prompts(options.prompts) if options.prompts else DEFAULT_PROMPTS
    sources = {} if options.model else dict(run.manifest.build_sources)
    own = {
        name: place for name, place in sources.items() if name in (reference, *chosen.names)
    } | chosen.own_checkpoints
    model = options.model or configuration.model
    checkpoints = wiring.find_checkpoints(model, (reference, *chosen.names), own)
    assert checkpoints is not None, "every build is a model's"
    folder = checkpoints.model.folder
    digest = checkpoint_digest(folder)
    if digest != configuration.model_digest:
        if options.model is None:
            raise OperatorError(
                f"the model {model!r} is not the one that the run was played with: its digest is {digest[:12]}, the "
                f"run's {configuration.model_digest[:12]}",
                hint="pass --model with the model to measure on these episodes",
            )
        tell(f"warning: the run was played with another model than {model!r}: its replies are only texts to follow")
    played = [record for record in judged(latest(records)) if record.build == reference and record.steps]
    tokenizer = SparkTokenizer.from_folder(folder)
    session = _Session(
        episodes=_spread(played, options.episodes),
        text=_text(options.text, tokenizer),
        prompts=prompts,
        tokens=options.tokens,
        act=options.act,
        max_tokens=configuration.max_tokens,
        same_model=digest == configuration.model_digest,
        tell=tell,
    )
    choice = wiring.choose_engine("torch")
    config = SparkConfig.from_folder(folder)
    context = min(DEFAULT_CONTEXT, config.max_position_embeddings)
    for build in chosen.names:
        wiring.check_room(checkpoints, (reference, build), context, choice)
    wiring.prepare_builds(checkpoints, (reference, *chosen.names), choice, tell)

    def load(build: str) -> SparkModel:
        tell(f"loading {build}")
        place = checkpoints.of(build).folder
        return wiring.open_model(place, build, thinking=configuration.thinking, text=folder, choice=choice)

    def played_apart(build: str) -> tuple[DivergenceRecord, ...]:
        # what the run has under that name is another build where the checkpoint is another one
        other = not session.same_model or build in chosen.own_checkpoints or build == reference
        return () if other else _divergences(records, reference, build)

    first = load(reference)
    measured = [session.measure(first, load, build, played_apart(build)) for build in chosen.names]
    return FidelityRecord(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        run=str(options.run),
        run_created=run.manifest.created,
        run_digest=configuration.model_digest,
        model=model,
        model_digest=digest,
        model_kind=wiring.kind_of(checkpoints),
        vocabulary=config.vocab_size,
        reference=reference,
        reference_notes=first.notes,
        build_digests={name: weights_digest(checkpoint.folder) for name, checkpoint in checkpoints.own.items()},
        thinking=configuration.thinking,
        machine=probe_machine(),
        threads=wiring.threads_for(folder),
        versions={"agent-eval": __version__, "revision": wiring.source_revision(), **wiring.library_versions()},
        recorded_episodes=len(played),
        episodes=measured[0].episodes,
        text=measured[0].text,
        new_tokens=options.tokens,
        builds=tuple(each.build for each in measured),
    )


@dataclass(frozen=True)
class _Session:
    """What every build is measured on."""

    episodes: Sequence[EpisodeRecord]
    text: _Text
    prompts: Sequence[Prompt]
    tokens: int
    act: bool
    max_tokens: int
    same_model: bool
    tell: Callable[[str], None]

    def measure(
        self,
        reference: SparkModel,
        load: Callable[[str], SparkModel],
        build: str,
        divergences: tuple[DivergenceRecord, ...],
    ) -> _Measured:
        """Load a build beside the reference, measure it, and let go of it."""
        from agent_eval.agent import tool_schemas
        from agent_eval.spark_backend.fidelity.pair import FidelityPair
        from agent_eval.spark_backend.meter import release_memory

        model = load(build)
        pair = FidelityPair(reference, model, tool_schemas(), stopping=TaskComplete.name)
        followed = []
        for place, record in enumerate(self.episodes):
            if place % max(1, len(self.episodes) // 10) == 0:
                self.tell(f"{build}: episode {place + 1} of {len(self.episodes)}")
            followed.append(self._episode(pair, record))
        self.tell(f"{build}: {len(self.text.windows)} windows of text")
        windows = [pair.text(window) for window in self.text.windows]
        self.tell(f"{build}: {len(self.prompts)} prompts")
        completions = tuple(
            _completion(prompt, pair.complete(prompt.content, self.tokens, with_tools=prompt.with_tools))
            for prompt in self.prompts
        )
        notes, pass_tokens = model.notes, pair.pass_tokens
        del pair, model
        release_memory()
        return _Measured(
            BuildFidelity(
                build=build,
                notes=notes,
                episodes=tuple(its for _, its in followed),
                windows=tuple(_window(window) for window in windows),
                completions=completions,
                divergences=divergences,
            ),
            tuple(mine for mine, _ in followed),
            self.text.record.model_copy(
                update={
                    "pass_tokens": pass_tokens,
                    "log_probabilities": tuple(float(window.reference.sum()) for window in windows),
                }
            ),
        )

    def _episode(self, pair: FidelityPair, record: EpisodeRecord) -> tuple[ReferenceEpisode, FollowedEpisode]:
        from agent_eval.spark_backend.fidelity.distances import Distances

        replies = _replies(record)
        at = _decision_step(record)
        followed = pair.episode(replies, at)
        if self.same_model:
            _require_same_prompts(record, followed)
        own = pair.own_replies(replies, self.max_tokens) if self.act else None
        all_of_it = Distances.joined(reply.distances for reply in followed)
        return (
            ReferenceEpisode(
                episode=record.episode,
                replies=tuple(len(reply.ids) for reply in followed),
                written_again=tuple(reply.written_again for reply in followed),
                parts="".join(_LETTER_OF[part] for reply in followed for part in reply.parts),
                log_probabilities=tuple(all_of_it.reference.tolist()),
            ),
            FollowedEpisode(
                episode=record.episode,
                kl=tuple(all_of_it.kl.tolist()),
                same_top="".join("1" if same else "0" for same in all_of_it.same_top),
                log_probabilities=tuple(all_of_it.build.tolist()),
                decision=_decision(record, at, followed, own),
                actions=None if own is None else tuple(_actions(record, own)),
            ),
        )


# ----------------------------------------------------------------------------------------------------------------------
# what is measured on


def _require_models(names: Sequence[str], reference: str) -> None:
    agents = [build for build in names if wiring.is_agent(build)]
    if agents:
        raise OperatorError(f"{', '.join(agents)} gives no probabilities", hint="compare the builds of a model")
    if not names:
        raise OperatorError(
            f"the run has no build besides {reference}; expected one to compare with it",
            hint="name builds of the same model with --builds",
        )


def _spread(records: Sequence[EpisodeRecord], most: int | None) -> Sequence[EpisodeRecord]:
    """Return so many episodes, spread evenly over the run, so that they are of many tasks."""
    if most is None or most >= len(records):
        return records
    return [records[place * len(records) // most] for place in range(most)]


def _text(path: Path | None, tokenizer: SparkTokenizer) -> _Text:
    """Cut a text into windows.

    Raises:
        OperatorError: the file cannot be read, or has less than two tokens.
    """
    from agent_eval.spark_backend.fidelity.pair import WINDOW

    try:
        text = "\n".join(_goals()) if path is None else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"{path} cannot be read: {error}", hint="--text takes a text file in UTF-8") from None
    ids = tokenizer.encode(text)
    windows = [tuple(ids[start : start + WINDOW]) for start in range(0, len(ids), WINDOW)]
    windows = [window for window in windows if len(window) > 1]  # a single token follows nothing
    if not windows:
        raise OperatorError(f"{path} has {len(ids)} tokens, expected at least two", hint="name a longer text")
    return _Text(
        TextRecord(
            source=GOALS if path is None else str(path),
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            tokens=sum(map(len, windows)),
            window=WINDOW,
            pass_tokens=0,
            log_probabilities=(),
        ),
        tuple(windows),
    )


def _goals() -> Iterator[str]:
    """Yield what people ask for in this suite, each sentence once."""
    from agent_eval.tasks import TASKS

    drawn = (task.draw(seed).goal for seed in range(GOAL_SEEDS) for task in TASKS.values())
    yield from dict.fromkeys(drawn)


def _replies(record: EpisodeRecord) -> list[RecordedReply]:
    from agent_eval.agent import conversations
    from agent_eval.spark_backend.fidelity.pair import RecordedReply

    return [
        RecordedReply(messages, step.text, step.tokens)
        for messages, step in zip(conversations(record), record.steps, strict=True)
    ]


def _decision_step(record: EpisodeRecord) -> int | None:
    """Return the step at which the goal was first seen to hold: the agent may stop there, or go on."""
    facts = record.outcome.facts
    reach = None if facts is None or facts.right_ending != "complete" else facts.first_reach
    return reach if reach is not None and reach < len(record.steps) else None


def _require_same_prompts(record: EpisodeRecord, followed: Sequence[FollowedReply]) -> None:
    """Refuse to measure on prompts that are not those of the run.

    Raises:
        RunFolderError: a prompt has another length than the run noted.
    """
    for number, (step, reply) in enumerate(zip(record.steps, followed, strict=True)):
        if step.timing is not None and step.timing.prompt_tokens != reply.prompt_tokens:
            raise RunFolderError(
                f"the prompt of step {number} of {record.episode} has {reply.prompt_tokens} tokens when it is built "
                f"again; the engine was given {step.timing.prompt_tokens}",
                hint="use the version of agent-eval that the run's manifest names",
            )


# ----------------------------------------------------------------------------------------------------------------------
# what was measured


def _decision(
    record: EpisodeRecord, at: int | None, followed: Sequence[FollowedReply], own: Sequence[OwnReply] | None
) -> DecisionRecord | None:
    asked = None if at is None else followed[at].decision
    if at is None or asked is None:
        return None
    return DecisionRecord(
        step=at,
        called=record.steps[at].tool or "",
        reference=asked.reference.log_odds,
        build=asked.build.log_odds,
        reference_covered=asked.reference.covered,
        build_covered=asked.build.covered,
        own=None if own is None else _act(own[at]).tool or "",
    )


def _actions(record: EpisodeRecord, own: Sequence[OwnReply]) -> Iterator[ActionRecord]:
    for number, (step, reply) in enumerate(zip(record.steps, own, strict=True)):
        mine, its = Act.of(step), _act(reply)
        kind = kind_of(mine, its)
        told = ("", "") if kind == "same" else (mine.told, its.told)
        yield ActionRecord(step=number, kind=kind, reference=told[0], build=told[1])


def _act(reply: OwnReply) -> Act:
    from agent_eval.agent import parse_reply

    parsed = parse_reply(reply.text, reply.finish)
    if isinstance(parsed, ToolCall):
        return Act(parsed.action.name, arguments_of(parsed.action), reply.text)
    return Act(None, {}, reply.text)


def _window(window: Distances) -> ReadWindow:
    return ReadWindow(
        kl=tuple(window.kl.tolist()),
        same_top=int(window.same_top.sum()),
        log_probability=float(window.build.sum()),
    )


def _completion(prompt: Prompt, completed: Completed) -> CompletionRecord:
    parting = completed.parting
    return CompletionRecord(
        prompt=prompt.name,
        prompt_tokens=completed.prompt_tokens,
        tokens=completed.reference_tokens,
        kept=completed.reference_tokens if parting is None else parting.shared,
        reference=completed.reference,
        build=completed.build,
        parting=None if parting is None else _parting(parting),
    )


def _parting(parting: Parting) -> PartingRecord:
    return PartingRecord(
        reference_token=parting.reference_token,
        build_token=parting.build_token,
        reference_of_reference=parting.reference.reference_token,
        reference_of_build=parting.reference.build_token,
        build_of_reference=parting.build.reference_token,
        build_of_build=parting.build.build_token,
    )


def _divergences(records: Sequence[EpisodeRecord], reference: str, build: str) -> tuple[DivergenceRecord, ...]:
    return tuple(
        DivergenceRecord(
            instance=pair.reference.episode.partition("/")[2],
            steps=len(pair.reference.steps),
            first=first_divergent_step(pair.reference, pair.build),
        )
        for pair in pairs_of(records, reference, build)
    )
