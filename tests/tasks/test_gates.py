"""What every task must pass before it counts: played on the real phone, through the agent's own hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from agent_eval.actions import (
    Action,
    GiveUp,
    LongPress,
    Malformed,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TaskComplete,
    TypeText,
)
from agent_eval.agent import NullAgent, misbehaving
from agent_eval.agent.reference import random_action
from agent_eval.contracts import Policy
from agent_eval.episode import EpisodeLimits
from agent_eval.errors import TaskFault
from agent_eval.gates import GATES, Stage, with_room
from agent_eval.outcome import Facts, Label, Loop, SubKind
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import SUITES, TASKS, find_task
from agent_eval.tasks.moves import plain
from agent_eval.tasks.task import TaskInstance
from tests.tasks import agents

MOST_WORDS = 80
"""Characters before a call: what the prompt shows of a label."""
OVER_ALL_TASKS = ("random",)
"""Gates that say something of many tasks together only."""


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
# the gates


def test_there_are_the_sixty_tasks_of_the_specification() -> None:
    assert len(TASKS) == 60


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("gate", [name for name in GATES if name not in OVER_ALL_TASKS])
def test_a_task_passes_the_gate(stage: Stage, gate: str, name: str) -> None:
    found = GATES[gate].check(stage, [TASKS[name]], range(2))
    assert found.problems == []


@pytest.mark.parametrize("gate", OVER_ALL_TASKS)
def test_the_suite_passes_the_gate(stage: Stage, gate: str) -> None:
    found = GATES[gate].check(stage, list(TASKS.values()), range(3))
    assert found.tried > len(TASKS)
    assert found.problems == []


def test_a_gate_says_what_is_wrong_with_a_task_that_fails_it(stage: Stage) -> None:
    """A task whose switch is set by its own preparation asks for nothing."""
    already = TASKS["WifiSetAlready"]
    sound = GATES["null"].check(stage, [already], range(2))
    assert (sound.problems, sound.note) == ([], "passes 2, all true from the start")
    short = with_room(already.draw(0), -3)
    assert short.budget == 8
    unworded = GATES["wordings"].check(stage, [find_task("AlarmCreate")], range(2))
    assert unworded.problems == []
    found = GATES["oracle"].check(stage, [find_task("WifiSet+tap_noop")], range(4))
    assert found.problems
    assert all("WifiSet+tap_noop/" in problem for problem in found.problems)


def test_the_oracle_gets_through_the_faults_of_the_robustness_suite(stage: Stage) -> None:
    lost = []
    for name in SUITES["robustness"].tasks:
        record = stage.play(find_task(name).draw(0))
        if record.outcome.label != "success":
            lost.append(told(record))
    assert len(lost) <= 0.05 * len(SUITES["robustness"].tasks), "\n".join(lost)


@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_says_in_a_few_words_what_it_acts_on(stage: Stage, name: str) -> None:
    instance = TASKS[name].draw(11)
    instance.prepare(stage.phone)
    policy = instance.oracle(stage.phone)
    policy.begin(instance.goal)
    result = None
    for _ in range(instance.budget):
        observation = stage.device.observe()
        reply = policy.decide(observation, result).reply
        assert not isinstance(reply, Malformed)
        assert 0 < len(reply.thought) <= MOST_WORDS
        labels = [plain(element.label) for element in observation.elements]
        if isinstance(reply.action, Tap | TypeText):
            assert any(label in reply.thought or reply.thought in label for label in labels if label), reply.thought
        if isinstance(reply.action, TaskComplete | GiveUp):
            return
        result = stage.device.perform(reply.action)
    raise AssertionError("the oracle never declared")


def test_the_oracle_finds_its_way_after_random_moves(stage: Stage) -> None:
    lost = []
    for name in TASKS:
        for seed in range(3):
            longer = with_room(TASKS[name].draw(100 + seed, "training"), 20)
            stumbling = agents.stumbles(longer.oracle(stage.phone), f"{name} {seed}", 1 + seed)
            record = stage.play(longer, stumbling)
            if record.outcome.label != "success":
                lost.append(told(record))
    assert len(lost) <= 0.05 * 3 * len(TASKS), "\n".join(lost)


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
        roomy = with_room(instance, 15)
        record = stage.spoil(roomy, lambda expert: agents.begins_with(expert, *moves))
        assert record.outcome.label == "success", f"{name}: {told(record)}"


def test_the_oracles_choice_depends_on_little_but_the_goal_and_the_screen(stage: Stage) -> None:
    """A model that sees only these can learn it; damage to be undone and the way back in a search are the exception."""
    chosen: dict[tuple[str, str], tuple[str, Action]] = {}
    decisions = contradictions = 0
    for name in TASKS:
        for seed in range(3):
            instance = TASKS[name].draw(seed, "training")
            instance.prepare(stage.phone)
            oracle, rng = instance.oracle(stage.phone), Random(seed)
            oracle.begin(instance.goal)
            result = None
            for _ in range(instance.budget):
                screen = stage.device.observe()
                reply = oracle.decide(screen, result).reply
                assert not isinstance(reply, Malformed)
                if not oracle.repairing:
                    decisions += 1
                    choice = (reply.thought, reply.action)
                    contradictions += chosen.setdefault((instance.goal, screen.signature), choice) != choice
                if isinstance(reply.action, TaskComplete | GiveUp):
                    break
                result = stage.device.perform(random_action(rng, screen) if rng.random() < 0.25 else reply.action)
    assert decisions > 800
    assert contradictions <= 0.02 * decisions


def test_the_oracle_must_begin_before_it_decides(stage: Stage) -> None:
    instance = TASKS["WifiSet"].draw(0)
    instance.prepare(stage.phone)
    with pytest.raises(TaskFault, match="expected begin"):
        instance.oracle(stage.phone).decide(stage.device.observe(), None)


# ----------------------------------------------------------------------------------------------------------------------
# each wrong behaviour gets its label


def test_the_reference_studys_w4a8_wifi_cell_is_a_reversal_in_a_loop_of_two(stage: Stage) -> None:
    instance = draw("WifiSet", wanted="on")
    record = stage.spoil(instance, lambda expert: misbehaving.flips_for_ever(expert, "Wi-Fi"))
    assert (record.outcome.label, record.outcome.stop) == ("reversal", "step_budget"), told(record)
    found = facts(record)
    assert found.loop is not None
    assert (found.loop.period, found.loop.at_end, found.reversals) == (2, True, 3)


def test_the_reference_studys_w4a8_alarm_cell_is_looping(stage: Stage) -> None:
    record = stage.play(draw("AlarmCreate"), misbehaving.loops_on("Clock", "Alarm"))
    assert record.outcome.label == "looping", told(record)
    assert facts(record).loop == Loop(period=1, first_step=1, at_end=True)


def test_the_reference_studys_w4a16_alarm_cell_is_stuck(stage: Stage) -> None:
    record = stage.play(draw("AlarmCreate"), agents.never_finishes_the_picker())
    assert (record.outcome.label, record.outcome.sub_kind) == ("no_completion", "stuck"), told(record)


def test_the_reference_studys_bf16_alarm_cell_is_the_wrong_app(stage: Stage) -> None:
    record = stage.play(draw("AlarmCreate"), misbehaving.loops_on("Settings", "Battery"))
    assert record.outcome.label == "wrong_app", told(record)


SPOILED: list[tuple[str, str, Callable[[Policy], Policy], Label, SubKind]] = [
    ("never declares", "WifiSet", misbehaving.never_declares, "no_completion", "undeclared"),
    ("never declares what was so", "BluetoothSetAlready", misbehaving.never_declares, "no_completion", "undeclared"),
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
        lambda e: misbehaving.goes_on(e, PressKey(key="back"), "Data Saver", "Use Data Saver"),
        "over_execution",
        "",
    ),
    ("gives up", "BluetoothSet", lambda _e: misbehaving.gives_up(), "premature_completion", "gave_up"),
    ("babbles", "WifiSet", lambda _e: misbehaving.babbles(), "invalid_call", ""),
    ("declares at once", "DeviceInfo", lambda _e: NullAgent(), "premature_completion", ""),
]


@pytest.mark.parametrize(("name", "task", "spoil", "label", "sub_kind"), SPOILED, ids=[row[0] for row in SPOILED])
def test_a_wrong_behaviour_gets_its_label(
    stage: Stage, name: str, task: str, spoil: Callable[[Policy], Policy], label: Label, sub_kind: SubKind
) -> None:
    instance = TASKS[task].draw(2)
    roomy = with_room(instance, 3)
    record = stage.spoil(roomy, spoil)
    assert (record.outcome.label, record.outcome.sub_kind) == (label, sub_kind), f"{name}: {told(record)}"


def test_a_second_alarm_is_over_execution(stage: Stage) -> None:
    record = stage.spoil(
        draw("AlarmCreate"),
        lambda expert: misbehaving.goes_on(expert, PressKey(key="back"), "Clock", "Alarm", "Add alarm", "OK"),
    )
    assert record.outcome.label == "over_execution", told(record)
    assert all(path.startswith("clock/alarm/") for path in facts(record).side_effects)


def test_the_loop_stop_ends_an_episode_early_and_keeps_its_label(stage: Stage) -> None:
    limits = EpisodeLimits(stop_on_loop=True)
    record = stage.play(draw("AlarmCreate"), misbehaving.loops_on("Clock", "Alarm"), limits)
    assert (record.outcome.label, record.outcome.stop, len(record.steps)) == ("looping", "loop_stop", 5)
