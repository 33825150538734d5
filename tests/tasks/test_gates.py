"""What every task must pass before it counts: played on the real phone, through the agent's own hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from agent_eval.actions import (
    Action,
    LongPress,
    Malformed,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TaskComplete,
    TypeText,
)
from agent_eval.contracts import Device, PhoneControl, Policy
from agent_eval.episode import EpisodeKey, EpisodeLimits, run_episode
from agent_eval.errors import TaskFault
from agent_eval.outcome import Facts, Label, Loop, SubKind
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import SPLITS, TASKS
from agent_eval.tasks.moves import plain
from agent_eval.tasks.task import TaskInstance
from agent_eval.wiring import open_sim
from tests.tasks import agents

SEEDS = range(5)
ALREADY = [name for name, task in TASKS.items() if "already_true" in task.traits]
STATES = ("on", "off", "checked", "unchecked")
OTHERS = [name for name in TASKS if name not in ALREADY]


class Stage:
    """A phone and hands on it."""

    def __init__(self) -> None:
        self.device: Device
        self.phone: PhoneControl
        self.device, self.phone = open_sim()

    def play(
        self, instance: TaskInstance, policy: Policy | None = None, limits: EpisodeLimits | None = None
    ) -> EpisodeRecord:
        played = policy or instance.oracle(self.phone)
        return run_episode(instance, played, self.device, self.phone, EpisodeKey("script"), limits or EpisodeLimits())

    def play_spoiled(self, instance: TaskInstance, spoil: Callable[[Policy], Policy]) -> EpisodeRecord:
        return self.play(instance, spoil(instance.oracle(self.phone)))


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.device.close()


def facts(record: EpisodeRecord) -> Facts:
    assert record.outcome.facts is not None, record.outcome.fault
    return record.outcome.facts


def told(record: EpisodeRecord) -> str:
    """Write an episode out, for the message of a failed test."""
    lines = [f"{record.goal} [{record.outcome.label} {record.outcome.sub_kind} {record.outcome.fault}]"]
    lines += [f"  {step.thought!r} {step.tool} {step.arguments} -> {step.result}" for step in record.steps]
    return "\n".join(lines)


def draw(name: str, seed: int = 0, **wanted: object) -> TaskInstance:
    """Draw the first instance from a seed on whose parameters are as wanted."""
    for number in range(seed, seed + 200):
        instance = TASKS[name].draw(number)
        if all(instance.parameters[key] == value for key, value in wanted.items()):
            return instance
    raise AssertionError(f"{name} never draws {wanted}")


# ----------------------------------------------------------------------------------------------------------------------
# the oracle


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_solves_every_task_by_the_shortest_way(stage: Stage, name: str, split: str) -> None:
    for seed in SEEDS:
        instance = TASKS[name].draw(seed, split)
        record = stage.play(instance)
        assert (record.outcome.label, record.outcome.sub_kind) == ("success", ""), told(record)
        assert len(record.steps) <= instance.draft.oracle_steps + 1, told(record)
        assert facts(record).no_effect_actions == 0, told(record)


@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_says_in_a_few_words_what_it_acts_on(stage: Stage, name: str) -> None:
    instance = TASKS[name].draw(11)
    instance.prepare(stage.phone)
    policy = instance.oracle(stage.phone)
    policy.begin(instance.goal)
    for _ in range(instance.budget):
        observation = stage.device.observe()
        decision = policy.decide(observation, None)
        reply = decision.reply
        assert not isinstance(reply, Malformed)
        assert 0 < len(reply.thought) <= 40
        labels = [plain(element.label) for element in observation.elements]
        if isinstance(reply.action, Tap | TypeText):
            said = reply.thought.partition(", want ")[0]
            assert any(said in (label, f"{label}: {state}") for label in labels for state in STATES)
        if isinstance(reply.action, TaskComplete):
            subject, _, state = reply.thought.partition(": ")
            assert (subject in labels and state) or subject == f"no {instance.parameters['time']}"
            return
        stage.device.perform(reply.action)
    raise AssertionError("the oracle never declared")


def test_the_oracle_finds_its_way_after_random_moves(stage: Stage) -> None:
    lost = []
    for name in TASKS:
        for seed in range(8):
            instance = TASKS[name].draw(100 + seed, "training")
            moves = 1 + seed % 4
            longer = replace(instance, draft=replace(instance.draft, oracle_steps=2 * instance.draft.oracle_steps + 10))
            record = stage.play(longer, agents.stumbles(longer.oracle(stage.phone), f"{name} {seed}", moves))
            if record.outcome.label != "success":
                lost.append(told(record))
    assert len(lost) <= 0.05 * 8 * len(TASKS), "\n".join(lost)


SETTINGS, CLOCK = OpenApp(app="Settings"), OpenApp(app="Clock")
ASTRAY: list[tuple[str, str, tuple[Action | str, ...]]] = [
    ("a half-typed picker", "AlarmCreate", (CLOCK, "Add alarm", TypeText(index=1, text="3"))),
    ("a picker with an invalid hour", "AlarmCreate", (CLOCK, "Add alarm", TypeText(index=1, text="77"), "OK")),
    ("a wrong alarm", "AlarmCreate", (CLOCK, "Add alarm", TypeText(index=1, text="4"), "OK")),
    ("two wrong alarms", "AlarmDelete", (CLOCK, "Add alarm", "OK", "Add alarm", TypeText(index=1, text="4"), "OK")),
    ("another alarm's picker", "AlarmCreate", (CLOCK, Tap(index=2))),
    ("another time for an alarm", "AlarmToggle", (CLOCK, Tap(index=2), TypeText(index=1, text="6"), "OK")),
    ("another time for the wrong alarm", "AlarmDelete", (CLOCK, Tap(index=2), TypeText(index=1, text="6"), "OK")),
    ("an alarm's label dialog", "AlarmAlready", (CLOCK, "Expand alarm", Tap(index=2))),
    ("the wrong tab", "AlarmToggle", (CLOCK, "Stopwatch")),
    ("airplane mode on", "WifiSet", (SETTINGS, "Network & internet", "Airplane mode")),
    ("the search page and its keyboard", "WifiSet", (SETTINGS, "Search settings", TypeText(index=1, text="blue"))),
    ("the foot of the home page", "BluetoothSet", (SETTINGS, Swipe(direction="up"), Swipe(direction="up"))),
    ("a dialog of the wrong page", "DarkThemeSet", (SETTINGS, "Battery", "Battery Saver", PressKey(key="back"))),
    ("the brightness dialog", "DarkThemeSet", (SETTINGS, Swipe(direction="up"), "Display", "Brightness level")),
    (
        "a slider in the middle",
        "BrightnessSet",
        (SETTINGS, Swipe(direction="up"), "Display", "Brightness level", "Dis"),
    ),
    ("recent apps", "AirplaneSet", (SETTINGS, CLOCK, PressKey(key="recent"))),
    ("the launcher's menu", "DeviceInfo", (LongPress(index=1),)),
]


@pytest.mark.parametrize(("name", "task", "moves"), ASTRAY, ids=[row[0] for row in ASTRAY])
def test_the_oracle_comes_back_from(stage: Stage, name: str, task: str, moves: tuple[Action | str, ...]) -> None:
    for seed in range(4):
        instance = TASKS[task].draw(seed, "training")
        roomy = replace(instance, draft=replace(instance.draft, oracle_steps=instance.draft.oracle_steps + 15))
        record = stage.play_spoiled(roomy, lambda expert: agents.begins_with(expert, *moves))
        assert record.outcome.label == "success", f"{name}: {told(record)}"


def test_the_oracles_choice_depends_on_little_but_the_goal_and_the_screen(stage: Stage) -> None:
    """A model that sees only these can learn it; damage to be undone and a few screens of Clock are the exception."""
    chosen: dict[tuple[str, str], tuple[str, Action]] = {}
    decisions = contradictions = 0
    for name in TASKS:
        for seed in range(12):
            instance = TASKS[name].draw(seed, "training")
            instance.prepare(stage.phone)
            oracle, rng = instance.oracle(stage.phone), Random(seed)
            oracle.begin(instance.goal)
            for _ in range(instance.budget):
                screen = stage.device.observe()
                reply = oracle.decide(screen, None).reply
                assert not isinstance(reply, Malformed)
                if not oracle.repairing:
                    decisions += 1
                    choice = (reply.thought, reply.action)
                    contradictions += chosen.setdefault((instance.goal, screen.signature), choice) != choice
                stage.device.perform(agents.random_action(rng, screen) if rng.random() < 0.25 else reply.action)
    assert decisions > 800
    assert contradictions <= 0.005 * decisions


def test_the_oracle_must_begin_before_it_decides(stage: Stage) -> None:
    instance = TASKS["WifiSet"].draw(0)
    instance.prepare(stage.phone)
    with pytest.raises(TaskFault, match="expected begin"):
        instance.oracle(stage.phone).decide(stage.device.observe(), None)


# ----------------------------------------------------------------------------------------------------------------------
# agents that must not pass


@pytest.mark.parametrize("name", TASKS)
def test_declaring_at_once_passes_only_what_is_true_already(stage: Stage, name: str) -> None:
    for seed in SEEDS:
        outcome = stage.play(TASKS[name].draw(seed), agents.declares_at_once()).outcome
        assert outcome.label == ("success" if name in ALREADY else "premature_completion")


@pytest.mark.parametrize("name", TASKS)
def test_waiting_passes_nothing(stage: Stage, name: str) -> None:
    record = stage.play(TASKS[name].draw(0), agents.only_waits())
    assert record.outcome.label == ("no_completion" if name in ALREADY else "looping")
    assert len(record.steps) == TASKS[name].draw(0).budget


def test_acting_at_random_passes_almost_nothing(stage: Stage) -> None:
    labels = [
        stage.play(TASKS[name].draw(seed), agents.acts_at_random(1000 * seed + place)).outcome.label
        for place, name in enumerate(OTHERS)
        for seed in range(12)
    ]
    assert "harness_error" not in labels
    assert labels.count("success") <= 0.05 * len(labels)


# ----------------------------------------------------------------------------------------------------------------------
# each wrong behaviour gets its label


def test_the_reference_studys_w4a8_wifi_cell_is_a_reversal_in_a_loop_of_two(stage: Stage) -> None:
    instance = draw("WifiSet", wanted="on")
    record = stage.play_spoiled(instance, lambda expert: agents.flips_for_ever(expert, "Wi-Fi"))
    assert (record.outcome.label, record.outcome.stop) == ("reversal", "step_budget"), told(record)
    found = facts(record)
    assert found.loop is not None
    assert (found.loop.period, found.loop.at_end, found.reversals) == (2, True, 3)


def test_the_reference_studys_w4a8_alarm_cell_is_looping(stage: Stage) -> None:
    record = stage.play(draw("AlarmCreate"), agents.loops_on("Clock", "Alarm"))
    assert record.outcome.label == "looping", told(record)
    assert facts(record).loop == Loop(period=1, first_step=1, at_end=True)


def test_the_reference_studys_w4a16_alarm_cell_is_stuck(stage: Stage) -> None:
    record = stage.play(draw("AlarmCreate"), agents.never_finishes_the_picker())
    assert (record.outcome.label, record.outcome.sub_kind) == ("no_completion", "stuck"), told(record)


def test_the_reference_studys_bf16_alarm_cell_is_the_wrong_app(stage: Stage) -> None:
    record = stage.play(draw("AlarmCreate"), agents.loops_on("Settings", "Battery"))
    assert record.outcome.label == "wrong_app", told(record)


SPOILED: list[tuple[str, str, Callable[[Policy], Policy], Label, SubKind]] = [
    ("never declares", "WifiSet", agents.never_declares, "no_completion", "undeclared"),
    ("never declares what was so", "BluetoothSetAlready", agents.never_declares, "no_completion", "undeclared"),
    ("undoes and declares", "WifiSet", lambda e: agents.flips_and_declares(e, "Wi-Fi", 1), "reversal", ""),
    ("undoes, redoes, declares", "WifiSet", lambda e: agents.flips_and_declares(e, "Wi-Fi", 2), "success", "unstable"),
    (
        "breaks what was so",
        "BluetoothSetAlready",
        lambda e: agents.flips_and_declares(e, "Use Bluetooth", 1),
        "reversal",
        "",
    ),
    (
        "breaks and mends what was so",
        "BluetoothSetAlready",
        lambda e: agents.flips_and_declares(e, "Use Bluetooth", 2),
        "success",
        "unstable",
    ),
    (
        "flips another switch too",
        "WifiSet",
        lambda e: agents.does_more(e, "Data Saver", "Use Data Saver"),
        "over_execution",
        "",
    ),
    ("gives up", "DarkThemeSet", lambda _e: agents.gives_up(), "premature_completion", "gave_up"),
    ("babbles", "AirplaneSet", lambda _e: agents.babbles(), "invalid_call", ""),
    ("declares at once", "DeviceInfo", lambda _e: agents.declares_at_once(), "premature_completion", ""),
]


@pytest.mark.parametrize(("name", "task", "spoil", "label", "sub_kind"), SPOILED, ids=[row[0] for row in SPOILED])
def test_a_wrong_behaviour_gets_its_label(
    stage: Stage, name: str, task: str, spoil: Callable[[Policy], Policy], label: Label, sub_kind: SubKind
) -> None:
    instance = TASKS[task].draw(2)
    roomy = replace(instance, draft=replace(instance.draft, oracle_steps=instance.draft.oracle_steps + 3))
    record = stage.play_spoiled(roomy, spoil)
    assert (record.outcome.label, record.outcome.sub_kind) == (label, sub_kind), f"{name}: {told(record)}"


def test_a_second_alarm_is_over_execution(stage: Stage) -> None:
    record = stage.play_spoiled(
        draw("AlarmCreate"), lambda expert: agents.does_more(expert, "Clock", "Alarm", "Add alarm", "OK")
    )
    assert record.outcome.label == "over_execution", told(record)
    assert all(path.startswith("clock/alarm/") for path in facts(record).side_effects)


def test_the_loop_stop_ends_an_episode_early_and_keeps_its_label(stage: Stage) -> None:
    limits = EpisodeLimits(stop_on_loop=True)
    record = stage.play(draw("AlarmCreate"), agents.loops_on("Clock", "Alarm"), limits)
    assert (record.outcome.label, record.outcome.stop, len(record.steps)) == ("looping", "loop_stop", 5)


@pytest.mark.parametrize("name", TASKS)
def test_two_equal_runs_give_equal_records(name: str) -> None:
    one, other = Stage(), Stage()
    for seed in range(2):
        instance = TASKS[name].draw(seed)
        assert one.play(instance).untimed() == other.play(TASKS[name].draw(seed)).untimed()
        wander = agents.acts_at_random(seed), agents.acts_at_random(seed)
        assert one.play(instance, wander[0]).untimed() == other.play(instance, wander[1]).untimed()
