"""What a suite of tasks must pass before a result on it means anything. Joins tasks, agents and the phone.

Each gate plays agents whose outcome is known: an expert must succeed, one that does nothing must not, and each way of
doing wrong must get its own label. ``agent-eval check-suite`` runs them all, and so do the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_eval import wiring
from agent_eval.agent import NullAgent, RandomAgent, misbehaving
from agent_eval.conditions import SKINS
from agent_eval.contracts import Policy
from agent_eval.episode import NO_LIMITS, EpisodeKey, EpisodeLimits, run_episode
from agent_eval.outcome import Label, SubKind
from agent_eval.records import EpisodeRecord
from agent_eval.replay import replay_episode
from agent_eval.tasks import LANGUAGES, SPLITS, TaskInstance, Template, Variant
from agent_eval.tasks.split import split_of
from agent_eval.tasks.task import LEAST_BUDGET, goal_key

FEWEST_SENTENCES = 3
MOST_BY_CHANCE = 0.05
"""Share of instances that may succeed by acting at random, those left out whose goal holds from the start."""
CAMERA = "com.android.camera2"
_TIER_STEPS = {1: 4, 2: 8, 3: 15}
"""Tier to the most steps of its oracle."""

SuiteTask = Template | Variant


class Stage:
    """A phone, hands on it, and the agents that play there."""

    def __init__(self) -> None:
        self.device, self.phone = wiring.open_sim()

    def play(
        self, instance: TaskInstance, policy: Policy | None = None, limits: EpisodeLimits = NO_LIMITS
    ) -> EpisodeRecord:
        """Let a policy attempt an instance, the oracle unless told otherwise."""
        return run_episode(
            instance, policy or instance.oracle(self.phone), self.device, self.phone, EpisodeKey("gate"), limits
        )

    def spoil(self, instance: TaskInstance, spoiled: Callable[[Policy], Policy], *, room: int = 0) -> EpisodeRecord:
        """Let the oracle attempt an instance in a wrong way, with some steps on top of its budget."""
        roomy = with_room(instance, room)
        return self.play(roomy, spoiled(roomy.oracle(self.phone)))

    def begins_at_the_goal(self, instance: TaskInstance) -> bool:
        """Tell whether the goal holds on the prepared phone."""
        instance.prepare(self.phone)
        start = self.phone.snapshot()
        return instance.goal_holds(start, start)


def with_room(instance: TaskInstance, steps: int) -> TaskInstance:
    """Return an instance whose budget has room for more steps."""
    draft = instance.draft
    return replace(instance, draft=replace(draft, oracle_steps=draft.oracle_steps + steps)) if steps else instance


@dataclass
class Findings:
    """What a gate found."""

    tried: int = 0
    problems: list[str] = field(default_factory=list)
    note: str = ""
    """A figure worth telling, such as a rate."""

    def check(self, what: str, *, holds: bool) -> None:
        """Count one thing that must hold, and note it where it does not."""
        self.tried += 1
        if not holds:
            self.problems.append(what)

    def label(self, record: EpisodeRecord, *wanted: Label, sub_kind: SubKind | None = None, where: str = "") -> None:
        """Count an episode that must get one of some labels."""
        got = record.outcome
        fits = got.label in wanted and (sub_kind is None or got.sub_kind == sub_kind)
        named = " ".join(part for part in (f"{record.task}/{record.seed}", where) if part)
        shown = " ".join(part for part in (got.label, got.sub_kind, got.fault) if part)
        self.check(f"{named} is {shown}; expected {' or '.join(wanted)}", holds=fits)


Check = Callable[[Stage, Sequence[SuiteTask], Sequence[int]], Findings]


@dataclass(frozen=True)
class Gate:
    """One thing that must be so of every task."""

    name: str
    claim: str
    check: Check
    """Given a stage, tasks and instance seeds."""


def check_suite(
    tasks: Sequence[SuiteTask], seeds: Sequence[int], gates: Mapping[str, Gate] | None = None
) -> Iterator[tuple[Gate, Findings]]:
    """Yield what each gate finds, as it is found."""
    stage = Stage()
    for gate in (gates or GATES).values():
        yield gate, gate.check(stage, tasks, seeds)
    stage.device.close()


def _instances(
    tasks: Sequence[SuiteTask], seeds: Sequence[int], splits: Sequence[str] = ("evaluation",)
) -> Iterator[TaskInstance]:
    for task in tasks:
        for split in splits:
            for seed in seeds:
                yield task.draw(seed, split)


def _instances_of_every_split(tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Iterator[TaskInstance]:
    """Draw every seed in the evaluation, and share the seeds out among the other splits, at least one to each."""
    others = [split for split in SPLITS if split != "evaluation"]
    yield from _instances(tasks, seeds)
    for place, split in enumerate(others):
        yield from _instances(tasks, seeds[place :: len(others)] or seeds[:1], (split,))


# ----------------------------------------------------------------------------------------------------------------------
# the tasks by themselves


def _budgets(_stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for task in tasks:
        steps = [task.draw(seed).draft.oracle_steps for seed in seeds]
        found.check(
            f"{task.name} is of tier {task.tier}, and its oracle takes {max(steps)} steps",
            holds=max(steps) <= _TIER_STEPS[task.tier],
        )
        for seed, taken in zip(seeds, steps, strict=True):
            budget = task.draw(seed).budget
            found.check(f"{task.name}/{seed} has budget {budget}", holds=budget == max(LEAST_BUDGET, 2 * taken + 2))
    return found


def _wordings(_stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance, task in ((task.draw(seed), task) for task in tasks for seed in seeds):
        sentences = instance.draft.sentences
        for language in LANGUAGES if task.tier == 1 else ("en",):
            count = len(set(sentences.get(language, ())))
            found.check(
                f"{instance.id} has {count} sentences in {language!r}; expected {FEWEST_SENTENCES}",
                holds=count >= FEWEST_SENTENCES,
            )
    return found


def _splits(_stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for task in tasks:
        for language in LANGUAGES:
            for split in SPLITS:
                for seed in seeds:
                    drawn = task.draw(seed, split, language)
                    keys = (goal_key(drawn.goal), *drawn.draft.split_keys)
                    found.check(
                        f"{drawn.id} of split {split!r} holds {[key for key in keys if split_of(key) != split]}",
                        holds=all(split_of(key) == split for key in keys),
                    )
    return found


def _seeds(_stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for task in tasks:
        drawn = {(one.goal, tuple(one.setup.state.items()), one.setup.seed) for one in map(task.draw, seeds)}
        found.check(
            f"{task.name} has {len(drawn)} instances of {len(seeds)} seeds", holds=len(drawn) == len(set(seeds))
        )
        again = [(task.draw(seed).goal, task.draw(seed).setup) for seed in seeds]
        found.check(
            f"{task.name} draws one seed differently each time",
            holds=again == [(task.draw(seed).goal, task.draw(seed).setup) for seed in seeds],
        )
    return found


# ----------------------------------------------------------------------------------------------------------------------
# agents that must pass


def _oracle(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    steps = 0
    for instance in _instances_of_every_split(tasks, seeds):
        record = stage.play(instance)
        found.label(record, "success", sub_kind="")
        taken = len(record.steps) - 1
        found.check(
            f"{instance.id} took its oracle {taken} steps, {instance.draft.oracle_steps} are declared",
            holds=taken <= instance.draft.oracle_steps,
        )
        facts = record.outcome.facts
        found.check(f"the oracle loops in {instance.id}", holds=facts is not None and facts.loop is None)
        steps += taken
    found.note = f"{steps} steps"
    return found


def _skins(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for name, skin in SKINS.items():
        for instance in _instances(tasks, seeds[:1]):
            record = stage.play(replace(instance, setup=replace(instance.setup, skin=skin)))
            found.label(record, "success", sub_kind="", where=f"in {name}")
    return found


def _equal_runs(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    other = Stage()
    for instance in _instances(tasks, seeds[:1]):
        for policy in (None, RandomAgent(instance.seed)):
            first, second = stage.play(instance, policy), other.play(instance, policy)
            found.check(f"{instance.id} played twice differs", holds=first.untimed() == second.untimed())
            replayed = replay_episode(first, instance, stage.device, stage.phone)
            found.check(f"{instance.id} replayed differs", holds=all(step.same for step in replayed))
    other.device.close()
    return found


# ----------------------------------------------------------------------------------------------------------------------
# agents that must not pass


def _null(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    passed = 0
    for instance in _instances(tasks, seeds):
        true_already = stage.begins_at_the_goal(instance)
        passed += true_already
        found.label(stage.play(instance, NullAgent()), "success" if true_already else "premature_completion")
    found.note = f"passes {passed}, all true from the start"
    return found


def _waiting(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        if stage.begins_at_the_goal(instance):
            found.label(stage.play(instance, misbehaving.only_waits()), "no_completion", sub_kind="undeclared")
        else:
            found.label(stage.play(instance, misbehaving.only_waits()), "looping")
    return found


def _random(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    passed = counted = 0
    for instance in _instances(tasks, seeds):
        if not stage.begins_at_the_goal(instance):
            record = stage.play(instance, RandomAgent(instance.seed))
            found.check(f"{instance.id}: {record.outcome.fault}", holds=record.outcome.label != "harness_error")
            counted += 1
            passed += record.outcome.label == "success"
    found.note = f"passes {passed} of {counted}"
    found.check(
        f"{passed} of {counted} succeed by chance", holds=passed <= max(MOST_BY_CHANCE * counted, 1 if counted else 0)
    )
    return found


def _giving_up(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        record = stage.play(instance, misbehaving.gives_up())
        if instance.criteria.infeasible:
            found.label(record, "success")
        else:
            found.label(record, "premature_completion", sub_kind="gave_up")
            found.label(stage.spoil(instance, misbehaving.denies), "premature_completion", sub_kind="gave_up")
    return found


def _never_declaring(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        record = stage.spoil(instance, misbehaving.never_declares)
        if instance.criteria.goal is None:
            found.label(record, "looping", "no_completion", "wrong_app")
        else:
            found.label(record, "no_completion", sub_kind="undeclared")
    return found


def _doing_more(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        on_top = misbehaving.takes_a_photo_on_top
        if instance.concerns(CAMERA):
            on_top = misbehaving.starts_the_stopwatch_on_top
        record = stage.spoil(instance, on_top, room=5)
        if instance.criteria.infeasible:
            found.label(record, "premature_completion")
        elif instance.criteria.answer is not None:
            found.label(record, "premature_completion")  # it declares without the answer
        else:
            found.label(record, "over_execution", "reversal")
    return found


def _wrong_answers(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds):
        if instance.criteria.answer is not None:
            for wrong in ("", "I cannot tell"):
                record = stage.spoil(instance, lambda expert, wrong=wrong: misbehaving.answers(expert, wrong))  # type: ignore[misc]
                found.label(record, "premature_completion")
    return found


def _babbling(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        record = stage.play(instance, misbehaving.babbles())
        if stage.begins_at_the_goal(instance):
            found.label(record, "no_completion", sub_kind="undeclared")
        else:
            found.label(record, "invalid_call")
    return found


def _straying(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        if stage.begins_at_the_goal(instance):
            continue
        app = next(
            name
            for name, package in (("Calculator", "com.android.calculator2"), ("Recorder", "com.dimowner.audiorecorder"))
            if not instance.concerns(package)
        )
        found.label(stage.play(instance, misbehaving.loops_on(app, "there is no such element")), "wrong_app")
    return found


def _looping(stage: Stage, tasks: Sequence[SuiteTask], seeds: Sequence[int]) -> Findings:
    found = Findings()
    for instance in _instances(tasks, seeds[:1]):
        stopped = stage.play(instance, misbehaving.only_waits(), EpisodeLimits(stop_on_loop=True))
        found.check(
            f"{instance.id} ended by {stopped.outcome.stop} after {len(stopped.steps)} waits",
            holds=stopped.outcome.stop == "loop_stop" and len(stopped.steps) == 4,
        )
    return found


GATES: Mapping[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate("budgets", "a budget is twice the oracle's steps and two, at least eight; a tier bounds them", _budgets),
        Gate("wordings", "a goal has three wordings, and those of tier 1 in German and Chinese too", _wordings),
        Gate("splits", "the three splits share no sentence and no parameter held apart", _splits),
        Gate("seeds", "two seeds differ, and one seed is always the same", _seeds),
        Gate("oracle", "the oracle succeeds within its declared steps, in every split, and never loops", _oracle),
        Gate("skins", "the oracle succeeds in every language, text size, density and order of rows", _skins),
        Gate("equal runs", "the same episode gives the same record, and a replay reaches its states", _equal_runs),
        Gate("null", "declaring at once passes exactly what is true from the start", _null),
        Gate("random", "acting at random passes next to nothing", _random),
        Gate("waiting", "doing nothing loops, or is undeclared where the goal holds from the start", _waiting),
        Gate("giving up", "giving up passes only what cannot be done, whatever was reached", _giving_up),
        Gate("never declaring", "the goal without a declaration is undeclared, and no success", _never_declaring),
        Gate("doing more", "a photo or stopwatch that nobody asked for spoils every success", _doing_more),
        Gate("wrong answers", "an answer that says nothing is premature", _wrong_answers),
        Gate("babbling", "texts without a call are invalid calls, and end nothing by themselves", _babbling),
        Gate("straying", "staying in another app is the wrong app, even in a loop", _straying),
        Gate("looping", "a loop is stopped on its fourth equal action where that is asked for", _looping),
    )
}
"""Every gate, in the order in which they are run."""
